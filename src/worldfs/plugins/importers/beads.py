"""Beads' issues, `.beads/issues.jsonl`: one issue a line, or a memory of `bd remember` → tasks and notes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.model import AgentTask, Remark

from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
from .source_dir import SHOWN, SourceDir, json_objects, unreadable_item
from .source_search import find_files, source_per_file
from .value_conversion import (
    as_text,
    as_texts,
    clean_text,
    extra_members,
    identity,
    note_text,
    one_line,
    parse_time,
    safe_id,
    short_identity,
    truncate,
)

PATTERNS: Final = ((".beads", "issues.jsonl"), (".beads", "beads.jsonl"))
STATUS: Final = {
    "open": "pending", "blocked": "pending", "deferred": "pending", "pinned": "pending",
    "in_progress": "active", "hooked": "active", "closed": "completed",
}  # fmt: skip
PRIORITY: Final = ("high", "high", "medium", "low", "low")
KNOWN: Final = (
    "_type", "id", "title", "description", "design", "acceptance_criteria", "notes", "status", "priority", "issue_type",
    "type", "assignee", "created_at", "closed_at", "close_reason", "dependencies", "labels", "comments", "updated_at",
    "content_hash", "dependency_count", "dependent_count", "comment_count", "compaction_level", "original_size",
)  # fmt: skip
PARTS: Final = (("description", ""), ("design", "Design"), ("acceptance_criteria", "Acceptance"), ("notes", "Notes"))
HARD: Final = ("blocks", "conditional-blocks", "waits-for")
PARENT: Final = ("discovered-from", "parent-child")
SECTION: Final = "patterns"


class Beads:
    name = "beads"
    about = "Beads' .beads/issues.jsonl → tasks.json, its memories → notes"

    def finds(self, place: Path) -> list[ImportSource]:
        def fits(head: bytes) -> bool:
            issue = b'"title"' in head and (b'"issue_type"' in head or b'"status"' in head)
            return issue or b'"_schema":"beads' in head

        where, files = find_files(place, PATTERNS, fits, 65_536)
        return source_per_file(self.name, (where, files[:1] if len(files) > 1 and _older(files) else files))

    def read(self, source: ImportSource) -> ParsedSource:
        found = ParsedSource()
        issues: dict[str, tuple[dict[str, object], str, bytes]] = {}
        with SourceDir(source.base_dir) as place:
            try:
                for line_, value in json_objects(place, source.path, found.skipped):
                    where = f"{source.path}:{line_.number}"
                    if "_schema" in value:
                        found.ignore("headers")
                    elif value.get("_type") == "memory":
                        _memory(found, value, where, line_.data)
                    elif not as_text(value.get("id")) or not as_text(value.get("title")):
                        found.skipped.append(
                            SkippedItem(
                                where, coded("plugin.no_issue"), coded("plugin.an_issue"), "", line_.data[:SHOWN]
                            )
                        )
                    else:
                        if value["id"] in issues:  # a merge in git leaves both; the later one counts
                            found.ignore(coded("plugin.issue_again"))
                        issues[as_text(value["id"])] = (value, where, line_.data)
            except WorldError as error:
                found.skipped.append(unreadable_item(error, source.path))
        ids = {id: _id(value) for id, (value, _, _) in issues.items()}
        for value, where, raw in issues.values():
            _issue(found, value, where, raw, ids)
        return found


def _older(files: list[str]) -> bool:
    """`beads.jsonl` is what issues.jsonl was called before; where both exist, the newer one counts."""
    return files[0].rpartition("/")[2] == "issues.jsonl"


def _key(value: dict[str, object]) -> str:
    """Two repositories may both have a bd-1: the time of its making tells them apart."""
    return identity("beads", value["id"], as_text(value.get("created_at")))


def _id(value: dict[str, object]) -> str:
    return safe_id(value["id"]) or f"bd-{short_identity(value['id'])}"


def _memory(found: ParsedSource, value: dict[str, object], where: str, raw: bytes) -> None:
    key, text = as_text(value.get("key")), as_text(value.get("value"))
    if not key or not text:
        found.skipped.append(SkippedItem(where, coded("plugin.no_memory"), coded("plugin.key_value"), "", raw[:SHOWN]))
        return
    found.remarks.append(
        ImportItem(identity("beads-memory", key), Remark(SECTION, note_text(f"**{one_line(key)}**: {text}")), where)
    )


def _issue(found: ParsedSource, value: dict[str, object], where: str, raw: bytes, ids: dict[str, str]) -> None:
    title, word = as_text(value["title"]), as_text(value.get("status")) or "open"
    if word == "tombstone" or value.get("deleted_at"):
        found.skipped.append(
            SkippedItem(where, coded("plugin.deleted", title=one_line(title)), data=raw[:SHOWN], intended=True)
        )
        return
    parts = [f"{label}: {text}" if label else text for key, label in PARTS if (text := as_text(value.get(key)).strip())]
    comments = value.get("comments")
    for comment in comments if isinstance(comments, list) else ():
        if isinstance(comment, dict) and as_text(comment.get("text")):
            parts.append(f"{as_text(comment.get('author')) or 'comment'}: {as_text(comment['text']).strip()}")
    context, more = truncate("\n\n".join(parts))
    found.shortened(where, more)
    extra, large = extra_members(value, KNOWN)
    found.too_large(where, large)
    waits, parent = _dependencies(value.get("dependencies"), as_text(value["id"]), ids, extra)
    if waits:
        extra["depends_on"] = waits
    for field, key in (("labels", "labels"), ("assignee", "assignee")):
        if value.get(field):
            extra[key] = as_texts(value[field]) if field == "labels" else clean_text(as_text(value[field]))
    kind = as_text(value.get("issue_type", value.get("type")))
    if kind and kind != "task":
        extra["kind"] = clean_text(kind)
    if word not in ("open", "in_progress", "closed"):
        extra["status_word"] = clean_text(word)
    priority = value.get("priority", 2)
    rank = priority if type(priority) is int and 0 <= priority < len(PRIORITY) else None
    if rank is None:
        found.skipped.append(
            SkippedItem(
                f"{where}/priority",
                coded("plugin.priority", priority=str(priority)[:60]),
                coded("plugin.priorities"),
                "",
                raw[:SHOWN],
            )
        )
    elif priority in (0, 4):
        extra["rank"] = priority
    status = STATUS.get(word, "pending")
    closed = parse_time(value.get("closed_at")) or parse_time(value.get("updated_at")) if status == "completed" else ""
    task = AgentTask(
        id=ids[as_text(value["id"])],
        description=one_line(title, 1000),
        status=status,
        priority="medium" if rank is None else PRIORITY[rank],
        created_at=parse_time(value.get("created_at")),
        context=context,
        follow_up_from=parent,
        completed_at=closed or None,
        outcome=one_line(as_text(value.get("close_reason")), 1000) or None,
        extra=extra,
    )
    found.tasks.append(ImportItem(_key(value), task, where))


def _dependencies(
    value: object, own: str, ids: dict[str, str], extra: dict[str, object]
) -> tuple[list[str], str | None]:
    """(ids that it waits for, the one that it follows); other ties stay in `extra["related"]`."""
    waits, parents, other = [], [], []
    for item in value if isinstance(value, list) else ():
        if isinstance(item, str):
            waits.append(ids.get(item, clean_text(item)))
            continue
        if not isinstance(item, dict):
            continue
        id = as_text(item.get("depends_on_id")) or as_text(item.get("target")) or as_text(item.get("id"))
        kind = as_text(item.get("type", item.get("dependency_type"))) or "blocks"
        if not id or id == own:
            continue
        target = ids.get(id, clean_text(id))
        if kind in HARD:
            waits.append(target)
        elif kind in PARENT:
            parents.append((PARENT.index(kind), target))
        else:
            other.append({"id": target, "type": clean_text(kind)})
    parents.sort()
    other += [{"id": target, "type": PARENT[rank]} for rank, target in parents[1:]]
    if other:
        extra["related"] = other
    return list(dict.fromkeys(waits)), parents[0][1] if parents else None
