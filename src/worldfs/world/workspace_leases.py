"""The leases under which a world serves: one kernel for what a path leads to, also where its directory is replaced."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldfs.base.dir_reader import DirReader
from worldfs.base.errors import Busy, WorldError
from worldfs.base.messages import coded
from worldfs.runtime.kernel_addresses import kernel_addresses
from worldfs.runtime.stop_call import SOCKETS
from worldfs.storage.lease import KERNEL_LEASE, DescriptorLease, Lease, node_lease

from .robot_liveness import ELSEWHERE, SERVED

OWN_ORDERS: Final = "kernel of one instruction"  # the purpose of a lease whose holder begins no order of others

if TYPE_CHECKING:
    from worldfs.storage.store_interface import Store
    from worldfs.tree.workspace_stores import WorkspaceStores

    from .fleet_share import FleetShare


class WorkspaceLeases:
    """Of one world, from `take` to `release`."""

    def __init__(self, root: Path, stores: WorkspaceStores) -> None:
        self._root, self._stores = root, stores
        self.purpose = "kernel"
        self._held: dict[str, Lease] = {}  # of the root: "", and of each robot's own store
        self._served: dict[str, Lease] = {}  # of the shared store, by robot: where another process has the shared one's

    def __bool__(self) -> bool:
        """Whether one is held."""
        return bool(self._held or self._served)

    def take(self, node: str, share: FleetShare, store: Store | None = None) -> None:
        """Of the shared workspace, "", or of a robot; nothing of what another process serves. Raises `Busy`."""
        if not (share.has(node) if node else share.hub):
            return
        if not node:
            self._demand_place()
        if node and not share.hub:
            self._served[node] = self._stores.shared.lease(node_lease(node), self.purpose).acquire()
        self._held[node] = (store or self._stores.robot(node)).lease(KERNEL_LEASE, self.purpose).acquire()
        if not node and share.robots is not None:
            self._held[node].note(robots=ELSEWHERE)

    def take_all(self, share: FleetShare) -> None:
        for node in ("", *self._stores.robots):
            self.take(node, share)

    def is_free(self, share: FleetShare) -> bool:
        """Whether no other process has a lease that this one was to take. Raises `WorldError` where that is unknown."""
        for node in ("", *self._stores.robots):
            if node not in self._held and (share.has(node) if node else share.hub):
                names = [(self._stores.robot(node), KERNEL_LEASE)]
                if node and not share.hub and node not in self._served:
                    names.append((self._stores.shared, node_lease(node)))
                if any(store.lease(name).holder() is not None for store, name in names):
                    return False
        return True

    def keep(self) -> None:
        """Raises `StorageError` (`LEASE_LOST`) where one is lost that does not say so by itself."""
        for lease in (*self._held.values(), *self._served.values()):
            if isinstance(lease, DescriptorLease):
                lease.keep()

    def note_served(self, nodes: Iterable[str]) -> None:
        """The lease of the shared workspace says which robots its holder serves, for processes that ask."""
        lease, said = self._held.get(""), " ".join(sorted(nodes))
        if lease is not None and (lease.holder() or {}).get(SERVED) != said:
            lease.note(served=said)

    def epoch_of(self, node: str) -> int:
        """Of the lease under which this world serves a node: of the shared store, so that a later holder's is higher,
        whichever process serves the node."""
        lease = self._served.get(node) or self._held.get("")
        return lease.epoch if lease is not None else 0

    def drop(self, node: str) -> None:
        for held in (self._held, self._served):
            if (lease := held.pop(node, None)) is not None:
                lease.release()

    def release(self) -> None:
        for held in (self._held, self._served):
            while held:
                held.popitem()[1].release()

    def _demand_place(self) -> None:
        """Raises `Busy` where a kernel lives that was started for this path and serves another directory, or one whose
        private files were replaced: its robots have a driver."""
        users, here = {0, os.geteuid()}, set[str]()
        with suppress(OSError, WorldError):
            users.add(os.stat(self._root).st_uid)
            here = set(DirReader(self._root).folder(SOCKETS).names())
        for name, other in kernel_addresses(self._root, users).items():
            if name not in here:
                found, fix = coded("stop.other_place", pid=other.pid), coded("tree.use_or_stop", pid=other.pid)
                raise Busy(found, path=str(self._root), op="kernel", fix=fix)
