"""The one I/O module: every byte of the product that reaches a disk goes through a `Root` and its `Disk`.

A `Root` is a directory that no path leaves (walk.py), open for writing. A `Disk` is where the durable boundaries
are: counted, and breakable by tests.
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import stat
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Final, Literal

from . import linux
from .errors import Exists, NotFound, WorldError
from .walk import FOLDER, Folder, Place, Walk, check, odd, refuse

DRAFT: Final = ".paos-tmp-"

How = Literal["over", "new", "swap"]
"""Rename over what is there, only if nothing is there, or exchange both."""


class Disk:
    """The durable boundaries. `boundary(name, path)` is called before each of them takes effect; it may raise.

    Names: write, fsync, rename, fsync_dir, unlink, append, mkdir, create, truncate.
    """

    def __init__(self, boundary: Callable[[str, str], None] | None = None) -> None:
        self.boundary = boundary
        self.replaces = 0  # files put in place durably
        self.appends = 0  # durable additions
        self.exchange = True  # until the kernel or the file system says that it cannot
        self.noreplace = True  # same

    @property
    def commits(self) -> int:
        """Durable writes so far: what benchmarks compare with as many bare write + fsync + rename + fsync(dir)."""
        return self.replaces + self.appends

    def write(self, fd: int, data: bytes, path: str) -> None:
        if self.boundary:
            self.boundary("write", path)
        _write(fd, data)

    def append(self, fd: int, data: bytes, path: str) -> None:
        if self.boundary:
            self.boundary("append", path)
        _write(fd, data)

    def create(self, fd: int, name: str, path: str, flags: int, mode: int = 0o644) -> int:
        """Open a child of the directory `fd`, made if it is not there; the new descriptor."""
        if self.boundary:
            self.boundary("create", path)
        return os.open(name, flags | os.O_CREAT, mode, dir_fd=fd)

    def truncate(self, fd: int, size: int, path: str) -> None:
        if self.boundary:
            self.boundary("truncate", path)
        os.ftruncate(fd, size)

    def fsync(self, fd: int, path: str, *, data_only: bool = False) -> None:
        if self.boundary:
            self.boundary("fsync", path)
        (os.fdatasync if data_only else os.fsync)(fd)

    def fsync_dir(self, fd: int, path: str) -> None:
        if self.boundary:
            self.boundary("fsync_dir", path)
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EROFS):  # file systems that keep no directories to sync
                raise

    def unlink(self, fd: int, name: str, path: str) -> None:
        if self.boundary:
            self.boundary("unlink", path)
        os.unlink(name, dir_fd=fd)

    def mkdir(self, fd: int, name: str, path: str, mode: int) -> None:
        if self.boundary:
            self.boundary("mkdir", path)
        os.mkdir(name, mode, dir_fd=fd)

    def rename(self, source: Place, target: Place, how: How) -> None:
        """`swap` raises `OSError` ENOSYS where it cannot be had; `new` then makes a second name and drops the first."""
        if self.boundary:
            self.boundary("rename", target.path)
        if how == "over":
            os.rename(source.name, target.name, src_dir_fd=source.folder.fd, dst_dir_fd=target.folder.fd)
        elif how == "swap":
            self._flagged(source, target, linux.EXCHANGE)
        else:
            try:
                self._flagged(source, target, linux.NOREPLACE)
            except OSError as error:
                if error.errno != errno.ENOSYS:
                    raise
                _rename_new(source, target)

    def _flagged(self, source: Place, target: Place, flag: int) -> None:
        which = "exchange" if flag == linux.EXCHANGE else "noreplace"
        if getattr(self, which):
            try:
                return linux.renameat2(source.folder.fd, source.name, target.folder.fd, target.name, flag)
            except OSError as error:
                if error.errno not in linux.UNSUPPORTED:
                    raise
                setattr(self, which, False)
        raise OSError(errno.ENOSYS, f"no {which} rename here")


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _rename_new(source: Place, target: Place) -> None:
    """Create-only rename without the system's help: exact for files; for directories there is a small window."""
    fds = {"src_dir_fd": source.folder.fd, "dst_dir_fd": target.folder.fd}
    if not stat.S_ISDIR(os.stat(source.name, dir_fd=source.folder.fd, follow_symlinks=False).st_mode):
        os.link(source.name, target.name, follow_symlinks=False, **fds)
        os.unlink(source.name, dir_fd=source.folder.fd)
        return
    try:
        os.stat(target.name, dir_fd=target.folder.fd, follow_symlinks=False)
    except FileNotFoundError:
        return os.rename(source.name, target.name, **fds)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target.path)


