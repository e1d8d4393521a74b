"""One actor's tree as a POSIX file system: look, list, open, create, remove, rename, and attributes, by path.

Every method raises `WorldError`; `posix_errors.errno_of` gives its errno. Rights are judged below: here a refusal of
the tree becomes the errno that a disk would give. All of it runs on one event loop.
"""

from __future__ import annotations

import asyncio
import errno
import os
from contextlib import suppress
from hashlib import blake2b
from typing import Final

from worldfs.access.judge import judge
from worldfs.access.roles import ROLES
from worldfs.access.verb import Verb
from worldfs.base.clock import Clock
from worldfs.base.errors import BadInput, NotFound, NotPermitted, Unsafe, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.namespace.past_time import NO_PAST
from worldfs.namespace.path_id import path_id
from worldfs.namespace.staging import MOST
from worldfs.tree.path import segments
from worldfs.tree.row_table import FileKind, FileRow
from worldfs.world.layout import served_table

from . import name_changes
from .error_notes import ErrorNotes
from .file_tree import FileLook, FileTree
from .open_files import AppendedLog, OpenScratch, PosixFile, SnapshotFile, StagedFile, WaitingFile
from .posix_entry import PosixEntry
from .posix_errors import refusal
from .scratch_names import ScratchFile, ScratchNames

NAME_BYTES: Final = 255
ENTRIES_MOST: Final = 16_384  # looks that are kept
KEPT_EACH: Final = 64 << 10
KEPT_MOST: Final = 64 << 20  # bytes of small files that are kept for their next readers


