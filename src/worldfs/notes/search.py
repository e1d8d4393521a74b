"""The one search: lessons of a workspace, memory of an agent (001 search_lessons; 003 memory.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from .index import PassageIndex
from .passage import Passage, SearchHit

if TYPE_CHECKING:
    from .embed import Embedder

DEPTH: Final = 50  # of each of the two lists that are joined
_K: Final = 60.0  # reciprocal rank fusion: Cormack, Clarke, Büttcher, SIGIR 2009


def search(
    where: PassageIndex | Iterable[Passage], query: str, limit: int = 10, *, embedder: Embedder | None = None
) -> list[SearchHit]:
    """What fits the query, best first; nothing fits: []. Equal scores: the newer first. The query is data, no syntax.

    Words count by bm25, those of the title double. With an `embedder`, what means the same is found as well, and the
    two lists are joined by their ranks; it reads at most `embed.FILL` new passages a search, so the first searches of a
    large memory know the newest by meaning and all by words. Raises `Missing` if Python came without SQLite's FTS5.
    """
    if not isinstance(where, PassageIndex):
        passages = list(where)
        with PassageIndex() as index:
            for source in dict.fromkeys(passage.source for passage in passages):
                index.keep(source, "", lambda source=source: (p for p in passages if p.source == source))  # type: ignore[misc]  # binds the loop's value
            return search(index, query, limit, embedder=embedder)
    if limit < 1 or not query.strip():
        return []
    if embedder is None:
        found = where.find(query, limit)
    else:
        from .embed import nearest

        depth = max(DEPTH, limit)
        found = _joined(where.find(query, depth), nearest(where, query, embedder, depth))[:limit]
    where.save()
    return where.hits(found)


def _joined(by_words: list[tuple[int, float]], by_meaning: list[tuple[int, float]]) -> list[tuple[int, float]]:
    scores: dict[int, float] = {}
    for ranked in (by_words, by_meaning):
        for place, (row, _) in enumerate(ranked, 1):
            scores[row] = scores.get(row, 0.0) + 1 / (_K + place)
    return sorted(scores.items(), key=lambda pair: -pair[1])
