"""The computed file: how a View renders, and how a Control, a Sheet or a Drop handles a write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from worldfs.base.errors import BadInput

from .row_table import FileKind

Names = Mapping[str, str]


class WriteContext(NamedTuple):
    """The actor of a write, and what its request holds besides the bytes."""

    actor: str
    offset: int = 0
    correlation: str = ""  # the caller's own id of this request; it comes back in every result of it


class WaitCondition(NamedTuple):
    """Block until `ready()` or `timeout` seconds, checking again whenever one of `topics` is published."""

    topics: tuple[str, ...]
    ready: Callable[[], bool]
    timeout: float


class WriteResult(NamedTuple):
    """The result of a write: `n` bytes taken, and further fields of the reply ("job", "result_path")."""

    n: int
    extra: Mapping[str, Any] = {}
    until: WaitCondition | None = None  # the interface waits for it, at most its timeout, before it replies


class FileStat(NamedTuple):
    """The stat of a path. `id` is stable for a path and below 2**53; the root's is 1."""

    id: int
    name: str
    path: str
    directory: bool
    size: int  # bytes; 0 for a directory
    writable: bool
    revision: str
    kind: FileKind | None
    mtime_ms: int = 0  # when the content was last changed, where its store knows; 0: it does not


class FileBehaviour(Protocol):
    """What a tree calls of a computed file. `VirtualFile` implements all of it but `read`."""

    light: bool  # answered from memory: may be called on an event loop

    def read(self, names: Names) -> bytes: ...

    def write(self, names: Names, data: bytes, ask: WriteContext) -> WriteResult | None: ...

    def exists(self, names: Names) -> bool: ...

    def writable(self, names: Names) -> bool: ...

    def wait(self, names: Names) -> WaitCondition | None: ...

    def size(self, names: Names) -> int | None: ...


class VirtualFile:
    """A computed file that always exists, never waits, and takes no write. Subclasses override what differs."""

    light = False

    def read(self, names: Names) -> bytes:
        """The present bytes. Never waits for a change; raises `NotFound`."""
        raise NotImplementedError

    def write(self, names: Names, data: bytes, ask: WriteContext) -> WriteResult | None:
        """Durable when it returns. None: every byte was taken, and the reply has no further fields."""
        raise BadInput("it is computed", op="write", actor=ask.actor)

    def exists(self, names: Names) -> bool:
        return True

    def writable(self, names: Names) -> bool:
        """Whether an actor that the row allows may write it now."""
        return True

    def wait(self, names: Names) -> WaitCondition | None:
        """The condition that a read waits for; None: it does not wait."""
        return None

    def size(self, names: Names) -> int | None:
        """Size in bytes, where it is known or must not be found by reading; None: read and count."""
        return None


class DirEntry(NamedTuple):
    """The entry at one path of a subtree."""

    directory: bool
    size: int = 0  # bytes
    writable: bool = False
    revision: str = ""
    mtime_ms: int = 0


class Subtree(Protocol):
    """Everything below one row with `{rest*}`, served by an object that has directories of its own.

    `names` holds the rest under the row's last variable. `dir_entry` returns None for a path that does not exist.
    """

    light: bool

    def dir_entry(self, names: Names) -> DirEntry | None: ...

    def list(self, names: Names) -> list[str]: ...

    def read(self, names: Names) -> bytes: ...

    def write(self, names: Names, data: bytes, ask: WriteContext) -> WriteResult | None: ...

    def wait(self, names: Names) -> WaitCondition | None: ...
