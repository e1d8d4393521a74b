"""ops/queue.md: the people's board of tasks, a Markdown table (003, Migration). It stays theirs: only read, never written.

Columns in any order, by their headings, in English or Chinese. A row that somebody else has claimed is theirs; one
that nobody has claimed is offered to whoever brings the board over.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from worldfs.formats import prose, tables
from worldfs.ground.errors import WorldError
from worldfs.ground.model import AgentTask

from .nouns import Imported, Item, Left, Source
from .places import files_of, single
from .reading import SHOWN, Place, not_read
from .words import EVERYONE, NOBODY, agents, cut, identity, line, name, short, sound, when

PATTERN: Final = ("ops", "queue.md")
COLUMNS: Final = {
    "item": ("item", "task", "title", "what", "description", "work item", "todo", "事项", "任务", "标题", "工作项", "描述"),
    "id": ("id", "#", "no", "no.", "nr", "key", "编号", "序号"),
    "type": ("type", "kind", "category", "类型", "类别", "种类"),
    "priority": ("priority", "prio", "p", "severity", "优先级", "优先", "级别"),
    "claimed": ("claimed", "claimed by", "owner", "assignee", "assigned", "assigned to", "who", "agent", "认领", "认领人", "负责人", "负责"),
    "status": ("status", "state", "done", "状态", "进度"),
    "notes": ("notes", "note", "context", "details", "comment", "comments", "备注", "说明", "详情", "上下文"),
    "created": ("created", "added", "date", "since", "opened", "创建", "日期", "添加", "创建时间"),
    "outcome": ("outcome", "result", "resolved by", "pr", "结果", "解决"),
}  # fmt: skip
PRIORITY: Final = {
    **dict.fromkeys(("critical", "crit", "urgent", "blocker", "blocking", "high", "p0", "p1", "紧急", "关键", "高"), "high"),
    **dict.fromkeys(("medium", "med", "normal", "p2", "中", "普通", "一般"), "medium"),
    **dict.fromkeys(("low", "minor", "p3", "p4", "低"), "low"),
}  # fmt: skip
TYPE: Final = {
    **dict.fromkeys(("research", "investigate", "investigation", "研究", "调研"), "research"),
    **dict.fromkeys(("extract", "extraction", "ingest", "提取", "抽取"), "extract"),
    **dict.fromkeys(("evaluate", "evaluation", "review", "audit", "评估", "评审", "审核"), "evaluate"),
    **dict.fromkeys(("disconfirm", "disconfirmation", "challenge", "证伪"), "disconfirm"),
}
STATUS: Final = {
    **dict.fromkeys(("done", "closed", "complete", "completed", "merged", "resolved", "finished", "x", "yes", "✅", "✔", "☑", "完成", "已完成", "关闭"), "completed"),
    **dict.fromkeys(("active", "claimed", "in progress", "in-progress", "wip", "doing", "started", "进行中", "处理中"), "active"),
    **dict.fromkeys(("dropped", "cancelled", "canceled", "wontfix", "won't do", "rejected", "放弃", "取消"), "dropped"),
    **dict.fromkeys(("open", "todo", "to do", "pending", "backlog", "queued", "ready", "no", "⬜", "☐", "待办", "待处理", "未开始"), "pending"),
}  # fmt: skip
_STRUCK: Final = re.compile(r"~~(.*?)~~")
_BOX: Final = re.compile(r"^\[( |x|X)\]\s*")


class OpsQueue:
    name = "ops-queue"
    about = "ops/queue.md, the people's board → tasks.json (the board stays as it is)"

    def finds(self, place: Path) -> list[Source]:
        def fits(head: bytes) -> bool:
            lines = prose.split(head.decode("utf-8", "replace"))
            return any(_columns(table) for table in tables.find(lines))

        return single(self.name, files_of(place, PATTERN, fits, 65_536))

    def read(self, source: Source) -> Imported:
        found = Imported()
        path = source.path
        with Place(source.place) as place:
            try:
                data = place.document(path)
                text = place.text(path)
            except WorldError as error:
                found.left.append(not_read(error, path))
                return found
            at = place.changed_at(path)
        lines = prose.split(text)
        mask = prose.visible(lines, list(prose.fences(lines)))
        heads = prose.headings(lines, mask)
        boards = [(table, _columns(table)) for table in tables.find(lines, mask)]
        for table, columns in boards:
            if columns is None:
                where = f"{path}:{table.first + 1}"
                found.left.append(
                    Left(
                        where,
                        "a table with the columns " + ", ".join(table.header),
                        "one of them called " + ", ".join(COLUMNS["item"][:4]),
                        "name the column of the tasks",
                        "".join(lines[table.first : table.end]).encode()[:SHOWN],
                    )
                )
                continue
            section = next((head.text for head in reversed(heads) if head.line < table.first), "")
            for row, number in zip(table.rows, table.body, strict=True):
                _row(found, row, columns, table.header, section, f"{path}:{number + 1}", at, lines[number])
        if not boards:
            found.left.append(Left(path, "no table", "a table of tasks", "", data[:SHOWN], len(data) <= SHOWN))
        return found


def _columns(table: tables.Table) -> dict[str, int] | None:
    """Which column says what; None if the table is no board."""
    columns = table.named(COLUMNS)
    if "item" not in columns or len(columns) < 2:
        return None
    return columns


def _row(
    found: Imported,
    row: tuple[str, ...],
    columns: dict[str, int],
    header: tuple[str, ...],
    section: str,
    where: str,
    at: str,
    raw: str,
) -> None:
    def cell(meaning: str) -> str:
        return sound(row[columns[meaning]]).strip() if meaning in columns else ""

    title = cell("item")
    struck = bool(title) and not _STRUCK.sub("", title).strip(" .")
    box = _BOX.match(title)
    title = _BOX.sub("", _STRUCK.sub(r"\1", title)).strip()
    if not title or set(title) <= set("-–—_ "):
        if any(text.strip(" -–—") for text in row):
            found.left.append(Left(where, "a row without a task", "a title", "", raw.encode()[:SHOWN]))
        return
    claimed = cell("claimed")
    nobody = claimed.strip(" *`_").casefold() in NOBODY | EVERYONE
    owners = () if nobody else agents(claimed)
    status = _status(cell("status"), section, struck, bool(box and box[1] != " "), bool(claimed) and not nobody)
    extra: dict[str, Any] = {}
    kind = cell("type").strip("`*_").casefold()
    if kind and kind not in TYPE:
        extra["kind"] = kind
    word = cell("priority").strip("`*_ ").casefold()
    if word and word not in PRIORITY:
        extra["priority_word"] = word
    if claimed and not nobody and not owners:
        extra["claimed"] = claimed
    for index, text in enumerate(row):
        if index not in columns.values() and text.strip():
            extra[line(header[index], 60) or f"column {index + 1}"] = sound(text).strip()
    for meaning in ("id",):
        if cell(meaning):
            extra["board_id"] = cell(meaning)
    context, left_out = cut(cell("notes"))
    if left_out:
        found.left.append(
            Left(where, f"{left_out:,} characters of the notes", "shorter notes", "they stay in the board")
        )
    key = identity("ops-queue", cell("id").casefold() or " ".join(title.casefold().split()))
    created = when(cell("created")) or at
    task = AgentTask(
        id=name(cell("id")) or f"queue-{short(key)}",
        type=TYPE.get(kind, "follow-up"),
        description=line(title, 1000),
        status=status,
        priority=PRIORITY.get(word, "medium"),
        created_at=created,
        context=context,
        outcome=cell("outcome") or None,
        completed_at=(when(cell("outcome")) or at) if status in ("completed", "dropped") else None,
        extra=extra,
    )
    if any(item.key == key for item in found.tasks):
        found.left.append(
            Left(where, "the same task a second time", "one row a task", "", raw.encode()[:SHOWN], meant=True)
        )
        return
    for owner in owners or (None,):
        found.tasks.append(Item(key, task, where, owner))


def _status(word: str, section: str, struck: bool, ticked: bool, claimed: bool) -> str:
    if struck or ticked:
        return "completed"
    bare = word.strip(" *`_").casefold()
    for text in (bare, *bare.split()):
        if text in STATUS:
            return STATUS[text]
    for text in (section.casefold(), *section.casefold().split()):
        found = STATUS.get(text.strip(" *`_:："))
        if found in ("completed", "dropped"):
            return found
    return "active" if claimed else "pending"
