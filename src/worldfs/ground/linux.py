"""The Linux calls that Python lacks or hides: renameat2, and asking whether somebody writes to an open file."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from functools import cache
from typing import Any

NOREPLACE = 1  # linux/fs.h RENAME_NOREPLACE
EXCHANGE = 2  # linux/fs.h RENAME_EXCHANGE

UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})
"""What `renameat2` answers where libc, kernel or file system does not know the flag."""


@cache
def _libc() -> Any:
    import ctypes  # here, because reading needs none of this and should start fast

    return ctypes.CDLL(None, use_errno=True)


@cache
def _renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    import ctypes

    try:
        call = _libc().renameat2
    except (OSError, AttributeError):  # another libc, another system
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def rename(source_fd: int, source: bytes, target_fd: int, target: bytes, flags: int) -> int:
        return 0 if call(source_fd, source, target_fd, target, flags) == 0 else ctypes.get_errno()

    return rename


@cache
def _sync_file_range() -> Callable[[int, int, int, int], int] | None:
    import ctypes

    try:
        call = _libc().sync_file_range
    except (OSError, AttributeError):
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    return call  # type: ignore[no-any-return]  # ctypes knows no signatures


def start_writeback(fd: int) -> None:
    """Begin writing a file's pages without waiting: of many files, so that their fsyncs share one journal commit."""
    call = _sync_file_range()
    if call is not None:
        call(fd, 0, 0, 2)  # SYNC_FILE_RANGE_WRITE; only a hint, fsync follows


def renameat2(source_fd: int, source: str, target_fd: int, target: str, flags: int) -> None:
    """Rename between open directories with `NOREPLACE` or `EXCHANGE` (man 2 rename).

    `OSError` with an errno of `UNSUPPORTED` where it cannot be had: the caller knows another way.
    """
    rename = _renameat2()
    number = (
        errno.ENOSYS
        if rename is None
        else rename(source_fd, os.fsencode(source), target_fd, os.fsencode(target), flags)
    )
    if number:
        raise OSError(number, os.strerror(number), source, None, target)


def written_now(fd: int) -> bool | None:
    """Whether any process has this file, open here for reading, open for writing; None: the system does not tell.

    A read lease is granted only on a file that nobody has open for writing (man 2 fcntl, F_SETLEASE); it is given
    back at once. Needs to own the file or CAP_LEASE.
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        return None
    from signal import SIGURG  # here: readers should start fast

    try:
        # A lease broken in this instant would send SIGIO, which ends the process; SIGURG is ignored by default.
        fcntl.fcntl(fd, fcntl.F_SETSIG, SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    return False
