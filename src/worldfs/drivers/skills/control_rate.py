"""The beat of a control loop: step k is due at start + k / hz, whatever the steps before it took."""

from __future__ import annotations

from collections.abc import Callable

from worldfs.ground.clock import Clock

Wait = Callable[[float], object]


class ControlRate:
    """`wait` passes real seconds and returns early if there is reason to; None: the beat is kept in figures only.

    A step that comes later than the next beat moves the whole beat on, so that no burst of steps follows a pause.
    """

    def __init__(self, hz: float, clock: Clock, wait: Wait | None) -> None:
        self.period = 1.0 / hz
        self._clock, self._wait = clock, wait
        self._due = clock.monotonic()
        self.late: list[float] = []  # seconds after its beat that each step began
        self.missed = 0  # beats that were skipped

    def __call__(self) -> None:
        """Until the next beat."""
        if self._wait is None:
            return
        left = self._due - self._clock.monotonic()
        if left > 0:
            self._wait(left)
        behind = self._clock.monotonic() - self._due
        skipped = int(behind / self.period) if behind > 0 else 0
        self.missed += skipped
        self.late.append(max(0.0, behind))
        self._due += (skipped + 1) * self.period

    def again(self) -> None:
        """The beat begins anew now: the loop waited for a policy, not for its body."""
        self._due = self._clock.monotonic()
