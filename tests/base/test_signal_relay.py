"""Two signals that come at once reach the main thread's handlers, whichever threads there are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from worldfs.base.signal_relay import relayed_signals
from worldfs.testing.waiting import PATIENCE_S

PROGRAM = """
import os, signal, threading
from worldfs.base.signal_relay import relayed_signals
came = []
both, condition = threading.Event(), threading.Condition()
def take(number, frame):
    os.write(1, f"{number} ".encode())
    came.append(number)
    if len(came) == 2:
        os._exit(0)
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, take)
for _ in range(4):
    threading.Thread(target=both.wait, daemon=True).start()
with relayed_signals():
    os.write(1, b"ready ")
    with condition:
        condition.wait()
"""


@pytest.mark.parametrize("number", range(5))
def test_two_signals_at_once_are_both_heard(number: int) -> None:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, env=environ) as process:
        assert process.stdout is not None
        assert os.read(process.stdout.fileno(), 6) == b"ready "
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate()  # hangs where one of them is lost
    assert sorted(out.split()) == [b"15", b"2"] and process.returncode == 0


LOST = """
import os, signal, threading
from pathlib import Path
from worldfs.base.signal_relay import relayed_signals
kill, lost = signal.pthread_kill, [1, 2]
def deaf(thread, number):
    if lost:
        lost.pop()
    else:
        kill(thread, number)
def other():
    while Path(f"/proc/self/task/{os.getpid()}/stat").read_text().rsplit(")", 1)[1].split()[0] != "S":
        pass
    kill(threading.get_ident(), signal.SIGTERM)
signal.signal(signal.SIGTERM, lambda number, frame: os._exit(7))
signal.pthread_kill = deaf
with relayed_signals():
    threading.Thread(target=other, daemon=True).start()
    threading.Event().wait()
"""


def test_a_wake_up_that_comes_just_before_the_main_thread_waits_is_repeated() -> None:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", LOST], env=environ, timeout=PATIENCE_S, check=False)
    assert ended.returncode == 7


def test_what_was_there_before_is_put_back() -> None:
    before, threads = signal.getsignal(signal.SIGURG), threading.active_count()
    with relayed_signals(), relayed_signals():
        assert threading.active_count() == threads + 2
    assert signal.getsignal(signal.SIGURG) == before and threading.active_count() == threads
    assert signal.set_wakeup_fd(-1) == -1


def test_another_thread_relays_nothing() -> None:
    def enter() -> None:
        with relayed_signals():
            assert signal.getsignal(signal.SIGURG) == signal.SIG_DFL

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
