"""What was just learned of a tree's paths: stats, for as long as nothing was published."""

from __future__ import annotations

import time
from typing import Final

from worldfs.tree.feed import Feed

from .ports import Served, Stat

FRESH_S: Final = 0.1  # for what changes without being published: another program's write to a file of a room
MOST: Final = 65_536  # paths; a walk of everything must not stay in memory for ever
EACH_ITS_OWN: Final = "/agents/self/events"  # what a connection waits for: no two need see the same there


class Known:
    """One tree, shared by all connections that are bound alike. On the loop only; light paths, and directories."""

    def __init__(self, tree: Served, feed: Feed) -> None:
        self.tree, self.feed = tree, feed
        self._stats: dict[str, Stat] = {}
        self._seq = -1
        self._until = 0.0

    def stat(self, path: str) -> Stat | None:
        """What is known of a path now; None: ask."""
        if self._seq != self.feed.seq or time.monotonic() > self._until:
            self._stats.clear()
            return None
        return self._stats.get(path)

    def learn(self, path: str, stat: Stat, seq: int) -> None:
        """`seq`: the feed's number before it was asked."""
        if path.startswith(EACH_ITS_OWN):
            return
        if not self._stats or len(self._stats) >= MOST or seq != self._seq:
            self._stats.clear()
            self._seq, self._until = seq, time.monotonic() + FRESH_S
        self._stats[path] = stat

    def forget(self) -> None:
        self._stats.clear()
