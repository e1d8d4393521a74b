"""Recovery: what a start finds of the last run, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from worldfs.ground.clock import Clock, stamp
from worldfs.ground.errors import BadInput, NotFound, UserError
from worldfs.ground.model import Cause, Job, JobState, JobStatus, Order, Outcome
from worldfs.tree.path import safe_name

from .job_store import JobStore, is_ended


def lost_job(order: Order, status: JobStatus, clock: Clock, why: str, say: Callable[[Outcome], Outcome]) -> Job:
    """A job whose worker is gone: it may have moved, so it is never repeated unasked."""
    outcome = say(Outcome.failure(Cause.LOST, "LOST", why))
    return Job(order, replace(status, state=JobState.FAILED, completed_at=stamp(clock.now()), outcome=outcome))


def disowned_job(order: Order, clock: Clock, say: Callable[[Outcome], Outcome]) -> Job:
    """As `lost_job`, of an order that a sheet shows as under way and that nobody here has."""
    at = stamp(clock.now())
    order = replace(order, created_at=order.created_at or at)
    return lost_job(
        order, JobStatus(accepted_at=at), clock, "the sheet said it was under way, but no worker here has it", say
    )


def read_open(jobs: JobStore, id: str) -> Job | None:
    """A job as its open file says; None: it has ended, or is gone. `UserError`: nobody can read it."""
    if not safe_name(id):
        raise BadInput(f"{id!r} is no name of a job", path=id, expected="a name without control characters")
    if jobs.ended(id):
        jobs.drop_copy(id)
        return None
    try:
        job = jobs.load(id)
    except NotFound:
        return None
    if job.order.id != id:
        raise BadInput(f"the order calls itself {job.order.id!r}", path=id, expected="its file's name")
    return job


def recover(
    jobs: JobStore,
    clock: Clock,
    repeatable: Callable[[Order], bool],
    remember: Callable[[Order, Outcome], None],
    unreadable: Callable[[str, Exception], None],
    *,
    say: Callable[[Outcome], Outcome],
) -> tuple[list[Job], list[Job]]:
    """(open jobs to go on with, jobs that were lost and have ended just now)."""
    going: list[Job] = []
    gone: list[Job] = []
    for id in jobs.open_ids():
        try:
            found = read_open(jobs, id)
        except UserError as error:  # one that nobody can read stops no other
            unreadable(id, error)
            continue
        if found is None:
            continue
        job = found
        if is_ended(job):
            jobs.put_away(id)
            continue
        jobs.mend(id)
        if job.status.state is JobState.RUNNING:
            if repeatable(job.order):
                job = Job(job.order, replace(job.status, state=JobState.PENDING))
                jobs.write_status(id, job.status, durable=False)  # found running again, it waits again
            else:
                job = lost_job(
                    job.order,
                    job.status,
                    clock,
                    "the worker died while it ran; it may have moved, so it is not repeated",
                    say,
                )
                if job.status.outcome is not None:
                    remember(job.order, job.status.outcome)
                jobs.end(job)
        (gone if is_ended(job) else going).append(job)
    return going, gone
