"""A directory that no path leaves: walked by descriptor, component by component, and any link on the way refused."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from .errors import BadInput, Unsafe, WorldError, from_os
from .messages import coded

READ: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # non-blocking: a FIFO must not hold us
FOLDER: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY
NAME_MAX: Final = 255  # bytes (POSIX limits.h, the same on every file system that we know)
OPEN_FOLDERS: Final = 128  # descriptors kept
FEW_FOLDERS: Final = 2  # the same, where many directories are open at once
WHOLE_MOST: Final = 1 << 30  # bytes of a file that is read into memory


def check_path(path: str, *, op: str = "") -> None:
    """Refuse a path that could leave its root (`Unsafe`) or that no file system keeps as it is (`BadInput`)."""
    # Every read of a disk begins here: the usual case is not parsed.
    if (
        0 < len(path) <= NAME_MAX // 4
        and path.isprintable()
        and path[0] != "/"
        and path[-1] not in "/."
        and "//" not in path
        and "./" not in path
    ):
        return
    if not path or path[0] == "/":
        raise Unsafe(coded("tree.absolute_or_empty"), path=path, op=op, expected=coded("tree.relative_path"))
    if not path.isprintable():
        for char in path:
            if ord(char) < 32 or 127 <= ord(char) < 160:
                kind = Unsafe if char == "\0" else BadInput
                raise kind(coded("tree.name_control", sign=char), path=repr(path), op=op)
    for part in path.split("/"):
        if part in (".", ".."):
            raise Unsafe(coded("tree.dots", part=part), path=path, op=op, expected=coded("tree.path_below_root"))
        if not part:
            raise BadInput(coded("tree.empty_component"), path=path, op=op, expected=coded("tree.single_slashes"))
        if len(part) > NAME_MAX // 4:
            try:
                size = len(os.fsencode(part))
            except UnicodeEncodeError:
                raise BadInput(coded("tree.name_no_utf8"), path=repr(path), op=op) from None
            if size > NAME_MAX:
                raise BadInput(
                    coded("tree.name_bytes", size=size), path=path, op=op, expected=coded("common.at_most", n=NAME_MAX)
                )


def path_error(error: OSError, path: str, op: str) -> WorldError:
    """The `WorldError` for an `OSError` on a path below a root."""
    if error.errno == errno.ELOOP:
        return Unsafe(
            coded("tree.link"), path=path, op=op, expected=coded("tree.own_file"), fix=coded("tree.remove_link")
        )
    if error.errno == errno.EISDIR:
        return BadInput(coded("common.directory"), path=path, op=op, expected=coded("common.a_file"))
    if error.errno == errno.ENOTDIR:
        return BadInput(coded("tree.not_directory"), path=path, op=op)
    if error.errno in (errno.ENXIO, errno.ENODEV):
        return not_a_regular_file(path, op)
    if error.errno == errno.ENAMETOOLONG:
        return BadInput(coded("tree.name_too_long"), path=path, op=op)
    return from_os(error, path=path, op=op)


def not_a_regular_file(path: str, op: str) -> BadInput:
    return BadInput(
        coded("tree.special_file"), path=path, op=op, expected=coded("tree.regular_file"), fix=coded("common.remove_it")
    )


class DirFd:
    """An open directory; closed with its last reference. `durable`: its name is known to be durable."""

    __slots__ = ("durable", "fd", "id", "path")

    def __init__(self, fd: int, path: str) -> None:
        self.fd, self.path, self.durable = fd, path, not path
        info = os.fstat(fd)
        self.id = (info.st_dev, info.st_ino)

    def names(self) -> list[str]:
        """What is in it now, in no order."""
        with self.scan() as entries:
            return [entry.name for entry in entries]

    @contextmanager
    def scan(self) -> Iterator[Iterator[os.DirEntry[str]]]:
        """What is in it now, each with its kind.

        Not by our own descriptor: reading moves its offset, which other threads would share; and btrfs shows by it only
        what was there when it was opened (Linux 6.5 and later).
        """
        fd = os.open(".", FOLDER, dir_fd=self.fd)
        try:
            with os.scandir(fd) as entries:
                yield entries
        finally:
            os.close(fd)

    def __del__(self, close: Callable[[int], None] = os.close) -> None:  # bound early: `os` may be gone at exit
        close(self.fd)


class DirEntryRef(NamedTuple):
    """Where a name is, or would be."""

    folder: DirFd
    name: str
    path: str


class DirReader:
    """Reading below one directory, and nothing else. Usable from many threads. `folders`: directories kept open."""

    def __init__(self, path: str | os.PathLike[str], folders: int = OPEN_FOLDERS) -> None:
        self.path, self._most = os.fspath(path), folders
        try:
            self._top = DirFd(os.open(self.path, FOLDER & ~os.O_NOFOLLOW), "")
        except OSError as error:
            raise path_error(error, self.path, "open") from error
        self._folders: dict[str, DirFd] = {}

    def close(self) -> None:
        self._folders.clear()

    def folder(self, path: str) -> DirFd:
        """The directory at `path`, no link on the way. `FileNotFoundError`, or `OSError` for `path_error`.

        A descriptor kept from before is used only while the name still leads to it: another program may have moved it.
        """
        if not path:
            return self._top
        above, _, name = path.rpartition("/")
        parent = self.folder(above)
        known = self._folders.get(path)
        if known is not None:
            info = os.stat(name, dir_fd=parent.fd, follow_symlinks=False)
            if (info.st_dev, info.st_ino) == known.id:
                return known
        try:
            found = DirFd(os.open(name, FOLDER, dir_fd=parent.fd), path)
        except NotADirectoryError:
            if stat.S_ISLNK(os.stat(name, dir_fd=parent.fd, follow_symlinks=False).st_mode):
                raise Unsafe(coded("tree.link_on_way"), path=path, expected=coded("tree.own_directory")) from None
            raise
        while len(self._folders) >= self._most:
            self._folders.pop(next(iter(self._folders), path), None)
        self._folders[path] = found
        return found

    def locate(self, path: str) -> DirEntryRef | None:
        """The entry of an existing directory's child; None if that directory is missing."""
        above, _, name = path.rpartition("/")
        try:
            return DirEntryRef(self.folder(above), name, path)
        except FileNotFoundError:
            return None

    def status(self, place: DirEntryRef, op: str = "stat") -> os.stat_result | None:
        """What is there: a regular file, a directory, or None; links and odd files are refused."""
        try:
            info = os.stat(place.name, dir_fd=place.folder.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        kind = stat.S_IFMT(info.st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFDIR):
            if kind == stat.S_IFLNK:
                raise path_error(OSError(errno.ELOOP, ""), place.path, op)
            raise not_a_regular_file(place.path, op)
        return info

    def lstat(self, place: DirEntryRef) -> os.stat_result | None:
        """Whatever is there, links and odd files too."""
        try:
            return os.stat(place.name, dir_fd=place.folder.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, place: DirEntryRef) -> int | None:
        """A descriptor on a regular file for reading, or None. The caller closes it."""
        found = self.open_with_stat(place)
        return None if found is None else found[0]

    def open_with_stat(self, place: DirEntryRef) -> tuple[int, os.stat_result] | None:
        """As `open`, with what `fstat` said of it."""
        try:
            fd = os.open(place.name, READ, dir_fd=place.folder.fd)
        except FileNotFoundError:
            return None
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            os.close(fd)
            if stat.S_ISDIR(info.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            raise not_a_regular_file(place.path, "read")
        return fd, info

    def read_at(self, place: DirEntryRef) -> bytes | None:
        """Whole content, or None if there is no such file."""
        found = self.read_with_stat(place)
        return None if found is None else found[0]

    def read_with_stat(self, place: DirEntryRef) -> tuple[bytes, os.stat_result] | None:
        """Whole content, and what the file looked like before it was read."""
        found = self.open_with_stat(place)
        if found is None:
            return None
        fd, info = found
        try:
            if info.st_size > WHOLE_MOST:
                found_more, expected = coded("tree.larger", n=WHOLE_MOST), coded("common.at_most_bytes", n=WHOLE_MOST)
                raise BadInput(found_more, path=place.path, op="read", expected=expected)
            return read_whole(fd, info.st_size), info
        finally:
            os.close(fd)

    def read(self, path: str) -> bytes | None:
        """Whole content, or None if there is no such file."""
        check_path(path, op="read")
        try:
            place = self.locate(path)
            return None if place is None else self.read_at(place)
        except OSError as error:
            raise path_error(error, path, "read") from error


def read_whole(fd: int, size: int = -1) -> bytes:
    """A regular file from its start to its end; `size`, if the caller has asked for it just now."""
    if size < 0:
        size = os.fstat(fd).st_size
    data = os.read(fd, size + 1)
    if len(data) == size:
        return data
    parts = [data]  # it grew meanwhile, or is longer than one read gives
    while data:
        data = os.read(fd, 1 << 20)
        parts.append(data)
    return b"".join(parts)
