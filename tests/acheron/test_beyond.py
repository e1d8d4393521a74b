"""What our server knows beyond the reference's words, used by our clients: files made, replaced, listed at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from worldfs.base.errors import Exists, NotFound, NotPermitted, WorldError
from worldfs.client.blocking import BlockingWorld, connect
from worldfs.testing.waiting import PATIENCE_S, until

from .stand import ROOT, Served, served

FS = "/nodes/node-1/fs/files"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shelf = tmp_path_factory.mktemp("shelf")
    (shelf / "old.txt").write_text("a long content")
    (shelf / "sub").mkdir()
    (shelf / "out").symlink_to("/etc")
    for number in range(300):
        (shelf / "sub" / f"文件 {number:03}").touch()
    return shelf


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, shelf: Path) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("home")) as server:
        with server.wire().greet() as admin:
            invite = admin.done("node_invite_create")["invite_token"]
        with _node(server, shelf, invite):
            yield server


@contextmanager
def _node(server: Served, shelf: Path, invite: str) -> Iterator[None]:
    words = ["--home", str(shelf.parent / "node"), "node", "--connect", server.url, "--name", "shelf"]
    node = subprocess.Popen(
        [sys.executable, "-m", "worldfs.interfaces.cli.main", *words, "--export", f"files={shelf}:rw"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PAOS_INVITE": invite},
        stdout=subprocess.DEVNULL,
    )
    try:
        with server.wire().greet() as admin:
            until(lambda: node.poll() is not None or not admin.code(f"{FS}/old.txt"))
        assert node.poll() is None
        yield
    finally:
        node.terminate()
        node.wait(PATIENCE_S)


@pytest.fixture
def world(server: Served) -> Iterator[BlockingWorld]:
    with connect(server.url, token=server.admin) as world:
        yield world


def test_a_file_is_made_made_shorter_and_made_large(world: BlockingWorld, shelf: Path) -> None:
    world.write(f"{FS}/新.txt", "new", create=True)
    assert (shelf / "新.txt").read_text() == "new"
    world.write(f"{FS}/old.txt", "short", replace=True)
    assert (shelf / "old.txt").read_text() == "short"
    large = os.urandom(5 << 20)
    assert world.write(f"{FS}/sub/large", large, create=True).n == len(large)
    assert (shelf / "sub/large").read_bytes() == large == world.read(f"{FS}/sub/large")
    world.write(f"{FS}/sub/large", b"", replace=True)
    assert (shelf / "sub/large").read_bytes() == b""
    world.mkdir(f"{FS}/made")
    assert (shelf / "made").is_dir()
    with pytest.raises(Exists):
        world.mkdir(f"{FS}/made")
    for path in (f"{FS}/no/such", f"{FS}/out/pwn", "/nodes/node-2/fs/files/x"):
        with pytest.raises((NotFound, NotPermitted)):
            world.write(path, b"x", create=True)
    with pytest.raises(NotPermitted):
        world.write("/nodes/new", b"x", create=True)
    with pytest.raises(NotFound):
        world.write(f"{FS}/absent", b"x")


def test_a_letter_is_made_by_its_first_write(world: BlockingWorld, server: Served) -> None:
    world.control("agent_ensure", {"agent_id": "bob"})
    project = world.control("project_create", {"name": "letters"})["project_id"]
    letter = {"id": "m-1", "from": "mother", "to": "bob", "subject": "s", "body": "苹果"}
    world.write("/agents/bob/inbox/m-1.json", json.dumps(letter), create=True)
    with connect(server.url, token=server.admin, agent="bob", project=project) as bob:
        (name,) = [name for name in bob.list("/agents/self/inbox") if name != "README.md"]
        assert json.loads(bob.read(f"/agents/self/inbox/{name}"))["body"] == "苹果"


def test_a_listing_tells_all_about_its_names_and_leaves_out_what_leads_outside(world: BlockingWorld) -> None:
    found = {place.name: place for place in world.entries(FS)}
    assert "out" not in found and found["sub"].directory and found["old.txt"].writable
    assert world.entries(f"{FS}/sub")[0] == world.stat(f"{FS}/sub/{world.list(f'{FS}/sub')[0]}")
    assert len(world.entries(f"{FS}/sub")) >= 300
    assert {place.path for place, _ in world.walk("/meta")} == {
        "/meta",
        *(f"/meta/{name}" for name in world.list("/meta")),
    }


def test_fsspec_makes_files_and_directories(server: Served, shelf: Path) -> None:
    pytest.importorskip("fsspec")
    from worldfs.client.filesystem import AcheronFileSystem

    fs = AcheronFileSystem(server.url, token=server.admin, skip_instance_cache=True)
    try:
        fs.makedirs(f"{FS}/by")
        with fs.open(f"{FS}/by/fsspec.txt", "wb") as file:
            file.write(b"one")
        assert (shelf / "by/fsspec.txt").read_bytes() == b"one"
        with pytest.raises(FileExistsError):
            fs.pipe_file(f"{FS}/by/fsspec.txt", b"x", mode="create")
        fs.makedirs(f"{FS}/by", exist_ok=True)
        assert [one["name"] for one in fs.ls(f"{FS}/by", detail=True)] == [f"{FS}/by/fsspec.txt"]
    finally:
        fs.close()


def test_the_command_makes_a_file_as_the_agent_that_it_is_told_to_be(server: Served, shelf: Path) -> None:
    with server.wire().greet() as admin:
        project = admin.done("project_create", {"name": "lab"})["project_id"]
        mount = {"project_id": project, "node_id": "node-1", "export_name": "files", "mount_path": "/src"}
        admin.done("project_mount_set", mount)
    done = subprocess.run(
        [sys.executable, "-m", "worldfs.interfaces.cli.main", "--home", str(server.home), "--connect", server.url,
         "--agent", "carol", "--project", project, "write", f"/projects/{project}/fs/mount::src/by-paos.txt"],
        check=False, input="hello\n", capture_output=True, text=True, timeout=PATIENCE_S,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PAOS_TOKEN": server.user},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (shelf / "by-paos.txt").read_text() == "hello\n"


def test_who_is_refused_is_told_what_mends_it(server: Served) -> None:
    with server.wire().greet() as admin:
        project = admin.done("project_create", {"name": "locked"})["project_id"]
        admin.done("project_token_rotate", {"project_id": project})
    for more, fix in (
        ({"agent": "al", "project": "nope"}, "project_list"),
        ({"agent": "al", "project": project}, "put its token into $PAOS_PROJECT_TOKEN"),
        ({"agent": "al", "project": project, "project_token": "proj-x"}, "not the project's current token"),
    ):
        with pytest.raises(WorldError) as refused:
            connect(server.url, token=server.user, **more)
        assert fix in str(refused.value)
