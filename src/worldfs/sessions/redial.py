"""Connecting again, at a bounded pace, to a robot that is not reached: a thread that is there only meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from worldfs.base.clock import Clock

FIRST_S: Final = 1.0  # until the first try; each further one waits twice as long
LAST_S: Final = 10.0  # at most


class Redial:
    """`begin` costs nothing while one is under way."""

    def __init__(self, name: str, clock: Clock, dial: Callable[[], bool]) -> None:
        """`dial`: tries once, waits for at most a few seconds, and raises nothing. True: it is reached."""
        self._name, self._clock, self._dial = name, clock, dial
        self._lock = threading.Lock()
        self._runs = False
        self._closed = threading.Event()

    def begin(self, changed: threading.Event) -> None:
        """Go on until it is reached, or `close`. `changed`: set when something is heard of it; it ends a pause."""
        with self._lock:
            if self._runs or self._closed.is_set():
                return
            self._runs = True
        self._changed = changed
        threading.Thread(target=self._loop, name=f"connect {self._name}", daemon=True).start()

    def close(self) -> None:
        self._closed.set()

    def _loop(self) -> None:
        pause = FIRST_S
        try:
            while not self._closed.is_set():
                self._changed.clear()
                self._clock.wait(self._changed, pause)
                if self._closed.is_set() or self._dial():
                    return
                pause = min(2 * pause, LAST_S)
        finally:
            with self._lock:
                self._runs = False
