"""TASK.md: a goal and the table of its steps (000 TASK.md; 001; q1's Active Task), kept in its own form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from worldfs.base.model import Task, TaskStep

from . import markdown_tables, prose
from .prose import Heading

PATH = "TASK.md"

COLUMNS = {
    "id": ("sub-task", "subtask", "id", "#", "step", "no.", "子任务", "序号", "编号", "步骤"),
    "action": ("action", "description", "what", "task", "instruction", "动作", "操作", "任务", "内容", "指令"),
    "target": ("target device", "target", "device", "目标", "目标设备", "设备"),
    "status": ("status", "state", "状态"),
    "depends_on": ("depends on", "dependencies", "depends", "after", "依赖", "前置"),
    "result": ("result", "notes", "note", "remarks", "备注", "结果"),
}
_WORDED = (
    "sub-task",
    "subtask",
    "step",
    "子任务",
    "步骤",
)  # of "id": what says what is done where no other column does
HEADERS = {
    "en": ("Sub-Task", "Action", "Target Device", "Status", "Depends On", "Result"),
    "zh": ("子任务", "动作", "目标", "状态", "备注"),
}
FIELDS = {
    "en": ("id", "action", "target", "status", "depends_on", "result"),
    "zh": ("id", "action", "target", "status", "result"),
}
MARKS = {"done": "✅", "running": "⏳", "pending": "⬜", "failed": "❌", "skipped": "⏭"}
WORDS = {
    "done": ("done", "completed", "complete", "succeeded", "success", "finished", "✅", "✔", "☑", "完成", "已完成"),
    "running": ("running", "in progress", "in_progress", "active", "⏳", "🔄", "进行中", "执行中"),
    "pending": ("pending", "todo", "waiting", "not started", "queued", "⬜", "☐", "待执行", "待办", "未开始", "等待"),
    "failed": ("failed", "error", "❌", "✗", "失败", "已失败"),
    "skipped": ("skipped", "cancelled", "canceled", "⏭", "跳过", "已跳过", "取消", "已取消"),
}
_STATUS = {word: parse_status for parse_status, words in WORDS.items() for word in words}
_SIGNS = "".join(w for words in WORDS.values() for w in words if not w.isalnum() and len(w) == 1) + "\ufe0f"
_TITLE = re.compile(r"(task|任务)\s*[:：]\s*(.*)", re.IGNORECASE)
_GOAL = ("goal", "目标", "任务目标")
_EMPTY = frozenset(("", "—", "–", "-", "n/a", "none", "无"))
_PROGRESS = re.compile(
    r"(\*{0,2}(?:Overall Progress|总体进度)\*{0,2}\s*+[:：]\s*+\*{0,2}\s*+)"
    r"\d+\s*/\s*\d+(?:\s*[(（]\s*\d+(?:\.\d+)?\s*%\s*[)）])?",
    re.IGNORECASE,
)


class Progress(NamedTuple):
    """The line "Overall Progress": as it is written, whatever the table says."""

    done: int
    total: int
    percent: int | None
    text: str


def progress(data: bytes) -> Progress | None:
    """The progress line of a document, None where it has none."""
    match = _PROGRESS.search(prose.decode(data, PATH))
    if match is None:
        return None
    said = match[0][len(match[1]) :]
    numbers = [round(float(n)) for n in re.findall(r"\d{1,9}(?:\.\d{1,9})?", said)]
    return Progress(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else None, said)


def read(data: bytes) -> Task:
    """The task of a document in any of its three forms; without one, an empty goal and no steps.

    An unknown status word stays as it is written (lower case). Raises `BadInput` for bytes that are no text.
    """
    lines = prose.split(prose.decode(data, PATH))
    return _read(lines)[0]


def write(data: bytes | None, task: Task, *, language: str = "en") -> bytes:
    """The document after `task`: the same goal changes only cells that differ (and the progress line, if there is
    one); another goal is a new document in `language`, page form."""
    if data:
        lines = prose.split(prose.decode(data, PATH))
        present, table, fields = _read(lines)
        if _same(present.goal, task.goal):
            if present.steps == task.steps:
                return data
            if table is not None and "id" in fields:
                _patch(lines, table, fields, present, task)
                return _progress("".join(lines), task).encode()
            if table is None:
                end = prose.ending(lines)
                text = "".join(lines).rstrip("\r\n")
                return (text + end * 2 + end.join(_table(task, present.language)) + end).encode()
    return _fresh(task, language).encode()


def template(language: str = "en") -> bytes:
    """A file with no task in it yet, in the page form."""
    return ("# 任务: \n" if language.startswith("zh") else "# Task: \n").encode()


def _fresh(task: Task, language: str) -> str:
    title = "# 任务: " if language.startswith("zh") else "# Task: "
    label = "**总体进度**" if language.startswith("zh") else "**Overall Progress**"
    lines = [title + prose.one_line(task.goal), "", *_table(task, language), "", f"{label}: {_count(task)}", ""]
    return "\n".join(lines)


def _table(task: Task, language: str) -> list[str]:
    key = "zh" if language.startswith("zh") else "en"
    rows = [[_cell(step, name, key, marks=True) for name in FIELDS[key]] for step in task.steps]
    return markdown_tables.render(HEADERS[key], rows)


def _read(lines: Sequence[str]) -> tuple[Task, markdown_tables.MarkdownTable | None, dict[str, int]]:
    mask = prose.visible(lines, list(prose.fences(lines)))
    heads = prose.headings(lines, mask)
    goal, chinese = _goal(lines, mask, heads)
    for table in markdown_tables.find(lines, mask):
        fields = _fields(table)
        if "id" in fields and "status" in fields:
            words = "".join(table.header)
            steps = tuple(step for row in table.rows if (step := _step(row, fields)).id)
            return Task(goal, steps, "zh" if chinese or not words.isascii() else "en"), table, fields
    return Task(goal, (), "zh" if chinese else "en"), None, {}


def _fields(table: markdown_tables.MarkdownTable) -> dict[str, int]:
    """Which column says what. The words are the id where they stand alone (`Sub-Task | Status`), else the action."""
    fields = table.named(COLUMNS)
    worded = table.column(*_WORDED)
    if "action" not in fields and worded not in (None, fields.get("id")):
        fields["action"] = worded
    if "id" not in fields and "action" in fields:
        fields["id"] = fields.pop("action")
    return fields


def unread_tables(data: bytes) -> tuple[str, ...]:
    """The headers of a document's tables, if none of them is the table of its steps."""
    lines = prose.split(prose.decode(data, PATH))
    tables = markdown_tables.find(lines, prose.visible(lines, list(prose.fences(lines))))
    if any({"id", "status"} <= _fields(table).keys() for table in tables):
        return ()
    return tuple(" | ".join(table.header) for table in tables)


