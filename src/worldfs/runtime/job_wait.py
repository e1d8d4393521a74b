"""The wait for the end of a job: woken by the job's file, by a stop of a node, and by the end of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from worldfs.base.stop_signal import StopSignal
from worldfs.storage.lease import KERNEL_LEASE, RELEASE_S

from .job_store import JobStore, is_ended, job_key
from .stop_log import STOPS

if TYPE_CHECKING:
    from worldfs.base.model import JobStatus


def wait_for_end(
    jobs: JobStore,
    id: str,
    *,
    timeout: float | None = None,
    wakes: tuple[StopSignal, ...] = (),
    keys: tuple[str, ...] = (),
    give_up: Callable[[JobStatus], bool] = lambda status: False,
) -> JobStatus:
    """Block until the job has ended, `timeout` seconds have passed or `give_up(status)` holds; its status then.

    `give_up` is asked first, and whenever the job, a stop, the kernel's lock, one of `wakes` or what is stored at
    `keys` changed; it may raise.
    Nothing is looked at in between. Raises `NotFound` for an unknown job.
    """
    clock = jobs.clock
    until = None if timeout is None else clock.monotonic() + timeout
    again: float | None = None
    with ExitStack() as stack:
        watch = stack.enter_context(jobs.store.watch(job_key(id), STOPS, KERNEL_LEASE, *keys))
        for signal in wakes:
            stack.enter_context(signal.calling(watch.wake))
        while True:
            job = jobs.load(id)
            if is_ended(job) or give_up(job.status):
                return job.status
            left = None if until is None else until - clock.monotonic()
            if left is not None and left <= 0:
                return job.status
            changes = watch.read(min((s for s in (left, again) if s is not None), default=None))
            again = RELEASE_S if any(change.key == KERNEL_LEASE for change in changes) else None
