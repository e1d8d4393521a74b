"""The open jobs of one root: which wait, which are ready, which run. One at a time in each lane."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import timedelta
from functools import partial
from math import inf
from typing import Final, NamedTuple

from worldfs.base.clock import Clock, stamp
from worldfs.base.errors import StorageError
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Job, JobState, Outcome

from .deferred_jobs import DeferredJobs
from .dispatch import Dispatcher
from .grace import BODY, Grace
from .job_attempt import JobAttempt
from .job_end import ended_status
from .job_store import is_ended
from .ready_queue import ReadyQueue
from .worker import Worker

Log = Callable[[str, Job], None]
AGAIN_S: Final = 1.0  # after a write that the store refused


def raise_broken(attempt: JobAttempt, error: BaseException) -> None:
    """A store that refuses a line of a job, for good, ends the runtime; the files say where it stood."""
    if isinstance(error, Exception):
        said = coded("runtime.not_written", id=attempt.job.id, why=str(error))
        raise StorageError(said, op="run") from error
    raise error


class LaneRules(NamedTuple):
    """What differs between runtimes: which lanes there are, and who does their work."""

    lane_of: Callable[[Job], str]
    worker_of: Callable[[str], Worker]  # of a lane
    start: Callable[[str, Callable[[], None]], None]  # do this in a thread of the lane
    broken: Callable[[JobAttempt, BaseException], None] = raise_broken  # the store refused a line of a job
    goes_on: Callable[[BaseException], bool] = lambda error: False  # whether such a line is tried again later
    serial: Callable[[str], bool] = lambda lane: True  # whether the jobs of a lane run one after the other
    able: Callable[[str], bool] = lambda lane: True  # whether a lane may begin a job now
    ready: Callable[[Job], bool] = lambda job: True  # whether a job may begin now
    gate: Callable[[], AbstractContextManager[object]] = nullcontext  # held while `able` is asked for the last time
    unconfirmed: Callable[[JobAttempt], Outcome] | None = None  # the end of an attempt that a stop did not end in time
    halt: Callable[[JobAttempt], None] = lambda attempt: None  # it was to end, and its worker has not returned
    hung: Callable[[JobAttempt], str] | None = None  # a review did not return in time: the name of what hangs in it
    grace: Grace = BODY
    withdrawn: str = ""  # what a job that had not begun says of its cancelling; "": that it was cancelled


class OpenJobs:
    """Not locked: the caller makes one call at a time. Threads of workers only append to what `collect` reads.

    `log` hears "accepted", "started", "retry" and "ended"; `changed` hears what a sheet would show differently.
    """

    def __init__(
        self,
        dispatch: Dispatcher,
        rules: LaneRules,
        *,
        done: Callable[[], None],
        log: Log = lambda what, job: None,
        changed: Callable[[Job], None] = lambda job: None,
    ) -> None:
        """`done`: called from a worker's thread when there is something to collect."""
        self.dispatch, self.rules, self.jobs = dispatch, rules, dispatch.jobs
        self.clock: Clock = dispatch.clock
        self._done, self._log, self._changed = done, log, changed
        self.table: dict[str, Job] = {}
        self.queue = ReadyQueue(rules.lane_of)
        self.running: dict[str, JobAttempt] = {}  # by lane; by id in a lane that is not serial
        self.finished: deque[JobAttempt] = deque()
        self._deferred = DeferredJobs(self.jobs, self.clock)
        # Asked for while a thread was writing the end of an attempt, or before a job is followed to its end.
        self._cancel_late: set[str] = set()
        self._unwritten: dict[str, tuple[Job, Outcome]] = {}  # ends that the store refused, of jobs that do not run
        self._write_at = 0.0  # clock.monotonic() when these are tried again

    def __contains__(self, id: object) -> bool:
        return id in self.table

    def awaits(self, id: str) -> bool:
        """Whether an open job depends on that one, which is not among the open ones here: another runtime has it."""
        return id not in self.table and self._deferred.awaits(id)

    def awaited(self) -> list[str]:
        return [id for id in self._deferred.awaited() if id not in self.table]

    def ended_elsewhere(self, ids: Iterable[str]) -> None:
        """Other runtimes' jobs may have ended: what depends on one that has may start, or fails with it."""
        for id in ids:
            for freed in self._deferred.look_again(id):
                self.queue.add(freed)

    def enter(self, job: Job) -> None:
        """A job that was accepted, or found pending."""
        self.table[job.id] = job
        self._log("accepted", job)
        self._line_up(job)
        self._changed(job)

    def hold(self, job: Job) -> None:
        """A job that is shown and can be cancelled, and that this runtime does not begin."""
        self.table[job.id] = job
        self._changed(job)

    def cancel(self, id: str) -> bool:
        """Cancel in every state but an end; a running worker is asked to stop. False: no such job is open."""
        job = self.table.get(id)
        if job is None:
            return False
        if id in self._unwritten:
            return True
        for attempt in self.running.values():
            if attempt.job.id == id and not attempt.settled:
                if not attempt.request_stop(self.clock.monotonic()) or attempt.stopped is not None:
                    self._cancel_late.add(id)
                return True
        if self.dispatch.followed(job.order):
            self._cancel_late.add(id)
            return True
        self.end(
            job,
            Outcome.failure(Cause.CANCELLED, "CANCELLED", self.rules.withdrawn or coded("runtime.cancelled_before")),
        )
        return True

    def end(self, job: Job, outcome: Outcome) -> None:
        """End a job that is not running."""
        ended = replace(job, status=ended_status(job.status, self.dispatch.localise(outcome), self.clock.now()))
        self.queue.drop(job)  # first: it begins no more, also where its end has to wait for room
        self._deferred.drop(job.id)
        try:
            self.dispatch.end(ended)
        except Exception as error:
            if not self.rules.goes_on(error):
                raise
            self.table[job.id], self._unwritten[job.id] = job, (job, outcome)
            self._write_at = self.clock.monotonic() + AGAIN_S
            return
        self._unwritten.pop(job.id, None)
        self._gone(ended)
        self._changed(ended)

    def start(self) -> bool:
        """Start what may start; True if a job was started or ended."""
        if self._unwritten and self.clock.monotonic() >= self._write_at:
            for job, outcome in list(self._unwritten.values()):
                self.end(job, outcome)
        over = self._deferred.take_ended()
        for job, outcome in over:
            if job.id in self.table:
                self.queue.drop(job)
                try:
                    self.end(job, outcome)
                except Exception as error:
                    self._break(JobAttempt(job), error)
        chosen = self.queue.choose(self.running, self.clock.now(), self.rules.able, self.rules.ready)
        return sum(map(self._begin, chosen)) > 0 or bool(over)

    def collect(self) -> bool:
        """Take note of the attempts that have ended, and of the workers that have returned."""
        forward = False
        while self.finished:
            forward = True
            attempt = self.finished.popleft()
            key = attempt.lane if self.rules.serial(attempt.lane) else attempt.job.id
            if self.running.get(key) is attempt:
                del self.running[key]
            if attempt.broken is not None:
                if self._put_off(attempt, attempt.broken):
                    continue
                self._break(attempt, attempt.broken)
                continue
            if not attempt.settled and not attempt.left:
                self._settle(attempt)
            elif attempt.stopped is not None and not attempt.settled and not attempt.closing:
                self._wait_again(attempt)
        return forward

    @property
    def unsettled(self) -> bool:
        """Whether another `collect` or `start` may have something to do at once."""
        return bool(self.finished) or self.queue.waiting

    def all_wait(self, held: set[str]) -> bool:
        """Whether there are open jobs, and each is `held`, itself or by its dependencies."""
        while more := {id for id in self.table.keys() - held if not held.isdisjoint(self._deferred.waits_for(id))}:
            held = held | more
        return bool(held) and held == self.table.keys()

    def overdue(self) -> None:
        """A worker that does not stop in time: its job ends without it, its lane stays busy until it returns."""
        now, rules = self.clock.monotonic(), self.rules
        for attempt in list(self.running.values()):
            if now > attempt.halts_at:
                attempt.halted = True
                rules.halt(attempt)
            if now <= attempt.ends_at(rules.grace) or not attempt.claim_late():
                continue
            try:
                if not attempt.begun and rules.hung is not None:
                    self.dispatch.end_unreviewed(attempt, rules.hung(attempt))
                    self._settle(attempt)
                    self.running.pop(attempt.lane, None)
                    continue
                stopped = attempt.stopped is not None and now > attempt.stopped_at + rules.grace.stop_s
                if stopped and rules.unconfirmed is not None:
                    self.dispatch.write_end(attempt, rules.unconfirmed(attempt))
                else:
                    self.dispatch.end_without_worker(
                        attempt, rules.worker_of(attempt.lane), attempt.late_cause(rules.grace)
                    )
            except Exception as error:
                if rules.goes_on(error):
                    attempt.unclaim_end(now + AGAIN_S)
                else:
                    self._break(attempt, error)
            else:
                self._settle(attempt)

    def close(self) -> None:
        """Ask the running jobs to stop; those that have not begun stay pending."""
        for attempt in self.running.values():
            attempt.closing = True
            attempt.request_stop(self.clock.monotonic())

    def abandon(self) -> None:
        """What still runs writes no file from now on."""
        for attempt in self.running.values():
            attempt.abandon()

    def patience(self) -> float | None:
        """Seconds until the end of a grace, a limit or a retry; None: until something happens."""
        now, waits = self.clock.monotonic(), []
        for attempt in self.running.values():
            moment = min(attempt.ends_at(self.rules.grace), attempt.halts_at)
            if not attempt.over and moment < inf:  # under review there is no end: the caller is woken after it
                waits.append(moment - now)
        due = self.next_due()
        if due is not None:
            waits.append(due)
        return None if not waits else max(0.0, min(waits))

    def next_due(self) -> float | None:
        """Seconds until `start` has something to do though nothing else happens: a limit in the queue, a retry."""
        limit, due = self._deferred.next_timeout(), self.queue.next_due()
        if self._unwritten:
            again = max(0.0, self._write_at - self.clock.monotonic())
            limit = again if limit is None else min(limit, again)
        if due is None:
            return limit
        left = (due - self.clock.now()).total_seconds()
        return left if limit is None else min(left, limit)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _line_up(self, job: Job) -> None:
        if not self._deferred.add(job, self.table):
            self.queue.add(job)

    def _begin(self, job: Job) -> bool:
        lane, rules = self.queue.lane(job), self.rules
        attempt = JobAttempt(job, lane, since=self.clock.monotonic())
        with rules.gate():
            if not rules.able(lane):
                return False  # since it was chosen
            self.running[lane if rules.serial(lane) else job.id] = attempt
        self.queue.drop(job)
        self._deferred.drop(job.id)
        self._cancel_again(job)
        self._log("started", job)
        rules.start(lane, partial(self._run, attempt, rules.worker_of(lane)))
        return True

    def _run(self, attempt: JobAttempt, worker: Worker) -> None:
        self.dispatch.run(attempt, worker)
        self.finished.append(attempt)
        self._done()

    def _break(self, attempt: JobAttempt, error: BaseException) -> None:
        if not attempt.settled:
            attempt.settled = True
            self.table.pop(attempt.job.id, None)
            self._deferred.on_end(attempt.job.id, ok=False)
        self.rules.broken(attempt, error)

    def _put_off(self, attempt: JobAttempt, error: BaseException) -> bool:
        """An attempt whose first line was refused has moved nothing: its job is queued again."""
        job = attempt.job
        if attempt.over or attempt.settled or job.status.state is not JobState.PENDING or not self.rules.goes_on(error):
            return False
        attempt.settled = True
        if attempt.cancelled_at < inf and attempt.stopped is None and not attempt.closing:
            self._cancel_late.add(job.id)
        later = stamp(self.clock.now() + timedelta(seconds=AGAIN_S))
        job = self.table[job.id] = replace(job, status=replace(job.status, not_before=later))
        self.queue.add(job)
        self._cancel_again(job)
        return True

    def _wait_again(self, attempt: JobAttempt) -> None:
        """The node was stopped before the attempt began."""
        attempt.settled = True
        self._line_up(attempt.job)
        self._cancel_again(attempt.job)

    def _settle(self, attempt: JobAttempt) -> None:
        """Its end, or its next attempt, is written."""
        job, attempt.settled = attempt.job, True
        if is_ended(job):
            self._gone(job)
        else:
            self.table[job.id] = job
            self.queue.add(job)
            self._log("retry", job)
        self._changed(job)
        self._cancel_again(job)

    def _cancel_again(self, job: Job) -> None:
        if job.id in self._cancel_late:
            self._cancel_late.discard(job.id)
            self.cancel(job.id)

    def _gone(self, job: Job) -> None:
        """The job has ended: its dependents may start, or fail with it."""
        self.table.pop(job.id, None)
        self._log("ended", job)
        for freed in self._deferred.on_end(job.id, ok=job.status.state is JobState.SUCCEEDED):
            self.queue.add(freed)
