"""The counter of a home's calls: job-1, job-2, … for ever, without ever looking at what there has been."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from worldfs.kernel.jobs import Jobs

KEY: Final = ".paos/calls.next"  # every number below it may have been given away
AHEAD: Final = 64  # numbers that one write covers


class Counter:
    """Not locked: who asks for a number holds the lock of the table."""

    def __init__(self, jobs: Jobs, highest: int) -> None:
        """`highest`: the greatest number among the jobs that were found anyway."""
        self._jobs = jobs
        self._limit = self._kept()
        self._next = max(highest + 1, self._limit - AHEAD, 1)
        while self._jobs.known(f"job-{self._next}"):  # at most AHEAD of them, unless the file was lost
            self._next += 1

    def take(self) -> str:
        number = self._next
        if number >= self._limit:
            self._limit = number + AHEAD
            self._jobs.store.put(KEY, b"%d\n" % self._limit, durable=False)  # a lost one costs looks, no number twice
        self._next += 1
        return f"job-{number}"

    def _kept(self) -> int:
        stored = self._jobs.store.get(KEY)
        with suppress(ValueError):
            return int(stored.data) if stored is not None else 0
        return 0
