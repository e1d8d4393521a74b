"""A terminal that is closed, or an ssh that is lost: the command ends as by SIGTERM, and what it moves is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from worldfs.interfaces.cli.exits import MACHINE  # what it would say cannot be written
from worldfs.testing.waiting import PATIENCE_S, until

pytest.importorskip("mujoco")
ROOT = Path(__file__).resolve().parents[2]
AS_SAID = "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
IN_TERMINAL = f"import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); {AS_SAID}"
NOHUP = f"import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); {AS_SAID}"


class Terminal:
    """A command that leads the session of a terminal."""

    def __init__(self, table, *words: str) -> None:
        self._hand, theirs = os.openpty()
        command = [sys.executable, "-m", "worldfs.interfaces.cli.main", *table.options, *words]
        self.process = subprocess.Popen(
            [sys.executable, "-c", IN_TERMINAL, *command[1:]],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)

    def read_until(self, word: str) -> None:
        said = b""
        while word.encode() not in said:
            said += os.read(self._hand, 4096)

    def close(self) -> int:
        """As a window is closed: the process gets SIGHUP, and each of its writes fails. Its exit code."""
        os.close(self._hand)
        self.process.send_signal(signal.SIGHUP)  # the shell sends one, too
        return self.process.wait(PATIENCE_S)


def open_jobs(table) -> list[Path]:
    return list((table.root / ".paos/jobs").glob("*.jsonl"))


def causes(table) -> set[str]:
    return {str(job.status.outcome.cause) for job in table.ended().values()}


def test_a_do_with_its_own_kernel_stops_its_robot(table) -> None:
    for _ in range(3):  # it may be closed between two orders, where nothing is to be cancelled
        terminal = Terminal(table, "--json", "do", "clear the table", "--driver", "simulation", "--no-cameras")
        terminal.read_until('"progress"')
        until(lambda: open_jobs(table))
        assert terminal.close() == MACHINE
        assert not open_jobs(table)
        if "cancelled" in causes(table):
            break
    assert "cancelled" in causes(table)
    assert table.paos("--json", "status").values[0]["kernel"] is None


def test_a_do_beside_a_kernel_cancels_what_it_ordered(table, kernel) -> None:
    terminal = Terminal(table, "--json", "do", "clear the table")
    terminal.read_until('"progress"')
    until(lambda: open_jobs(table))
    assert terminal.close() == MACHINE
    until(lambda: not open_jobs(table))
    assert "cancelled" in causes(table)


def test_an_up_ends_its_orders_and_closes_its_drivers(table) -> None:
    terminal = Terminal(table, "up", "--driver", "simulation", "--no-cameras")
    terminal.read_until("kernel running")
    assert terminal.close() == MACHINE


def test_a_process_that_was_started_with_nohup_goes_on(table) -> None:
    up = ["-m", "worldfs.interfaces.cli.main", *table.options, "up", "--driver", "simulation", "--no-cameras"]
    with subprocess.Popen(
        [sys.executable, "-c", NOHUP, *up],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stdout.readline().startswith("kernel running")
        process.send_signal(signal.SIGHUP)
        assert table.paos("--json", "status").values[0]["kernel"]["pid"] == process.pid
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0 and out.strip().endswith("kernel stopped")
