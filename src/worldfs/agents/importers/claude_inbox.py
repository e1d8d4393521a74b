"""Claude Code's team inboxes: `teams/{team}/inboxes/{agent}.json`, one JSON array of letters each.

What is unread becomes a letter; what was read, and the tool's own signals (idle, shutdown, plan approval), become
lines of the journal. A message has no id: it is known by its sender, time and text.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from worldfs.ground.errors import WorldError
from worldfs.ground.model import Message

from .nouns import Imported, Item, Left, Source
from .places import files_of
from .reading import SHOWN, Place, not_read, parsed
from .words import agent, cut, identity, line, plain, rest, slug, sound, string, when

PATTERN: Final = (".claude", "teams", "*", "inboxes", "*.json")
KNOWN: Final = ("from", "text", "summary", "timestamp", "color", "read")
TASK: Final = "task_assignment"


class ClaudeInbox:
    name = "claude-inbox"
    about = "Claude Code's team inboxes → letters (unread) and journal lines (read)"

    def finds(self, place: Path) -> list[Source]:
        def fits(head: bytes) -> bool:
            return head.lstrip()[:1] == b"[" and b'"from"' in head and b'"text"' in head

        where, files = files_of(place, PATTERN, fits)
        with Place(where) as opened:
            return [
                Source(self.name, where, path, (path,), opened.size(path), agent(Path(path).stem)) for path in files
            ]

    def read(self, source: Source) -> Imported:
        path, to = source.path, source.agent
        letters: list[Item[Message]] = []
        entries: list[Item[dict[str, Any]]] = []
        left: list[Left] = []
        found = Imported(agent=to, letters=letters, entries=entries, left=left)
        data = b""
        try:
            with Place(source.place) as place:
                data = place.document(path)
            value = parsed(data, path)
        except WorldError as error:
            left.append(not_read(error, path, data))
            return found
        if not isinstance(value, list):
            left.append(Left(path, f"a JSON {type(value).__name__}", "an array of messages", "", data[:SHOWN]))
            return found
        team = path.split("/")[-3] if path.count("/") >= 2 else ""
        seen: dict[str, int] = {}
        for number, item in enumerate(value):
            where = f"{path}#/{number}"
            text = item.get("text") if isinstance(item, dict) else None
            sender = agent(string(item.get("from"))) if isinstance(item, dict) else None
            if not isinstance(text, str) or sender is None:
                raw = json.dumps(plain(item), ensure_ascii=False).encode()
                left.append(Left(where, "no message", "an object with from, text, timestamp", "", raw[:SHOWN]))
                continue
            mark = identity(sender, string(item.get("timestamp")), text)
            seen[mark] = seen.get(mark, 0) + 1
            key = identity("claude-inbox", team, to, mark, seen[mark])
            _message(found, letters, entries, item, (key, where, team, sender), to)
        return found


def _message(
    found: Imported,
    letters: list[Item[Message]],
    entries: list[Item[dict[str, Any]]],
    item: dict[str, Any],
    known: tuple[str, str, str, str],
    to: str | None,
) -> None:
    key, where, team, sender = known
    text = sound(item["text"])
    signal = _signal(text)
    at = when(item.get("timestamp"))
    word = string(signal.get("type")) if signal else ""
    if item.get("read") is True or (signal and word != TASK):
        shown, more = cut(text)
        entry: dict[str, Any] = {"ts": at, "event": "message_read", "from": sender, "text": shown}
        if signal:
            entry = {"ts": at, "event": "team_signal", "from": sender, "signal": word, **_fields(signal)}
        elif item.get("summary"):
            entry["summary"] = line(string(item["summary"]))
        if more:
            entry["cut"] = more
        if team:
            entry["team"] = team
        entries.append(Item(key, entry, where, to))
        return
    extra, large = rest(item, KNOWN)
    found.left.extend(
        Left(f"{where}/{name}", "a large field", "a small one", "it stays in the source") for name in large
    )
    subject, body, kind = line(string(item.get("summary")) or text, 120), text, "flag"
    if signal:
        kind, subject = "task", line(string(signal.get("subject")) or text, 120)
        body = sound(string(signal.get("description")) or text)
        extra |= _fields(signal)
    elif text.rstrip().endswith(("?", "？")):
        kind = "question"
    extra["imported_from"] = f"claude-inbox:{key}"
    ref = f"claude team {team}" if team else None
    id = f"cc-{slug(sender, 20) or 'x'}-{key[:12]}"
    letters.append(
        Item(key, Message(id, sender, to or "", at, kind, "normal", subject, body, ref, None, extra), where, to)
    )


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
    names = {"taskId": "task_id", "assignedBy": "assigned_by", "idleReason": "reason", "requestId": "request_id"}
    wanted = ("taskId", "assignedBy", "idleReason", "requestId", "reason", "approved", "subject")
    return {names.get(key, key): plain(signal[key]) for key in wanted if signal.get(key) not in (None, "")}
