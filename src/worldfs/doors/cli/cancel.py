"""`paos cancel`: stop a job, or keep it from starting."""

from __future__ import annotations

from .call import Call


def run(call: Call) -> int:
    job = call["job"]
    with call.open() as world:
        world.cancel(job, call.actor)
    call.voice.say(f"{job}: cancel asked for; paos status tells when it stands", {"job": job, "cancel": "asked"})
    return 0
