"""The lines before the nodes: pending jobs, each line sorted by rank."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from worldfs.ground.model import Job

from . import schedule


class Lines:
    """One line a node. A job is added and dropped as it is; its rank never changes while it waits."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self._lines: dict[str, list[Job]] = {name: [] for name in nodes}
        self._delayed = 0  # jobs that wait for a time

    def __getitem__(self, node: str) -> list[Job]:
        return self._lines[node]

    def open(self, node: str) -> None:
        """A line for a node that has come."""
        self._lines.setdefault(node, [])

    def add(self, job: Job) -> None:
        bisect.insort(self._lines[job.order.node], job, key=schedule.rank)
        self._delayed += bool(job.status.not_before)

    def drop(self, job: Job) -> None:
        line = self._lines.get(job.order.node, [])
        for index, waiting in enumerate(line):  # its place is near the front: it was chosen from there
            if waiting.id == job.id:
                del line[index]
                self._delayed -= bool(waiting.status.not_before)
                return

    def choose(
        self,
        running: Mapping[str, object],
        now: datetime,
        ready: Callable[[Job], bool],
        able: Callable[[str], bool],
    ) -> list[Job]:
        return schedule.choose(self._lines, running, now, ready, able)

    def next_due(self, running: Mapping[str, object]) -> datetime | None:
        """When the next job that waits for a time becomes due; None if none does."""
        return schedule.next_due(self._lines, running) if self._delayed else None
