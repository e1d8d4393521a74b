"""Errors of an export: an errno and a text on the wire, a `WorldError` in the tree.

Source: acheron §7 (errno), and the recorded exchanges for the texts.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import Final

from worldfs.base.errors import BadInput, Busy, MissingRequirement, NotPermitted, StorageError, WorldError
from worldfs.base.messages import coded
from worldfs.formats.wire.error_codes import CODES

UNREACHABLE: Final = "runtime_unavailable"  # the protocol's errno for a node that does not answer

TEXTS: Final = {
    errno.ENOENT: "file not found",
    errno.EEXIST: "path exists",
    errno.EROFS: "export is read-only",
    errno.EISDIR: "path is a directory",
    errno.ENOTDIR: "path is not a directory",
    errno.ENOTEMPTY: "directory is not empty",
    errno.EXDEV: "source and target are not in one export",
    errno.ELOOP: "file not found",  # a link that appeared after the walk
}
_NUMBERS: Final = {errno.ELOOP: errno.ENOENT, errno.EPERM: errno.EACCES, errno.ENXIO: errno.EACCES}
_RAISED: Final[Mapping[int, type[WorldError]]] = {
    errno.EPERM: NotPermitted,
    errno.ENOTEMPTY: BadInput,
    errno.EXDEV: BadInput,
    errno.ENAMETOOLONG: BadInput,
    errno.EFBIG: BadInput,
    errno.ENOSYS: MissingRequirement,
    errno.EBUSY: Busy,
    errno.EAGAIN: Busy,
    errno.EIO: StorageError,
    errno.ENOSPC: StorageError,
    errno.EDQUOT: StorageError,
    **{code.number: code.raised for code in CODES},
}
_WORDS: Final = {code.number: code.word for code in CODES}


class FsError(Exception):
    """An `err_fs`: `number` as errno(3) on Linux, and a message for people."""

    def __init__(self, number: int, message: str = "") -> None:
        super().__init__(message or TEXTS.get(number) or os.strerror(number))
        self.number = number

    @property
    def message(self) -> str:
        return str(self)


class Unreachable(FsError):
    """The node is disconnected, or did not answer in time."""

    def __init__(self, message: str = "node tunnel is unavailable") -> None:
        super().__init__(errno.EIO, message)


class MalformedReply(FsError):
    """An answer that violates the protocol; the text says what is missing."""

    def __init__(self, message: str) -> None:
        super().__init__(errno.EPROTO, message)


def invalid(message: str) -> FsError:
    return FsError(errno.EINVAL, message)


def from_os_error(error: OSError) -> FsError:
    """The error of a system call with the protocol's errno; its text contains no path of this machine."""
    number = error.errno or errno.EIO
    return FsError(_NUMBERS.get(number, number), TEXTS.get(number, ""))


def to_world_error(error: FsError, path: str, op: str) -> WorldError:
    """The `WorldError` for a peer's errno."""
    if isinstance(error, Unreachable):
        return WorldError(error.message, path=path, op=op, code=UNREACHABLE, fix=coded("node.see_node"))
    if isinstance(error, MalformedReply):
        return WorldError(error.message, path=path, op=op, code=UNREACHABLE, fix=coded("node.see_program"))
    kind = _RAISED.get(error.number, StorageError)
    return kind(error.message, path=path, op=op, code=_WORDS.get(error.number, ""))
