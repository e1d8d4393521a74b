"""The waiters of one event loop, indexed by topic, so that a change wakes only those that it concerns.

A publisher in any thread costs one `call_soon_threadsafe`, whatever the number of waiters and publications meanwhile.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator

from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import Wait

ALL = "/"


class Waiters:
    """One per event loop and feed. Everything but the feed's call happens on the loop."""

    def __init__(self, feed: ChangeFeed, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._at: dict[str, dict[_Waiter, None]] = {}  # by the exact topic
        self._below: dict[str, dict[_Waiter, None]] = {}  # by each path above the topic
        self._news: deque[tuple[str, ...]] = deque()
        self._called = False
        self.waiting = 0
        self._end = feed.listen(self._on_publish)

    def close(self) -> None:
        self._end()

    async def wait(
        self, wait: Wait, timeout: float | None = None, among: set[asyncio.Future[bool]] | None = None
    ) -> bool:
        """Until `wait.ready()`: True; False when the time is over. `timeout` in seconds replaces the wait's own.

        `among`: holds the wait's future meanwhile; the caller may end the wait by an exception set there.
        """
        seconds = wait.timeout if timeout is None else timeout
        if wait.ready():
            return True
        if seconds <= 0:
            return False
        future: asyncio.Future[bool] = self._loop.create_future()
        waiter = _Waiter(wait.ready, future)
        self._enter(waiter, wait.topics)
        self.waiting += 1
        if among is not None:
            among.add(future)
        timer = self._loop.call_later(min(seconds, 86_400.0), _over, future)
        try:
            if wait.ready():  # checked again, now that no publication can be missed
                return True
            return await future
        finally:
            timer.cancel()
            self.waiting -= 1
            if among is not None:
                among.discard(future)
            self._leave(waiter, wait.topics)

    def _enter(self, waiter: _Waiter, topics: tuple[str, ...]) -> None:
        for topic in topics or (ALL,):
            self._at.setdefault(topic, {})[waiter] = None
            for above in _above(topic):
                self._below.setdefault(above, {})[waiter] = None

    def _leave(self, waiter: _Waiter, topics: tuple[str, ...]) -> None:
        for topic in topics or (ALL,):
            _drop(self._at, topic, waiter)
            for above in _above(topic):
                _drop(self._below, above, waiter)

    def _on_publish(self, seq: int, topics: tuple[str, ...]) -> None:
        """In the publisher's thread."""
        self._news.append(topics)
        if not self._called:
            self._called = True
            try:
                self._loop.call_soon_threadsafe(self._wake_waiters)
            except RuntimeError:  # the loop is closed: there are no waiters
                self._news.clear()

    def _wake_waiters(self) -> None:
        self._called = False  # before checking: a later publication schedules another call
        concerned: dict[_Waiter, None] = {}
        while self._news:
            topics = self._news.popleft()
            if not self.waiting:
                continue
            for topic in topics or (ALL,):
                concerned.update(self._at.get(topic, {}))
                concerned.update(self._below.get(topic, {}))
                for above in _above(topic):
                    concerned.update(self._at.get(above, {}))
        for waiter in concerned:
            waiter.check()


class _Waiter:
    __slots__ = ("_future", "_ready")

    def __init__(self, ready: Callable[[], bool], future: asyncio.Future[bool]) -> None:
        self._ready, self._future = ready, future

    def check(self) -> None:
        if self._future.done():
            return
        try:
            if self._ready():
                self._future.set_result(True)
        except Exception as error:  # the waiter's own error, raised in it alone
            self._future.set_exception(error)


def _over(future: asyncio.Future[bool]) -> None:
    if not future.done():
        future.set_result(False)


def _drop(index: dict[str, dict[_Waiter, None]], topic: str, waiter: _Waiter) -> None:
    here = index.get(topic)
    if here is not None:
        here.pop(waiter, None)
        if not here:
            del index[topic]


def _above(topic: str) -> Iterator[str]:
    """The paths above a topic, "/" last."""
    if topic == ALL:
        return
    at = topic.rfind("/")
    while at > 0:
        yield topic[:at]
        at = topic.rfind("/", 0, at)
    yield ALL
