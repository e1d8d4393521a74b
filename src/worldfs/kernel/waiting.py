"""Pending jobs under a condition: they wait for other jobs (D21), or for no longer than a time (D20)."""

from __future__ import annotations

from collections.abc import Container

from worldfs.ground.clock import Clock, parse_stamp
from worldfs.ground.errors import UserError
from worldfs.ground.model import Cause, Finding, Job, Outcome, State

from .dispatch import refusal
from .jobs import Jobs


class Waiting:
    """Asked before each choice. A dependency counts as met when its end says so, never because it is not in sight."""

    def __init__(self, jobs: Jobs, clock: Clock) -> None:
        self._jobs = jobs
        self._clock = clock
        self._unmet: dict[str, tuple[str, ...]] = {}
        self._waiting: dict[str, Job] = {}

    def add(self, job: Job) -> None:
        if job.order.depends_on or _limited(job):
            self._waiting[job.id] = job
            self._unmet[job.id] = job.order.depends_on

    def drop(self, id: str) -> None:
        """It starts, or it has ended."""
        self._waiting.pop(id, None)
        self._unmet.pop(id, None)

    def ready(self, job: Job) -> bool:
        return not self._unmet.get(job.id)

    def judge(self, open: Container[str]) -> list[tuple[Job, Outcome]]:
        """Those that must end now, and why. `open`: jobs that have not ended."""
        over = []
        for job in list(self._waiting.values()):
            outcome = self._too_late(job) or self._doomed(job, open)
            if outcome is not None:
                self.drop(job.id)
                over.append((job, outcome))
        return over

    def patience(self) -> float | None:
        """Seconds until the first of them has waited too long; None: no limit is near or far."""
        waits = [self._left(job) for job in self._waiting.values() if _limited(job)]
        return min((left for left in waits if left is not None), default=None)

    def _left(self, job: Job) -> float | None:
        since = parse_stamp(job.status.accepted_at)
        if since is None:
            return None
        return job.order.queue_timeout_s + 0.001 - (self._clock.now() - since).total_seconds()

    def _too_late(self, job: Job) -> Outcome | None:
        left = self._left(job) if _limited(job) else None
        if left is None or left >= 0.001:
            return None
        why = f"waited longer than {job.order.queue_timeout_s:g} s for its turn"
        return Outcome.failure(Cause.REJECTED, "QUEUE_TIMEOUT", why)

    def _doomed(self, job: Job, open: Container[str]) -> Outcome | None:
        unmet = []
        for other in self._unmet.get(job.id, ()):
            state = None if other in open else self._state(other)
            if state is State.FAILED:
                field = f"{job.order.sheet} {job.id} depends_on"
                fix = f"see why {other} failed, then submit both again under new ids"
                return refusal(
                    (Finding("DEPENDENCY_FAILED", field, f"{other} succeeded", f"{other} failed", fix, job.id),)
                )
            if state is not State.SUCCEEDED:
                unmet.append(other)
        self._unmet[job.id] = tuple(unmet)
        return None

    def _state(self, id: str) -> State:
        try:
            return self._jobs.load(id).status.state
        except UserError:  # its files are gone or say nothing: nobody can say that it succeeded
            return State.FAILED


def _limited(job: Job) -> bool:
    return bool(job.order.queue_timeout_s) and not job.status.attempt  # a retry has had its turn
