"""ops/queue.md: the people's board of tasks, a Markdown table (003, Migration). It stays theirs: only read.

Columns in any order, by their headings, in English or Chinese. A row that somebody else has claimed is theirs; one
that nobody has claimed is for whoever brings the board over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from worldfs.formats import prose, tables
from worldfs.formats.agent import words as agreed
from worldfs.ground.errors import WorldError
from worldfs.ground.model import AgentTask

from .nouns import Imported, Item, Left, Source
from .places import files_of, single
from .reading import SHOWN, Place, decoded, not_read
from .words import EVERYONE, NOBODY, agents, cut, identity, line, name, short, sound, when

PATTERN: Final = ("ops", "queue.md")
COLUMNS: Final = {
    "item": "item, task, title, what, description, work item, todo, 事项, 任务, 标题, 工作项, 描述",
    "id": "id, #, no, no., nr, key, 编号, 序号",
    "type": "type, kind, category, 类型, 类别, 种类",
    "priority": "priority, prio, p, severity, 优先级, 优先, 级别",
    "claimed": "claimed, claimed by, owner, assignee, assigned, assigned to, who, agent, 认领, 认领人, 负责人, 负责",
    "status": "status, state, done, 状态, 进度",
    "notes": "notes, note, context, details, comment, comments, 备注, 说明, 详情, 上下文",
    "created": "created, added, date, since, opened, 创建, 日期, 添加, 创建时间",
    "outcome": "outcome, result, resolved by, pr, 结果, 解决",
}
COLUMN_WORDS: Final = {meaning: words.split(", ") for meaning, words in COLUMNS.items()}
DONE: Final = ("x", "yes", "merged", "✅", "✔", "✔️", "☑", "[x]")
CLAIMED: Final = ("claimed", "认领", "已认领")
EVALUATE: Final = ("audit", "审核")
_STRUCK: Final = re.compile(r"~~(.*?)~~")
_BOX: Final = re.compile(r"^\[( |x|X)\]\s*")


class _Row(NamedTuple):
    cells: dict[str, str]  # by meaning
    others: dict[str, str]  # cells of columns that mean nothing to us, by their heading
    section: str
    where: str
    raw: bytes


class OpsQueue:
    name = "ops-queue"
    about = "ops/queue.md, the people's board → tasks.json (the board stays as it is)"

    def finds(self, place: Path) -> list[Source]:
        def fits(head: bytes) -> bool:
            found = tables.find(prose.split(head.decode("utf-8", "replace")))
            return any(_columns(table) for table in found)

        return single(self.name, files_of(place, (PATTERN,), fits, 65_536))

    def read(self, source: Source) -> Imported:
        found = Imported()
        path = source.path
        data = b""
        try:
            with Place(source.place) as place:
                data = place.document(path)
                at = place.changed_at(path)
            lines = prose.split(decoded(data, path))
        except WorldError as error:
            found.left.append(not_read(error, path, data))
            return found
        mask = prose.visible(lines, list(prose.fences(lines)))
        boards = tables.find(lines, mask)
        if not boards:
            found.left.append(Left(path, "no table", "a table of tasks", "", data[:SHOWN], len(data) <= SHOWN))
        for table in boards:
            _board(found, table, lines, path, at)
        return found


def _columns(table: tables.Table) -> dict[str, int]:
    """Which column says what; nothing if the table is no board."""
    columns = table.named(COLUMN_WORDS)
    return columns if "item" in columns and len(columns) > 1 else {}


def _board(found: Imported, table: tables.Table, lines: Sequence[str], path: str, at: str) -> None:
    columns = _columns(table)
    if not columns:
        shown = "".join(lines[table.first : table.end]).encode()[:SHOWN]
        expected = "one of them called " + ", ".join(COLUMN_WORDS["item"][:4])
        what = "a table with the columns " + ", ".join(table.header)
        found.left.append(Left(f"{path}:{table.first + 1}", what, expected, "name the column of the tasks", shown))
        return
    mask = prose.visible(lines, list(prose.fences(lines)))
    above = (head.text for head in reversed(prose.headings(lines, mask)) if head.line < table.first)
    section = next(above, "")
    for row, number in zip(table.rows, table.body, strict=True):
        cells = {meaning: sound(row[index]).strip() for meaning, index in columns.items()}
        others = {
            line(head, 60) or f"column {index + 1}": sound(row[index]).strip()
            for index, head in enumerate(table.header)
            if index not in columns.values() and row[index].strip()
        }
        _task(found, _Row(cells, others, section, f"{path}:{number + 1}", lines[number].encode()[:SHOWN]), at)


def _task(found: Imported, row: _Row, at: str) -> None:
    title = row.cells["item"]
    struck = bool(title) and not _STRUCK.sub("", title).strip(" .")
    box = _BOX.match(title)
    title = _BOX.sub("", _STRUCK.sub(r"\1", title)).strip()
    if not title.strip("-–—_ "):
        if any(text.strip(" -–—") for text in (*row.cells.values(), *row.others.values())):
            found.left.append(Left(row.where, "a row without a task", "a title", "", row.raw))
        return
    claimed = row.cells.get("claimed", "")
    nobody = claimed.strip(" *`_").casefold() in (*NOBODY, *EVERYONE)
    owners = () if nobody else agents(claimed)
    ticked = struck or bool(box and box[1] != " ")
    status = "completed" if ticked else _status(row.cells.get("status", ""), row.section, not nobody)
    extra: dict[str, Any] = dict(row.others)
    kind, type_ = _agreed(agreed.task_type, row.cells.get("type", ""))
    priority_word, priority = _agreed(agreed.task_priority, row.cells.get("priority", ""))
    for key, text in (("kind", kind), ("priority_word", priority_word), ("board_id", row.cells.get("id", ""))):
        if text:
            extra[key] = text
    if claimed and not nobody and not owners:
        extra["claimed"] = claimed
    context, more = cut(row.cells.get("notes", ""))
    found.shortened(row.where, more)
    key = identity("ops-queue", row.cells.get("id", "").casefold() or " ".join(title.casefold().split()))
    outcome = row.cells.get("outcome", "")
    task = AgentTask(
        id=name(row.cells.get("id", "")) or f"queue-{short(key)}",
        type=type_ or ("evaluate" if kind in EVALUATE else "follow-up"),
        description=line(title, 1000),
        status=status,
        priority=priority or "medium",
        created_at=when(row.cells.get("created", "")),
        context=context,
        outcome=outcome or None,
        completed_at=(when(outcome) or None) if status in ("completed", "dropped") else None,
        extra=extra,
    )
    if any(item.key == key for item in found.tasks):
        found.left.append(Left(row.where, "the same task a second time", "one row a task", "", row.raw, meant=True))
        return
    found.tasks.extend(Item(key, task, row.where, owner, at=at) for owner in owners or (None,))


def _agreed(known: Any, text: str) -> tuple[str, str]:
    """(the board's word if it is none of ours, our word if there is one)."""
    bare = text.strip("`*_ ").casefold()
    word = known(bare)
    return ("", word) if word != bare or word in _OURS else (bare, "")


_OURS: Final = ("high", "medium", "low", "research", "extract", "evaluate", "follow-up", "disconfirm")
_STATUS: Final = ("pending", "active", "completed", "dropped")


def _status(word: str, section: str, claimed: bool) -> str:
    bare = word.strip(" *`_").casefold()
    for text in (bare, *bare.split()):
        if text in DONE:
            return "completed"
        if text in CLAIMED:
            return "active"
        if (found := agreed.task_status(text)) in _STATUS:
            return found
    for text in (section.casefold(), *section.casefold().split()):
        found = agreed.task_status(text.strip(" *`_:："))
        if found in ("completed", "dropped"):
            return found
    return "active" if claimed else "pending"
