"""A journal of 20 GiB, 50 million lines: nothing needs more memory for it than for a short one, and no line is lost.

Where the disk has no room for that, as much as fits into half of what is free; the size is printed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from worldfs import AgentState
from worldfs.agents.metrics_reducer import MetricsReducer

pytestmark = pytest.mark.proof

SRC = Path(__file__).resolve().parents[2] / "src"
PROGRAM = Path(__file__).with_name("journal_process.py")
FULL: Final = 20 << 30  # bytes
MIB_MAX: Final = 64  # of memory
WIDTH: Final = 10  # digits of a number
LINE: Final = (
    b'{"ts":"2026-03-31T20:30:00Z","event":"sources_archived","count":1,"domain":"markets","note":"'
    + b"x" * 300 + b'","seq":' + b"1" * WIDTH + b"}\n"
)  # fmt: skip
LINES: Final = 20_000  # of a segment: about 8 MiB
FIRST: Final = 10**WIDTH // 10  # numbers of one width; JSON knows no leading zeros


def size(free: Path, wanted: int = FULL) -> int:
    return min(wanted, shutil.disk_usage(free).free // 2)


def block(first: int) -> bytes:
    """A segment's lines, numbered from `first`."""
    np = pytest.importorskip("numpy")
    lines = np.frombuffer(bytearray(LINE * LINES), dtype=np.uint8).reshape(LINES, len(LINE))
    numbers = np.arange(first, first + LINES, dtype=np.int64)
    for digit in range(WIDTH):
        lines[:, len(LINE) - 3 - digit] = 48 + numbers // 10**digit % 10
    return bytes(lines.tobytes())


def does(root: Path, what: str) -> Any:
    environ = {**os.environ, "PYTHONPATH": str(SRC)}
    argv = [sys.executable, str(PROGRAM), str(root), what]
    done = subprocess.run(argv, capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout)
    print(f"{what}: {result['seconds']:.3f} s, {result['mib']:.0f} MiB")
    assert result["mib"] < MIB_MAX, f"{what} took {result['mib']:.0f} MiB"
    return result["said"]


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    AgentState.open("rio", tmp_path, create=True).close()
    yield tmp_path
    shutil.rmtree(tmp_path / "rio", ignore_errors=True)  # pytest would keep it for three more runs


def test_a_journal_of_ours_of_20_gib(root: Path) -> None:
    sealed = root / "rio/.paos/journal"
    sealed.mkdir(exist_ok=True)
    segments = max(2, size(root) // (len(LINE) * LINES))
    for number in range(segments):
        first = FIRST + number * LINES
        (sealed / f"{first:016d}.jsonl").write_bytes(block(first))
    last = FIRST + segments * LINES
    live = root / "rio/journal.jsonl"
    live.write_bytes(b'{"ts":"2026-03-31T20:30:00Z","event":"journal_rotated","seq":%d}\n{"ts":"2026-0' % last)
    total = sum(path.stat().st_size for path in sealed.iterdir())
    print(f"{total / 2**30:.1f} GiB, {segments * LINES:,} lines in {segments} segments")
    assert does(root, "begin") == last
    assert does(root, "tail")[-1] == last
    assert does(root, "append") == last + 1, "the torn end is set aside, and no number is lost"
    assert does(root, "append") == last + 2
    assert does(root, "walk") == [segments * LINES + 3, FIRST, last + 2]
    assert does(root, "end") == [100_000, last + 2 - 99_999, last + 2]
    counted = MetricsReducer()
    counted.applied_seq = last  # as a journal that grew day by day leaves it
    (root / "rio/.paos/metrics.json").write_bytes(counted.dump())
    assert not [item for item in does(root, "check") if item[0].startswith("JOURNAL")]


def test_a_file_of_20_gib_that_another_tool_wrote(root: Path) -> None:
    live = root / "rio/journal.jsonl"
    shutil.rmtree(root / "rio/.paos")
    line = LINE[: LINE.rindex(b',"seq"')] + b"}\n"
    many = line * LINES
    with live.open("wb") as file:
        for _ in range(max(2, size(root) // len(many))):
            file.write(many)
        file.write(b'{"ts":"2026-0')
    whole = live.stat().st_size - 13
    print(f"{whole / 2**30:.1f} GiB in one file")
    assert len(does(root, "tail")) == 20
    assert does(root, "append") == 2, "the first is the rotation's own"
    assert does(root, "append") == 3
    (old,) = (root / "rio/.paos/journal").iterdir()
    assert old.stat().st_size == whole, "sealed as it is, without its torn end"
    assert does(root, "tail")[-2:] == [2, 3]
    assert not [item for item in does(root, "check") if item[0].startswith("JOURNAL")]


@pytest.mark.parametrize("spoilt", [False, True])
def test_2_gib_that_a_runaway_program_added_to_ours(root: Path, spoilt: bool) -> None:
    """`spoilt`: and it changed what was there before."""
    with AgentState.open("rio", root) as state:
        for number in range(100):
            state.journal.append("note", {"number": number})
        (entry,) = state.journal.tail(1, numbered=True)
    last = entry["seq"]
    live = root / "rio/journal.jsonl"
    ours = live.read_bytes()
    line = b'{"event":"runaway","text":"%s"}\n' % (b"z" * 380)
    with live.open("r+b") as file:
        if spoilt:
            file.write(b"#" * 50)
        file.seek(0, os.SEEK_END)
        for _ in range(max(2, size(root, 2 << 30) // (len(line) * LINES))):
            file.write(line * LINES)
    whole = live.stat().st_size
    assert [item[0] for item in does(root, "check") if item[0].startswith("JOURNAL")] == ["JOURNAL_GIANT"]
    assert does(root, "append") >= last + 1
    kept = [path for path in (root / "rio/.paos").rglob("*") if path.is_file() and path.stat().st_size == whole]
    assert len(kept) == 1, "every byte of it is kept, once"
    count, first, end = does(root, "walk")
    assert (first, count) == (1, end), "ours are all there, in order"
    with AgentState.open("rio", root) as state:
        notes = [entry["number"] for _, entry in state.journal.lines() if "number" in entry]
    assert notes == list(range(100))
    assert ours.count(b"\n") == last
    assert not [item for item in does(root, "check") if item[0].startswith("JOURNAL")]
