"""A foreign program and all of its group end with the process that started it, and of its words only the last stay."""

import os
import signal
import subprocess
import sys

import pytest

from worldfs.base.foreign_process import KEPT, ForeignProcess, find_program, is_secret
from worldfs.base.proc import find_process
from worldfs.testing.waiting import until

HANGS = """
import os, subprocess, sys, re
below = subprocess.Popen(["sleep", "1000"])
print(os.getpid(), below.pid, file=open(sys.argv[1] + ".part", "w"), flush=True)
os.rename(sys.argv[1] + ".part", sys.argv[1])
re.match(r"(a+)+$", "a" * 60 + "b")  # it holds the interpreter, so that no thread of its own could end it
"""
LEAVES = """
import os, subprocess, sys, time
apart = subprocess.Popen(["sleep", "1000"], start_new_session=True)
print(os.getpid(), apart.pid, file=open(sys.argv[1] + ".part", "w"), flush=True)
os.rename(sys.argv[1] + ".part", sys.argv[1])
time.sleep(1000)
"""
STARTS = """
import sys, time
from worldfs.base.foreign_process import ForeignProcess
process = ForeignProcess([sys.executable, "-c", sys.argv[1], sys.argv[2]], {})
if len(sys.argv) == 3:
    time.sleep(1000)
sys.stdin.readline()
"""


def is_gone(pid):
    one = find_process(pid)
    return one is None or one.dead


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_that_hangs_ends_with_a_process_that_is_killed(tmp_path, how):
    told = tmp_path / "pids"
    with subprocess.Popen([sys.executable, "-c", STARTS, HANGS, str(told)]) as parent:
        until(told.exists)
        pids = [int(pid) for pid in told.read_text().split()]
        assert not any(is_gone(pid) for pid in pids)
        parent.send_signal(how)
    until(lambda: all(is_gone(pid) for pid in pids))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, None])
def test_what_a_program_has_started_in_a_session_of_its_own_ends_too(tmp_path, how):
    told = tmp_path / "pids"
    command = [sys.executable, "-c", STARTS, LEAVES, str(told), "reads"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as parent:
        until(told.exists)
        pids = [int(pid) for pid in told.read_text().split()]
        assert not any(is_gone(pid) for pid in pids)
        if how is not None:
            parent.send_signal(how)  # else its input ends, and it ends as it should
    until(lambda: all(is_gone(pid) for pid in pids))


def test_a_program_that_is_ended_leaves_no_process(tmp_path):
    told = tmp_path / "pids"
    process = ForeignProcess([sys.executable, "-c", LEAVES, str(told)], {})
    until(told.exists)
    guard = process._guard.pid
    process.end()
    assert all(is_gone(pid) for pid in (guard, *map(int, told.read_text().split())))


def test_of_what_it_prints_the_last_part_is_kept():
    text = "import sys; [print('x' * 999) for _ in range(3000)]; print('the end', file=sys.stderr)"
    process = ForeignProcess([sys.executable, "-c", text], {})
    try:
        until(lambda: is_gone(process.pid))
        assert process.last_line() == "the end" and len(process._printed) == KEPT
    finally:
        process.end()


def test_it_gets_no_secret_and_what_it_is_given(monkeypatch):
    monkeypatch.setenv("PAOS_TOKEN", "secret-1")
    monkeypatch.setenv("OPENAI_API_KEY", "secret-2")
    monkeypatch.setenv("GH_PAT", "secret-3")
    monkeypatch.setenv("DATABASE_URL", "postgres://u:secret-4@h")
    process = ForeignProcess(["env"], {"GIVEN": "yes"}, talks=True)
    try:
        said = process.stdout.read().decode()
    finally:
        process.end()
        process.stdin.close()
        process.stdout.close()
    assert "GIVEN=yes" in said and "secret-" not in said


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GH_PAT", "x"), ("PAT", "x"), ("DB_PASS", "x"), ("PASSWD", "x"), ("MYSQL_PWD", "x"), ("AWS_CREDENTIALS", "x"),
        ("AWS_ACCESS_KEY_ID", "x"), ("SSH_PASSPHRASE", "x"), ("REDIS_AUTH", "x"), ("OPENAI_APIKEY", "x"),
        ("DATABASE_URL", "postgres://u:p@h/db"), ("GIT_URL", "https://abc@example.org/x.git"),
    ],
)  # fmt: skip
def test_a_secret_is_known_by_its_name_or_by_a_login_in_its_value(name, value):
    assert is_secret(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("PATH", "/bin"), ("PWD", "/tmp"), ("XAUTHORITY", "/x"), ("HOME", "/root"), ("MONKEY", "x"), ("PASSAGE", "x"),
     ("HF_ENDPOINT", "https://example.org/a@b"), ("MAIL", "a@example.org"), ("LD_LIBRARY_PATH", "/lib")],
)  # fmt: skip
def test_what_a_program_needs_is_no_secret(name, value):
    assert not is_secret(name, value)


def test_a_program_that_cannot_be_started_leaves_nothing_open():
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="No such file"):
        ForeignProcess(["/no/such/program"], {})
    assert len(os.listdir("/proc/self/fd")) == before and find_program("~/no/such/program") is None
