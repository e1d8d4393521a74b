"""`paos agent rm` and `paos agent restore`: away, and back again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..call import Call
from ..voice import columns

if TYPE_CHECKING:
    from worldfs.agents.removal import Removed

DYING_S = 10.0  # for the session of a process that has just died to be ended as lost


def remove(call: Call) -> int:
    from worldfs.agents.names import names
    from worldfs.ground.errors import NotFound

    there = names(call.agents)
    for name in call["name"]:  # all of them before the first goes
        if name not in there:
            expected = ", ".join(there) or "none yet"
            raise NotFound(f"no agent {name!r}", path=call.agents, op="agent rm", expected=f"one of: {expected}")
    for name in call["name"]:
        gone = _taken_away(call.agents, name)
        call.voice.say(f"{name} is now in {gone.path}; back with: paos agent restore {name}", gone._asdict(), "good")
    return 0


def _taken_away(root: str, name: str) -> Removed:
    """A session whose owner has died is ended by a process of its own, a moment later: that is waited for."""
    from pathlib import Path

    from worldfs.agents.removal import remove as take_away
    from worldfs.ground.errors import Busy
    from worldfs.tree.stores.lock import holder

    until = time.monotonic() + DYING_S
    while True:
        try:
            return take_away(root, name)
        except Busy:
            owner = (holder(Path(root, name)) or {}).get("pid")
            alive = isinstance(owner, int) and Path(f"/proc/{owner}").exists()
            if alive or time.monotonic() > until:
                raise
            time.sleep(0.05)


def restore(call: Call) -> int:
    from worldfs.agents.removal import removed
    from worldfs.agents.removal import restore as bring_back

    if call["name"] is None:
        found = removed(call.agents)
        call.voice.value({"removed": [item._asdict() for item in found]})
        for text in columns([(item.agent, item.at, item.path) for item in found]):
            call.voice.line(text)
        if not found:
            call.voice.line("no agent was removed")
        return 0
    back = bring_back(call.agents, call["name"])
    call.voice.say(f"{back.agent} is back in {back.path}", back._asdict(), "good")
    return 0
