"""The jobs of the agents of one home (calls): accepted durably, run in bounded threads, shown for a day after the end.

    HOME/.paos/jobs/job-N.jsonl   open, or ended a moment ago: the order, the statuses, the log
    HOME/.paos/done/job-N.jsonl   the same file later; never listed here
    HOME/.paos/calls/<day>.jsonl  a line for each end of that day (ended_jobs.py)

The order is durable before its id is returned; `running` before anything is done; the end is the last write, and is
published after it. A start ends a running job as lost, and runs a queued one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from worldfs.access.binding import Binding
from worldfs.base.clock import Clock, SystemClock, stamp
from worldfs.base.errors import Busy, NotFound, StorageError, WorldError
from worldfs.base.model import Cause, Job, JobState, JobStatus, Json, Order, Outcome
from worldfs.runtime.job_codec import read_job
from worldfs.runtime.job_store import JobStore, done_key, job_key
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import Wait

from .agent_job import (
    AgentJob,
    AgentJobContext,
    agent_job_of,
    binding_of,
    epoch_ms,
    error_line,
    error_text,
    log_line,
    result_text,
)
from .agent_job_recovery import FoundAgentJobs, recover
from .agent_job_table import AgentJobTable
from .ended_jobs import EndedJobs
from .job_numbers import JobNumbers
from .thread_pool import LanedThreadPool
from .timer_queue import TimerQueue

if TYPE_CHECKING:
    from worldfs.storage.store_interface import Store

WorkFunction = Callable[[AgentJobContext], Outcome]

DEADLINE_S: Final = 300.0
GRACE_S: Final = 10.0  # between the request to stop a run and its recorded end
OPEN_MOST: Final = 1_024  # calls of one agent that have not ended
LOG_MOST: Final = 1_000  # lines of one call
THREADS: Final = {"chat": 8, "invoke": 16}


class AgentWorker(NamedTuple):
    """How jobs of one kind are executed."""

    run: WorkFunction
    lane: Callable[[AgentJob], str]
    pool: LanedThreadPool


class AgentJobs:
    """Thread-safe. The cost does not grow with the number of ended jobs."""

    def __init__(self, store: Store, clock: Clock, feed: ChangeFeed, *, held: bool = False) -> None:
        """`held`: nothing runs before `start`."""
        self.clock, self.feed = clock, feed
        self.jobs = JobStore(store, clock)
        # Numbers of changes go on growing when a new process counts its feed from 0 again.
        self._base = epoch_ms(clock.now())
        self._lock = threading.RLock()
        self._table = AgentJobTable(clock)
        self._last_end = 0
        self._open: dict[str, int] = {}  # agent: calls that have not ended
        self._bindings: dict[str, Binding] = {}  # of open jobs of this process; tokens are kept only here
        self._waiting: dict[str, list[str]] = {}  # kind → queued jobs without a registered worker
        self._workers: dict[str, AgentWorker] = {}
        self._runs: dict[str, AgentJobContext] = {}
        self._ending: set[str] = set()  # a thread is writing their last line
        self._closed, self._held = False, held
        self.deadlines = TimerQueue(clock)
        self._shown = EndedJobs(self.jobs.store, self._put_away)
        found = recover(self.jobs, self._shown, clock, self._table.horizon())
        self.unreadable = found.unreadable  # files of calls that say nothing; left as they are
        self._counter = JobNumbers(self.jobs, found.highest)
        self._found(found)

    @classmethod
    def open(
        cls, home: Path | None, clock: Clock | None = None, feed: ChangeFeed | None = None, *, held: bool = False
    ) -> AgentJobs:
        """The jobs of an existing home directory; None: in memory only. `held`: nothing runs before `start`."""
        if home is None:
            from worldfs.storage.memory_store import MemoryStore

            return cls(MemoryStore(), clock or SystemClock(), feed or ChangeFeed(), held=held)
        from worldfs.storage.disk_store import DiskStore

        return cls(DiskStore(home), clock or SystemClock(), feed or ChangeFeed(), held=held)

    def close(self, timeout: float = GRACE_S) -> None:
        """Ask the running jobs to stop and wait; the next start ends the others as lost, and runs the queued ones."""
        with self._lock:
            self._closed = True
            runs = list(self._runs.values())
        for run in runs:
            run.ask(Cause.CANCELLED)
        until = self.clock.monotonic() + timeout
        for worker in self._workers.values():
            worker.pool.close(max(0.0, min(timeout, until - self.clock.monotonic())))
        self.deadlines.close()
        self._shown.flush()
        self.jobs.store.close()

    # -- asking ------------------------------------------------------------------------------------------------------

    def register(
        self,
        kind: str,
        run: WorkFunction,
        *,
        lane: Callable[[AgentJob], str] = lambda call: "",
        threads: int | None = None,
    ) -> None:
        """Register the work function of a kind; its queued jobs begin.

        `lane`: jobs of the same non-empty lane run one after the other, in order. `run` returns the
        outcome; an exception of it is a failed job. `threads`: at most so many at once; 0: each
        runs in the submitter's thread.
        """
        pool = LanedThreadPool(kind, THREADS.get(kind, 4) if threads is None else threads)
        with self._lock:
            self._workers[kind] = AgentWorker(run, lane, pool)
        if not self._held:
            self.start()

    def start(self) -> None:
        """Run the queued jobs, and from now on each new one at once. Needed after `held`."""
        with self._lock:
            self._held = False
            waiting = [id for kind in self._workers for id in self._waiting.pop(kind, [])]
        for id in waiting:
            self._begin(id)

    def submit(
        self,
        binding: Binding,
        kind: str,
        op: str,
        params: Json,
        *,
        correlation: str = "",
        place: str = "",
        file: str = "",
        deadline_s: float = DEADLINE_S,
    ) -> str:
        """The id of a new job, durable as queued. Raises `Busy` when too many of this agent have not ended."""
        with self._lock:
            if self._closed:
                raise Busy("this home is being closed", op="submit", fix="submit it again")
            if self._open.get(binding.agent, 0) >= OPEN_MOST:
                raise Busy(
                    f"{OPEN_MOST} jobs of agent {binding.agent!r} have not ended",
                    op="submit",
                    fix="wait for some of them to end",
                    code="queue_saturated",
                )
            self._open[binding.agent] = self._open.get(binding.agent, 0) + 1
        named = {"kind": kind, "project": binding.project, "correlation": correlation, "place": place, "file": file}
        extra = {name: value for name, value in named.items() if value or name == "kind"}
        first = Order("", binding.agent, op, params, asker=binding.role, sheet="", timeout_s=deadline_s, extra=extra)
        try:
            order = self._accepted(first)
        except BaseException:
            self._closed_one(binding.agent)
            raise
        call = agent_job_of(Job(order, JobStatus(accepted_at=stamp(self.clock.now()))))
        with self._lock:
            self._bindings[call.id] = binding
        self._table.enter(call)
        self._tell(call)
        self._begin(call.id)
        return call.id

    def cancel(self, binding: Binding, id: str) -> None:
        """Queued: it ends now. Running: it is asked to stop. Ended: nothing. Raises `NotFound`."""
        call = self.visible_job(binding, id)
        with self._lock:
            run = self._runs.get(id)
            mine = run is None and self._claimed(id)
        if run is not None:
            self._ask(id, run, Cause.CANCELLED)
        elif mine:
            self._settle(call, Outcome.failure(Cause.CANCELLED, "CANCELLED", "before it began"))

    # -- looking -----------------------------------------------------------------------------------------------------

    def ids(self, binding: Binding) -> list[str]:
        """The shown jobs of the binding's agent and project, oldest first."""
        return self._table.ids(binding)

    def visible_job(self, binding: Binding, id: str) -> AgentJob:
        """Raises `NotFound`, also for a job of another agent or project."""
        call = self._table.shown(binding, id)
        if call is None:
            raise NotFound(f"no job {id[:40]!r}", path=f"/agents/self/jobs/{id[:40]}", op="read")
        return call

    def known(self, binding: Binding, id: str) -> bool:
        return self._table.shown(binding, id) is not None

    def status(self, binding: Binding, id: str) -> bytes:
        """`status.json`, from memory."""
        return self.visible_job(binding, id).status()

    def result(self, binding: Binding, id: str) -> bytes:
        """`result.txt`, from the disk; empty before the end."""
        return result_text(self.outcome(self.visible_job(binding, id)))

    def log(self, binding: Binding, id: str) -> bytes:
        """`log.txt`: lines of JSON that the run wrote; the last line of a failed one says why."""
        call = self.visible_job(binding, id)
        data = self._file(id)
        lines = [
            line[7:-1] + b"\n" for line in data.split(b"\n") if line.startswith(b'{"log":') and line.endswith(b"}}")
        ]
        outcome = read_job(data, job_key(id)).status.outcome if call.over else None
        if outcome is not None and not outcome.ok:
            lines.append(error_line(id, outcome, call.updated_ms))
        return b"".join(lines)

    def job(self, id: str) -> Job:
        """The whole job, from the disk. Raises `NotFound`."""
        return read_job(self._file(id), job_key(id))

    def outcome(self, call: AgentJob) -> Outcome | None:
        """The outcome, from the disk; None before the end."""
        return self.job(call.id).status.outcome if call.over else None

    def latest(self, binding: Binding, place: str, file: str = "") -> AgentJob | None:
        """The newest job of this agent and project that came by a control of this directory."""
        id = self._table.latest(binding, place, file)
        if id is None:
            return None
        return self._table.get(id) or agent_job_of(
            self.job(id)
        )  # no longer shown, but still the latest of this control

    def ended(self, id: str) -> bool:
        """Whether it has ended, or does not exist."""
        call = self._table.get(id)
        return call is None or call.over

    def wait(self, id: str, timeout: float) -> Wait:
        """Until the end of a job."""
        call = self._table.get(id)
        return Wait(() if call is None else call.topics[:1], lambda: self.ended(id), timeout)

    def number(self) -> int:
        """The number of the last change so far; ends and publications count on from it."""
        with self._lock:
            return max(self._base + self.feed.seq, self._last_end)

    def number_of(self, seq: int) -> int:
        """The number of a publication of the feed."""
        return self._base + seq

    def seq_of(self, number: int) -> int:
        """The publication of the feed with that number; 0 for one before this process."""
        return max(0, number - self._base)

    def chat_end_after(self, binding: Binding, number: int, given: Callable[[str], bool]) -> AgentJob | None:
        """The job of the first end of a chat after `number` that was not delivered yet."""
        return self._table.chat_end_after(binding, number, given)

    def tick(self) -> float | None:
        """Run what is due by the clock: for tests with a manual clock."""
        self._table.forget_old()
        return self.deadlines.tick()

    # -- carrying out ------------------------------------------------------------------------------------------------

    def _accepted(self, order: Order) -> Order:
        while True:
            with self._lock:
                new = replace(order, id=self._counter.allocate())
            if self.jobs.accept([new])[0].new:  # else a foreign file has that name
                return new

    def _begin(self, id: str) -> None:
        with self._lock:
            call = self._table.get(id)
            worker = None if call is None else self._workers.get(call.kind)
            if call is not None and (worker is None or self._held):
                self._waiting.setdefault(call.kind, []).append(id)
                return
        if call is not None and worker is not None:
            worker.pool.put(lambda: self._run(id, worker.run), worker.lane(call))

    def _run(self, id: str, work: WorkFunction) -> None:
        call = self._table.get(id)
        if call is None or call.over:
            return
        try:
            job = self.job(id)
        except WorldError as error:
            self._end(call, Outcome.failure(Cause.ERROR, "BROKEN", str(error)))
            return
        seconds = job.order.timeout_s
        until = self.clock.monotonic() + seconds
        with self._lock:
            if self._closed or id in self._ending or self._over(id):
                return
            binding = self._bindings.get(id) or binding_of(job.order)
            run = self._runs[id] = AgentJobContext(
                id,
                job.order.op,
                job.order.params,
                binding,
                seconds,
                lambda: until - self.clock.monotonic(),
                _JobLogWriter(self, id, call.agent),
            )
        now = self.clock.now()
        status = replace(job.status, state=JobState.RUNNING, attempt=job.status.attempt + 1, started_at=stamp(now))
        try:
            self.jobs.write_status(id, status)  # durable before anything is done
        except WorldError as error:
            self._end(call, Outcome.failure(Cause.ERROR, "BROKEN", str(error)))
            return
        call = call._replace(state=JobState.RUNNING, updated_ms=epoch_ms(now))
        self._table.change(call)
        self._tell(call)
        self.deadlines.schedule(until, lambda: self._ask(id, run, Cause.TIMEOUT))
        self._end(call, _judged(_run_guarded(work, run), run))

    def _ask(self, id: str, run: AgentJobContext, why: Cause) -> None:
        if self._runs.get(id) is run:
            run.ask(why)
            self.deadlines.schedule(self.clock.monotonic() + GRACE_S, lambda: self._give_up(id, run))

    def _give_up(self, id: str, run: AgentJobContext) -> None:
        """It does not stop: record its end; what it does later is ignored."""
        call = self._table.get(id)
        if call is not None and self._runs.get(id) is run:
            outcome = Outcome.failure(Cause.ERROR, "", f"it was asked to stop and did not within {GRACE_S:g} s")
            self._end(call, _judged(outcome, run))

    def _end(self, call: AgentJob, outcome: Outcome) -> None:
        with self._lock:
            if not self._claimed(call.id):
                return
        self._settle(call, outcome)

    def _claimed(self, id: str) -> bool:
        """True for the one thread that may write the last line. Call with the lock."""
        if id in self._ending or self._over(id):
            return False
        self._ending.add(id)
        self._runs.pop(id, None)
        return True

    def _over(self, id: str) -> bool:
        call = self._table.get(id)
        return call is None or call.over

    def _settle(self, call: AgentJob, outcome: Outcome) -> None:
        now = self.clock.now()
        try:
            state = JobState.SUCCEEDED if outcome.ok else JobState.FAILED
            before = self.job(call.id).status
            self.jobs.write_status(call.id, replace(before, state=state, completed_at=stamp(now), outcome=outcome))
            kept = True
        except WorldError as error:  # the disk failed: waiters are notified now, a start ends it as lost
            state, kept = JobState.FAILED, False
            outcome = Outcome.failure(Cause.ERROR, "BROKEN", f"the end could not be written: {error}")
        with self._lock:
            self._last_end = self.number() + 1
            call = call._replace(state=state, error=error_text(outcome), updated_ms=epoch_ms(now), ended=self._last_end)
            self._table.change(call)
            self._ending.discard(call.id)
            self._bindings.pop(call.id, None)
            self._closed_one(call.agent)
        if kept:
            self._shown.add(call)
        self._tell(call)
        self._table.forget_old()

    def _closed_one(self, agent: str) -> None:
        with self._lock:
            self._open[agent] -= 1
            if not self._open[agent]:
                del self._open[agent]

    def _tell(self, call: AgentJob) -> None:
        self.feed.publish(*call.topics, kind=call.word, actor=call.agent)

    # -- the files ---------------------------------------------------------------------------------------------------

    def _found(self, found: FoundAgentJobs) -> None:
        """Load what a start found: by number, so that the newest of a control is the last; the ends in their order."""
        numbers: dict[str, int] = {}
        for call in found.ended:
            self._last_end = numbers[call.id] = max(self._last_end + 1, call.updated_ms)
        for call in found.ended:
            self._table.enter(call._replace(ended=numbers[call.id]))
        for call in found.queued:
            self._open[call.agent] = self._open.get(call.agent, 0) + 1
            self._waiting.setdefault(call.kind, []).append(call.id)
            self._table.enter(call)

    def _put_away(self, id: str) -> None:
        with suppress(WorldError):  # the next start does it again
            self.jobs.archive(id)

    def _file(self, id: str) -> bytes:
        for key in (job_key(id), done_key(id), job_key(id)):  # it may be moved between the first two reads
            stored = self.jobs.store.get(key)
            if stored is not None:
                return stored.data
        raise NotFound(f"no job {id!r}", path=id, op="read")


