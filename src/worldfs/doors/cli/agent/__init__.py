"""The commands of agents: `paos agents` and `paos agent …`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from worldfs.ground.errors import BadInput

if TYPE_CHECKING:
    from worldfs.agents.state import AgentState

    from ..call import Call


def opened(call: Call) -> AgentState:
    """The state of the agent that the call names."""
    from worldfs.agents.state import AgentState

    return AgentState.open(call["name"], call.agents)


def facts(words: list[str]) -> dict[str, Any]:
    """`key=value` words; a value that is JSON is taken as such, else it is text. `BadInput` for anything else."""
    import json

    found: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.isidentifier():
            raise BadInput(f"{word!r}", op="agent", expected="key=value, the key of letters, digits and _")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found
