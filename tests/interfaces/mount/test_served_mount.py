"""A mount over a socket: the same files; a server that goes away gives EIO after a bound, and comes back by itself."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import time

import pytest

from worldfs.testing.free_port import free_port
from worldfs.testing.waiting import PATIENCE_S, until

from .mounted import PAOS, mounting

BOUND_S = 60.0  # of a refusal under load; it is about 1 s


class ServerProcess:
    """`paos serve` on a port that stays the same."""

    def __init__(self, home):
        self.home = home
        self.port = free_port()
        self.process = None

    @property
    def connect(self):
        return ["--connect", f"ws://127.0.0.1:{self.port}"]

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
        self.process.communicate(timeout=PATIENCE_S)


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


def stale(path):
    try:
        return os.getxattr(path, "user.paos.stale").decode()
    except OSError as error:
        assert error.errno == errno.ENODATA
        return ""


def test_what_was_read_can_be_read_while_the_server_is_away(home, directory, server, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (home / "workspace/LESSONS.md").write_text("# one\n")
    with mounting(directory, "--offline", home=home, before=server.connect, role="") as tree:
        lessons, task = tree / "projects/main/LESSONS.md", tree / "projects/main/TASK.md"
        assert lessons.read_text() == "# one\n" and "LESSONS.md" in os.listdir(lessons.parent)
        assert stale(lessons) == stale(tree.directory) == ""
        server.kill()
        assert until(lambda: stale(tree.directory), "a cut server is not noticed")
        assert lessons.read_text() == "# one\n" and stale(lessons) <= stale(tree.directory)
        assert "LESSONS.md" in os.listdir(lessons.parent)
        for path, action, expected in (
            (task, "r", errno.EIO),
            (lessons.with_name("none.md"), "r", errno.ENOENT),
            (lessons, "w", errno.EROFS),
            (lessons.with_name("new.md"), "w", errno.EROFS),
        ):
            with pytest.raises(OSError) as caught:
                path.open(action)
            assert caught.value.errno == expected, path
        (home / "workspace/LESSONS.md").write_text("# two\n")
        server.start()
        until(lambda: not stale(tree.directory), "it did not come back")
        assert lessons.read_text() == "# two\n" and stale(lessons) == ""
    places = [tmp_path / "cache", *(tmp_path / "cache").rglob("*")]
    copies = [path for path in places if path.is_file()]
    assert copies and all(path.stat().st_mode & 0o777 == 0o600 for path in copies)
    assert all(path.parent.stat().st_mode & 0o777 == 0o700 for path in copies)
    assert not any(b"Bearer" in path.read_bytes() for path in copies)
