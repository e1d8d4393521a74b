"""The orders that a fleet has handed over to robots with a workspace of their own, until their ends are settled.

    .paos/fleet-id                   made once: the ids of this fleet's orders are no other fleet's
    .paos/handed/<robot>/<job>       the order is, or may be, a job of the robot's workspace

A kernel that has lost its lease cannot write such a file: so it hands nothing over.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import Exists, NotFound, UserError
from worldfs.base.model import JobStatus, Order
from worldfs.storage.store_interface import ABSENT, Store

if TYPE_CHECKING:
    from worldfs.runtime.job_store import JobStore

FLEET_ID: Final = ".paos/fleet-id"
HANDED: Final = ".paos/handed"


@dataclass(slots=True)
class HandedOrder:
    """One order as it is known here. Written with the lock of the robot's link held."""

    order: Order  # as the robot's workspace has it
    sent: bool = False  # it may be a job there
    cancelled: bool = False  # it is to be cancelled there
    told: bool = False  # the cancel is written there
    withdrawn: bool = False  # it is not sent any more
    status: JobStatus | None = None  # as last read
    refused: UserError | None = None  # why that workspace does not take it

    @property
    def is_over(self) -> bool:
        return self.refused is not None or (self.status is not None and self.status.state.terminal)


class HandedOrders:
    """Of one robot, in the fleet's store."""

    def __init__(self, store: Store, robot: str) -> None:
        self._store, self._prefix = store, f"{HANDED}/{robot}"
        self._fleet = ""

    @property
    def fleet(self) -> str:
        """The id of this fleet; the first process that asks makes it."""
        if not self._fleet:
            with suppress(Exists):
                self._store.put(FLEET_ID, secrets.token_hex(4).encode(), ABSENT)
            stored = self._store.get(FLEET_ID)
            self._fleet = stored.data.decode() if stored is not None else ""
        return self._fleet

    def job_id(self, order: str) -> str:
        """The order's id in the robot's workspace: always the same, so that it is one job however often it is sent."""
        return f"fleet-{self.fleet}-{order}"

    def there(self, order: Order) -> Order:
        """The order as the robot's workspace has it: what it waits for in the fleet has happened."""
        return replace(
            order, id=self.job_id(order.id), depends_on=(), created_at="", queue_timeout_s=0.0, asker="", seq=0
        )

    def note(self, order: str) -> None:
        """Durable when it returns. Raises `StorageError` in a kernel that has lost its lease."""
        self._store.put(f"{self._prefix}/{order}", self.job_id(order).encode())

    def noted(self, order: str) -> bool:
        return self._store.get(f"{self._prefix}/{order}") is not None

    def all(self) -> list[str]:
        return self._store.list(self._prefix)

    def forget(self, order: str) -> None:
        with suppress(NotFound):
            self._store.delete(f"{self._prefix}/{order}", durable=False)


def status_of(jobs: JobStore, id: str) -> JobStatus | None:
    """None: there is no such job."""
    try:
        return jobs.load(id).status
    except NotFound:
        return None


def order_of(jobs: JobStore, id: str, robot: str) -> Order:
    """The order of a job; one that says only its id and robot where the job cannot be read."""
    try:
        return jobs.load(id).order
    except UserError:
        return Order(id, robot, "")
