"""`paos agent rm` and `paos agent restore`: away, and back again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from worldfs.doors.cli.command_context import CommandContext
from worldfs.doors.cli.command_output import columns

if TYPE_CHECKING:
    from worldfs.agents.agent_removal import RemovedAgent

SESSION_END_WAIT_S = 10.0  # for the session of a process that has just died to be ended as lost


def remove(call: CommandContext) -> int:
    from worldfs.agents.agent_names import list_agents
    from worldfs.ground.errors import NotFound

    there = list_agents(call.agents)
    for name in call["name"]:  # all of them before the first goes
        if name not in there:
            expected = ", ".join(there) or "none yet"
            raise NotFound(f"no agent {name!r}", path=call.agents, op="agent rm", expected=f"one of: {expected}")
    for name in call["name"]:
        gone = _taken_away(call.agents, name)
        call.voice.say(f"{name} is now in {gone.path}; back with: paos agent restore {name}", gone._asdict(), "good")
    return 0


def _taken_away(root: str, name: str) -> RemovedAgent:
    """A session whose owner has died is ended by a process of its own, a moment later: that is waited for."""
    from pathlib import Path

    from worldfs.agents.agent_removal import remove_agent as take_away
    from worldfs.ground.errors import Busy
    from worldfs.tree.stores.root_lock import lock_holder

    until = time.monotonic() + SESSION_END_WAIT_S
    while True:
        try:
            return take_away(root, name)
        except Busy:
            owner = (lock_holder(Path(root, name)) or {}).get("pid")
            alive = isinstance(owner, int) and Path(f"/proc/{owner}").exists()
            if alive or time.monotonic() > until:
                raise
            time.sleep(0.05)


def restore(call: CommandContext) -> int:
    from worldfs.agents.agent_removal import removed_agents
    from worldfs.agents.agent_removal import restore_agent as bring_back

    if call["name"] is None:
        found = removed_agents(call.agents)
        call.voice.value({"removed": [item._asdict() for item in found]})
        for text in columns([(item.agent, item.at, item.path) for item in found]):
            call.voice.line(text)
        if not found:
            call.voice.line("no agent was removed")
        return 0
    back = bring_back(call.agents, call["name"])
    call.voice.say(f"{back.agent} is back in {back.path}", back._asdict(), "good")
    return 0
