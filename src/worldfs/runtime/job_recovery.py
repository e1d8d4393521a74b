"""Recovery: the jobs that a start finds open, and what becomes of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from worldfs.base.clock import Clock, stamp
from worldfs.base.errors import BadInput, NotFound, UserError
from worldfs.base.model import Cause, Job, JobState, JobStatus, Order, Outcome
from worldfs.tree.path import safe_name

from .job_store import JobStore, is_ended


def lost_job(order: Order, status: JobStatus, clock: Clock, why: str, localise: Callable[[Outcome], Outcome]) -> Job:
    """A job whose worker is gone, failed as lost: the robot may have moved, so the job is not repeated by itself."""
    outcome = localise(Outcome.failure(Cause.LOST, "LOST", why))
    return Job(order, replace(status, state=JobState.FAILED, completed_at=stamp(clock.now()), outcome=outcome))


def disowned_job(order: Order, clock: Clock, localise: Callable[[Outcome], Outcome]) -> Job:
    """As `lost_job`, for an order that a sheet shows as running and that no job file has."""
    at = stamp(clock.now())
    order = replace(order, created_at=order.created_at or at)
    return lost_job(
        order, JobStatus(accepted_at=at), clock, "the sheet says it is running, but no worker has it", localise
    )


def read_open(jobs: JobStore, id: str) -> Job | None:
    """A job by its open file; None: it has ended, or is gone. `UserError`: the file is unreadable."""
    if not safe_name(id):
        raise BadInput(f"{id!r} is not a valid job id", path=id, expected="a name without control characters")
    if jobs.ended(id):
        jobs.drop_copy(id)
        return None
    try:
        job = jobs.load(id)
    except NotFound:
        return None
    if job.order.id != id:
        raise BadInput(f"the order in it has the id {job.order.id!r}", path=id, expected="its file's name")
    return job


def recover(
    jobs: JobStore,
    clock: Clock,
    repeatable: Callable[[Order], bool],
    remember: Callable[[Order, Outcome], None],
    unreadable: Callable[[str, Exception], None],
    *,
    localise: Callable[[Outcome], Outcome],
) -> tuple[list[Job], list[Job]]:
    """(open jobs to go on with, jobs that were lost and have ended just now)."""
    going: list[Job] = []
    gone: list[Job] = []
    for id in jobs.open_ids():
        try:
            found = read_open(jobs, id)
        except UserError as error:  # an unreadable job does not stop the others
            unreadable(id, error)
            continue
        if found is None:
            continue
        job = found
        if is_ended(job):
            jobs.archive(id)
            continue
        jobs.close_torn_line(id)
        if job.status.state is JobState.RUNNING:
            if repeatable(job.order):
                job = Job(job.order, replace(job.status, state=JobState.PENDING))
                jobs.write_status(id, job.status, durable=False)  # found running, it is queued again
            else:
                job = lost_job(
                    job.order,
                    job.status,
                    clock,
                    "the worker died while it ran; it may have moved, so it is not repeated",
                    localise,
                )
                if job.status.outcome is not None:
                    remember(job.order, job.status.outcome)
                jobs.end(job)
        (gone if is_ended(job) else going).append(job)
    return going, gone
