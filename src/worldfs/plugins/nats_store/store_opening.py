"""What opens a store on NATS: the entry point, which loads the client only where it is asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from worldfs.base.clock import Clock
from worldfs.base.extras import needs
from worldfs.storage.lease import KERNEL_LEASE, busy
from worldfs.storage.open_store import open_store
from worldfs.world.store_transfer import copy_store

if TYPE_CHECKING:
    from .nats_store import NatsStore

TAKEN_IN: Final = ".paos/store-begun"  # the bucket has all that the workspace's directory held before


def open_nats_store(
    address: str = "nats",
    directory: str = "",
    *,
    files: str = "",
    robot: str = "",
    below: str = "",
    clock: Clock | None = None,
) -> NatsStore:
    """`directory`: of a server of our own, for the address `nats`. `files`: the directory of the workspace, whose
    files follow the store, and which is taken in when the bucket is new. `robot`: of a fleet, whose bucket is its own.
    `below`: a part of the bucket, with leases of its own, in place of the whole.

    Raises `BadInput` for an address that is none, `MissingRequirement` without client or server, or for one that is
    too old; `Busy` while a kernel runs on the directory itself.
    """
    with needs("fleet", op="open a store"):
        from .nats_store import NatsStore
        from .own_server import OwnServer
        from .store_address import parse_address
        from .workspace_files import GUARDED, WorkspaceFiles
    where = parse_address(address)._replace(below=below)
    if robot:
        where = where._replace(bucket=f"{where.bucket}-{robot}")
    server = OwnServer(directory, os.environ) if not where.servers else None
    store = NatsStore(where, server=server, clock=clock)
    if not files:
        return store
    try:
        disk = open_store("disk", files, guarded=GUARDED)
        if store.get(TAKEN_IN) is None:
            if (holder := disk.lease(KERNEL_LEASE).holder()) is not None:
                raise busy(holder, path=files, purpose="open a store")
            copy_store(disk, store)
            store.put(TAKEN_IN, b"")
        store.follow_files(WorkspaceFiles(store, disk))
    except BaseException:
        store.close()
        raise
    return store
