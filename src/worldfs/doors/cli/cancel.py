"""`paos cancel`: stop a job, or keep it from starting."""

from __future__ import annotations

from .command_context import CommandContext


def run(call: CommandContext) -> int:
    """Exit 1 if it has ended already."""
    job = call["job"]
    with call.open() as world:
        status = world.wait_job(job, timeout=0)
        if status.state.terminal:
            over = {"job": job, "cancel": "too late", "state": status.state.value}
            call.voice.say(f"{job}: it has ended already ({status.state.value}); nothing to cancel", over, "warn")
            return 1
        world.cancel(job, call.actor)
    call.voice.say(f"{job}: cancel asked for; paos status tells when it stands", {"job": job, "cancel": "asked"})
    return 0
