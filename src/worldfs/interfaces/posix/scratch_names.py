"""Scratch files: names that the layout does not know, made by editors. In memory, private to one view, in no Change."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from worldfs.base.messages import coded
from worldfs.namespace.path_id import path_id
from worldfs.namespace.staging import MOST

from .posix_errors import refusal

if TYPE_CHECKING:
    from worldfs.base.clock import Clock

SCRATCH_MOST: Final = 256 << 20  # bytes of all scratch files of one view
NAMES_MOST: Final = 4096


class ScratchFile:
    """One scratch file. It lives on for those who have it open after its name is gone."""

    __slots__ = ("_names", "data", "id", "link", "mtime_ns", "read_only")

    def __init__(self, names: ScratchNames, id: int, *, link: bool = False) -> None:
        self._names, self.id, self.link = names, id, link
        self.data = bytearray()
        self.mtime_ns = names.now_ns()  # only shown: it orders nothing
        self.read_only = False

    def write(self, offset: int, data: bytes) -> None:
        """At `offset`, a gap filled with zeros; a negative one: at the end."""
        at = len(self.data) if offset < 0 else offset
        self._names.grow(max(0, at + len(data) - len(self.data)), at + len(data))
        if at > len(self.data):
            self.data.extend(bytes(at - len(self.data)))
        self.data[at : at + len(data)] = data
        self.mtime_ns = self._names.now_ns()

    def truncate(self, size: int) -> None:
        self._names.grow(size - len(self.data), size)
        if size < len(self.data):
            del self.data[size:]
        else:
            self.data.extend(bytes(size - len(self.data)))
        self.mtime_ns = self._names.now_ns()


class ScratchNames:
    """The scratch files of one view, by path."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._files: dict[str, ScratchFile] = {}
        self._made = 0
        self.bytes = 0

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def get(self, path: str) -> ScratchFile | None:
        return self._files.get(path)

    def create(self, path: str, *, link: bool = False) -> ScratchFile:
        if len(self._files) >= NAMES_MOST:
            raise refusal(errno.ENOSPC, coded("posix.many_scratch", n=NAMES_MOST), path, op="create")
        self._made += 1
        made = self._files[path] = ScratchFile(self, path_id(f"{path}\0scratch {self._made}"), link=link)
        return made

    def remove(self, path: str) -> ScratchFile:
        gone = self._files.pop(path)
        self.bytes -= len(gone.data)
        return gone

    def rename(self, old: str, new: str) -> None:
        if new in self._files:
            self.remove(new)
        self._files[new] = self._files.pop(old)

    def in_directory(self, directory: str) -> Iterator[tuple[str, ScratchFile]]:
        """Name and file."""
        base = directory.rstrip("/") + "/"
        for path, file in self._files.items():
            if path.startswith(base) and "/" not in path[len(base) :]:
                yield path[len(base) :], file

    def now_ns(self) -> int:
        return int(self._clock.now().timestamp() * 1_000_000) * 1000

    def grow(self, more: int, size: int) -> None:
        """Count the bytes of a file that becomes `size` long. Raises EFBIG and ENOSPC."""
        if size > MOST:
            raise refusal(errno.EFBIG, coded("tree.bad_size"), expected=coded("common.at_most_bytes", n=MOST))
        if more > 0 and self.bytes + more > SCRATCH_MOST:
            raise refusal(errno.ENOSPC, coded("posix.full_scratch", n=SCRATCH_MOST))
        self.bytes += more
