"""What goes wrong at the far end, or on the way there, in the house's words.

    WorldError
    ├── TimedOut             no answer within the time that the caller gave; the request was flushed
    └── BrokenHouse
        └── Lost             the connection is gone; `sent` says whether the request may have been carried out

Everything that a server answers keeps the server's own code in `error.code` (acheron §2 and 3.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from worldfs.ground.errors import BadInput, Busy, Conflict, NotFound, NotPermitted, StorageError, WorldError
from worldfs.wire.error_codes import error_of


class ConnectionLost(StorageError):
    """The connection ended. `sent`: the request had left, so a change may have been made."""

    code = "LOST"

    def __init__(self, found: str, *, path: str = "", op: str = "", sent: bool = False, fix: str = "") -> None:
        fix = "it may have been carried out: look before you repeat it" if sent else fix
        super().__init__(found, path=path, op=op, fix=fix)
        self.sent = sent


class RequestTimeout(WorldError, TimeoutError):
    """No answer in time. The server was told to drop the request; a write may have been made all the same."""

    code = "TIMED_OUT"


# Codes that have no row in the table of errors: the first part of the word that fits decides.
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


# What the protocol says of its own fids, as it reads to a person who gave a path.
_WORDS: Final = {"walk segment not found": "no such file or directory"}
_WHOM: Final = "say as whom: --agent NAME --project ID (agent= and project= in Python)"
# What mends it, by the server's code; those of an attach where the words alone do not say so.
_FIXES: Final = {
    "enoent": "the listing of the directory above shows what is there for you",
    "eisdir": "list it instead",
    "enotdir": "read it instead",
    "provisioning_required": _WHOM,
    "last_target_invalid": _WHOM,
    "project_not_found": "the operation project_list names those that there are",
    "project_auth_failed": "$PAOS_PROJECT_TOKEN is not the project's present token",
}
_LOCKED: Final = "the project is locked: put its token into $PAOS_PROJECT_TOKEN"


def refusal(error: Mapping[str, Any] | None, *, path: str = "", op: str = "") -> WorldError:
    """The exception for a frame's `error`; its class says who can mend it, its `code` is the server's."""
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
