"""Which jobs start next: a pure function of the pending jobs, the running ones and the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from worldfs.base.clock import parse_stamp
from worldfs.base.model import Job

PRIORITY = {"high": 0, "normal": 1, "medium": 1, "low": 2}  # workspace D17

Key = tuple[int, str, str, int, int, str]


def rank(job: Job) -> Key:
    """Priority, then created_at, then acceptance, then order in the write (workspace D17, D18), then id."""
    order = job.order
    created = parse_stamp(order.created_at)
    return (
        PRIORITY.get(order.priority, 1),
        created.isoformat() if created else job.status.accepted_at,
        job.status.accepted_at,
        order.seq,
        len(order.id),  # job-9 before job-10
        order.id,
    )


def due(job: Job, now: datetime) -> bool:
    if not job.status.not_before:
        return True
    moment = parse_stamp(job.status.not_before)
    return moment is None or moment <= now


def choose(
    pending: Mapping[str, Sequence[Job]],
    running: Mapping[str, object],
    now: datetime,
    ready: Callable[[Job], bool] = lambda job: True,
    able: Callable[[str], bool] = lambda lane: True,
) -> list[Job]:
    """At most one job for each idle lane, by rank: lanes may share threads.

    `pending`: lane → jobs sorted by `rank`; `ready`: may the job start? `able`: may the lane work?
    """
    chosen = []
    for lane, line in pending.items():
        if lane in running or not line or not able(lane):
            continue
        for job in line:
            if due(job, now) and ready(job):
                chosen.append(job)
                break
    if len(chosen) > 1:
        chosen.sort(key=rank)
    return chosen
