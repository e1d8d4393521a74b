"""A timer queue: a heap of callbacks and one thread that sleeps until the next of them."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable

from worldfs.base.clock import Clock

TimerCallback = Callable[[], None]


class TimerQueue:
    """`due` is called in the queue's thread, or in the caller's of `tick`; it must not block or raise."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._cond = threading.Condition()
        self._heap: list[tuple[float, int, TimerCallback]] = []
        self._count = itertools.count()
        self._thread: threading.Thread | None = None
        self._closed = False

    def schedule(self, moment: float, due: TimerCallback) -> None:
        """Call `due` once the clock's monotonic seconds reach `moment`."""
        with self._cond:
            heapq.heappush(self._heap, (moment, next(self._count), due))
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
                self._thread.start()
            elif self._heap[0][0] == moment:
                self._cond.notify()

    def tick(self) -> float | None:
        """Call the callbacks that are due; seconds until the next, None if there is none."""
        while True:
            with self._cond:
                due, left = self._take()
            if due is None:
                return left
            due()

    def close(self) -> None:
        with self._cond:
            self._closed = True
            self._heap.clear()
            self._cond.notify()

    def _run(self) -> None:
        while (due := self._wait()) is not None:
            due()

    def _wait(self) -> TimerCallback | None:
        """Wait for the next callback that is due, and remove it; None once there is none, or after `close`."""
        with self._cond:  # held from the look to the wait: `schedule` notifies only a thread that already waits
            while not self._closed:
                due, left = self._take()
                if due is not None:
                    return due
                if left is None:
                    break
                self._cond.wait(left)
            self._thread = None  # the next `schedule` starts another
            return None

    def _take(self) -> tuple[TimerCallback | None, float | None]:
        """The callback that is due, removed; else the seconds until the next, None if there is none. Holds the lock."""
        if not self._heap:
            return None, None
        left = self._heap[0][0] - self.clock.monotonic()
        return (heapq.heappop(self._heap)[2], None) if left <= 0 else (None, left)
