"""The ends of orders at a robot with a workspace of its own that are asked for after the orders were given up here."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from worldfs.base.model import Cause

from .handed_orders import HandedOrders, status_of

if TYPE_CHECKING:
    from worldfs.base.clock import Clock
    from worldfs.runtime.job_store import JobStore

KEEP_S: Final = 60.0  # an end that was read is forgotten when nothing has asked for it for so long


@dataclass(slots=True)
class AskedEnd:
    at: float  # when it was asked for last
    measured: bool | None = None  # None: the order has not ended there


class AskedEnds:
    """Asked from any thread; read by the link's own. An end is read once, as soon as the order has ended there."""

    def __init__(
        self, orders: HandedOrders, clock: Clock, *, new: Callable[[], None], ended: Callable[[], None]
    ) -> None:
        """`new`: called when an end is asked for that is not known; `ended`: when a measured end was read."""
        self._orders, self._clock, self._new, self._ended = orders, clock, new, ended
        self._lock = threading.Lock()
        self._asked: dict[str, AskedEnd] = {}  # by order

    def has_ended(self, order: str) -> bool:
        """Whether the order has a measured end there, as far as it was read."""
        now = self._clock.monotonic()
        with self._lock:
            if (known := self._asked.get(order)) is not None:
                known.at = now
                return bool(known.measured)
            self._asked[order] = AskedEnd(now)
        self._new()
        return False

    def read(self, jobs: JobStore) -> None:
        """Read the ends that are there by now; an order that has not ended costs no request. Raises as `jobs.load`."""
        oldest = self._clock.monotonic() - KEEP_S
        with self._lock:
            self._asked = {id: one for id, one in self._asked.items() if one.measured is None or one.at >= oldest}
            waiting = [(id, one) for id, one in self._asked.items() if one.measured is None]
        for id, one in waiting:
            job = self._orders.job_id(id)
            status = status_of(jobs, job) if jobs.ended(job) else None
            if status is None:
                continue
            with self._lock:
                one.measured = status.outcome is not None and status.outcome.cause is not Cause.LOST
            if one.measured:
                self._ended()
