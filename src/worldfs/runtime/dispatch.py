"""Dispatch: one attempt of a job, from its start to its end, in a thread of its worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from math import inf
from typing import TypeVar

from worldfs.base.clock import Clock, stamp
from worldfs.base.driver import Run
from worldfs.base.errors import StorageError, WorldError
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, Finding, Job, JobState, Json, Order, Outcome
from worldfs.base.model.job import REVIEW_S
from worldfs.base.plugin_faults import PluginFault, contained, error_line
from worldfs.base.plugin_nouns import parse_findings, parse_outcome, plugin_failure, traceback_text
from worldfs.base.plugin_values import WrongValue, parse
from worldfs.base.unknown_effect import STOP_CONFIRMED, unknown_effect

from .job_attempt import JobAttempt
from .job_end import RETRIED, refusal_outcome, status_after, time_limit_s
from .job_store import JobStore, is_ended
from .stop_log import StopState
from .worker import Worker

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Runs attempts; shared by all threads of a runtime. Every write of a job that has begun is made here."""

    jobs: JobStore
    clock: Clock
    end: Callable[[Job], None]  # write the last line of a job, durably
    localise: Callable[[Outcome], Outcome]
    learn: Callable[[Order, Outcome], None]  # record a lesson, durably
    running: Callable[[JobAttempt], None]  # called when an attempt is durable as running
    approved: Callable[[Order], Json] = lambda order: {}  # `Run.approval`; `LookupError`: it has expired
    epoch: Callable[[str], int] = lambda node: 0  # `Run.epoch`, of a node
    gate: Callable[[], AbstractContextManager[object]] = nullcontext  # held while workers are told to stop
    rests: Callable[[JobAttempt, Outcome], bool] = lambda attempt, outcome: True  # it has ended by itself: all stands
    halt: Callable[[JobAttempt], bool] = lambda attempt: True  # stop what it may have left moving; False: that failed
    again: Callable[[Exception], bool] = lambda error: False  # whether a write that failed is to be tried again now
    followed: Callable[[Order], bool] = lambda order: False  # another kernel has it: no refusal nor cancel here ends it

    def run(self, attempt: JobAttempt, worker: Worker) -> None:
        """Review, mark as running, execute, observe, write the end: in that order."""
        try:
            self._run(attempt, worker)
        except BaseException as error:  # a storage error goes to the runtime; the job stays as its files say
            attempt.broken = error
        finally:
            attempt.returned_at = min(attempt.returned_at, self.clock.monotonic())

    def _run(self, attempt: JobAttempt, worker: Worker) -> None:
        order = attempt.job.order
        attempt.review_s = order.review_limit_s if worker.counts_reviews else REVIEW_S
        attempt.review_ends = self.clock.monotonic() + attempt.review_s
        reviewed, followed = Run(self.clock, inf, cancel=attempt.cancel), self.followed(order)
        findings, fault = ((), None) if followed or attempt.cancel.is_set() else self._review(attempt, worker, reviewed)
        if attempt.over:
            return  # its job has ended without its review
        if attempt.held:
            self._abandon(attempt, worker)
            return
        if attempt.cancel.is_set() and attempt.stopped is None and not followed:
            outcome = Outcome.failure(Cause.CANCELLED, "CANCELLED", coded("runtime.cancelled_before"))
            self._end(attempt, _with(outcome, reviewed.evidence))
            return
        refused = tuple(item for item in findings if not item.warning)
        if fault is not None or refused:
            outcome = fault or refusal_outcome(refused)
            self._end(attempt, _with(outcome, reviewed.evidence), lesson=bool(refused))
            return
        if not attempt.begin():
            if not attempt.over:
                self._abandon(attempt, worker)
            return
        try:
            approval = self.approved(order)
        except LookupError:
            self._end(attempt, Outcome.failure(Cause.REJECTED, "APPROVAL_EXPIRED", coded("approval.expired")))
            return
        status, now = attempt.job.status, self.clock.now()
        at = stamp(now)
        first = status.first_started_at or status.started_at
        driver, simulated = worker.body
        status = replace(
            status, state=JobState.RUNNING, attempt=status.attempt + 1, started_at=at, first_started_at=first,
            driver=driver, simulated=simulated,
        )  # fmt: skip
        limit, of_all = time_limit_s(order, first or at, now)
        self.jobs.write_status(order.id, status)  # durable before anything moves
        attempt.deadline = self.clock.monotonic() + limit  # first: what the scheduler sees as running has an end
        attempt.job = replace(attempt.job, status=status)
        self.running(attempt)
        run = Run(self.clock, attempt.deadline, status.attempt, worker.artifacts, attempt.cancel, approval=approval)
        run.epoch = self.epoch(order.node)
        attempt.began_at = self.clock.monotonic()
        outcome, answered = _execute(worker, order, run)
        attempt.returned_at = self.clock.monotonic()
        ended = answered and _is_its_own(outcome, run)
        stands = attempt.stopped is not None or (ended and self.rests(attempt, outcome))
        moves = not stands and not self.halt(attempt)
        with self.gate():  # a stop is told to all robots before this one's end is written
            pass
        if attempt.left:
            return
        unseen = self._persist(attempt, lambda: _observe(worker))
        outcome = _measured(order, outcome, worker)
        if moves:  # last: this is no word of the worker
            if outcome.ok:
                outcome = replace(outcome, ok=False, cause=Cause.ERROR, code="STOP_UNCONFIRMED")
            said = coded("runtime.may_move", said=outcome.message, node=order.node)
            outcome = _with(replace(outcome, message=said), {STOP_CONFIRMED: False})
        if of_all and outcome.code == "EXECUTION_TIMEOUT" and run.stop:  # not a step's own limit, nor a policy's
            outcome = replace(outcome, code="SESSION_TIMEOUT")
        outcome = _with(outcome, {**reviewed.evidence, **({"approval": approval} if approval else {})})
        if findings:  # warnings refuse nothing; they are part of the result
            outcome = replace(outcome, findings=(*outcome.findings, *findings))
        outcome = _with(outcome, {"observation_error": unseen} if unseen else {})
        if attempt.stopped is not None and outcome.cause in (Cause.CANCELLED, *RETRIED):
            outcome = _stopped(outcome, attempt.stopped, worker)
        self._end(attempt, outcome, lesson=outcome.cause in RETRIED)

    def _abandon(self, attempt: JobAttempt, worker: Worker) -> None:
        """The job stays pending, and its review, which the kernel survived, counts for nothing."""
        if worker.counts_reviews and not attempt.left:
            self.jobs.write_status(attempt.job.order.id, attempt.job.status, durable=False)
        attempt.abandon()

    def _review(self, attempt: JobAttempt, worker: Worker, run: Run) -> tuple[Sequence[Finding], Outcome | None]:
        """The findings. A review that others' programs may end with the whole kernel is noted first, for `recover`."""
        order, status = attempt.job.order, attempt.job.status
        if worker.counts_reviews:  # unsynced: a killed process leaves what it wrote
            self.jobs.write_status(order.id, replace(status, reviews=status.reviews + 1), durable=False)
        attempt.job = replace(attempt.job, status=replace(status, reviews=0))
        return _review(order, worker, run)

    def end_unreviewed(self, attempt: JobAttempt, call: str) -> None:
        """`call`, part of its review, did not return in time: nothing has moved. The caller has claimed the end."""
        said = coded("runtime.not_reviewed", call=call, s=attempt.review_s)
        if attempt.cancelled:
            outcome = Outcome.failure(Cause.CANCELLED, "CANCELLED", coded("runtime.cancelled_before"))
        else:
            outcome = Outcome.failure(Cause.TIMEOUT, "PREFLIGHT_TIMEOUT", said)
        self.write_end(attempt, outcome)
        attempt.cancel.set()

    def end_without_worker(self, attempt: JobAttempt, worker: Worker, cause: Cause) -> None:
        """The worker did not stop in time. The caller has claimed the end; what the worker reports later is ignored.

        An order that another kernel has may go on there: it is lost, not timed out.
        """
        order, why = attempt.job.order, coded("runtime.did_not_stop", noun=worker.noun)
        text = coded("runtime.timed_out", s=order.timeout_s, why=why)
        if cause is Cause.CANCELLED:
            outcome = Outcome.failure(cause, "CANCELLED", why)
        elif self.followed(order):
            outcome = Outcome.failure(Cause.LOST, "LOST", text)
        else:
            outcome = Outcome.failure(cause, "EXECUTION_TIMEOUT", text)
            self.learn(order, outcome)
        self.halt(attempt)
        self.write_end(attempt, outcome)
        attempt.cancel.set()  # after the end is decided: the outcome is not "cancelled"

    def _end(self, attempt: JobAttempt, outcome: Outcome, *, lesson: bool = False) -> None:
        if attempt.claim_end():
            if lesson:
                self._persist(attempt, lambda: self.learn(attempt.job.order, outcome))
            self._persist(attempt, lambda: self.write_end(attempt, outcome))

    def _persist(self, attempt: JobAttempt, write: Callable[[], T]) -> T:
        """In the worker's thread: while the store refuses it the lane is busy, and its robot begins nothing. The job
        waits for that: its worker has returned, and what it says is not replaced by its silence."""
        try:
            while True:
                try:
                    return write()
                except Exception as error:
                    attempt.unwritten = True
                    if not self.again(error):
                        raise
        finally:
            attempt.unwritten = False

    def write_end(self, attempt: JobAttempt, outcome: Outcome) -> None:
        """Write the end, or the next attempt. The caller has claimed the end."""
        order = attempt.job.order
        status = status_after(
            order,
            attempt.job.status,
            outcome,
            self.clock.now(),
            cancelled=attempt.cancelled,
            localise=self.localise,
        )
        job = replace(attempt.job, status=status)
        if is_ended(job):
            self.end(job)
        else:
            self.jobs.write_status(order.id, status)
        attempt.job = job


