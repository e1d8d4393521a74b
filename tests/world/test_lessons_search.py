"""`World.lessons`: the words of LESSONS.md are kept beside it, and the Markdown alone decides."""

from pathlib import Path

import pytest

from worldfs.storage.memory_store import MemoryStore
from worldfs.world.world import World

LESSON = "# LESSONS\n\n## 2026-01-02 03:04:05 — {title}\n- **Action**: pick_up apple_01\n- **Reason**: {reason}\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / ".paos").mkdir()
    (tmp_path / "LESSONS.md").write_text(LESSON.format(title="Out of reach", reason="1.3 m from the base"))
    return tmp_path


def titles(workspace: Path, query: str) -> list[str]:
    with World.open(workspace) as world:
        return [note.title for note in world.lessons(query)]


def test_a_search_leaves_an_index_and_the_next_one_uses_it(workspace: Path) -> None:
    index = workspace / ".paos" / "index" / "notes.sqlite"
    assert titles(workspace, "reach") == ["Out of reach"]
    made = index.stat()
    assert titles(workspace, "base") == ["Out of reach"]
    assert titles(workspace, "zeppelin") == []
    assert (index.stat().st_ino, index.stat().st_mtime_ns) == (made.st_ino, made.st_mtime_ns)


def test_a_changed_file_is_searched_as_it_is_now(workspace: Path) -> None:
    assert titles(workspace, "reach") == ["Out of reach"]
    (workspace / "LESSONS.md").write_text(LESSON.format(title="抓取失败：物体过重", reason="0.9 kg"))
    assert titles(workspace, "reach") == []
    assert titles(workspace, "过重") == ["抓取失败：物体过重"]


def test_a_damaged_index_changes_no_answer(workspace: Path) -> None:
    assert titles(workspace, "reach") == ["Out of reach"]
    (workspace / ".paos" / "index" / "notes.sqlite").write_bytes(b"gone")
    assert titles(workspace, "reach") == ["Out of reach"]


def test_a_world_in_memory_has_no_place_for_one(workspace: Path) -> None:
    store = MemoryStore()
    store.put("LESSONS.md", (workspace / "LESSONS.md").read_bytes())
    with World.open(workspace, store=store) as world:
        assert [note.title for note in world.lessons("reach")] == ["Out of reach"]
    assert not (workspace / ".paos" / "index").exists()
