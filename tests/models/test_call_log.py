"""The record of a home's calls: whole lines from any number of processes, bounded, and never in a model's way."""

from __future__ import annotations

import fcntl
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from worldfs.base.chat_model import ModelCall
from worldfs.models.call_log import FILE, FOLDER, OLDER, ModelCallLog, model_uses
from worldfs.testing.manual_clock import ManualClock

CALL = ModelCall("tiny", "0" * 64, 100, 10, 0.5, 2.0)


def test_calls_are_summed_by_use_and_model_and_odd_lines_are_left_out(tmp_path: Path) -> None:
    planner, chat = ModelCallLog(tmp_path, "planner", ManualClock()), ModelCallLog(tmp_path, "chat", ManualClock())
    planner.add(CALL)
    file = tmp_path / FOLDER / FILE
    assert file.stat().st_mode & 0o777 == 0o600
    assert set(json.loads(file.read_bytes())) == {"at", "use", *CALL.as_json()}
    with file.open("ab") as torn:
        torn.write(b'[1]\n{"use": "chat", "input_tokens": "many"}\n\xff\n{"use": "pla')  # the last is cut off
    chat.add(CALL._replace(cost_usd=None))
    planner.add(CALL._replace(error="MODEL_TIMEOUT", cost_usd=None))
    found = {(one.use, one.model): one for one in model_uses(tmp_path)}
    assert set(found) == {("planner", "tiny"), ("chat", ""), ("chat", "tiny")}
    row = found["planner", "tiny"]
    assert (row.calls, row.failed, row.input_tokens, row.output_tokens) == (2, 1, 200, 20)
    assert (row.cost_usd, row.unpriced, row.latency_s) == (0.5, 1, 4.0)


def test_writers_beside_each_other_lose_nothing_and_the_file_is_bounded(tmp_path: Path) -> None:
    whole = [ModelCallLog(tmp_path, f"use {number}", ManualClock()) for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda log: [log.add(CALL) for _ in range(20)], whole))
    assert [one.calls for one in model_uses(tmp_path)] == [20] * 8
    size = (tmp_path / FOLDER / FILE).stat().st_size // 160
    small = [ModelCallLog(tmp_path / "small", "planner", ManualClock(), most=10 * size) for _ in range(8)]
    (tmp_path / "small").mkdir()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda log: [log.add(CALL) for _ in range(6)], small))
    (row,) = model_uses(tmp_path / "small")
    assert 10 <= row.calls <= 48
    for name in (FILE, OLDER):
        assert (tmp_path / "small" / FOLDER / name).stat().st_size <= 11 * size


def test_a_record_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    ModelCallLog(tmp_path / "no home", "planner", ManualClock()).add(CALL)
    assert not (tmp_path / "no home").exists()
    (tmp_path / FOLDER).mkdir()
    file, other = tmp_path / FOLDER / FILE, tmp_path / "other"
    other.touch()
    file.symlink_to(other)
    ModelCallLog(tmp_path, "planner", ManualClock()).add(CALL)
    assert other.read_bytes() == b""
    file.unlink()
    os.mkfifo(file)
    ModelCallLog(tmp_path, "planner", ManualClock()).add(CALL)


def test_a_line_is_in_the_file_that_stands_at_the_path_when_it_has_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process puts the file away between its opening and its lock."""
    log, file, lock = ModelCallLog(tmp_path, "planner", ManualClock()), tmp_path / FOLDER / FILE, fcntl.flock
    log.add(CALL)
    moved = []

    def flock(fd: int, how: int) -> None:
        if not moved:
            moved.append(file.rename(file.with_name(OLDER)))
            file.touch()
        lock(fd, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    log.add(CALL)
    assert len(file.read_bytes().splitlines()) == 1 and len(moved[0].read_bytes().splitlines()) == 1
