"""ops/sessions/*.json: one small file a session that ended, `{id, ended, status}` and no more (003, Migration).

Each becomes a `session_end` line of the journal and counts in the baseline of metrics.json.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from worldfs.ground.errors import BadInput, WorldError

from .nouns import Imported, Item, Left, Source
from .places import files_of, grouped
from .reading import Place, not_read, parsed
from .words import agent, identity, plain, rest, string, when

PATTERN: Final = ("ops", "sessions", "*.json")
KNOWN: Final = ("id", "session_id", "ended", "ended_at", "started", "started_at", "status", "outcome", "agent")
OUTCOME: Final = {
    **dict.fromkeys(("completed", "complete", "success", "succeeded", "done", "ok", "finished", "完成"), "completed"),
    **dict.fromkeys(("timeout", "timed_out", "timed-out", "timedout", "超时"), "timeout"),
    **dict.fromkeys(
        ("error", "failed", "failure", "crashed", "aborted", "killed", "cancelled", "失败", "错误"), "error"
    ),
}


class OpsSessions:
    name = "ops-sessions"
    about = "ops/sessions/*.json → journal (session_end) and the baseline of metrics.json"

    def finds(self, place: Path) -> list[Source]:
        def fits(head: bytes) -> bool:
            return b'"ended"' in head and b'"status"' in head

        return grouped(self.name, place, files_of(place, PATTERN, fits))

    def read(self, source: Source) -> Imported:
        entries: list[Item[dict[str, Any]]] = []
        left: list[Left] = []
        with Place(source.place) as place:
            for path in source.files:
                data = b""
                try:
                    data = place.document(path)
                    entries.append(_entry(parsed(data, path), path, left))
                except WorldError as error:
                    left.append(not_read(error, path, data))
        entries.sort(key=lambda item: (item.value["ts"], item.key))
        return Imported(entries=entries, left=left)


def _entry(value: Any, path: str, left: list[Left]) -> Item[dict[str, Any]]:
    if not isinstance(value, dict):
        raise BadInput(f"a JSON {type(value).__name__}", path=path, expected="an object: id, ended, status")
    ended = when(value.get("ended", value.get("ended_at")))
    word = string(value.get("status", value.get("outcome"))).strip()
    outcome = OUTCOME.get(word.casefold())
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
    for key in large:
        left.append(Left(f"{path}#/{key}", "a large field", "a small one", "it stays in the source"))
    entry |= {key: item for key, item in more.items() if key not in (*entry, "ts", "event", "seq")}
    to = agent(string(value.get("agent"))) if value.get("agent") else None
    counts = {"sessions_total": 1, f"sessions_{outcome}": 1}
    archived = more.get("sources_archived")
    if type(archived) is int and archived > 0:
        counts["sources_archived"] = archived
    return Item(identity("ops-session", sid, ended), entry, path, to, counts=counts)
