"""ops/sessions/*.json: one small file a session that ended, `{id, ended, status}` and no more (003, Migration).

Each becomes a `session_end` line of the journal, from which the metrics count it on its own day.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

from worldfs.base.errors import BadInput, WorldError
from worldfs.base.messages import coded

from .import_types import ImportItem, ImportSource, ParsedSource
from .source_dir import SourceDir, parse_document, unreadable_item
from .source_search import find_files, sources_by_folder
from .value_conversion import as_text, extra_members, identity, parse_agent, parse_time, plain_json

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

    def finds(self, place: Path) -> list[ImportSource]:
        def fits(head: bytes) -> bool:
            return b'"ended"' in head and b'"status"' in head

        return sources_by_folder(self.name, find_files(place, (PATTERN,), fits))

    def read(self, source: ImportSource) -> ParsedSource:
        found = ParsedSource()
        with SourceDir(source.base_dir) as place:
            for path in source.files:
                data = b""
                try:
                    data = place.document(path)
                    found.lines.append(_entry(parse_document(data, path), path, found))
                except WorldError as error:
                    found.skipped.append(unreadable_item(error, path, data))
        found.lines.sort(key=lambda item: (item.value["ts"], item.key))
        _told_apart(found)
        return found


def _told_apart(found: ParsedSource) -> None:
    """Sessions of one id and several ends are several: an id that was given twice gets its end behind it."""
    often = Counter(item.value["session_id"] for item in found.lines)
    for item in found.lines:
        if often[item.value["session_id"]] > 1:
            item.value["session_id"] = f"{item.value['session_id']}@{item.value['ts']}"


def _entry(value: object, path: str, found: ParsedSource) -> ImportItem[dict[str, object]]:
    if not isinstance(value, dict):
        raise BadInput(
            coded("plugin.json_kind", kind=type(value).__name__), path=path, expected=coded("plugin.a_session")
        )
    ended = parse_time(value.get("ended", value.get("ended_at")))
    word = as_text(value.get("status", value.get("outcome"))).strip()
    outcome = next((own for own, words in OUTCOMES.items() if word.casefold() in words.split()), None)
    if not ended:
        raise BadInput(coded("plugin.no_end"), path=f"{path}#/ended", expected=coded("plugin.a_time"))
    if outcome is None:
        raise BadInput(
            coded("plugin.status", word=word), path=f"{path}#/status", expected=coded("plugin.statuses"),
            fix=coded("plugin.not_counted"),
        )  # fmt: skip
    sid = as_text(value.get("id", value.get("session_id"))) or Path(path).stem
    entry: dict[str, object] = {"ts": ended, "event": "session_end", "session_id": plain_json(sid), "outcome": outcome}
    started = parse_time(value.get("started", value.get("started_at")))
    if started:
        entry["started_at"] = started
    if word != outcome:
        entry["status"] = plain_json(word)
    more, large = extra_members(value, KNOWN)
    found.too_large(f"{path}#", large)
    entry |= {f"{key}_there" if key in (*entry, "seq") else key: item for key, item in more.items()}
    to = parse_agent(as_text(value["agent"])) if value.get("agent") else None
    return ImportItem(identity("ops-session", sid, ended), entry, path, to)
