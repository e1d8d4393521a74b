"""The leases that a store holds, and what a kernel's forbid: nothing is written once one of them is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from worldfs.storage.lease import is_kernel_lease

from .bucket import Bucket
from .jetstream_connection import EXPECTED, EXPECTED_OF

if TYPE_CHECKING:
    from .nats_lease import NatsLease


class HeldLeases:
    """A store that never had a kernel's lease writes freely, as any program does that submits an order.

    A kernel holds the workspace's, or those of the robots that it serves, or both. One process renews them all, so
    they end together: with one lost, all that it writes is refused.
    """

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._held: list[NatsLease] = []

    @property
    def kernels(self) -> Sequence[NatsLease]:
        return [lease for lease in self._held if is_kernel_lease(lease.name)]

    def add(self, lease: NatsLease) -> None:
        self._held.append(lease)

    def remove(self, lease: NatsLease) -> None:
        if lease in self._held:
            self._held.remove(lease)

    def all(self) -> Sequence[NatsLease]:
        return [*self._held]

    def demand(self) -> None:
        """Raises `LeaseLost` once a kernel's lease is not held any more."""
        for lease in self.kernels:
            lease.demand()

    async def confirm(self) -> None:
        """Another writer was met: ask the server whether the leases are still ours. Raises `LeaseLost`."""
        for lease in self.kernels:
            await lease.confirm()

    def fence(self) -> dict[str, str]:
        """Headers by which the server refuses a message that arrives when the lease is another holder's."""
        first = next(iter(self.kernels), None)
        if first is None:
            return {}
        return {EXPECTED: str(first.seq), EXPECTED_OF: self._bucket.lease_subject(first.name)}
