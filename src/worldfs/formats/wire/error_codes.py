"""One error in three forms: our exception class, the wire protocol's code, the system's errno.

Source: acheron §2 ("Our table of errors"), and the numbers of errno(3) on Linux.
"""

from __future__ import annotations

import errno
from typing import Final, NamedTuple

from worldfs.base.errors import (
    BadInput,
    Busy,
    Conflict,
    Exists,
    MissingRequirement,
    NotFound,
    NotPermitted,
    StorageError,
    Unsafe,
    WorldError,
)


class ErrorCode(NamedTuple):
    """A row: the exception, the code in a frame, the errno of a system call."""

    word: str
    number: int
    raised: type[WorldError]


CODES: Final = (
    ErrorCode("enoent", errno.ENOENT, NotFound),
    ErrorCode("eperm", errno.EACCES, NotPermitted),
    ErrorCode("eisdir", errno.EISDIR, BadInput),
    ErrorCode("enotdir", errno.ENOTDIR, BadInput),
    ErrorCode("eexist", errno.EEXIST, Exists),
    ErrorCode("erofs", errno.EROFS, NotPermitted),
    ErrorCode("unsupported", errno.EOPNOTSUPP, MissingRequirement),
    ErrorCode("eintr", errno.EINTR, WorldError),
    ErrorCode("invalid", errno.EINVAL, BadInput),
)
_BY_WORD: Final = {code.word: code for code in CODES}
# Exception classes without a row of their own; the first class that fits decides.
_BY_CLASS: Final = (
    (NotFound, "enoent"),
    (NotPermitted, "eperm"),
    (Exists, "eexist"),
    (MissingRequirement, "unsupported"),
    (Conflict, "invalid"),
    (Busy, "invalid"),
    (Unsafe, "invalid"),
    (BadInput, "invalid"),
    (StorageError, "execution_failed"),
)


def code_of(error: WorldError) -> str:
    """The protocol's code: the error's own when it is one of the table's, else by its class."""
    if error.code in _BY_WORD:
        return error.code
    return next((word for kind, word in _BY_CLASS if isinstance(error, kind)), "execution_failed")


def errno_of(error: WorldError) -> int:
    """The errno of a system call that failed so; EIO for an unforeseen error."""
    found = _BY_WORD.get(code_of(error))
    return found.number if found is not None else errno.EIO


def error_of(word: str, message: str, *, path: str = "", op: str = "") -> WorldError:
    """The exception for a peer's code; an unknown code is a `WorldError` that keeps it."""
    found = _BY_WORD.get(word)
    kind = found.raised if found is not None else WorldError
    return kind(message, path=path, op=op, code=word)
