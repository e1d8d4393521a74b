"""The port of the verbs: the nodes of one binding's tree. Any classes of this shape will do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from worldfs.storage.store_interface import ANY, Expected
from worldfs.tree.verb_values import Content, Stat, Wait, Written


class BoundNode(Protocol):
    """One path of one binding: synchronous, usable from many threads. Its verbs raise `WorldError`, `NotFound` once the
    path leads nowhere."""

    @property
    def path(self) -> str: ...
    @property
    def id(self) -> int:
        """Stable for a path and below 2**53."""
        ...

    @property
    def directory(self) -> bool: ...
    @property
    def promised(self) -> bool:
        """Whether the file is there only with its first write, whole (a message)."""
        ...

    @property
    def light(self) -> bool:
        """Whether it is looked at from memory, so on the event loop. False: only in a thread."""
        ...

    def stat(self) -> Stat: ...
    def writable(self) -> bool: ...
    def require_writable(self, op: str) -> None:
        """Raises `NotPermitted`, which says who may write it, and `BadInput` for a directory."""
        ...

    def list(self) -> Sequence[str]: ...
    def entries(self) -> Sequence[Stat]: ...
    def read(self, last: bytes = b"") -> Content:
        """`last`: what the same reader read before; of a stream, only what is new since is read."""
        ...

    def wait(self, last: bytes = b"") -> Wait | None:
        """What a read of it waits for; never asks a disk."""
        ...

    def write(self, data: bytes, *, offset: int = 0, correlation: str = "", expect: Expected = ANY) -> Written:
        """`expect`: refused with `Conflict` unless this revision is stored."""
        ...

    def replace(self, data: bytes, *, correlation: str = "") -> Written: ...
    def truncate(self, size: int) -> None:
        """Cut, or fill with zeros; a file that takes orders has no content, and stays as it is."""
        ...

    def touch(self, mtime_ms: int | None) -> bool:
        """Is the time kept? Refused as a write is; None: only judged."""
        ...

    def create(self, name: str, *, directory: bool = False) -> BoundNode: ...
    def remove(self, name: str) -> None: ...
    def rename(self, name: str, target: Any, new: str) -> None:
        """`target`: a node of the same tree."""
        ...


class BoundTree(Protocol):
    def walk(self, path: str) -> BoundNode: ...
    def light(self, path: str) -> bool:
        """Whether a walk there may be made on the event loop: it asks no disk and no other machine."""
        ...
