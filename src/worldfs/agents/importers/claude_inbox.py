"""Claude Code's team inboxes: `teams/{team}/inboxes/{agent}.json`, one JSON array of letters each.

What is unread becomes a letter; what was read, and the tool's own signals (idle, shutdown, plan approval), become
lines of the journal. A message has no id: it is known by its sender, time and text.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from worldfs.ground.errors import WorldError
from worldfs.ground.model import Message

from .nouns import Imported, Item, Left, Source
from .places import claude, files_of
from .reading import SHOWN, Place, not_read, parsed
from .words import agent, cut, identity, line, plain, rest, slug, sound, string, when

PATTERN: Final = ("teams", "*", "inboxes", "*.json")
KNOWN: Final = ("from", "text", "summary", "timestamp", "color", "read")
TASK: Final = "task_assignment"
SIGNAL: Final = {
    "taskId": "task_id", "assignedBy": "assigned_by", "idleReason": "reason", "requestId": "request_id",
    "reason": "reason", "approved": "approved", "subject": "subject",
}  # fmt: skip


class _Envelope(NamedTuple):
    key: str
    where: str
    team: str
    sender: str
    to: str | None


class ClaudeInbox:
    name = "claude-inbox"
    about = "Claude Code's team inboxes → letters (unread) and journal lines (read)"

    def finds(self, place: Path) -> list[Source]:
        def fits(head: bytes) -> bool:
            return head.lstrip()[:1] == b"[" and b'"from"' in head and b'"text"' in head

        where, files = files_of(place, claude(place, PATTERN), fits)
        with Place(where) as opened:
            return [
                Source(self.name, where, path, (path,), opened.size(path), agent(Path(path).stem)) for path in files
            ]

    def read(self, source: Source) -> Imported:
        path, to = source.path, source.agent
        found = Imported(to)
        data = b""
        try:
            with Place(source.place) as place:
                data = place.document(path)
            value = parsed(data, path)
        except WorldError as error:
            found.left.append(not_read(error, path, data))
            return found
        if not isinstance(value, list):
            found.left.append(Left(path, f"a JSON {type(value).__name__}", "an array of messages", "", data[:SHOWN]))
            return found
        team = path.split("/")[-3] if path.count("/") >= 2 else ""
        seen: dict[str, int] = {}
        for number, item in enumerate(value):
            where = f"{path}#/{number}"
            text = item.get("text") if isinstance(item, dict) else None
            sender = agent(string(item.get("from"))) if isinstance(item, dict) else None
            if not isinstance(text, str) or sender is None:
                raw = json.dumps(plain(item), ensure_ascii=False).encode()
                found.left.append(Left(where, "no message", "an object with from, text, timestamp", "", raw[:SHOWN]))
                continue
            mark = identity(sender, string(item.get("timestamp")), text)
            seen[mark] = seen.get(mark, 0) + 1
            key = identity("claude-inbox", team, to, mark, seen[mark])
            _message(found, item, _Envelope(key, where, team, sender, to))
        return found


def _message(found: Imported, item: dict[str, Any], known: _Envelope) -> None:
    text = sound(item["text"])
    signal = _signal(text)
    at = when(item.get("timestamp"))
    if item.get("read") is True or (signal and signal["type"] != TASK):
        entry = _line(item, text, signal, known)
        found.lines.append(Item(known.key, {"ts": at, **entry}, known.where, known.to))
        return
    extra, large = rest(item, KNOWN)
    found.too_large(known.where, large)
    subject, body, kind = line(string(item.get("summary")) or text, 120), text, "flag"
    if signal:
        kind, subject = "task", line(string(signal.get("subject")) or text, 120)
        body = sound(string(signal.get("description")) or text)
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
    found.letters.append(Item(known.key, letter, known.where, known.to))


def _line(item: dict[str, Any], text: str, signal: dict[str, Any] | None, known: _Envelope) -> dict[str, Any]:
    """What the journal says of a message that needs no answer any more."""
    team = {"team": known.team} if known.team else {}
    if signal:
        said = {"event": "team_signal", "from": known.sender, "signal": signal["type"]}
        return said | _fields(signal) | team
    shown, more = cut(text)
    entry: dict[str, Any] = {"event": "message_read", "from": known.sender, "text": shown}
    if item.get("summary"):
        entry["summary"] = line(string(item["summary"]))
    return entry | ({"cut": more} if more else {}) | team


def _signal(text: str) -> dict[str, Any] | None:
    """The object of a text that is JSON with a type: the tool's own way of signalling."""
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def _fields(signal: dict[str, Any]) -> dict[str, Any]:
    return {SIGNAL[key]: plain(signal[key]) for key in SIGNAL if signal.get(key) not in (None, "")}
