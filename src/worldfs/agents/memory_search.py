"""Recall: what memory.md says about a query, by the search that lessons are found by (worldfs.notes)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from worldfs.notes import Passage, PassageIndex, SearchHit, search
from worldfs.storage.revision import PRIVATE_DIR, of

from .memory_items import memory_items

if TYPE_CHECKING:
    from worldfs.notes.embed import Embedder

INDEX = f"{PRIVATE_DIR}/index/notes.sqlite"  # below the directory of the agent; can always be made again
FILE = "memory.md"


def search_memory(
    data: bytes,
    query: str,
    limit: int = 10,
    *,
    index: str | os.PathLike[str] | None = None,
    embedder: Embedder | None = None,
) -> list[SearchHit]:
    """The notes of memory.md that fit, best first; `passage.title` is the heading, `passage.id` the line.

    `index`: where the words may be kept; the file is read only if the index knows another revision of it. Raises
    `BadInput` if it has to be read and is no text.
    """
    with PassageIndex(index) as kept:
        kept.keep(FILE, of(data), lambda: memory_passages(data))
        return search(kept, query, limit, embedder=embedder)


def memory_passages(data: bytes) -> Iterator[Passage]:
    for heading, remark, _ in memory_items(data):
        yield Passage(str(remark.line), heading, remark.text, FILE, remark.at)