class PosixFiles:
    """The view of one actor. `close` it; what was staged and never flushed is dropped, as for a vanished writer."""

    def __init__(self, tree: FileTree, clock: Clock, *, read_only: bool = False) -> None:
        self.tree, self.read_only = tree, read_only
        self.rows = served_table()
        self.scratch = ScratchNames(clock)
        self.entries: dict[str, PosixEntry] = {}
        self._seen: dict[str, tuple[str, int]] = {}  # revision, and when it was first seen: of what has no time
        self.staged: dict[str, list[StagedFile]] = {}
        self._closing: dict[str, asyncio.Future[None]] = {}
        self.errors = ErrorNotes(self.scratch)
        self._kept = 0
        self._start_ns = self.scratch.now_ns()

    # -- looking ------------------------------------------------------------------------------------------------------

    def look_now(self, path: str) -> PosixEntry | None:
        """The entry that is known and still true, without waiting; None: `look`."""
        known = self.entries.get(path)
        with suppress(WorldError, OSError):
            return known if known is not None and path not in self._closing and known.unchanged() else None
        return None

    async def look(self, path: str) -> PosixEntry:
        """What is at a path now. Raises `NotFound` for what is not there and for what the actor may not see."""
        known = self.look_now(path)
        if known is not None:
            return known
        closing = self._closing.get(path)
        if closing is not None:
            await asyncio.wait([closing])
        if len(path.rpartition("/")[2].encode("utf-8", "surrogateescape")) > NAME_BYTES:
            raise refusal(errno.ENAMETOOLONG, coded("tree.name_too_long"), path[:64], op="walk")
        scratch = self.scratch.get(path)
        if scratch is not None:
            return self.scratch_entry(path, scratch)
        for writer in self.staged.get(path, ()):
            if writer.new:
                return self._new_entry(writer)
        try:
            found = await self.tree.look(path)
        except (NotFound, BadInput, Unsafe) as error:
            self.entries.pop(path, None)
            if error.code == NO_PAST:
                self.errors.add_below(f"/{segments(path)[0]}", error)
            raise NotFound(coded("tree.no_file_or_directory"), path=path, op="walk", fix=error.fix) from None
        return self._enter(path, found)

    async def list(self, path: str) -> list[tuple[str, bool]]:
        """The names in a directory with whether each is a directory, sorted; scratch names among them."""
        names = dict(await self.tree.names(path))
        names |= {name: False for name, _ in self.scratch.in_directory(path)}
        base = path.rstrip("/") + "/"
        for other, writers in self.staged.items():
            name = other[len(base) :]
            if other.startswith(base) and "/" not in name and any(writer.new for writer in writers):
                names.setdefault(name, False)
        return sorted(names.items())

    async def exists(self, path: str) -> bool:
        try:
            await self.look(path)
        except NotFound:
            return False
        return True

    # -- opening ------------------------------------------------------------------------------------------------------

    async def open(self, path: str, flags: int, entry: PosixEntry | None = None) -> PosixFile:
        """Open what is there (`create` makes a new name). `entry`: what the caller has looked at; its bytes are what a
        reader gets, and ESTALE says that they are gone."""
        entry = entry or await self.look(path)
        writing = flags & os.O_ACCMODE != os.O_RDONLY
        if entry.scratch is not None:
            if flags & os.O_TRUNC and not entry.scratch.read_only:
                entry.scratch.truncate(0)
            if writing and entry.scratch.read_only:
                raise refusal(errno.EACCES, coded("tree.read_only"), path, op="open")
            return OpenScratch(entry.scratch, append=bool(flags & os.O_APPEND))
        if entry.directory:
            raise refusal(errno.EISDIR, coded("tree.is_directory"), path, op="open")
        if not writing and not flags & os.O_TRUNC:
            return await self._open_to_read(entry)
        self.refuse_read_only(path)
        return await self._open_to_write(entry, flags)

    async def create(self, path: str, flags: int) -> tuple[PosixEntry, PosixFile]:
        """Open a name that may be new (O_CREAT). Names that the layout does not know become scratch files."""
        self.check_name(path)
        there: PosixEntry | None = None
        with suppress(NotFound):
            there = await self.look(path)
        if there is not None:
            if flags & os.O_EXCL:
                raise refusal(errno.EEXIST, coded("tree.exists"), path, op="create")
            return there, await self.open(path, flags, there)
        self.refuse_read_only(path)
        row, exact = self.row(path)
        if not exact and await self.scratch_allowed(path, row):
            scratch = self.scratch.create(path)
            return self.scratch_entry(path, scratch), OpenScratch(scratch, append=bool(flags & os.O_APPEND))
        if await self.tree.may_create(path):
            entry = await self.look(path)
            return entry, await self.open(path, flags & ~os.O_TRUNC, entry)
        kind = row.kind if row is not None else FileKind.RECORD
        made = StagedFile(self, path, kind, b"", append=False, cut=True, new=True)
        self.staged.setdefault(path, []).append(made)
        return self._new_entry(made), made

    def forget_writer(self, file: StagedFile) -> None:
        """Of a staged file that is closed."""
        left = [one for one in self.staged.get(file.path, ()) if one is not file]
        if left:
            self.staged[file.path] = left
        else:
            self.staged.pop(file.path, None)

    async def close_file(self, path: str, file: PosixFile) -> None:
        """Close an open file; a look at its path waits until what it commits is there. Its error goes to
        `last_error`."""
        if not isinstance(file, StagedFile):
            await file.close()
            return
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing[file.path] = done
        try:
            await file.close()
        finally:
            done.set_result(None)
            if self._closing.get(file.path) is done:
                del self._closing[file.path]

    # -- names --------------------------------------------------------------------------------------------------------

    async def mkdir(self, path: str) -> PosixEntry:
        return await name_changes.mkdir(self, path)

    async def symlink(self, path: str, target: bytes) -> PosixEntry:
        """Only as a scratch name (the lock of an editor)."""
        return await name_changes.symlink(self, path, target)

    async def remove(self, path: str, *, directory: bool = False) -> None:
        """unlink(2), or rmdir(2)."""
        await name_changes.remove(self, path, directory=directory)

    async def rename(self, old: str, new: str, *, replace: bool = True) -> None:
        """A scratch file onto a known path is one atomic commit of its bytes there, by the rule of the kind."""
        await name_changes.rename(self, old, new, replace=replace)

    # -- attributes ---------------------------------------------------------------------------------------------------

    async def touch(self, path: str, mtime_ns: int) -> None:
        """The time of change, where the tree keeps one; elsewhere taken and dropped."""
        entry = await self.look(path)
        if entry.scratch is not None:
            entry.scratch.mtime_ns = mtime_ns
            return
        self.refuse_read_only(path)
        self.entries.pop(path, None)
        writers = self.staged.get(path, [])
        for writer in writers:
            await writer.touch(mtime_ns // 1_000_000)
        if not writers and not entry.directory and entry.writable:
            await self.tree.touch(path, mtime_ns // 1_000_000)

    async def truncate(self, path: str, size: int) -> None:
        """truncate(2): one commit."""
        if size > MOST:
            raise refusal(errno.EFBIG, coded("tree.bad_size"), path, expected=coded("common.at_most_bytes", n=MOST))
        file = await self.open(path, os.O_RDWR)
        try:
            await file.truncate(size)
            await file.flush()
        finally:
            await file.close()

    async def attributes(self, path: str) -> dict[str, bytes]:
        """The extended attributes `user.paos.*` of a path."""
        entry = await self.look(path)
        row, _ = self.row(path)
        found = {
            "user.paos.kind": "scratch" if entry.scratch else str(entry.kind or ""),
            "user.paos.revision": entry.revision,
            "user.paos.writer": " ".join(role for role in ROLES if row and judge(role, Verb.WRITE, row)),
            "user.paos.error": self.errors.get(path),
            "user.paos.stale": self.tree.stale(path),
        }
        return {name: text.encode() for name, text in found.items() if text}

    async def commit(self, path: str, kind: FileKind, data: bytes) -> None:
        """Give the tree what was written, by the rule of the kind."""
        self.entries.pop(path, None)
        try:
            if kind in (FileKind.RECORD, FileKind.SHEET):
                self._check_document(path, kind, data)
                await self.tree.replace(path, data)
            elif kind in (FileKind.VIEW, FileKind.LINK):
                raise refusal(errno.EACCES, coded("tree.read_only"), path, op="write")
            else:
                await self.tree.write(path, data)
        except WorldError as error:
            error.path = path
            self.errors.add(error)
            raise
        self.errors.clear(path)

    async def close(self) -> None:
        await self.tree.close()

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _open_to_read(self, entry: PosixEntry) -> PosixFile:
        for writer in self.staged.get(entry.path, ()):
            if writer.new:
                return SnapshotFile(await writer.read(0, writer.size), direct=True)
        if entry.waits:
            return WaitingFile(self, entry.path)
        if entry.data is not None:
            return SnapshotFile(entry.data, direct=entry.direct)
        data, revision = await self.tree.read(entry.path)
        if entry.revision and revision and revision != entry.revision:
            self.entries.pop(entry.path, None)
            raise refusal(errno.ESTALE, coded("tree.changed"), entry.path, op="open")
        if entry.revision and revision == entry.revision and len(data) <= KEPT_EACH:
            self._keep(entry, data)
        return SnapshotFile(data, direct=entry.direct)

    async def _open_to_write(self, entry: PosixEntry, flags: int) -> PosixFile:
        path, kind = entry.path, entry.kind or FileKind.RECORD
        if kind in (FileKind.VIEW, FileKind.LINK) or not entry.writable:
            raise refusal(errno.EACCES, coded("tree.read_only"), path, op="open")
        append, cut = bool(flags & os.O_APPEND), bool(flags & os.O_TRUNC)
        if kind is FileKind.LOG:
            if not append or cut:
                raise refusal(errno.EPERM, coded("tree.append_only"), path, op="open", fix=coded("posix.append"))
            readable = flags & os.O_ACCMODE == os.O_RDWR
            return AppendedLog(self, entry, (await self.tree.read(path))[0] if readable else b"")
        if kind is FileKind.DROP:
            raise refusal(errno.EEXIST, coded("tree.exists"), path, op="open")
        fresh = cut or kind is FileKind.CONTROL or any(writer.new for writer in self.staged.get(path, ()))
        present = b"" if fresh else (await self.tree.read(path))[0]
        file = StagedFile(self, path, kind, present, append=append, cut=cut, new=False)
        self.staged.setdefault(path, []).append(file)
        return file

    async def scratch_allowed(self, path: str, row: FileRow | None) -> bool:
        """Whether an unknown name may live here: in a directory where the actor may write something, and where names
        are the layout's."""
        if row is not None and row.kind in (FileKind.RECORD, FileKind.DROP):
            return False  # names that the actor may give are real ones
        above = path.rpartition("/")[0] or "/"
        if row is not None and row.view == "mounts":
            try:
                return not await self.tree.may_create(path)
            except (NotPermitted, NotFound):
                pass
        return any(stat.writable and not stat.directory for stat in await self.tree.entries(above))

    def row(self, path: str) -> tuple[FileRow | None, bool]:
        """The row of a path, and whether it stands in the layout by its full name."""
        parts = segments(path)
        found = self.rows.find(path)
        if found is None:
            return None, False
        row = found[0]
        return row, not row.pattern.endswith("*}") and len(segments(row.pattern)) == len(parts)

    def check_name(self, path: str) -> None:
        """Raises the refusal of a name that cannot be made; one that is too long is refused by the `look` at it."""
        name = path.rpartition("/")[2]
        if not name or name in (".", "..") or any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in name):
            raise refusal(errno.EINVAL, coded("tree.bad_name"), path, op="create")

    def refuse_read_only(self, path: str) -> None:
        if self.read_only or (since := self.tree.stale("/")):
            found = coded("posix.read_only_view") if self.read_only else coded("posix.offline", time=since)
            raise refusal(errno.EROFS, found, path)

    def _check_document(self, path: str, kind: FileKind, data: bytes) -> None:
        """A writer that was killed looks like one that closed: half of a JSON document is not committed."""
        row, exact = self.row(path)
        if kind is FileKind.RECORD and exact and row is not None and path.endswith(".json") and data.strip():
            try:
                parse_json(data)
            except ValueError:
                raise refusal(
                    errno.EINVAL, coded("posix.incomplete"), path, op="write", expected=coded("posix.whole_json")
                ) from None

    def moved(self, old: str, new: str) -> None:
        for path in [path for path in self.entries if path == old or path.startswith(f"{old}/")]:
            del self.entries[path]
        for writer in self.staged.pop(old, []):
            writer.path = new
            self.staged.setdefault(new, []).append(writer)

    def _enter(self, path: str, found: FileLook) -> PosixEntry:
        stat = found.stat
        entry = PosixEntry(path)
        entry.directory, entry.size, entry.writable = stat.directory, stat.size, stat.writable
        entry.kind, entry.waits, entry.data = stat.kind, found.waits, found.data
        if entry.kind is None and not stat.directory:
            row, _ = self.row(path)
            entry.kind = row.kind if row is not None else None
        if stat.directory:
            entry.id = path_id(path)
        else:
            entry.revision = stat.revision
            if not entry.revision and found.data is not None and not found.waits:
                entry.revision = blake2b(found.data, digest_size=12).hexdigest()
            entry.id = path_id(f"{path}\0{entry.revision}")
        entry.mtime_ns = stat.mtime_ms * 1_000_000 or self._first_seen(path, entry.revision)
        if found.unchanged is not None:
            entry.unchanged = found.unchanged
            if len(self.entries) >= ENTRIES_MOST:
                self.entries.clear()
            self.entries[path] = entry
        return entry

    def _keep(self, entry: PosixEntry, data: bytes) -> None:
        """The bytes of a small stored file, for the next reader of the same revision."""
        self._kept += len(data)
        if self._kept > KEPT_MOST:
            for other in self.entries.values():
                other.data = None
            self._kept = len(data)
        entry.data = data

    def _first_seen(self, path: str, revision: str) -> int:
        known = self._seen.get(path)
        if known is not None and known[0] == revision:
            return known[1]
        if len(self._seen) >= ENTRIES_MOST:
            self._seen.clear()
        now = self._start_ns if known is None else self.scratch.now_ns()
        self._seen[path] = revision, now
        return now

    def scratch_entry(self, path: str, file: ScratchFile) -> PosixEntry:
        entry = PosixEntry(path)
        entry.scratch, entry.size, entry.id, entry.mtime_ns = file, len(file.data), file.id, file.mtime_ns
        entry.writable, entry.link = not file.read_only, file.link
        return entry

    def _new_entry(self, writer: StagedFile) -> PosixEntry:
        entry = PosixEntry(writer.path)
        entry.size, entry.writable, entry.kind = writer.size, True, writer.kind
        entry.id, entry.mtime_ns = path_id(f"{writer.path}\0new"), self.scratch.now_ns()
        return entry
