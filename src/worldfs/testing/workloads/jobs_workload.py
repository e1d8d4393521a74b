"""Workload of a job table: accepted, running, ended, cancelled, archived."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from worldfs.base.disk import Disk
from worldfs.base.model import Cause, Job, JobState, Order, Outcome
from worldfs.runtime.job_store import JobStore
from worldfs.storage.disk_store import DiskStore
from worldfs.testing.manual_clock import ManualClock

from . import View, Workload


def prepare(path: Path) -> None:
    pass


def run(path: Path, disk: Disk) -> Iterator[str]:
    store = DiskStore(path, disk)
    jobs = JobStore(store, ManualClock())
    jobs.accept([Order(f"job_{n}", "arm", "move_to", {"note": "x" * 900 * n}) for n in range(3)])
    yield "accepted three"
    jobs.accept([Order("late", "arm", "move_to", {}), Order("job_0", "arm", "open", {})])
    yield "accepted one, and one that is there"
    for n in range(2):
        running = jobs.load(f"job_{n}")
        jobs.write_status(running.id, replace(running.status, state=JobState.RUNNING, attempt=1))
        yield f"{n} is running"
    jobs.end(_ended(jobs.load("job_0"), Outcome.success("done")))
    yield "0 has ended"
    jobs.request_cancel("job_2", "operator")
    yield "2 is to be cancelled"
    jobs.accept([Order("after", "arm", "move_to", {})])
    yield "accepted after"
    jobs.end(_ended(jobs.load("job_2"), Outcome.failure(Cause.CANCELLED, "CANCELLED", "as asked")))
    yield "2 is cancelled"
    job = jobs.load("job_1")
    jobs.accept_ended(
        _ended(
            replace(job, order=replace(job.order, id="history")), Outcome.failure(Cause.LOST, "LOST", "found under way")
        )
    )
    yield "history"
    store.close()


def _ended(job: Job, outcome: Outcome) -> Job:
    state = JobState.SUCCEEDED if outcome.ok else JobState.FAILED
    return replace(job, status=replace(job.status, state=state, outcome=outcome))


def restart(path: Path, disk: Disk) -> Iterator[str]:
    """A kernel starts and runs every job that it finds."""
    store = DiskStore(path, disk)
    jobs = JobStore(store, ManualClock())
    _recover(jobs)
    for id in jobs.open_ids():
        job = jobs.load(id)
        jobs.write_status(id, replace(job.status, state=JobState.RUNNING, attempt=job.status.attempt + 1))
        yield f"{id} is running again"
    jobs.accept([Order("again", "arm", "move_to", {})])
    yield "accepted again"
    store.close()


def _recover(jobs: JobStore) -> None:
    """Recovery at a start: torn lines ended, ended jobs archived."""
    for id in jobs.open_ids():
        if jobs.ended(id):
            jobs.drop_copy(id)
            continue
        jobs.close_torn_line(id)
        if jobs.load(id).status.state.terminal:
            jobs.archive(id)


def inspect(path: Path) -> View:
    """The order and the state of each job, and the open ones with a pending cancel."""
    store = DiskStore(path)
    try:
        jobs = JobStore(store, ManualClock())
        _recover(jobs)
        table = {id: jobs.load(id) for id in {*jobs.open_ids(), *jobs.done_ids()}}
        found: dict[str, object] = {
            id: f"{job.order.op} {job.order.params} {job.status.state} {job.status.attempt} {job.status.outcome}"
            for id, job in table.items()
        }
        found["cancels"] = frozenset(id for id in jobs.cancel_requests() if not table[id].status.state.terminal)
        return found
    finally:
        store.close()


LIFE = Workload("jobs", prepare, run, restart, inspect)
