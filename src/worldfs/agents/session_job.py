"""A session of an agent as a job: begun, committed by one journal line, projected into the files, or found dead.

start    order and `running_session` durable → journal session_start → session.json, report.json → messages claimed
finish   journal session_end (the commit: every figure, every message) → messages acknowledged or returned →
         session.json, metrics.json, report.json in one group → the job's end, last
recover  a commit without its projections is projected; a session without commit and runner ended as its runner has
         written down before it died, or was lost
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.clock import epoch_ns, parse_stamp, stamp
from worldfs.base.errors import BadInput, Busy, NotFound, UserError
from worldfs.base.json_values import as_int, as_list, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.runtime.job_store import JobStore
from worldfs.storage.revision import PRIVATE_DIR
from worldfs.tree.path import safe_name

from . import outbox, projection, session_facts

if TYPE_CHECKING:
    from worldfs.base.model import Job, SessionRecord
    from worldfs.storage.lease import Lease

    from .agent_state import AgentState
    from .inbox import ClaimedMessage


LEASE_S: Final = 600.0  # of the messages of a session; its runner's heartbeats renew it
LET_GO_TRIES, LET_GO_S = 500, 0.02
CAUSES: Final = {"lost": "lost", "cancelled": "cancelled", "rejected": "rejected"}  # others are what the outcome says
STARTED: Final = (
    "type", "domain", "branch", "model", "timeout_seconds", "research_question", "belief_targeted",
    "disconfirmation_target", "sources_expected",
)  # fmt: skip
SUMMARY_BEFORE: Final = "summary_before"  # of an order: report.json's summary as it was when the session began
ENDED: Final = ("sources_archived", "branch", "pr_number", "tokens_used", "cost_usd", "model", "answer")


class ReadMessages(NamedTuple):
    """The messages that a session had before it: those that stood in its prompt whole, and files that it opened."""

    ids: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    def has(self, claimed_message: ClaimedMessage) -> bool:
        return claimed_message.message.id in self.ids or claimed_message.path.rpartition("/")[2] in self.names


def new_id(state: AgentState) -> str:
    """`YYYYMMDD-HHMMSS-xxxx`, made when the session starts (reference, ambiguity 1)."""
    return state.agent_dir.clock.now().strftime("%Y%m%d-%H%M%S-") + os.urandom(2).hex()


def start(state: AgentState, fields: Mapping[str, object], argv: Sequence[str], id: str) -> SessionRecord:
    """Durable as running when it returns. Raises `Busy`, naming the process, if a session of this agent is running."""
    from worldfs.base.model import Job, JobState, JobStatus, Order
    from worldfs.formats.agent.documents import session_of

    agent_dir = state.agent_dir
    lock = _lock(state)
    try:
        with agent_dir.locked():
            recover(state)
            at, found = epoch_ns(agent_dir.store.clock.now()), state.reconcile_all()
            for document in state.documents.values():
                document.sync()
            state.journal.sync_shadow()
            jobs, now = JobStore(agent_dir.store, agent_dir.clock), agent_dir.now()
            sid = id or new_id(state)
            while not id and jobs.known(sid):  # two of one second and one chance in 65,536
                sid = new_id(state)
            params = {key: value for key, value in fields.items() if value is not None}
            said = projection.summary_of(found["report.json"])
            limit = float(str(params.get("timeout_seconds") or 0))
            order = Order(
                sid,
                agent_dir.name,
                "session",
                {**params, "argv": state.cleaned(list(argv)), SUMMARY_BEFORE: said},
                now,
                timeout_s=limit,
            )
            accepted = jobs.accept([order])
            if not accepted[0].new:
                raise BadInput(
                    coded("agent.session_known", id=sid),
                    path=agent_dir.name,
                    op="start",
                    fix=coded("agent.other_id"),
                )
            begun = JobStatus(JobState.RUNNING, 1, now, now)
            jobs.write_status(sid, begun)
            entry = {"ts": now, "event": "session_start", "session_id": sid, "type": params.get("type", "ad-hoc")}
            state.append({**entry, **{key: params[key] for key in STARTED if key in params and key != "type"}})
            record = session_of({**params, "agent": agent_dir.name, "session_id": sid, "started_at": now})
            projection.begin(state, record, found)
            agent_dir.mark_presented(sid)
            state.inbox.claim_all(by=sid, token=sid, lease_s=LEASE_S)
            state.started = at, agent_dir.change_count(), Job(order, begun)
    except BaseException:
        lock.release()
        raise
    state.session_lock = lock
    return record


def _lock(state: AgentState) -> Lease:
    """The lease of a session. One that has just ended may be let go of by a keeper a moment later."""
    for _ in range(LET_GO_TRIES):
        try:
            return state.agent_dir.runner_lease("session").acquire()
        except Busy:
            if running_session(state) and not _has_died(runner(state)):
                break
            state.agent_dir.store.clock.wait(threading.Event(), LET_GO_S)
    return state.agent_dir.runner_lease("session").acquire()


def _has_died(holder: Json | None) -> bool:
    """Whether the process of a session is gone: its keeper ends the session now."""
    if holder is None or holder.get("host") != os.uname().nodename:
        return False
    return not os.path.exists(f"/proc/{holder.get('pid')}")


def running_session(state: AgentState) -> str:
    """The id of the session that has not ended, "" if there is none."""
    return next(iter(JobStore(state.agent_dir.store, state.agent_dir.clock).open_ids()), "")


def record_of(state: AgentState, sid: str) -> SessionRecord:
    """A session as its start has it."""
    from worldfs.formats.agent.documents import session_of

    order = JobStore(state.agent_dir.store, state.agent_dir.clock).load(sid).order
    said = {key: value for key, value in order.params.items() if key not in ("argv", SUMMARY_BEFORE)}
    return session_of({**said, "agent": state.name, "session_id": order.id, "started_at": order.created_at})


def previous_session(state: AgentState, sid: str) -> SessionRecord | None:
    """The session before this one, as its end in the journal has it; None if there was none."""
    from worldfs.base.model import SessionRecord

    entry = state.journal.find(
        lambda item: item.get("event") == "session_end" and item.get("session_id") != sid, lambda item: False
    )
    if entry is None:
        return None
    try:
        last = record_of(state, str(entry.get("session_id")))
    except UserError:  # of an import, or its job is long gone
        last = SessionRecord(state.name, str(entry.get("session_id") or ""))
    return last._replace(
        ended_at=str(entry["ts"]), status=str(entry["outcome"]), errors=tuple(map(str, as_list(entry.get("errors")))),
        handoff_notes=as_text(entry.get("handoff")) or None, sources_archived=as_int(entry.get("sources_archived")),
        branch=as_text(entry.get("branch")) or last.branch,
    )  # fmt: skip


def _begun(state: AgentState) -> Job | None:
    """The running session as its start left it, if this object started it and nothing was changed since."""
    _, turn, job = state.started
    return job if turn == state.agent_dir.change_count() else None


def finish(
    state: AgentState,
    id: str,
    outcome: str,
    said: Mapping[str, object],
    figures: Mapping[str, object],
    *,
    read: ReadMessages | None = None,
) -> SessionRecord:
    """Commit, then project. Returns what session.json says then. `NotFound` if no such session runs.

    `read`: which messages the session had before it; None: all that were claimed for it.
    """
    agent_dir = state.agent_dir
    with agent_dir.locked():
        begun = _begun(state)
        sid = running_session(state) if begun is None else begun.id
        if not sid or (id and id != sid):
            raise NotFound(
                coded("agent.no_session_id", id=id) if id else coded("agent.no_session"),
                path=agent_dir.name, op="finish", expected=sid or coded("agent.a_session"),
                fix=coded("agent.start_one", name=agent_dir.name),
            )  # fmt: skip
        created = (begun or JobStore(agent_dir.store, agent_dir.clock).load(sid)).order.created_at
        # The agent's last words may be in a copy that was replaced while it wrote: no later session shall bring them.
        since = state.started[0] or epoch_ns(parse_stamp(created) or agent_dir.clock.now())
        found = state.reconcile_all(since=since, alone=begun is not None)
        outbox.deliver(state, sid, created)
        messages = [
            claimed_message
            for claimed_message in (state.inbox.claimed(sid) if outcome == "completed" else [])
            if read is None or read.has(claimed_message)
        ]
        entry: Json = {"ts": agent_dir.now(), "event": "session_end", "session_id": sid, "outcome": outcome}
        entry |= _noted(state, sid)
        entry |= {key: value for key, value in figures.items() if value is not None}
        entry |= {key: value for key, value in said.items() if value}
        if outcome != "completed":
            _tell_error(state, entry)
        if messages:
            entry["inbox"] = [claimed_message.message.id for claimed_message in messages]
            flags = sum(claimed_message.message.type == "flag" for claimed_message in messages)
            if flags:
                entry["cross_agent_flags_received"] = flags
        entry["seq"] = state.append(entry, durable=False)  # `project` waits for it, with the drafts
        record = project(
            state,
            entry,
            found,
            {claimed_message.path.rpartition("/")[2]: claimed_message.message.id for claimed_message in messages},
            begun,
        )
        state.started = 0, 0, None
    if state.session_lock is not None:
        state.session_lock.release()
        state.session_lock = None
    return record


def _noted(state: AgentState, sid: str) -> Json:
    """What `paos agent outcome` recorded, as fields of the end."""
    facts = session_facts.read(state.agent_dir, sid)
    if "errors" in facts:
        facts["errors"] = session_facts.errors(facts)
    return {key: value for key, value in facts.items() if value is not None}


def _tell_error(state: AgentState, end: Mapping[str, object]) -> None:
    """The `error` event of 003 ("On error/timeout"), before the line that ends the session."""
    what = {key: end[key] for key in ("ts", "session_id", "outcome", "cause", "errors") if key in end}
    state.append({"event": "error", **what}, durable=False)


def project(
    state: AgentState,
    entry: Mapping[str, object],
    found: Mapping[str, bytes | None] | None = None,
    messages: Mapping[str, str] | None = None,
    job: Job | None = None,
) -> SessionRecord:
    """Make the commit durable, and then the files say what it says. May be repeated.

    `found`: what `reconcile_all` has just returned. `letters`: ids by name of those that were read. `job`: its job,
    if known. The commit and the drafts of the files wait for the disk together, as do the acknowledgements and the
    files' names.
    """
    from worldfs.base.model import Cause, Job, Outcome
    from worldfs.runtime.job_end import ended_status

    agent_dir, sid = state.agent_dir, str(entry["session_id"])
    ok, acked = entry["outcome"] == "completed", False

    def commit() -> None:
        nonlocal acked
        state.journal.sync()
        if ok:
            shown = frozenset(map(str, as_list(entry.get("inbox"))))
            acked = bool(state.inbox.ack_all(sid, known=messages, only=shown, durable=False))
        else:
            state.inbox.return_all(sid, durable=False)

    jobs = JobStore(agent_dir.store, agent_dir.clock)
    job = job or jobs.load(sid)
    record = projection.end(state, entry, found, commit, str(job.order.params.get(SUMMARY_BEFORE, "")))
    session_facts.clear_facts(agent_dir)
    if ok:
        agent_dir.drop_presented(sid)
    if acked:
        state.inbox.sync()  # before the job ends: afterwards no recovery reads the commit again
    if job.status.state.terminal:
        jobs.archive(sid)
        return record
    cause = None if ok else CAUSES.get(str(entry.get("cause", "")), str(entry["outcome"]))
    message = str(entry.get("summary") or "; ".join(map(str, as_list(entry.get("errors")))) or entry["outcome"])
    result = Outcome(ok, message, None if cause is None else Cause(cause), "" if ok else str(entry["outcome"]).upper())
    status = ended_status(job.status, result, parse_stamp(str(entry["ts"])) or agent_dir.clock.now())
    jobs.end(Job(job.order, status), durable=False)  # the journal has it: a lost one is written again
    return record


def recover(state: AgentState) -> bool:
    """What the last runner left: True if there was something. Call with the session's lock held, inside `locked`."""
    from worldfs.base.model import JobState

    jobs, found = JobStore(state.agent_dir.store, state.agent_dir.clock), False
    for sid in jobs.open_ids():
        found = True
        job = jobs.load(sid)
        if job.status.state.terminal:
            jobs.archive(sid)
            continue
        jobs.close_torn_line(sid)
        entry = state.journal.find(
            lambda item, sid=sid: item.get("event") == "session_end" and item.get("session_id") == sid,  # type: ignore[misc]  # binds the loop's value
            lambda item, sid=sid: item.get("event") == "session_start" and item.get("session_id") == sid,  # type: ignore[misc]  # same
        )
        if entry is None and (entry := _written_down(state, sid)) is not None:
            outbox.deliver(state, sid, job.order.created_at)
            entry["seq"] = state.append(entry)
        if entry is None:
            began = job.status.state is JobState.RUNNING
            why = coded("agent.died_running") if began else coded("agent.died_before")
            entry = {
                "ts": state.agent_dir.now(), "event": "session_end", "session_id": sid, "outcome": "error",
                **_noted(state, sid), "cause": "lost", "errors": [f"lost: {why}"],
            }  # fmt: skip
            outbox.deliver(state, sid, job.order.created_at)
            _tell_error(state, entry)
            entry["seq"] = state.append(entry)
            state.agent_dir.add_finding(
                "SESSION_LOST", "session.json", coded("agent.end_by_runner"), coded("file.at", where=sid, found=why),
                coded("agent.look_redelivered"),
            )  # fmt: skip
        project(state, entry)
    return found


