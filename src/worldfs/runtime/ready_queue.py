"""The ready queues, one for each node, sorted by rank; jobs that are not due yet are kept apart."""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from worldfs.base.clock import parse_stamp
from worldfs.base.model import Job

from . import job_schedule


class ReadyQueue:
    """One queue for each node. A job's rank never changes while it waits.

    Every job in a queue is due and has no open dependency, so a choice reads only the heads.
    """

    def __init__(self, nodes: Iterable[str]) -> None:
        self._lines: dict[str, list[Job]] = {name: [] for name in nodes}
        self._later: dict[str, Job] = {}  # not yet due
        self._moments: list[tuple[datetime, str]] = []  # heap of their times; ids of dropped jobs are skipped

    def __getitem__(self, node: str) -> list[Job]:
        return self._lines[node]

    def open(self, node: str) -> None:
        """A queue for a new node."""
        self._lines.setdefault(node, [])

    def add(self, job: Job) -> None:
        moment = parse_stamp(job.status.not_before) if job.status.not_before else None
        if moment is not None:
            self._later[job.id] = job
            heapq.heappush(self._moments, (moment, job.id))
        else:
            bisect.insort(self._lines[job.order.node], job, key=job_schedule.rank)

    def drop(self, job: Job) -> None:
        """Remove the job, if it is here."""
        if self._later.pop(job.id, None) is not None:
            return
        line = self._lines.get(job.order.node, [])
        index = bisect.bisect_left(line, job_schedule.rank(job), key=job_schedule.rank)
        if index < len(line) and line[index].id == job.id:
            del line[index]

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
                bisect.insort(self._lines[job.order.node], job, key=job_schedule.rank)
        return job_schedule.choose(self._lines, running, now, ready, able)

    def next_due(self) -> datetime | None:
        """When the next job that is not due yet becomes due; None if there is none."""
        while self._moments and self._moments[0][1] not in self._later:
            heapq.heappop(self._moments)
        return self._moments[0][0] if self._moments else None
