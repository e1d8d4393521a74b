"""`paos agent run`: any command as a session of an agent."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded, render
from worldfs.interfaces.cli.command_context import CommandContext
from worldfs.supervisor.tools import preset_command, reporting_command

from . import open_agent_state
from .session_commands import session_fields

if TYPE_CHECKING:
    from worldfs.agents.agent_state import AgentState
    from worldfs.base.model import SessionRecord
    from worldfs.supervisor import CommandRequest
    from worldfs.supervisor.command_request import PromptText
    from worldfs.supervisor.tools import ReportingCommand


def run(context: CommandContext) -> int:
    """Exit 0 completed, 1 failed or timed out, 2 could not start."""
    from worldfs.supervisor import ShellHooks
    from worldfs.supervisor import run as carry

    with open_agent_state(context, take=context["take"]) as state:
        about = session_fields(context)
        about.pop("timeout_seconds", None)
        if context["id"]:
            about["id"] = context["id"]
        hooks = ShellHooks(context["pre"], context["post"], context["error"])
        command = _command(context, state)
        out = -1 if context.output.json and command.tool and command.tool.added else 1  # the answer is in the JSON
        ended = carry(state, command, hooks=hooks, about=about, out=out, alone=True)
    context.output.value(ended._asdict() | {"session": ended.session._asdict()})
    if not context.output.json:
        word = f"{ended.session.session_id} {ended.outcome}" + (f" ({ended.cause})" if ended.cause else "")
        context.output.notice(
            "\n      ".join((f"paos: {word}", *(render(text, context.language) for text in ended.errors)))
        )
    if ended.outcome == "completed":
        return 0
    return 2 if ended.cause == "spawn" else 1


def _command(context: CommandContext, state: AgentState) -> CommandRequest:
    from worldfs.supervisor import CommandRequest
    from worldfs.supervisor.command_request import PromptText
    from worldfs.supervisor.session_files import OUTCOME, SessionFiles

    words, home = tuple(context["argv"]), os.path.realpath(state.agent_dir.path)
    tool: ReportingCommand | None
    if context["with"] is not None:
        tool = preset_command(context["with"], home, words, context["model"])
    elif words:
        tool = reporting_command(words, home, silence=context["silence"] is not None)
    else:
        raise BadInput(coded("command.no_command_given"), op="agent run", expected=coded("command.a_command"))
    how = context["prompt"] or ("none" if context["with"] is None else "stdin")

    def prompt(session: SessionRecord) -> PromptText:
        made = state.prompted(
            session=session, outcome=SessionFiles(state.agent_dir.root, session.session_id).path(OUTCOME),
            budget=context["budget"], language=context["language"], template=context["template"] or "",
        )  # fmt: skip
        return PromptText(made.text, made.pack.messages)

    if how != "none":  # a mistake in the template, or too small a budget, is reported before a session begins
        path = SessionFiles(state.agent_dir.root, "20260101-000000-0000").path(OUTCOME)
        state.prompted(
            outcome=path, budget=context["budget"], language=context["language"], template=context["template"] or ""
        )
    return CommandRequest(
        words if tool is None else tool.argv, context["type"], context["timeout"], context["silence"], tool=tool,
        prompt=None if how == "none" else prompt, prompt_as="stdin" if how == "none" else how,
    )  # fmt: skip
