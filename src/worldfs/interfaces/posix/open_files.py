"""Open files of a POSIX view: a snapshot to read, a staging to write, a scratch file.

A commit is one revision and one Change; when it happens is a rule of the file's kind:

    Record   at a flush (close, fsync), whole, if written since the last one; truncated and never written: at the end
    Log      each write is one append
    Drop     once, as a Control; it is there from then on
    Control  in the write that makes a whole document (JSON, or text that ends with a newline), else at the flush
    Sheet    as a Record; the tree takes new ids from it
"""

from __future__ import annotations

import asyncio
import errno
from typing import TYPE_CHECKING, Final, Protocol

from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.namespace.staging import Staging
from worldfs.tree.row_table import FileKind

from .posix_errors import refusal

if TYPE_CHECKING:
    from .posix_entry import PosixEntry
    from .posix_files import PosixFiles
    from .scratch_names import ScratchFile


ONCE: Final = frozenset({FileKind.CONTROL, FileKind.DROP})  # what is written is an order or a message, not a content


class PosixFile(Protocol):
    """One open file description. Offsets are the caller's; `close` is called once, and commits what is left."""

    @property
    def size(self) -> int: ...
    @property
    def direct(self) -> bool:
        """Whether each read must reach this object: the kernel may not cache its bytes."""
        ...

    async def read(self, offset: int, count: int) -> bytes: ...
    async def write(self, offset: int, data: bytes) -> int: ...
    async def truncate(self, size: int) -> None: ...
    async def flush(self) -> None:
        """close(2) and fsync(2): what was written is durable, or the error is raised."""
        ...

    async def ready(self) -> bool:
        """Whether a read would not wait (poll)."""
        ...

    async def close(self) -> None: ...


class SnapshotFile:
    """The bytes of one revision; they stay the same however the file goes on."""

    def __init__(self, data: bytes, *, direct: bool) -> None:
        self.data, self.direct = data, direct

    @property
    def size(self) -> int:
        return len(self.data)

    async def read(self, offset: int, count: int) -> bytes:
        return self.data[offset : offset + count]

    async def write(self, offset: int, data: bytes) -> int:
        raise refusal(errno.EBADF, coded("posix.not_open_to_write"), op="write")

    async def truncate(self, size: int) -> None:
        raise refusal(errno.EINVAL, coded("posix.not_open_to_write"), op="truncate")

    async def flush(self) -> None:
        return

    async def ready(self) -> bool:
        return True

    async def close(self) -> None:
        return


class WaitingFile(SnapshotFile):
    """A file whose read may wait: a read at offset 0 waits and renders, those after it are cut from the same bytes."""

    def __init__(self, files: PosixFiles, path: str) -> None:
        super().__init__(b"", direct=True)
        self._files, self._path = files, path
        self._read = False

    async def read(self, offset: int, count: int) -> bytes:
        if not offset or not self._read:
            self.data = await self._files.tree.read_when_ready(self._path)
            self._read = True
        return self.data[offset : offset + count]

    async def ready(self) -> bool:
        return await self._files.tree.ready(self._path)


class OpenScratch:
    def __init__(self, file: ScratchFile, *, append: bool) -> None:
        self.file, self._append, self.direct = file, append, True

    @property
    def size(self) -> int:
        return len(self.file.data)

    async def read(self, offset: int, count: int) -> bytes:
        return bytes(self.file.data[offset : offset + count])

    async def write(self, offset: int, data: bytes) -> int:
        self.file.write(-1 if self._append else offset, data)
        return len(data)

    async def truncate(self, size: int) -> None:
        self.file.truncate(size)

    async def flush(self) -> None:
        return

    async def ready(self) -> bool:
        return True

    async def close(self) -> None:
        return


class AppendedLog(SnapshotFile):
    """A Log opened to append."""

    def __init__(self, files: PosixFiles, entry: PosixEntry, data: bytes) -> None:
        super().__init__(data, direct=True)
        self._files, self._entry = files, entry

    async def write(self, offset: int, data: bytes) -> int:
        await self._files.commit(self._entry.path, FileKind.LOG, data)
        self.data += data
        return len(data)


class StagedFile:
    """A file opened to write. `new`: not there before the first commit. `dead`: its name was removed meanwhile.
    `abandoned`: its writer was killed; what is staged is dropped unless another writer goes on."""

    direct = True

    def __init__(
        self, files: PosixFiles, path: str, kind: FileKind, present: bytes, *, append: bool, cut: bool, new: bool
    ) -> None:
        self._files, self.path, self.kind, self.new = files, path, kind, new
        self._staging = Staging(present, control=kind in ONCE)
        self._append, self._cut = append, cut or new
        self._mtime_ms: int | None = None
        self._busy = asyncio.Lock()
        self.dead = self.abandoned = False

    @property
    def size(self) -> int:
        return len(self._staging.data)

    async def read(self, offset: int, count: int) -> bytes:
        return bytes(self._staging.data[offset : offset + count])

    async def write(self, offset: int, data: bytes) -> int:
        async with self._busy:
            self._staging.write(-1 if self._append else offset, data)
            self._cut = self.abandoned = False
            if self.kind in ONCE and _complete(bytes(self._staging.data)):
                await self._commit()
        return len(data)

    async def truncate(self, size: int) -> None:
        async with self._busy:
            if size != len(self._staging.data):
                self._staging.truncate(size)
            self.abandoned = False

    async def touch(self, mtime_ms: int) -> None:
        """The time of change that the content gets with its commit."""
        self._mtime_ms = mtime_ms
        if not self._staging.changed and not self.new and not self.dead:
            await self._files.tree.touch(self.path, mtime_ms)

    async def flush(self) -> None:
        async with self._busy:
            if self._staging.changed and not self._staging.delivered and not self.dead and not self.abandoned:
                if self.kind in ONCE and _begun(bytes(self._staging.data)):
                    whole = coded("posix.whole_json")
                    error = refusal(errno.EINVAL, coded("posix.incomplete"), self.path, op="write", expected=whole)
                    self._files.errors.add(error)
                    raise error
                await self._commit()

    async def ready(self) -> bool:
        return True

    async def close(self) -> None:
        async with self._busy:
            try:
                if self.dead or self.abandoned:
                    return
                empty = self._cut and self.kind in (FileKind.RECORD, FileKind.SHEET)
                if empty or (self._staging.changed and not self._staging.delivered):
                    await self._commit()
            finally:
                self._files.forget_writer(self)

    async def _commit(self) -> None:
        data = bytes(self._staging.data)
        self._staging.changed, self._cut = False, False
        self._staging.delivered = self.kind in ONCE
        await self._files.commit(self.path, self.kind, data)  # what is refused is not tried again at the close
        self.new = False
        if self._mtime_ms is not None:
            await self._files.tree.touch(self.path, self._mtime_ms)


def _complete(data: bytes) -> bool:
    """Whether an order is a whole document: JSON that parses, or text whose last line has ended."""
    text = data.strip()
    if text[:1] in (b"{", b"["):
        return not _begun(data)
    return bool(text) and data.endswith(b"\n")


def _begun(data: bytes) -> bool:
    """Whether it is JSON that has not come to its end."""
    text = data.strip()
    if text[:1] not in (b"{", b"["):
        return False
    try:
        parse_json(text)
    except ValueError:
        return True
    return False
