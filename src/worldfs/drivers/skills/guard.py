"""Who watches while a policy is asked: a stop must not wait for an answer.

The question itself stays in the thread of the loop: handing it to another would cost two switches an answer, which on a
busy machine is what a control loop misses its beat by.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from worldfs.ground.driver import Run

LOOK_UP_S = 0.05  # how often a deadline is looked at; a cancel is heard at once


class Guard:
    """`end` is called, from another thread, if the run shall stop or the limit passes within `asked`.

    `beat` is called while a question is open: a robot's watchdog is told that its loop waits and does not hang.
    """

    def __init__(self, run: Run, end: Callable[[], None], beat: Callable[[], None] = lambda: None) -> None:
        self._run, self._end, self._beat = run, end, beat
        self._lock = threading.Lock()
        self._until: float | None = None  # of the run's clock, at which a question has waited for too long
        self._over = False
        self._thread: threading.Thread | None = None
        self.ended = False  # a question was ended from here

    @contextmanager
    def asked(self, limit_s: float) -> Iterator[None]:
        """A question is open, for at most so many seconds of the run's clock."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="guard of a policy", daemon=True)
            self._thread.start()
        with self._lock:
            self._until = self._run.clock.monotonic() + limit_s
        try:
            yield
        finally:
            with self._lock:
                self._until = None

    def close(self) -> None:
        """Nothing is asked any more; the thread looks up once and ends."""
        self._over = True

    def _watch(self) -> None:
        while not self._over:
            if self._run.cancel.is_set():
                time.sleep(LOOK_UP_S / 10)  # the loop sees it by itself, unless it is asking
            else:
                self._run.cancel.wait(LOOK_UP_S)
            with self._lock:
                if self._until is not None and (self._run.stop or self._run.clock.monotonic() >= self._until):
                    self._until, self.ended = None, True
                    self._end()
                elif self._until is not None:
                    self._beat()
