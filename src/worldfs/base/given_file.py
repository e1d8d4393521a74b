"""A file that a person or a setting names, opened for reading: nothing is waited for, and its size has a limit.

A FIFO, a socket or a device in its place is refused. A pipe that the caller has opened already and names by its
descriptor (`/dev/stdin`, a shell's `<(command)`) is read to its end, as standard input is.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

from .dir_reader import not_a_regular_file
from .errors import BadInput, from_os
from .messages import coded

LARGEST: Final = 64 << 20  # bytes
_STEP: Final = 1 << 20
_INHERITED: Final = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")


def open_given_file(path: str | os.PathLike[str], *, op: str) -> int:
    """A descriptor, which the caller closes. Raises `NotFound`, `NotPermitted`; `BadInput` for what is no file."""
    name = os.fspath(path)
    inherited = name.startswith(_INHERITED)
    try:
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC | (0 if inherited else os.O_NONBLOCK))
    except ValueError:  # a NUL in it
        raise BadInput(coded("tree.nul_in_path"), path=repr(name)[:80], op=op) from None
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise not_a_regular_file(name, op) from None
        if error.errno == errno.ENOENT and os.path.islink(name):
            found = coded("tree.dangling", path=os.path.realpath(name))
            raise BadInput(found, path=name, op=op, expected=coded("tree.regular_file")) from None
        if error.errno in (errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR):
            raise BadInput(os.strerror(error.errno), path=name, op=op, expected=coded("tree.regular_file")) from None
        raise from_os(error, path=name, op=op) from error
    try:
        info = os.fstat(fd)
        if stat.S_ISDIR(info.st_mode):
            raise BadInput(coded("tree.is_directory"), path=name, op=op, expected=coded("tree.regular_file"))
        fine = stat.S_ISREG(info.st_mode) or (inherited and stat.S_ISFIFO(info.st_mode)) or _is_null(info)
        if not fine:
            raise not_a_regular_file(name, op)
    except BaseException:
        os.close(fd)
        raise
    return fd


def read_given_file(path: str | os.PathLike[str], *, op: str, most: int = LARGEST) -> bytes:
    """Its content. Raises as `open_given_file`; `BadInput` for more than `most` bytes, of which no more are read."""
    fd = open_given_file(path, op=op)
    parts, size = [], 0
    try:
        while size <= most and (part := os.read(fd, min(most + 1 - size, _STEP))):
            parts.append(part)
            size += len(part)
    except OSError as error:
        raise from_os(error, path=os.fspath(path), op=op) from error
    finally:
        os.close(fd)
    if size > most:
        found, expected = coded("tree.larger", n=most), coded("common.at_most_bytes", n=most)
        raise BadInput(found, path=os.fspath(path), op=op, expected=expected)
    return b"".join(parts)


def check_given_file(path: str | os.PathLike[str], *, op: str) -> None:
    """For a library that opens the file itself. Raises as `open_given_file`."""
    os.close(open_given_file(path, op=op))


def check_made_file(path: str | os.PathLike[str], *, op: str) -> None:
    """For a file that will be written: raises `BadInput` where anything but a regular file has the name."""
    try:
        info = os.stat(path)
    except OSError:
        return  # nothing there; a directory that is not there is reported where the file is made
    if not stat.S_ISREG(info.st_mode):
        raise not_a_regular_file(os.fspath(path), op)


def _is_null(info: os.stat_result) -> bool:
    return stat.S_ISCHR(info.st_mode) and info.st_rdev == os.stat(os.devnull).st_rdev
