"""`paos agent hook`: called by the session hooks of a command-line agent, with the event as JSON on stdin."""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput, Busy
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.interfaces.cli.command_context import CommandContext
from worldfs.supervisor.detached_process import DetachedProcess

from .arrived_messages import arrived
from .session_commands import (
    KEEPER,
    LOCK_WAIT_S,
    SessionClient,
    begin_for_client,
    session_client,
    session_keeper,
)
from .session_keeper import wait_for_keeper

if TYPE_CHECKING:
    from worldfs.agents.agent_state import AgentState

LONGEST_EVENT: Final = 1 << 20  # characters that are read of it
TURNS: Final = frozenset({"UserPromptSubmit", "PostToolUse", "BeforeAgent", "AfterTool"})  # whose output is context


def run(context: CommandContext) -> int:
    """SessionStart: begin a session that lives as long as the client, and print the state prompt; after a compaction
    the prompt alone. A turn or a tool call (`TURNS`): print the messages that have arrived since. SessionEnd: end that
    session. A session of another client is never touched, and inside `paos agent run`, which does all this itself,
    nothing happens."""
    from worldfs.agents.agent_state import AgentState

    event = _event()
    if context.environ.get("PAOS_SESSION"):
        return 0
    client = session_client(os.getppid() if context["for"] is None else context["for"])
    name = event["hook_event_name"]
    begins = name == "SessionStart" and event.get("source") != "compact"
    with (
        DetachedProcess(KEEPER) if begins else nullcontext() as keeper,
        AgentState.open(context["name"], context.agents, create=True, language=context.language) as state,
    ):
        if name == "SessionStart":
            _start(context, state, client, event, keeper)
        elif name in TURNS and (sid := _session_of(state, event)):
            _say(name, arrived(state, sid, context.language))
        elif name == "SessionEnd" and (sid := _session_of(state, event)):
            kept_by = session_keeper(state)
            state.finish("completed", session=sid)
            wait_for_keeper(kept_by, LOCK_WAIT_S)
    return 0


def _event() -> Json:
    try:
        event = parse_json(sys.stdin.read(LONGEST_EVENT))
        if isinstance(event, dict) and isinstance(event["hook_event_name"], str):
            return event
        why = type(event).__name__
    except (ValueError, KeyError) as error:
        why = str(error)
    raise BadInput(coded("setup.bad_event", why=why), op="agent hook", expected=coded("setup.an_event"))


def _start(
    context: CommandContext, state: AgentState, client: SessionClient, event: Json, keeper: DetachedProcess | None
) -> None:
    """A second client of one agent gets the prompt, and no session of its own. `keeper`: None after a compaction."""
    if keeper is not None:
        try:
            begin_for_client(state, client, keeper, type="ad-hoc", client_session=event.get("session_id"))
        except Busy as error:
            context.output.notice(str(error))
            keeper = None
    try:
        _say("SessionStart", state.prompt(language=context.language))
    finally:
        if keeper is not None:
            keeper.answer()


def _say(event: str, text: str) -> None:
    """In the form that Claude Code, Codex and Gemini CLI share."""
    if text:
        said = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
        print(json.dumps(said, ensure_ascii=False))


def _session_of(state: AgentState, event: Json) -> str:
    """The running session that this client's hook began; "" if there is none."""
    from worldfs.agents import session_job
    from worldfs.runtime.job_store import JobStore

    sid = session_job.running_session(state)
    store = JobStore(state.agent_dir.store, state.agent_dir.clock)
    began = store.load(sid).order.params.get("client_session") if sid else None
    return sid if began is not None and began == event.get("session_id") else ""
