"""A document of the store: one message, and the parts of what is too long for it.

The message of a key is its end, and names the parts before it. It is written last and at once, so a reader sees one
whole document or the other. A part is written once, under a name of its own. A log grows in its message, which becomes
a part when it is full: an append costs the same however long the log is.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final, NamedTuple

from worldfs.storage.revision import of

from .bucket import PART, REVISION, SIZE

PARTS: Final = "Paos-Parts"
TAIL: Final = 32 * 1024  # bytes of a log that are written again with each append


class Document(NamedTuple):
    """`parts`: the names of what comes before `tail`. `size`: of all."""

    tail: bytes = b""
    parts: tuple[str, ...] = ()
    size: int = 0

    def headers(self, revision: str) -> dict[str, str]:
        """What its message says of it."""
        named = {PARTS: ",".join(self.parts)} if self.parts else {}
        return {REVISION: revision, SIZE: str(self.size), **named}


class NewPart(NamedTuple):
    """To be stored before the message that names it."""

    name: str
    data: bytes


def new_document(data: bytes) -> tuple[Document, list[NewPart], str]:
    """Of a whole content: the document, the parts to store first, the revision."""
    cut = len(data) - len(data) % PART if len(data) > PART else 0
    parts = [_part(data[at : at + PART]) for at in range(0, cut, PART)]
    document = Document(bytes(data[cut:]), tuple(part.name for part in parts), len(data))
    return document, parts, of(data)


def grown(before: Document, data: bytes) -> tuple[Document, list[NewPart]]:
    """With `data` at its end."""
    size = before.size + len(data)
    if len(before.tail) + len(data) <= TAIL:
        return Document(before.tail + data, before.parts, size), []
    whole = before.tail + data
    cut = max(len(before.tail), len(whole) - len(whole) % PART if len(whole) > PART else 0)
    parts = [_part(whole[at : min(at + PART, cut)]) for at in range(0, cut, PART)]
    return Document(whole[cut:], (*before.parts, *(part.name for part in parts)), size), parts


def read_document(headers: Mapping[str, str], data: bytes) -> Document:
    """As its message says; of a foreign program's message, its data."""
    names = headers.get(PARTS, "")
    return Document(data, tuple(names.split(",")) if names else (), int(headers.get(SIZE) or len(data)))


def _part(data: bytes) -> NewPart:
    return NewPart(secrets.token_urlsafe(9), bytes(data))
