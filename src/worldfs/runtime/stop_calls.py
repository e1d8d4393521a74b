"""Threads that make calls of which any may hang: drivers' stops, and questions whether a robot stands."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from worldfs.base.clock import Clock

from .grace import BODY

Call = Callable[[], object]

TAKE_OVER_S: Final = 0.005  # calls of ours take microseconds; one that asks a robot over a wire takes longer
MEASURE_S: Final = 0.02  # between two measurements while an answer is waited for
ASKED: Final = round(BODY.stop_s / MEASURE_S)  # times whether a robot stands, before its order ends without that


class _Batch:
    """Calls that were asked for together."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self.left = deque(calls)
        self.begun = threading.Event()
        if not self.left:
            self.begun.set()

    def work(self) -> None:
        while True:
            try:
                call = self.left.popleft()
            except IndexError:
                self.begun.set()
                return
            call()


class StopCalls:
    """The threads exist before they are needed: a process that is out of memory or of threads starts none."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._work: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._lock = threading.Lock()  # of the two counts; nothing is waited for under it
        self._threads = self._wanted = 0

    def prepare(self, threads: int) -> None:
        """Start as many threads as calls may hang at once, and one more."""
        with self._lock:
            missing = threads + 1 - self._threads
            self._threads += max(0, missing)
        for _ in range(missing):
            self._start()

    def begin(self, calls: Iterable[Call]) -> None:
        """Return when each call has begun. They must not raise.

        One thread makes them one after the other, since to wake a thread for each takes longer than most calls. While
        some have not begun, the threads double at intervals: a call that hangs holds up no other.
        """
        batch, threads = _Batch(calls), 0
        while not batch.begun.is_set() and batch.left:
            for _ in range(min(max(threads, 1), len(batch.left))):
                self._give(batch)
                threads += 1
            batch.begun.wait(TAKE_OVER_S)

    def is_soon(self, ask: Callable[[], bool], clock: Clock, over: Callable[[], bool]) -> bool:
        """Whether `ask`, called again and again, returns true within a while, before it is `over`. The while passes by
        the clock, and by the machine's while a call has not returned: one that hangs takes its share of it."""
        known, returned = threading.Event(), threading.Event()
        returned.set()

        def call() -> None:
            if ask():
                known.set()
            returned.set()

        for _ in range(ASKED):
            asked = clock.monotonic()
            if returned.is_set():
                returned.clear()
                self.begin([call])
            if returned.wait(MEASURE_S):
                clock.wait(known, asked + MEASURE_S - clock.monotonic())
            if known.is_set() or over():
                break
        return known.is_set()

    def close(self) -> None:
        """The threads end; one that hangs ends when its call returns."""
        with self._lock:
            threads = self._threads
        for _ in range(threads):
            self._work.put(None)

    def _give(self, batch: _Batch) -> None:
        with self._lock:
            self._wanted += 1
            more = self._wanted > self._threads
            self._threads += more
        if more:  # all that were prepared hang, or none was
            self._start()
        self._work.put(batch)

    def _start(self) -> None:
        try:
            threading.Thread(target=self._loop, name=self._name, daemon=True).start()
        except RuntimeError:  # no more threads, or no more memory: those that there are do it
            with self._lock:
                self._threads -= 1

    def _loop(self) -> None:
        while (batch := self._work.get()) is not None:
            batch.work()
            with self._lock:
                self._wanted -= 1
        with self._lock:
            self._threads -= 1
