"""`paos cancel`: cancel a running or queued job."""

from __future__ import annotations

from worldfs.base.messages import coded
from worldfs.base.model import JobState
from worldfs.base.unknown_effect import unknown_effect
from worldfs.runtime.grace import CONFIRM_S

from .command_context import CommandContext
from .status_diff import state_text


def run(context: CommandContext) -> int:
    """Exit 1 if the job has ended already, or its robot may still move."""
    job = context["job"]
    with context.open() as world:
        status = world.wait_job(job, timeout=0)
        if status.state.terminal:
            over = {"job": job, "cancel": "too late", "state": status.state.value}
            context.output.report(too_late(job, status.state.value), over, "warn")
            return 1
        world.cancel(job, context.actor)
        if status.state is JobState.RUNNING:  # its end says whether the robot stands
            status = world.wait_job(job, timeout=CONFIRM_S)
    if (outcome := status.outcome) is not None and status.state.terminal and unknown_effect(outcome):
        found = {"job": job, "cancel": "asked", "state": status.state.value, "may_move": True}
        context.output.report(coded("command.was_cancelled", why=outcome.message), found, "bad")
        return 1
    context.output.report(coded("command.cancel_asked", job=job), {"job": job, "cancel": "asked"})
    return 0


def too_late(job: str, state: str) -> str:
    """The message about a job that has ended already."""
    return coded("command.too_late", job=job, state=state_text(state))
