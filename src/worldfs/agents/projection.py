"""What the files say of a session: at its start, and once it has ended, when all of it follows from the commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from worldfs.ground.clock import parse_stamp

from .documents import edited, mapping
from .tally import FOLD

if TYPE_CHECKING:
    from worldfs.ground.model import SessionRecord

    from .state import AgentState

Json = dict[str, Any]

VERBS: Final = {"research": "researching", "extract": "extracting", "evaluate": "evaluating", "ad-hoc": "researching"}
NAMES: Final = ("session.json", "metrics.json", "report.json")
_FIGURES: Final = ("sources_archived", "branch", "tokens_used", "cost_usd")
_LAST: Final = ("sources_archived", "branch", "pr_number")


def begin(state: AgentState, record: SessionRecord, found: Mapping[str, bytes | None]) -> None:
    """session.json and report.json at the start of a session; `found`: what `take_in_all` has just said."""
    from worldfs.formats.agent import documents
    from worldfs.ground.model import Report

    report = {"agent": state.name, "updated_at": record.started_at, "status": VERBS[record.type]}
    last = found["report.json"] or documents.report_write(Report(state.name))
    # The fold, too: what the end adds to it can always be counted again from here.
    first = {FOLD: state.fold().dump(), "session.json": documents.session_write(record)}
    state.put_many({**first, "report.json": edited(last, report)}, looked=True)


def end(
    state: AgentState,
    entry: Mapping[str, Any],
    found: Mapping[str, bytes | None] | None,
    commit: Callable[[], object],
) -> SessionRecord:
    """session.json, metrics.json and report.json at the end of one, as a group; `found` as for the start.

    `commit`: what must be durable or done before anybody sees them.
    """
    from worldfs.formats.agent import documents

    if found is None:
        found = {name: state.kept[name].take_in(settle=True) for name in NAMES}
    written = files(state, entry, found)
    state.put_many(written, looked=True, between=commit)
    return documents.session_read(written["session.json"])


def files(state: AgentState, entry: Mapping[str, Any], found: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """The files' new bytes by name, for a `session_end` entry. The same entry gives the same files again.

    `found`: what counts of them now.
    """
    from worldfs.formats.agent.documents import metrics_write

    from .metrics import project

    session, said = _session(state, entry, found["session.json"] or b"")
    fold = state.fold()
    moment = parse_stamp(str(entry["ts"])) or state.room.clock.now()
    return {
        "session.json": session,
        "metrics.json": metrics_write(project(fold, state.name, moment), found["metrics.json"] or b""),
        "report.json": _report(state, entry, said, found["report.json"]),
    }


def _session(state: AgentState, entry: Mapping[str, Any], old: bytes) -> tuple[bytes, Json]:
    from worldfs.formats.agent import documents

    value = mapping(old)
    if value.get("session_id") != entry["session_id"]:  # its file never came to be: the order knows
        from worldfs.ground.model import SessionRecord
        from worldfs.kernel.jobs import Jobs

        order = Jobs(state.room.store, state.room.clock).load(str(entry["session_id"])).order
        known = {key: value for key, value in order.params.items() if key in SessionRecord._fields}
        extra = {key: value for key, value in order.params.items() if key not in known}
        record = SessionRecord(state.name, order.id, order.created_at, extra=extra, **known)
        old = documents.session_write(record)
        value = mapping(old)
    changes: Json = {"ended_at": entry["ts"], "status": entry["outcome"], "errors": list(entry.get("errors", ()))}
    changes |= {key: entry[key] for key in _FIGURES if key in entry}
    if entry.get("handoff"):
        changes["handoff_notes"] = entry["handoff"]
    return edited(old, changes, value), {**value, **changes}


def _report(state: AgentState, entry: Mapping[str, Any], session: Json, old: bytes | None) -> bytes:
    from worldfs.formats.agent import documents
    from worldfs.ground.model import Report

    old = old or documents.report_write(Report(state.name, str(entry["ts"])))
    before = mapping(old)
    last = before.get("last_session")
    value = dict(last) if type(last) is dict and last.get("id") == entry["session_id"] else {}
    value |= {
        "id": entry["session_id"],
        "started_at": session.get("started_at", ""),
        "ended_at": entry["ts"],
        "outcome": entry["outcome"],
        "sources_archived": session.get("sources_archived", 0),
        "branch": session.get("branch"),
        "pr_number": entry.get("pr_number"),
    }
    changes: Json = {
        "updated_at": entry["ts"],
        "status": "idle" if entry["outcome"] == "completed" else "error",
        "summary": entry.get("summary") or _summary(entry, session),
        "current_task": None,
        "last_session": value,
    }
    if entry.get("next_priority"):
        changes["next_priority"] = entry["next_priority"]
    return edited(old, changes, before)


def _summary(entry: Mapping[str, Any], session: Json) -> str:
    kind, outcome = session.get("type", "ad-hoc"), entry["outcome"]
    why = "; ".join(map(str, entry.get("errors", ())))
    return f"{str(kind).capitalize()} session {outcome}" + (f": {why}" if why else "")
