"""The computed file: how a View renders, and how a Control, a Sheet or a Drop handles a write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

from .verb_values import Stat, Wait, WriteContext, Written

if TYPE_CHECKING:
    from worldfs.storage.dated_versions import DatedVersions

Names = Mapping[str, str]


class FileBehaviour(Protocol):
    """What a tree calls of a computed file. `VirtualFile` implements all of it but `read`."""

    light: bool  # answered from memory: may be called on an event loop
    fixed: bool  # says the same for as long as the binding sees the same

    def read(self, names: Names) -> bytes: ...

    def write(self, names: Names, data: bytes, ask: WriteContext) -> Written | None: ...

    def exists(self, names: Names) -> bool: ...

    def wait(self, names: Names) -> Wait | None: ...

    def size(self, names: Names) -> int | None: ...


class VirtualFile:
    """A computed file that always exists, never waits, and takes no write. Subclasses override what differs."""

    light = False
    fixed = False

    def read(self, names: Names) -> bytes:
        """The present bytes. Never waits for a change; raises `NotFound`."""
        raise NotImplementedError

    def write(self, names: Names, data: bytes, ask: WriteContext) -> Written | None:
        """Durable when it returns. None: every byte was taken, and the reply has no further fields."""
        raise BadInput(coded("tree.computed"), op="write", actor=ask.actor)

    def exists(self, names: Names) -> bool:
        return True

    def wait(self, names: Names) -> Wait | None:
        """The condition that a read waits for; None: it does not wait."""
        return None

    def size(self, names: Names) -> int | None:
        """Size in bytes, where it is known or must not be found by reading; None: read and count."""
        return None


class StreamFile(VirtualFile):
    """A computed file that tells each reader what is new since its own last read (`last`; b"": it has read nothing)."""

    def wait_after(self, names: Names, last: bytes) -> Wait | None:
        """The condition that the next read waits for; None: it does not wait."""
        raise NotImplementedError

    def read_after(self, names: Names, last: bytes) -> bytes:
        raise NotImplementedError

    def read(self, names: Names) -> bytes:
        return self.read_after(names, b"")


@runtime_checkable
class DocumentView(Protocol):
    """Optional interface of a computed file that follows from one document alone: so it is known of any time."""

    def source(self, names: Names) -> str:
        """The document's path."""
        ...

    def read_past(self, names: Names, document: bytes) -> bytes: ...


@runtime_checkable
class DatedView(Protocol):
    """Optional interface of a computed file whose source carries its own times: so it is known of any time."""

    def past(self, names: Names) -> DatedVersions:
        """Raises `NotFound`."""
        ...


class Subtree(Protocol):
    """Everything below one row with `{rest*}`, served by an object that has directories of its own.

    `names` holds the rest under the row's last variable. `dir_entry` returns None for a path that does not exist.
    """

    light: bool

    def dir_entry(self, names: Names) -> Stat | None: ...

    def list(self, names: Names) -> list[str]: ...

    def read(self, names: Names) -> bytes: ...

    def write(self, names: Names, data: bytes, ask: WriteContext) -> Written | None: ...

    def wait(self, names: Names) -> Wait | None: ...
