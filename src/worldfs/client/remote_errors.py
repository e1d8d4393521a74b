"""The errors of a remote world, as `WorldError`s.

    WorldError
    ├── RequestTimeout       no answer within the caller's timeout; the request was flushed
    └── BrokenHouse
        └── ConnectionLost   the connection is gone; `sent`: whether the request may have been carried out

Every answer of a server keeps the server's own code in `error.code` (acheron §2 and 3.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from worldfs.base.errors import BadInput, Busy, Conflict, NotFound, NotPermitted, StorageError, WorldError
from worldfs.base.messages import coded
from worldfs.formats.wire.error_codes import error_of


class ConnectionLost(StorageError):
    """The connection ended. `sent`: the request had left, so a change may have been made."""

    code = "LOST"

    def __init__(self, found: str, *, path: str = "", op: str = "", sent: bool = False, fix: str = "") -> None:
        fix = coded("access.maybe_done") if sent else fix
        super().__init__(found, path=path, op=op, fix=fix)
        self.sent = sent


class RequestTimeout(WorldError, TimeoutError):
    """No answer in time. The request was flushed; a write may have been carried out all the same."""

    code = "TIMED_OUT"


# Codes that have no row in the table of errors: the first matching part of the code decides.
_KINDS: Final[tuple[tuple[str, type[WorldError]], ...]] = (
    ("not_found", NotFound),
    ("forbidden", NotPermitted),
    ("auth_failed", NotPermitted),
    ("access_denied", NotPermitted),
    ("protected", NotPermitted),
    ("provisioning_required", NotPermitted),
    ("conflict", Conflict),
    ("busy", Busy),
    ("saturated", Busy),
    ("warming", Busy),
    ("invite_", Conflict),  # expired, redeemed
    ("invalid", BadInput),
    ("missing_field", BadInput),
    ("required", BadInput),
    ("protocol_mismatch", BadInput),
    ("unsupported", BadInput),
)


# Messages about fids, reworded for a caller who gave a path.
_WORDS: Final = {
    "walk segment not found": coded("tree.no_file_or_directory"),
    "ProjectNotFound": coded("access.no_such_project"),
}
_WHOM: Final = coded("access.name_binding")
# The fix by the server's code; those of an attach where the message alone is not enough.
_FIXES: Final = {
    "enoent": coded("access.list_above"),
    "eisdir": coded("access.list_it"),
    "enotdir": coded("access.read_it"),
    "provisioning_required": _WHOM,
    "last_target_invalid": _WHOM,
    "project_not_found": coded("access.list_projects"),
    "project_auth_failed": coded("access.old_project_token"),
}
_LOCKED: Final = coded("access.locked")


def refusal(error: Mapping[str, object] | None, *, path: str = "", op: str = "") -> WorldError:
    """The exception for a frame's `error`; its class says how to handle it, its `code` is the server's."""
    said = error or {}
    if "errno" in said:  # node FS
        return WorldError(str(said.get("message", "")), path=path, op=op, code=f"errno_{said['errno']}")
    word, message = str(said.get("code", "unknown")), str(said.get("message", ""))
    message = _WORDS.get(message, message)
    found = error_of(word, message or word, path=path, op=op)
    if type(found) is WorldError and word != "eintr":
        kind = next((kind for part, kind in _KINDS if part in word), WorldError)
        found = kind(message or word, path=path, op=op, code=word)
    found.fix = _LOCKED if (op, word) == ("session_attach", "missing_field") else _FIXES.get(word, "")
    return found