def unfinished_rows(data: bytes) -> tuple[str, ...]:
    """The rows of the table of steps that are not whole: what they lack may say which robot, or when."""
    lines = prose.split(prose.decode(data, PATH))
    table = _read(lines)[1]
    body = () if table is None else table.body
    header = () if table is None else table.header
    return tuple(prose.one_line(lines[at]) for at in body if not markdown_tables.is_whole(lines[at], header))


def _goal(lines: Sequence[str], mask: Sequence[int], heads: Sequence[Heading]) -> tuple[str, bool]:
    for head in heads:
        match = _TITLE.fullmatch(head.text)
        if match:
            return match[2].strip(), match[1] == "任务"
    for at, head in enumerate(heads):
        if markdown_tables.plain(head.text) in _GOAL:
            stop = heads[at + 1].line if at + 1 < len(heads) else len(lines)
            words = [lines[i].strip().lstrip(">").strip() for i in range(head.line + 1, stop) if mask[i]]
            goal = " ".join(w for w in words if w)
            return ("" if goal.strip("()（）_* ").casefold() in _EMPTY else goal), not head.text.isascii()
    return "", any("任务" in head.text for head in heads)


def _step(row: Sequence[str], fields: dict[str, int]) -> TaskStep:
    def cell(name: str) -> str:
        text = row[fields[name]] if name in fields else ""
        return "" if text in _EMPTY else text

    depends = tuple(part.strip() for part in re.split(r"[,，、;]", cell("depends_on")) if part.strip() not in _EMPTY)
    return TaskStep(
        cell("id") or cell("action"),
        cell("action"),
        cell("target"),
        parse_status(cell("status")),
        depends,
        cell("result"),
    )


def parse_status(cell: str) -> str:
    """The status that a cell names, by its word or by its mark alone; blank is pending, an unknown word itself."""
    text = cell.strip().strip("*`_").strip().casefold()
    word = text.strip(_SIGNS).strip()
    if word:
        return _STATUS.get(word, word)
    return _STATUS.get(text.strip("\ufe0f")[:1], "pending")


def _cell(step: TaskStep, name: str, language: str, *, marks: bool) -> str:
    if name == "status":
        mark = MARKS.get(step.status, "")
        return f"{mark} {step.status}" if marks and mark else step.status
    value = ", ".join(step.depends_on) if name == "depends_on" else str(getattr(step, name))
    return prose.one_line(value) or ("" if language == "zh" else "—")


def _patch(
    lines: list[str], table: markdown_tables.MarkdownTable, fields: dict[str, int], present: Task, task: Task
) -> None:
    """Rows become the task's steps: a known id keeps its line but for changed cells, an unknown one is added."""
    language = present.language
    old = {_step(values, fields).id: (number, values) for number, values in zip(table.body, table.rows, strict=True)}
    cells = [values[fields["status"]] for values in table.rows]
    marks = not cells or any(not c.isascii() and any(sign in c for sign in _SIGNS) for c in cells)
    end = prose.ending(lines)
    shape = lines[table.body[-1] if table.body else table.first]
    widths = [max(0, prose.width(shape[a:b]) - 2) for a, b in markdown_tables.spans(shape)]
    rows = []
    for step in task.steps:
        if step.id in old:
            number, values = old[step.id]
            line = lines[number]
            if not line.endswith(("\n", "\r")):
                line += end
            before = _step(values, fields)
            for name, column in fields.items():
                if getattr(before, name) != getattr(step, name):
                    line = markdown_tables.replace(line, column, _cell(step, name, language, marks=marks))
        else:
            new = {column: _cell(step, name, language, marks=marks) for name, column in fields.items()}
            line = markdown_tables.row([new.get(i, "") for i in range(len(table.header))], widths) + end
        rows.append(line)
    rule = table.first + 1
    if not lines[rule].endswith(("\n", "\r")):
        lines[rule] += end
    lines[rule + 1 : table.end] = rows


def _progress(text: str, task: Task) -> str:
    return _PROGRESS.sub(lambda match: match[1] + _count(task), text)


def _count(task: Task) -> str:
    done = sum(step.status == "done" for step in task.steps)
    return f"{done}/{len(task.steps)} ({round(100 * done / len(task.steps)) if task.steps else 0}%)"


def _same(a: str, b: str) -> bool:
    return bool(a.strip()) and prose.one_line(a) == prose.one_line(b)
