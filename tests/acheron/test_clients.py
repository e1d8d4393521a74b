"""Our clients against a real server: the asynchronous one, the blocking one, fsspec, and the command."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.command_run import run_command

from worldfs.base.errors import BadInput, NotFound, NotPermitted
from worldfs.client import RemoteWorld, RequestTimeout, RetryPolicy, blocking, connect
from worldfs.testing.free_port import free_port
from worldfs.testing.waiting import PATIENCE_S

from .stand import ROOT, Served, served

INPUT = "/agents/self/chat/control/input"
MEMORY = "/agents/self/memory"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("clients") / "home") as found:
        with found.wire() as admin:
            admin.done("version", {"protocol": "unified-v2"})
            admin.done("project_create", {"name": "Demo"})
        yield found


def over(server: Served, test: Callable[[RemoteWorld], Awaitable[None]], **more: Any) -> None:
    async def run() -> None:
        asked = {"token": server.admin, "agent": "alice", "project": "proj-1", **more}
        async with connect(server.url, **asked) as world:
            await test(world)

    asyncio.run(asyncio.wait_for(run(), PATIENCE_S))


def test_the_tree_is_read_listed_and_walked(server: Served) -> None:
    async def test(world: RemoteWorld) -> None:
        assert world.bound == ("admin", "alice", "proj-1", "main", "")
        assert {"agents", "meta", "nodes", "projects"} <= set(await world.list("/"))
        assert json.loads(await world.read("/meta/protocol.json"))["version"] == "acheron-1"
        walked = {place.path: place async for place, _ in world.walk("/")}
        assert f"{MEMORY}/control/create.json" in walked and walked["/"].id == 1
        for path in ("/agents/self", "/projects/proj-1/meta/view.json", "/nope"):
            assert (path in walked) == await world.exists(path), path
        text = await world.read("/agents/self/README.md")
        assert walked["/agents/self/README.md"].size == len(text)
        with pytest.raises(NotPermitted) as caught:
            await world.write("/README.md", "x")
        assert caught.value.code == "eperm"

    over(server, test)


def test_a_stat_keeps_its_order_among_hundreds(server: Served) -> None:
    async def test(world: RemoteWorld) -> None:
        paths = [f"/meta/{name}" for name in await world.list("/meta")] * 20
        found = await asyncio.gather(*(world.stat(path) for path in paths))
        assert [place.path for place in found] == paths
        before = {path: await world.read(path) for path in set(paths)}
        read = await asyncio.gather(*(world.read(path) for path in paths))
        still = {path for path, data in before.items() if await world.read(path) == data}  # no figure of the moment
        assert len(set(read)) >= 5 and len(still) >= 3
        assert all(data == before[path] for path, data in zip(paths, read, strict=True) if path in still)

    over(server, test)


def test_a_service_is_invoked_and_answers(server: Served) -> None:
    async def test(world: RemoteWorld) -> None:
        made = await world.invoke(MEMORY, "memory_create", {"kind": "note", "name": "n1", "content": "hello"})
        assert made.ok and made.payload["mem_id"] == "<EOT>alice:primary:n1:1<EOT>"
        found = await world.invoke(f"{MEMORY}/control/search.json", args={"query": "hello"})
        assert [row["mem_id"] for row in found.payload["results"]] == [made.payload["mem_id"]]
        wrong = await world.invoke(f"{MEMORY}", "memory_create", {"kind": "note"})
        assert (wrong.ok, wrong.code) == (False, "invalid_args")
        with pytest.raises(BadInput):
            await world.invoke(MEMORY, "web_search", {"query": "x"})
        many = await asyncio.gather(
            *(world.invoke(MEMORY, "memory_create", {"kind": "k", "name": f"m{at}", "content": at}) for at in range(20))
        )
        assert [row.payload["mem_id"] for row in many] == [f"<EOT>alice:primary:m{at}:1<EOT>" for at in range(20)]

    over(server, test)


def test_a_chat_is_a_job_that_ends(server: Served) -> None:
    async def test(world: RemoteWorld) -> None:
        job = await world.chat("hello there", correlation="c-1")
        ended = await job.result(PATIENCE_S)
        # This home has no brain: the job says so, and that is an answer.
        assert (ended.id, ended.ok, ended.correlation_id) == (job.id, False, "c-1") and "brain" in ended.error
        assert await job.state() == "failed"
        assert await job.log()
        with pytest.raises(NotFound):
            await world.job("job-99999").state()

    over(server, test)


def test_ends_are_watched_and_none_is_missed(server: Served) -> None:
    async def test(world: RemoteWorld) -> None:
        watching = world.watch(INPUT, since="now", timeout=PATIENCE_S)
        first = asyncio.create_task(anext(watching))  # type: ignore[arg-type] # an awaitable that is a coroutine
        while not first.done():  # until it watches
            await world.chat("is anybody watching?")
            await asyncio.sleep(0.1)
        jobs = [await world.chat(f"number {at}") for at in range(3)]
        told, mine = [await first], {job.id for job in jobs}
        while not mine <= {event.job["job_id"] for event in told}:
            told.append(await anext(watching))
        seqs = [event.seq for event in told]
        assert seqs == sorted(set(seqs))
        told = [event for event in told if event.job["job_id"] in mine]
        assert sorted(event.job["job_id"] for event in told) == sorted(job.id for job in jobs)
        await watching.aclose()  # type: ignore[attr-defined] # an async generator, declared as what it is for

    over(server, test)


def test_a_change_is_waited_for(server: Served) -> None:
    async def test(world: RemoteWorld) -> None:
        path = "/projects/proj-1/meta/workspace_status.json"
        waiting = asyncio.create_task(world.wait(path, "/waited-for", timeout=PATIENCE_S))
        await asyncio.sleep(0.5)
        assert not waiting.done()
        invite = (await world.control("node_invite_create"))["invite_token"]
        node = (await world.control("node_join", {"invite_token": invite, "node_name": "w"}))["node_id"]
        mount = {"project_id": "proj-1", "node_id": node, "export_name": "x", "mount_path": "/waited-for"}
        await world.control("project_mount_set", mount)
        found = await waiting
        assert found is not None and b"/waited-for" in found
        assert await world.wait("/meta/protocol.json", timeout=0.2) is None

    over(server, test)


def test_a_blocking_read_that_is_given_up_leaves_the_connection_whole(server: Served) -> None:
    async def test(world: RemoteWorld) -> None:
        await world.write(
            "/agents/self/events/control/wait.json", json.dumps({"paths": [INPUT], "timeout_ms": 60000, "since": "now"})
        )
        with pytest.raises(RequestTimeout):
            await world.read("/agents/self/events/next.json", timeout=0.2)
        reading = asyncio.create_task(world.read("/agents/self/events/next.json"))
        await asyncio.sleep(0.1)
        reading.cancel()
        assert (await world.stat("/")).directory
        assert json.loads(await world.read("/agents/self/events/next.json", wait=0))["waiting"] is True

    over(server, test)


def test_pushes_reach_who_asked_for_them(server: Served) -> None:
    async def test(world: RemoteWorld) -> None:
        invite = (await world.control("node_invite_create"))["invite_token"]
        joined = await world.control("node_join", {"invite_token": invite, "node_name": "p"})
        await world.control("node_service_watch", {"node_id": joined["node_id"]})
        service = {"service_id": "s", "kind": "s", "state": "online", "endpoints": [f"/nodes/{joined['node_id']}/s"]}
        secret = {"node_id": joined["node_id"], "node_secret": joined["node_secret"]}
        await world.control("node_service_upsert", {**secret, "services": [service]})
        push = await asyncio.wait_for(anext(world.pushes()), PATIENCE_S)  # type: ignore[arg-type] # as above
        assert push.type == "control.node_service_event"
        assert push.payload["service_delta"]["added"][0]["service_id"] == "s"

    over(server, test)


def test_a_server_that_comes_back_is_found_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    port = str(free_port())
    with served(home, port=port) as server:
        world = blocking.connect(server.url, token=server.admin, retry=RetryPolicy(20, 0.1, 0.5))
        assert world.exists("/meta")
        server.process.kill()
        server.process.wait()
        with served(home, port=port):
            assert world.list("/meta")
            world.close()
        # The fixture looks for a server that still runs; this one was killed on purpose.
        server.gone = True


def test_the_command_speaks_to_it(server: Served, tmp_path: Path) -> None:
    place = ("--home", str(server.home), "--connect", f"{server.url}/?agent=alice&project=proj-1")

    def paos(*words: str, stdin: str = "") -> tuple[int, str, str]:
        done = run_command(*place, *words, text=stdin, environ={"PAOS_TOKEN": ""})
        return done.returncode, done.stdout, done.stderr

    program = [sys.executable, "-m", "worldfs.interfaces.cli.main", *place, "ls"]  # once as a process of its own
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PAOS_TOKEN": ""}
    listed = subprocess.run(program, check=False, capture_output=True, text=True, timeout=PATIENCE_S, env=environ)
    assert "agents/" in listed.stdout.split()
    assert paos("ls")[1] == listed.stdout
    assert json.loads(paos("cat", "/meta/protocol.json")[1])["version"] == "acheron-1"
    assert "/agents/self/chat/control/input" in paos("walk", "/agents/self")[1].split()
    code, said, _ = paos("--json", "write", INPUT, stdin="hello")
    job = json.loads(said)["job"]
    assert code == 0 and json.loads(paos("cat", f"/agents/self/jobs/{job}/status.json")[1])["state"] == "failed"
    assert paos("wait", f"/agents/self/jobs/{job}/status.json", "--until", "failed", "--timeout", "10")[0] == 0
    assert "33060" not in paos("stat", f"/agents/self/jobs/{job}/result.txt")[1]
    code, _, err = paos("cat", "/nope")
    assert code == 2 and "/nope" in err


def test_fsspec_opens_its_paths(server: Served) -> None:
    fsspec = pytest.importorskip("fsspec")
    from worldfs.client.filesystem import AcheronFileSystem

    fs = AcheronFileSystem(server.url, token=server.admin, agent="alice", project="proj-1", skip_instance_cache=True)
    try:
        assert "/meta/protocol.json" in fs.find("/meta")
        assert fs.glob("/agents/self/*/CAPS.json")
        with fs.open("/meta/protocol.json") as file:
            assert json.load(file)["version"] == "acheron-1"
        with fs.open(f"{MEMORY}/control/create.json", "wb") as file:
            file.write(json.dumps({"kind": "k", "name": "by-fsspec", "content": "x" * 300_000}).encode())
        assert json.loads(fs.cat_file(f"{MEMORY}/status.json"))["state"] == "done"
        with pytest.raises(PermissionError):
            fs.pipe_file("/README.md", b"x")
    finally:
        fs.close()
    assert fsspec
