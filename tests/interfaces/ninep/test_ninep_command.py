"""`paos serve --serve-9p`: a real world, in a process of its own, judged by Debian's clients and by our own."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys

import pytest

from worldfs.base.errors import BadInput, UserError
from worldfs.interfaces.cli.main import main
from worldfs.interfaces.ninep.ninep_listener import _unix_socket, parse_address
from worldfs.testing.ninep_client import NinePClient
from worldfs.testing.waiting import PATIENCE_S, until

from .conftest import Listening

PAOS = [sys.executable, "-m", "worldfs.interfaces.cli.main"]
needs_diod = pytest.mark.skipif(shutil.which("diodls") is None, reason="Debian's diod is not installed")


def paos(home, *words):
    return subprocess.run(
        [*PAOS, "--home", str(home), *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A home served on a UNIX socket; it ends by itself when told to."""
    home = tmp_path_factory.mktemp("served")
    assert paos(home, "onboard").returncode == 0
    (home / "workspace" / "LESSONS.md").write_text("# Lessons\n\nThe left drawer sticks.\n")
    path = str(home / "9p.sock")
    process = subprocess.Popen(
        [*PAOS, "--json", "--home", str(home), "serve", "--port", "0", "--serve-9p", path],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert f'"9p": "{path}"' in process.stdout.readline()
    yield path
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0 and not os.path.exists(path)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return done.stdout + done.stderr


@needs_diod
def test_diods_clients_list_and_read(served):
    listed = run("diodls", "-s", served, "-a", "/", "/projects/main").split()
    assert {"LESSONS.md", "TASK.md", "README.md"} <= set(listed)
    assert "The left drawer sticks." in run("diodcat", "-s", served, "-a", "/", "projects/main/LESSONS.md")
    long = run("diodls", "-l", "-s", served, "-a", "/", "/projects/main")
    row = next(line for line in long.splitlines() if line.endswith("LESSONS.md"))
    assert row.startswith("-r--r--r--") and row.split()[4] == str(len("# Lessons\n\nThe left drawer sticks.\n"))


@needs_diod
def test_diods_clients_see_what_the_role_sees(served):
    assert "TASK.md" not in run("diodls", "-s", served, "-a", "watchdog", "/projects/main")
    assert "No such file" in run("diodcat", "-s", served, "-a", "watchdog", "projects/main/TASK.md")
    assert "Permission denied" in run("diodls", "-s", served, "-a", "nobody", "/")


@needs_diod
@pytest.mark.parametrize("words", [(), ("-g",)])
def test_diodload_finds_no_error(memory, words):
    """64 clients in threads, on the two files that diod's own server has, over a tree in memory."""
    said = run("diodload", "-s", memory.path, "-r", "1", "-n", "8", *words)
    assert "error" not in said and "ops/s" in said and not said.startswith("diodload: 0 ops/s")


@needs_diod
def test_diodcat_that_is_killed_while_it_waits_leaves_nothing(memory):
    memory.realm.tree.closed.add("/b")
    client = subprocess.Popen(["diodcat", "-s", memory.path, "-a", "/", "b"], stdout=subprocess.PIPE)
    until(lambda: memory.host.waiters.waiting == 1)
    client.kill()
    assert client.communicate(timeout=PATIENCE_S)[0] == b""
    until(lambda: memory.host.waiters.waiting == 0 and not memory.local._serving)


def test_a_role_writes_what_is_its_own_and_nothing_else(served):
    with NinePClient(served).attach("planner") as client:
        client.write("/projects/main/TASK.md", b"# Task\n\nClear the table.\n")
        assert client.read("/projects/main/TASK.md") == b"# Task\n\nClear the table.\n"
        with pytest.raises(OSError) as raised:
            client.write("/projects/main/ENVIRONMENT.md", b"lies")
        assert raised.value.errno == errno.EACCES
    with NinePClient(served).attach("critic") as client, pytest.raises(OSError) as raised:
        client.write("/projects/main/TASK.md", b"mine")
    assert raised.value.errno == errno.EACCES


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("0.0.0.0:5640", "not an address of this machine"),
        ("example.org:5640", "not an address of this machine"),
        ("127.0.0.1:70000", "not an address of this machine"),
        ("nonsense", "not an address of this machine"),
        ("/" + "x" * 120, "the path of the socket has 121 bytes"),
    ],
)
def test_an_address_elsewhere_is_refused(address, said):
    with pytest.raises(BadInput, match=said):
        parse_address(address)


def test_the_command_says_what_address_it_expected(tmp_path, capsys):
    assert main(["--home", str(tmp_path), "serve", "--serve-9p", "0.0.0.0:5640"]) == 2
    assert "127.0.0.1:5640" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "said"), [("kept", "no socket"), ("9p.sock", "another process")])
def test_what_is_at_the_sockets_path_is_kept(tmp_path, memory, name, said):
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(UserError, match=said):
        _unix_socket(str(tmp_path / name))
    assert (tmp_path / "kept").read_text() == "mine"
    memory.client().close()  # it listens as before


def test_the_socket_of_a_killed_server_is_replaced(tmp_path, memory):

    dead = socket.socket(socket.AF_UNIX)
    (tmp_path / "dead").mkdir()
    dead.bind(str(tmp_path / "dead" / "9p.sock"))
    dead.close()
    with Listening(memory.realm, tmp_path / "dead") as listening, listening.client() as client:
        assert client.read("/b") == b"third"
