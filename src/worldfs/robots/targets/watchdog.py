"""The watchdog: a thread that stops a robot when its session is silent or over.

It is armed by the first step. A step or a heartbeat feeds it; a run that was cancelled or is out of time, and silence
longer than the limit, make it stop the robot, again and again until that worked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from worldfs.base.clock import Clock
from worldfs.base.driver import Run
from worldfs.base.messages import coded

LOOK_S = 0.02  # real seconds between two checks


class Watchdog:
    """`stop(why)` may raise: it is tried again at the next check."""

    def __init__(self, clock: Clock, limit_s: float, stop: Callable[[str], None], tend: Callable[[], None]) -> None:
        """`tend` is called at each check while the robot is led: what must end by itself ends there."""
        self._clock, self._limit_s, self._stop, self._tend = clock, limit_s, stop, tend
        self._fed: float | None = None  # None: not moving
        self._run: Run | None = None
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.trouble = ""  # why the last stop did not work

    def start(self) -> None:
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._thread.start()

    def set_run(self, run: Run | None) -> None:
        """Sets the run whose end is the robot's stop; None: no session."""
        self._run = run

    def feed(self) -> None:
        self._fed = self._clock.monotonic()

    def heartbeat(self) -> None:
        """The session is alive; a robot that was not moved yet stays unwatched."""
        if self._fed is not None:
            self.feed()

    def rest(self) -> None:
        """It is stopped: nothing to watch until the next step."""
        self._fed = None

    def check(self) -> str:
        """One check: "" or why the robot was stopped."""
        fed, run = self._fed, self._run
        if fed is None:
            return ""
        silent = self._clock.monotonic() - fed
        why = (run.stop if run is not None else "") or ""
        if not why and silent > self._limit_s:
            why = coded("target.silent", s=silent, limit=self._limit_s)
        try:
            if not why:
                self._tend()
                return ""
            self._stop(why)
        except Exception as error:  # a library's own: whatever it is, the next check tries again
            self.trouble = f"{type(error).__name__}: {error}"
            return why
        self.trouble = ""
        if self._fed == fed:
            self._fed = None
        return why

    def close(self) -> None:
        self._over.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(1.0)  # it may hang in a library; it is a daemon

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            self.check()
