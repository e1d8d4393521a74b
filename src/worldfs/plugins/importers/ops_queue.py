"""ops/queue.md: a team's task board of tasks, a Markdown table (003, Migration). It stays theirs: only read.

Columns in any order, by their headings, in English or Chinese. A row that another agent has claimed is theirs; one
without a claim goes to the agent that imports the board.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.model import AgentTask
from worldfs.formats import markdown_tables, prose
from worldfs.formats.agent import synonyms as agreed

from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
from .source_dir import SHOWN, SourceDir, decode_text, unreadable_item
from .source_search import find_files, source_per_file
from .value_conversion import (
    EVERYONE,
    NOBODY,
    clean_text,
    identity,
    one_line,
    parse_agents,
    parse_time,
    safe_id,
    short_identity,
    truncate,
)

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
    location: str
    raw: bytes


class OpsQueue:
    name = "ops-queue"
    about = "ops/queue.md, a team's task board → tasks.json (the board stays as it is)"

    def finds(self, place: Path) -> list[ImportSource]:
        def fits(head: bytes) -> bool:
            found = markdown_tables.find(prose.split(head.decode("utf-8", "replace")))
            return any(_columns(table) for table in found)

        return source_per_file(self.name, find_files(place, (PATTERN,), fits, 65_536))

    def read(self, source: ImportSource) -> ParsedSource:
        found = ParsedSource()
        path = source.path
        data = b""
        try:
            with SourceDir(source.base_dir) as place:
                data = place.document(path)
                at = place.changed_at(path)
            lines = prose.split(decode_text(data, path))
        except WorldError as error:
            found.skipped.append(unreadable_item(error, path, data))
            return found
        mask = prose.visible(lines, list(prose.fences(lines)))
        boards = markdown_tables.find(lines, mask)
        if not boards:
            found.skipped.append(
                SkippedItem(
                    path, coded("plugin.no_table"), coded("plugin.a_table"), "", data[:SHOWN], len(data) <= SHOWN
                )
            )
        for table in boards:
            _board(found, table, lines, path, at)
        return found


def _columns(table: markdown_tables.MarkdownTable) -> dict[str, int]:
    """Which column says what; nothing if the table is no board."""
    columns = table.named(COLUMN_WORDS)
    return columns if "item" in columns and len(columns) > 1 else {}


def _board(found: ParsedSource, table: markdown_tables.MarkdownTable, lines: Sequence[str], path: str, at: str) -> None:
    columns = _columns(table)
    if not columns:
        shown = "".join(lines[table.first : table.end]).encode()[:SHOWN]
        expected = coded("plugin.called", names=[*COLUMN_WORDS["item"][:4]])
        what = coded("plugin.columns", names=[*table.header])
        found.skipped.append(
            SkippedItem(f"{path}:{table.first + 1}", what, expected, coded("plugin.name_column"), shown)
        )
        return
    mask = prose.visible(lines, list(prose.fences(lines)))
    above = (head.text for head in reversed(prose.headings(lines, mask)) if head.line < table.first)
    section = next(above, "")
    for row, number in zip(table.rows, table.body, strict=True):
        cells = {meaning: clean_text(row[index]).strip() for meaning, index in columns.items()}
        others = {
            one_line(head, 60) or f"column {index + 1}": clean_text(row[index]).strip()
            for index, head in enumerate(table.header)
            if index not in columns.values() and row[index].strip()
        }
        _task(found, _Row(cells, others, section, f"{path}:{number + 1}", lines[number].encode()[:SHOWN]), at)


def _task(found: ParsedSource, row: _Row, at: str) -> None:
    title = row.cells["item"]
    struck = bool(title) and not _STRUCK.sub("", title).strip(" .")
    box = _BOX.match(title)
    title = _BOX.sub("", _STRUCK.sub(r"\1", title)).strip()
    if not title.strip("-–—_ "):
        if any(text.strip(" -–—") for text in (*row.cells.values(), *row.others.values())):
            found.skipped.append(
                SkippedItem(row.location, coded("plugin.row_without"), coded("plugin.a_title"), "", row.raw)
            )
        return
    claimed = row.cells.get("claimed", "")
    nobody = claimed.strip(" *`_").casefold() in (*NOBODY, *EVERYONE)
    owners = () if nobody else parse_agents(claimed)
    ticked = struck or bool(box and box[1] != " ")
    status = "completed" if ticked else _status(row.cells.get("status", ""), row.section, not nobody)
    extra: dict[str, object] = dict(row.others)
    kind, type_ = _agreed(agreed.task_type, row.cells.get("type", ""))
    priority_word, priority = _agreed(agreed.task_priority, row.cells.get("priority", ""))
    for key, text in (("kind", kind), ("priority_word", priority_word), ("board_id", row.cells.get("id", ""))):
        if text:
            extra[key] = text
    if claimed and not nobody and not owners:
        extra["claimed"] = claimed
    context, more = truncate(row.cells.get("notes", ""))
    found.shortened(row.location, more)
    key = identity("ops-queue", row.cells.get("id", "").casefold() or " ".join(title.casefold().split()))
    outcome = row.cells.get("outcome", "")
    task = AgentTask(
        id=safe_id(row.cells.get("id", "")) or f"queue-{short_identity(key)}",
        type=type_ or ("evaluate" if kind in EVALUATE else "follow-up"),
        description=one_line(title, 1000),
        status=status,
        priority=priority or "medium",
        created_at=parse_time(row.cells.get("created", "")),
        context=context,
        outcome=outcome or None,
        completed_at=(parse_time(outcome) or None) if status in ("completed", "dropped") else None,
        extra=extra,
    )
    if any(item.key == key for item in found.tasks):
        found.skipped.append(
            SkippedItem(
                row.location, coded("plugin.task_again"), coded("plugin.row_a_task"), "", row.raw, intended=True
            )
        )
        return
    found.tasks.extend(ImportItem(key, task, row.location, owner, at=at) for owner in owners or (None,))


def _agreed(known: Callable[[str], str], text: str) -> tuple[str, str]:
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
