"""What a POSIX view has at a path: one revision of a file, or a directory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from worldfs.tree.row_table import FileKind
from worldfs.tree.verb_values import DIRECTORY, READABLE, WRITABLE

from .scratch_names import ScratchFile


def _never() -> bool:
    return False


NEVER: Final[Callable[[], bool]] = _never  # asked again each time


class PosixEntry:
    """What is at a path: one revision of a file, or a directory.

    `id` is the same for the same path and revision, in every process. `data`: the bytes, where they are known already.
    """

    __slots__ = ("data", "directory", "id", "kind", "link", "mtime_ns", "path", "revision", "scratch", "size",
                 "unchanged", "waits", "writable")  # fmt: skip

    def __init__(self, path: str) -> None:
        self.path = path
        self.directory = self.waits = self.writable = self.link = False
        self.id = self.size = self.mtime_ns = 0
        self.kind: FileKind | None = None
        self.revision = ""
        self.data: bytes | None = None
        self.scratch: ScratchFile | None = None
        self.unchanged = NEVER

    @property
    def mode(self) -> int:
        if self.link:
            return 0o120777
        return DIRECTORY if self.directory else WRITABLE if self.writable else READABLE

    @property
    def direct(self) -> bool:
        """Whether its bytes may not be kept under this entry: they are not those of one revision."""
        return self.waits or not self.revision
