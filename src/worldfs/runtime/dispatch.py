"""Dispatch: one attempt of a job, from its start to its end, on the thread (lane) of its node."""

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

from worldfs.base.clock import Clock, parse_stamp, stamp
from worldfs.base.driver import Driver, Run
from worldfs.base.errors import StorageError, WorldError
from worldfs.base.model import Cause, Finding, Job, JobState, Json, Order, Outcome

from .job_store import JobStore
from .stop_log import StopState

GRACE_S = 2.0  # how long a driver may take to stop after its deadline before the job ends without it
SLOW_START_S = 0.01
JITTER = 0.1  # of a wait between attempts
RETRIED = (Cause.ERROR, Cause.TIMEOUT)  # never rejected, cancelled or lost (workspace D19)


class JobHooks(Protocol):
    """What the kernel asks of the world around a job: review it, record the observation, record a lesson."""

    def review(self, order: Order) -> Sequence[Finding]: ...

    def observe(self, node: str) -> None:
        """The node's driver observes; ENVIRONMENT.md is durable when this returns."""
        ...

    def remember(self, order: Order, outcome: Outcome) -> None:
        """Record a lesson; durable when this returns."""
        ...

    def stop_confirmation(self, node: str) -> Json:
        """The robot's state by its own sensors: the evidence that it stopped."""
        ...

    def control(self, node: str, text: str) -> None:
        """A command to the node's driver that is no job, as written; called on its lane, between jobs."""
        ...

    def localise(self, outcome: Outcome) -> Outcome:
        """The outcome with its message in the workspace's language."""
        ...


@dataclass(slots=True)
class KernelNode:
    """A node that the kernel dispatches jobs to."""

    id: str
    driver: Driver
    artifacts: Path | None = None
    enabled: bool = True  # False: its jobs wait; the world changes it and wakes the kernel


@dataclass(slots=True)
class JobAttempt:
    """One attempt on its lane. The thread that sets `over` first, lane or kernel, writes the end."""

    job: Job
    cancel: threading.Event = field(default_factory=threading.Event)
    deadline: float = 0.0  # clock.monotonic(); 0 until it runs
    since: float = 0.0  # clock.monotonic() when it was chosen
    over: bool = False
    closing: bool = False  # the kernel is closing: a job that has not begun stays pending
    left: bool = False  # the kernel closed without waiting for it: it must not write any more
    settled: bool = False  # the kernel has taken note of its end
    shown: bool = False  # as running, in the sheet
    stopped: StopState | None = None  # the stop of its node that came while it ran
    stopped_at: float = 0.0  # clock.monotonic() then
    lock: threading.Lock = field(default_factory=threading.Lock)
    broken: BaseException | None = None  # the storage error that ended it

    def claim_end(self) -> bool:
        with self.lock:
            first, self.over = not self.over, True
            return first

    def request_stop(self) -> bool:
        """Ask the driver to stop; False when the end is decided already."""
        with self.lock:
            if not self.over:
                self.cancel.set()
            return not self.over

    def stop_node(self, stop: StopState, now: float) -> None:
        """The node is stopped: the attempt ends as cancelled if it has begun, else the job is queued again."""
        with self.lock:
            if not self.over and self.stopped is None:
                self.stopped, self.stopped_at = stop, now
                self.cancel.set()  # set last: a thread that sees it can read `stopped`

    def abandon(self) -> None:
        """From now on the attempt writes no file, whatever its driver still does."""
        with self.lock:
            self.left = self.over = True


