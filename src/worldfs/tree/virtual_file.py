"""The computed file: what a View renders, what a Control, a Sheet or a Drop does with a write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from worldfs.ground.errors import BadInput

from .row_table import FileKind

Names = Mapping[str, str]


class WriteContext(NamedTuple):
    """Who writes, and what the message said beside its bytes."""

    actor: str
    offset: int = 0
    correlation: str = ""  # the asker's own word for this message; it comes back in whatever becomes of it


class WaitCondition(NamedTuple):
    """Block until `ready()` or `timeout` seconds, looking again whenever one of `topics` is published."""

    topics: tuple[str, ...]
    ready: Callable[[], bool]
    timeout: float


class WriteResult(NamedTuple):
    """What a write was answered with: `n` bytes taken, and what else the reply says ("job", "result_path")."""

    n: int
    extra: Mapping[str, Any] = {}
    until: WaitCondition | None = None  # the door waits for it, at most its timeout, before it answers


class FileStat(NamedTuple):
    """What a door says of a path. `id` is stable per path and below 2**53; the root's is 1."""

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
    """What a tree asks of a computed file. `VirtualFile` answers all of it but `read`."""

    light: bool  # answered from memory: may be called on an event loop

    def read(self, names: Names) -> bytes: ...

    def write(self, names: Names, data: bytes, ask: WriteContext) -> WriteResult | None: ...

    def exists(self, names: Names) -> bool: ...

    def writable(self, names: Names) -> bool: ...

    def wait(self, names: Names) -> WaitCondition | None: ...

    def size(self, names: Names) -> int | None: ...


class VirtualFile:
    """A computed file that is always there, never waits, and takes no write. Say what differs."""

    light = False

    def read(self, names: Names) -> bytes:
        """The present bytes. Never blocks on what has yet to happen; raises `NotFound`."""
        raise NotImplementedError

    def write(self, names: Names, data: bytes, ask: WriteContext) -> WriteResult | None:
        """Durable when it returns. None: every byte was taken, and there is nothing else to say."""
        raise BadInput("it is computed", op="write", actor=ask.actor)

    def exists(self, names: Names) -> bool:
        return True

    def writable(self, names: Names) -> bool:
        """May it be written now, by somebody whom the row allows?"""
        return True

    def wait(self, names: Names) -> WaitCondition | None:
        """What a read should wait for first; None when it need not."""
        return None

    def size(self, names: Names) -> int | None:
        """Bytes, where they are known or must not be counted by reading; None: read and count."""
        return None


class DirEntry(NamedTuple):
    """What is at one place of a branch."""

    directory: bool
    size: int = 0  # bytes
    writable: bool = False
    revision: str = ""
    mtime_ms: int = 0


class Subtree(Protocol):
    """Everything below one row with `{rest*}`, served by something that has directories of its own.

    `names` holds the rest under the row's last variable. `look` gives None for what is not there.
    """

    light: bool

    def look(self, names: Names) -> DirEntry | None: ...

    def list(self, names: Names) -> list[str]: ...

    def read(self, names: Names) -> bytes: ...

    def write(self, names: Names, data: bytes, ask: WriteContext) -> WriteResult | None: ...

    def wait(self, names: Names) -> WaitCondition | None: ...
