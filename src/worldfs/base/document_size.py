"""The largest document of a workspace: a larger one is refused by name, unread, and the program writes none.

What reads one holds the interpreter for a while, and a stop waits for that.
"""

from __future__ import annotations

from typing import Final

from .errors import BadInput
from .messages import coded

DOCUMENT_MOST: Final = 8 * 2**20  # bytes


def refuse_large(data: bytes, path: str = "", fix: str = "file.move_finished") -> None:
    """Raises `BadInput` for more than `DOCUMENT_MOST` bytes. `fix`: the name of its message."""
    if len(data) > DOCUMENT_MOST:
        raise too_large(len(data), path, fix)


def too_large(size: int, path: str = "", fix: str = "file.move_finished") -> BadInput:
    found, expected = coded("file.n_bytes", n=size), coded("file.at_most", n=DOCUMENT_MOST)
    return BadInput(found, path=path, expected=expected, fix=coded(fix))
