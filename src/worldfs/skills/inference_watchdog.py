"""The watchdog of a policy's inference: a stop must not wait for an answer.

The request itself stays in the loop's thread: another thread would cost two context switches an answer, which on a
busy machine makes a control loop miss its due time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from worldfs.base.driver import Run

CHECK_S = 0.05  # how often a deadline is checked; a cancel takes effect at once


class InferenceWatchdog:
    """`end` is called, from another thread, if the run shall stop or the limit passes within `waiting`.

    `beat` is called while a request is open: the target's watchdog learns that the loop waits and does not hang. What
    either raises ends the request, and is raised by `waiting`.
    """

    def __init__(self, run: Run, end: Callable[[], None], beat: Callable[[], None] = lambda: None) -> None:
        self._run, self._end, self._beat = run, end, beat
        self._lock = threading.Lock()
        self._until: float | None = None  # of the run's clock, at which a request has waited for too long
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._fault: Exception | None = None
        self.ended = False  # a request was ended here

    @contextmanager
    def waiting(self, limit_s: float) -> Iterator[None]:
        """A request is open, for at most so many seconds of the run's clock."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="inference watchdog", daemon=True)
            self._thread.start()
        with self._lock:
            self._until = self._run.clock.monotonic() + limit_s
        try:
            yield
        finally:
            with self._lock:
                self._until = None
            if self._fault is not None:
                raise self._fault

    def close(self) -> None:
        """No request is open any more; the thread wakes once and ends."""
        self._over.set()

    def _watch(self) -> None:
        while not self._over.is_set():
            if self._run.cancel.is_set():
                self._over.wait(CHECK_S / 10)  # the loop sees it by itself, unless it is waiting
            else:
                self._run.cancel.wait(CHECK_S)
            with self._lock:
                if self._until is not None:
                    self._check(self._until)

    def _check(self, until: float) -> None:
        try:
            if not self._run.stop and self._run.clock.monotonic() < until:
                return self._beat()
            self.ended = True
        except Exception as error:  # whatever a target raises
            self._fault = error
        self._until = None
        try:
            self._end()
        except Exception as error:  # or a policy
            self._fault = self._fault or error
        return None
