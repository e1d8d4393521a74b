"""What memory.md says about a query."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from worldfs import AgentState
from worldfs.agents.memory_search import INDEX, search_memory
from worldfs.notes import embed

MEMORY = """# Rio — 运行记忆

## Cross-Session Patterns
- Conditional AMMs keep appearing (2026-03-31).

## Dead Ends (don't re-investigate)
- Jupiter governance token utility (2026-03-27): vaporware.

## 我的标题
- 抓取苹果前先移动底盘
"""


def test_notes_are_found_with_their_heading_and_line(tmp_path: Path) -> None:
    (tmp_path / ".paos").mkdir()
    for _ in range(2):
        (hit,) = search_memory(MEMORY.encode(), "governance tokens", index=tmp_path / INDEX)
        assert hit.passage.title.startswith("Dead Ends")
        assert (hit.passage.id, hit.passage.at) == ("7", "2026-03-27")
    assert (tmp_path / INDEX).exists()
    assert [hit.passage.title for hit in search_memory(MEMORY.encode(), "底盘", index=tmp_path / INDEX)] == ["我的标题"]


def test_a_changed_memory_is_searched_as_it_is_now(tmp_path: Path) -> None:
    (tmp_path / ".paos").mkdir()
    assert search_memory(MEMORY.encode(), "zeppelin", index=tmp_path / INDEX) == []
    (hit,) = search_memory((MEMORY + "- a zeppelin\n").encode(), "zeppelin", index=tmp_path / INDEX)
    assert hit.passage.text == "a zeppelin"
    assert search_memory(MEMORY.encode(), "zeppelin", index=tmp_path / INDEX) == []


def test_without_a_place_for_an_index_it_is_found_all_the_same() -> None:
    assert len(search_memory(MEMORY.encode(), "AMM")) == 1
    assert search_memory(b"", "AMM") == []


class Meaning:
    """Every text about weight means the same."""

    name, floor = "weight", 0.5

    def passages(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.query(text) for text in texts]

    def query(self, text: str) -> list[float]:
        heavy = any(word in text for word in ("heavy", "kilograms"))
        return [1.0, 0.0] if heavy else [0.0, 1.0]


def test_an_agent_s_memory_is_searched_by_meaning_where_that_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numpy")
    with AgentState.open("rio", tmp_path, create=True) as state:
        state.remember("dead_ends", "It has nine kilograms")
        state.remember("patterns", "Files are enough")
        monkeypatch.setattr(embed, "installed_embedder", lambda: None)
        assert state.search("too heavy") == []
        monkeypatch.setattr(embed, "installed_embedder", Meaning)
        assert [hit.passage.text for hit in state.search("too heavy")] == ["It has nine kilograms"]
