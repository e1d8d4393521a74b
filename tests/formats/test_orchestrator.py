"""ORCHESTRATOR.md: the specification's examples, byte for byte, and what other programs put beside them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.formats import orchestrator, task
from worldfs.formats.orchestrator import ActiveMission, Dashboard, PoolRobot, QueuedMission

ENGLISH = """\
# Orchestrator Dashboard
## Active Missions
| Mission | Assigned To | Priority | Status |
|----------------|--------------|----------|---------|
| Clear the table| franka_001 | high | running |
| Patrol area | go2_edu_001 | normal | running |
## Robot Pool
| Robot | Status | Last Heartbeat | Current Mission |
|---------------|--------|----------------|-----------------|
| franka_001 | busy | 12:00:15 | Clear the table |
| go2_edu_001 | busy | 12:00:12 | Patrol area |
## Pending Queue
| Mission | Requirements | Priority | Queued At |
|-----------------|------------------------|----------|-----------|
| Water delivery | mobile + manipulation | normal | 12:00:20 |
"""
CHINESE = """\
# 调度面板

## 活跃任务
| 任务 | 分配至 | 优先级 | 状态 |
|------|--------|--------|------|
| 清理桌面 | franka_001 | high | running |
| 巡逻监控 | go2_edu_001 | normal | running |

## 资源池
| 机器人 | 当前状态 | 最后心跳 | 当前任务 |
|--------|----------|----------|----------|
| franka_001 | busy | 12:00:15 | 清理桌面 |
| go2_edu_001 | busy | 12:00:12 | 巡逻监控 |