class Lane:
    """A node's own thread, started when first needed; with `threads=False` (tests) work runs in the caller's thread."""

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
        """Run `work` on the lane and wait for it: a driver is used from one thread only."""
        if not self._threads:
            work()
            return
        done = threading.Event()
        failed: list[BaseException] = []

        def finish() -> None:
            try:
                work()
            except BaseException as error:
                failed.append(error)
            finally:
                done.set()

        self.submit(finish)
        done.wait()
        if failed:
            raise failed[0]

    def close(self, timeout: float) -> None:
        """Wait for the lane's work to end; its thread is a daemon, so a hung driver does not keep the process alive."""
        if self._thread is not None:
            self._work.put(None)
            self._thread.join(timeout)

    def _loop(self) -> None:
        while (work := self._work.get()) is not None:
            work()


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Runs attempts; shared by all lanes."""

    jobs: JobStore
    hooks: JobHooks
    clock: Clock
    learn: Callable[[Order, Outcome], None]
    slow_start: Callable[[], None]  # called when the review took so long that "running" should be shown

    def run(self, attempt: JobAttempt, node: KernelNode) -> None:
        """Review, mark as running, execute, observe, write the end: in that order."""
        try:
            self._run(attempt, node)
        except BaseException as error:  # a storage error goes to the kernel; the job stays as its files say
            attempt.broken = error

    def _run(self, attempt: JobAttempt, node: KernelNode) -> None:
        order = attempt.job.order
        findings, fault = ((), None) if attempt.cancel.is_set() else _review(order, self.hooks, node)
        if attempt.closing or (attempt.cancel.is_set() and attempt.stopped is not None):
            attempt.abandon()
            return
        if attempt.cancel.is_set() and attempt.stopped is None:
            self._end(attempt, Outcome.failure(Cause.CANCELLED, "CANCELLED", "cancelled before it started"))
            return
        refused = tuple(item for item in findings if not item.warning)
        if fault is not None or refused:
            outcome = fault or refusal_outcome(refused)
            self._end(attempt, outcome, lesson=bool(refused))
            return
        status = attempt.job.status
        now = stamp(self.clock.now())
        first = status.first_started_at or status.started_at
        status = replace(
            status, state=JobState.RUNNING, attempt=status.attempt + 1, started_at=now, first_started_at=first
        )
        limit, of_all = time_limit_s(order, first or now, self.clock)
        self.jobs.write_status(order.id, status)  # durable before anything moves
        attempt.job = replace(attempt.job, status=status)
        attempt.deadline = self.clock.monotonic() + limit
        if self.clock.monotonic() - attempt.since > SLOW_START_S:
            self.slow_start()
        run = Run(self.clock, attempt.deadline, status.attempt, node.artifacts, attempt.cancel)
        outcome = _execute(node.driver, order, run)
        if attempt.left:
            return
        if of_all and outcome.code == "EXECUTION_TIMEOUT" and run.stop:  # not a step's own limit, nor a policy's
            outcome = replace(outcome, code="SESSION_TIMEOUT")
        if findings:  # warnings refuse nothing; they are part of the result
            outcome = replace(outcome, findings=(*outcome.findings, *findings))
        outcome = _settled(outcome, node.id, self.hooks)
        if attempt.stopped is not None and outcome.cause in (Cause.CANCELLED, *RETRIED):
            outcome = _stopped(outcome, attempt.stopped, node.id, self.hooks)
        self._end(attempt, outcome, lesson=outcome.cause in RETRIED)

    def _end(self, attempt: JobAttempt, outcome: Outcome, *, lesson: bool = False) -> None:
        if attempt.claim_end():
            if lesson:
                self.learn(attempt.job.order, outcome)
            self.write_end(attempt, outcome)

    def write_end(self, attempt: JobAttempt, outcome: Outcome) -> None:
        """Write the end, or the next attempt. The caller has claimed the end."""
        order, status = attempt.job.order, attempt.job.status
        now = self.clock.now()
        # Only an attempt is retried: a review that fails has used none up, and would fail again for ever.
        retried = outcome.cause in RETRIED and status.state is JobState.RUNNING and status.attempt < order.attempts
        if retried and attempt.cancel.is_set():
            retried = False
            why = f"cancelled; attempt {status.attempt} had ended before: {outcome.message}"
            outcome = replace(outcome, cause=Cause.CANCELLED, code="CANCELLED", message=why)
        wait = backoff_s(order.backoff, status.attempt, order.id)
        if retried and order.total_timeout_s:
            left, _ = time_limit_s(order, status.first_started_at or status.started_at, self.clock)
            retried = left > wait  # else the time limit would end it at once
        outcome = self.hooks.localise(outcome)
        if retried:
            again = stamp(now + timedelta(seconds=wait))
            status = replace(status, state=JobState.PENDING, not_before=again, outcome=outcome)
            self.jobs.write_status(order.id, status)
            attempt.job = replace(attempt.job, status=status)
            return
        state = JobState.SUCCEEDED if outcome.ok else JobState.FAILED
        job = replace(attempt.job, status=replace(status, state=state, completed_at=stamp(now), outcome=outcome))
        self.jobs.end(job)
        attempt.job = job


def _review(order: Order, hooks: JobHooks, node: KernelNode) -> tuple[Sequence[Finding], Outcome | None]:
    """The findings of the hooks, else whether the driver has the op at all; nothing is durable yet."""
    try:
        findings, ops = hooks.review(order), node.driver.ops
        if order.op not in ops and all(item.warning for item in findings):
            findings = [*findings, _no_such_op(order, ops)]
        return findings, None
    except StorageError:
        raise
    except WorldError as error:
        # Without a readable document nothing is permitted to move.
        return (), Outcome.failure(Cause.REJECTED, error.code, f"the critic could not review the action: {error}")
    except Exception as error:
        return (), _fault("REVIEW_ERROR", error)


def _no_such_op(order: Order, ops: Collection[str]) -> Finding:
    return Finding(
        "OP_NOT_IN_DRIVER",
        f"{order.sheet} {order.id}",
        "one of " + (", ".join(sorted(ops)) or "no operation"),
        order.op,
        f"use one of these, or remove {order.op} from EMBODIED.md: the driver does not support it",
        order.id,
    )


def _execute(driver: Driver, order: Order, run: Run) -> Outcome:
    try:
        return driver.execute(order, run)
    except StorageError as error:
        return _fault(error.code, error)
    except Exception as error:  # a driver's bug ends its job, never the kernel
        return _fault("RUNTIME_ERROR", error)


def _settled(outcome: Outcome, node: str, hooks: JobHooks) -> Outcome:
    try:
        hooks.observe(node)
    except StorageError:
        raise
    except Exception as error:
        # The action has its own outcome; the failed observation is reported beside it.
        return replace(outcome, evidence={**outcome.evidence, "observation_error": f"{type(error).__name__}: {error}"})
    return outcome


def _stopped(outcome: Outcome, stop: StopState, node: str, hooks: JobHooks) -> Outcome:
    """The outcome of an attempt whose node was stopped, with the robot's present state as evidence."""
    evidence = {**outcome.evidence, "stopped": {"by": stop.by, "at": stop.at}}
    try:
        evidence["stood"] = hooks.stop_confirmation(node)
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
    if any("\u4e00" <= sign <= "\u9fff" for sign in first.fix):  # in the finding's language
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

    The jitter spreads jobs that failed together; it is a function of the id and the attempt.
    """
    if kind not in ("exponential", "linear"):
        return 0.0
    base = float(min(60, 2 ** min(attempt - 1, 6) if kind == "exponential" else attempt))
    return round(base * (1 + JITTER * (crc32(f"{id}#{attempt}".encode()) % 1000) / 1000), 3) if id else base
