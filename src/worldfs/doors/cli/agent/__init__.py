"""The commands of agents: `paos agents` and `paos agent …`."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from worldfs.ground.errors import BadInput

if TYPE_CHECKING:
    from worldfs.agents.agent_state import AgentState
    from worldfs.doors.cli.command_context import CommandContext


def open_agent_state(call: CommandContext) -> AgentState:
    """The state of the agent that the call names."""
    from worldfs.agents.agent_state import AgentState

    return AgentState.open(call["name"], call.agents)


def check_exclusive(call: CommandContext, *names: str) -> None:
    """`BadInput` if more than one of these options was given: they are different wishes."""
    given = [f"--{name}" for name in names if call[name] not in (None, False)]
    if len(given) > 1:
        raise BadInput(" and ".join(given), op=call["command"], expected="one of them at a time")


def parse_key_values(words: list[str], *, taken: Collection[str] = (), expected: str = "") -> dict[str, Any]:
    """`key=value` words; a value that is JSON is taken as such, else it is text. `BadInput` for anything else.

    `taken`: keys that are ours to say. `expected`: what else the word could have been.
    """
    import json

    found: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.isidentifier():
            words_for = "key=value, the key of letters, digits and _"
            raise BadInput(f"{word!r}", op="agent", expected=f"{expected}, or {words_for}" if expected else words_for)
        if key in taken:
            raise BadInput(f"{key}=…", op="agent", expected=f"another key: {', '.join(taken)} are not for you to say")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found
