"""Whether a body stands: slow and at one place for a while, and not at one moment, as a swing is where it turns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

STOOD_S: Final = 0.5  # how long it is to be seen at one place
LONGER: Final = 4  # times as long, each time that it turned out to creep
LONGEST_S: Final = 60.0


class StandingWindow:
    """Fed with the readings since a stop, in order. Each is compared with the first of those at whose place it is."""

    def __init__(self, travel: float, wanted: float = STOOD_S) -> None:
        """`travel`: how far a part may be from where it was and still be at its place (rad or m): more is no noise.
        `wanted`: how long a body that has crept before is to be seen at one place, s."""
        self._travel = travel
        self._last, self.wanted = -math.inf, wanted
        self._first: tuple[float, tuple[float, ...]] | None = None  # when and where

    def stands(self, since: float, at: float, place: Sequence[float], *, slow: bool) -> bool:
        """`at`: when it was read (`Clock.monotonic`), after `since`. `place`: of every part. `slow`: by speed.

        A body that creeps is believed later each time.
        """
        if -math.inf < self._last <= since:  # another stop: nothing was read since
            self.wanted, self._first = STOOD_S, None
        self._last, here = at, tuple(map(float, place))
        first = self._first
        if not slow or first is None or len(first[1]) != len(here):
            self._first = (at, here) if slow else None
            return False
        if max((abs(a - b) for a, b in zip(here, first[1], strict=True)), default=0.0) > self._travel:
            self._first, self.wanted = (at, here), min(LONGER * self.wanted, LONGEST_S)
            return False
        return at - first[0] >= self.wanted
