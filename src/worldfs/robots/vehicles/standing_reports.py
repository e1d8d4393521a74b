"""Whether a vehicle stands, by its reports: the place that each tells is compared with the place of earlier ones."""

from __future__ import annotations

import math
from typing import Final

from worldfs.base.driver_memory import DriverMemory
from worldfs.base.json_values import as_float
from worldfs.robots.standing_window import LONGER, LONGEST_S, STOOD_S, StandingWindow

from .vehicle_interface import Pose

TRAVEL: Final = 0.05  # m, rad between reports of a vehicle that says that it stands: more is no noise of its position
CREPT: Final = "crept"  # how long it must be at one place since, s: a fact of its memory


class StandingReports:
    """Fed with each report that should tell a position, in the order of their arrival."""

    def __init__(self, memory: DriverMemory) -> None:
        self._memory, crept = memory, memory.recall(CREPT)
        wanted = as_float(crept, STOOD_S if crept is None else LONGER * STOOD_S)
        self._window = StandingWindow(TRAVEL, min(max(wanted, STOOD_S), LONGEST_S))
        self._at, self._stood = -math.inf, False

    def begin(self) -> None:
        """The vehicle is told to move: where it was before says nothing any more."""
        self._window, self._stood = StandingWindow(TRAVEL), False

    def hear(self, at: float, place: Pose | None, *, slow: bool) -> None:
        """`at`: when the report arrived, s. `place`: None if it cannot be read, or is not told any more. `slow`: the
        vehicle says that it stands."""
        self._at, self._stood = at, False
        if not slow:
            self._window = StandingWindow(TRAVEL)
        elif place is not None:
            x, y, yaw = place
            self._stood = self._window.stands(-math.inf, at, (x, y, math.cos(yaw), math.sin(yaw)), slow=True)
        wanted = self._window.wanted
        self._memory.note(CREPT, wanted if wanted > STOOD_S else None)

    def stands(self, since: float) -> bool:
        """Whether the last report is later than `since` and has the vehicle where it was for half a second. A vehicle
        that turned out to creep must have been at one place for longer."""
        return self._stood and self._at > since
