"""What a chat backend is made with: what every plug-in gets, and the tree and the earlier words of the asker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worldfs.access.binding import Binding
from worldfs.base.driver import PluginContext
from worldfs.tree.change_feed import ChangeFeed

from .agent_job import ChatTurn
from .chat import Responder

if TYPE_CHECKING:
    from worldfs.namespace.connection_tree import ConnectionTree


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatContext(PluginContext):
    """`attach`: the tree of the binding that a message came from (`AgentJobContext.binding`), with its rights and no
    others. `turns`: what that binding said before, at most so much. `planner`: answers instructions to the robot of the
    home's workspace; None where there is none.
    """

    attach: Callable[[Binding], ConnectionTree]
    feed: ChangeFeed
    turns: Callable[[Binding, int], Sequence[ChatTurn]]
    planner: Responder | None
