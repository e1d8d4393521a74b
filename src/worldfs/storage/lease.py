"""The lease port: one holder of a name at a time, until it releases the lease or dies, however it dies.

A lease is asked of a store: `store.lease(name, purpose)`. The name is a key; what is stored there names the holder,
{pid, host, command, started_at, purpose}, on a disk also the path that it is held under, "root". It stays when the
lease is free: only the lease itself counts. A watch of that key reports when the lease is taken and when it is free
again. Holders need not renew it: their death frees it.
Where an engine has them renewed, each renewal is a heartbeat of its holder.
"""

from __future__ import annotations

import os
import re
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol, Self, runtime_checkable

from worldfs.base.clock import Clock, stamp
from worldfs.base.errors import Busy
from worldfs.base.messages import coded

from .revision import PRIVATE_DIR

if TYPE_CHECKING:
    from datetime import datetime

KERNEL_LEASE: Final = f"{PRIVATE_DIR}/kernel.lock"  # of a workspace: its kernel; of an agent: the runner of a session
NODE_LEASES: Final = f"{PRIVATE_DIR}/serving"  # of a shared store, by robot: which process serves it, where several do
LEASE_LOST: Final = "LEASE_LOST"  # the code of the `StorageError` of a holder that is none any more
RELEASE_S: Final = 0.05  # a watch of the disk reports a release up to so long before the lease is free
_LOGIN: Final = re.compile(r"://(?P<rest>\S*+)")  # of an address on the command line


def node_lease(node: str) -> str:
    return f"{NODE_LEASES}/{node}.lock"


def is_kernel_lease(name: str) -> bool:
    """Whether its holder serves: what it writes without the lease may be another's to write."""
    return name == KERNEL_LEASE or name.startswith(f"{NODE_LEASES}/")


class Lease(Protocol):
    """Held from `acquire` to `release`, or to the death of its holder."""

    purpose: str
    epoch: int
    """Of a held lease: every later holder's is higher; 0 where nothing outlives a holder that could act in its name."""

    def acquire(self) -> Self:
        """Take it or raise `Busy`, naming the holding process, its command and since when it holds it."""
        ...

    def note(self, **more: str) -> None:
        """Add to what a held lease says of its holder."""
        ...

    def release(self) -> None:
        """Free it; no error if it is not held."""
        ...

    def holder(self) -> dict[str, object] | None:
        """The present holder, of whichever process; None: it is free; {}: taken this moment. Nothing is touched."""
        ...

    def heard(self) -> datetime | None:
        """When a holder of it was heard of last, by this process's own clock; None: never, since it has the store."""
        ...

    def __enter__(self) -> Self:
        """Acquires a lease that is not held yet."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None: ...


@runtime_checkable
class DescriptorLease(Lease, Protocol):
    """A lease that lasts as long as any copy of its descriptor is open, in whichever process."""

    @property
    def descriptor(self) -> int:
        """Of a held lease; −1 before it is taken."""
        ...

    def keep(self) -> None:
        """Of a held lease: raises `StorageError` (`LEASE_LOST`) where its path leads to another directory by now, or
        to a lease that another process holds. Its holder calls this now and then, from one thread."""
        ...


def this_holder(purpose: str, clock: Clock) -> dict[str, object]:
    """What a lease of this process says of its holder."""
    return {
        "pid": os.getpid(),
        "host": os.uname().nodename,
        "command": _LOGIN.sub(
            lambda found: f"://***@{found['rest'].rpartition('@')[2]}" if "@" in found["rest"] else found[0],
            " ".join(sys.orig_argv),
        ),
        "started_at": stamp(clock.now()),
        "purpose": purpose,
    }


def busy(holder: dict[str, object], *, path: str, purpose: str) -> Busy:
    """The refusal that a second claimer gets."""
    if not holder:
        return Busy(coded("tree.in_use"), path=path, op=purpose, fix=coded("common.try_again"))
    found = coded(
        "tree.in_use_by",
        pid=holder.get("pid"),
        host=holder.get("host"),
        started_at=holder.get("started_at"),
        command=holder.get("command"),
    )
    fix = coded("tree.use_or_stop", pid=holder["pid"]) if holder.get("pid") else coded("common.try_again")
    return Busy(found, path=path, op=purpose, fix=fix)
