"""A dry run: what would come, in words; nothing is written anywhere."""

import os

import pytest

from worldfs.base.errors import BadInput, NotFound
from worldfs.plugins.importers import plan


def everything_below(place):
    return {
        str(path.relative_to(place)): (path.read_bytes() if path.is_file() else None, path.stat().st_mtime_ns)
        for path in sorted(place.rglob("*"))
        if not path.is_symlink()
    }


def test_it_says_what_would_come_source_by_source(legacy):
    words = plan(legacy / "home", "rio").words()
    assert words[:6] == [
        "flags: .pentagon/workspace/collective (1,088 bytes): 3 messages",
        "claude-memory: .claude/projects/-home-rio-codex/memory (830 bytes): 5 notes"
        "; not taken: index lines of topics that are there 2",
        "claude-inbox: .claude/teams/claims/inboxes/rio.json (1,103 bytes): 3 messages, 2 journal lines",
        "claude-tasks: .claude/tasks/3b22f6a2-8179-4ae8-b430-1d2c3b4a5f60 (906 bytes): 2 tasks (1 open)"
        "; not taken: teammate trackers 1",
        "claude-tasks: .claude/todos (223 bytes): 2 tasks (1 open)",
        "codex: .codex/sessions (3,722 bytes): 11 journal lines; not taken: bookkeeping 2, reasoning 3, "
        "tool results 2, instructions and context 2, turn starts 1, duplicate forms of a message 2, "
        "token counts 1",
    ]
    assert "for leo: 1 thing not taken; import for leo takes them" in words
    assert any(
        line.startswith(".pentagon/workspace/collective/flag-nobody.md: not understood: no sender") for line in words
    )


def test_nothing_in_the_source_is_touched(legacy):
    before = everything_below(legacy)
    for place in sorted(legacy.iterdir()):
        plan(place, "rio", also=["research-journal"]).words()
    assert everything_below(legacy) == before


def test_everyone_takes_what_is_meant_for_others_too(legacy):
    made = plan(legacy / "home", "rio", importers=["flags", "claude-inbox"], everyone=True)
    assert not made.others and sum(len(list(made.mine(found.imported.messages))) for found in made.found) == 9


def test_a_place_with_nothing_known_says_so(tmp_path):
    (said,) = plan(tmp_path, "rio").words()
    assert said.startswith(f"nothing to import was found in {tmp_path}; known are: ") and "beads" in said


def test_a_place_that_is_none_and_a_name_that_is_none_are_refused(tmp_path):
    with pytest.raises(NotFound):
        plan(tmp_path / "gone", "rio")
    with pytest.raises(BadInput):
        plan(tmp_path, "Rio!")


def test_a_folder_that_is_a_link_is_named_not_followed_and_not_passed_over_in_silence(build, tmp_path):
    build({"memory/MEMORY.md": "- secret\n"}, "dotfiles")
    place = build({"x": ""})
    os.symlink(tmp_path / "dotfiles", place / ".claude")
    made = plan(place, "rio")
    assert not any(found.imported.remarks for found in made.found)
    assert any("symbolic link" in line and ".claude" in line for line in made.words())


def test_a_name_that_would_move_the_cursor_does_not_reach_the_screen(build):
    made = plan(build({".pentagon/workspace/collective/flag-leo-\x1b[2J.md": b"\xff"}), "rio")
    assert not any("\x1b" in line for line in made.words()) and "flag-leo" in made.words()[-1]


def test_a_large_stream_is_not_read_to_its_end(build, monkeypatch):
    monkeypatch.setattr("worldfs.plugins.importers.import_plan.COUNTED", 10)
    row = '{"timestamp":"2026-03-05T19:00:00Z","type":"session_meta","payload":{"id":"x"}}\n'
    made = plan(build({".codex/sessions/2026/03/05/rollout-a.jsonl": row}), "rio")
    assert "counted while they are brought over" in made.words()[0]
