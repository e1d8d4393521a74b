"""Beads' issues, `.beads/issues.jsonl`: one issue a line, or a memory of `bd remember` → tasks and notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from worldfs.ground.errors import WorldError
from worldfs.ground.model import AgentTask, Remark

from .nouns import Imported, Item, Left, Source
from .places import files_of, single
from .reading import SHOWN, Place, not_read, objects
from .words import cut, identity, line, name, note, rest, short, sound, string, strings, when

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

    def finds(self, place: Path) -> list[Source]:
        def fits(head: bytes) -> bool:
            issue = b'"title"' in head and (b'"issue_type"' in head or b'"status"' in head)
            return issue or b'"_schema":"beads' in head

        where, files = files_of(place, PATTERNS, fits, 65_536)
        return single(self.name, (where, files[:1] if len(files) > 1 and _older(files) else files))

    def read(self, source: Source) -> Imported:
        found = Imported()
        issues: dict[str, tuple[dict[str, Any], str, bytes]] = {}
        with Place(source.place) as place:
            try:
                for line_, value in objects(place, source.path, found.left):
                    where = f"{source.path}:{line_.number}"
                    if "_schema" in value:
                        found.passed_over("headers")
                    elif value.get("_type") == "memory":
                        _memory(found, value, where, line_.data)
                    elif not string(value.get("id")) or not string(value.get("title")):
                        found.left.append(
                            Left(where, "no issue", "an object with id and title", "", line_.data[:SHOWN])
                        )
                    else:
                        if value["id"] in issues:  # a merge in git leaves both; the later one counts
                            found.passed_over("lines of an issue that stands there again")
                        issues[value["id"]] = (value, where, line_.data)
            except WorldError as error:
                found.left.append(not_read(error, source.path))
        ids = {id: _id(value) for id, (value, _, _) in issues.items()}
        for value, where, raw in issues.values():
            _issue(found, value, where, raw, ids)
        return found


def _older(files: list[str]) -> bool:
    """`beads.jsonl` is what issues.jsonl was called before; where both stand, the newer one counts."""
    return files[0].rpartition("/")[2] == "issues.jsonl"


def _key(value: dict[str, Any]) -> str:
    """Two repositories may both have a bd-1: the time of its making tells them apart."""
    return identity("beads", value["id"], string(value.get("created_at")))


def _id(value: dict[str, Any]) -> str:
    return name(value["id"]) or f"bd-{short(value['id'])}"


def _memory(found: Imported, value: dict[str, Any], where: str, raw: bytes) -> None:
    key, text = string(value.get("key")), string(value.get("value"))
    if not key or not text:
        found.left.append(Left(where, "no memory", "key and value", "", raw[:SHOWN]))
        return
    found.remarks.append(Item(identity("beads-memory", key), Remark(SECTION, note(f"**{line(key)}**: {text}")), where))


def _issue(found: Imported, value: dict[str, Any], where: str, raw: bytes, ids: dict[str, str]) -> None:
    title, word = string(value["title"]), string(value.get("status")) or "open"
    if word == "tombstone" or value.get("deleted_at"):
        found.left.append(Left(where, f"deleted at the source: {line(title)}", data=raw[:SHOWN], meant=True))
        return
    parts = [f"{label}: {text}" if label else text for key, label in PARTS if (text := string(value.get(key)).strip())]
    comments = value.get("comments")
    for comment in comments if isinstance(comments, list) else ():
        if isinstance(comment, dict) and string(comment.get("text")):
            parts.append(f"{string(comment.get('author')) or 'comment'}: {string(comment['text']).strip()}")
    context, more = cut("\n\n".join(parts))
    found.shortened(where, more)
    extra, large = rest(value, KNOWN)
    found.too_large(where, large)
    waits, parent = _dependencies(value.get("dependencies"), value["id"], ids, extra)
    if waits:
        extra["depends_on"] = waits
    for field, key in (("labels", "labels"), ("assignee", "assignee")):
        if value.get(field):
            extra[key] = strings(value[field]) if field == "labels" else sound(string(value[field]))
    kind = string(value.get("issue_type", value.get("type")))
    if kind and kind != "task":
        extra["kind"] = sound(kind)
    if word not in ("open", "in_progress", "closed"):
        extra["status_word"] = sound(word)
    priority = value.get("priority", 2)
    ranked = type(priority) is int and 0 <= priority < len(PRIORITY)
    if not ranked:
        found.left.append(Left(f"{where}/priority", f"priority {str(priority)[:60]}", "0 to 4", "", raw[:SHOWN]))
    elif priority in (0, 4):
        extra["rank"] = priority
    status = STATUS.get(word, "pending")
    closed = when(value.get("closed_at")) or when(value.get("updated_at")) if status == "completed" else ""
    task = AgentTask(
        id=ids[value["id"]],
        description=line(title, 1000),
        status=status,
        priority=PRIORITY[priority] if ranked else "medium",
        created_at=when(value.get("created_at")),
        context=context,
        follow_up_from=parent,
        completed_at=closed or None,
        outcome=line(string(value.get("close_reason")), 1000) or None,
        extra=extra,
    )
    found.tasks.append(Item(_key(value), task, where))


def _dependencies(value: Any, own: str, ids: dict[str, str], extra: dict[str, Any]) -> tuple[list[str], str | None]:
    """(ids that it waits for, the one that it follows); other ties stay in `extra["related"]`."""
    waits, parents, other = [], [], []
    for item in value if isinstance(value, list) else ():
        if isinstance(item, str):
            waits.append(ids.get(item, sound(item)))
            continue
        if not isinstance(item, dict):
            continue
        id = string(item.get("depends_on_id")) or string(item.get("target")) or string(item.get("id"))
        kind = string(item.get("type", item.get("dependency_type"))) or "blocks"
        if not id or id == own:
            continue
        target = ids.get(id, sound(id))
        if kind in HARD:
            waits.append(target)
        elif kind in PARENT:
            parents.append((PARENT.index(kind), target))
        else:
            other.append({"id": target, "type": sound(kind)})
    parents.sort()
    other += [{"id": target, "type": PARENT[rank]} for rank, target in parents[1:]]
    if other:
        extra["related"] = other
    return list(dict.fromkeys(waits)), parents[0][1] if parents else None
