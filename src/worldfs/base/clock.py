"""The one clock, handed in by the caller, so that tests never sleep.

Nothing else asks the system for the time (`scripts/words.py` checks it). Coroutines use their event loop's clock
(`loop.time`, `asyncio.timeout`), which their caller made.
"""

from __future__ import annotations

import time
from functools import cache, partial
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a command that only reads needs no time, and should start fast
    import threading
    from collections.abc import Callable
    from datetime import datetime


class Clock(Protocol):
    """Wall time for what is written, monotonic seconds for deadlines."""

    def now(self) -> datetime:
        """Present UTC time, timezone-aware."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go backwards; only differences mean anything."""
        ...

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Let so many seconds pass, or fewer if the event comes: whether it has come."""
        ...


class SystemClock:
    """The machine's clock. A package that is lent it cannot change it for others."""

    __slots__ = ()

    def now(self) -> datetime:
        return _reader_of_now()()

    def monotonic(self) -> float:
        return time.monotonic()

    def wait(self, event: threading.Event, seconds: float) -> bool:
        return event.wait(seconds)


@cache
def _reader_of_now() -> Callable[[], datetime]:
    from datetime import UTC, datetime

    return partial(datetime.now, UTC)


def stamp(moment: datetime) -> str:
    """ISO 8601 in UTC with `Z`, microseconds only where there are any (000, ENVIRONMENT.md `updated_at`)."""
    from datetime import UTC

    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def epoch_ns(moment: datetime) -> int:
    """Nanoseconds since 1970, in steps of 1000: for names that sort by time, and for fields of the wire."""
    from datetime import UTC, datetime, timedelta

    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000


def parse_stamp(text: str) -> datetime | None:
    """A time as dialects write it (`…Z`, `…+00:00`, naive = UTC); None if it is no time."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00").replace("z", "+00:00"))
    except (ValueError, AttributeError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
