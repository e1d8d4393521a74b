"""The second signal that asks a process to end: robots are told to stop first, whatever the process waits for."""

import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from worldfs.interfaces.cli import instruction_kernel
from worldfs.interfaces.cli.kernel_thread import KernelThread
from worldfs.interfaces.cli.main import main

PROGRAM = """
import os, signal, sys, threading
from worldfs.interfaces.cli.signals import stop_on

go_on = threading.Event()
how = sys.argv[1]

def say(what):
    os.write(1, f"{what}\\n".encode())

def leave():
    say("tells")
    sys.stdin.readline()  # until all further signals are there
    if how == "ends":
        go_on.set()
    say("told")

try:
    with stop_on(lambda: say("asked"), None if how == "at once" else leave):
        say("ready")
        go_on.wait()
except KeyboardInterrupt:
    say("interrupted")
"""

INT, TERM, HUP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


@contextmanager
def started(how):
    command = [sys.executable, "-c", PROGRAM, how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("first", "second"), [(INT, INT), (TERM, TERM), (TERM, INT), (INT, TERM), (HUP, INT)])
def test_before_the_second_signal_ends_it_what_is_to_be_told_is_told(first, second):
    with started("leave") as process:
        process.send_signal(first)
        assert process.stdout.readline() == "asked\n"
        process.send_signal(second)
        assert process.stdout.readline() == "tells\n"
        process.send_signal(HUP)  # it never breaks anything off
        out, _ = process.communicate("\n")
    assert out == "told\ninterrupted\n" and process.returncode == 0


def test_where_nothing_is_to_be_told_the_second_signal_ends_it_at_once():
    with started("at once") as process:
        process.send_signal(TERM)
        assert process.stdout.readline() == "asked\n"
        process.send_signal(TERM)
        out, _ = process.communicate()
    assert out == "interrupted\n"


def test_a_process_that_has_ended_meanwhile_waits_until_all_is_told_and_says_that_it_was_interrupted():
    with started("ends") as process:
        process.send_signal(TERM)
        assert process.stdout.readline() == "asked\n"
        process.send_signal(INT)
        assert process.stdout.readline() == "tells\n"
        out, _ = process.communicate("\n")
    assert out == "told\ninterrupted\n"


@pytest.mark.parametrize("number", [INT, TERM])
def test_a_signal_while_the_own_world_of_an_instruction_closes_breaks_nothing_off(number, tmp_path, monkeypatch):
    """What is left of a motion is stopped then."""
    assert main(["--home", str(tmp_path), "onboard"]) == 0
    closed = []

    class Closing(KernelThread):
        def __exit__(self, *of):
            signal.raise_signal(number)
            super().__exit__(*of)
            closed.append(number)

    monkeypatch.setattr(instruction_kernel, "KernelThread", Closing)
    assert main(["--home", str(tmp_path), "do", "--no-cameras", "go home"]) == 0
    assert closed == [number]
