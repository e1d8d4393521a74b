"""The commands of agents: `paos agents` and `paos agent …`."""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded, render

if TYPE_CHECKING:
    from worldfs.agents.agent_state import AgentState
    from worldfs.interfaces.cli.command_context import CommandContext


def open_agent_state(context: CommandContext, *, take: bool = False) -> AgentState:
    """The state of the agent that the command names; what was set aside because another host has it is printed."""
    from worldfs.agents.agent_state import AgentState

    state = AgentState.open(context["name"], context.agents, take=take)
    notice_findings(context, state)
    return state


def notice_findings(context: CommandContext, state: AgentState, since: int = 0) -> None:
    """Print what was found in the agent's files while they were open: what was set aside, and where it is."""
    from worldfs.base.messages.message_rendering import finding_message  # it makes the classes of jobs: 20 ms

    for finding in state.agent_dir.findings[since:]:
        context.output.notice(render(finding_message(finding), context.language))


def check_exclusive(context: CommandContext, *names: str) -> None:
    """`BadInput` if more than one of these exclusive options was given."""
    given = [f"--{name}" for name in names if context[name] not in (None, False)]
    if len(given) > 1:
        raise BadInput(_both(given), op=context["command"], expected=coded("command.one_at_most"))


def _both(given: list[str]) -> str:
    return reduce(lambda one, other: coded("command.and", one=one, other=other), given)


def parse_key_values(words: list[str], *, taken: Collection[str] = (), expected: str = "") -> dict[str, object]:
    """`key=value` words; a value that is JSON is parsed as JSON, else it is text. `BadInput` for anything else.

    `taken`: reserved keys. `expected`: what else the word could have been.
    """
    from worldfs.base.json_text import parse_json

    found: dict[str, object] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.isidentifier():
            pair = coded("command.a_pair")
            also = coded("command.pair_or", expected=expected, pair=pair) if expected else pair
            raise BadInput(f"{word!r}", op="agent", expected=also)
        if key in taken:
            raise BadInput(f"{key}=…", op="agent", expected=coded("command.reserved", names=list(taken)))
        try:
            found[key] = parse_json(value)
        except ValueError:
            found[key] = value
    return found
