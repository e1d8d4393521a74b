"""The ready queues, one for each lane, sorted by rank; jobs that are not due yet are kept apart."""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from worldfs.base.clock import parse_stamp
from worldfs.base.model import Job

from . import job_schedule
from .job_schedule import Key


class ReadyQueue:
    """One queue for each lane. A job's rank never changes while it waits.

    Every job in a queue is due and has no open dependency, so a choice reads only the heads.
    """

    def __init__(self, lane_of: Callable[[Job], str] = lambda job: job.order.node) -> None:
        self._lane_of = lane_of
        self._lines: dict[str, list[Job]] = {}
        self._lane: dict[str, str] = {}  # id → lane of a job in a queue; `lane_of` may change its mind
        self._rank: dict[str, Key] = {}  # id → rank of a job in a queue
        self._later: dict[str, Job] = {}  # not yet due
        self._moments: list[tuple[datetime, str]] = []  # heap of their times; ids of dropped jobs are skipped

    def __getitem__(self, lane: str) -> Sequence[Job]:
        return self._lines.get(lane, ())

    @property
    def waiting(self) -> bool:
        """Whether any job is due."""
        return bool(self._lines)

    def lane(self, job: Job) -> str:
        """The lane of a job in a queue."""
        return self._lane[job.id]

    def add(self, job: Job) -> None:
        moment = parse_stamp(job.status.not_before) if job.status.not_before else None
        if moment is not None:
            self._later[job.id] = job
            heapq.heappush(self._moments, (moment, job.id))
        else:
            self._insert(job)

    def drop(self, job: Job) -> None:
        """Remove the job, if it is here."""
        if self._later.pop(job.id, None) is not None or (lane := self._lane.pop(job.id, None)) is None:
            return
        line = self._lines[lane]
        index = 0 if line[0].id == job.id else bisect.bisect_left(line, self._rank[job.id], key=self._ranked)
        del line[index], self._rank[job.id]
        if not line:
            del self._lines[lane]

    def choose(
        self,
        running: Mapping[str, object],
        now: datetime,
        able: Callable[[str], bool],
        ready: Callable[[Job], bool] = lambda job: True,
    ) -> list[Job]:
        while self._moments and self._moments[0][0] <= now:
            job = self._later.pop(heapq.heappop(self._moments)[1], None)
            if job is not None:
                self._insert(job)
        return job_schedule.choose(self._lines, running, now, ready, able)

    def next_due(self) -> datetime | None:
        """When the next job that is not due yet becomes due; None if there is none."""
        while self._moments and self._moments[0][1] not in self._later:
            heapq.heappop(self._moments)
        return self._moments[0][0] if self._moments else None

    def _insert(self, job: Job) -> None:
        lane = self._lane[job.id] = self._lane_of(job)
        self._rank[job.id] = job_schedule.rank(job)
        bisect.insort(self._lines.setdefault(lane, []), job, key=self._ranked)

    def _ranked(self, job: Job) -> Key:
        return self._rank[job.id]
