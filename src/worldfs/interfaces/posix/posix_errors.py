"""The one table between our errors and errno: for the mount, for 9P (which carries errno too) and for the shell."""

from __future__ import annotations

import asyncio
import errno

from worldfs.base.errors import Busy, Conflict, MissingRequirement, Unsafe, UserError, WorldError
from worldfs.formats.wire import error_codes

_BY_CLASS = ((Busy, errno.EBUSY), (Conflict, errno.ESTALE), (Unsafe, errno.EACCES), (MissingRequirement, errno.ENOTSUP))


class PosixRefusal(UserError):
    """A refusal of the POSIX view itself; `code` is the name of its errno."""


def refusal(
    number: int, found: str, path: str = "", *, op: str = "", expected: str = "", fix: str = ""
) -> PosixRefusal:
    """The exception for an errno, with the sentence that `user.paos.error` gives."""
    return PosixRefusal(found, path=path, op=op, expected=expected, fix=fix, code=errno.errorcode[number])


def errno_of(error: BaseException) -> int:
    """The errno of a system call that failed with this error; EIO for anything unforeseen."""
    if isinstance(error, asyncio.CancelledError):
        return errno.EINTR
    if not isinstance(error, WorldError):
        return errno.EIO
    number = getattr(errno, error.code, None) if error.code.isupper() else None
    if isinstance(number, int):
        return number
    for kind, fitting in _BY_CLASS:
        if isinstance(error, kind):
            return fitting
    return error_codes.errno_of(error)
