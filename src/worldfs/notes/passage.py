"""A passage: one remembered thing as search sees it; a hit: a passage and how well it fits."""

from __future__ import annotations

from typing import NamedTuple


class Passage(NamedTuple):
    id: str  # the caller's own name for it, not interpreted
    title: str
    text: str
    source: str = ""  # the file that it is in
    at: str = ""  # when, ISO 8601 or its beginning; only compared, the later the newer; "": unknown, oldest


class SearchHit(NamedTuple):
    passage: Passage
    score: float  # > 0, the more the better; comes from bm25 alone or from ranks: only comparable within one search
