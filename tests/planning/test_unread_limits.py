"""A limit that a person writes into EMBODIED.md holds, in whatever shape: it refuses what is beyond it, or it is named
as unread and nothing moves. Text that is certainly no limit refuses nothing."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from worldfs.base.messages import render
from worldfs.base.model import Order, RobotState, Scene, Thing
from worldfs.formats import embodied
from worldfs.planning.critic import Critic
from worldfs.planning.refusals import unread_limit

ROOT = Path(__file__).parents[2]
WIDE = "- **Workspace Bounds**: x ∈ [-50, 50], y ∈ [-50, 50], z ∈ [-5, 5] (metres, base frame)"
PROFILE = f"""# EMBODIED — Cart

## Identity
- **Robot Model**: Cart
- **DOF**: 3
{{identity}}
## Sensors
- [x] RGB Camera
{{sensors}}
## Supported Actions
| Action Type | Description | Parameters |
|---|---|---|
| move_to | Drive to a point | target_pose: [x,y,z] |
| pick_up | Take an object | object_id: string |
{{actions}}
## Physical Constraints
{WIDE}
{{limits}}
## Safety
- Wear gloves.
{{safety}}
## Notes
- The arm is from 2024.
{{notes}}"""
PLACES = ("identity", "sensors", "actions", "limits", "safety", "notes")
SCENE = Scene((RobotState("cart", (0.0, 0.0, 0.0), gripper="open"),), (Thing("box", "box", "", (0.3, 0, 0), mass=5.0),))
FAR = Order("1", "cart", "move_to", {"target_pose": [1.3, 0, 0]})
HEAVY = Order("1", "cart", "pick_up", {"object_id": "box"})
KINDS = (  # names and values of a limit, what is written in a block, and an order beyond it
    (
        ("Max Reach", "Maximum Reach", "Reach", "最大臂展", "工作半径"),
        ("1.0 m", "100 cm", "≤ 1 m", "about 1 m"),
        "1.0",
        FAR,
    ),
    (
        ("Workspace Bounds", "Workspace", "Workspace Limits", "工作空间", "工作空间范围"),
        ("x ∈ [-1, 1], y ∈ [-5, 5]", "x: -1 to 1, y: -5 to 5", "-1 ≤ x ≤ 1, -5 ≤ y ≤ 5", "x ∈ [-1, 1]"),
        "{x: [-1, 1], y: [-5, 5]}",
        FAR,
    ),
    (
        ("Max Payload", "Payload", "Payload Capacity", "最大负载", "额定负载"),
        ("1.0 kg", "1000 g", "1 公斤"),
        "1.0",
        HEAVY,
    ),
)
BULLETS = (*"-*+•–—·●▪◦‣※➤○", "->", "=>", "a)", "1.", "1)", "(2)", "①", "> -", "- [x]", "- [ ]", "")
MARKS = ("**", "__", "*", "`", "~~", '"', "***", "")
SIGNS = (": ", "：", " = ", " — ", ":", " - ", " → ", " ")
CASES = (
    str.title,
    str.lower,
    str.upper,
    lambda name: name.lower().replace(" ", "_"),
    lambda name: name.replace(" ", ""),
)


def _line(draw, name, value):
    bullet = draw(
        st.one_of(st.sampled_from(BULLETS), st.characters(categories=("Po", "So", "Pd"), exclude_characters="#"))
    )
    blank = draw(st.sampled_from((" ", "", "  "))) if bullet and bullet[-1] in "-•–—·●" else " "
    mark = draw(st.sampled_from(MARKS))
    return f"{bullet}{blank}{mark}{name}{mark}{draw(st.sampled_from(SIGNS))}{value}"


def _headed(draw, name, value):
    return f"{'#' * draw(st.integers(1, 4))} {name}\n\n{draw(st.sampled_from(('', '- ', '• ', '> ')))}{value}\n"


def _below(draw, name, value):
    mark = draw(st.sampled_from(("- ", "", "• ")))
    return f"{mark}**{name}**:\n{draw(st.sampled_from(('  ', '  - ', '    • ')))}{value}"


def _block(draw, name, flow):
    key = draw(st.sampled_from((name, name.lower().replace(" ", "_"), name.replace(" ", ""))))
    json = flow.replace("x:", '"x":').replace("y:", '"y":')
    nested = flow.strip("{}").replace(", y", "\n  y")
    text = draw(
        st.sampled_from(
            (
                f"{key}: {flow}", f"driver: cart\n{key}: {flow}\n", f'{{"driver": "cart", "{key}": {json}}}',
                f'{{\n  "limits": {{\n    "{key}": {json}\n  }}\n}}', f"limits:\n  {key}: {flow}",
                f"{key}:\n  {nested}" if "{" in flow else f"{key} = {flow}",
            )
        )
    )  # fmt: skip
    fence = draw(st.sampled_from(("```yaml", "```json", "```", "~~~", "")))
    return f"{fence}\n{text}\n{fence[:3]}" if fence else text


@st.composite
def limits(draw):
    """A profile with one limit in some shape, and an order beyond it."""
    names, values, flow, order = draw(st.sampled_from(KINDS))
    place = draw(st.sampled_from((*PLACES, "front")))
    if place in ("sensors", "actions"):  # where "reach" may be an action
        names = tuple(name for name in names if name not in ("Reach", "Workspace", "Payload"))
    name = draw(st.sampled_from(CASES))(draw(st.sampled_from(names)))
    value = draw(st.sampled_from(values))
    shape = draw(st.sampled_from((_line, _headed, _below, _block)))
    if place == "front":
        text = f"---\ndriver: cart\n{name.lower().replace(' ', '_')}: {flow}\n---\n"
        return text + _profile(), order
    return _profile(**{place: "\n" + shape(draw, name, flow if shape is _block else value) + "\n"}), order


def _profile(**added: str) -> str:
    return PROFILE.format(**{place: added.get(place, "") for place in PLACES})


def _codes(text: str, order: Order) -> set[str]:
    found = Critic().review(order, SCENE, embodied.read(text.encode()))
    return {item.code for item in found if not item.warning}


@given(limits())
@example((_profile(limits="• **Max Reach**: 1.0 m\n"), FAR))
@example((_profile(limits="-**Max Reach**: 1.0 m\n"), FAR))
@example((_profile(limits="### Max Reach\n1.0 m\n"), FAR))
@example((_profile(limits="```yaml\nworkspace_bounds:\n  x: [-1, 1]\n```\n"), FAR))
@example((_profile(limits="workspace_bounds:\n  x: [-1, 1]\n  y: [-5, 5]\n"), FAR))
@example((_profile(notes="\n## Workspace\n- x: -1.0 to 1.0\n"), FAR))
@example((_profile(notes="\n# Workspace Bounds\nx ∈ [-1, 1]\n"), FAR))
@example(("---\nworkspace_bounds: {x: [-1, 1]}\n---\n" + _profile(), FAR))
@example((_profile(notes="- **Max Reach**: 1.0 m\n"), FAR))
def test_what_is_beyond_a_limit_is_refused_in_whatever_shape_the_limit_is_written(case: tuple[str, Order]) -> None:
    text, order = case
    assert _codes(_profile(), order) == set()
    assert _codes(text, order) & {"PROFILE_LIMIT", "LIMIT_UNREAD"}, text


FORBIDDEN = (
    "The robot must not go beyond x = 1.0 m.",
    "Never beyond 1.0 m from the base.",
    "Do not drive past the door.",
    "The kitchen is a no-go area.",
    "Forbidden: everything behind the line.",
    "Stay inside the green area.",
    "x at most 1.0 m",
    "不得超过 x = 1.0 米。",
    "禁止进入厨房。",
    "不能超过一米。",
    "移动距离至多一米",
    "Reach is one metre",
)


@pytest.mark.parametrize("line", FORBIDDEN)
@pytest.mark.parametrize("sign", ["", "- ", "• ", "> ", "**Note**: ", "### "])
def test_a_sentence_that_forbids_something_is_an_unread_limit(line: str, sign: str) -> None:
    assert _codes(_profile(limits=f"{sign}{line}\n"), FAR) == {"LIMIT_UNREAD"}


@pytest.mark.parametrize(
    "heading",
    [
        "No-Go Zones",
        "Forbidden Zones",
        "KEEP-OUT AREAS",
        "Restricted area",
        "Exclusion zone",
        "Geofence",
        "禁区",
        "禁行区域",
    ],
)
@pytest.mark.parametrize(
    "line", ["- x ∈ [1.0, 2.0]", "- kitchen: x: 1.0 to 2.0, y: 0 to 1", "• the kitchen", "| x | 1 to 2 |\n|---|---|"]
)
def test_a_place_where_a_robot_must_not_be_is_never_read_as_the_place_where_it_may(heading: str, line: str) -> None:
    for level in ("#", "##", "###"):
        read = embodied.read(_profile(notes=f"\n{level} {heading}\n{line}\n").encode())
        assert read.unread and read.bounds[0] == (-50.0, 50.0)


CERTAINLY_NONE = {
    "sensors": "- Wrist camera: reach of 2 m\n- [x] LiDAR (10 m, 360 deg)\n- [x] Force-Torque Sensor (50 N)\n",
    "actions": (
        '\n```json\n{"action_type": "move_to", "params": {"target_pose": [1.0, 0, 0]}}\n```\n'
        "\n- reach: move the hand ahead\n- push: slide it,\n  straight on\n"
    ),
    "identity": (
        "- **Weight**: 18 kg\n- **Height**: 1.2 m\n- **Workspace**: `/home/u12/arm`\n"
        "- **Camera pose**: x: 0.1, y: 0.2\n"
        "- **End Effector**: Parallel Jaw Gripper (80 mm)\n"
    ),
    "limits": (
        "The values are those of the data sheet.\n\n- **Workspace Volume**: ~1.5 m³\n"
        "- **Weight**: 18 kg\n- **DOF**: 7\n- **Joint 1**: ±166 deg\n"
        "- **重量**：18 千克\n<!-- - Max Reach: 0.1 m -->\n\n### Arm\n---\n"
        "\n## Within reach of the service\n- Call 112.\n"
    ),
    "safety": "Keep the emergency stop at hand. Wear gloves.\n",
    "notes": (
        "- Charge it overnight.\n- Its cable is thin.\n\n```sh\npaos up --port 8080\n```\n"
        "\n## Connection\n- **Host**: 192.168.0.7\n- **Max Reach**: 5 m of cable\n"
        "\n## Known limitations\n- It has no wings.\n\n## Maintenance\n| Part | Months |\n|---|---|\n| belt | 12 |\n"
    ),
}
# A line with a measure, or a word that forbids, that is no limit that we read and no figure of the body
MAY_LIMIT = (
    "The basket is off limits.", "The area y below -0.2 m is off limits.", "Keep out of the left half.",
    "Brown bricks must not be touched.", "nothing heavier than 0.2 kg", "It is worn: nothing heavier than 200 g",
    "bearing worn, payload reduced to 0.2 kg until replaced", "[^1]: max payload 0.2 kg since the repair",
    "Never lift glass.", "Not allowed: glass", "No glass, please.", "Only light things.", "200 gr", "Not to lift",
    "Lift things of half a kilogram", "Max Hand Speed: 5 cm/s", "Max Joint Speed: 0.1 rad/s", "Max Grip Force: 1 N",
    "Max Acceleration: 0.1 m/s²", "Torque: 5 Nm", "Speed: 20 deg/s", "Lift for 3 s", "Tilt: 20°", "7 oz", "½ kg",
    "禁止进入厨房。", "不得触碰玻璃杯。", "不准进入", "请勿触碰", "仅限桌面", "速度：0.1米/秒",
    "夹爪磨损，负载降至0.2公斤", "力矩：5牛",
)  # fmt: skip


@pytest.mark.parametrize("line", MAY_LIMIT)
@pytest.mark.parametrize("place", ["identity", "limits", "safety", "notes", "actions"])
@pytest.mark.parametrize("sign", ["- ", "> ", "### ", "", "| thing | "])
def test_a_measure_or_a_word_that_forbids_is_understood_or_named(line: str, place: str, sign: str) -> None:
    text = f"\n{sign}{line}\n" if not sign.startswith("|") else f"\n| What | Remark |\n|---|---|\n| thing | {line} |\n"
    if place == "actions" and sign == "- ":
        text = f"\n- `wave`: {line}\n"
    assert "LIMIT_UNREAD" in _codes(_profile(**{place: text}), FAR), text


def test_a_limit_in_the_title_a_list_of_sensors_or_below_an_unknown_heading_is_named() -> None:
    wide = _profile()
    for text in (
        wide.replace("# EMBODIED — Cart", "# EMBODIED — Cart (max payload 0.2 kg)"),
        _profile(sensors="- Camera: lift nothing over 0.2 kg\n"),
        _profile(actions="\n### Remarks of the workshop\n- things of up to 0.2 kg\n- lighter than a cup\n"),
    ):
        assert embodied.read(text.encode()).unread, text
    assert embodied.read(wide.replace("# EMBODIED — Cart", "# EMBODIED — Cart 3 m").encode()).unread == ()


def test_a_table_with_a_column_named_limit_holds() -> None:
    read = embodied.read(_profile(notes="\n| Limit | Value |\n|---|---|\n| Max Payload | 0.2 kg |\n").encode())
    assert (read.max_payload, read.unread) == (pytest.approx(0.2), ())


@pytest.mark.parametrize("cell", ["Take an object up to 0.2 kg", "Take an object (200 g)", "Take things, never glass"])
def test_a_limit_in_the_row_of_an_operation_is_unread(cell: str) -> None:
    for text in (_profile().replace("Take an object", cell), _profile().replace("object_id: string", cell)):
        assert "LIMIT_UNREAD" in _codes(text, FAR)


SECOND = (
    "{first} (with the worn gripper: {second})", "{first}, but {second} when stretched", "{first} / {second}",
    "~~{first}~~ {second}", "{first} → {second}", "was {first}, now {second}", "{first} or {second}",
    "{second} until May, then {first}", "{first} except Sundays", "{first}（低温时 {second}）", "{first}, never glass",
    "{first} when it is cold", "{first} reduced to {second}", "{first} {second}", "{first}; {second}",
)  # fmt: skip
SIMPLE = {
    "Max Reach": ("50 m", "1.0 m"), "Max Payload": ("9 kg", "200 g"), "Max Grip Width": ("1 m", "1 mm"),
    "Min Grip Width": ("1 mm", "30 cm"), "Max Frame Age": ("100 s", "1 ms"), "Max Speed": ("9 m/s", "1 cm/s"),
    "Workspace Bounds": ("x ∈ [-50, 50], y ∈ [-50, 50]", "x ∈ [-1, 1], y ∈ [-1, 1]"),
}  # fmt: skip


@given(st.sampled_from(sorted(SIMPLE)), st.sampled_from(SECOND), st.sampled_from(PLACES), st.data())
def test_a_limit_with_a_second_value_or_a_condition_holds_as_the_stricter_or_is_named(
    name: str, form: str, place: str, data: st.DataObject
) -> None:
    first, second = SIMPLE[name]
    shape = data.draw(
        st.sampled_from(("- **{0}**: {1}", "{0}: {1}", "### {0}\n{1}", "| {0} | {1} |\n|---|---|\n", "{0}:\n  {1}"))
    )
    text = "\n" + shape.format(name, form.format(first=first, second=second)) + "\n"
    read = embodied.read(_profile(**{place: text}).encode())
    assert read.unread or (name == "Workspace Bounds" and read.bounds[0] == (-1.0, 1.0)), text


@pytest.mark.parametrize("driver", ["go2_edu", "wheeled_carrier", "simulation"])
@pytest.mark.parametrize(("speed", "metres"), [("0.1 m/s", 0.1), ("0.8 m/s", 0.8), ("10 km/h", 2.8), ("5 cm/s", 0.05)])
def test_a_limit_of_speed_is_passed_only_where_the_driver_holds_it(driver: str, speed: str, metres: float) -> None:
    read = embodied.read(_profile(identity=f"- **Driver**: {driver}\n", limits=f"- **Max Speed**: {speed}\n").encode())
    assert (read.unread == ()) == (driver != "simulation" and metres >= 0.8)


@pytest.mark.parametrize("place", CERTAINLY_NONE)
def test_what_is_certainly_no_limit_refuses_nothing(place: str) -> None:
    assert embodied.read(_profile(**{place: CERTAINLY_NONE[place]}).encode()).unread == ()
    assert _codes(_profile(**{place: CERTAINLY_NONE[place]}), FAR) == set()


@pytest.mark.parametrize(
    "path",
    [*sorted((ROOT / "src/worldfs/profiles").glob("*.md")), *sorted((ROOT / "tests/fixtures").rglob("*EMBODIED.md"))],
)
def test_no_profile_of_ours_or_of_the_specification_has_an_unread_limit(path: Path) -> None:
    assert embodied.read(path.read_bytes()).unread == ()


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("**Workspace Bounds**: x ∈ [5, 1]", "Workspace Bounds"),
        ("**Worksapce Bounds**: x ∈ [-1, 1]", "Workspace Bounds"),
        ("x ∈ [1.0, 2.0]", "Workspace Bounds"),
        ("**Max Paylaod**: 0.01 kg", "Max Payload"),
        ("Max Reach: one metre", "Max Reach"),
        ("max gripper opening: as wide as an apple", "Max Grip Width"),
        ("**最大负戴**: 0.01 kg", "Max Payload"),
        ("Perception: telepathy", "Perception"),
        ("Collision policy: seldom", "## Notes"),
        ("Max Hand Speed: 5 cm/s", "## Notes"),
    ],
)
def test_the_message_shows_how_the_limit_that_a_line_resembles_is_written(line: str, label: str) -> None:
    fix = render(unread_limit(line).fix, "en")
    assert re.findall(r"\*\*([^*]+)\*\*", fix)[:1] == [label] or label in fix
    assert "写成" in render(unread_limit(line).fix, "zh")


def test_a_line_that_is_too_long_to_be_looked_at_is_unread_among_limits() -> None:
    line = "Max Reach " + "x" * 30_000 + ": 1.0 m\n"
    assert _codes(_profile(limits=line), FAR) == {"LIMIT_UNREAD"}
    assert _codes(_profile(notes=line), FAR) == set()
