"""System calls as a log: they say the same as what the disk wrote down, and eatmydata is seen for what it is."""

from __future__ import annotations

import os
import pickle
import sys
from ctypes.util import find_library
from pathlib import Path

import pytest

from worldfs.testing import syscall_trace
from worldfs.testing.crash_log import DiskOp
from worldfs.testing.crashes import CrashCheckFailure, DiskOpLog, scratch_directory
from worldfs.testing.syscall_trace import SyscallFault
from worldfs.testing.workloads import WORKLOADS, load_workload
from worldfs.testing.workloads.crash_check import check_log_crashes

pytestmark = pytest.mark.proof  # another program watches each system call: slow where the machine is busy

if why := syscall_trace.missing():
    pytest.skip(why, allow_module_level=True)

ENVIRON = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
EATMYDATA = "libeatmydata.so"


def program(name: str, root: Path, *more: Path) -> list[str]:
    return [sys.executable, "-m", "worldfs.testing.workloads", name, str(root), *map(str, more)]


def log_of(name: str, place: Path, *more: Path, preload: str = "") -> DiskOpLog:
    root = place / "root"
    root.mkdir()
    load_workload(name).prepare(root)
    log, ended = syscall_trace.trace(program(name, root, *more), root, place, environ=ENVIRON, preload=preload)
    assert ended.code == 0, ended.errors
    assert [op.path for op in log.ops if op.kind == "ack"] == list(ended.said[1:])
    return log


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_system_saw_what_the_disk_wrote_down(name: str) -> None:
    """So nothing reaches the disk past `Disk`, and nothing is written down that did not happen."""
    with scratch_directory() as place:
        log = log_of(name, place, place / "log")
        written = [DiskOp(*op) for op in pickle.loads((place / "log").read_bytes())]
        assert written == log.ops


@pytest.mark.parametrize("name", WORKLOADS)
def test_under_eatmydata_what_was_acknowledged_is_lost(name: str) -> None:
    if find_library("eatmydata") is None:
        pytest.skip("eatmydata is not installed (Debian: apt-get install eatmydata)")
    with scratch_directory() as place:
        log = log_of(name, place, preload=EATMYDATA)
        assert not any(op.kind.startswith("sync") for op in log.ops)
        with pytest.raises(CrashCheckFailure):
            check_log_crashes(load_workload(name), place, log, lots=2)


def test_a_program_can_be_killed_at_one_of_its_calls_or_told_that_it_failed(tmp_path: Path) -> None:
    load_workload("log").prepare(tmp_path)
    calls = syscall_trace.calls_of(program("log", tmp_path), tmp_path, environ=ENVIRON)
    before, in_all = calls["fdatasync"]
    assert before == 0 and in_all > 5
    for n, what in ((1, "signal=KILL"), (3, "signal=KILL"), (2, "error=EIO")):
        (tmp_path / str(n)).mkdir()
        load_workload("log").prepare(tmp_path / str(n))
        ended = syscall_trace.with_fault(
            program("log", tmp_path / str(n)), SyscallFault("fdatasync", n, what), environ=ENVIRON
        )
        assert len(ended.said) == n, ended  # "begin", and a step for each call before
        assert ended.code == (1 if "error" in what else 137 if ended.code > 0 else -9), ended


def test_a_call_is_read_whole_when_the_end_of_a_thread_stands_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a stand-in that writes what strace wrote of a thread that ended in the middle of another's call."""
    root = tmp_path / "root"
    root.mkdir()

    def told(other: str) -> list[DiskOp]:
        name = "".join(f"\\x{byte:02x}" for byte in str(root).encode())
        lines = (
            f'7 mkdirat(3<{name}>, "\\x61", 0755 <unfinished ...>',
            other.replace("ROOT", name),
            "7 <... mkdirat resumed>) = 0",
            "7 +++ exited with 0 +++",
        )
        (tmp_path / "told").write_text("\n".join([*lines, ""]))
        strace = tmp_path / "strace"
        strace.write_text(f'#!/bin/sh\ncp "{tmp_path}/told" "{tmp_path}/trace"\n')
        strace.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        return syscall_trace.trace(["true"], root, tmp_path)[0].ops

    assert [(op.kind, op.path) for op in told("8 +++ exited with 0 +++")] == [("mkdir", "a")]
    with pytest.raises(ValueError, match="another process"):
        told('8 mkdirat(3<ROOT>, "\\x62", 0755) = 0')
