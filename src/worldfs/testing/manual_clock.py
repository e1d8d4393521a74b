"""A clock that advances only when a test advances it."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class ManualClock:
    """`Clock` for tests: time passes in `advance` and `wait` only. Usable from many threads."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._passed = 0.0
        self._lock = threading.Lock()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return self._passed

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """A wait lets the time pass, at once."""
        if not event.is_set():
            self.advance(max(0.0, seconds))
        return event.is_set()

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass at once. Raises ValueError for a negative number: no clock goes back."""
        if not seconds >= 0:
            raise ValueError(f"{seconds} s cannot pass")
        with self._lock:
            self._passed += seconds
