"""The ports of the verbs: one binding's tree, and the values that it returns. Any class of this shape will do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable


class BoundWait(Protocol):
    """Until `ready()` or `timeout` seconds, checking again whenever one of `topics` is published."""

    @property
    def topics(self) -> tuple[str, ...]: ...
    @property
    def ready(self) -> Callable[[], bool]: ...
    @property
    def timeout(self) -> float: ...


class BoundStat(Protocol):
    """`id` is stable for a path and below 2**53; `size` in bytes; `revision` changes with the content; `mtime_ms` is 0
    where it is not known."""

    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def directory(self) -> bool: ...
    @property
    def size(self) -> int: ...
    @property
    def writable(self) -> bool: ...
    @property
    def revision(self) -> str: ...
    @property
    def mtime_ms(self) -> int: ...


class BoundContent(Protocol):
    @property
    def data(self) -> bytes: ...
    @property
    def revision(self) -> str: ...


class BoundWriteResult(Protocol):
    """`n` bytes taken; `extra` goes into the reply; `until`: what the interface waits for before it replies."""

    @property
    def n(self) -> int: ...
    @property
    def extra(self) -> Mapping[str, Any]: ...
    @property
    def until(self) -> BoundWait | None: ...


class BoundTree(Protocol):
    """One binding's tree: synchronous, usable from many threads. Raises `WorldError`."""

    def stat(self, path: str) -> BoundStat: ...
    def list(self, path: str) -> Sequence[str]: ...
    def read(self, path: str) -> BoundContent: ...
    def write(self, path: str, data: bytes, *, offset: int = 0, correlation: str = "") -> BoundWriteResult: ...
    def light(self, path: str) -> bool:
        """Whether the path is answered from memory and may be called on the event loop. False: only in a thread."""
        ...

    def waits(self, path: str) -> BoundWait | None: ...


@runtime_checkable
class StampedTree(Protocol):
    """A tree whose `stamp` is another object once what it answers from memory may have changed."""

    def stamp(self) -> object: ...


@runtime_checkable
class EditableTree(Protocol):
    """A tree in which files can be created and deleted; one without these methods refuses with `eperm`."""

    def replace(self, path: str, data: bytes, *, correlation: str = "") -> BoundWriteResult: ...
    def truncate(self, path: str, size: int) -> None:
        """Cut, or fill with zeros; a file that takes orders has no content, and stays as it is."""
        ...

    def create(self, path: str, *, directory: bool = False) -> BoundStat: ...
    def promise(self, path: str) -> BoundStat | None:
        """The stat of a file that exists only with its first write, whole (a message); None: `create` makes it."""
        ...

    def rename(self, old: str, new: str) -> None: ...
    def remove(self, path: str) -> None: ...


@runtime_checkable
class Timed(Protocol):
    """A tree that takes times of last change; one without this method refuses with `eperm`."""

    def touch(self, path: str, mtime_ms: int | None) -> bool:
        """Is the time kept? Refused as a write is; None: only judged."""
        ...


@runtime_checkable
class DetailedTree(Protocol):
    """A tree that returns the stats of a directory's entries at once."""

    def entries(self, path: str) -> Sequence[BoundStat]: ...


class StatRecord(NamedTuple):
    """A `BoundStat` that the verbs make."""

    id: int
    name: str
    path: str
    directory: bool
    size: int
    writable: bool
    revision: str
    mtime_ms: int = 0


class ContentRecord(NamedTuple):
    """A `BoundContent` that the verbs make."""

    data: bytes
    revision: str


class WriteRecord(NamedTuple):
    """A `BoundWriteResult` that the verbs make."""

    n: int
    extra: Mapping[str, Any] = {}
    until: BoundWait | None = None
