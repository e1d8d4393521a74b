"""The runtime of the agents' jobs: their open jobs, run by the workers of their kinds, and what became of each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from worldfs.access.binding import Binding
from worldfs.base.clock import parse_stamp
from worldfs.base.errors import WorldError
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, Job, JobState, Outcome
from worldfs.runtime.dispatch import Dispatcher
from worldfs.runtime.grace import AGENT
from worldfs.runtime.job_attempt import EDGE_S, JobAttempt
from worldfs.runtime.job_end import ended_status
from worldfs.runtime.job_recovery import recover
from worldfs.runtime.job_store import JobStore
from worldfs.runtime.open_jobs import LaneRules, OpenJobs
from worldfs.runtime.worker_threads import WorkerThreads
from worldfs.tree.change_feed import ChangeFeed

from .agent_job import AgentJob, AgentJobContext, agent_job_of, binding_of, epoch_ms, error_text, is_agent_order
from .agent_job_table import AgentJobTable
from .agent_worker import AgentWorker, WorkFunction
from .change_numbers import ChangeNumbers
from .ended_jobs import EndedJobs
from .job_log import JobLog
from .timer_queue import TimerQueue

THREADS: Final = {"chat": 8, "invoke": 16}
LOST: Final = "the server died while it ran; it may have acted, so it is not repeated"


class AgentRuntime:
    """Thread-safe. It keeps the rows of `table` true, and publishes each change after it can be read."""

    def __init__(
        self,
        jobs: JobStore,
        feed: ChangeFeed,
        table: AgentJobTable,
        numbers: ChangeNumbers,
        ended: Callable[[str], None],
        *,
        held: bool,
    ) -> None:
        """`ended`: called with the agent of each job that has ended. `held`: nothing runs before `start`."""
        self.jobs, self.clock, self.feed = jobs, jobs.clock, feed
        self._table, self._numbers, self._agent_ended = table, numbers, ended
        self._lock = threading.RLock()
        self._bindings: dict[str, Binding] = {}  # of open jobs of this process; tokens are kept only here
        self._waiting: dict[str, list[Job]] = {}  # kind → queued jobs without a registered worker
        self._workers: dict[str, AgentWorker] = {}
        self._contexts: dict[str, AgentJobContext] = {}  # of the jobs that run
        self._changed: list[tuple[AgentJob, bool]] = []  # to be published once the lock is free; whether they are kept
        self._advancing, self._closed, self._held = False, False, held
        self.deadlines = TimerQueue(self.clock)
        self._shown = EndedJobs(jobs.store, self._put_away)
        dispatch = Dispatcher(
            jobs,
            self.clock,
            end=self._write_end,
            localise=lambda outcome: outcome,
            learn=lambda order, outcome: None,
            running=self._is_running,
        )
        rules = LaneRules(
            lane_of=self._lane_of,
            worker_of=self._worker_of,
            start=lambda lane, work: self._worker_of(lane).threads.submit(work),
            broken=self._broken,
            serial=lambda lane: "/" in lane,
            able=self._able,
            grace=AGENT,
            withdrawn="before it began",
        )
        self._jobs = OpenJobs(dispatch, rules, done=self._advance, log=self._log)

    def register(self, kind: str, run: WorkFunction, lane: Callable[[AgentJob], str], threads: int | None) -> None:
        """Jobs of this kind are run by `run` from now on, also those that were found queued."""
        made = WorkerThreads(kind, THREADS.get(kind, 4) if threads is None else threads)
        with self._lock:
            self._workers[kind] = AgentWorker(run, lane, made, self._contexts.__getitem__)
            held = self._held
        if not held:
            self.start()

    def start(self) -> None:
        """Run the queued jobs, and from now on each new one at once."""
        with self._lock:
            self._held = False
            for kind in self._workers:
                for job in self._waiting.pop(kind, []):
                    self._jobs.enter(job)
        self._advance()

    def enter(self, job: Job, binding: Binding) -> None:
        """A job that was accepted."""
        call = agent_job_of(job)
        with self._lock:
            self._bindings[call.id] = binding
            self._table.enter(call)
            if call.kind in self._workers and not self._held:
                self._jobs.enter(job)
            else:
                self._waiting.setdefault(call.kind, []).append(job)
        self._publish(call)
        self._advance()

    def cancel(self, call: AgentJob) -> None:
        """Queued: it ends now. Running: it is asked to stop. Ended: nothing."""
        with self._lock:
            context = self._contexts.get(call.id)
            if context is not None:
                context.ask(Cause.CANCELLED)
                self.deadlines.schedule(self.clock.monotonic() + AGENT.stop_s + EDGE_S, self._overdue)
            waiting = self._waiting.get(call.kind, [])
            for job in [job for job in waiting if job.id == call.id]:
                waiting.remove(job)
                self._jobs.enter(job)
            self._jobs.cancel(call.id)
        self._advance()

    def close(self, timeout: float) -> None:
        """Ask the running jobs to stop and wait; the next start ends the others as lost, and runs the queued ones."""
        with self._lock:
            self._closed = True
            for context in self._contexts.values():
                context.ask(Cause.CANCELLED)
            self._jobs.close()
        until = self.clock.monotonic() + timeout
        for worker in self._workers.values():
            worker.threads.close(max(0.0, min(timeout, until - self.clock.monotonic())))
        with self._lock:
            self._jobs.abandon()
        self.deadlines.close()
        self._shown.flush()

    def recover(self) -> tuple[list[AgentJob], tuple[str, ...]]:
        """Load what an earlier process left: the jobs, queued ones last, and the ids of unreadable files.

        By number, so that the newest of a control is the last; the ends in their order. The cost grows with open and
        shown jobs.
        """
        horizon, unreadable = self._table.horizon(), list[str]()
        shown = {call.id: call for call in self._shown.read(horizon)}
        found = recover(
            self._jobs.dispatch, unreadable=lambda id, error: unreadable.append(id), ours=is_agent_order, why=LOST
        )
        for job in (*found.ended, *found.lost):
            shown[job.id] = agent_job_of(job)
            self._shown.add(shown[job.id])
        self._shown.flush()
        for call in sorted(shown.values(), key=lambda call: (call.updated_ms, call.number)):
            if call.updated_ms > horizon:
                self._table.enter(call._replace(ended=self._numbers.earlier_end(call.updated_ms)))
        queued = sorted(found.going, key=lambda job: agent_job_of(job).number)
        for job in queued:
            call = agent_job_of(job)
            self._waiting.setdefault(call.kind, []).append(job)
            self._table.enter(call)
        return [*shown.values(), *map(agent_job_of, queued)], tuple(unreadable)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _lane_of(self, job: Job) -> str:
        """`KIND`, beside all others, or `KIND/LANE`."""
        call = agent_job_of(job)
        lane = self._workers[call.kind].lane(call) if call.kind in self._workers else ""
        return f"{call.kind}/{lane}" if lane else call.kind

    def _worker_of(self, lane: str) -> AgentWorker:
        return self._workers[lane.partition("/")[0]]

    def _able(self, lane: str) -> bool:
        """Whether a thread of its worker is free."""
        if self._closed:
            return False
        worker = self._worker_of(lane)
        busy = sum(self._worker_of(attempt.lane) is worker for attempt in self._jobs.running.values())
        return not worker.threads.size or busy < worker.threads.size

    def _advance(self) -> None:
        """Start what may start, note what has ended, and publish it. From any thread."""
        with self._lock:
            if not self._advancing:  # else this is called by what is called below, which goes on
                self._advancing = True
                try:
                    while (self._jobs.collect() | self._jobs.start()) and self._jobs.unsettled:
                        pass
                finally:
                    self._advancing = False
            due = self._jobs.next_due()
            if due is not None:
                self.deadlines.schedule(self.clock.monotonic() + due, self._advance)
            changed, self._changed = self._changed, []
        for call, kept in changed:
            if kept:
                self._shown.add(call)
            self._publish(call)
        self._table.forget_old()

    def _is_running(self, attempt: JobAttempt) -> None:
        """Called from the worker's thread, before the work."""
        order, id = attempt.job.order, attempt.job.id
        with self._lock:
            call = self._table.get(id)
            if call is None or attempt.over:
                return
            self._contexts[id] = AgentJobContext(
                id,
                order.op,
                order.params,
                self._bindings.get(id) or binding_of(order),
                order.timeout_s,
                lambda: attempt.deadline - self.clock.monotonic(),
                JobLog(self.jobs, self.feed, id, call.agent, lambda: not attempt.over),
                order.priority,
                attempt.job.status.attempt,
                attempt.cancel,
                Cause.CANCELLED if attempt.cancel.is_set() else None,
                partial(self._seal, attempt),
            )
            call = call._replace(state=JobState.RUNNING, updated_ms=_ms(attempt.job.status.started_at))
            self._table.change(call)
        self._publish(call)
        self.deadlines.schedule(attempt.deadline, partial(self._time_is_up, attempt))

    def _time_is_up(self, attempt: JobAttempt) -> None:
        with self._lock:
            context = self._contexts.get(attempt.job.id)
            if context is None or attempt.over:
                return
            context.ask(Cause.TIMEOUT)
        self.deadlines.schedule(attempt.deadline + AGENT.stop_s + EDGE_S, self._overdue)

    def _overdue(self) -> None:
        """A job whose run does not stop ends without it; what the run does later is ignored."""
        with self._lock:
            self._jobs.overdue()
        self._advance()

    def _log(self, what: str, job: Job) -> None:
        """What happens to a job, with the lock held."""
        call = self._table.get(job.id)
        if call is None or what not in ("ended", "retry"):
            return
        self._contexts.pop(job.id, None)
        status = job.status
        if what == "retry":
            call = call._replace(state=status.state, updated_ms=_ms(status.queued_at))
            self._table.change(call)
            self._changed.append((call, False))
        else:
            self._over(call, status.outcome, _ms(status.completed_at), kept=True)

    def _broken(self, attempt: JobAttempt, error: BaseException) -> None:
        """The disk refused a line: those who wait are notified now; a start ends it as lost if it had begun."""
        if not isinstance(error, WorldError):
            raise error
        job, call = attempt.job, self._table.get(attempt.job.id)
        if job.status.state is JobState.PENDING:
            with suppress(WorldError):
                self._jobs.end(job, Outcome.failure(Cause.ERROR, "BROKEN", error_message(error)))
                return
        self._contexts.pop(job.id, None)
        if call is not None:
            lost = Outcome.failure(Cause.ERROR, "BROKEN", coded("world.end_not_written", why=error_message(error)))
            self._over(call, lost, epoch_ms(self.clock.now()), kept=False)

    def _over(self, call: AgentJob, outcome: Outcome | None, at_ms: int, *, kept: bool) -> None:
        state = JobState.SUCCEEDED if outcome is not None and outcome.ok else JobState.FAILED
        call = call._replace(state=state, error=error_text(outcome), updated_ms=at_ms, ended=self._numbers.next_end())
        self._agent_ended(call.agent)  # first: a caller that reads the end may submit another job
        self._table.change(call)
        self._bindings.pop(call.id, None)
        self._changed.append((call, kept))

    def _publish(self, call: AgentJob) -> None:
        self.feed.publish(*call.topics, kind=call.word, actor=call.agent)

    def _seal(self, attempt: JobAttempt, outcome: Outcome) -> None:
        """A start that finds the job open ends it so, and not as lost. Its own end is written later, over this one."""
        with attempt.lock:
            if attempt.over or attempt.left:
                return
            self.jobs.write_status(attempt.job.id, ended_status(attempt.job.status, outcome, self.clock.now()))

    def _write_end(self, job: Job) -> None:
        """Durable when it returns; the file is moved with the next group of ended jobs."""
        self.jobs.write_status(job.id, job.status)

    def _put_away(self, id: str) -> None:
        with suppress(WorldError):  # the next start does it again
            self.jobs.archive(id)


def _ms(at: str) -> int:
    return epoch_ms(parse_stamp(at))
