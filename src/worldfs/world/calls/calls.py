"""Calls: the jobs of agents of one home, accepted durably, run in bounded threads, shown for a day after their end.

    HOME/.paos/jobs/job-N.jsonl   open, or ended within a day: the order, the kernel's words, the log
    HOME/.paos/done/job-N.jsonl   the same file later; nothing here ever looks at all of them

The order is durable before anybody is told its id; `running` before anything is done; the end is the last write, and is
published after it. Found running by a start: failed, lost. Found queued: run.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from worldfs.ground.clock import Clock, SystemClock, stamp
from worldfs.ground.errors import BrokenHouse, Busy, NotFound, UserError, WorldError
from worldfs.ground.model import Cause, Job, JobStatus, Json, Order, Outcome, State
from worldfs.kernel.jobs import Jobs, done_key, job_key
from worldfs.kernel.record import read_job
from worldfs.tree.binding import Binding
from worldfs.tree.feed import Feed
from worldfs.tree.leaf import Wait

from .call import Call, Run, binding_of, call_of, error_line, error_text, log_line, ms, ours, result_text
from .counter import Counter
from .deadlines import Deadlines
from .ends import Ends
from .pool import Pool

if TYPE_CHECKING:
    from worldfs.tree.stores.contract import Store

Carry = Callable[[Run], Outcome]

DEADLINE_S: Final = 300.0
GRACE_S: Final = 10.0  # between the wish that a run should end and its end without it
SHOWN_S: Final = 86_400.0  # an ended call leaves the view after so long; its file stays
OPEN_MOST: Final = 1_024  # calls of one agent that have not ended
LOG_MOST: Final = 1_000  # lines of one call
THREADS: Final = {"chat": 8, "invoke": 16}
LOST: Final = "the server died while it ran; it may have acted, so it is not repeated"


class Carrier(NamedTuple):
    """How calls of a kind are carried out."""

    carry: Carry
    lane: Callable[[Call], str]
    pool: Pool


class Calls:
    """Usable from many threads. Nothing here costs more because calls have ended."""

    def __init__(self, store: Store, clock: Clock, feed: Feed) -> None:
        self.clock, self.feed = clock, feed
        self.jobs = Jobs(store, clock)
        # Numbers of changes go on growing when a new process counts its feed from 0 again.
        self._base = ms(clock.now())
        self._lock = threading.RLock()
        self._calls: dict[str, Call] = {}
        self._views: dict[tuple[str, str], dict[str, None]] = {}
        self._ends: dict[tuple[str, str], Ends] = {}
        self._last_end = 0
        self._old: deque[tuple[int, str]] = deque()  # (when it ended, id), oldest first
        self._open: dict[str, int] = {}  # agent: calls that have not ended
        self._latest: dict[tuple[str, str, str, str], str] = {}  # agent, project, place, control file ("": any)
        self._bindings: dict[str, Binding] = {}  # of open calls of this process: the only place of their tokens
        self._waiting: dict[str, list[str]] = {}  # kind: queued ones that nobody carries out yet
        self._carriers: dict[str, Carrier] = {}
        self._runs: dict[str, Run] = {}
        self._ending: set[str] = set()  # somebody is writing their last line
        self._closed = False
        self.deadlines = Deadlines(clock)
        self.unreadable: list[str] = []  # files of calls that say nothing; left as they are
        self._counter = Counter(self.jobs, self._recover())

    @classmethod
    def open(cls, home: Path | None, clock: Clock | None = None, feed: Feed | None = None) -> Calls:
        """The calls of a home directory, which must be there; None: in memory only."""
        if home is None:
            from worldfs.tree.stores.memory import MemoryStore

            return cls(MemoryStore(), clock or SystemClock(), feed or Feed())
        from worldfs.tree.stores.disk import DiskStore

        return cls(DiskStore(home), clock or SystemClock(), feed or Feed())

    def close(self, timeout: float = GRACE_S) -> None:
        """Ask what runs to stop and wait for it; what does not end is found as lost, what is queued runs next time."""
        with self._lock:
            self._closed = True
            runs = list(self._runs.values())
        for run in runs:
            run.ask(Cause.CANCELLED)
        until = self.clock.monotonic() + timeout
        for carrier in self._carriers.values():
            carrier.pool.close(max(0.0, min(timeout, until - self.clock.monotonic())))
        self.deadlines.close()
        self.jobs.store.close()

    # -- asking ------------------------------------------------------------------------------------------------------

    def carry(
        self, kind: str, carry: Carry, *, lane: Callable[[Call], str] = lambda call: "", threads: int = 0
    ) -> None:
        """From now on calls of this kind are carried out so; those that waited for it begin.

        `lane`: calls with the same word, unless it is "", run one after the other, in order. `carry` returns how it
        ended; a `WorldError` or any other exception of it is a failed call.
        """
        pool = Pool(kind, threads or THREADS.get(kind, 4))
        with self._lock:
            self._carriers[kind] = Carrier(carry, lane, pool)
            waiting = self._waiting.pop(kind, [])
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
        """The id of a new call, durable as queued. Raises `Busy` when too many of this agent have not ended."""
        with self._lock:
            if self._closed:
                raise Busy("the calls of this home are closing", op="submit", fix="ask again")
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
        call = call_of(Job(order, JobStatus(accepted_at=stamp(self.clock.now()))))
        with self._lock:
            self._bindings[call.id] = binding
            self._enter(call)
        self._tell(call)
        self._begin(call.id)
        return call.id

    def cancel(self, binding: Binding, id: str) -> None:
        """Queued: it ends now. Running: it is asked to stop. Ended: nothing. Raises `NotFound`."""
        call = self.call(binding, id)
        with self._lock:
            run = self._runs.get(id)
            mine = run is None and self._claimed(id)
        if run is not None:
            self._ask(id, run, Cause.CANCELLED)
        elif mine:
            self._settle(call, Outcome.failure(Cause.CANCELLED, "CANCELLED", "before it began"))

    # -- looking -----------------------------------------------------------------------------------------------------

    def ids(self, binding: Binding) -> list[str]:
        """The calls of its agent and project that are shown, oldest first."""
        self._forget_old()
        with self._lock:
            return list(self._views.get((binding.agent, binding.project), ()))

    def call(self, binding: Binding, id: str) -> Call:
        """Raises `NotFound`, for another agent's or project's as for none."""
        call = self._calls.get(id)
        if call is None or (call.agent, call.project) != (binding.agent, binding.project) or self._is_old(call):
            raise NotFound(f"no job {id[:40]!r}", path=f"/agents/self/jobs/{id[:40]}", op="read")
        return call

    def known(self, binding: Binding, id: str) -> bool:
        with suppress(NotFound):
            return bool(self.call(binding, id))
        return False

    def status(self, binding: Binding, id: str) -> bytes:
        """`status.json`, from memory."""
        return self.call(binding, id).status()

    def result(self, binding: Binding, id: str) -> bytes:
        """`result.txt`, from the disk; empty before the end."""
        return result_text(self.outcome(self.call(binding, id)))

    def log(self, binding: Binding, id: str) -> bytes:
        """`log.txt`: lines of JSON that the run wrote; the last line of a failed one says why."""
        call = self.call(binding, id)
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

    def outcome(self, call: Call) -> Outcome | None:
        """How it ended, from the disk; None before."""
        return self.job(call.id).status.outcome if call.over else None

    def latest(self, binding: Binding, place: str, file: str = "") -> Call | None:
        """The newest call of this agent and project that came by a control of this place."""
        id = self._latest.get((binding.agent, binding.project, place, file))
        if id is None:
            return None
        return self._calls.get(id) or call_of(self.job(id))  # no longer shown as a job, but still the latest here

    def ended(self, id: str) -> bool:
        """Has it ended, or is there none?"""
        call = self._calls.get(id)
        return call is None or call.over

    def wait(self, id: str, timeout: float) -> Wait:
        """Until the end of a call."""
        call = self._calls.get(id)
        return Wait(() if call is None else call.topics[:1], lambda: self.ended(id), timeout)

    def number(self) -> int:
        """The number of the last change so far; ends and publications count on from it."""
        with self._lock:
            return max(self._base + self.feed.seq, self._last_end)

    def number_of(self, seq: int) -> int:
        """The number of a publication of the feed."""
        return self._base + seq

    def seq_of(self, number: int) -> int:
        """The publication of the feed with that number; what came before this process is 0."""
        return max(0, number - self._base)

    def chat_end_after(self, binding: Binding, number: int, given: Callable[[str], bool]) -> Call | None:
        """The call of the first end of a chat after `number` that was not given yet."""
        with self._lock:
            for _, id in self._ends.get((binding.agent, binding.project), Ends()).after(number):
                call = self._calls.get(id)
                if call is not None and not given(id):
                    return call
        return None

    def tick(self) -> float | None:
        """What is due by the clock: for tests whose clock stands still."""
        self._forget_old()
        return self.deadlines.tick()

    # -- carrying out ------------------------------------------------------------------------------------------------

    def _accepted(self, order: Order) -> Order:
        while True:
            with self._lock:
                new = replace(order, id=self._counter.take())
            if self.jobs.accept([new])[0].new:  # else somebody put a file of that name there
                return new

    def _begin(self, id: str) -> None:
        with self._lock:
            call = self._calls.get(id)
            carrier = None if call is None else self._carriers.get(call.kind)
            if call is not None and carrier is None:
                self._waiting.setdefault(call.kind, []).append(id)
        if call is not None and carrier is not None:
            carrier.pool.put(lambda: self._run(id, carrier.carry), carrier.lane(call))

    def _run(self, id: str, carry: Carry) -> None:
        call = self._calls.get(id)
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
            if self._closed or id in self._ending or self._calls[id].over:
                return
            binding = self._bindings.get(id) or binding_of(job.order)
            run = self._runs[id] = Run(
                id,
                job.order.op,
                job.order.params,
                binding,
                seconds,
                lambda: until - self.clock.monotonic(),
                _Log(self, id),
            )
        now = self.clock.now()
        status = replace(job.status, state=State.RUNNING, attempt=job.status.attempt + 1, started_at=stamp(now))
        try:
            self.jobs.write_status(id, status)  # durable before anything is done
        except WorldError as error:
            self._end(call, Outcome.failure(Cause.ERROR, "BROKEN", str(error)))
            return
        with self._lock:
            self._calls[id] = call = call._replace(state=State.RUNNING, updated_ms=ms(now))
        self._tell(call)
        self.deadlines.at(until, lambda: self._ask(id, run, Cause.TIMEOUT))
        self._end(call, _judged(_carried(carry, run), run))

    def _ask(self, id: str, run: Run, why: Cause) -> None:
        if self._runs.get(id) is run:
            run.ask(why)
            self.deadlines.at(self.clock.monotonic() + GRACE_S, lambda: self._give_up(id, run))

    def _give_up(self, id: str, run: Run) -> None:
        """It does not stop: its end is told without it, and what it does later counts for nothing."""
        call = self._calls.get(id)
        if call is not None and self._runs.get(id) is run:
            outcome = Outcome.failure(Cause.ERROR, "", f"it was asked to stop and did not within {GRACE_S:g} s")
            self._end(call, _judged(outcome, run))

    def _end(self, call: Call, outcome: Outcome) -> None:
        with self._lock:
            if not self._claimed(call.id):
                return
        self._settle(call, outcome)

    def _claimed(self, id: str) -> bool:
        """True for the one who may write the last line. Call with the lock."""
        if id in self._ending or id not in self._calls or self._calls[id].over:
            return False
        self._ending.add(id)
        self._runs.pop(id, None)
        return True

    def _settle(self, call: Call, outcome: Outcome) -> None:
        now = self.clock.now()
        try:
            state = State.SUCCEEDED if outcome.ok else State.FAILED
            before = self.job(call.id).status
            self.jobs.write_status(call.id, replace(before, state=state, completed_at=stamp(now), outcome=outcome))
        except WorldError as error:  # the ground gave way: who waits is told now, a start will find it lost
            state = State.FAILED
            outcome = Outcome.failure(Cause.ERROR, "BROKEN", f"the end could not be kept: {error}")
        with self._lock:
            self._last_end = self.number() + 1
            call = call._replace(state=state, error=error_text(outcome), updated_ms=ms(now), ended=self._last_end)
            self._calls[call.id] = call
            self._ending.discard(call.id)
            self._bindings.pop(call.id, None)
            self._closed_one(call.agent)
            self._note_end(call)
        self._tell(call)
        self._forget_old()

    def _closed_one(self, agent: str) -> None:
        with self._lock:
            self._open[agent] -= 1
            if not self._open[agent]:
                del self._open[agent]

    def _tell(self, call: Call) -> None:
        self.feed.publish(*call.topics, kind=call.word, actor=call.agent)

    # -- the table ---------------------------------------------------------------------------------------------------

    def _enter(self, call: Call) -> None:
        self._calls[call.id] = call
        self._views.setdefault((call.agent, call.project), {})[call.id] = None
        if call.place:
            self._latest[call.agent, call.project, call.place, ""] = call.id
            self._latest[call.agent, call.project, call.place, call.file] = call.id

    def _note_end(self, call: Call) -> None:
        self._old.append((call.updated_ms, call.id))
        if call.kind == "chat":
            self._ends.setdefault((call.agent, call.project), Ends()).add(call.ended, call.id)

    def _is_old(self, call: Call) -> bool:
        return call.over and call.updated_ms <= self._horizon()

    def _horizon(self) -> int:
        return ms(self.clock.now()) - int(SHOWN_S * 1000)

    def _forget_old(self) -> None:
        """What ended a day ago leaves the view; its file is put away."""
        horizon = self._horizon()
        while self._old and self._old[0][0] <= horizon:
            with self._lock:
                if not self._old or self._old[0][0] > horizon:
                    return
                id = self._old.popleft()[1]
                call = self._calls.pop(id)
                view = self._views[call.agent, call.project]
                del view[id]
                if not view:
                    del self._views[call.agent, call.project]
                if (ends := self._ends.get((call.agent, call.project))) is not None:
                    ends.forget(self._calls.__contains__)
            with suppress(WorldError):  # tidying: the next start does it again
                self.jobs.put_away(id)

    def _file(self, id: str) -> bytes:
        for key in (job_key(id), done_key(id), job_key(id)):  # it may be moved between our first two looks
            stored = self.jobs.store.get(key)
            if stored is not None:
                return stored.data
        raise NotFound(f"no job {id!r}", path=id, op="read")

    def _recover(self) -> int:
        """What an earlier process left; the greatest number among it."""
        found: list[Job] = []
        for id in self.jobs.open_ids():
            try:
                job = self.jobs.load(id)
            except NotFound:
                continue
            except UserError:
                self.unreadable.append(id)
                continue
            if ours(job.order) and job.order.id == id:
                found.append(self._settled(job))
        found.sort(key=lambda job: int(job.id[4:]))
        calls = [(call_of(job), job) for job in found]
        for call, job in sorted((pair for pair in calls if pair[0].over), key=lambda pair: pair[0].updated_ms):
            if call.updated_ms <= self._horizon():
                with suppress(WorldError):
                    self.jobs.put_away(job.id)
                continue
            self._last_end = max(self._last_end + 1, call.updated_ms)
            self._note_end(call._replace(ended=self._last_end))
            self._calls[call.id] = call._replace(ended=self._last_end)
        for call, _ in calls:  # in the order of their numbers, so that the newest of a place is the last
            if not call.over:
                self._open[call.agent] = self._open.get(call.agent, 0) + 1
                self._waiting.setdefault(call.kind, []).append(call.id)
            elif call.id not in self._calls:
                continue
            self._enter(self._calls.get(call.id, call))
        return int(found[-1].id[4:]) if found else 0

    def _settled(self, job: Job) -> Job:
        self.jobs.mend(job.id) if not job.status.state.terminal else None
        if job.status.state is not State.RUNNING:
            return job
        outcome = Outcome.failure(Cause.LOST, "LOST", LOST)
        status = replace(job.status, state=State.FAILED, completed_at=stamp(self.clock.now()), outcome=outcome)
        self.jobs.write_status(job.id, status)
        return Job(job.order, status)


class _Log:
    """Writes lines of one call's log into its file; not durable: what it tells of is."""

    def __init__(self, calls: Calls, id: str) -> None:
        self._calls, self._id, self._count = calls, id, 0

    def __call__(self, type: str, **fields: Any) -> None:
        self._count += 1
        if self._count > LOG_MOST or self._id not in self._calls._runs:
            return
        if self._count == LOG_MOST:
            type, fields = "cut", {"message": f"no more than {LOG_MOST} lines are kept"}
        line = log_line(type, ms(self._calls.clock.now()), request=self._id, **fields)
        with suppress(WorldError):
            self._calls.jobs.store.append(job_key(self._id), b'{"log":' + line[:-1] + b"}\n", durable=False)


def _carried(carry: Carry, run: Run) -> Outcome:
    try:
        return carry(run)
    except BrokenHouse as error:
        return Outcome.failure(Cause.ERROR, "BROKEN", str(error))
    except WorldError as error:
        return Outcome.failure(Cause.ERROR, "", str(error))
    except Exception as error:  # whatever a tool or a brain does, the job ends and says so
        return Outcome.failure(Cause.ERROR, "", f"{type(error).__name__}: {error}")


def _judged(outcome: Outcome, run: Run) -> Outcome:
    """What failed after the wish to stop failed because of it; what succeeded all the same has succeeded."""
    if outcome.ok or run.why is None or outcome.cause is run.why:
        return outcome
    if run.why is Cause.TIMEOUT:
        seconds = run.seconds
        message = (
            f"no end within {seconds:g} s: {outcome.message}" if outcome.message else f"no end within {seconds:g} s"
        )
        return replace(outcome, cause=Cause.TIMEOUT, code="EXECUTION_TIMEOUT", message=message)
    return replace(outcome, cause=Cause.CANCELLED, code="CANCELLED", message=outcome.message or "asked to stop")