class _JobLogWriter:
    """Appends log lines of one job to its file; not durable."""

    def __init__(self, calls: AgentJobs, id: str, agent: str) -> None:
        self._calls, self._id, self._agent, self._count = calls, id, agent, 0

    def __call__(self, type: str, **fields: Any) -> None:
        self._count += 1
        if self._count > LOG_MOST or self._id not in self._calls._runs:
            return
        if self._count == LOG_MOST:
            type, fields = "cut", {"message": f"no more than {LOG_MOST} lines are kept"}
        line = log_line(type, epoch_ms(self._calls.clock.now()), request=self._id, **fields)
        with suppress(WorldError):
            self._calls.jobs.store.append(job_key(self._id), b'{"log":' + line[:-1] + b"}\n", durable=False)
            self._calls.feed.publish(f"/agents/{self._agent}/jobs/{self._id}/log.txt", kind="log", actor=self._agent)


def _run_guarded(work: WorkFunction, run: AgentJobContext) -> Outcome:
    try:
        return work(run)
    except StorageError as error:
        return Outcome.failure(Cause.ERROR, "BROKEN", str(error))
    except WorldError as error:
        return Outcome.failure(Cause.ERROR, "", str(error))
    except Exception as error:  # any error of a tool or a responder ends the job
        return Outcome.failure(Cause.ERROR, "", f"{type(error).__name__}: {error}")


def _judged(outcome: Outcome, run: AgentJobContext) -> Outcome:
    """A failure after a stop request is caused by it; a success remains a success."""
    if outcome.ok or run.why is None or outcome.cause is run.why:
        return outcome
    if run.why is Cause.TIMEOUT:
        seconds = run.seconds
        message = (
            f"timed out after {seconds:g} s: {outcome.message}" if outcome.message else f"timed out after {seconds:g} s"
        )
        return replace(outcome, cause=Cause.TIMEOUT, code="EXECUTION_TIMEOUT", message=message)
    return replace(outcome, cause=Cause.CANCELLED, code="CANCELLED", message=outcome.message or "asked to stop")
