"""The Linux calls that Python lacks or hides: renameat2, and asking whether another program writes to an open file."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable
from functools import cache
from signal import SIGURG
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


@cache
def _fallocate() -> Callable[[int, int, int, int], int] | None:
    import ctypes

    try:
        call = _libc().fallocate
    except (OSError, AttributeError):
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    return call  # type: ignore[no-any-return]  # ctypes knows no signatures


def reserve_space(fd: int, start: int, size: int) -> None:
    """Keep blocks for bytes that are not written yet; the file's length stays. Only a hint: no error."""
    call = _fallocate()
    if call is not None:
        call(fd, 1, start, size)  # linux/falloc.h FALLOC_FL_KEEP_SIZE


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


def has_no_other_user(fd: int) -> bool:
    """Whether no other process has this file open or mapped, even for reading; False where the system does not say.

    A write lease is granted only then; it is given back at once (as in `has_writer`).
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        return False

    try:
        fcntl.fcntl(fd, fcntl.F_SETSIG, SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError:
        return False
    return True


def has_writer(fd: int) -> bool | None:
    """Whether any process has this file, open here for reading, open for writing; None: the system does not say.

    A read lease is granted only on a file that no process has open for writing (man 2 fcntl, F_SETLEASE); it is given
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


def open_for_writing(name: str, flags: int, folder: int) -> int:
    """As `os.open` below `folder`, `O_NONBLOCK` in `flags`, but a lease is waited for: `has_writer` in a watch or in
    another process holds one for a moment."""
    try:
        return os.open(name, flags, dir_fd=folder)
    except BlockingIOError:
        found = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            if stat.S_ISREG(os.fstat(found).st_mode):  # a FIFO that came into its place must not hold us
                flags &= ~os.O_NONBLOCK
            return os.open(f"/proc/self/fd/{found}", flags & ~os.O_NOFOLLOW)
        finally:
            os.close(found)


OPENAT2 = 437  # the number of the system call on every architecture that Python runs on but alpha
BENEATH = 0x08 | 0x04 | 0x02  # linux/openat2.h RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS


@cache
def _openat2() -> Callable[[int, bytes, int, int], int] | None:
    import ctypes

    class OpenHow(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    try:
        call = _libc().syscall
    except (OSError, AttributeError):
        return None
    call.restype = ctypes.c_long
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(OpenHow), ctypes.c_size_t)

    def open_(fd: int, path: bytes, flags: int, mode: int) -> int:
        how = OpenHow(flags, mode, BENEATH)
        found: int = call(OPENAT2, fd, path, ctypes.byref(how), ctypes.sizeof(how))
        return found if found >= 0 else -ctypes.get_errno()

    return open_


def open_beneath(fd: int, path: str, flags: int) -> int:
    """Open what lies at `path` below the directory `fd`: no link on the way, no way out (man 2 openat2).

    `OSError` ENOSYS where the system does not know the call (Linux before 5.6, or a sandbox): walk by component then.
    """
    call = _openat2()
    number = -errno.ENOSYS if call is None else call(fd, os.fsencode(path), flags | os.O_CLOEXEC, 0)
    if number < 0:
        raise OSError(-number, os.strerror(-number), path)
    return number
