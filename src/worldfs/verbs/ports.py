"""What the verbs stand on: one binding's tree, and the nouns that it answers with. Any class of this shape will do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable


class Wait(Protocol):
    """Until `ready()` or `timeout` seconds, looking again whenever one of `topics` is published."""

    @property
    def topics(self) -> tuple[str, ...]: ...
    @property
    def ready(self) -> Callable[[], bool]: ...
    @property
    def timeout(self) -> float: ...


class Stat(Protocol):
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


class Content(Protocol):
    @property
    def data(self) -> bytes: ...
    @property
    def revision(self) -> str: ...


class Written(Protocol):
    """`n` bytes taken; `extra` goes into the answer beside it; `until`: what the door waits for before it answers."""

    @property
    def n(self) -> int: ...
    @property
    def extra(self) -> Mapping[str, Any]: ...
    @property
    def until(self) -> Wait | None: ...


class Served(Protocol):
    """One binding's tree: synchronous, usable from many threads. Raises the house's errors (`WorldError`)."""

    def stat(self, path: str) -> Stat: ...
    def list(self, path: str) -> Sequence[str]: ...
    def read(self, path: str) -> Content: ...
    def write(self, path: str, data: bytes, *, offset: int = 0, correlation: str = "") -> Written: ...
    def light(self, path: str) -> bool:
        """Answered from memory: may be called on the loop. False: only in a thread."""
        ...

    def waits(self, path: str) -> Wait | None: ...


@runtime_checkable
class Stamped(Protocol):
    """A tree that says when what it answers from memory may be another: by another object."""

    def stamp(self) -> object: ...


@runtime_checkable
class Shaped(Protocol):
    """A tree in which names can be made and unmade; one without these methods refuses with `eperm`."""

    def replace(self, path: str, data: bytes, *, correlation: str = "") -> Written: ...
    def truncate(self, path: str, size: int) -> None:
        """Cut, or filled with zeros; what takes orders has nothing to be cut, and stays as it is."""
        ...

    def create(self, path: str, *, directory: bool = False) -> Stat: ...
    def promise(self, path: str) -> Stat | None:
        """Of a file that is only there with its first write, whole (a letter); None: `create` makes it."""
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
class Detailed(Protocol):
    """A tree that tells all about the names in a directory at once."""

    def entries(self, path: str) -> Sequence[Stat]: ...


class Found(NamedTuple):
    """A `Stat` of the verbs' own making."""

    id: int
    name: str
    path: str
    directory: bool
    size: int
    writable: bool
    revision: str
    mtime_ms: int = 0


class Rendered(NamedTuple):
    """A `Content` of the verbs' own making."""

    data: bytes
    revision: str


class Taken(NamedTuple):
    """A `Written` of the verbs' own making."""

    n: int
    extra: Mapping[str, Any] = {}
    until: Wait | None = None
