"""A call into a package's skill that ends in time for its caller, however long the package takes.

The package works in a thread of its own. What it asks of the target meanwhile is done by the caller's thread, since
many simulators and devices belong to one thread. A late package is left behind: what it asks then is refused.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from math import inf
from typing import Generic, TypeVar

from worldfs.base.clock import Clock
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.plugin_faults import PluginFault

T = TypeVar("T")


class PluginLate(PluginFault):
    """It has not returned in time."""


class BoundedCall(Generic[T]):
    """One call, named `where` in the fault that says that it was late."""

    def __init__(self, where: str, clock: Clock) -> None:
        self._where, self._clock, self._lock, self._over = where, clock, threading.Lock(), False
        self._asked: queue.SimpleQueue[tuple[Callable[[], object], Future[object]] | None] = queue.SimpleQueue()

    def run(self, work: Callable[[], T], until: float) -> T:
        """What `work` answers or raises; `PluginLate` if it has done neither at that `clock.monotonic()`."""
        done: Future[T] = Future()
        limit_s = self._left(until)

        def answer() -> None:
            _settle(done, work)
            self._asked.put(None)

        threading.Thread(target=answer, name=self._where, daemon=True).start()
        try:
            while (asked := self._asked.get(timeout=self._left(until))) is not None:
                _settle(asked[1], asked[0])
        except queue.Empty:
            raise PluginLate(
                coded("plugin.late", s=round(limit_s or 0.0, 1)), path=self._where,
                expected=coded("plugin.answer_in_time"), fix=coded("plugin.correct"),
            ) from None  # fmt: skip
        finally:
            self._end()
        return done.result()

    def ask(self, call: Callable[[], object]) -> object:
        """From the thread of `work`: the answer of `call`, which the thread of `run` makes."""
        reply: Future[object] = Future()
        with self._lock:
            if self._over:
                raise BadInput(coded("plugin.is_over"), path=self._where, fix=coded("plugin.end_in_time"))
            self._asked.put((call, reply))
        return reply.result()

    def _left(self, until: float) -> float | None:
        return None if until == inf else max(0.0, until - self._clock.monotonic())

    def _end(self) -> None:
        with self._lock:
            self._over = True
        while not self._asked.empty():
            if (asked := self._asked.get()) is not None:
                asked[1].cancel()


def _settle(future: Future[T], work: Callable[[], T]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # its caller's thread raises it
        future.set_exception(error)


def bounded(where: str, clock: Clock, work: Callable[[], T], until: float) -> T:
    """The same of work that asks nothing."""
    return BoundedCall[T](where, clock).run(work, until)
