"""A safety rule that a person writes into EMBODIED.md as a plain sentence refuses what moves, in whatever section it
stands, and text that only describes refuses nothing."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from worldfs.base.messages import render
from worldfs.base.model import Order, RobotState, Scene
from worldfs.formats import embodied
from worldfs.planning.critic import Critic
from worldfs.planning.refusals import unread_limit

ROOT = Path(__file__).parents[2]
ARM = (ROOT / "src/worldfs/profiles/franka_panda.md").read_text("utf-8")
LIMITS = "## Physical Constraints\n- **Max Reach**: 0.855 m\n"
MOVES = Order("1", "arm", "move_to", {"target_pose": [0.4, 0, 0.3, 0, 0, 0]})
SCENE = Scene((RobotState("arm", (0.0, 0.0, 0.0), gripper="open"),), ())


def unread(text: str) -> tuple[str, ...]:
    return embodied.read(text.encode()).unread


def refusals(text: str) -> set[str]:
    found = Critic().review(MOVES, SCENE, embodied.read(text.encode()))
    return {item.code for item in found if not item.warning}


FOUND = (
    ("## Safety", "People sit on the left side, so the arm stays on the right half."),
    ("## Safety", "- Right half of the table"),
    ("## Safety", "A child plays on the left side of the table."),
    ("## Safety", "The cube belongs to Anna. Leave it alone."),
    ("## Safety", "Use the arm while somebody watches."),
    ("## Safety", "Work slowly near people."),
    ("## Warning", "Cube: hot, leave it."),
    ("## Rules", "Ask Anna before moving the cube."),
    ("## Rules", "- Ask Anna before moving the cube."),
    ("## 安全", "左边坐着人，机械臂留在右边。"),
    ("## 注意", "左边有人，手臂停在右边"),
    ("## Sicherheit", "Links sitzen Leute, der Arm bleibt rechts."),
    ("## Notes", "The cube stays where it is."),
    ("## Notes from Anna", "Please leave the can where it is, it is full of acid."),
    ("", "Leave the cube in its place."),
    ("## Säkerhet", "Kuben till vänster."),
    ("## Ohje", "Kuutio jää paikalleen."),
    ("## 안전", "왼쪽 절반"),
    ("## Forbidden", "- the blue cup"),
    ("## 禁止", "- 蓝色杯子"),
    ("## Safety (read me)", "- the right half"),
    ("# Safety", "- the right half"),
    ("## Safety: the arm works on the right", ""),
    ("## Safety\n### Left half", "- Anna"),
    ("## Notes\n### Rules of the house", "- the right half"),
    ("## Dinge", "| Was | Wie |\n|---|---|\n| Würfel | der bleibt hier |"),
    ("## Keep the cube", ""),
    ("## Supported Actions", "- `pick_up`: takes a thing, but leave the cube"),
    ("## Supported Actions", "- `pick_up`: takes a thing while somebody watches"),
    ("## Sensors", "- Camera: fragile"),
    ("> [!WARNING]", "> the can is full"),
    ("> **Warning**", "> the can is full"),
)


@pytest.mark.parametrize(("heading", "line"), FOUND)
def test_a_rule_in_words_refuses_what_moves(heading: str, line: str) -> None:
    assert refusals(ARM) == set()
    assert refusals(f"{ARM}\n{heading}\n{line}\n") == {"LIMIT_UNREAD"}
    assert refusals(f"{heading}\n{line}\n\n{ARM}") == {"LIMIT_UNREAD"}


WITHDRAWN = (
    "broken", "out of order", "disabled after the accident", "broken since Tuesday", "worn", "defective", "faulty",
    "under repair", "in maintenance", "not working", "it does not work", "out of service", "blocked", "locked",
    "no longer works", "needs repair", "never worked", "cannot be used", "has a fault", "the motor is damaged",
    "坏了，不能用", "故障", "损坏", "维修中", "停用", "失灵", "不可用", "禁用", "正在检修", "暂停使用", "卡住了",
    "defekt", "außer Betrieb", "en panne", "fuera de servicio", "не работает",
)  # fmt: skip


@pytest.mark.parametrize("state", WITHDRAWN)
@pytest.mark.parametrize(
    "place",
    ("## Status\nThe gripper: {}.", "## Notes\n- Gripper ({})", "## Gripper: {}",
     "## Supported Actions\n- `wipe`: wipes a table ({})", "## Notes\n| Part | State |\n|---|---|\n| gripper | {} |",
     "## Supported Actions\n### `pick_up` ({})", "## Identity\n- **End Effector**: a gripper ({})"),
)  # fmt: skip
def test_what_says_that_a_part_or_an_operation_cannot_be_used_is_unread(state: str, place: str) -> None:
    assert refusals(f"{ARM}\n{place.format(state)}\n") == {"LIMIT_UNREAD"}


@pytest.mark.parametrize("state", WITHDRAWN)
def test_an_operation_whose_own_row_says_that_it_cannot_be_used_is_unread(state: str) -> None:
    row = next(line for line in ARM.splitlines() if "| pick_up" in line)
    said = row.replace("lift it", f"lift it ({state})")
    assert said != row
    assert refusals(ARM.replace(row, said)) == {"LIMIT_UNREAD"}


def test_what_may_fail_is_not_what_has_failed() -> None:
    for line in (
        "- `wipe`: stops if the way is blocked",
        "- `wipe`: 如果卡住就停止",
        "- `wipe`: tells whether it is locked",
    ):
        assert not unread(f"{ARM}\n## Supported Actions\n{line}\n")
    assert not unread(f"{ARM}\n## Maintenance\n- Service: yearly\n\n## 故障排除\n- 故障代码: E7\n")
    assert not unread(f"{ARM}\n## Not supported\n- `wipe`: broken since Tuesday\n")


@pytest.mark.parametrize("state", WITHDRAWN)
def test_a_list_under_a_title_that_says_so_is_not_offered(state: str) -> None:
    text = ARM.replace("## Supported Actions", f"## Supported Actions ({state})")
    assert text != ARM and refusals(text)
    assert not embodied.read(text.encode()).ops


@pytest.mark.parametrize("title", ("## Disabled actions", "## Broken", "## 停用的动作", "Broken actions:"))
def test_a_list_of_what_is_broken_refuses_nothing_else(title: str) -> None:
    profile = embodied.read(f"{ARM}\n## Notes\n{title}\n\n- `wipe`: wipes a table\n".encode())
    assert not profile.unread and profile.op("wipe") is None


SHAPES = (
    "{}", "- {}", "• {}", "> {}", "1. {}", "**{}**", "- [ ] {}", "~~~\n{}\n~~~", "| {} |\n|---|",
    "| Note |\n|---|\n| {} |",
    "| What | Note |\n|---|---|\n| it | {} |", "{}\n", "<b>{}</b>", "- Wear gloves.\n- {}", "Wear gloves. {}",
)  # fmt: skip
RULE_HEADS = (
    "## Safety", "### SAFETY", "## Safety rules", "# Safety instructions", "## Warning", "## Warnings!", "## ⚠ Caution",
    "## Danger",
    "## Rules", "## House rules", "## Rules of the lab", "## Attention", "## Notice", "## Important",
    "## Restrictions for the arm",
    "## Limitations", "## Precautions", "## Policy", "## Must-know", "## Do's and don'ts", "## Don’ts",
    "## Please note", "## 1. Safety",
    "## Operating instructions", "## Prohibited", "## Guidelines", "## Safety of operations", "## Requirements",
    "## 安全", "## 安全须知", "## 注意事项", "## 警告", "## 规则", "## 须知", "## 禁止", "## 提醒",
    "## 要求", "## 安全操作规程",
    "## 重要", "## Sicherheit", "## Sicherheitshinweise", "## Warnung", "## Achtung", "## Vorsicht", "## Regeln",
    "## Hausregeln",
    "## Wichtig", "## Verboten", "## Sécurité", "## Règles", "## Consignes", "## Avertissement", "## Précautions",
    "## Interdictions", "## Seguridad", "## Reglas", "## Advertencia", "## Precaución", "## Prohibido", "## ルール",
    "## 危険",
    "## 注意", "## 規則", "## Regole", "## Veiligheid", "## Правила", "Safety\n======", "**Safety**\n", "Safety:\n",
    "**Important**:", "> [!WARNING]", "- **Safety**:\n", "<h2>Safety</h2>\n",
)  # fmt: skip
NOUNS = ("cube", "red cup", "can", "vase", "left half", "arm", "basket", "laptop", "Würfel", "tasse", "taza")
RULES = (
    "the {}", "{} goes to Anna", "Anna likes the {}", "{} after lunch", "{}: Anna", "the {} is full",
    "gently with the {}",
    "the {} first", "ask Anna about the {}", "leave the {}", "the {} stays", "mind the {}", "{} → right", "{} = Anna",
    "der {} bleibt", "la {} reste là", "杯子归安娜", "左边", "コップはそのまま", "{}",
)  # fmt: skip
ENDED = ("Safety:\n", "**Safety**\n", "**Important**:", "> [!WARNING]", "<h2>Safety</h2>\n", "- **Safety**:\n")


@given(st.sampled_from(RULE_HEADS), st.sampled_from(RULES), st.sampled_from(NOUNS), st.sampled_from(SHAPES))
@example("## Safety", "{}", "right half", "| {} |\n|---|")
@example("- **Safety**:\n", "{}: Anna", "cube", "{}")
def test_a_line_below_a_heading_of_rules_is_unread_whatever_it_says(
    head: str, rule: str, noun: str, shape: str
) -> None:
    text = shape.format(rule.format(noun))
    if head == "- **Safety**:\n":  # what belongs to an item is deeper than the item
        text = "\n".join(f"  {line}" for line in text.splitlines())
    if head in ENDED and text.startswith("####"):
        text = text.lstrip("# ")
    assert unread(f"# EMBODIED — Arm\n\n{LIMITS}\n{head}\n{text}\n"), text
    assert unread(f"# EMBODIED — Arm\n\n{head}\n{text}\n\n{LIMITS}"), text


TOLD = (
    "Keep the arm on the right half of the table.", "Don't lift the vase.", "Don’t lift the vase.", "The vase is hot.",
    "Please be careful with the vase.", "Watch out for the cat.", "Let the can stand.",
    "Use the left hand for the cube.",
    "Put the cube back where it was.", "The child sits next to the robot.", "Move slowly when people are near.",
    "The medicine must stay in the box.", "The robot should go home after each task.", "Return the cup to its coaster.",
    "The left side is for people.", "The left half is Anna's.", "Wait until the door is closed.", "Ask first.",
    "Stop when someone enters.", "Hold the cup upright.", "Handle with care.", "The vase is precious.",
    "The drawer is private.",
    "The can contains acid.", "Respect the yellow line.", "The arm works on the right half.",
    "The cable is tidy, leave the can.",
    "Keep the cup, the driver and the manual where they are.", "Warning! Cube", "Caution hot surface", "⚠ the can",
    "quiet please",
    "小心杯子。", "别碰杯子。", "请把杯子留在原处。", "左边坐着人。", "机械臂只在右侧工作。", "先问安娜再动方块。",
    "杯子很烫。",
    "孩子在桌边玩。", "速度要慢。", "杯子归安娜。", "Bitte nicht anfassen.", "Der Becher ist heiß.",
    "Ne touchez pas la tasse.",
    "Laissez la tasse.", "No toque la taza.", "コップに触らないでください。",
)  # fmt: skip


@pytest.mark.parametrize("sentence", TOLD)
def test_a_sentence_that_tells_what_an_arm_or_a_thing_may_do_is_unread_everywhere(sentence: str) -> None:
    for before in (
        "## Notes\n", "## Description\n- ", "## Identity\n- ", "## Identity\n- **Type**: arm. ", "## Overview\n> ",
        "", "## Connection\n- **Host**: ", "```\n", "## 说明\n", "## Notes\n### ", LIMITS, f"{LIMITS}\n",
    ):  # fmt: skip
        assert unread(f"# EMBODIED — Arm\n\n{before}{sentence}\n"), before
    for text in (
        f"# EMBODIED — Arm\n\n## Supported Actions\n- `wave`: waves\n\n{sentence}\n",
        f"# EMBODIED — Arm\n\n## Notes\n| Thing | Remark |\n|---|---|\n| it | {sentence} |\n",
        f"---\nnotes: {sentence}\n---\n# EMBODIED — Arm\n",
    ):
        assert unread(text), text


HARMLESS = {
    "## Safety": (
        "Wear gloves.", "- Wear safety glasses and gloves.", "Keep the emergency stop at hand. Wear gloves.", "- None",
        "n/a",
        "**Emergency stop**: on the left side of the table", "In an emergency press the emergency stop.", "Call 112.",
        "See the manual, chapter 3.", "There are no known hazards.", "ISO 10218-1, CE", "- **Weight**: 18 kg",
        "Please note:",
        "- **Max Payload**: 3.0 kg", "<!-- Leave the cube. -->", "### Emergency stop", "佩戴手套。",
        "参见说明书第3章。", "无",
    ),
    "## Known limitations": ("- It has no wings.", "The robot has no hands."),
    "## Physical Constraints": (
        "The values are those of the data sheet.", "All lengths are in metres.", "Without load:",
        "Measured with the gripper.",
        "数值来自说明书。",
    ),
    "## Supported Actions": (
        "All lengths are in metres.", "- `wait`: stands still until the next order",
        "- `hold`: keeps the thing in the hand",
        "- `stop`: stay where it is", "- `ask`: ask a person a question", "- `leave`: leave the dock",
        "| Action | Description |\n|---|---|\n| `follow` | walks after a person |",
    ),
    "## Sensors": ("- [x] Touch Sensor", "- **Camera**: looks at people from the left side",
    "- [x] Safety laser scanner"),
    "## Setup": (
        "The driver must be running before the first order.", "Use Python 3.11 for the driver.",
        "Keep the firmware updated.",
        "Before using the driver, the arm must be calibrated.", "`state_key` is reserved for the driver.",
        "The driver should read `config.json`.", "- **Reconnect Policy**: auto",
    ),
    "## Notes": (
        "The arm is from 2024.", "It can pick things up and put them down.", "Charge it overnight.", "Be gentle.",
        "It was calibrated in May by Anna.", "Start the driver with `paos up`.", "The base is bolted to the table.",
        "The simulated arm stands on a table with seven things.", "该机器人有七个关节。", "相机安装在腕部。",
        "由厂家标定。",
        "```sh\npaos up --port 8080\n```",
    ),
    "## Wiring diagram": ("| Pin | Signal |\n|---|---|\n| 1 | GND |",),
}  # fmt: skip


@pytest.mark.parametrize("heading", HARMLESS)
def test_what_is_known_to_be_harmless_refuses_nothing(heading: str) -> None:
    for line in HARMLESS[heading]:
        assert unread(f"# EMBODIED — Arm\n\n{heading}\n\n{line}\n") == (), line


PARTS = ("arm", "gripper", "wrist camera", "base", "left finger", "controller", "tray", "head", "firmware", "wheel")
VERBS = (
    "has", "is made of", "is mounted on", "comes with", "carries", "was built with", "contains", "is connected to",
    "shows",
    "is driven by", "was calibrated with",
)  # fmt: skip
THINGS = (
    "two motors", "a table", "an encoder", "aluminium", "a depth camera", "the newest release", "a serial bus",
    "rubber pads",
    "a blue cover", "seven joints", "the simulator", "a tool changer",
)  # fmt: skip
DESCRIBING = (
    "## Identity", "## Description", "## Notes", "## Overview", "## Hardware", "## Sensors", "## Maintenance",
    "## About the robot",
    "## History", "## Connection", "## Runtime Protocol", "## 说明", "## Beschreibung", "# My robot", "### Gripper",
)  # fmt: skip


@given(
    st.sampled_from(DESCRIBING), st.sampled_from(PARTS), st.sampled_from(VERBS),
    st.sampled_from(THINGS), st.sampled_from(("{}", "- {}", "> {}", "- **Remark**: {}", "* {}", "1. {}")),
)  # fmt: skip
def test_text_that_describes_refuses_nothing(head: str, part: str, verb: str, thing: str, shape: str) -> None:
    line = shape.format(f"The {part} {verb} {thing}.")
    assert unread(f"# EMBODIED — Arm\n\n{head}\n{line}\n\n{LIMITS}") == ()


@pytest.mark.parametrize("path", sorted((ROOT / "src/worldfs/profiles").glob("*.md")))
@pytest.mark.parametrize("heading", ["## Safety", "## Xyz"])
def test_a_profile_of_ours_goes_on_below_a_rule(path: Path, heading: str) -> None:
    """What is named is the rule, and nothing of the profile that follows it."""
    title, _, rest = path.read_text("utf-8").partition("\n")
    assert unread(f"{title}\n\n{heading}\nThe cup stays.\n{rest}") == ("The cup stays.",)


def test_rules_below_a_label_end_where_other_fields_begin() -> None:
    text = "## Identity\n- **Safety**:\n  - the right half\n- **Driver**: simulation\n- **Engine**: a small one\n"
    assert unread(text) == ("the right half",)
    assert unread("Safety:\n- the right half\n\nSensors:\n- Lidar\n\nSupported actions:\n- `wave`: waves\n") == (
        "the right half",
    )


def test_the_message_says_where_a_rule_for_people_stands() -> None:
    fix = render(unread_limit("Ask Anna before the cube is moved").fix, "en")
    assert "a rule for people elsewhere" in fix and "给人看的规则" in render(unread_limit("问安娜").fix, "zh")
