"""The contract of every store: bytes, revisions, compare-and-swap, create-only, append, watch with resync.

Keys are relative paths with `/` between segments ("jobs/act_001/job.json"). Three implementations pass one
contract test (`worldfs.testing.store_contract`): memory, disk, and later NATS JetStream (its trap list says why
a watch is level-triggered, why `expect` has three forms and why nothing here promises an event for every write).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

if TYPE_CHECKING:
    from worldfs.base.clock import Clock

    from .lease import Lease

from worldfs.base.errors import BadInput, Exists, UserError, WorldError
from worldfs.base.messages import coded


class ExpectedState(Enum):
    ANY = "any"  # replace whatever is there
    ABSENT = "absent"  # create only


ANY: Final = ExpectedState.ANY
ABSENT: Final = ExpectedState.ABSENT
Expected = ExpectedState | str  # or the revision that must still be there


class StoredValue(NamedTuple):
    data: bytes
    revision: str


class StoreChangeKind(Enum):
    PUT = "put"
    DELETE = "delete"
    DISPLACED = "displaced"  # of `ForeignEdits`: a program finished writing to a copy that had been replaced already
    RESYNC = "resync"  # events were lost: read everything below `key` again


class StoreChange(NamedTuple):
    key: str
    kind: StoreChangeKind


class StoreWatch(ABC):
    """Changes below some prefixes, coalesced, level-triggered: after the last change there is always a report."""

    @property
    def limit(self) -> WorldError | None:
        """Why changes are found late, by a scan: a limit of the system. None: they are reported at once."""
        return None

    @abstractmethod
    def read(self, timeout: float | None = None) -> Sequence[StoreChange]:
        """Block until something changed, `wake()` was called, or `timeout` seconds passed (None: for ever, 0: poll)."""

    @abstractmethod
    def wake(self) -> None:
        """Make a blocked or the next `read` return at once. From any thread or signal handler."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


class Store(ABC):
    """Bytes under keys. Every method may raise `WorldError`; `Unsafe` for keys that leave the root.

    `clock` is the store's own and not a world's: other processes name and judge the same keys by it.
    """

    clock: Clock

    @abstractmethod
    def get(self, key: str) -> StoredValue | None:
        """Whole content and its revision, or None. Never a torn read of a `put`."""

    @abstractmethod
    def probe(self, key: str) -> str | None:
        """A cheap token that changes when the content may have changed (disk: stat), None if absent."""

    @abstractmethod
    def list(self, prefix: str) -> list[str]:
        """Sorted names directly below `prefix` ("" = root); directories end in "/". Missing prefix: empty."""

    def present(self, prefix: str) -> Sequence[str]:
        """As `list`, without the names of what is neither a file nor a directory (a link, a socket on a disk)."""

        return self.list(prefix)

    def is_directory(self, key: str) -> bool | None:
        """None: there is neither a file nor a directory, or no path leads there."""
        above, _, name = key.rpartition("/")
        with suppress(UserError):  # it or what is above it is a file, or unreadable
            if self.list(key) or f"{name}/" in self.list(above):
                return True
        with suppress(UserError):
            return None if self.probe(key) is None else False
        return None

    @abstractmethod
    def put(self, key: str, data: bytes, expect: Expected = ANY, *, durable: bool = True) -> str:
        """Write whole, atomically; parents are made. Returns the new revision.

        Raises `Exists` (expect ABSENT), `Conflict` (a revision was expected and another was found; the content found is
        still there, untouched). `durable=False`: atomic for readers, content is on disk before the name is, but the
        name itself may be lost with the power (for projections that can be rendered again).
        """

    def put_many(self, items: Iterable[tuple[str, bytes]]) -> Sequence[str | None]:
        """Create-only, durable, in order, as one group where the store can: revision, or None where it existed.

        Each item is all or nothing; after a crash any subset may be there.
        """

        made: list[str | None] = []
        for key, data in items:
            try:
                made.append(self.put(key, data, ABSENT))
            except Exists:
                made.append(None)
        return made

    @abstractmethod
    def delete(self, key: str, expect: Expected = ANY, *, durable: bool = True) -> None:
        """Remove; absent: `NotFound`. `durable=False`: for waste, which may be back after a power cut."""

    @abstractmethod
    def mkdir(self, prefix: str) -> None:
        """Make an empty directory, those above it on the way; durable when it returns. `Exists`: something is there."""

    def rmdir(self, prefix: str) -> None:
        """Remove an empty directory, where the store keeps such; one that is not there is no error.

        Raises `BadInput` for one that holds something.
        """

        if self.list(prefix):
            raise BadInput(coded("tree.not_empty"), path=prefix, op="remove")

    @abstractmethod
    def move(self, source: str, target: str, *, durable: bool = True) -> None:
        """Rename a key or everything below a prefix; the target must be absent (`Exists`)."""

    @abstractmethod
    def append(self, key: str, data: bytes, *, durable: bool = True) -> None:
        """Add to the end (Logs, one writer). A torn tail left by a crash is the reader's to repair."""

    @abstractmethod
    def watch(self, *prefixes: str, arrivals: Collection[str] = ()) -> StoreWatch:
        """Watch keys equal to, or directly below, each prefix. Changes after this call are seen.

        `arrivals`: of these prefixes only the keys that are new matter; an append, a move away may go unreported.
        """

    @abstractmethod
    def lease(self, name: str, purpose: str = "", *, clock: Clock | None = None) -> Lease:
        """The lease of that name, a key; neither taken nor asked yet. `clock` tells since when a holder has it."""

    @abstractmethod
    def close(self) -> None: ...
