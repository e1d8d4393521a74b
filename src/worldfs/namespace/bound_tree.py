"""The ports of the verbs: one binding's tree. Any class of this shape will do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from worldfs.tree.verb_values import Content, Stat, Wait, Written


class BoundTree(Protocol):
    """One binding's tree: synchronous, usable from many threads. Raises `WorldError`."""

    def stat(self, path: str) -> Stat: ...
    def list(self, path: str) -> Sequence[str]: ...
    def read(self, path: str) -> Content: ...
    def write(self, path: str, data: bytes, *, offset: int = 0, correlation: str = "") -> Written: ...
    def light(self, path: str) -> bool:
        """Whether the path is answered from memory and may be called on the event loop. False: only in a thread."""
        ...

    def waits(self, path: str) -> Wait | None: ...


@runtime_checkable
class StampedTree(Protocol):
    """A tree whose `stamp` is another object once what it answers from memory may have changed."""

    def stamp(self) -> object: ...


@runtime_checkable
class EditableTree(Protocol):
    """A tree in which files can be created and deleted; one without these methods refuses with `eperm`."""

    def replace(self, path: str, data: bytes, *, correlation: str = "") -> Written: ...
    def truncate(self, path: str, size: int) -> None:
        """Cut, or fill with zeros; a file that takes orders has no content, and stays as it is."""
        ...

    def create(self, path: str, *, directory: bool = False) -> Stat: ...
    def promise(self, path: str) -> Stat | None:
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

    def entries(self, path: str) -> Sequence[Stat]: ...