def _written_down(state: AgentState, sid: str) -> Json | None:
    """The end of a session as its runner saw it, where it was killed between its last words and the commit.

    It leaves them in .paos/sessions/<id>/exit.json (supervisor/session_files.py); one with `found_at` was written
    later by another process, which knows no more than we do.
    """
    from worldfs.base.model.agent import OUTCOMES

    from .document_rules import mapping
    from .metrics_reducer import FIGURES

    stored = state.agent_dir.store.get(f"{PRIVATE_DIR}/sessions/{sid}/exit.json") if safe_name(sid) else None
    facts = {} if stored is None else mapping(stored.data)
    at = parse_stamp(as_text(facts.get("ended_at")))
    if at is None or facts.get("session_id") != sid or facts.get("outcome") not in OUTCOMES:
        return None
    entry: Json = {
        "ts": stamp(at.replace(microsecond=0)), "event": "session_end", "session_id": sid, "outcome": facts["outcome"],
    }  # fmt: skip
    entry |= _noted(state, sid)
    reported = facts.get("reported")
    for key, value in reported.items() if type(reported) is dict else ():
        if key in (*ENDED, *FIGURES, "summary", "handoff", "next_priority") and type(value) in (str, int, float):
            entry[key] = value
    errors = facts.get("errors")
    if type(errors) is list and errors:
        entry["errors"] = [str(text) for text in errors]
    if facts.get("cause") == "cancelled":
        entry["cause"] = "cancelled"
    seen = facts.get("read")
    read = ReadMessages(*map(frozenset, (seen["ids"], seen["names"]))) if type(seen) is dict else None
    claimed = state.inbox.claimed(sid) if entry["outcome"] == "completed" else []
    if messages := [claimed_message for claimed_message in claimed if read is None or read.has(claimed_message)]:
        entry["inbox"] = [claimed_message.message.id for claimed_message in messages]
        if flags := sum(claimed_message.message.type == "flag" for claimed_message in messages):
            entry["cross_agent_flags_received"] = flags
    return entry


def runner(state: AgentState) -> Json | None:
    """The process that runs a session of this agent now: pid, host, command, started_at; None if none does."""
    return state.agent_dir.runner_lease().holder()
