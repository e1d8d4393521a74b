"""What the files say of a session: at its start, and once it has ended, when all of it follows from the commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from worldfs.base.clock import parse_stamp
from worldfs.base.json_values import as_list
from worldfs.base.model import Json

from .document_rules import mapping, with_members
from .metrics_cache import FOLD

if TYPE_CHECKING:
    from worldfs.base.model import SessionRecord

    from .agent_state import AgentState


VERBS: Final = {"research": "researching", "extract": "extracting", "evaluate": "evaluating", "ad-hoc": "researching"}
NAMES: Final = ("session.json", "metrics.json", "report.json")
SUMMARY_MAX: Final = 500  # characters
_FIGURES: Final = ("sources_archived", "branch", "pr_number", "tokens_used", "cost_usd", "model", "answer")


def begin(state: AgentState, record: SessionRecord, found: Mapping[str, bytes | None]) -> None:
    """session.json and report.json at the start of a session; `found`: what `reconcile_all` has just returned."""
    from worldfs.base.model import AgentReport
    from worldfs.formats.agent import documents

    report = {"agent": state.name, "updated_at": record.started_at, "status": VERBS[record.type]}
    last = found["report.json"] or documents.report_write(AgentReport(state.name))
    # The reducer, too: what the end adds to it can always be counted again from here.
    first = {FOLD: state.metrics_reducer().dump(), "session.json": documents.session_write(record)}
    state.put_many({**first, "report.json": with_members(last, report)}, looked=True)


def end(
    state: AgentState,
    entry: Mapping[str, object],
    found: Mapping[str, bytes | None] | None,
    commit: Callable[[], object],
    said: str = "",
) -> SessionRecord:
    """session.json, metrics.json and report.json at the end of one, as a group; `found` as for the start.

    `commit`: what must be durable or done before a reader sees them. `said`: the summary when the session began.
    """
    from worldfs.formats.agent import documents

    if found is None:
        found = {name: state.documents[name].reconcile(settle=True) for name in NAMES}
    written, session = files(state, entry, found, said)
    state.put_many(written, looked=True, between=commit)
    return documents.session_of(session)


def files(
    state: AgentState, entry: Mapping[str, object], found: Mapping[str, bytes | None], said: str
) -> tuple[dict[str, bytes], Json]:
    """The files' new bytes by name, for a `session_end` entry, and the session's value. The same entry gives the same
    files again.

    `found`: what counts of them now; `said` as for `end`.
    """
    from worldfs.formats.agent.documents import metrics_write

    from .metrics import project

    session, value = _session(state, entry, found["session.json"] or b"")
    fold = state.metrics_reducer()
    moment = parse_stamp(str(entry["ts"])) or state.agent_dir.clock.now()
    return {
        "session.json": session,
        "metrics.json": metrics_write(project(fold, state.name, moment), found["metrics.json"] or b""),
        "report.json": _report(state, entry, value, found["report.json"], said),
    }, value


def _session(state: AgentState, entry: Mapping[str, object], old: bytes) -> tuple[bytes, Json]:
    from worldfs.formats.agent import documents

    value = mapping(old)
    if value.get("session_id") != entry["session_id"]:  # its file never came to be: the order knows
        from . import session_job

        old = documents.session_write(session_job.record_of(state, str(entry["session_id"])))
        value = mapping(old)
    changes: Json = {"ended_at": entry["ts"], "status": entry["outcome"], "errors": as_list(entry.get("errors"))}
    changes |= {key: entry[key] for key in _FIGURES if key in entry}
    if entry.get("handoff"):
        changes["handoff_notes"] = entry["handoff"]
    return with_members(old, changes, value), {**value, **changes}


def _report(state: AgentState, entry: Mapping[str, object], session: Json, old: bytes | None, said: str) -> bytes:
    from worldfs.base.model import AgentReport
    from worldfs.formats.agent import documents

    old = old or documents.report_write(AgentReport(state.name, str(entry["ts"])))
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
        **{key: entry[key] for key in ("tokens_used", "cost_usd") if key in entry},
        **({"errors": as_list(entry["errors"])} if entry.get("errors") else {}),
    }
    changes: Json = {
        "updated_at": entry["ts"],
        "status": "idle" if entry["outcome"] == "completed" else "error",
        "summary": entry.get("summary") or _own_summary(before, said) or _summary(entry, session),
        "current_task": None,
        "last_session": value,
    }
    if entry.get("next_priority"):
        changes["next_priority"] = entry["next_priority"]
    return with_members(old, changes, before)


def summary_of(report: bytes | None) -> str:
    """The summary that a report.json has."""
    said = mapping(report or b"").get("summary")
    return said if type(said) is str else ""


def _own_summary(report: Json, said: str) -> str:
    """The summary that the agent wrote in this session, "" if it wrote none."""
    now = report.get("summary")
    return now if type(now) is str and now != said else ""


def _summary(entry: Mapping[str, object], session: Json) -> str:
    """The summary where none was written: the final answer's first paragraph, or how it ended."""
    if entry.get("answer") and entry["outcome"] == "completed":
        return str(entry["answer"]).strip().split("\n\n")[0][:SUMMARY_MAX]
    kind, outcome = session.get("type", "ad-hoc"), entry["outcome"]
    why = "; ".join(map(str, as_list(entry.get("errors"))))
    return f"{str(kind).capitalize()} session {outcome}" + (f": {why}" if why else "")
