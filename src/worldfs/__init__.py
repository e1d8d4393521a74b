"""worldfs: an operating system for agents whose whole interface is files."""

from __future__ import annotations

TYPE_CHECKING = False  # typing's, which takes half of the time in which a Ctrl-C still meets Python's own handler
if TYPE_CHECKING:
    from .agents.agent_state import AgentState

__version__ = "0.1.0"

__all__ = ["AgentState", "__version__"]


def __getattr__(name: str) -> object:  # the command's start loads none of it
    if name == "AgentState":
        from .agents.agent_state import AgentState

        return AgentState
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
