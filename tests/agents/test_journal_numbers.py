"""The numbers of a journal are found without reading it, whatever stands in its lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldfs.agents import journal_numbers
from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.journal import Journal
from worldfs.agents.journal_numbers import gaps, sequence_numbers

LINES = (
    b'{"event":"a","seq":1}',
    b'{"seq":2,"event":"the number first"}',
    b'{"event":"of another tool"}',
    b'{"event":"a number inside","data":{"seq":77}}',
    b'{"event":"text","note":",\\"seq\\":78}"}',
    b'{"event":"no number","seq":"79"}',
    b'{"event":"none either","seq":0}',
    b'not JSON,"seq":80',
    b'[1,{"x":0,"seq":81}]',
    b"",
    b'{"event":"spaces", "seq": 3 }',
    b'{"event":"b","seq":4}',
    b'{"event":"c","seq":9}',
)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    (tmp_path / "rio").mkdir()
    return Journal(AgentDirectory(tmp_path, "rio"))


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
def test_the_same_as_reading_every_line(journal: Journal, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(journal_numbers, "_BLOCK", block)
    (Path(journal.agent_dir.path) / "journal.jsonl").write_bytes(b"\n".join(LINES) + b'\n{"torn":1,"seq":10}')
    assert list(sequence_numbers(journal)) == [seq for seq, _ in journal.lines()] == [1, 2, 3, 4, 9]
    assert list(gaps(journal)) == [(4, 9)]


@pytest.mark.parametrize("block", [10, 100, 1 << 20])
def test_a_line_without_end_is_passed_over(journal: Journal, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(journal_numbers, "_BLOCK", block)
    monkeypatch.setattr(journal_numbers, "LINE_MAX", 200)
    giant = b'{"event":"%s","seq":2}' % (b"x" * 5000)
    (Path(journal.agent_dir.path) / "journal.jsonl").write_bytes(
        b'{"event":"a","seq":1}\n' + giant + b'\n{"event":"b","seq":3}\n'
    )
    found = list(sequence_numbers(journal))
    assert found == ([1, 2, 3] if block > 5000 else [1, 3])
