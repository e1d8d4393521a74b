"""The reader of a change feed: one thread that waits for what is published at some topics."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from worldfs.base.clock import Clock

    from .change_feed import ChangeFeed, Publication


class FeedReader:
    """Nothing that is published after it was made is missed. Of one thread; close it, or use it as a context."""

    def __init__(self, feed: ChangeFeed, clock: Clock, *topics: str) -> None:
        self._feed, self._clock, self._topics = feed, clock, topics
        self._seq = feed.seq
        self._published = threading.Event()
        self._end = feed.listen(self._on_publish)

    def read(self, timeout: float | None = None) -> list[Publication]:
        """What was published since the last call, oldest first; waits for the first one (None: for ever).

        Empty: the time is over.
        """
        over = None if timeout is None else self._clock.monotonic() + timeout
        while True:
            self._published.clear()  # before looking: a later publication sets it again
            found = self._feed.since(self._seq)
            if found:
                self._seq = found[-1].seq
            concerned = [one for one in found if concerns(one.topics, self._topics)]
            if concerned:
                return concerned
            if over is None:
                self._published.wait()
                continue
            left = over - self._clock.monotonic()
            if left <= 0:
                return []
            self._clock.wait(self._published, left)

    def close(self) -> None:
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _on_publish(self, seq: int, topics: tuple[str, ...]) -> None:
        """In the publisher's thread."""
        if concerns(topics, self._topics):
            self._published.set()


def concerns(published: tuple[str, ...], topics: tuple[str, ...]) -> bool:
    """Whether a publication is of one of the topics: the same path, one above it or one below it."""
    if not published or not topics:
        return True
    return any(_within(one, topic) or _within(topic, one) for one in published for topic in topics)


def _within(path: str, above: str) -> bool:
    return path == above or path.startswith(above.rstrip("/") + "/")
