"""SIGKILL, EIO and a full disk at every system call that changes a disk; and power cuts by what the system saw."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from ctypes.util import find_library
from pathlib import Path

import pytest

from worldfs.testing import syscall_trace
from worldfs.testing.crashes import CrashCheckFailure, scratch_directory
from worldfs.testing.syscall_trace import CALLS, SyscallFault
from worldfs.testing.workloads import WORKLOADS, View, load_workload
from worldfs.testing.workloads.crash_check import check_log_crashes, compare, record_workload, views_of

pytestmark = pytest.mark.proof
if why := syscall_trace.missing():
    pytest.skip(why, allow_module_level=True)

ENVIRON = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
FAILING = ("openat", "write", "pwrite64", "fsync", "fdatasync", "mkdirat", "renameat", "renameat2")


def program(name: str, root: Path) -> list[str]:
    return [sys.executable, "-m", "worldfs.testing.workloads", name, str(root)]


class Trial:
    """One life, run again and again, each time with one fault."""

    def __init__(self, name: str, place: Path) -> None:
        self.life, self.place = load_workload(name), place
        self.views: list[View] = list(views_of(self.life, place, record_workload(self.life, place / "first")))
        root = self._root()
        syscall_trace.calls_of(program(name, root), place, environ=ENVIRON)  # the first start may compile
        root = self._root()
        self.calls = syscall_trace.calls_of(program(name, root), place, environ=ENVIRON)
        self.runs = 0

    def _root(self) -> Path:
        self.number = getattr(self, "number", 0) + 1
        root = self.place / f"r{self.number}"
        root.mkdir()
        self.life.prepare(root)
        return root

    def faults(self, calls: tuple[str, ...], what: str) -> Iterator[SyscallFault]:
        """At each of these calls, from where the life begins."""
        for call in calls:
            before, in_all = self.calls[call]
            yield from (SyscallFault(call, n, what) for n in range(before + 1, in_all + 1))

    def endures(self, fault: SyscallFault) -> int:
        """How many steps were acknowledged before the fault ended it."""
        root = self._root()
        ended = syscall_trace.with_fault(program(self.life.name, root), fault, environ=ENVIRON)
        done = len(ended.said) - 1
        assert done >= 0, f"{fault}: it never began: {ended.errors}"
        assert "Fatal" not in ended.errors
        try:
            compare(self.life.inspect(root), (self.views[done], self.views[min(done + 1, len(self.views) - 1)]))
        except Exception as error:
            raise AssertionError(f"{fault}, after {ended.said[-1]!r}: {error}\n{ended.errors[-2000:]}") from error
        self.runs += 1
        return done


@pytest.mark.parametrize("name", WORKLOADS)
def test_killed_at_every_call(name: str) -> None:
    with scratch_directory() as place:
        trial = Trial(name, place)
        ends = Counter(trial.endures(fault) for fault in trial.faults(CALLS, "signal=KILL"))
        assert len(ends) >= len(trial.views) - 1, "there are steps in which it was never killed"
        print(f"{name}: killed at {trial.runs} system calls, nothing lost")


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_told_an_error_at_every_call(name: str, error: str) -> None:
    with scratch_directory() as place:
        trial = Trial(name, place)
        for fault in trial.faults(FAILING, f"error={error}"):
            trial.endures(fault)
        print(f"{name}: {error} at {trial.runs} system calls, nothing lost")


@pytest.mark.parametrize("name", WORKLOADS)
def test_power_cuts_by_what_the_system_saw(name: str) -> None:
    with scratch_directory() as place:
        one, root = load_workload(name), place / "root"
        root.mkdir()
        one.prepare(root)
        log, ended = syscall_trace.trace(program(name, root), root, place, environ=ENVIRON)
        assert ended.code == 0, ended.errors
        print(f"{name}: {check_log_crashes(one, place, log, lots=2)}")


@pytest.mark.parametrize("name", WORKLOADS)
def test_power_cuts_under_eatmydata_lose_what_was_acknowledged(name: str) -> None:
    if find_library("eatmydata") is None:
        pytest.skip("eatmydata is not installed (Debian: apt-get install eatmydata)")
    with scratch_directory() as place:
        one, root = load_workload(name), place / "root"
        root.mkdir()
        one.prepare(root)
        log, ended = syscall_trace.trace(program(name, root), root, place, environ=ENVIRON, preload="libeatmydata.so")
        assert ended.code == 0, ended.errors
        with pytest.raises(CrashCheckFailure) as lost:
            check_log_crashes(one, place, log)
        print(f"{name}: {str(lost.value).splitlines()[0][:200]}")
