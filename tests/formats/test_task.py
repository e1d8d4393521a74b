"""TASK.md in its three forms."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.base.model import Task, TaskStep
from worldfs.formats import task

FIXTURES = Path(__file__).parents[1] / "fixtures" / "tasks"


def fixture(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def changed(present: Task, number: int, **words: object) -> Task:
    steps = list(present.steps)
    steps[number] = replace(steps[number], **words)  # type: ignore[arg-type]
    return replace(present, steps=tuple(steps))


def test_the_specifications_english_example_reads() -> None:
    read = task.read(fixture("page_en.md"))
    assert (read.goal, read.language, len(read.steps)) == ("Clear the Table", "en", 5)
    assert read.steps[1] == TaskStep("2", "Grasp apple", "franka_001", "done", ("1",), "Apple picked via ReKep")
    assert read.steps[3] == TaskStep("4", "Grasp cup", "franka_001", "pending", ("3",), "")


def test_the_specifications_chinese_example_reads() -> None:
    read = task.read(fixture("page_zh.md"))
    assert (read.goal, read.language) == ("整理桌面", "zh")
    assert read.steps[2] == TaskStep("3", "放置到果篮", "将苹果放入篮子", "running", (), "需要精确定位")
    assert read.steps[0].result == ""


def test_the_active_task_form_reads() -> None:
    read = task.read(fixture("q1.md"))
    assert read.goal == "Bring the red apple to the kitchen"
    assert [s.id for s in read.steps] == ["T1", "T2", "T3"]
    assert [s.status for s in read.steps] == ["done", "running", "pending"]
    assert read.steps[2].depends_on == ("T1", "T2")
    assert read.steps[0].result == "held | firmly"


@pytest.mark.parametrize(
    ("header", "row", "id", "action"),
    [
        ("# | Task | Status", "1 | fetch it | done", "1", "fetch it"),
        ("# | Sub-Task | Status", "1 | fetch it | done", "1", "fetch it"),
        ("序号 | 任务 | 状态", "1 | 拿苹果 | 完成", "1", "拿苹果"),
        ("Task | Status", "fetch it | done", "fetch it", ""),
        ("Sub-Task | Status", "fetch it | done", "fetch it", ""),
        ("Sub-Task | Action | Status", " | fetch it | done", "fetch it", "fetch it"),
    ],
)
def test_a_table_that_people_write_says_what_is_done_in_whichever_column_has_the_words(
    header: str, row: str, id: str, action: str
) -> None:
    text = f"# Task: x\n\n| {header} |\n|---|---|---|\n| {row} |\n"
    read = task.read(text.encode())
    assert [(step.id, step.action, step.status) for step in read.steps] == [(id, action, "done")]
    assert (
        task.write(text.encode(), changed(read, 0, status="failed"))
        == text.replace(row, row.replace("完成", "failed").replace("done", "failed")).encode()
    )
    assert task.unread_tables(text.encode()) == ()


def test_a_table_of_which_no_step_is_read_is_named() -> None:
    assert task.unread_tables(b"# Task: x\n\n| Job | Done |\n|---|---|\n| fetch it | yes |\n") == ("Job | Done",)
    assert task.unread_tables(b"# Task: x\n") == ()


@pytest.mark.parametrize("name", ["page_en.md", "page_zh.md", "q1.md"])
def test_writing_what_was_read_changes_no_byte(name: str) -> None:
    data = fixture(name)
    assert task.write(data, task.read(data), language="en") == data


def test_one_status_changes_one_cell_and_the_progress() -> None:
    data = fixture("page_en.md")
    after = task.write(data, changed(task.read(data), 2, status="done", result="In basket_01"), language="en")
    old, new = data.decode().splitlines(), after.decode().splitlines()
    differing = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    assert differing == [6, 10]
    assert new[6] == "| 3 | Place in basket | franka_001 | ✅ done    | 2 | In basket_01              |"
    assert new[10] == "**Overall Progress**: 3/5 (60%)"


def test_a_chinese_task_stays_chinese_whatever_language_is_asked() -> None:
    data = fixture("page_zh.md")
    after = task.write(data, changed(task.read(data), 2, status="done"), language="en").decode()
    assert "| 3 | 放置到果篮 | 将苹果放入篮子 | ✅ done    | 需要精确定位 |" in after
    assert "**总体进度**: 3/5 (60%)" in after
    assert "—" not in after


def test_plain_words_stay_plain_words_and_prose_stays() -> None:
    data = fixture("q1.md")
    after = task.write(data, changed(task.read(data), 1, status="failed", result="door|shut"), language="en")
    text = after.decode()
    assert "| T2 | Go to the kitchen | go2_edu_001 | failed      | T1 | door\\|shut |" in text
    assert text.endswith("## Remarks\n\nNobody is in the kitchen.\n")
    assert "Progress" not in text
    assert "held \\| firmly" in text


def test_a_new_plan_for_the_same_goal_adds_and_drops_rows_only() -> None:
    data = fixture("page_en.md")
    old = task.read(data)
    plan = replace(old, steps=(*old.steps[:2], TaskStep("2b", "Look at the basket", "franka_001"), old.steps[2]))
    after = task.write(data, plan, language="en")
    assert task.read(after).steps == plan.steps
    assert after.decode().splitlines()[:6] == data.decode().splitlines()[:6]
    assert "2/4 (50%)" in after.decode()


def test_a_new_goal_is_a_new_document_in_the_workspaces_language() -> None:
    plan = Task("清理桌面", (TaskStep("1", "抓取苹果", "拿起 apple_01"), TaskStep("2", "放置", "", "done")))
    after = task.write(fixture("page_en.md"), plan, language="zh").decode()
    assert after.startswith("# 任务: 清理桌面\n\n| 子任务 | 动作")
    assert "**总体进度**: 1/2 (50%)" in after
    assert "⬜ pending" in after
    assert task.read(after.encode()).steps == plan.steps


def test_a_new_english_document_reads_back() -> None:
    plan = Task(
        "Clear", (TaskStep("1", "a|b", "franka_001", "skipped", (), "x"), TaskStep("2", "c", "", "failed", ("1",)))
    )
    after = task.write(None, plan, language="en")
    assert task.read(after) == replace(plan, language="en")
    assert b"a\\|b" in after
    assert "| — " in after.decode()


def test_windows_line_ends_stay() -> None:
    data = fixture("page_en.md").replace(b"\n", b"\r\n")
    read = task.read(data)
    after = task.write(data, replace(read, steps=(*read.steps, TaskStep("6", "Rest"))), language="en")
    assert after.count(b"\n") == after.count(b"\r\n") == data.count(b"\r\n") + 1


def test_a_status_nobody_knows_stays_as_it_is() -> None:
    data = fixture("page_en.md").replace("⬜ pending".encode(), b"on hold", 1)
    assert task.read(data).steps[3].status == "on hold"
    assert b"on hold" in task.write(data, changed(task.read(data), 2, status="done"), language="en")


def test_marks_alone_and_chinese_words_are_statuses() -> None:
    cells = ["✅", "⏳", "", "已完成", "进行中", "COMPLETED", "**done**", "⏭️ skipped"]
    assert [task.parse_status(c) for c in cells] == [
        *("done", "running", "pending", "done", "running", "done", "done", "skipped"),
    ]


def test_a_sample_table_in_a_fence_is_no_task() -> None:
    data = b"# Notes\n\n```\n" + fixture("page_en.md") + b"```\n"
    assert task.read(data) == Task("")


def test_bytes_that_are_no_text_are_refused_with_their_place() -> None:
    with pytest.raises(BadInput, match="line 2"):
        task.read(b"# Task: x\n\xff\xfe")


words = st.text(max_size=12)
steps = st.lists(
    st.builds(TaskStep, st.just(""), words, words, st.sampled_from(list(task.MARKS)), st.just(()), words), max_size=5
).map(lambda rows: tuple(replace(step, id=str(i + 1)) for i, step in enumerate(rows)))


@settings(deadline=None)  # the machine is shared
@given(steps, steps)
def test_whatever_a_plan_says_the_document_keeps_its_rows(
    first: tuple[TaskStep, ...], second: tuple[TaskStep, ...]
) -> None:
    data = task.write(None, Task("goal", first), language="en")
    after = task.read(task.write(data, Task("goal", second), language="en"))
    assert [(s.id, s.status) for s in after.steps] == [(s.id, s.status) for s in second]
    assert len(after.steps) == len(second)
