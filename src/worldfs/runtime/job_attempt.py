"""One attempt of a job: when it must stop, which thread writes its end, when it ends without its worker."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from worldfs.base.model import Cause, Job, JobState
from worldfs.base.stop_signal import StopSignal

from .grace import EARLY_END_S, Grace

if TYPE_CHECKING:
    from .stop_log import StopState

EDGE_S = 0.001  # of a moment that ends something: reached is not passed


@dataclass(slots=True)
class JobAttempt:
    """The thread that sets `over` first, the worker's or the scheduler's, writes the end."""

    job: Job
    lane: str = ""
    cancel: StopSignal = field(default_factory=StopSignal)
    review_s: float = inf  # how long its review may take
    review_ends: float = inf  # clock.monotonic() when it must have ended; inf: it has not begun
    deadline: float = 0.0  # clock.monotonic(); 0 until it runs
    since: float = 0.0  # clock.monotonic() when it was chosen
    over: bool = False
    closing: bool = False  # the runtime is closing: a job that has not begun stays pending
    left: bool = False  # the runtime closed without waiting for it: it must not write any more
    settled: bool = False  # the scheduler has taken note of its end
    shown: bool = False  # as running, in the sheet
    cancelled_at: float = inf  # clock.monotonic() when it was asked to stop
    begun: bool = False  # its worker may be executing it
    began_at: float = inf  # clock.monotonic() when its worker was given it
    returned_at: float = inf  # clock.monotonic() when its worker had returned from executing it
    stood: bool = False  # its robot is measured to stand since its end
    unwritten: bool = False  # its worker has returned, and the store refuses what it has to write of that
    halted: bool = False  # its driver's stop was called, because it did not return from an order that was to end
    stopped: StopState | None = None  # the stop of its node that came while it ran
    stopped_at: float = 0.0  # clock.monotonic() then
    lock: threading.Lock = field(default_factory=threading.Lock)
    again_at: float = 0.0  # clock.monotonic() before which no end is written without its worker: the store refused one
    broken: BaseException | None = None  # the storage error that ended it

    def claim_end(self) -> bool:
        with self.lock:
            first, self.over = not self.over, True
            return first

    def claim_late(self) -> bool:
        """The same, by the scheduler. A review that has just ended is not late: its worker begins."""
        with self.lock:
            if self.over or self.unwritten or (self.begun and not self.deadline):
                return False
            self.over = True
            return True

    @property
    def cancelled(self) -> bool:
        """Whether its submitter or an operator ended it early: no other attempt is made."""
        return self.cancelled_at < inf or self.stopped is not None

    @property
    def held(self) -> bool:
        """Whether it must not begin: its node was stopped, or the runtime closes. Its job stays pending."""
        return self.closing or self.stopped is not None

    def begin(self) -> bool:
        """The worker executes it next. False: it must not, as `held` says, or its job has ended without it."""
        with self.lock:
            self.begun = not self.held and not self.over
            return self.begun

    @property
    def is_noted(self) -> bool:
        """Whether its end is written, or it writes none any more."""
        return self.over and (self.left or self.job.status.state is not JobState.RUNNING)

    @property
    def executing(self) -> bool:
        """Whether its worker may be executing it now."""
        return self.begun and self.returned_at == inf

    def request_stop(self, now: float) -> bool:
        """Ask the worker to stop; False when the end is decided already."""
        with self.lock:
            if self.over:
                return False
            self.cancelled_at = min(self.cancelled_at, now)
        self.cancel.set()  # without the lock: what it calls may hang, and a stop must get past it
        return True

    def note_stop(self, stop: StopState, now: float) -> bool:
        """The node is stopped: the attempt ends as cancelled if it has begun, else the job is queued again.

        True: the caller sets `cancel` next; a thread that sees it can read `stopped`.
        """
        with self.lock:
            if self.over or self.stopped is not None:
                return False
            self.stopped, self.stopped_at = stop, now
            return True

    def abandon(self) -> None:
        """From now on the attempt writes no file, whatever its worker still does."""
        with self.lock:
            self.left = self.over = True

    def ends_at(self, grace: Grace) -> float:
        """When the job ends without its worker, as clock.monotonic(); inf: that has returned."""
        if self.unwritten:
            return inf
        if not self.deadline:
            return inf if self.begun else min(self.review_ends, self.cancelled_at) + grace.stop_s
        moments = [self.deadline + grace.stop_s]
        if self.stopped is not None:
            moments.append(self.stopped_at + grace.stop_s)
        if grace.cancel_s is not None:
            moments.append(self.cancelled_at + grace.cancel_s)
        return max(min(moments), self.again_at)

    @property
    def halts_at(self) -> float:
        """When the driver's stop is called for it, as clock.monotonic(), unless its worker has returned; inf: a stop of
        its node or the end of its time limit calls it."""
        if self.halted or self.over or self.stopped is not None or not self.executing:
            return inf
        halts = self.cancelled_at + EARLY_END_S
        return halts if halts < self.deadline + EARLY_END_S else inf

    @property
    def is_silent(self) -> bool:
        """Whether its job has ended without its worker, which has not returned."""
        return self.settled and not self.left

    def unclaim_end(self, again_at: float) -> None:
        """The store refused the end: who claims it next, the worker or the scheduler from then on, writes it."""
        with self.lock:
            self.over, self.again_at = False, again_at

    def late_cause(self, grace: Grace) -> Cause:
        """Why a job ends without its worker."""
        return Cause.CANCELLED if grace.cancel_s is not None and self.cancelled_at < self.deadline else Cause.TIMEOUT
