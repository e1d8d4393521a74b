"""The specification's matrix, cell by cell, through mounts of each role."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.acceptance.test_rights_at_the_door import CELLS, MATRIX, ROLES

from worldfs.access.binding import binding_of_role
from worldfs.base.clock import SystemClock
from worldfs.interfaces.mount import mount_point
from worldfs.interfaces.mount.mount_life import MountOptions, serve_mount
from worldfs.interfaces.posix.namespace_files import realm_files
from worldfs.testing.waiting import PATIENCE_S
from worldfs.world.served_world import ServedWorld
from worldfs.world.world import PROJECT

from .mounted import abort

OF_A_NODE = ("EMBODIED.md", "ACTION.md")


@pytest.fixture(scope="module")
def mounts(shared_home, tmp_path_factory):
    """A directory for each role: all of them served by one loop in a thread."""
    for name in MATRIX.keys() - {"ACTION.md", "ROBOTS.md"}:
        (shared_home / "workspace" / name).write_text(f"# {name}\n")
    places = {role: tmp_path_factory.mktemp(role) for role in ROLES}
    ready = threading.Barrier(len(ROLES) + 1, timeout=PATIENCE_S)
    servers = []

    async def life(realm, threads):
        loop = asyncio.get_running_loop()

        def mounted(server):
            servers.append((loop, server))
            loop.run_in_executor(None, ready.wait)

        serving = []
        for role, place in places.items():
            tree = realm_files(realm, binding_of_role(role, "", PROJECT), threads)
            options = MountOptions(place, os.geteuid(), os.getegid())
            serving.append(serve_mount(tree, options, SystemClock(), mounted, signals=False))
        await asyncio.gather(*serving)

    def run():
        clock = SystemClock()
        with (
            ServedWorld.open(shared_home, clock=clock, agents=shared_home / "agents", memory_only=True) as realm,
            ThreadPoolExecutor(4) as threads,
        ):
            asyncio.run(life(realm, threads))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        ready.wait()
        yield places
    finally:
        for loop, server in servers:
            loop.call_soon_threadsafe(server.ended.set)
        thread.join(PATIENCE_S)
        for place in places.values():
            if mount_point.mounted(place):
                abort(place)
                mount_point.unmount(place, lazy=True)


@pytest.mark.parametrize(("name", "role", "cell"), CELLS, ids=[f"{name}-{role}" for name, role, _ in CELLS])
def test_each_cell_of_the_matrix_holds_on_the_mount(mounts, name, role, cell):
    node = next(entry for entry in sorted(os.listdir(mounts["watchdog"] / "nodes")) if "." not in entry)
    path = mounts[role] / (f"nodes/{node}/{name}" if name in OF_A_NODE else f"projects/main/{name}")
    if cell == "-":
        assert not path.exists()
        assert not path.parent.exists() or name not in os.listdir(path.parent)
    else:
        data = path.read_bytes()
        assert data
        assert path.stat().st_size == len(data)
        assert os.access(path, os.W_OK) == ("W" in cell)
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError as error:
        assert "W" not in cell
        assert error.errno == (errno.ENOENT if cell == "-" else errno.EACCES)
        for create in (os.O_CREAT, os.O_CREAT | os.O_EXCL):
            with pytest.raises(OSError) as caught:
                os.open(path, os.O_WRONLY | create)
            assert caught.value.errno in (errno.EACCES, errno.ENOENT, errno.EEXIST)
    else:
        os.close(fd)
        assert "W" in cell
