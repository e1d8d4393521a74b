"""Recall: what memory.md says about a query, by the search that lessons are found by (worldfs.notes)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from worldfs.notes import Hit, Index, Passage, search
from worldfs.tree.stores.revision import KEPT, of

from .remembered import remembered

if TYPE_CHECKING:
    from worldfs.notes.embed import Embedder

INDEX = f"{KEPT}/index/notes.sqlite"  # below the directory of the agent; can always be made again
FILE = "memory.md"


def recall(
    data: bytes,
    query: str,
    limit: int = 10,
    *,
    index: str | os.PathLike[str] | None = None,
    embedder: Embedder | None = None,
) -> list[Hit]:
    """The notes of memory.md that fit, best first; `passage.title` is the heading, `passage.id` the line.

    `index`: where the words may be kept; the file is read only if the index knows another revision of it. Raises
    `BadInput` if it has to be read and is no text.
    """
    with Index(index) as kept:
        kept.keep(FILE, of(data), lambda: passages(data))
        return search(kept, query, limit, embedder=embedder)


def passages(data: bytes) -> Iterator[Passage]:
    for heading, remark, _ in remembered(data):
        yield Passage(str(remark.line), heading, remark.text, FILE, remark.at)
