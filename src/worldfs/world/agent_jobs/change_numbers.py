"""Numbers of changes that only grow, also when a new process counts its feed from 0 again."""

from __future__ import annotations

import threading

from worldfs.base.clock import Clock
from worldfs.tree.change_feed import ChangeFeed

from .agent_job import epoch_ms


class ChangeNumbers:
    """Ends of jobs and publications of a feed, numbered in one sequence. Thread-safe."""

    def __init__(self, clock: Clock, feed: ChangeFeed) -> None:
        self._base, self._feed = epoch_ms(clock.now()), feed
        self._lock = threading.Lock()
        self._last_end = 0

    def last(self) -> int:
        """The number of the last change so far; ends and publications count on from it."""
        with self._lock:
            return max(self._base + self._feed.seq, self._last_end)

    def next_end(self) -> int:
        """The number of an end that is noted now."""
        with self._lock:
            self._last_end = max(self._base + self._feed.seq, self._last_end) + 1
            return self._last_end

    def earlier_end(self, at_ms: int) -> int:
        """The number of an end that an earlier process noted; they come in their order."""
        with self._lock:
            self._last_end = max(self._last_end + 1, at_ms)
            return self._last_end

    def of_publication(self, seq: int) -> int:
        return self._base + seq

    def publication(self, number: int) -> int:
        """The publication of the feed with that number; 0 for one before this process."""
        return max(0, number - self._base)
