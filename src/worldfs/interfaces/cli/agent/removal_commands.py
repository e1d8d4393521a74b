"""`paos agent rm` and `paos agent restore`: remove an agent, and restore it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from worldfs.base.agent_names import list_agents
from worldfs.base.clock import SystemClock
from worldfs.base.errors import Busy, NotFound
from worldfs.base.messages import coded
from worldfs.interfaces.cli.command_context import CommandContext
from worldfs.interfaces.cli.command_output import columns

if TYPE_CHECKING:
    from worldfs.agents.agent_removal import RemovedAgent

SESSION_END_WAIT_S = 10.0  # for the session of a process that has just died to be ended as lost


def remove(context: CommandContext) -> int:
    there = list_agents(context.agents)
    for name in context["name"]:  # all of them before the first goes
        if name not in there:
            known = coded("common.one_of", names=there or coded("command.none_yet"))
            raise NotFound(coded("command.no_agent", name=name), path=context.agents, op="agent rm", expected=known)
    for name in context["name"]:
        gone = _taken_away(context.agents, name)
        context.output.report(
            coded("command.moved_to", name=name, path=gone.path, paos=context.name), gone._asdict(), "good"
        )
    return 0


def _taken_away(root: str, name: str) -> RemovedAgent:
    """Remove the agent. The session of a dead owner is ended by its keeper a moment later: wait for that."""
    from pathlib import Path

    from worldfs.agents.agent_removal import remove_agent as take_away
    from worldfs.storage.directory_lease import directory_lease

    clock = SystemClock()
    until = clock.monotonic() + SESSION_END_WAIT_S
    while True:
        try:
            return take_away(root, name)
        except Busy:
            owner = (directory_lease(Path(root, name)).holder() or {}).get("pid")
            alive = isinstance(owner, int) and Path(f"/proc/{owner}").exists()
            if alive or clock.monotonic() > until:
                raise
            clock.wait(threading.Event(), 0.05)


def restore(context: CommandContext) -> int:
    from worldfs.agents.agent_removal import removed_agents
    from worldfs.agents.agent_removal import restore_agent as bring_back

    if context["name"] is None:
        found = removed_agents(context.agents)
        context.output.value({"removed": [item._asdict() for item in found]})
        for text in columns([(item.agent, item.at, item.path) for item in found]):
            context.output.line(text)
        if not found:
            context.output.line(coded("command.none_removed"))
        return 0
    back = bring_back(context.agents, context["name"])
    context.output.report(coded("command.restored_to", name=back.agent, path=back.path), back._asdict(), "good")
    return 0
