"""What memory.md says about a query."""

from pathlib import Path

from worldfs.agents.recall import INDEX, recall

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
        (hit,) = recall(MEMORY.encode(), "governance tokens", index=tmp_path / INDEX)
        assert hit.passage.title.startswith("Dead Ends")
        assert (hit.passage.id, hit.passage.at) == ("7", "2026-03-27")
    assert (tmp_path / INDEX).exists()
    assert [hit.passage.title for hit in recall(MEMORY.encode(), "底盘", index=tmp_path / INDEX)] == ["我的标题"]


def test_a_changed_memory_is_searched_as_it_is_now(tmp_path: Path) -> None:
    (tmp_path / ".paos").mkdir()
    assert recall(MEMORY.encode(), "zeppelin", index=tmp_path / INDEX) == []
    (hit,) = recall((MEMORY + "- a zeppelin\n").encode(), "zeppelin", index=tmp_path / INDEX)
    assert hit.passage.text == "a zeppelin"
    assert recall(MEMORY.encode(), "zeppelin", index=tmp_path / INDEX) == []


def test_without_a_place_for_an_index_it_is_found_all_the_same() -> None:
    assert len(recall(MEMORY.encode(), "AMM")) == 1
    assert recall(b"", "AMM") == []
