"""Claude Code's team inboxes: `teams/{team}/inboxes/{agent}.json`, one JSON array of messages each.

What is unread becomes a message; what was read, and the tool's own signals (idle, shutdown, plan approval), become
lines of the journal. A message has no id: it is known by its sender, time and text.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NamedTuple

from worldfs.base.errors import WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.base.model import Message

from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
from .source_dir import SHOWN, SourceDir, parse_document, unreadable_item
from .source_search import claude_patterns, find_files
from .value_conversion import (
    as_text,
    clean_text,
    extra_members,
    identity,
    one_line,
    parse_agent,
    parse_time,
    plain_json,
    slug,
    truncate,
)

PATTERN: Final = ("teams", "*", "inboxes", "*.json")
KNOWN: Final = ("from", "text", "summary", "timestamp", "color", "read")
TASK: Final = "task_assignment"
SIGNAL: Final = {
    "taskId": "task_id", "assignedBy": "assigned_by", "idleReason": "reason", "requestId": "request_id",
    "reason": "reason", "approved": "approved", "subject": "subject",
}  # fmt: skip


class _Envelope(NamedTuple):
    key: str
    location: str
    team: str
    sender: str
    to: str | None


class ClaudeInbox:
    name = "claude-inbox"
    about = "Claude Code's team inboxes → messages (unread) and journal lines (read)"

    def finds(self, place: Path) -> list[ImportSource]:
        def fits(head: bytes) -> bool:
            return head.lstrip()[:1] == b"[" and b'"from"' in head and b'"text"' in head

        where, files = find_files(place, claude_patterns(place, PATTERN), fits)
        with SourceDir(where) as opened:
            return [
                ImportSource(self.name, where, path, (path,), opened.size(path), parse_agent(Path(path).stem))
                for path in files
            ]

    def read(self, source: ImportSource) -> ParsedSource:
        path, to = source.path, source.agent
        found = ParsedSource(to)
        data = b""
        try:
            with SourceDir(source.base_dir) as place:
                data = place.document(path)
            value = parse_document(data, path)
        except WorldError as error:
            found.skipped.append(unreadable_item(error, path, data))
            return found
        if not isinstance(value, list):
            found.skipped.append(
                SkippedItem(
                    path,
                    coded("plugin.json_kind", kind=type(value).__name__),
                    coded("plugin.messages"),
                    "",
                    data[:SHOWN],
                )
            )
            return found
        team = path.split("/")[-3] if path.count("/") >= 2 else ""
        seen: dict[str, int] = {}
        for number, item in enumerate(value):
            where = f"{path}#/{number}"
            text = item.get("text") if isinstance(item, dict) else None
            sender = parse_agent(as_text(item.get("from"))) if isinstance(item, dict) else None
            if not isinstance(text, str) or sender is None:
                raw = json.dumps(plain_json(item), ensure_ascii=False).encode()
                found.skipped.append(
                    SkippedItem(where, coded("file.no_message"), coded("plugin.a_message"), "", raw[:SHOWN])
                )
                continue
            mark = identity(sender, as_text(item.get("timestamp")), text)
            seen[mark] = seen.get(mark, 0) + 1
            key = identity("claude-inbox", team, to, mark, seen[mark])
            _message(found, item, _Envelope(key, where, team, sender, to))
        return found


def _message(found: ParsedSource, item: dict[str, object], known: _Envelope) -> None:
    text = clean_text(as_text(item["text"]))
    signal = _signal(text)
    at = parse_time(item.get("timestamp"))
    if item.get("read") is True or (signal and signal["type"] != TASK):
        entry = _line(item, text, signal, known)
        found.lines.append(ImportItem(known.key, {"ts": at, **entry}, known.location, known.to))
        return
    extra, large = extra_members(item, KNOWN)
    found.too_large(known.location, large)
    subject, body, kind = one_line(as_text(item.get("summary")) or text, 120), text, "flag"
    if signal:
        kind, subject = "task", one_line(as_text(signal.get("subject")) or text, 120)
        body = clean_text(as_text(signal.get("description")) or text)
        extra |= {name: item for name, item in _fields(signal).items() if name != "subject"}
    elif text.rstrip().endswith(("?", "？")):
        kind = "question"
    letter = Message(
        id=f"cc-{slug(known.sender, 20) or 'x'}-{known.key[:12]}",
        sender=known.sender,
        to=known.to or "",
        created_at=at,
        type=kind,
        subject=subject,
        body=body,
        source_ref=f"claude team {known.team}" if known.team else None,
        extra={**extra, "imported_from": f"claude-inbox:{known.key}"},
    )
    found.messages.append(ImportItem(known.key, letter, known.location, known.to))


def _line(item: dict[str, object], text: str, signal: dict[str, object] | None, known: _Envelope) -> dict[str, object]:
    """What the journal says of a message that needs no answer any more."""
    team = {"team": known.team} if known.team else {}
    if signal:
        said = {"event": "team_signal", "from": known.sender, "signal": signal["type"]}
        return said | _fields(signal) | team
    shown, more = truncate(text)
    entry: dict[str, object] = {"event": "message_read", "from": known.sender, "text": shown}
    if item.get("summary"):
        entry["summary"] = one_line(as_text(item["summary"]))
    return entry | ({"cut": more} if more else {}) | team


def _signal(text: str) -> dict[str, object] | None:
    """The object of a text that is JSON with a type: the tool's own way of signalling."""
    if not text.startswith("{"):
        return None
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def _fields(signal: dict[str, object]) -> dict[str, object]:
    return {SIGNAL[key]: plain_json(signal[key]) for key in SIGNAL if signal.get(key) not in (None, "")}
