"""Dispatch: one job carried from chosen to ended, on the lane of its node."""

from __future__ import annotations

import queue
import threading
import traceback
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Protocol
from zlib import crc32

from worldfs.ground.clock import Clock, parse_stamp, stamp
from worldfs.ground.driver import Driver, Run
from worldfs.ground.errors import StorageError, WorldError
from worldfs.ground.model import Cause, Finding, Job, JobState, Json, Order, Outcome

from .job_store import JobStore
from .stop_log import StopState

GRACE_S = 2.0  # how long a driver may take to stop after its deadline before the job ends without it
SLOW_START_S = 0.01
JITTER = 0.1  # of a wait between attempts
RETRIED = (Cause.ERROR, Cause.TIMEOUT)  # never rejected, cancelled or lost (workspace D19)


class JobHooks(Protocol):
    """What the world does around a job: judge it, write what was seen, remember what failed."""

    def review(self, order: Order) -> Sequence[Finding]: ...

    def settle(self, node: str) -> None:
        """The node's body observes; ENVIRONMENT.md is durable when this returns."""
        ...

    def remember(self, order: Order, outcome: Outcome) -> None:
        """A lesson; durable when this returns."""
        ...

    def stood(self, node: str) -> Json:
        """Where the node's robot stands, as its own sensors have it: the evidence of a stop."""
        ...

    def control(self, node: str, text: str) -> None:
        """What the node's body is asked to do beside its jobs, in its own words; on its lane, between jobs."""
        ...

    def say(self, outcome: Outcome) -> Outcome:
        """The outcome in the words that people here read; what it means stays the same."""
        ...


@dataclass(slots=True)
class KernelNode:
    """A body the kernel may give jobs to."""

    id: str
    driver: Driver
    artifacts: Path | None = None
    enabled: bool = True  # False: its jobs wait; the world changes it and wakes the kernel


@dataclass(slots=True)
class JobAttempt:
    """One attempt on its lane. Whoever sets `over` first, lane or kernel, writes the end; the other is late."""

    job: Job
    cancel: threading.Event = field(default_factory=threading.Event)
    deadline: float = 0.0  # clock.monotonic(); 0 until it runs
    since: float = 0.0  # clock.monotonic() when it was chosen
    over: bool = False
    closing: bool = False  # it is asked to stop because the kernel goes: what has not begun stays pending
    left: bool = False  # the kernel has closed without it: it may write nothing any more
    settled: bool = False  # the kernel has taken note of its end
    shown: bool = False  # as running, in the sheet
    stopped: StopState | None = None  # the stop that its node was told of while it ran
    stopped_at: float = 0.0  # clock.monotonic() then
    lock: threading.Lock = field(default_factory=threading.Lock)
    broken: BaseException | None = None  # the house gave way under it

    def claim_end(self) -> bool:
        with self.lock:
            first, self.over = not self.over, True
            return first

    def ask(self) -> bool:
        """Ask it to stop; False when its end is decided already."""
        with self.lock:
            if not self.over:
                self.cancel.set()
            return not self.over

    def halt(self, stop: StopState, now: float) -> None:
        """Its node is stopped: it ends as cancelled if it has begun, else it waits again."""
        with self.lock:
            if not self.over and self.stopped is None:
                self.stopped, self.stopped_at = stop, now
                self.cancel.set()  # last: who sees it knows why

    def leave(self) -> None:
        """Whatever its driver still does, it will change no file."""
        with self.lock:
            self.left = self.over = True