def _review(order: Order, worker: Worker, run: Run) -> tuple[Sequence[Finding], Outcome | None]:
    """The worker's findings; nothing is durable yet."""
    where = f"{worker.source} review"
    try:
        return contained(lambda: parse_findings(worker.review(order, run), where), where), None
    except StorageError:
        raise
    except (WrongValue, PluginFault) as error:
        return (), plugin_failure(error)
    except WorldError as error:
        # Without a readable document nothing is permitted to move.
        said = coded("runtime.unreviewed", said=error_message(error))
        return (), Outcome.failure(Cause.REJECTED, error.code, said)
    except Exception as error:
        return (), _fault("REVIEW_ERROR", error)


def _with(outcome: Outcome, evidence: Json) -> Outcome:
    return replace(outcome, evidence={**outcome.evidence, **evidence}) if evidence else outcome


def _execute(worker: Worker, order: Order, run: Run) -> tuple[Outcome, bool]:
    """The worker's outcome, parsed, and whether it is its own: whatever else it answers or raises ends its job, and
    nothing else."""
    where = f"{worker.source} execute"
    try:
        return contained(lambda: parse_outcome(worker.execute(order, run), where), where), True
    except StorageError as error:
        return _fault(error.code, error), False
    except (WrongValue, PluginFault) as error:
        return plugin_failure(error), False
    except Exception as error:  # a worker's bug ends its job, never the runtime
        return _fault("RUNTIME_ERROR", error), False


