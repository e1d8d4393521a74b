"""One step of a session at a time, for shell scripts: start, event, outcome, end.

`start` leaves a keeper behind (`session_keeper.py`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from worldfs.base.errors import BadInput, Busy, NotFound
from worldfs.base.messages import coded
from worldfs.interfaces.cli.command_context import CommandContext
from worldfs.storage.lease import KERNEL_LEASE, DescriptorLease
from worldfs.supervisor.detached_process import DetachedProcess

from . import open_agent_state, parse_key_values
from .session_keeper import wait_for_keeper

if TYPE_CHECKING:
    from worldfs.agents.agent_state import AgentState
    from worldfs.base.model import Json, SessionRecord

KEEPER: Final = "worldfs.interfaces.cli.agent.session_keeper"
RESERVED_FIELDS: Final = ("self", "outcome", "session", "session_id", "cause", "inbox", "ts", "seq", "event")
LOCK_WAIT_S: Final = 5.0  # for a keeper to end; it takes milliseconds


def session_fields(context: CommandContext) -> dict[str, Any]:
    """The options of a session by the names of session.json."""
    given = {
        "domain": context["domain"],
        "branch": context["branch"],
        "model": context["model"],
        "timeout_seconds": None if context["timeout"] is None else int(context["timeout"]),
        "research_question": context["question"],
        "belief_targeted": context["belief"],
        "disconfirmation_target": context["disconfirm"],
        "sources_expected": context["expect"],
    }
    return {key: value for key, value in given.items() if value is not None}


def start(context: CommandContext) -> int:
    client = session_client(os.getppid() if context["for"] is None else context["for"])
    with DetachedProcess(KEEPER) as keeper, open_agent_state(context) as state:
        record = begin_for_client(
            state, client, keeper, type=context["type"], id=context["id"], **session_fields(context)
        )
        keeper.answer()
    context.output.report(record.session_id, record._asdict())
    return 0


class SessionClient(NamedTuple):
    """The process whose end ends a session."""

    pid: int
    watched: int  # its pidfd


def session_client(pid: int) -> SessionClient:
    """`BadInput` if there is no such process."""
    try:
        return SessionClient(pid, os.pidfd_open(pid))
    except (OSError, OverflowError, AttributeError) as error:
        found = coded("command.no_process", pid=pid)
        raise BadInput(found, op="start", expected=coded("command.a_process")) from error


def begin_for_client(
    state: AgentState, client: SessionClient, keeper: DetachedProcess, *, type: str, id: str = "", **fields: object
) -> SessionRecord:
    """Begin a session and give its lock to the keeper. The caller must not end before the keeper has answered."""
    record = state.start(type=type, argv=(), id=id, **fields)
    lock = state.session_lock
    assert isinstance(lock, DescriptorLease)
    _sign(state, record.session_id, client.pid, keeper.pid)
    root = os.path.abspath(state.agent_dir.path.parent)
    shared = state.agent_dir.mirror is not None
    order: Json = {"root": root, "name": state.name, "session": record.session_id, "shared": shared}
    keeper.order(order, (client.watched, lock.descriptor))
    return record


def _sign(state: AgentState, sid: str, script: int, keeper: int) -> None:
    """The lock names the script as its holder: ending the script ends the session."""
    command = ""
    with suppress(OSError), open(f"/proc/{script}/cmdline", "rb") as file:
        command = file.read(1 << 16).decode("utf-8", "replace").replace("\0", " ").strip()
    content = {
        "pid": script, "host": os.uname().nodename, "command": command, "started_at": state.agent_dir.now(),
        "purpose": f"session {sid}", "keeper": keeper,
    }  # fmt: skip
    state.agent_dir.write_unsynced(KERNEL_LEASE, json.dumps(content).encode() + b"\n")


def event(context: CommandContext) -> int:
    with open_agent_state(context) as state:
        seq = state.event(context["event"], **parse_key_values(context["facts"], taken=("ts", "seq", "event")))
    context.output.report(str(seq), {"seq": seq})
    return 0


def outcome(context: CommandContext) -> int:
    from worldfs.agents import session_facts, session_job

    said = parse_key_values(context["facts"], taken=RESERVED_FIELDS)
    _typed(said)
    if not said:
        expected = coded("command.key_value")
        raise BadInput(coded("command.no_facts"), path=context["name"], op="agent outcome", expected=expected)
    with open_agent_state(context) as state, state.agent_dir.locked():
        sid = session_job.running_session(state)
        if not sid:
            fix = coded("command.start_session", name=context["name"], paos=context.name)
            raise NotFound(coded("command.no_session"), path=context["name"], op="agent outcome", fix=fix)
        session_facts.add_facts(state.agent_dir, sid, state.cleaned(said))
    context.output.report(", ".join(said), said)
    return 0


def end(context: CommandContext) -> int:
    from worldfs.agents import session_facts, session_job

    said = parse_key_values(context["facts"], taken=RESERVED_FIELDS, expected=coded("command.session_ends"))
    _typed(said)
    with open_agent_state(context) as state:
        sid, mine = session_job.running_session(state), _mine(context["name"])
        if sid and not mine:
            _check_owner(state, sid)
        errors = session_facts.errors(said if "errors" in said else state.session_facts())
        words = {
            "summary": context["summary"] or str(said.pop("summary", "")),
            "handoff": context["handoff"] or str(said.pop("handoff", "")),
            "next_priority": context["next"] or said.pop("next_priority", None),
            "errors": [context["why"]] if context["why"] else errors,
        }
        figures: dict[str, Any] = {**said, **words}
        keeper = session_keeper(state)
        record = state.finish(context["outcome"], session=mine, **figures)
    wait_for_keeper(keeper, LOCK_WAIT_S)
    context.output.report(f"{record.session_id} {record.status}", record._asdict(), "good")
    return 0


def session_keeper(state: AgentState) -> int:
    """The process id of the running session's keeper, 0 if it has none."""
    keeper = (state.runner() or {}).get("keeper")
    return keeper if isinstance(keeper, int) else 0


def _typed(said: Mapping[str, object]) -> None:
    """`BadInput` for a known fact of the wrong kind: a count that is no number would be lost at the end."""
    from worldfs.supervisor.outcome_report import FIELDS, form_of

    for key, value in said.items():
        if key in FIELDS and not FIELDS[key][0](value):
            expected = coded("command.field_form", name=key, form=form_of(key))
            raise BadInput(f"{key}={value}", op="agent", expected=expected)


def _mine(name: str) -> str:
    """The session of this shell, if it belongs to this agent."""
    return os.environ.get("PAOS_SESSION", "") if os.environ.get("PAOS_AGENT", name) == name else ""


def _check_owner(state: AgentState, sid: str) -> None:
    from worldfs.runtime.job_store import JobStore

    if JobStore(state.agent_dir.store, state.agent_dir.clock).load(sid).order.params.get("argv"):
        raise Busy(
            coded("command.run_by_command", id=sid), path=state.name, op="agent end",
            expected=coded("command.started_session"), fix=coded("command.ends_with"),
        )  # fmt: skip
