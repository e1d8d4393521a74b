"""`paos agent rm` and `paos agent restore`: away, and back again."""

from __future__ import annotations

from ..call import Call
from ..voice import columns


def remove(call: Call) -> int:
    from worldfs.agents.names import names
    from worldfs.agents.removal import remove as take_away
    from worldfs.ground.errors import NotFound

    there = names(call.agents)
    for name in call["name"]:  # all of them before the first goes
        if name not in there:
            expected = ", ".join(there) or "none yet"
            raise NotFound(f"no agent {name!r}", path=call.agents, op="agent rm", expected=f"one of: {expected}")
    for name in call["name"]:
        gone = take_away(call.agents, name)
        call.voice.say(f"{name} is now in {gone.path}; back with: paos agent restore {name}", gone._asdict(), "good")
    return 0


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
