"""Pacing: a simulation that keeps to the wall's time, so that a person can watch it and stop it in the middle."""

from __future__ import annotations

import threading
from typing import Final

from worldfs.base.clock import Clock

STOP_S: Final = 0.02  # s of wall time between two checks of the stop flag
BEHIND_S: Final = 0.1  # s: what is later than that is not caught up


class Pacing:
    """`factor`: seconds of the simulation in a second of the clock."""

    def __init__(self, clock: Clock, factor: float) -> None:
        self._clock, self.factor = clock, factor
        self._never = threading.Event()
        self._due = 0.0

    def steps_between_checks(self, most: int, timestep: float) -> int:
        return max(1, min(most, int(STOP_S * self.factor / timestep)))

    def keep(self, seconds: float) -> None:
        """Let as much wall time pass as these seconds of the simulation take."""
        now = self._clock.monotonic()
        self._due = max(self._due, now - BEHIND_S) + seconds / self.factor
        if self._due > now:
            self._clock.wait(self._never, self._due - now)
