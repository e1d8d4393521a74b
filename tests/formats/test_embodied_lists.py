"""EMBODIED.md: a list of actions belongs to its heading, and what is not listed as supported is refused."""

from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from worldfs.formats import embodied

TABLE = "| Action | Parameters |\n|---|---|\n| `{0}` | `{0}_param` |\n"
BULLET = "- `{0}`: what it does\n"
PLAIN = "- {0}: what it does\n"
TYPED = "* **{0}**(speed?) — what it does\n"
LISTS = (TABLE, BULLET, PLAIN, TYPED)

OFFERS = (
    "## Supported Actions",
    "### Supported actions:",
    "**Supported Actions**",
    "**Supported actions:**",
    "Supported actions:",
    "Supported Actions\n=================",
    "## 1. Supported Actions",
    "## Supported Actions (v2 firmware)",
    "## Available actions",
    "## Actions",
    "## 支持的动作",
    "支持的动作：",
    "**支持的动作**",
    "## 可用动作",
)
DENIES = (
    "Not supported yet:",
    "Not supported yet",
    "**Not supported yet**",
    "**Not supported yet:**",
    "__Not supported__",
    "### Not supported",
    "## Unsupported",
    "## Unsupported Actions",
    "#### Unsupported actions (firmware 1.1)",
    "## Supported Actions (not yet)",
    "## Actions that are not supported",
    "Not supported yet\n-----------------",
    "<h3>Not supported</h3>",
    "- Not supported yet:",
    "- **Not supported yet**:",
    "Planned:",
    "## Roadmap",
    "**Deprecated**",
    "Forbidden actions:",
    "Disabled:",
    "## Coming soon",
    "The following actions are not available on this model:",
    "## 不支持",
    "不支持的动作：",
    "**尚不支持**",
    "尚不支持",
    "- 暂不支持：",
    "### 未实现的动作",
    "计划中的动作：",
    "禁止的动作：",
    "Driver config fields:",
    "**Driver config fields**",
    "### Driver config fields",
    "Driver config fields",
    "Driver config fields\n--------------------",
    "- Driver config fields:",
    "## Driver config fields for supported actions",
    "### Manipulation",
    "Examples:",
    "驱动配置字段：",
    "## 驱动配置",
    "备注：",
    "Notes",
)


def ops(text: str) -> list[str]:
    return [op.name for op in embodied.read(text.encode()).ops]


@pytest.mark.parametrize("heading", OFFERS)
def test_a_list_below_a_heading_that_offers_it_is_supported(heading: str) -> None:
    for form in LISTS:
        assert ops(f"# EMBODIED — arm\n\n{heading}\n\n{form.format('pick_up')}") == ["pick_up"], form


@pytest.mark.parametrize("heading", DENIES)
def test_a_list_below_any_other_heading_is_refused(heading: str) -> None:
    for form, gap in product(LISTS, ("\n", "\n\n")):
        text = f"## Supported Actions\n\n{form.format('pick_up')}\n{heading}{gap}{form.format('navigate_to_waypoint')}"
        assert ops(text) == ["pick_up"], text


@pytest.mark.parametrize("heading", ["Not supported yet:", "## 尚不支持", "**Planned**", "- Not supported:"])
def test_a_later_heading_opens_the_list_again(heading: str) -> None:
    text = f"{heading}\n\n- `fly`: no\n\n## Supported Actions\n\n- `pick_up`: take it\n"
    assert ops(text) == ["pick_up"]


@pytest.mark.parametrize(
    "row",
    [
        "- `fly`: not supported yet",
        "- `fly` (unsupported)",
        "- ~~`fly`~~",
        "- [ ] `fly`: soars",
        "- `fly`：尚不支持",
        "- `fly`: planned for the next firmware",
        "- Planned:\n  - `fly`: soars",
        "- `glide`: parameters:\n  - `fly`: m/s",
    ],
)
def test_an_item_that_says_no_itself_is_refused(row: str) -> None:
    assert "fly" not in ops(f"## Supported Actions\n- `pick_up`: take it\n{row}\n- `place`: put it\n")
    assert {"pick_up", "place"} <= {*ops(f"## Supported Actions\n- `pick_up`: take it\n- `place`: put it\n{row}\n")}


