"""The leases that a store holds, and what the kernel's forbids: nothing is written without it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from worldfs.storage.lease import KERNEL_LEASE

from .bucket import Bucket
from .jetstream_connection import EXPECTED, EXPECTED_OF

if TYPE_CHECKING:
    from .nats_lease import NatsLease


class HeldLeases:
    """A store that never had the kernel's lease writes freely, as any program does that submits an order."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._held: list[NatsLease] = []
        self.kernel: NatsLease | None = None

    def add(self, lease: NatsLease) -> None:
        self._held.append(lease)
        if lease.name == KERNEL_LEASE:
            self.kernel = lease

    def remove(self, lease: NatsLease) -> None:
        if lease in self._held:
            self._held.remove(lease)
        if self.kernel is lease:
            self.kernel = None

    def all(self) -> Sequence[NatsLease]:
        return [*self._held]

    def demand(self) -> None:
        """Raises `LeaseLost` once the kernel's lease is not held any more."""
        if self.kernel is not None:
            self.kernel.demand()

    async def confirm(self) -> None:
        """Another writer was met: ask the server whether the lease is still ours. Raises `LeaseLost`."""
        if self.kernel is not None:
            await self.kernel.confirm()

    def fence(self) -> dict[str, str]:
        """Headers by which the server refuses a message that arrives when the lease is another holder's."""
        self.demand()
        if self.kernel is None:
            return {}
        return {EXPECTED: str(self.kernel.seq), EXPECTED_OF: self._bucket.lease_subject(self.kernel.name)}
