"""How processes are found, and ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from worldfs.base import proc
from worldfs.base.proc import ProcessEntry
from worldfs.supervisor.reaper import Interruption, reap
from worldfs.testing.manual_clock import ManualClock


@contextmanager
def started(*argv: str, **words: Any) -> Iterator[subprocess.Popen[bytes]]:
    process: subprocess.Popen[bytes] = subprocess.Popen(argv, **words)
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with started("sleep", "600", start_new_session=True) as process:
        yield process


def there(pid: int) -> ProcessEntry:
    found = proc.find_process(pid)
    assert found is not None
    return found


def test_a_process_is_what_the_system_says_of_it(sleeper: subprocess.Popen[bytes]) -> None:
    one = there(sleeper.pid)
    assert (one.pid, one.parent, one.group, one.session) == (sleeper.pid, os.getpid(), sleeper.pid, sleeper.pid)
    assert one.start > there(os.getpid()).start and not one.dead


def test_a_name_may_hold_blanks_and_parentheses(tmp_path: object) -> None:
    program = os.path.join(str(tmp_path), "a) S 1 (b")
    os.symlink("/bin/sleep", program)
    with started(program, "600") as process:
        one = there(process.pid)
        assert (one.name, one.parent, one.dead) == ("a) S 1 (b", os.getpid(), False)


def test_nobody_has_the_number_of_nobody() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert proc.find_process(process.pid) is None


def test_descendants_are_found_parents_first() -> None:
    family = [ProcessEntry(pid, parent, 1, 1, 1, "S", "x") for pid, parent in ((5, 3), (3, 2), (4, 2), (9, 1), (2, 1))]
    assert [one.pid for one in proc.descendants(2, family)] == [3, 4, 5]
    assert {one.pid for one in proc.descendants(1, family)} == {2, 3, 4, 5, 9}
    assert proc.descendants(5, family) == []


def test_a_signal_hits_no_other_process_of_the_same_number(sleeper: subprocess.Popen[bytes]) -> None:
    one = there(sleeper.pid)
    assert not proc.send_signal(one._replace(start=one.start - 1), signal.SIGKILL)
    assert sleeper.poll() is None
    assert proc.send_signal(one, signal.SIGKILL)
    assert sleeper.wait() == -signal.SIGKILL
    assert not proc.send_signal(one, signal.SIGKILL)


def test_a_mark_is_found_by_all_of_its_parts(sleeper: subprocess.Popen[bytes]) -> None:
    with started("sleep", "600", env={"A": "1", "B": "2"}) as process:
        assert [one.pid for one in proc.marked([b"A=1", b"B=2"])] == [process.pid]
        assert list(proc.marked([b"A=1", b"B=3"])) == []


def test_who_cannot_be_ended_is_named_in_time() -> None:
    stuck = ProcessEntry(4_000_000, 1, 4_000_000, 1, 1, "D", "nfs")
    clock = ManualClock()

    def wait(seconds: float) -> Interruption:
        clock.advance(max(seconds, 0.001))
        return ""

    swept = reap(lambda: [stuck], wait, grace=0.1, limit=0.2, now=clock.monotonic)
    assert 0.2 < clock.monotonic() < 0.21
    assert [(one.pid, one.words) for one in swept.survivors] == [(4_000_000, "[nfs]")]


def test_each_is_asked_once_and_then_killed() -> None:
    """A program that counts what it is asked, deaf to it."""
    text = """import os, signal, time
signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"asked\\n"))
os.write(1, b"ready\\n")
while True: time.sleep(1)"""
    clock = ManualClock()
    with subprocess.Popen(
        [sys.executable, "-S", "-c", text], bufsize=0, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        said = []

        def wait(seconds: float) -> Interruption:
            if not said:  # the grace does not pass before it has heard
                said.append(process.stdout.readline())
            clock.advance(min(seconds, 0.02))
            return "gone" if process.poll() is not None else ""

        def find() -> list[ProcessEntry]:
            one = proc.find_process(process.pid)
            return [] if one is None else [one]

        limit = float("inf")  # how long a killed process takes to be gone is the machine's affair
        swept = reap(find, wait, grace=0.2, limit=limit, groups=True, now=clock.monotonic)
        assert [*said, process.stdout.read()] == [b"asked\n", b""]
        assert process.wait() == -signal.SIGKILL
        assert [one.pid for one in swept.reaped] == [process.pid] and swept.survivors == ()


def test_a_group_that_is_ours_is_never_killed() -> None:
    with started("/bin/sh", "-c", "trap '' TERM; exec sleep 600") as process:  # in our own group
        while there(process.pid).name != "sleep":
            time.sleep(0.001)  # deaf by then
        reap(
            lambda: [there(process.pid)],
            lambda seconds: "gone" if process.poll() is not None else "",
            now=time.monotonic,
            grace=0,
            groups=True,
        )
        assert process.wait() == -signal.SIGKILL  # and we are still here to see it
