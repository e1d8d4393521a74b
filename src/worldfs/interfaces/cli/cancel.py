"""`paos cancel`: cancel a running or queued job."""

from __future__ import annotations

from .command_context import CommandContext


def run(context: CommandContext) -> int:
    """Exit 1 if the job has ended already."""
    job = context["job"]
    with context.open() as world:
        status = world.wait_job(job, timeout=0)
        if status.state.terminal:
            over = {"job": job, "cancel": "too late", "state": status.state.value}
            context.output.report(f"{job}: has already ended ({status.state.value}); nothing to cancel", over, "warn")
            return 1
        world.cancel(job, context.actor)
    context.output.report(
        f"{job}: cancel requested; `paos status` shows when the robot has stopped", {"job": job, "cancel": "asked"}
    )
    return 0
