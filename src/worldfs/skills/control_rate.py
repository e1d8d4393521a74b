"""The rate of a control loop: step k is due at start + k / hz, however long the steps before it took."""

from __future__ import annotations

from collections.abc import Callable

from worldfs.base.clock import Clock

Wait = Callable[[float], object]


class ControlRate:
    """`wait` passes real seconds and returns early on a stop; None: the rate is only measured.

    A step that comes after the next due time shifts all later ones, so that no burst of steps follows a pause.
    """

    def __init__(self, hz: float, clock: Clock, wait: Wait | None) -> None:
        self.period = 1.0 / hz
        self._clock, self._wait = clock, wait
        self._due = clock.monotonic()
        self.late: list[float] = []  # seconds after its due time that each step began
        self.missed = 0  # due times that were skipped

    def __call__(self) -> None:
        """Wait until the next due time."""
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

    def restart(self) -> None:
        """Start counting from now: the loop waited for a policy, not for its target."""
        self._due = self._clock.monotonic()
