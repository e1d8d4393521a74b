"""Claude Code's tasks: `tasks/{list}/{n}.json` (or one tasks.json), and the older `todos/*.json` → tasks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from worldfs.base.errors import WorldError
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.base.model import AgentTask

from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
from .source_dir import SHOWN, SourceDir, parse_document, unreadable_item
from .source_search import claude_patterns, find_files, sources_by_folder
from .value_conversion import (
    as_text,
    as_texts,
    clean_text,
    extra_members,
    identity,
    one_line,
    parse_agent,
    parse_time,
    short_identity,
    slug,
    truncate,
)

PATTERNS: Final = (("tasks", "*", "*.json"), ("todos", "*.json"))
KNOWN: Final = (
    "id", "subject", "title", "content", "description", "activeForm", "status", "priority", "blocks", "blockedBy",
    "dependencies", "owner", "createdAt", "created_at", "updatedAt", "completedAt", "metadata",
)  # fmt: skip
STATUS: Final = {"pending": "pending", "in_progress": "active", "completed": "completed", "cancelled": "dropped"}
PRIORITY: Final = {"high": "high", "medium": "medium", "low": "low"}
_SESSION: Final = re.compile(r"(.+?)-agent-(.+)")


class ClaudeTasks:
    name = "claude-tasks"
    about = "Claude Code's tasks/*.json and todos → tasks.json"

    def finds(self, place: Path) -> list[ImportSource]:
        def fits(head: bytes) -> bool:
            listed = b'"tasks"' in head and b'"blockedBy"' in head
            return listed or (b'"status"' in head and (b'"subject"' in head or b'"content"' in head))

        where, files = find_files(place, claude_patterns(place, *PATTERNS), fits)
        with SourceDir(where) as opened:
            files = [path for path in files if opened.head(path, 8).strip() != b"[]"]
        return sources_by_folder(self.name, (where, files))

    def read(self, source: ImportSource) -> ParsedSource:
        found = ParsedSource()
        with SourceDir(source.base_dir) as place:
            for path in sorted(source.files, key=_number):
                data = b""
                try:
                    data = place.document(path)
                    _file(found, parse_document(data, path), path, place.changed_at(path), data)
                except WorldError as error:
                    found.skipped.append(unreadable_item(error, path, data))
        return found


def _file(found: ParsedSource, value: object, path: str, at: str, data: bytes) -> None:
    folder = path.split("/")[-2] if "/" in path else ""
    if isinstance(value, list):  # todos: {session}-agent-{agent}.json
        match = _SESSION.fullmatch(Path(path).stem)
        for number, item in enumerate(value):
            _task(found, item, f"{path}#/{number}", match[1] if match else Path(path).stem, at, todo=True)
    elif isinstance(value, dict) and isinstance(value.get("tasks"), list):
        for number, item in enumerate(value["tasks"]):
            _task(found, item, f"{path}#/tasks/{number}", folder, at)
    elif isinstance(value, dict):
        _task(found, value, path, folder, at)
    else:
        found.skipped.append(
            SkippedItem(
                path, coded("plugin.json_kind", kind=type(value).__name__), coded("plugin.tasks"), "", data[:SHOWN]
            )
        )


def _task(found: ParsedSource, given: object, where: str, group: str, at: str, *, todo: bool = False) -> None:
    item = as_object(given)
    title = as_text(item.get("subject")) or as_text(item.get("title")) or as_text(item.get("content"))
    if not title.strip():
        found.skipped.append(
            SkippedItem(where, coded("plugin.no_task"), coded("plugin.a_task"), "", repr(given).encode()[:SHOWN])
        )
        return
    metadata = as_object(item.get("metadata"))
    if metadata.get("_internal") is True:
        found.ignore(coded("plugin.trackers"))
        return
    word = as_text(item.get("status")) or "pending"
    if word == "deleted":
        found.skipped.append(SkippedItem(where, coded("plugin.deleted", title=one_line(title)), intended=True))
        return
    id = as_text(item.get("id"))
    key = identity("claude-tasks", group, id or title.strip(), "todo" if todo else "")
    while any(known.key == key for known in found.tasks):
        key = identity(key, "again")
    context, more = truncate(as_text(item.get("description")))
    found.shortened(f"{where}/description", more)
    extra, large = extra_members(item, KNOWN)
    found.too_large(where, large)
    if metadata:
        extra["metadata"], _ = extra_members(metadata, ())
    if word not in STATUS:
        extra["status_word"] = clean_text(word)
    waits = [_id(group, other) for other in as_texts(item.get("blockedBy", item.get("dependencies")))]
    if waits:
        extra["depends_on"] = waits
    owner = as_text(item.get("owner"))
    if owner:
        extra["owner"] = clean_text(owner)
    status = STATUS.get(word, "pending")
    task = AgentTask(
        id=_id(group, id) if id and not todo else f"todo-{short_identity(key)}",
        description=one_line(title, 1000),
        status=status,
        priority=PRIORITY.get(as_text(item.get("priority")), "medium"),
        created_at=parse_time(item.get("createdAt", item.get("created_at"))),
        completed_at=(parse_time(item.get("completedAt", item.get("updatedAt"))) or None)
        if status == "completed"
        else None,
        context=context.strip(),
        extra=extra,
    )
    found.tasks.append(ImportItem(key, task, where, parse_agent(owner) if owner else None, at=at))


def _id(group: str, id: str) -> str:
    return f"cc-{slug(group, 8) or 'list'}-{slug(id, 40) or short_identity(id)}"


def _number(path: str) -> tuple[str, int, str]:
    """1.json, 2.json, 10.json in the order in which they were made."""
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".json")
    return folder, int(stem) if stem.isdecimal() else 0, name
