"""A job as spans: the whole life, its wait, the judging and each attempt, and each answer of a policy within it.

The ids are hashes of the job's id, so that every process, and a second run of the exporter, says the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.base.model import Job

CALLS_MOST: Final = 1000  # spans of answers of a policy in one job
TEXT_MOST: Final = 1024  # signs of one attribute
Attribute = str | int | float | bool
ROOT: Final = "job"


class SeenEvent(NamedTuple):
    """What the kernel said of a job ("started", "running", "retry", "asked", …), and when: ns since 1970."""

    what: str
    job: Job
    at: int


class JobSpan(NamedTuple):
    key: str  # within the job; the span's id is made of it
    name: str
    start: int  # ns since 1970
    end: int
    parent: str = ROOT  # a key; of the root itself ""
    attributes: dict[str, Attribute] = {}  # noqa: RUF012  # a default of a named tuple, which nobody changes
    events: tuple[tuple[str, int], ...] = ()
    error: str = ""
    links: tuple[str, ...] = ()  # ids of jobs


def trace_id(job: str) -> int:
    """128 bits, as the standard has it; never 0."""
    return int.from_bytes(hashlib.sha256(f"worldfs job {job}".encode()).digest()[:16], "big") or 1


def span_id(job: str, key: str) -> int:
    """64 bits, never 0."""
    return int.from_bytes(hashlib.sha256(f"worldfs span {job} {key}".encode()).digest()[:8], "big") or 1


def job_spans(seen: Sequence[SeenEvent], calls: Iterable[bytes] = ()) -> list[JobSpan]:
    """The spans of a job that has ended, by what was seen of it, the last event its end; `calls`: the lines of its
    session's trace. Empty without an end."""
    job = seen[-1].job
    status, outcome = job.status, job.status.outcome
    begin, end = _ns(status.accepted_at), _ns(status.completed_at)
    if outcome is None or not begin or not end:
        return []
    attempts, found = _attempts(seen, end), []
    first = attempts[0].start if attempts else end
    found.append(JobSpan("wait", "wait", begin, max(begin, first), events=_events(seen, "asked")))
    for n, attempt in enumerate(attempts, 1):
        found += attempt.spans(n)
    if attempts and attempts[-1].running:
        key = f"run {len(attempts)}"
        found += _calls(calls, attempts[-1].running, key)
    error = "" if outcome.ok else outcome.message[:TEXT_MOST] or outcome.code
    links = tuple(job.order.depends_on)
    return [JobSpan(ROOT, job.order.op, begin, end, "", _of_job(job), (), error, links), *found]


class _Attempt(NamedTuple):
    start: int
    running: int  # 0: it was refused
    end: int

    def spans(self, n: int) -> list[JobSpan]:
        judged = JobSpan(f"judge {n}", "judge", self.start, self.running or self.end)
        if not self.running:
            return [judged]
        return [judged, JobSpan(f"run {n}", "run", self.running, self.end, attributes={"worldfs.attempt": n})]


def _attempts(seen: Sequence[SeenEvent], end: int) -> list[_Attempt]:
    """One for each start that was seen; an attempt ends with the retry that follows it, the last with the job."""
    starts = [n for n, event in enumerate(seen) if event.what == "started"]
    found = []
    for n, at in enumerate(starts):
        following = starts[n + 1] if n + 1 < len(starts) else len(seen)
        later = seen[at + 1 : following]
        retry = next((event.at for event in later if event.what == "retry"), 0)
        running = _ns(later[-1].job.status.started_at) if later else 0
        stop = retry or end
        start = min(seen[at].at, running) if running else min(seen[at].at, stop)
        found.append(_Attempt(start, min(running, stop), stop))
    return found


def _events(seen: Sequence[SeenEvent], *names: str) -> tuple[tuple[str, int], ...]:
    return tuple((event.what, event.at) for event in seen if event.what in names)


def _calls(lines: Iterable[bytes], begin: int, parent: str) -> list[JobSpan]:
    found: list[JobSpan] = []
    for raw in lines:
        if b'"policy_ms"' not in raw or len(found) == CALLS_MOST:
            continue
        try:
            line = as_object(parse_json(raw))
            end = begin + int(1e9 * float(str(line["policy_at"])))
            start = end - int(1e6 * float(str(line["policy_ms"])))
        except (ValueError, KeyError, OverflowError):  # cut off by a full disk
            continue
        step: dict[str, Attribute] = {"worldfs.step": int(str(line.get("step", 0)))}
        found.append(JobSpan(f"policy {len(found)}", "policy.infer", max(begin, start), end, parent, step))
    return found


def _of_job(job: Job) -> dict[str, Attribute]:
    """What is known of it: short texts, and the numbers that were measured. Parameters and messages of people stay."""
    order, status, outcome = job.order, job.status, job.status.outcome
    assert outcome is not None
    texts = {
        "worldfs.job": order.id, "worldfs.node": order.node, "worldfs.op": order.op, "worldfs.asker": order.asker,
        "worldfs.orderer": order.orderer, "worldfs.state": status.state.value, "worldfs.code": outcome.code,
        "worldfs.cause": outcome.cause.value if outcome.cause else "",
    }  # fmt: skip
    found: dict[str, Attribute] = {name: text[:TEXT_MOST] for name, text in texts.items() if text}
    found["worldfs.attempts"] = status.attempt
    for name, value in {**as_object(outcome.evidence.get("measured")), **outcome.evidence}.items():
        if isinstance(value, int | float):
            found[f"worldfs.evidence.{name}"[:TEXT_MOST]] = value
    return found


def _ns(moment: str) -> int:
    """An ISO time, without loss of its microseconds; 0 for none."""
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        return 0
    return int(at.timestamp()) * 1_000_000_000 + at.microsecond * 1000