## 待分配
| 任务 | 要求 | 优先级 | 排队时间 |
|------|------|--------|----------|
| 送水服务 | mobile+manipulation | normal | 12:00:20 |
"""
TASK = """\
# Task: Clear the Table
| Sub-Task | Action | Target Device | Status | Depends On | Result |
|----------|---------------------|---------------|------------|------------|--------|
| 1 | Navigate to table | franka_001 | ✅ done | — | Arrived at table_01 |
| 2 | Grasp apple | franka_001 | ✅ done | 1 | Apple picked via ReKep |
| 3 | Place in basket | franka_001 | ⏳ running | 2 | Needs precise positioning |
| 4 | Grasp cup | franka_001 | ⬜ pending | 3 | — |
| 5 | Place on cup holder | franka_001 | ⬜ pending | 4 | — |
**Overall Progress**: 2/5 (40%)
"""


def read(text):
    return orchestrator.read(text.encode())


def rewrite(text, dashboard):
    return orchestrator.write(text.encode(), dashboard).decode()


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, ENGLISH.rstrip("\n"), ENGLISH.replace("\n", "\r\n")])
def test_the_specification_s_examples_round_trip(text):
    assert rewrite(text, read(text).dashboard) == text


def test_the_example_of_task_md_round_trips():
    assert task.write(TASK.encode(), task.read(TASK.encode())).decode() == TASK


def test_what_the_examples_say():
    english, chinese = read(ENGLISH), read(CHINESE)
    assert english.dashboard.active[0] == ActiveMission("Clear the table", "franka_001", "high", "running")
    assert english.dashboard.robots[1] == PoolRobot("go2_edu_001", "busy", "12:00:12", "Patrol area")
    assert english.dashboard.queue == (
        QueuedMission("Water delivery", ("mobile", "manipulation"), "normal", "12:00:20"),
    )
    assert (english.language, chinese.language) == ("en", "zh")
    assert chinese.dashboard.queue == (QueuedMission("送水服务", ("mobile", "manipulation"), "normal", "12:00:20"),)
    assert english.refused == chinese.refused == ()


def test_a_chinese_dashboard_stays_chinese():
    text = rewrite(CHINESE, read(CHINESE).dashboard._replace(decisions=("[12:00:21] 送水服务 → go2_edu_001",)))
    assert text.startswith(CHINESE)
    assert "## 决策记录" in text
    fresh = orchestrator.write(None, read(CHINESE).dashboard, language="zh").decode()
    assert read(fresh).dashboard == read(CHINESE).dashboard
    assert fresh.isascii() is False
    assert "Mission" not in fresh


def test_prose_unknown_sections_and_columns_survive():
    text = ENGLISH.replace("| Priority | Queued At |", "| Priority | Queued At | Wanted By |").replace(
        "| 12:00:20 |", "| 12:00:20 | Ada |"
    )
    text = text.replace(
        "## Robot Pool", "Ask Ada before you move a robot.\n\n## Issues\n\n- the lift is slow\n\n## Robot Pool"
    )
    found = read(text).dashboard
    after = rewrite(text, found._replace(active=found.active[1:], queue=(*found.queue, QueuedMission("Sweep"))))
    assert "Ask Ada before you move a robot." in after
    assert "- the lift is slow" in after
    assert "| Water delivery | mobile + manipulation | normal | 12:00:20 | Ada |" in after
    assert [item.mission for item in read(after).dashboard.queue] == ["Water delivery", "Sweep"]
    assert "Clear the table|" not in after


def test_a_change_of_one_cell_leaves_every_other_byte():
    found = read(ENGLISH).dashboard
    robots = (found.robots[0]._replace(heartbeat="12:00:17"), found.robots[1])
    assert rewrite(ENGLISH, found._replace(robots=robots)) == ENGLISH.replace("12:00:15", "12:00:17")


def test_the_log_keeps_the_newest_decisions_and_what_people_wrote_beside_them():
    text = ENGLISH + "\n## Decision Log\n\nRead this first.\n- [11:00] an older one\n- no time, so no decision\n"
    found = read(text).dashboard
    assert found.decisions == ("[11:00] an older one",)
    many = tuple(f"[12:00:{n:02d}] decision {n}" for n in range(30))
    after = rewrite(text, found._replace(decisions=many))
    assert read(after).dashboard.decisions == many[-orchestrator.SHOWN :]
    assert "Read this first." in after
    assert "- no time, so no decision" in after


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("| Sweep | — | at once, please | 12:00 |", "MISSION_PRIORITY"),
        (f"| {'Sweep ' * 200}| — | normal | 12:00 |", "MISSION_TOO_LONG"),
        ("| Sweep | robot: r1 or r2 | normal | 12:00 |", "MISSION_ROBOT"),
        ("| Sweep | mobile + robot: r1/r2 | normal | 12:00 |", "MISSION_ROBOT"),
        ("| Sweep | robot: r1 + robot: r2 | normal | 12:00 |", "MISSION_ROBOT"),
        ("| Sweep | robot: r1或r2 | normal | 12:00 |", "MISSION_ROBOT"),
        ("| Sweep | robot: not r1 | normal | 12:00 |", "MISSION_ROBOT"),
    ],
)
def test_a_row_that_makes_no_mission_is_named_and_stays(row, code):
    text = ENGLISH + row + "\n"
    found = read(text)
    assert [finding.code for _, finding in found.refused] == [code]
    assert [item.mission for item in found.dashboard.queue] == ["Water delivery"]
    after = rewrite(text, found.dashboard._replace(queue=()))
    assert row in after
    assert "Water delivery" not in after


@pytest.mark.parametrize("robot", ["r1", "arm 1", "arm-or-2", "android_and_1", "小和"])
def test_a_row_may_name_one_robot_by_any_id(robot):
    found = read(f"{ENGLISH}| Sweep | robot: {robot} | normal | 12:00 |\n")
    assert not found.refused and found.dashboard.queue[-1].requirements == (f"robot: {robot}",)


def test_controls_bars_and_markup_of_a_hostile_row_are_text():
    text = ENGLISH + "| Sweep\x1b[2J \\| room \u202e | mobile | normal |  |\n"
    mission = read(text).dashboard.queue[1].mission
    assert mission.isprintable()
    assert "|" in mission
    after = rewrite(text, Dashboard(queue=(QueuedMission("a | b\n## Robot Pool\n| x | y |"),)))
    assert [item.mission for item in read(after).dashboard.queue] == ["a | b ## Robot Pool | x | y |"]
    assert read(after).dashboard.robots == ()


@pytest.mark.parametrize("cell", ["cancelled", "Canceled", "取消"])
def test_cancelled_in_any_cell_of_a_row_is_read(cell):
    text = ENGLISH.replace("| normal | 12:00:20 |", f"| {cell} | 12:00:20 |")
    assert read(text).dashboard.queue == (
        QueuedMission("Water delivery", ("mobile", "manipulation"), "normal", "12:00:20", True),
    )


def test_bytes_that_are_no_text_are_refused_by_their_place():
    with pytest.raises(BadInput, match="line 2"):
        orchestrator.read(b"# Orchestrator Dashboard\n\xff\n")


WORDS = st.text(st.characters(codec="utf-8"), max_size=30)
MISSIONS = WORDS.filter(lambda text: orchestrator.prose.one_line(text).strip("—–-"))
ROWS = st.lists(
    st.builds(
        QueuedMission, MISSIONS, st.just(()), st.sampled_from(["high", "normal", "low"]), st.just(""), st.just(False)
    ),
    max_size=4,
    unique_by=lambda row: orchestrator.prose.one_line(row.mission),
)


@example([QueuedMission("none")], ENGLISH, "")
@given(ROWS, st.sampled_from([ENGLISH, CHINESE, ""]), WORDS)
def test_what_is_written_is_read_again_and_written_the_same(rows, text, prose):
    wanted = Dashboard(queue=tuple(row for row in rows if orchestrator.prose.one_line(row.mission)))
    once = orchestrator.write((text + prose).encode(), wanted)
    assert orchestrator.write(once, orchestrator.read(once).dashboard) == once


def queue_with(column, cell):
    names, cells = ("Mission", "Requirements", "Priority", "Queued At", column), ("wave", "arm", "high", "10:00", cell)
    rows = "".join(f"| {' | '.join(row)} |\n" for row in (names, ["---"] * 5, cells))
    return f"# Orchestrator Dashboard\n\n## Pending Queue\n\n{rows}".encode()


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("Dry run", "yes"), ("Enabled", "no"), ("Not before", "2030-01-01"), ("Approval", "required"), ("Robot", "wa"),
        ("审批", "需要"), ("Prioirty", "low"), ("Deadline", "noon"), ("Status", "paused"), ("机器人", "wa"),
    ],
)  # fmt: skip
def test_a_column_that_nothing_reads_and_that_would_hold_back_makes_no_mission(column, cell):
    data = queue_with(column, cell)
    read = orchestrator.read(data)
    assert not read.dashboard.queue
    ((mission, finding),) = read.refused
    assert (mission, finding.code) == ("wave", "FIELD_UNREAD") and column in finding.found
    assert "wave" in orchestrator.write(data, read.dashboard).decode()


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("Dry run", "no"), ("Dry run", "—"), ("Enabled", "yes"), ("Notes", "see Bob"), ("Owner", "Bob"),
        ("ETA", "5 min"), ("Status", "pending"), ("备注", "下午"),
    ],
)  # fmt: skip
def test_a_column_of_other_tools_is_kept_and_means_nothing(column, cell):
    read = orchestrator.read(queue_with(column, cell))
    assert [item.mission for item in read.dashboard.queue] == ["wave"] and not read.refused
