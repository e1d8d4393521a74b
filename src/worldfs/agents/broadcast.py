"""A broadcast (message type "cascade"): one message to many agents, each to check what it means for its own work."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from worldfs.base.clock import Clock, SystemClock, stamp
from worldfs.base.errors import BadInput, WorldError, from_os
from worldfs.base.messages import coded
from worldfs.base.model.agent import Message
from worldfs.storage.revision import of

from .agent_hosts import known_agents
from .inbox import deposit_to

if TYPE_CHECKING:
    from worldfs.base.durable import Disk

PRIORITIES: Final = ("high", "normal", "low")


class BroadcastResult(NamedTuple):
    """What became of one message. `new` False without `trouble`: the agent has, or had, this message already."""

    agent: str
    message: Message
    new: bool
    trouble: WorldError | None = None


def broadcast(
    root: str | os.PathLike[str],
    *,
    sender: str,
    subject: str,
    body: str = "",
    agents: Literal["all"] | Iterable[str] = "all",
    source_ref: str | None = None,
    priority: str = "normal",
    expires_at: str | None = None,
    clock: Clock | None = None,
    disk: Disk | None = None,
) -> list[BroadcastResult]:
    """A message of type cascade into the inbox of each agent below `root`, durable when it returns; one result each.

    `agents`: names, or "all" but the sender. The same `source_ref` reaches an agent once, however often and by
    any sender the cascade is repeated; without one every call is a new message. An agent that cannot be reached (no
    such agent, its disk is full) is named in its result and does not keep the others from being reached. `BadInput` if
    the subject or the list of agents is empty.
    """
    if isinstance(agents, str) and agents != "all":
        agents = [agents]
    recipients = (
        [name for name in known_agents(root) if name != sender] if agents == "all" else list(dict.fromkeys(agents))
    )
    if not subject.strip():
        raise BadInput(coded("agent.no_subject"), op="cascade", expected=coded("agent.a_subject"))
    if priority not in PRIORITIES:
        raise BadInput(coded("agent.bad_priority", priority=priority), op="cascade", expected=" | ".join(PRIORITIES))
    if not recipients:
        expected = coded("agent.an_agent")
        raise BadInput(coded("agent.nobody"), path=os.fspath(root), op="cascade", expected=expected)
    at = stamp((clock or SystemClock()).now().replace(microsecond=0))
    found = []
    for to in recipients:
        id = broadcast_id(source_ref, to) if source_ref else ""
        message = Message(id, sender, to, at, "cascade", priority, subject, body, source_ref, expires_at)
        try:
            message, new = deposit_to(root, to, message, clock=clock, disk=disk)
            found.append(BroadcastResult(to, message, new))
        except WorldError as error:
            found.append(BroadcastResult(to, message, False, error))
        except OSError as error:
            found.append(BroadcastResult(to, message, False, from_os(error, path=to, op="cascade")))
    return found


def broadcast_id(source_ref: str, to: str) -> str:
    """The id of a cascade's message: the same source to the same agent, the same id."""
    both = f"{source_ref}\0{to}".encode("utf-8", "surrogatepass")
    return f"cascade-{of(both)}"