class Root(Walk):
    """A directory and everything below it. Usable from many threads.

    `scratch`: a directory below the root for temporaries ("": beside their target). There they disturb no reader and
    no watcher, and what a crash leaves is found without a search.
    """

    def __init__(self, path: str | os.PathLike[str], disk: Disk | None = None, *, scratch: str = "") -> None:
        super().__init__(path)
        self.disk = disk or Disk()
        self._scratch = scratch
        self._apart: set[str] = set()  # folders behind another mount, whose temporaries must lie beside their target
        self._count = itertools.count()
        self._claimed: Folder | None = None

    def close(self) -> None:
        super().close()
        self._claimed = None

    def room(self, path: str, *, private: bool = False) -> Place:
        """The place for a child, directories made on the way (0755, `private`: 0700)."""
        above, _, name = path.rpartition("/")
        try:
            return Place(self.folder(above), name, path)
        except FileNotFoundError:
            pass
        upper = self.room(above, private=private)
        with suppress(FileExistsError):  # somebody was faster, or it is no directory: the walk will say
            self.disk.mkdir(upper.folder.fd, upper.name, above, 0o700 if private else 0o755)
        return Place(self.folder(above), name, path, (*upper.grown, upper.folder))

    # -- the steps of writing (for who must look between them: the disk store) -------------------------------------

    def draft(self, place: Place, data: bytes, before: os.stat_result | None, *, private: bool = False) -> Place:
        """A finished temporary for `place`, not yet on disk by name; mode (and owner, for root) of what it replaces."""
        draft, fd = self.begin(place, before, private=private)
        try:
            self.disk.write(fd, data, draft.path)
            self.disk.fsync(fd, draft.path)
        except (OSError, WorldError):
            os.close(fd)  # before the rename, so that watchers of the target hear of the rename alone
            self.drop(draft)
            raise
        except BaseException:  # a crash leaves its temporary, as a real one would
            os.close(fd)
            raise
        os.close(fd)
        return draft

    def finish(self, drafts: Iterable[Place], fds: Iterable[int]) -> None:
        """Make written temporaries durable and close them; begun together, so that they share a journal commit."""
        fds = list(fds)
        try:
            for fd in fds:
                linux.start_writeback(fd)
            for draft, fd in zip(drafts, fds, strict=True):
                self.disk.fsync(fd, draft.path)
        finally:
            for fd in fds:
                os.close(fd)

    def flush(self, path: str) -> None:
        """Make durable what somebody else wrote there: content and name. Nothing there: nothing to do."""
        try:
            place = self.place(path)
            fd = None if place is None else self.open(place)
            if place is None or fd is None:
                return
            try:
                self.disk.fsync(fd, path)
            finally:
                os.close(fd)
            self.sync(place)
        except OSError as error:
            raise refuse(error, path, "sync") from error

    def drop(self, draft: Place) -> None:
        """Forget a temporary; never the reason of a failure."""
        with suppress(OSError):
            os.unlink(draft.name, dir_fd=draft.folder.fd)

    def rename(self, source: Place, target: Place, how: How = "over") -> None:
        try:
            self.disk.rename(source, target, how)
        except OSError as error:
            if error.errno == errno.EXDEV:
                self._part(source.folder)
                self._part(target.folder)
            raise

    def link(self, source: Place, target: Place) -> None:
        """A second name for a file."""
        os.link(
            source.name,
            target.name,
            src_dir_fd=source.folder.fd,
            dst_dir_fd=target.folder.fd,
            follow_symlinks=False,
        )

    def sync(self, *places: Place) -> None:
        """Make names durable: each directory once, children before their parents."""
        done: set[tuple[int, int]] = set()
        for folder in (*(p.folder for p in places), *(f for p in places for f in reversed(p.grown))):
            if folder.id not in done:
                done.add(folder.id)
                self.disk.fsync_dir(folder.fd, folder.path)

    # -- whole writes ----------------------------------------------------------------------------------------------

    def replace(self, path: str, data: bytes, *, private: bool = False, durable: bool = True) -> None:
        """Put `data` there whole: a reader sees the old or the new file, and so does who comes after a crash."""
        self._put(path, data, "over", private=private, durable=durable)

    def create(self, path: str, data: bytes, *, private: bool = False, durable: bool = True) -> None:
        """As `replace`, but `Exists` if something is there."""
        self._put(path, data, "new", private=private, durable=durable)

    def _put(self, path: str, data: bytes, how: How, *, private: bool, durable: bool) -> None:
        check(path, op="write")
        try:
            place = self.room(path, private=private)
            before = self.status(place, "write")
            if before is not None and how == "new":
                raise Exists("already there", path=path, op="write")
            self.put_at(place, data, before, how, private=private)
            if durable:
                self.sync(place)
        except FileExistsError:
            raise Exists("already there", path=path, op="write") from None
        except OSError as error:
            raise refuse(error, path, "write") from error

    def put_at(
        self,
        place: Place,
        data: bytes,
        before: os.stat_result | None,
        how: How,
        *,
        private: bool = False,
        alone: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """Draft and rename, without the last sync. `alone`: what to hold around the rename."""
        for attempt in (0, 1):
            draft = self.draft(place, data, before, private=private)
            try:
                with alone():
                    self.rename(draft, place, how)
                break
            except OSError as error:
                self.drop(draft)
                if error.errno != errno.EXDEV or attempt:
                    raise
        self.disk.replaces += 1

    def put_group(self, items: Iterable[tuple[Place, bytes]]) -> list[bool]:
        """Create-only, all drafts before all renames, then one fsync a directory: whether each was new.

        The drafts' fsyncs follow each other with nothing between, so that a journalling file system commits them
        together.
        """
        begun: list[tuple[Place, Place, int]] = []
        made: list[bool] = []
        try:
            try:
                for place, data in items:
                    begun.append((place, *self.begin(place, None)))
                    self.disk.write(begun[-1][2], data, begun[-1][1].path)
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
        check(path, op="append")
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            place = self.room(path)
            try:
                fd = os.open(place.name, flags, dir_fd=place.folder.fd)
                new = False
            except FileNotFoundError:
                fd = os.open(place.name, flags | os.O_CREAT, 0o644, dir_fd=place.folder.fd)
                new = True
            try:
                info = os.fstat(fd)
                if not stat.S_ISREG(info.st_mode):
                    raise odd(path, "append")
                try:
                    self.disk.append(fd, data, path)
                except OSError:
                    os.ftruncate(fd, info.st_size)
                    raise
                if durable:
                    self.disk.fsync(fd, path, data_only=True)
                    self.disk.appends += 1
            finally:
                os.close(fd)
            if new or place.grown:
                self.sync(place)
        except OSError as error:
            raise refuse(error, path, "append") from error

    def remove(self, path: str) -> None:
        """Unlink a file durably. `NotFound` if it is not there."""
        check(path, op="remove")
        try:
            place = self.place(path)
            if place is None:
                raise NotFound("no such file", path=path, op="remove")
            self.disk.unlink(place.folder.fd, place.name, path)
            self.sync(place)
        except OSError as error:
            raise refuse(error, path, "remove") from error

    # -- lock files ------------------------------------------------------------------------------------------------

    def lock_file(self, path: str) -> int:
        """A descriptor for locking, the file made if need be. Its content is a courtesy and never durable."""
        try:
            place = self.room(path)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            return os.open(place.name, flags, 0o644, dir_fd=place.folder.fd)
        except OSError as error:
            raise refuse(error, path, "lock") from error

    @staticmethod
    def sign(fd: int, data: bytes) -> None:
        """Replace a lock file's content in place: its inode is the lock."""
        os.ftruncate(fd, 0)
        os.pwrite(fd, data, 0)

    # -- temporaries -----------------------------------------------------------------------------------------------

    def sweep(self) -> None:
        """Remove what a crash left in the scratch directory, if no living writer uses it. Never a failure."""
        try:
            if self._scratch:
                self._claim(self.folder(self._scratch))
        except (OSError, WorldError):
            return

    def _claim(self, folder: Folder) -> Folder:
        """Every writer holds the scratch directory's lock shared while it lives: who gets it alone is alone."""
        own = Folder(os.open(".", FOLDER, dir_fd=folder.fd), folder.path)
        with suppress(BlockingIOError):
            fcntl.flock(own.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for name in os.listdir(own.fd):
                with suppress(OSError):
                    os.unlink(name, dir_fd=own.fd)
        fcntl.flock(own.fd, fcntl.LOCK_SH)
        self._claimed = own
        return own

    def _desk(self, place: Place) -> Folder:
        """Where the temporary for `place` is written."""
        folder = place.folder
        if not self._scratch or folder.path in self._apart:
            return folder
        scratch = self._claimed or self._claim(self.room(f"{self._scratch}/x").folder)
        if scratch.id[0] != folder.id[0]:
            self._part(folder)
            return folder
        return scratch

    def apart(self, place: Place) -> bool:
        """Whether temporaries for this place cannot lie in the scratch directory."""
        return place.folder.path in self._apart

    def _part(self, folder: Folder) -> None:
        """From now on temporaries for this folder lie in it: another mount, or a bind mount of the same disk."""
        self._apart.add(folder.path)

    def begin(self, place: Place, before: os.stat_result | None, *, private: bool = False) -> tuple[Place, int]:
        """An empty temporary for `place`, open for writing: the caller writes, syncs and closes."""
        if before is not None and stat.S_ISDIR(before.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        tag = f"{os.getpid():x}-{next(self._count):x}-{os.urandom(3).hex()}"
        flags, mode = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if private else 0o644
        folder, name = self._desk(place), tag
        if folder is place.folder:
            name = f".{place.name if len(place.name) < 50 else place.name[:50]}{DRAFT}{tag}"
        try:
            fd = os.open(name, flags, mode, dir_fd=folder.fd)
        except FileNotFoundError:  # somebody removed the scratch directory
            self._claimed = None
            folder = self._desk(place)
            fd = os.open(name, flags, mode, dir_fd=folder.fd)
        if before is not None and not private:
            os.fchmod(fd, stat.S_IMODE(before.st_mode))
            if os.geteuid() == 0 and (before.st_uid or before.st_gid):
                os.fchown(fd, before.st_uid, before.st_gid)  # a kernel run by root takes no file from its owner
        return Place(folder, name, f"{folder.path}/{name}" if folder.path else name), fd
