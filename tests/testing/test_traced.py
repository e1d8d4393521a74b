"""System calls as a log: they say the same as what the disk wrote down, and eatmydata is seen for what it is."""

from __future__ import annotations

import os
import pickle
import sys
from ctypes.util import find_library
from pathlib import Path

import pytest

from worldfs.testing import traced
from worldfs.testing.crash_log import Op
from worldfs.testing.crashes import Broken, Log, desk
from worldfs.testing.lives import LIVES, life
from worldfs.testing.lives.endure import endure_log
from worldfs.testing.traced import Fault

pytestmark = pytest.mark.proof  # another program watches each system call: slow where the machine is busy

if why := traced.missing():
    pytest.skip(why, allow_module_level=True)

ENVIRON = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
EATMYDATA = "libeatmydata.so"


def program(name: str, root: Path, *more: Path) -> list[str]:
    return [sys.executable, "-m", "worldfs.testing.lives", name, str(root), *map(str, more)]


def log_of(name: str, place: Path, *more: Path, preload: str = "") -> Log:
    root = place / "root"
    root.mkdir()
    life(name).prepare(root)
    log, ended = traced.trace(program(name, root, *more), root, place, environ=ENVIRON, preload=preload)
    assert ended.code == 0, ended.errors
    assert [op.path for op in log.ops if op.kind == "ack"] == list(ended.said[1:])
    return log


@pytest.mark.parametrize("name", LIVES)
def test_the_system_saw_what_the_disk_wrote_down(name: str) -> None:
    """So nothing reaches the disk past `Disk`, and nothing is written down that did not happen."""
    with desk() as place:
        log = log_of(name, place, place / "log")
        written = [Op(*op) for op in pickle.loads((place / "log").read_bytes())]
        assert written == log.ops


@pytest.mark.parametrize("name", LIVES)
def test_under_eatmydata_what_was_acknowledged_is_lost(name: str) -> None:
    if find_library("eatmydata") is None:
        pytest.skip("eatmydata is not installed (Debian: apt-get install eatmydata)")
    with desk() as place:
        log = log_of(name, place, preload=EATMYDATA)
        assert not any(op.kind.startswith("sync") for op in log.ops)
        with pytest.raises(Broken):
            endure_log(life(name), place, log, lots=2)


def test_a_program_can_be_killed_at_one_of_its_calls_or_told_that_it_failed(tmp_path: Path) -> None:
    life("log").prepare(tmp_path)
    calls = traced.calls_of(program("log", tmp_path), tmp_path, environ=ENVIRON)
    before, in_all = calls["fdatasync"]
    assert before == 0 and in_all > 5
    for n, what in ((1, "signal=KILL"), (3, "signal=KILL"), (2, "error=EIO")):
        (tmp_path / str(n)).mkdir()
        life("log").prepare(tmp_path / str(n))
        ended = traced.with_fault(program("log", tmp_path / str(n)), Fault("fdatasync", n, what), environ=ENVIRON)
        assert len(ended.said) == n, ended  # "begin", and a step for each call before
        assert ended.code == (1 if "error" in what else 137 if ended.code > 0 else -9), ended
