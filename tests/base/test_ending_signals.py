"""The signals that ask a process to end, and the SIGHUP that nohup has it ignore."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from worldfs.base.ending_signals import ending_signals, hear_ending_signals
from worldfs.interfaces.cli.signals import stop_on

PROGRAM = """
import os, signal, sys, threading
from worldfs.interfaces.cli.signals import stop_on
asked = threading.Event()
with stop_on(asked.set):
    os.write(1, b"ready ")
    asked.wait()
    os.kill(os.getpid(), signal.SIGHUP)
os.kill(os.getpid(), signal.SIGHUP)
os.write(1, b"ended")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_after_the_first_signal_no_hang_up_cuts_the_end_short(number: signal.Signals) -> None:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, env=environ) as process:
        assert process.stdout is not None
        assert os.read(process.stdout.fileno(), 6) == b"ready "
        process.send_signal(number)
        out, _ = process.communicate()
    assert (out, process.returncode) == (b"ended", 0)


def test_a_hang_up_that_the_process_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert ending_signals() == (signal.SIGINT, signal.SIGTERM)
        with stop_on(lambda: None):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert signal.SIGHUP in ending_signals()


def test_a_loop_is_asked_once_for_two_hang_ups() -> None:
    async def life() -> int:
        asked: list[str] = []
        hear_ending_signals(asyncio.get_running_loop(), lambda: asked.append("asked"))
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        return len(asked)

    assert asyncio.run(life()) == 1
