"""The journal: numbered without gaps, whole lines only, and nobody else's edit can take a line away."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
from pathlib import Path

import pytest

from worldfs.agents import journal as journal_module
from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.journal import Journal


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "rio").mkdir()
    return tmp_path


def journal(home: Path, **options: int) -> Journal:
    return Journal(AgentDirectory(home, "rio"), **options)


def numbers(log: Journal) -> list[int]:
    return [seq for seq, _ in log.lines()]


def test_entries_are_numbered_from_one_and_written_as_the_specification_writes_them(home: Path) -> None:
    log = journal(home)
    assert log.append("session_start", {"session_id": "20260331-220000", "type": "research"}) == 1
    assert log.append("note", {"text": "条件市场"}) == 2
    first, second = (home / "rio/journal.jsonl").read_text().splitlines()
    assert first.endswith('"event":"session_start","session_id":"20260331-220000","type":"research","seq":1}')
    assert '"text":"条件市场"' in second and first.startswith('{"ts":"20') and 'Z","event"' in first


def test_two_journals_of_one_agent_share_the_numbers(home: Path) -> None:
    one, two = journal(home), journal(home)
    assert [one.append("a"), two.append("b"), one.append("c"), two.append("d")] == [1, 2, 3, 4]
    assert [entry["event"] for _, entry in one.lines()] == ["a", "b", "c", "d"]


def test_lines_of_another_tool_stay_as_they_are_and_ours_follow(home: Path) -> None:
    old = b'{"ts":"2026-03-31T20:30:00Z","event":"session_start"}\nnot json\n{"event":"x"}'  # no newline at the end
    (home / "rio/journal.jsonl").write_bytes(old)
    log = journal(home)
    assert log.append("y") == 1
    assert (home / "rio/journal.jsonl").read_bytes().startswith(old + b"\n")
    assert [entry["event"] for entry in log.all_entries()] == ["session_start", "x", "y"]


def test_a_torn_tail_is_set_aside_and_every_good_line_stays(home: Path) -> None:
    log = journal(home)
    log.append("a")
    log.append("b")
    with (home / "rio/journal.jsonl").open("ab") as file:
        file.write(b'{"ts":"2026-03-31T20:3')
    assert journal(home).append("c") == 3
    assert [entry["event"] for _, entry in log.lines()] == ["a", "b", "c"]
    kept = [p.read_bytes() for p in (home / "rio/.paos/aside").iterdir() if p.suffix != ".why"]
    assert kept == [b'{"ts":"2026-03-31T20:3']


def test_whole_lines_that_a_mind_adds_get_their_numbers(home: Path) -> None:
    log = journal(home)
    log.append("a")
    with (home / "rio/journal.jsonl").open("a") as file:
        file.write('{"ts":"2026-01-01T00:00:00Z","event":"思考"}\n{"event":"second"}')  # and no newline at the end
    assert log.append("b") == 4
    assert [(seq, entry["event"]) for seq, entry in log.lines()] == [(1, "a"), (2, "思考"), (3, "second"), (4, "b")]


@pytest.mark.parametrize("how", ["in place", "another inode", "removed", "emptied"])
def test_lines_that_were_changed_or_removed_are_back(home: Path, how: str) -> None:
    log = journal(home)
    for name in "abc":
        log.append(name)
    path = home / "rio/journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    changed = lines[0].replace('"a"', '"A"') + lines[2] + '{"event":"added"}\n'
    if how == "in place":
        path.write_text(changed)
    elif how == "another inode":
        (home / "new").write_text(changed)
        (home / "new").rename(path)
    elif how == "removed":
        path.unlink()
    else:
        path.write_text("")
    again = journal(home)
    again.append("d")
    events = [entry["event"] for _, entry in again.lines()]
    assert events == (["a", "b", "c", "added", "d"] if how in ("in place", "another inode") else ["a", "b", "c", "d"])
    assert numbers(again) == list(range(1, len(events) + 1))
    assert [finding.code for finding in again.agent_dir.findings] == ["JOURNAL_EDITED"]
    if how in ("in place", "another inode"):
        kept = [p.read_text() for p in (home / "rio/.paos/aside").iterdir() if p.suffix != ".why"]
        assert kept == [changed]


def test_a_lost_shadow_is_made_anew_and_costs_no_line(home: Path) -> None:
    log = journal(home)
    log.append("a")
    for torn in (b"", b"\0" * 40, b'{"half'):
        (home / "rio/.paos/journal.jsonl").write_bytes(torn)
        (home / "rio/.paos/journal.mark").write_bytes(b"")
        journal(home).append("b")
    assert numbers(log) == [1, 2, 3, 4]


def test_rotation_loses_nothing_and_readers_go_through_all_segments(home: Path) -> None:
    log = journal(home, limit=2000)
    for count in range(200):
        log.append("count", {"count": count})
    assert len(log.segments()) > 5
    last = numbers(log)[-1]
    assert numbers(log) == list(range(1, last + 1))
    assert [entry["count"] for _, entry in log.lines() if entry["event"] == "count"] == list(range(200))
    assert (home / "rio/journal.jsonl").stat().st_size <= 2100
    assert [entry["count"] for entry in log.tail(60) if entry["event"] == "count"][-50:] == list(range(150, 200))
    after = last - 20
    assert (
        [seq for seq, _ in log.since(after)] == list(range(after + 1, after + 21)) == [s for s, _ in log.lines(after)]
    )


def test_the_oldest_segments_may_be_removed_by_hand(home: Path) -> None:
    log = journal(home, limit=2000)
    for count in range(200):
        log.append("count", {"count": count})
    first, *_ = log.segments()
    before = numbers(log)
    (home / "rio/.paos/journal" / first).unlink()
    assert log.pruned() and before[-len(numbers(log)) :] == numbers(log) != before
    assert log.append("more") == before[-1] + 1 == numbers(log)[-1]


def test_a_rotation_that_a_crash_cut_short_is_finished_by_the_next(home: Path) -> None:
    log = journal(home, limit=2000)
    for count in range(10):
        log.append("count", {"count": count})
    (home / "rio/.paos/journal").mkdir(exist_ok=True)
    os.link(home / "rio/journal.jsonl", home / "rio/.paos/journal/0000000000000001.jsonl")
    again = journal(home, limit=2000)
    assert again.segments() == []
    for count in range(10, 60):
        again.append("count", {"count": count})
    assert [entry["count"] for _, entry in again.lines() if entry["event"] == "count"] == list(range(60))


def test_a_journal_that_is_mended_in_the_middle_of_a_rotation_holds_every_line_once(home: Path) -> None:
    log = journal(home)
    for count in range(3):
        log.append("count", {"count": count})
    (home / "rio/.paos/journal").mkdir(exist_ok=True)
    os.link(home / "rio/journal.jsonl", home / "rio/.paos/journal/0000000000000001.jsonl")
    text = (home / "rio/journal.jsonl").read_bytes()
    (home / "rio/journal.jsonl").write_bytes(text.replace(b'"count":1', b'"count":9'))
    again = journal(home)
    again.append("count", {"count": 3})
    assert [entry["count"] for entry in again.all_entries() if entry["event"] == "count"] == [0, 1, 2, 3]


def test_a_journal_of_another_tool_that_is_very_long_is_sealed_not_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from worldfs.agents import journal_repair

    monkeypatch.setattr(journal_repair, "GIANT", 10_000)
    old = b'{"event":"old"}\n' * 2000
    (home / "rio/journal.jsonl").write_bytes(old + b'{"torn')
    log = journal(home)
    assert log.append("new") == 2  # the first is the rotation's own
    assert (home / "rio/.paos/journal/0000000000000000.jsonl").read_bytes() == old
    assert [entry["event"] for entry in log.all_entries()][-3:] == ["old", "journal_rotated", "new"]


def _add(home: Path, who: int, count: int, limit: int) -> None:
    log = journal(home, limit=limit)
    for turn in range(count):
        log.append("count", {"who": who, "turn": turn})


def test_eight_processes_lose_no_line_while_segments_rotate(home: Path) -> None:
    start = multiprocessing.get_context("spawn").Process
    workers = [start(target=_add, args=(home, who, 40, 3000)) for who in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    log = journal(home)
    assert numbers(log) == list(range(1, 1 + len(numbers(log))))
    found = sorted((entry["who"], entry["turn"]) for _, entry in log.lines() if entry["event"] == "count")
    assert found == [(who, turn) for who in range(8) for turn in range(40)]


def test_a_line_that_is_no_json_can_be_written_by_no_value(home: Path) -> None:
    log = journal(home)
    log.append("odd", {"half": "\ud83d", "path": Path("x")})
    assert json.loads((home / "rio/journal.jsonl").read_bytes())["path"] == "x"


@pytest.mark.parametrize("seed", range(40))
def test_lines_are_the_same_from_both_ends_and_one_too_long_is_passed_over(
    home: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Whatever the blocks that they are read in; the one without an end is joined once, and not at every block."""
    source = random.Random(seed)
    monkeypatch.setattr(journal_module, "LINE_MAX", 60)
    monkeypatch.setattr(journal_module, "_CHUNK", source.choice([1, 3, 16, 50]))
    lines = []
    for number in range(source.randint(0, 9)):
        size = source.choice([1, 5, 200])
        lines.append(b'{"event":"%d","x":"%s","seq":%d}' % (number, b"x" * size, number + 1))
    torn = source.choice([b"", b'{"event":"t', b"y" * 500])
    (home / "rio/journal.jsonl").write_bytes(b"".join(line + b"\n" for line in lines) + torn)
    whole = [number + 1 for number, line in enumerate(lines) if len(line) <= 60]
    log = journal(home)
    assert numbers(log) == whole
    assert [entry["seq"] for entry in log.tail(100)] == whole
