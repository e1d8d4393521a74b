"""The open jobs by their files, and the robots that may move by them."""

from __future__ import annotations

from contextlib import suppress

from worldfs.base.errors import BadInput, NotFound, UserError, WorldError
from worldfs.base.messages import coded
from worldfs.base.model import Job, JobState
from worldfs.base.unknown_effect import may_move_on
from worldfs.tree.path import safe_name

from .job_store import JobStore, is_ended
from .stop_log import MayMove


def read_open(jobs: JobStore, id: str) -> Job | None:
    """A job by its open file; None: it has ended, or is gone. `UserError`: the file is unreadable."""
    if not safe_name(id):
        found, expected = coded("runtime.bad_id", id=id), coded("runtime.plain_name")
        raise BadInput(found, path=id, expected=expected)
    try:
        job = jobs.load(id)
    except NotFound:
        return None
    if jobs.ended(id):  # asked last: what was read may have come late, just after the job had been archived
        jobs.drop_copy(id)
        return None
    if job.order.id != id:
        found, expected = coded("runtime.other_id", id=job.order.id), coded("runtime.file_name")
        raise BadInput(found, path=id, expected=expected)
    return job


def left_moving(jobs: JobStore) -> dict[str, MayMove]:
    """The robots that carry an order out by the files of it, or may still move since one. What cannot be read here is
    an error where the jobs are recovered."""
    found: dict[str, MayMove] = {}
    with suppress(WorldError):
        for id in jobs.open_ids():
            with suppress(UserError):
                job = read_open(jobs, id)
                if job is not None and _moves(job):
                    known = job.status.simulated if job.status.driver else None
                    found[job.order.node] = MayMove(job.status.driver, id, known)
    return found


def _moves(job: Job) -> bool:
    if is_ended(job):
        return job.status.outcome is not None and may_move_on(job.status.outcome)
    return job.status.state is JobState.RUNNING
