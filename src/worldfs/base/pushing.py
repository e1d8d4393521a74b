"""What the critic, the planner and a driver must hold alike of a push."""

from __future__ import annotations

from typing import Final

BEHIND: Final = 0.0355  # m behind the side of a thing that the hand comes down to push it
LOWEST: Final = 0.006  # m that a thing is high at least: the fingertips pass over a lower one
_OFF: Final = 0.010  # m off its end that a push may be; of a long one:
_OFF_SHARE: Final = 0.15  # of its distance


def tolerance(metres: float) -> float:
    """How far (m) from its end, in the plane, a thing that was pushed so far may come to rest."""
    return min(max(_OFF, _OFF_SHARE * metres), metres / 2)  # a push that is not made does not count as made
