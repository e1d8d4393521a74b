"""Pending jobs that wait for other jobs (workspace D21), or have a limit on their waiting time (workspace D20).

A waiting job costs work when it is added and when it ends, not while it waits: ends are pushed, limits are in a heap.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Container
from datetime import datetime, timedelta

from worldfs.base.clock import Clock, parse_stamp
from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Job, JobState, Outcome

from .job_end import refusal_outcome
from .job_store import JobStore

_EDGE = timedelta(milliseconds=1)  # of a limit: reached is not passed


class DeferredJobs:
    """A dependency is met only by its recorded success, never because its job is not among the open ones."""

    def __init__(self, jobs: JobStore, clock: Clock) -> None:
        self._jobs = jobs
        self._clock = clock
        self._unmet: dict[str, set[str]] = {}  # id → what it still waits for
        self._followers: dict[str, list[Job]] = {}  # id → jobs that depend on it
        self._limited: dict[str, Job] = {}
        self._limits: list[tuple[datetime, str]] = []  # heap; ids of dropped jobs are skipped
        self._doomed: list[tuple[Job, Outcome]] = []

    def add(self, job: Job, open: Container[str]) -> bool:
        """Whether the job must wait; `on_end` returns it later. `open`: jobs that have not ended."""
        since = parse_stamp(job.status.accepted_at)
        if job.order.queue_timeout_s and not job.status.attempt and since is not None:  # not for a retry
            self._limited[job.id] = job
            heapq.heappush(self._limits, (since + timedelta(seconds=job.order.queue_timeout_s), job.id))
        unmet: set[str] = set()
        for other in job.order.depends_on:
            state = None if other in open else self._state(other)
            if state is JobState.FAILED:
                self._doom(job, other)
                return True
            if state is not JobState.SUCCEEDED:
                unmet.add(other)
        for other in unmet:
            self._followers.setdefault(other, []).append(job)
        if unmet:
            self._unmet[job.id] = unmet
        return bool(unmet)

    def waits_for(self, id: str) -> Collection[str]:
        """The jobs that must succeed before this one may start."""
        return self._unmet.get(id, ())

    def drop(self, id: str) -> None:
        """The job starts, or has ended."""
        self._unmet.pop(id, None)
        self._limited.pop(id, None)

    def on_end(self, id: str, *, ok: bool) -> list[Job]:
        """The jobs that can start after the end of `id`. If it failed, `take_ended` returns its dependents."""
        free = []
        for job in self._followers.pop(id, ()):
            unmet = self._unmet.get(job.id)
            if unmet is None:
                continue  # cancelled, or doomed by another
            unmet.discard(id)
            if not ok:
                self._doom(job, id)
            elif not unmet:
                del self._unmet[job.id]
                free.append(job)
        return free

    def awaits(self, id: str) -> bool:
        return id in self._followers

    def awaited(self) -> list[str]:
        return list(self._followers)

    def look_again(self, id: str) -> list[Job]:
        """As `on_end`, if the job has ended by its file."""
        state = self._state(id)
        return self.on_end(id, ok=state is JobState.SUCCEEDED) if state.terminal else []

    def take_ended(self) -> list[tuple[Job, Outcome]]:
        """The jobs that must end now, each with its outcome."""
        ends, self._doomed = self._doomed, []
        now = self._clock.now()
        while self._limits and self._limits[0][0] < now:
            job = self._limited.pop(heapq.heappop(self._limits)[1], None)
            if job is not None:
                self.drop(job.id)
                why = coded("runtime.queue_timeout", s=job.order.queue_timeout_s)
                ends.append((job, Outcome.failure(Cause.REJECTED, "QUEUE_TIMEOUT", why)))
        return ends

    def next_timeout(self) -> float | None:
        """Seconds until the first limit is reached; None: no job has a limit."""
        while self._limits and self._limits[0][1] not in self._limited:
            heapq.heappop(self._limits)
        if self._doomed:
            return 0.0
        return (self._limits[0][0] + _EDGE - self._clock.now()).total_seconds() if self._limits else None

    def _doom(self, job: Job, other: str) -> None:
        self.drop(job.id)
        field = f"{job.order.sheet} {job.id} depends_on"
        fix = coded("runtime.see_why", id=other)
        expected, found = coded("runtime.succeeded", id=other), coded("runtime.failed", id=other)
        finding = Finding("DEPENDENCY_FAILED", field, expected, found, fix, job.id)
        self._doomed.append((job, refusal_outcome((finding,))))

    def _state(self, id: str) -> JobState:
        try:
            return self._jobs.load(id).status.state
        except UserError:  # its files are missing or unreadable: its success is not recorded
            return JobState.FAILED
