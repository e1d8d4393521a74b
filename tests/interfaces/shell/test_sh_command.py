"""`paos sh` as a process: a terminal, Ctrl-C, standard input, and a served tree."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys

import pytest

pytest.importorskip("bashkit")

from worldfs.interfaces.cli.main import main
from worldfs.testing.waiting import PATIENCE_S, until

PAOS = [sys.executable, "-m", "worldfs.interfaces.cli.main"]
WAIT = '{"paths": ["/agents/self/chat/control/input"], "timeout_ms": 60000}'
WAITING = (
    f"echo '{WAIT}' > /agents/self/events/control/wait.json; "
    "echo waits > /projects/main/TASK.md; cat /agents/self/events/next.json"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    assert main(["--home", str(home), "onboard"]) == 0
    return home


def run(words, **more):
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False, **more)


def command(home, *words):
    return [*PAOS, "--home", str(home), "--as", "planner", "sh", *words]


def test_a_script_on_standard_input(home):
    script = "cd /projects/main\nls | wc -l\nexit 4\n"
    done = run(command(home), input=script)
    assert done.returncode == 4 and int(done.stdout) > 10 and done.stderr == ""


def test_ctrl_c_ends_a_waiting_read_and_the_command(home):
    process = subprocess.Popen(command(home, "-c", WAITING), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    task = home / "workspace" / "TASK.md"
    until(lambda: task.read_text() == "waits\n")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


PRESSED = """
import runpy, signal, sys, threading
from pathlib import Path
from worldfs.testing.waiting import until
task, sys.argv = Path(sys.argv[1]), ["paos", *sys.argv[2:]]
def press():
    until(lambda: task.read_text() == "again\\n")
    mine = (threading.main_thread(), threading.current_thread())
    signal.pthread_kill(next(other for other in threading.enumerate() if other not in mine).ident, signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
runpy.run_module("worldfs.interfaces.cli.main", run_name="__main__")
"""


def test_ctrl_c_that_another_thread_is_given_ends_it_too(home):
    """The system gives a signal to any thread; Python's main thread, which waits, is not woken by it."""
    words = command(home, "-c", WAITING.replace("echo waits", "echo again").replace("60000", "6000000"))[len(PAOS) :]
    done = run([sys.executable, "-c", PRESSED, str(home / "workspace/TASK.md"), *words])
    assert (done.returncode, done.stdout) == (130, "") and "Traceback" not in done.stderr


AT_TERMINAL = """
import os, sys
os.close(os.open(os.ttyname(0), os.O_RDWR))  # of a new session: its Ctrl-C is for us
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_a_prompt_at_a_terminal(home):
    terminal, inside = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", AT_TERMINAL, sys.executable, "-X", "faulthandler", *command(home)[1:]],
        stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
        env={**os.environ, "TERM": "dumb", "PAOS_CONNECT": ""},
    )  # fmt: skip
    os.close(inside)
    said = bytearray()

    def read():
        try:
            said.extend(os.read(terminal, 4096))
        except OSError:
            return False
        return True

    def saw(text):
        if not select.select([terminal], [], [], PATIENCE_S)[0]:
            child.send_signal(signal.SIGABRT)  # it says where each of its threads stands
            while read():
                pass
            pytest.fail(f"{text!r} did not come:\n{said.decode()}")
        return not read() or text in said

    def types(line, answer):
        os.write(terminal, line)
        until(lambda: saw(answer), f"{line!r} was answered by {bytes(said)!r}")
        said.clear()

    until(lambda: saw(b"planner:/$ "))
    said.clear()
    types(b"cd /projects/main\n", b"planner:/projects/main$ ")
    types(b"echo 'one\n", b"> ")
    types(b"two' | wc -l\n", b"2\r\nplanner:/projects/main$ ")
    types(b"cat /agents/self/events/next.json; echo $((20 + 1))\n", b"21\r\n")
    os.write(terminal, WAITING.replace("waits", "at a prompt").encode() + b"\n")
    until(lambda: (home / "workspace" / "TASK.md").read_text() == "at a prompt\n")
    types(b"\x03", b"planner:/projects/main$ ")
    types(b"echo goes on\n", b"\r\ngoes on\r\nplanner:/projects/main$ ")
    os.write(terminal, b"exit 6\n")
    until(lambda: saw(b"\0"))
    os.close(terminal)
    assert child.wait(PATIENCE_S) == 6


def test_over_a_served_tree(home):
    server = subprocess.Popen(
        [*PAOS, "--json", "--home", str(home), "serve", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    url = server.stdout.readline().split('"url": "')[1].split('"')[0]
    try:
        script = "ls / | grep projects; cat /projects/main/TASK.md > /tmp/t && jq .kind /SCHEMA.json"
        done = run([*PAOS, "--home", str(home), "sh", "-c", script], env={**os.environ, "PAOS_CONNECT": url})
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=PATIENCE_S)
    assert done.stdout.startswith("projects\n") and done.returncode == 0, done.stderr
