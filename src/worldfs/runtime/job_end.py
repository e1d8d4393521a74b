"""How a job ends, or goes on after an attempt: pure functions from an outcome to the next status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from zlib import crc32

from worldfs.base.clock import parse_stamp, stamp
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, JobState, JobStatus, Order, Outcome
from worldfs.base.unknown_effect import bars_attempt

JITTER = 0.1  # of a wait between attempts
RETRIED = (Cause.ERROR, Cause.TIMEOUT)  # never rejected, cancelled or lost (workspace D19)


def ended_status(status: JobStatus, outcome: Outcome, now: datetime) -> JobStatus:
    """The last status of a job."""
    state = JobState.SUCCEEDED if outcome.ok else JobState.FAILED
    return replace(status, state=state, completed_at=stamp(now), outcome=outcome)


def status_after(
    order: Order,
    status: JobStatus,
    outcome: Outcome,
    now: datetime,
    *,
    cancelled: bool,
    localise: Callable[[Outcome], Outcome],
) -> JobStatus:
    """The status after an attempt: its end, or pending until the next attempt. `cancelled`: no other one is wanted."""
    # Only an attempt is retried: a review that fails has used none up, and would fail again for ever.
    # Nothing is tried once more beside a robot that may still move, or whose driver bars it.
    retried = (
        outcome.cause in RETRIED
        and not bars_attempt(outcome)
        and status.state is JobState.RUNNING
        and status.attempt < order.attempts
    )
    if not retried:
        return ended_status(status, localise(outcome), now)
    if cancelled:
        why = coded("runtime.cancelled_after", n=status.attempt, said=outcome.message)
        outcome = replace(outcome, cause=Cause.CANCELLED, code="CANCELLED", message=why)
        return ended_status(status, localise(outcome), now)
    wait = backoff_s(order.backoff, status.attempt, order.id)
    left, _ = time_limit_s(order, status.first_started_at or status.started_at, now)
    if order.total_timeout_s and left <= wait:  # the time limit would end it at once
        return ended_status(status, localise(outcome), now)
    again = stamp(now + timedelta(seconds=wait))
    return replace(status, state=JobState.PENDING, not_before=again, outcome=localise(outcome), queued_at=stamp(now))


def refusal_outcome(findings: tuple[Finding, ...]) -> Outcome:
    first = findings[0]
    rest = len(findings) - 1
    five = {"field": first.field, "found": first.found, "expected": first.expected, "fix": first.fix}
    text = coded("runtime.refused_more", **five, rest=rest) if rest else coded("runtime.refused", **five)
    return Outcome.failure(Cause.REJECTED, first.code, text, findings=findings)


def time_limit_s(order: Order, first: str, now: datetime) -> tuple[float, bool]:
    """Seconds that an attempt starting now may take, and whether the limit of all attempts decides (workspace D20).

    `first`: when the first attempt started.
    """
    if not order.total_timeout_s or (began := parse_stamp(first)) is None:
        return order.timeout_s, False
    left = max(0.0, order.total_timeout_s - (now - began).total_seconds())
    return (left, True) if left <= order.timeout_s else (order.timeout_s, False)


def backoff_s(kind: str, attempt: int, id: str = "") -> float:
    """Seconds before the next attempt: 1 s, doubling or growing, at most 60 s (workspace D19), plus up to JITTER.

    The jitter spreads jobs that failed together; it is a function of the id and the attempt.
    """
    if kind not in ("exponential", "linear"):
        return 0.0
    base = float(min(60, 2 ** min(attempt - 1, 6) if kind == "exponential" else attempt))
    return round(base * (1 + JITTER * (crc32(f"{id}#{attempt}".encode()) % 1000) / 1000), 3) if id else base
