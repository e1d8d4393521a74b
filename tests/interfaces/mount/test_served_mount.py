"""A mount over a socket: the same files; a server that goes away gives EIO after a bound, and comes back by itself."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import time

import pytest

from worldfs.testing.waiting import until

from .mounted import PAOS, mounting

BOUND_S = 60.0  # of a refusal under load; it is about 1 s


class ServerProcess:
    """`paos serve` on a port that stays the same."""

    def __init__(self, home):
        self.home = home
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [*PAOS, "--home", str(self.home), "serve", "--port", str(self.port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert "serving" in self.process.stdout.readline()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate(timeout=30)


@pytest.fixture
def server(home):
    found = ServerProcess(home)
    found.start()
    yield found
    found.kill()


def fails(path):
    try:
        return path.read_bytes() is None
    except OSError as error:
        assert error.errno in (errno.EIO, errno.ETIMEDOUT)
        return True


def test_a_served_tree_is_mounted_survives_its_server_and_ends_with_errors_not_with_waiting(home, directory, server):
    connect = ["--connect", f"ws://127.0.0.1:{server.port}"]
    with mounting(directory, home=home, before=connect, role="") as tree:
        lessons = tree / "projects/main/LESSONS.md"
        (home / "workspace/LESSONS.md").write_text("# one\n")
        assert lessons.read_text() == "# one\n"
        assert lessons.stat().st_size == 6
        made = tree / "projects/main/artifacts/d/x"
        made.parent.mkdir()
        made.write_text("served\n")
        assert (home / "workspace/artifacts/d/x").read_text() == "served\n"
        made.rename(made.with_name("y"))
        assert os.listdir(made.parent) == ["y"]
        with pytest.raises(PermissionError):
            lessons.write_text("mine")
        with pytest.raises(FileNotFoundError):
            (tree / "projects/main/none.md").read_text()
        server.kill()
        begun = time.monotonic()
        until(lambda: fails(lessons), "a cut server is not noticed")
        assert fails(tree / "projects/main/TASK.md")
        assert time.monotonic() - begun < BOUND_S
        server.start()
        assert until(lambda: not fails(lessons), "it did not come back")
        assert lessons.read_text() == "# one\n"
