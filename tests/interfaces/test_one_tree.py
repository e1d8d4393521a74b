"""The verbs of one tree give the same through every interface: bytes, names, sizes, and the errno of a refusal.

In this process (the POSIX view), the served socket, 9P, and the mount where FUSE is there.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.errors import WorldError
from worldfs.client import blocking
from worldfs.interfaces.cli.main import main
from worldfs.interfaces.cli.name_suggestion import nearest_path
from worldfs.interfaces.cli.server_tree import ServerTree
from worldfs.interfaces.mount import mount_point
from worldfs.interfaces.posix.namespace_files import home_files
from worldfs.interfaces.posix.posix_errors import errno_of
from worldfs.interfaces.posix.posix_files import PosixFiles
from worldfs.testing.ninep_client import NinePClient
from worldfs.testing.waiting import PATIENCE_S, until

PAOS = [sys.executable, "-c", "from worldfs.interfaces.cli.start import start; raise SystemExit(start())"]
ART = "/projects/main/artifacts"
NO_FUSE = mount_point.why_not()


class InProcess:
    """The POSIX view on a loop of its own."""

    def __init__(self, home):
        self._runner = asyncio.Runner()
        self._opened = home_files(home, home / "agents", "operator", "", SystemClock())
        self._files = PosixFiles(self._runner.run(self._opened.__aenter__()), SystemClock())

    def close(self):
        self._runner.run(self._opened.__aexit__(None, None, None))
        self._runner.close()

    def _do(self, work):
        try:
            return self._runner.run(work)
        except WorldError as error:
            raise OSError(errno_of(error), str(error)) from error

    def read(self, path):
        async def work():
            file = await self._files.open(path, os.O_RDONLY)
            return await file.read(0, 1 << 24)

        return self._do(work())

    def write(self, path, data):
        async def work():
            _, file = await self._files.create(path, os.O_WRONLY | os.O_TRUNC)
            try:
                await file.write(0, data)
                await file.flush()
            finally:
                await self._files.close_file(path, file)

        self._do(work())

    def list(self, path):
        return [name for name, _ in self._do(self._files.list(path))]

    def size(self, path):
        return self._do(self._files.look(path)).size

    def mkdir(self, path):
        self._do(self._files.mkdir(path))

    def remove(self, path):
        self._do(self._files.remove(path))

    def rename(self, old, new):
        self._do(self._files.rename(old, new))


class Socket:
    """The client of the served port."""

    def __init__(self, url, token):
        self._world = blocking.connect(url, token=token).__enter__()

    def close(self):
        self._world.__exit__(None, None, None)

    def _do(self, work):
        try:
            return work()
        except WorldError as error:
            raise OSError(errno_of(error), str(error)) from error

    def read(self, path):
        return self._do(lambda: self._world.read(path))

    def write(self, path, data):
        self._do(lambda: self._world.write(path, data, replace=True, create=True))

    def list(self, path):
        return [entry.name for entry in self._do(lambda: self._world.entries(path))]

    def size(self, path):
        return self._do(lambda: self._world.stat(path)).size

    def mkdir(self, path):
        self._do(lambda: self._world.mkdir(path))

    def remove(self, path):
        self._do(lambda: self._world.remove(path))

    def rename(self, old, new):
        self._do(lambda: self._world.rename(old, new))


class NineP:
    def __init__(self, path):
        self._client = NinePClient(path).attach()
        self.read, self.write, self.list = self._client.read, self._client.write, self._client.list
        self.close = self._client.close

    def size(self, path):
        fid = self._client.walk(path)
        try:
            return self._client.getattr(fid).size
        finally:
            self._client.clunk(fid)

    def _above(self, path, action):
        above, _, name = path.rpartition("/")
        fid = self._client.walk(above)
        try:
            action(fid, name)
        finally:
            self._client.clunk(fid)

    def mkdir(self, path):
        self._above(path, self._client.mkdir)

    def remove(self, path):
        self._above(path, self._client.unlink)

    def rename(self, old, new):
        there = self._client.walk(new.rpartition("/")[0])
        self._above(old, lambda fid, name: self._client.rename(fid, name, there, new.rpartition("/")[2]))
        self._client.clunk(there)


class Mount:
    def __init__(self, directory):
        self._at = lambda path: f"{directory}{path}"

    def read(self, path):
        with open(self._at(path), "rb") as file:
            return file.read()

    def write(self, path, data):
        with open(self._at(path), "wb") as file:
            file.write(data)

    def list(self, path):
        return sorted(os.listdir(self._at(path)))

    def size(self, path):
        return os.stat(self._at(path)).st_size

    def mkdir(self, path):
        os.mkdir(self._at(path))

    def remove(self, path):
        os.unlink(self._at(path))

    def rename(self, old, new):
        os.rename(self._at(old), self._at(new))


@contextmanager
def process(*words):
    child = subprocess.Popen([*PAOS, *words], stdout=subprocess.PIPE, text=True)
    try:
        yield child.stdout.readline()
    finally:
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """Every interface of one home, which one process serves."""
    home = tmp_path_factory.mktemp("home") / "home"
    assert main(["--home", str(home), "onboard"]) == 0
    (home / "workspace" / "LESSONS.md").write_text("# Lessons\n\nThe left drawer sticks.\n")
    with ExitStack() as stack:
        said = stack.enter_context(
            process("--json", "--home", str(home), "serve", "--port", "0", "--serve-9p", f"{home}/9p.sock")
        )
        url = said.split('"url": "')[1].split('"')[0]
        token = (home / "auth_tokens.json").read_text().split('"admin_token": "')[1].split('"')[0]
        found = {"in process": InProcess(home), "socket": Socket(url, token), "9p": NineP(f"{home}/9p.sock")}
        for door in found.values():
            stack.callback(door.close)
        if not NO_FUSE:
            directory = home.parent / "tree"
            directory.mkdir()
            assert "mounted" in stack.enter_context(
                process("--home", str(home), "--as", "operator", "mount", "--foreground", str(directory))
            )
            found["mount"] = Mount(directory)
        yield found


WITH_FUSE = pytest.mark.skipif(bool(NO_FUSE), reason=f"nothing can be mounted here: {NO_FUSE}")
NAMES = ["in process", "socket", "9p", pytest.param("mount", marks=WITH_FUSE)]


@pytest.fixture(params=NAMES)
def door(request, doors):
    return doors[request.param]


def number(action, *words):
    """The errno that it is refused with; 0: it is not."""
    try:
        action(*words)
    except OSError as error:
        return error.errno
    return 0


@pytest.mark.parametrize("path", ["/", "/projects/main", "/nodes", "/agents"])
def test_the_names_are_the_same(doors, path):
    listed = {name: sorted(each.list(path)) for name, each in doors.items()}
    assert all(names == listed["in process"] for names in listed.values()), listed


@pytest.mark.parametrize("path", ["/projects/main/LESSONS.md", "/projects/main/README.md", "/SCHEMA.json"])
def test_the_bytes_and_the_size_are_the_same(doors, path):
    content = {each.read(path) for each in doors.values()}
    assert len(content) == 1
    assert {each.size(path) for each in doors.values()} == {len(content.pop())}


def test_a_bare_name_means_the_same_file_behind_the_socket_as_on_the_machine(doors, tmp_path):
    tree = ServerTree(doors["socket"]._world)
    for name in ("LESSONS.md", "artifacts", "artifacts/new.txt", "skills.json"):
        assert tree.path_of(name) == f"/projects/main/{name}"
    assert tree.path_of("nodes") == "/nodes"
    assert tree.path_of("ACTION.md") == "/nodes/franka_001/ACTION.md"
    assert nearest_path("/LESONS.md", tree.names) == "/projects/main/LESSONS.md"
    assert nearest_path("/zzz", tree.names) == ""


def test_what_one_writes_all_read(doors):
    for name, writer in doors.items():
        data = f"# Targets\n\nby {name}\n".encode() * 500
        writer.write("/projects/main/TARGETS.md", data)
        for reader in doors.values():
            until(lambda reader=reader, data=data: reader.read("/projects/main/TARGETS.md") == data)


def test_files_are_made_and_moved_and_removed(door):
    place = f"{ART}/{type(door).__name__}"
    door.mkdir(place)
    door.write(f"{place}/one.bin", bytes(range(256)) * 3_000)
    assert door.read(f"{place}/one.bin") == bytes(range(256)) * 3_000
    door.rename(f"{place}/one.bin", f"{place}/two.bin")
    assert door.list(place) == ["two.bin"]
    door.write(f"{place}/two.bin", b"")
    assert door.size(f"{place}/two.bin") == 0
    door.remove(f"{place}/two.bin")
    assert door.list(place) == []
    assert number(door.read, f"{place}/two.bin") == errno.ENOENT


@pytest.mark.parametrize(
    ("verb", "words", "expected"),
    [
        ("read", ["/projects/main/nothing.md"], errno.ENOENT),
        ("read", ["/projects/nothing/TASK.md"], errno.ENOENT),
        ("list", ["/nothing"], errno.ENOENT),
        ("write", ["/projects/main/ENVIRONMENT.md", b"lies"], errno.EACCES),
        ("write", ["/projects/main/README.md", b"mine"], errno.EACCES),
        ("remove", ["/projects/main/LESSONS.md"], errno.EACCES),
        ("remove", ["/projects/main/nothing.md"], errno.ENOENT),
        ("mkdir", ["/projects/main/nothing"], errno.EACCES),
        ("rename", ["/projects/main/nothing.md", "/projects/main/TARGETS.md"], errno.ENOENT),
        ("size", ["/projects/main/nothing.md"], errno.ENOENT),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_refusal_has_the_same_errno(doors, verb, words, expected):
    refused = {name: number(getattr(each, verb), *words) for name, each in doors.items()}
    assert set(refused.values()) == {expected}, refused
