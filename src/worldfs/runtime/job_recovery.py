"""Recovery: the jobs that a start finds open, and what becomes of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from worldfs.base.clock import Clock, stamp
from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Job, JobState, JobStatus, Order, Outcome

from .dispatch import Dispatcher
from .job_end import ended_status, refusal_outcome
from .job_store import is_ended
from .left_moving import read_open

REVIEWS = 3  # that kernels did not live to see the end of; the job is then set aside


def lost_job(order: Order, status: JobStatus, clock: Clock, why: str, localise: Callable[[Outcome], Outcome]) -> Job:
    """A job whose worker is gone, failed as lost: the robot may have moved, so the job is not repeated by itself."""
    return Job(order, ended_status(status, localise(Outcome.failure(Cause.LOST, "LOST", why)), clock.now()))


def disowned_job(order: Order, clock: Clock, localise: Callable[[Outcome], Outcome]) -> Job:
    """As `lost_job`, for an order that a sheet shows as running and that no job file has."""
    at = stamp(clock.now())
    order = replace(order, created_at=order.created_at or at)
    return lost_job(order, JobStatus(accepted_at=at), clock, coded("runtime.no_worker"), localise)


def _fatal_review(job: Job) -> Finding:
    """Why a job that ended kernel after kernel is set aside: the next start must not end with it as well."""
    return Finding(
        "REVIEW_FATAL", f"{job.order.sheet} {job.id}", coded("runtime.review_ends"),
        coded("runtime.review_fatal", n=job.status.reviews), coded("runtime.correct_reviewed", op=job.order.op),
        job.id,
    )  # fmt: skip


class RecoveredJobs(NamedTuple):
    going: list[Job]  # to go on with
    lost: list[Job]  # ended just now
    ended: list[Job]  # before; their files are still among the open ones


def recover(
    dispatch: Dispatcher,
    *,
    unreadable: Callable[[str, UserError], None],
    repeatable: Callable[[Order], bool] = lambda order: False,
    ours: Callable[[Order], bool] = lambda order: True,
    why: str = "",
) -> RecoveredJobs:
    """What a runtime finds of an earlier one.

    `why`: what a lost job says, if not that it may have moved; `ours`: whether this runtime runs it.
    """
    jobs, found = dispatch.jobs, RecoveredJobs([], [], [])
    for id in jobs.open_ids():
        try:
            job = read_open(jobs, id)
        except UserError as error:  # an unreadable job does not stop the others
            unreadable(id, error)
            continue
        if job is None or not ours(job.order):
            continue
        if is_ended(job):
            found.ended.append(job)
            continue
        jobs.close_torn_line(id)
        if job.status.reviews >= REVIEWS:
            outcome = refusal_outcome((_fatal_review(job),))
            job = Job(job.order, ended_status(job.status, dispatch.localise(outcome), dispatch.clock.now()))
            dispatch.end(job)  # no lesson: it says nothing about other orders
            found.lost.append(job)
        elif job.status.state is not JobState.RUNNING:
            found.going.append(job)
        elif repeatable(job.order):
            job = Job(job.order, replace(job.status, state=JobState.PENDING, queued_at=stamp(dispatch.clock.now())))
            jobs.write_status(id, job.status, durable=False)  # found running, it is queued again
            found.going.append(job)
        else:
            job = lost_job(
                job.order, job.status, dispatch.clock, why or coded("runtime.worker_died"), dispatch.localise
            )
            if job.status.outcome is not None:
                dispatch.learn(job.order, job.status.outcome)
            dispatch.end(job)
            found.lost.append(job)
    return found
