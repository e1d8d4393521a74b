"""Every error of the product.

    WorldError
    ├── UserError            the caller can fix it: exit code 2, never a traceback
    │   ├── BadInput         text or values that do not mean what is needed
    │   ├── NotFound         nothing there, or nothing that you may see
    │   ├── NotPermitted     you may see it, you may not do this to it
    │   ├── Conflict         it changed since you read it (compare-and-swap)
    │   ├── Exists           create-only, and it is already there
    │   ├── Unsafe           the path leaves its root, by dots or by a link
    │   ├── Busy             another process holds it; the message names the process
    │   └── MissingRequirement  an extra, a device or a system library is not installed
    └── StorageError         the storage failed: disk full, read-only, I/O error

A failed *action* is never an exception: it is an `Outcome` (model.py).
"""

from __future__ import annotations

import errno

from .messages import coded


class WorldError(Exception):
    """`op` on `path` by `actor` went wrong; what was `found`, what was `expected`, and the `fix`."""

    code = "WORLD"

    def __init__(
        self,
        found: str,
        *,
        path: str = "",
        op: str = "",
        actor: str = "",
        expected: str = "",
        fix: str = "",
        code: str = "",
    ) -> None:
        super().__init__(found)
        self.found, self.expected, self.fix = found, expected, fix
        self.path, self.op, self.actor = path, op, actor
        if code:
            self.code = code

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        text = f"{where}{self.found}"
        if self.expected:
            text += f"; expected {self.expected}"
        if self.fix:
            text += f" — {self.fix}"
        return text

    def as_dict(self) -> dict[str, str]:
        """The five words of a refusal plus where it happened (JSON output of the command line and the services)."""
        return {
            "code": self.code,
            "field": self.path,
            "expected": self.expected,
            "found": self.found,
            "fix": self.fix,
            "op": self.op,
            "actor": self.actor,
        }


class UserError(WorldError):
    code = "USER"


class BadInput(UserError):
    code = "SCHEMA_VALIDATION"


class NotFound(UserError):
    code = "NOT_FOUND"


class NotPermitted(UserError):
    code = "NOT_PERMITTED"


class Conflict(UserError):
    code = "CONFLICT"


class Exists(UserError):
    code = "EXISTS"


class Unsafe(UserError):
    code = "UNSAFE_PATH"


class Busy(UserError):
    code = "BUSY"


class MissingRequirement(UserError):
    code = "MISSING"


class StorageError(WorldError):
    code = "BROKEN"


_FIX = {
    errno.ENOSPC: "tree.disk_full",
    errno.EDQUOT: "tree.quota",
    errno.EROFS: "tree.mounted_read_only",
    errno.EACCES: "tree.not_writable",
    errno.EPERM: "tree.os_refuses",
    errno.EMFILE: "tree.open_files",
    errno.ENFILE: "tree.open_files_of_all",
}


_RESOURCES = frozenset(errno.errorcode[number] for number in _FIX)


def is_resource_fault(error: BaseException) -> bool:
    """Whether the machine refused it for now: no room, a read-only disk, no right to the file, no more descriptors."""
    if isinstance(error, OSError):
        return error.errno in _FIX
    if isinstance(error, NotPermitted):
        return isinstance(error.__cause__, OSError)
    return isinstance(error, StorageError) and error.code in _RESOURCES


def from_os(error: OSError, *, path: str, op: str) -> WorldError:
    """The `WorldError` for an `OSError`: what a person can fix is a `UserError`."""
    number = error.errno or 0
    text = error.strerror or str(error)
    fix = coded(_FIX[number]) if number in _FIX else ""
    if number == errno.ENOENT:
        return NotFound(coded("tree.no_file"), path=path, op=op)
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return NotPermitted(text, path=path, op=op, fix=fix)
    return StorageError(text, path=path, op=op, fix=fix, code=errno.errorcode.get(number, "BROKEN"))
