"""SESSIONS.md written back: the kernel's word in an entry, in the dialect found (workspace §3.3, §3.5, §4)."""

from __future__ import annotations

from typing import Final

from worldfs.base.clock import parse_stamp
from worldfs.base.json_values import as_object
from worldfs.base.model import Cause, Job, JobState, JobStatus, Json, Order, Outcome
from worldfs.formats import jsontext
from worldfs.formats.action_write import EVIDENCE, error_of, is_removed, warnings
from worldfs.formats.sheet_format import SheetFormat
from worldfs.formats.values import plain

from . import sessions

TEMPLATE: Final = b"# SESSIONS\n\n```yaml\nsessions: []\n```\n"
_FAILED: Final = {Cause.TIMEOUT: "timed_out", Cause.REJECTED: "rejected", Cause.CANCELLED: "cancelled"}
_DEFAULT = Order("", "", "")
# What a skill's evidence says under the names of a result
_RESULT = ("num_steps", "return_value", "mean_policy_latency_ms", "artifact_dir", "trace_path")


def entry_of(job: Job, dialect: str = "page") -> Json:
    """A new entry for a job; defaults are not written out."""
    order = job.order
    scheme, skill = ("skillruntime", "skillruntime_ref") if dialect == "r2" else ("skill", "skill_ref")
    old = dialect != "page"
    entry: Json = {
        "session_id": order.id,
        "target_ref": f"target://{order.node}" if old else order.node,
        skill: f"{scheme}://{order.op}" if old else order.op,
        "status": "pending",
    }
    if order.priority not in ("normal", "medium"):
        entry["priority"] = order.priority
    entry |= {"timeouts": limits} if (limits := _timeouts(order, old=old)) else {}
    if order.attempts > 1:
        retry: Json = {"max_retries": order.attempts - 1} if old else {"max_attempts": order.attempts}
        entry["retry"] = retry | ({"backoff": order.backoff} if order.backoff != "none" else {})
    extra = plain(order.extra)
    if order.params or "execution" in extra:
        execution = extra.get("execution") if isinstance(extra.get("execution"), dict) else {}
        entry["execution"] = {**execution, **({"params": plain(order.params)} if order.params else {})}
    entry |= {"depends_on": list(order.depends_on)} if order.depends_on else {}
    entry |= {"created_at": order.created_at} if order.created_at else {}
    entry |= {key: item for key, item in extra.items() if key not in entry}
    return entry | {key: value for key, value in status_members(entry, job, dialect).items() if not is_removed(value)}


def _timeouts(order: Order, *, old: bool) -> Json:
    attempt = order.timeout_s not in (_DEFAULT.timeout_s, order.total_timeout_s)
    given = (
        ("session", "session", order.total_timeout_s),
        ("execute", "execute_timeout_s", order.timeout_s if attempt else 0),
        ("skill", "policy_timeout_s", order.step_timeout_s),
        ("queue", "queue_timeout_s", order.queue_timeout_s),
        ("preflight", "preflight_timeout_s", order.preflight_timeout_s),
    )
    return {(former if old else name): seconds for name, former, seconds in given if seconds}


def status_members(entry: Json, job: Job, dialect: str) -> Json:
    """What a job makes of the members of its entry; `is_removed(value)`: the member goes."""
    status, outcome, old = job.status, job.status.outcome, dialect != "page"
    said = _said(status, old=old)
    present = entry.get("status")
    spelled = isinstance(present, str) and present.strip().lower() == said
    absent = present is None and status.state is JobState.PENDING
    changes: Json = {} if spelled or absent else {"status": said}
    ended = status.state.terminal
    if ended and status.completed_at:
        changes["updated_at" if old and "updated_at" in entry else "completed_at"] = status.completed_at
    if status.started_at and not old:
        changes["started_at"] = status.started_at
    if not ended and "completed_at" in entry:
        changes["completed_at"] = is_removed
    error = error_of(outcome) if ended and outcome and not outcome.ok and not old else None
    if error is not None:
        changes["error"] = error
    elif "cause" in as_object(entry.get("error")):
        changes["error"] = is_removed  # ours, of an earlier attempt
    if ended and outcome:
        changes["result"] = _result(status, outcome, said, old=old)
    elif "success" in as_object(entry.get("result")):
        changes["result"] = is_removed
    return changes


def _said(status: JobStatus, *, old: bool) -> str:
    if old and status.state is JobState.FAILED and status.outcome and status.outcome.cause:
        return _FAILED.get(status.outcome.cause, "failed")
    return str(status.state)


def _result(status: JobStatus, outcome: Outcome, said: str, *, old: bool) -> Json:
    evidence = plain(outcome.evidence, digits=6)
    result: Json = {"status": said} if old else {}
    result["success"] = outcome.ok
    result["attempts"] = status.attempt
    began, over = parse_stamp(status.started_at), parse_stamp(status.completed_at)
    if began and over:
        result["duration_s"] = round((over - began).total_seconds(), 3)
    result |= {key: evidence.pop(key) for key in _RESULT if key in evidence}
    if not outcome.ok and old:
        result |= {"error_code": outcome.code, "error_message": outcome.message}
    elif outcome.ok and outcome.message:
        result["message"] = outcome.message
    if warned := warnings(outcome):
        result["warnings"] = warned
    if evidence and len(jsontext.dump(evidence)) <= EVIDENCE:
        result["metadata" if old else "evidence"] = evidence
    return result


PAGE: Final = SheetFormat(
    sessions.FILE, sessions.KEY, TEMPLATE, sessions.read, sessions.locate, sessions.list_key, sessions.entries_of,
    sessions.id_of, sessions.entry_digest, entry_of, status_members,
)  # fmt: skip