@pytest.mark.parametrize("word", ["Supported", "Status", "支持", "Available"])
@pytest.mark.parametrize(
    ("yes", "no"), [("yes", "no"), ("✅", "❌"), ("Supported", "planned"), ("是", "否"), ("x", "")]
)
def test_a_column_says_which_rows_are_supported(word: str, yes: str, no: str) -> None:
    head = f"## Supported Actions\n\n| Action | {word} | Parameters |\n|---|---|---|\n"
    assert ops(f"{head}| `pick_up` | {yes} | — |\n| `fly` | {no} | — |\n| `place` | {yes} | — |\n") == [
        "pick_up",
        "place",
    ]


@pytest.mark.parametrize("cell", ["**Not supported yet**", "Unsupported", "尚不支持", "Driver config fields"])
def test_a_row_may_be_the_label_of_those_below_it(cell: str) -> None:
    rows = f"| `pick_up` | — |\n| {cell} | |\n| `fly` | — |\n"
    assert ops(f"## Supported Actions\n\n| Action | Parameters |\n|---|---|\n{rows}") == ["pick_up"]


def test_what_stands_in_both_lists_is_refused_and_named() -> None:
    read = embodied.read(
        b"## Supported Actions\n- `fly`: soars\n- `pick_up`: takes\n\nNot supported yet:\n- `fly`: wings\n"
    )
    assert [op.name for op in read.ops] == ["pick_up"]
    assert read.odd == ("fly, supported and not: Not supported yet:",)


def test_what_looks_like_an_action_and_is_offered_nowhere_is_named() -> None:
    text = (
        "## Supported Actions\n- `pick_up`: takes\n\nDriver config fields:\n- `pythonpath`: a folder\n### Base\n"
        + TABLE
    )
    read = embodied.read(text.format("drive").encode())
    assert [op.name for op in read.ops] == ["pick_up"]
    assert read.odd == ("pythonpath, below Driver config fields:", "drive, below Base")


def test_a_table_of_actions_without_a_heading_is_no_list_of_supported_ones() -> None:
    read = embodied.read(TABLE.format("fly").encode())
    assert (read.ops, read.odd) == ((), ("fly, below no heading",))
    assert ops(TABLE.format("fly").replace("Action", "Supported Action")) == ["fly"]


def test_an_introduction_leaves_the_list_as_it_is() -> None:
    for line in ("The following actions are supported:", "All lengths are in metres.", "该机器人支持以下动作："):
        assert ops(f"## Supported Actions\n\n{line}\n\n- `pick_up`: takes\n") == ["pick_up"], line


def test_limits_go_on_below_any_label() -> None:
    for label in ("Without load:", "### Not measured", "**Later**", "Planned:"):
        text = f"## Physical Constraints\n- Max Payload: 3 kg\n\n{label}\n- Max Reach: 0.5 m\n"
        assert embodied.read(text.encode()).max_reach == 0.5, label


def test_sensors_below_another_heading_are_not_there() -> None:
    for label in ("Not installed:", "**Planned**", "### Optional", "未安装："):
        read = embodied.read(f"## Sensors\n- [x] Joint Encoders\n\n{label}\n- RGB-D Camera\n".encode())
        assert [text for text, there in read.sensors if there] == ["Joint Encoders"], label


headings = st.sampled_from([*OFFERS, *DENIES, "## Identity", "## Sensors", "## Physical Constraints", "Prose."])


@example([("## Roadmap", TABLE), ("**Supported Actions**", TABLE), ("#### Unsupported actions (firmware 1.1)", TABLE)])
@example([("## Roadmap", TABLE), ("**Supported Actions**", TABLE), ("### Manipulation", TABLE)])
@given(st.lists(st.tuples(headings, st.sampled_from(LISTS)), max_size=5))
@settings(max_examples=50, deadline=None)
def test_whatever_the_order_only_offered_lists_count(parts) -> None:
    names = [f"op_{number}" for number in range(len(parts))]
    text = "\n\n".join(f"{head}\n\n{form.format(name)}" for name, (head, form) in zip(names, parts, strict=True))
    allowed = {name for name, (head, _) in zip(names, parts, strict=True) if head in OFFERS or head == "Prose."}
    assert set(ops(text)) <= allowed
