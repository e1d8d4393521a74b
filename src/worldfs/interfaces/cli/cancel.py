"""`paos cancel`: cancel a running or queued job."""

from __future__ import annotations

from worldfs.base.messages import coded
from worldfs.base.model import JobState, Outcome
from worldfs.base.unknown_effect import unknown_effect
from worldfs.runtime.grace import CONFIRM_S

from .command_context import CommandContext
from .exits import DONE, REFUSED
from .status_diff import state_text


def run(context: CommandContext) -> int:
    """Exit 1 if the job has ended already, or its robot may still move."""
    job = context["job"]
    with context.open() as world:
        status = world.wait_job(job, timeout=0)
        if status.state.terminal:
            return said_too_late(context, job, status.state.value)
        world.cancel(job, context.actor)
        if status.state is JobState.RUNNING:  # its end says whether the robot stands
            status = world.wait_job(job, timeout=CONFIRM_S)
    return said_cancelled(context, job, status.state.value, status.outcome if status.state.terminal else None)


def said_too_late(context: CommandContext, job: str, state: str) -> int:
    """The report about a job that has ended already, and its exit code."""
    said = coded("command.too_late", job=job, state=state_text(state))
    context.output.report(said, {"job": job, "cancel": "too late", "state": state}, "warn")
    return REFUSED


def said_cancelled(context: CommandContext, job: str, state: str, outcome: Outcome | None) -> int:
    """The report about a cancel that was written, and its exit code. `outcome`: of a job that has ended by now."""
    if state == JobState.RUNNING.value or (outcome is not None and unknown_effect(outcome)):
        found = {"job": job, "cancel": "asked", "state": state, "may_move": True}
        said = coded("command.cancel_runs", job=job)
        if outcome is not None:
            said = coded("command.was_cancelled", why=outcome.message)
        context.output.report(said, found, "bad")
        return REFUSED
    context.output.report(coded("command.cancel_asked", job=job), {"job": job, "cancel": "asked"})
    return DONE
