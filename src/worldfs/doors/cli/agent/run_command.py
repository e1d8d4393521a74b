"""`paos agent run`: any command as a session of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.doors.cli.command_context import CommandContext
from worldfs.ground.errors import BadInput

from . import open_agent_state
from .session_commands import session_fields

if TYPE_CHECKING:
    from worldfs.agents.agent_state import AgentState
    from worldfs.drivers.command import CommandRequest
    from worldfs.drivers.command.command_request import PromptText
    from worldfs.drivers.command.tools import ReportingCommand
    from worldfs.ground.model import SessionRecord


def run(call: CommandContext) -> int:
    """Exit 0 completed, 1 failed or out of time, 2 it could not start."""
    from worldfs.drivers.command import ShellHooks
    from worldfs.drivers.command import run as carry

    with open_agent_state(call) as state:
        about = session_fields(call)
        about.pop("timeout_seconds", None)
        if call["id"]:
            about["id"] = call["id"]
        hooks = ShellHooks(call["pre"], call["post"], call["error"])
        command = _command(call, state)
        out = -1 if call.voice.json and command.tool and command.tool.added else 1  # the answer stands in the JSON
        ended = carry(state, command, hooks=hooks, about=about, out=out, alone=True)
    call.voice.value(ended._asdict() | {"session": ended.session._asdict()})
    if not call.voice.json:
        word = f"{ended.session.session_id} {ended.outcome}" + (f" ({ended.cause})" if ended.cause else "")
        call.voice.aside("\n      ".join((f"paos: {word}", *ended.errors)))
    if ended.outcome == "completed":
        return 0
    return 2 if ended.cause == "spawn" else 1


def _command(call: CommandContext, state: AgentState) -> CommandRequest:
    import os

    from worldfs.drivers.command import CommandRequest
    from worldfs.drivers.command.command_request import PromptText
    from worldfs.drivers.command.session_files import OUTCOME, SessionFiles
    from worldfs.drivers.command.tools import preset_command, reporting_command

    words, home = tuple(call["argv"]), os.path.realpath(state.agent_dir.path)
    tool: ReportingCommand | None
    if call["with"] is not None:
        tool = preset_command(call["with"], home, words, call["model"])
    elif words:
        tool = reporting_command(words, home, silence=call["silence"] is not None)
    else:
        raise BadInput("no command", op="agent run", expected="-- COMMAND …, or --with TOOL")
    how = call["prompt"] or ("none" if call["with"] is None else "stdin")

    def prompt(session: SessionRecord) -> PromptText:
        made = state.prompted(
            session=session, outcome=SessionFiles(state.agent_dir.root, session.session_id).path(OUTCOME),
            budget=call["budget"], language=call["language"], template=call["template"] or "",
        )  # fmt: skip
        return PromptText(made.text, made.pack.messages)

    if how != "none":  # a mistake in the template, or too small a budget, is told before a session begins
        path = SessionFiles(state.agent_dir.root, "20260101-000000-0000").path(OUTCOME)
        state.prompted(outcome=path, budget=call["budget"], language=call["language"], template=call["template"] or "")
    return CommandRequest(
        words if tool is None else tool.argv, call["type"], call["timeout"], call["silence"], tool=tool,
        prompt=None if how == "none" else prompt, prompt_as="stdin" if how == "none" else how,
    )  # fmt: skip
