"""ops/sessions/*.json: one small file a session that ended, `{id, ended, status}` and no more (003, Migration).

Each becomes a `session_end` line of the journal, from which the metrics count it on its own day.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

from worldfs.ground.errors import BadInput, WorldError

from .nouns import Imported, Item, Source
from .places import files_of, grouped
from .reading import Place, not_read, parsed
from .words import agent, identity, plain, rest, string, when

PATTERN: Final = ("ops", "sessions", "*.json")
KNOWN: Final = ("id", "session_id", "ended", "ended_at", "started", "started_at", "status", "outcome", "agent")
OUTCOMES: Final = {
    "completed": "completed complete success succeeded done ok finished 完成 已完成",
    "timeout": "timeout timed_out timed-out timedout 超时",
    "error": "error failed failure crashed aborted killed cancelled 失败 错误",
}


class OpsSessions:
    name = "ops-sessions"
    about = "ops/sessions/*.json → journal lines (session_end), counted in metrics.json"

    def finds(self, place: Path) -> list[Source]:
        def fits(head: bytes) -> bool:
            return b'"ended"' in head and b'"status"' in head

        return grouped(self.name, files_of(place, (PATTERN,), fits))

    def read(self, source: Source) -> Imported:
        found = Imported()
        with Place(source.place) as place:
            for path in source.files:
                data = b""
                try:
                    data = place.document(path)
                    found.lines.append(_entry(parsed(data, path), path, found))
                except WorldError as error:
                    found.left.append(not_read(error, path, data))
        found.lines.sort(key=lambda item: (item.value["ts"], item.key))
        _told_apart(found)
        return found


def _told_apart(found: Imported) -> None:
    """Sessions of one id and several ends are several: an id that was given twice gets its end behind it."""
    often = Counter(item.value["session_id"] for item in found.lines)
    for item in found.lines:
        if often[item.value["session_id"]] > 1:
            item.value["session_id"] = f"{item.value['session_id']}@{item.value['ts']}"


def _entry(value: Any, path: str, found: Imported) -> Item[dict[str, Any]]:
    if not isinstance(value, dict):
        raise BadInput(f"a JSON {type(value).__name__}", path=path, expected="an object: id, ended, status")
    ended = when(value.get("ended", value.get("ended_at")))
    word = string(value.get("status", value.get("outcome"))).strip()
    outcome = next((own for own, words in OUTCOMES.items() if word.casefold() in words.split()), None)
    if not ended:
        raise BadInput("no time of its end", path=f"{path}#/ended", expected="a time like 2026-03-05T19:30:15Z")
    if outcome is None:
        raise BadInput(
            f"the status {word!r}", path=f"{path}#/status", expected="completed, timeout or error",
            fix="a session that still runs, or a word of its own: it is not counted",
        )  # fmt: skip
    sid = string(value.get("id", value.get("session_id"))) or Path(path).stem
    entry: dict[str, Any] = {"ts": ended, "event": "session_end", "session_id": plain(sid), "outcome": outcome}
    started = when(value.get("started", value.get("started_at")))
    if started:
        entry["started_at"] = started
    if word != outcome:
        entry["status"] = plain(word)
    more, large = rest(value, KNOWN)
    found.too_large(f"{path}#", large)
    entry |= {f"{key}_there" if key in (*entry, "seq") else key: item for key, item in more.items()}
    to = agent(string(value["agent"])) if value.get("agent") else None
    return Item(identity("ops-session", sid, ended), entry, path, to)