def _is_its_own(outcome: Outcome, run: Run) -> bool:
    """Whether its worker has ended it. Where it was told to end, only one does that says whether its robot stands: it
    has stopped it itself, or another controller has it."""
    if isinstance(outcome.evidence.get(STOP_CONFIRMED), bool):
        return True
    return not run.stop and outcome.cause not in (Cause.CANCELLED, Cause.TIMEOUT) and not unknown_effect(outcome)


def _observe(worker: Worker) -> str:
    """Why the world could not be observed; "" if it could. The action has its own outcome: this is told beside it."""
    try:
        contained(worker.observe, f"{worker.source} observe")
    except StorageError:
        raise
    except Exception as error:
        return error_line(error)
    return ""


def _measured(order: Order, outcome: Outcome, worker: Worker) -> Outcome:
    """The outcome as the observation shows it: what cannot be judged has not succeeded."""
    try:
        return worker.measured(order, outcome)
    except StorageError:
        raise
    except Exception as error:  # no document, or a bug of ours
        return _fault("RUNTIME_ERROR", error)


def _stopped(outcome: Outcome, stop: StopState, worker: Worker) -> Outcome:
    """The outcome of an attempt whose node was stopped, with the robot's present state as evidence."""
    evidence = {**outcome.evidence, "stopped": {"by": stop.by, "at": stop.at}}
    try:
        where = f"{worker.source} stop"
        evidence["stood"] = contained(lambda: parse(Json, worker.stop_confirmation(), where), where)
    except Exception as error:
        evidence["observation_error"] = error_line(error)
    said = coded("runtime.stopped", by=stop.by, said=outcome.message)
    return replace(outcome, cause=Cause.CANCELLED, code="STOPPED", message=said, evidence=evidence)


def _fault(code: str, error: Exception) -> Outcome:
    return Outcome.failure(Cause.ERROR, code, error_line(error), traceback=traceback_text(error))
