"""When the sheets are rendered: at once when no job runs, at intervals while jobs run one after the other."""

from __future__ import annotations

from collections.abc import Callable

from worldfs.base.clock import Clock
from worldfs.base.model import Job

from .alerts import Alerts
from .stored_sheets import StoredSheets

ROUNDS = 10  # renderings in a row that foreign writes may invalidate before other work goes on
WAIT_S = 0.02  # render interval of a busy kernel; longer for a long sheet, so that rendering takes 1/20 of the time


class RenderScheduler:
    def __init__(self, sheets: StoredSheets, alert: Alerts, clock: Clock) -> None:
        self._sheets, self._alert, self._clock = sheets, alert, clock
        self._since: float | None = None  # time of the first change that is not rendered yet
        self._cost = 0.0  # seconds of the last rendering

    def changed(self, job: Job, since: float | None = None) -> None:
        """`since`: the clock when it did, if not now."""
        self._sheets.update(job)
        if self._since is None:
            self._since = self._clock.monotonic() if since is None else since

    def show(self, read_sheets: Callable[[], bool], *, busy: bool) -> bool:
        """True: `read_sheets`, called when another program wrote first, found new orders."""
        self._alert.publish()
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
            forward |= read_sheets()  # another program wrote between our read and our write: its changes are read first
            if not self._sheets.waiting:
                break
        else:
            self._since = self._clock.monotonic()
        self._alert.publish()
        return forward

    def patience(self, now: float) -> float | None:
        """Seconds until the next rendering; None: nothing to render."""
        if not self._sheets.waiting or self._since is None:
            return None
        return self._since + self._wait() - now

    def _wait(self) -> float:
        return max(WAIT_S, 20 * self._cost)
