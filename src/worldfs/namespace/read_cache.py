"""The read cache of a tree: stats and contents by path, for as long as nothing has changed."""

from __future__ import annotations

import asyncio
from typing import Final

from worldfs.base.clock import Clock, SystemClock
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import Content, Stat

from .bound_tree import BoundTree, StampedTree

FRESH_S: Final = 0.1  # for what changes by time alone: a lease that runs out
MOST: Final = 65_536  # paths; a walk of everything must not stay in memory for ever
MOST_BYTES: Final = 16 << 20  # of contents
LARGE: Final = 1 << 20  # a content beyond it is rendered each time
EACH_ITS_OWN: Final = "/agents/self/events"  # differs between connections


class WriteCounter:
    """How often something was written through the verbs of one server."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class ReadCache:
    """One tree, shared by all connections that are bound alike. On the loop only; light paths, and directories.

    Nothing outlives a publication, a write, a change of the tree's stamp (checked once in a turn of the loop), or
    `FRESH_S`.
    """

    def __init__(
        self, tree: BoundTree, feed: ChangeFeed, writes: WriteCounter | None = None, clock: Clock | None = None
    ) -> None:
        """`writes`: shared by all caches of one server, because a write through one changes what the others hold."""
        self.tree, self.feed = tree, feed
        self._writes = writes or WriteCounter()
        self._monotonic = (clock or SystemClock()).monotonic
        self._stamped = tree if isinstance(tree, StampedTree) else None
        self._stamp: object = None
        self._looked = False
        self._stats: dict[str, Stat] = {}
        self._contents: dict[str, Content] = {}
        self._bytes = 0
        self._now = -1
        self._until = 0.0

    @property
    def now(self) -> int:
        """Another number after anything was published or written: both counts only grow."""
        return self.feed.seq + self._writes.count

    def invalidate(self) -> None:
        """A write happened: the caches of this server are empty."""
        self._writes.count += 1

    def stat(self, path: str) -> Stat | None:
        """The cached stat of a path; None: not cached."""
        return self._stats.get(path) if self._current() else None

    def content(self, path: str) -> Content | None:
        """The cached bytes of a file whose read does not wait; None: not cached."""
        return self._contents.get(path) if self._current() else None

    def learn(self, path: str, stat: Stat, asked: int) -> None:
        """`asked`: the value of `now` when the tree was asked."""
        if not path.startswith(EACH_ITS_OWN) and self._keeps(asked):
            self._stats[path] = stat

    def learn_content(self, path: str, content: Content, asked: int) -> None:
        size = len(content.data)
        if size > LARGE or path.startswith(EACH_ITS_OWN) or not self._keeps(asked):
            return
        if self._bytes + size > MOST_BYTES:
            self._contents.clear()
            self._bytes = 0
        self._contents[path] = content
        self._bytes += size

    def _forget(self) -> None:
        self._stats.clear()
        self._contents.clear()
        self._bytes = 0

    def _current(self) -> bool:
        if self._now != self.now or self._monotonic() > self._until or not self._same():
            self._forget()
            return False
        return True

    def _keeps(self, asked: int) -> bool:
        """Whether the answer may be kept: not if something changed meanwhile."""
        if asked != self.now:
            return False
        clock = self._monotonic()
        if asked != self._now or clock > self._until or len(self._stats) >= MOST:
            self._forget()
            self._now, self._until = asked, clock + FRESH_S
        return True

    def _same(self) -> bool:
        """Whether the tree's stamp is unchanged; checked once in a turn of the loop."""
        if self._looked or self._stamped is None:
            return True
        self._looked = True
        asyncio.get_running_loop().call_soon(self._look_again)
        before, self._stamp = self._stamp, self._stamped.stamp()
        return self._stamp is before

    def _look_again(self) -> None:
        self._looked = False
