"""The only way to write to disk: a directory that no path leaves (dir_reader.py), open for writing.

Every byte of the product that reaches a disk goes through a `Root`, and from there through its `Disk` (disk.py).
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import stat
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Final, NamedTuple

from . import syscalls
from .dir_reader import FOLDER, OPEN_FOLDERS, DirEntryRef, DirFd, DirReader, check_path, not_a_regular_file, path_error
from .disk import STAMP, Disk, How
from .errors import Exists, NotFound, WorldError
from .forked_child import keep_from_children
from .messages import coded

__all__ = ["DRAFT", "Disk", "How", "Root"]

DRAFT: Final = ".paos-tmp-"
NAMES: Final = 1024  # of files appended to, remembered
SPARES: Final = 8  # old files kept to be written over
SPARE_MAX: Final = 1 << 18  # bytes of one
_SPARE: Final = "spare-"


class _Spare(NamedTuple):
    """An old file in the scratch directory that no other process has open, and who owns it."""

    place: DirEntryRef
    pid: int
    mode: int
    owner: tuple[int, int]


class Root(DirReader):
    """A directory and everything below it. Usable from many threads.

    `scratch`: a directory below the root for temporaries ("": beside their target). There they disturb no reader and
    no watcher, and what a crash leaves is found without a search.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        disk: Disk | None = None,
        *,
        scratch: str = "",
        folders: int = OPEN_FOLDERS,
    ) -> None:
        super().__init__(path, folders)
        self.disk = disk or Disk()
        self._scratch = scratch
        self._apart: set[str] = set()  # folders behind another mount, whose temporaries must lie beside their target
        self._count = itertools.count()
        self._claimed: DirFd | None = None
        self._retired: list[_Spare] = []  # out of their old place, but perhaps not yet durably so
        self._spares: list[_Spare] = []  # to be written over
        self._named: dict[str, int] = {}  # files whose names we know to be durable, with their inodes

    @staticmethod
    def build(path: str | os.PathLike[str], mode: int = 0o777) -> bool:
        """The directory of a root, made with those above it (0777) and durable by name; False if it was there."""
        path = os.path.abspath(path)
        if os.path.isdir(path):
            return False
        above = os.path.dirname(path)
        Root.build(above)
        try:
            os.mkdir(path, mode)
            fd = os.open(above, FOLDER & ~os.O_NOFOLLOW)
        except FileExistsError:  # another process was faster, or it is no directory: opening it raises the error
            return False
        except OSError as error:
            raise path_error(error, path, "make") from error
        try:
            Disk().fsync_dir(fd, above)
        finally:
            os.close(fd)
        return True

    def close(self) -> None:
        super().close()
        for spare in (*self._retired, *self._spares):
            if spare.pid == os.getpid():
                self.drop(spare.place)
        self._retired, self._spares = [], []
        self._claimed = None

    def ensure_parent(self, path: str, *, private: bool = False, durable: bool = True) -> DirEntryRef:
        """The entry for a child, directories made on the way (0755, `private`: 0700), `durable`: by name."""
        place = self._ensure_parent(path, private, durable)
        if durable:
            self._anchor(place.folder)
        return place

    def _ensure_parent(self, path: str, private: bool, durable: bool = True) -> DirEntryRef:
        above, _, name = path.rpartition("/")
        try:
            return DirEntryRef(self.folder(above), name, path)
        except FileNotFoundError:
            pass
        upper = self.ensure_parent(above, private=private, durable=durable)
        with suppress(FileExistsError):  # another process was faster, or it is no directory: the walk raises the error
            self.disk.mkdir(upper.folder.fd, upper.name, above, 0o700 if private else 0o755)
        return DirEntryRef(self.folder(above), name, path)

    def _anchor(self, folder: DirFd) -> None:
        """What lies in a directory is durable only as the directory itself is: once in a root's lifetime, because
        its maker may have died before its parent was synced."""
        while not folder.durable:
            upper = self.folder(folder.path.rpartition("/")[0])
            self.disk.fsync_dir(upper.fd, upper.path)
            folder.durable = True
            folder = upper

    # -- the steps of writing (for a caller that must check between them: the disk store) --------------------------

    def draft(
        self, place: DirEntryRef, data: bytes, before: os.stat_result | None, *, private: bool = False, stamp: str = ""
    ) -> DirEntryRef:
        """A finished temporary for `place`, not yet on disk by name; mode (and owner, for root) of what it replaces."""
        draft, fd = self.begin(place, before, private=private)
        try:
            self.fill(draft, fd, data)
            if stamp:
                self.disk.stamp(fd, stamp.encode(), draft.path)
            self.disk.fsync(fd, draft.path)
        except (OSError, WorldError):
            os.close(fd)  # before the rename, so that watchers of the target see the rename alone
            self.drop(draft)
            raise
        except BaseException:  # a crash leaves its temporary, as a real one would
            os.close(fd)
            raise
        os.close(fd)
        return draft

    def finish(self, drafts: Iterable[DirEntryRef], fds: Iterable[int], *, begun: bool = False) -> None:
        """Make written temporaries durable and close them; begun together, so that they share a journal commit.

        `begun`: the disk is at work on them.
        """
        fds = list(fds)
        try:
            for fd in () if begun or len(fds) < 2 else fds:
                syscalls.start_writeback(fd)
            for draft, fd in zip(drafts, fds, strict=True):
                self.disk.fsync(fd, draft.path)
        finally:
            for fd in fds:
                os.close(fd)

    def flush(self, path: str) -> None:
        """Make durable what another process wrote there: content and name. Nothing there: nothing to do."""
        try:
            place = self.locate(path)
            fd = None if place is None else self.open(place)
            if place is None or fd is None:
                return
            try:
                self.disk.fsync(fd, path)
            finally:
                os.close(fd)
            self.sync(place)
        except OSError as error:
            raise path_error(error, path, "sync") from error

    def drop(self, draft: DirEntryRef) -> None:
        """Forget a temporary; never the reason of a failure."""
        with suppress(OSError):
            self.disk.unlink(draft.folder.fd, draft.name, draft.path)

    def rename(self, source: DirEntryRef, target: DirEntryRef, how: How = "over") -> None:
        try:
            self.disk.rename(source, target, how)
        except OSError as error:
            if error.errno == errno.EXDEV:
                self._part(source.folder)
                self._part(target.folder)
            raise

    def link(self, source: DirEntryRef, target: DirEntryRef) -> None:
        """A second name for a file."""
        self.disk.link(source, target)

    def sync(self, *places: DirEntryRef) -> None:
        """Make names durable: each directory once."""
        for folder in {place.folder.id: place.folder for place in places}.values():
            self.disk.fsync_dir(folder.fd, folder.path)

    # -- whole writes ----------------------------------------------------------------------------------------------

    def replace(self, path: str, data: bytes, *, private: bool = False, durable: bool = True) -> None:
        """Put `data` there whole: a reader sees the old or the new file, and so does a reader after a crash."""
        self._put(path, data, "over", private=private, durable=durable)

    def create(self, path: str, data: bytes, *, private: bool = False, durable: bool = True) -> None:
        """As `replace`, but `Exists` if something is there."""
        self._put(path, data, "new", private=private, durable=durable)

    def _put(self, path: str, data: bytes, how: How, *, private: bool, durable: bool) -> None:
        check_path(path, op="write")
        try:
            place = self.ensure_parent(path, private=private)
            before = self.status(place, "write")
            if before is not None and how == "new":
                raise Exists(coded("tree.exists"), path=path, op="write")
            self.put_at(place, data, before, how, private=private)
            if durable:
                self.sync(place)
        except FileExistsError:
            raise Exists(coded("tree.exists"), path=path, op="write") from None
        except OSError as error:
            raise path_error(error, path, "write") from error

    def put_at(
        self,
        place: DirEntryRef,
        data: bytes,
        before: os.stat_result | None,
        how: How,
        *,
        private: bool = False,
        stamp: str = "",
        alone: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """Draft and rename, without the last sync. `alone`: what to hold around the rename."""
        for attempt in (0, 1):
            draft = self.draft(place, data, before, private=private, stamp=stamp)
            try:
                with alone():
                    self.rename(draft, place, how)
                break
            except OSError as error:
                self.drop(draft)
                if error.errno != errno.EXDEV or attempt:
                    raise
        self.disk.replaces += 1

    def put_group(self, items: Iterable[tuple[DirEntryRef, bytes]]) -> list[bool]:
        """Create-only, all drafts before all renames, then one fsync a directory: whether each was new.

        The drafts' fsyncs follow each other with nothing between, so that a journalling file system commits them
        together.
        """
        begun: list[tuple[DirEntryRef, DirEntryRef, int]] = []
        made: list[bool] = []
        try:
            try:
                for place, data in items:
                    begun.append((place, *self.begin(place, None)))
                    self.fill(*begun[-1][1:], data)
            except BaseException:
                for _, _, fd in begun:
                    os.close(fd)
                raise
            self.finish([draft for _, draft, _ in begun], [fd for _, _, fd in begun])
            for place, draft, _ in begun:
                try:
                    self.rename(draft, place, "new")
                    made.append(True)
                    self.disk.replaces += 1
                except FileExistsError:
                    self.drop(draft)
                    made.append(False)
        except (OSError, WorldError):
            for _, draft, _ in begun[len(made) :]:
                self.drop(draft)
            raise
        self.sync(*(place for place, _, _ in begun))
        return made

    def append(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Add to the end; what could not be added whole is taken back (one writer)."""
        check_path(path, op="append")
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            place = self.ensure_parent(path)
            try:
                fd = syscalls.open_for_writing(place.name, flags, place.folder.fd)
            except FileNotFoundError:
                fd = self.disk.create(place.folder.fd, place.name, path, flags)
            try:
                info = os.fstat(fd)
                if not stat.S_ISREG(info.st_mode):
                    raise not_a_regular_file(path, "append")
                try:
                    self.disk.append(fd, data, path)
                except OSError:
                    self.disk.truncate(fd, info.st_size, path)
                    raise
                if durable:
                    self.disk.fsync(fd, path, data_only=True)
                    self.disk.appends += 1
                    self._sure_of(place, info.st_ino)
            finally:
                os.close(fd)
        except OSError as error:
            raise path_error(error, path, "append") from error

    def reserve(self, path: str, size: int) -> None:
        """Keep room for `size` more bytes of `append`, so that a disk that is full by then takes them. The file is made
        if it is not there."""
        check_path(path, op="append")
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            place = self.ensure_parent(path)
            fd = self.disk.create(place.folder.fd, place.name, path, flags)
            try:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise not_a_regular_file(path, "append")
                self.disk.reserve(fd, size, path)
            finally:
                os.close(fd)
        except OSError as error:
            raise path_error(error, path, "append") from error

    def _sure_of(self, place: DirEntryRef, inode: int) -> None:
        """Make a file's name durable once: its maker may have died before that."""
        if self._named.get(place.path) != inode:
            self.sync(place)
            if len(self._named) >= NAMES:
                self._named.clear()
            self._named[place.path] = inode

    def remove(self, path: str) -> None:
        """Unlink a file durably. `NotFound` if it is not there."""
        check_path(path, op="remove")
        try:
            place = self.locate(path)
            if place is None:
                raise NotFound(coded("tree.no_file"), path=path, op="remove")
            self.disk.unlink(place.folder.fd, place.name, path)
            self.sync(place)
        except OSError as error:
            raise path_error(error, path, "remove") from error

    def stamp(self, path: str) -> str | None:
        """What `Disk.stamp` noted about a file, if this file system keeps it."""
        try:
            place = self.locate(path)
            fd = None if place is None or not self.disk.stamps else self.open(place)
        except OSError as error:
            raise path_error(error, path, "read") from error
        if fd is None:
            return None
        try:
            return os.getxattr(fd, STAMP).decode("ascii", "replace")
        except OSError:
            return None
        finally:
            os.close(fd)

    # -- lock files ------------------------------------------------------------------------------------------------

    def lock_file(self, path: str) -> int:
        """A descriptor for locking, the file made if need be. Its content is informative and never durable."""
        try:
            place = self.ensure_parent(path)
            flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
            return keep_from_children(self.disk.create(place.folder.fd, place.name, path, flags))
        except OSError as error:
            raise path_error(error, path, "lock") from error

    def sign(self, fd: int, data: bytes, path: str) -> None:
        """Replace a lock file's content in place: its inode is the lock."""
        self.disk.truncate(fd, 0, path)
        self.disk.patch(fd, data, 0, path)

    # -- temporaries -----------------------------------------------------------------------------------------------

    def sweep(self) -> None:
        """Remove what a crash left in the scratch directory, if no living writer uses it. Never a failure."""
        try:
            if self._scratch:
                self._claim(self.folder(self._scratch))
        except (OSError, WorldError):
            return

    def _claim(self, folder: DirFd) -> DirFd:
        """Each living writer holds the scratch directory's lock shared: an exclusive lock proves there is no other."""
        own = DirFd(os.open(".", FOLDER, dir_fd=folder.fd), folder.path)
        with suppress(BlockingIOError):
            fcntl.flock(own.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for name in own.names():
                self.drop(DirEntryRef(own, name, f"{own.path}/{name}"))
        fcntl.flock(own.fd, fcntl.LOCK_SH)
        self._claimed = own
        return own

    def _desk(self, place: DirEntryRef) -> DirFd:
        """Where the temporary for `place` is written."""
        folder = place.folder
        if not self._scratch or folder.path in self._apart:
            return folder
        scratch = self._claimed or self._claim(self._ensure_parent(f"{self._scratch}/x", False).folder)
        if scratch.id[0] != folder.id[0]:
            self._part(folder)
            return folder
        return scratch

    def apart(self, place: DirEntryRef) -> bool:
        """Whether temporaries for this place cannot lie in the scratch directory."""
        return place.folder.path in self._apart

    def _part(self, folder: DirFd) -> None:
        """From now on temporaries for this folder lie in it: another mount, or a bind mount of the same disk."""
        self._apart.add(folder.path)

    def begin(
        self, place: DirEntryRef, before: os.stat_result | None, *, private: bool = False
    ) -> tuple[DirEntryRef, int]:
        """An empty temporary for `place`, open for writing: the caller writes, syncs and closes."""
        if before is not None and stat.S_ISDIR(before.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if before is not None and not private and (spare := self._spare(before)) is not None:
            flags = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW
            return spare, self.disk.create(spare.folder.fd, spare.name, spare.path, flags)
        tag = f"{os.getpid():x}-{next(self._count):x}-{os.urandom(3).hex()}"
        flags, mode = os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC, 0o600 if private else 0o644
        folder, name = self._desk(place), tag
        if folder is place.folder:
            name = f".{place.name if len(place.name) < 50 else place.name[:50]}{DRAFT}{tag}"
        draft = DirEntryRef(folder, name, f"{folder.path}/{name}" if folder.path else name)
        try:
            fd = self.disk.create(folder.fd, name, draft.path, flags, mode)
        except FileNotFoundError:  # another program removed the scratch directory
            self._claimed = None
            folder = self._desk(place)
            draft = DirEntryRef(folder, name, draft.path)
            fd = self.disk.create(folder.fd, name, draft.path, flags, mode)
        if before is not None and not private:
            self.disk.chmod(fd, stat.S_IMODE(before.st_mode), draft.path)
            if os.geteuid() == 0 and (
                before.st_uid or before.st_gid
            ):  # a kernel run by root takes no file from its owner
                self.disk.chown(fd, before.st_uid, before.st_gid, draft.path)
        return draft, fd

    def fill(self, draft: DirEntryRef, fd: int, data: bytes) -> None:
        """Write the content of a draft that was begun."""
        self.disk.write(fd, data, draft.path)
        if draft.name.startswith(_SPARE) and os.fstat(fd).st_size > len(data):
            self.disk.truncate(fd, len(data), draft.path)

    # -- old files, written over: a file system is slow to make a new one where others were just removed -------------

    def retire(self, place: DirEntryRef, info: os.stat_result) -> bool:
        """Set a file that no other process has open aside as a later draft; False: it stays, for the caller to remove.

        `info`: what it is, with no other name. It is not written over before `settle_spares`: else a power cut could
        leave it in its old place with what was meant for another.
        """
        if self._claimed is None or info.st_nlink != 1 or info.st_size > SPARE_MAX:
            return False
        if len(self._spares) + len(self._retired) >= SPARES:
            return False
        name = f"{_SPARE}{os.getpid():x}-{next(self._count):x}-{os.urandom(3).hex()}"
        there = DirEntryRef(self._claimed, name, f"{self._claimed.path}/{name}")
        try:
            self.disk.rename(place, there, "over")
        except FileNotFoundError:
            return False
        owner = (info.st_uid, info.st_gid)
        self._retired.append(_Spare(there, os.getpid(), stat.S_IMODE(info.st_mode), owner))
        return True

    def settle_spares(self, least: int = SPARES // 2) -> None:
        """Once there are some: make it durable that they are where they are; cheap right after another sync."""
        if len(self._retired) >= least:
            retired, self._retired = self._retired, []
            self.sync(retired[0].place)
            self._spares += retired

    def _spare(self, before: os.stat_result) -> DirEntryRef | None:
        """One that is as what it shall replace."""
        with suppress(IndexError):  # another thread was faster
            while self._spares:
                spare = self._spares.pop()
                if spare.pid != os.getpid():  # our parent's
                    continue
                if (spare.mode, spare.owner) == (stat.S_IMODE(before.st_mode), (before.st_uid, before.st_gid)):
                    return spare.place
                self.drop(spare.place)
        return None
