"""The structures and numbers of the kernel's FUSE protocol (linux/fuse.h, version 7), in native byte order."""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import Final

MAJOR: Final = 7
MINOR: Final = 38  # the newest that is spoken here; the kernel's own decides when it is lower
MAX_WRITE: Final = 1 << 20
MAX_PAGES: Final = 256
BUFFER: Final = MAX_WRITE + 4096
ROOT: Final = 1


class Opcode(IntEnum):
    LOOKUP = 1
    FORGET = 2
    GETATTR = 3
    SETATTR = 4
    READLINK = 5
    SYMLINK = 6
    MKNOD = 8
    MKDIR = 9
    UNLINK = 10
    RMDIR = 11
    RENAME = 12
    LINK = 13
    OPEN = 14
    READ = 15
    WRITE = 16
    STATFS = 17
    RELEASE = 18
    FSYNC = 20
    GETXATTR = 22
    LISTXATTR = 23
    FLUSH = 25
    INIT = 26
    OPENDIR = 27
    READDIR = 28
    RELEASEDIR = 29
    FSYNCDIR = 30
    ACCESS = 34
    CREATE = 35
    INTERRUPT = 36
    DESTROY = 38
    POLL = 40
    BATCH_FORGET = 42
    READDIRPLUS = 44
    RENAME2 = 45


# INIT: what is wanted of what the kernel offers. Not: WRITEBACK_CACHE, and the locks, which then work in the kernel.
ASYNC_READ: Final = 1 << 0
ATOMIC_O_TRUNC: Final = 1 << 3
BIG_WRITES: Final = 1 << 5
DO_READDIRPLUS: Final = 1 << 13
READDIRPLUS_AUTO: Final = 1 << 14
PARALLEL_DIROPS: Final = 1 << 18
MAX_PAGES_FLAG: Final = 1 << 22
WANTED: Final = ASYNC_READ | ATOMIC_O_TRUNC | BIG_WRITES | PARALLEL_DIROPS | MAX_PAGES_FLAG

OPEN_DIRECT_IO: Final = 1 << 0
OPEN_KEEP_CACHE: Final = 1 << 1
OPEN_NO_FLUSH: Final = 1 << 5

GETATTR_HANDLE: Final = 1 << 0
SET_MODE, SET_SIZE, SET_MTIME, SET_HANDLE, SET_MTIME_NOW = 1 << 0, 1 << 3, 1 << 5, 1 << 6, 1 << 8
POLL_SCHEDULE_NOTIFY: Final = 1 << 0
POLL_IN: Final = 0x41  # POLLIN | POLLRDNORM
POLL_OUT: Final = 0x104  # POLLOUT | POLLWRNORM
NOTIFY_POLL: Final = 1
RENAME_NOREPLACE: Final = 1 << 0

HEADER_IN: Final = Struct("=IIQQIIII")  # len, opcode, unique, node, uid, gid, pid, extension and padding
HEADER_OUT: Final = Struct("=IiQ")  # len, -errno, unique
INIT_IN: Final = Struct("=IIII")  # major, minor, readahead, flags
INIT_OUT: Final = Struct("=IIIIHHIIHHII24x")
# ino, size, blocks, 3 times (before 1970: negative), 3 nanoseconds, mode, links, uid, gid, rdev, block size, flags
ATTRIBUTES: Final = Struct("=3Q3q3I7I")
# node, generation, seconds that the name and the attributes hold, their nanoseconds; then the attributes
ENTRY: Final = Struct("=4Q2I")
ATTRIBUTES_OUT: Final = Struct("=QII")
OPEN_OUT: Final = Struct("=QIi")
WRITE_OUT: Final = Struct("=II")
GETATTR_IN: Final = Struct("=IIQ")
SETATTR_IN: Final = Struct("=IIQQQqqqIIIIIIII")
OPEN_IN: Final = Struct("=II")
CREATE_IN: Final = Struct("=IIII")
PAIR_IN: Final = Struct("=II")  # of MKDIR, ACCESS and the extended attributes
RENAME_IN: Final = Struct("=Q")
RENAME2_IN: Final = Struct("=QII")
READ_IN: Final = Struct("=QQIIQII")  # handle, offset, size, flags, lock owner, flags; WRITE has the same
HANDLE_IN: Final = Struct("=Q")
FORGET_IN: Final = Struct("=Q")
BATCH_FORGET_IN: Final = Struct("=II")
FORGET_ONE: Final = Struct("=QQ")
INTERRUPT_IN: Final = Struct("=Q")
POLL_IN_STRUCT: Final = Struct("=QQII")
STATFS_OUT: Final = Struct("=5Q4I24x")
DIRENT: Final = Struct("=QQII")
HANDLE_OUT: Final = Struct("=Q")


def directory_entry(id: int, cookie: int, name: bytes, kind: int) -> bytes:
    """One `fuse_dirent`, padded to 8 bytes. `cookie`: where the listing goes on after it."""
    padding = -len(name) % 8
    return DIRENT.pack(id, cookie, len(name), kind) + name + bytes(padding)
