"""When the sheets are rendered: at once when nothing moves, now and then while jobs run one after the other."""

from __future__ import annotations

from collections.abc import Callable

from worldfs.ground.clock import Clock
from worldfs.ground.model import Job

from .alerts import Alerts
from .sheets import Sheets

ROUNDS = 10  # renderings in a row that foreign writes may spoil before other work has its turn
WAIT_S = 0.02  # a busy kernel shows its progress this often, or at 1/20 of its time if the sheet is long


class Showing:
    def __init__(self, sheets: Sheets, alert: Alerts, clock: Clock) -> None:
        self._sheets, self._alert, self._clock = sheets, alert, clock
        self._since: float | None = None  # what changed then is not shown yet
        self._cost = 0.0  # seconds of the last rendering

    def changed(self, job: Job, since: float | None = None) -> None:
        """`since`: the clock when it did, if not now."""
        self._sheets.update(job)
        if self._since is None:
            self._since = self._clock.monotonic() if since is None else since

    def show(self, take_in: Callable[[], bool], *, busy: bool) -> bool:
        """True: orders came in, by `take_in`, which is asked when somebody wrote first."""
        self._alert.tell()
        if not self._sheets.dirty:
            return False
        now = self._clock.monotonic()
        since = now if self._since is None else self._since
        if busy and now - since < self._wait():
            self._since = since
            return False
        forward = False
        self._since = None
        for _ in range(ROUNDS):
            started = self._clock.monotonic()
            if self._sheets.render():
                self._cost = self._clock.monotonic() - started
                break
            forward |= take_in()  # somebody wrote between our look and our write: theirs first
            if not self._sheets.waiting:
                break
        else:
            self._since = self._clock.monotonic()
        self._alert.tell()
        return forward

    def patience(self, now: float) -> float | None:
        """Seconds until there is something to show; None: there is nothing."""
        if not self._sheets.waiting or self._since is None:
            return None
        return self._since + self._wait() - now

    def _wait(self) -> float:
        return max(WAIT_S, 20 * self._cost)
