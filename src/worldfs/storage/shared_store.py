"""A store that several hosts share: what a host needs that keeps a part of it as files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from .lease import Lease
from .store_interface import Store


class StoredHead(NamedTuple):
    """What a store knows of a content without reading it."""

    revision: str
    size: int


class SharedLease(Lease, Protocol):
    """Of all processes of one host; each renews it."""

    def leave(self) -> None:
        """Hold it no more; the other processes of this host keep it."""
        ...

    def demand(self) -> None:
        """Raises `StorageError` once this host does not hold it any more."""
        ...


class SharedStore(Store):
    """A store of which hosts keep parts."""

    @abstractmethod
    def host_lease(self, name: str, purpose: str, host: str) -> SharedLease:
        """Neither taken nor asked yet; `host` names this host for good. While the kernel's is held, every write is
        fenced by it."""

    @abstractmethod
    def stored(self, key: str) -> StoredHead | None: ...

    @abstractmethod
    def all_keys(self) -> Sequence[str]:
        """All of them, hidden ones too, as of now."""

    @abstractmethod
    def touch(self, key: str) -> None:
        """Write it again as it is: an append of a former holder that arrives later is refused."""