class Lane:
    """A node's own thread, made when first needed; or none, and work is done at once (tests, `threads=False`)."""

    def __init__(self, name: str, threads: bool) -> None:
        self._name = name
        self._threads = threads
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def submit(self, work: Callable[[], None]) -> None:
        if not self._threads:
            work()
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name=f"lane {self._name}", daemon=True)
            self._thread.start()
        self._work.put(work)

    def call(self, work: Callable[[], None]) -> None:
        """Do it on the lane and wait: a body keeps to one thread from open to close."""
        if not self._threads:
            work()
            return
        done = threading.Event()
        failed: list[BaseException] = []

        def tell() -> None:
            try:
                work()
            except BaseException as error:
                failed.append(error)
            finally:
                done.set()

        self.submit(tell)
        done.wait()
        if failed:
            raise failed[0]

    def close(self, timeout: float) -> None:
        """Let the lane end its work; it is a daemon, so a hung driver does not hold the process."""
        if self._thread is not None:
            self._work.put(None)
            self._thread.join(timeout)

    def _loop(self) -> None:
        while (work := self._work.get()) is not None:
            work()


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Carries tickets; the same for every lane."""

    jobs: JobStore
    house: JobHooks
    clock: Clock
    learn: Callable[[Order, Outcome], None]
    slow_start: Callable[[], None]  # called when judging took so long that "running" should be shown

    def carry(self, ticket: JobAttempt, node: KernelNode) -> None:
        """Judge, mark running, move, observe, end: in that order of writes."""
        try:
            self._carry(ticket, node)
        except BaseException as error:  # a broken house is handed to the kernel; the job stays as its files say
            ticket.broken = error

    def _carry(self, ticket: JobAttempt, node: KernelNode) -> None:
        order = ticket.job.order
        findings, fault = ((), None) if ticket.cancel.is_set() else _review(order, self.house, node)
        if ticket.closing or (ticket.cancel.is_set() and ticket.stopped is not None):
            ticket.leave()
            return
        if ticket.cancel.is_set() and ticket.stopped is None:
            self._end(ticket, Outcome.failure(Cause.CANCELLED, "CANCELLED", "cancelled before it started"))
            return
        refused = tuple(item for item in findings if not item.warning)
        if fault is not None or refused:
            outcome = fault or refusal_outcome(refused)
            self._end(ticket, outcome, lesson=bool(refused))
            return
        status = ticket.job.status
        now = stamp(self.clock.now())
        first = status.first_started_at or status.started_at
        status = replace(
            status, state=JobState.RUNNING, attempt=status.attempt + 1, started_at=now, first_started_at=first
        )
        limit, of_all = time_limit_s(order, first or now, self.clock)
        self.jobs.write_status(order.id, status)  # durable before anything moves
        ticket.job = replace(ticket.job, status=status)
        ticket.deadline = self.clock.monotonic() + limit
        if self.clock.monotonic() - ticket.since > SLOW_START_S:
            self.slow_start()
        run = Run(self.clock, ticket.deadline, status.attempt, node.artifacts, ticket.cancel)
        outcome = _execute(node.driver, order, run)
        if ticket.left:
            return
        if of_all and outcome.code == "EXECUTION_TIMEOUT" and run.stop:  # not a step's own limit, nor a policy's
            outcome = replace(outcome, code="SESSION_TIMEOUT")
        if findings:  # warnings: what is missing and refused nothing stands in the result
            outcome = replace(outcome, findings=(*outcome.findings, *findings))
        outcome = _settled(outcome, node.id, self.house)
        if ticket.stopped is not None and outcome.cause in (Cause.CANCELLED, *RETRIED):
            outcome = _stopped(outcome, ticket.stopped, node.id, self.house)
        self._end(ticket, outcome, lesson=outcome.cause in RETRIED)

    def _end(self, ticket: JobAttempt, outcome: Outcome, *, lesson: bool = False) -> None:
        if ticket.claim_end():
            if lesson:
                self.learn(ticket.job.order, outcome)
            self.write_end(ticket, outcome)

    def write_end(self, ticket: JobAttempt, outcome: Outcome) -> None:
        """Write the end, or the next attempt. Only for who has claimed it."""
        order, status = ticket.job.order, ticket.job.status
        now = self.clock.now()
        # Only an attempt is tried again: a critic that breaks has used up none, and would break for ever.
        retried = outcome.cause in RETRIED and status.state is JobState.RUNNING and status.attempt < order.attempts
        if retried and ticket.cancel.is_set():
            retried = False
            why = f"cancelled; attempt {status.attempt} had ended before: {outcome.message}"
            outcome = replace(outcome, cause=Cause.CANCELLED, code="CANCELLED", message=why)
        wait = backoff_s(order.backoff, status.attempt, order.id)
        if retried and order.total_timeout_s:
            left, _ = time_limit_s(order, status.first_started_at or status.started_at, self.clock)
            retried = left > wait  # else it would be started only to be stopped
        outcome = self.house.say(outcome)
        if retried:
            again = stamp(now + timedelta(seconds=wait))
            status = replace(status, state=JobState.PENDING, not_before=again, outcome=outcome)
            self.jobs.write_status(order.id, status)
            ticket.job = replace(ticket.job, status=status)
            return
        state = JobState.SUCCEEDED if outcome.ok else JobState.FAILED
        job = replace(ticket.job, status=replace(status, state=state, completed_at=stamp(now), outcome=outcome))
        self.jobs.end(job)
        ticket.job = job


def _review(order: Order, house: JobHooks, node: KernelNode) -> tuple[Sequence[Finding], Outcome | None]:
    """What the house finds; where it finds nothing, whether the body has the op at all: before anything is durable."""
    try:
        findings, ops = house.review(order), node.driver.ops
        if order.op not in ops and all(item.warning for item in findings):
            findings = [*findings, _no_such_op(order, ops)]
        return findings, None
    except StorageError:
        raise
    except WorldError as error:
        # A document that cannot be read is no permission: nothing moves until it can.
        return (), Outcome.failure(Cause.REJECTED, error.code, f"the critic could not judge it: {error}")
    except Exception as error:
        return (), _fault("REVIEW_ERROR", error)


def _no_such_op(order: Order, ops: Collection[str]) -> Finding:
    return Finding(
        "OP_NOT_IN_DRIVER",
        f"{order.sheet} {order.id}",
        "one of " + (", ".join(sorted(ops)) or "no op at all"),
        order.op,
        f"ask for one of these, or take {order.op} off the body's profile: its driver cannot do it",
        order.id,
    )


def _execute(driver: Driver, order: Order, run: Run) -> Outcome:
    try:
        return driver.execute(order, run)
    except StorageError as error:
        return _fault(error.code, error)
    except Exception as error:  # a driver's bug ends its job, never the kernel
        return _fault("RUNTIME_ERROR", error)


def _settled(outcome: Outcome, node: str, house: JobHooks) -> Outcome:
    try:
        house.settle(node)
    except StorageError:
        raise
    except Exception as error:
        # The action did what it did; that the world could not be seen or written afterwards is told beside it.
        return replace(outcome, evidence={**outcome.evidence, "observation_error": f"{type(error).__name__}: {error}"})
    return outcome


def _stopped(outcome: Outcome, stop: StopState, node: str, house: JobHooks) -> Outcome:
    """What ran when its node was stopped, with where the robot stands now."""
    evidence = {**outcome.evidence, "stopped": {"by": stop.by, "at": stop.at}}
    try:
        evidence["stood"] = house.stood(node)
    except Exception as error:
        evidence["observation_error"] = f"{type(error).__name__}: {error}"
    message = f"stopped by {stop.by}: {outcome.message}"
    return replace(outcome, cause=Cause.CANCELLED, code="STOPPED", message=message, evidence=evidence)


def _fault(code: str, error: Exception) -> Outcome:
    text = "".join(traceback.format_exception(error))
    return Outcome.failure(Cause.ERROR, code, f"{type(error).__name__}: {error}", traceback=text)


def refusal_outcome(findings: tuple[Finding, ...]) -> Outcome:
    first = findings[0]
    rest = len(findings) - 1
    if any("\u4e00" <= sign <= "\u9fff" for sign in first.fix):  # the words between speak the finding's language
        more = f"(另有 {rest} 项)" if rest else ""
        text = f"{first.field}：{first.found}；应为 {first.expected}；{first.fix}{more}"
    else:
        more = f" (and {rest} more)" if rest else ""
        text = f"{first.field}: found {first.found}, expected {first.expected}; {first.fix}{more}"
    return Outcome.failure(Cause.REJECTED, first.code, text, findings=findings)


def time_limit_s(order: Order, first: str, clock: Clock) -> tuple[float, bool]:
    """Seconds that an attempt starting now may take, and whether the limit of all attempts decides (workspace D20).

    `first`: when the first attempt started.
    """
    began = parse_stamp(first)
    if not order.total_timeout_s or began is None:
        return order.timeout_s, False
    left = max(0.0, order.total_timeout_s - (clock.now() - began).total_seconds())
    return (left, True) if left <= order.timeout_s else (order.timeout_s, False)


def backoff_s(kind: str, attempt: int, id: str = "") -> float:
    """Seconds before the next attempt: 1 s, doubling or growing, at most 60 s (workspace D19), plus up to JITTER.

    The jitter keeps jobs that failed together from coming back together; it is the same whenever it is computed.
    """
    if kind not in ("exponential", "linear"):
        return 0.0
    base = float(min(60, 2 ** min(attempt - 1, 6) if kind == "exponential" else attempt))
    return round(base * (1 + JITTER * (crc32(f"{id}#{attempt}".encode()) % 1000) / 1000), 3) if id else base
