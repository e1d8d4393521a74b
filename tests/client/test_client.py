"""The client against a tiny server: what it says on the wire, and what it makes of the answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.errors import BadInput, Busy, NotFound, NotPermitted
from worldfs.client import ConnectionLost, RemoteWorld, RequestTimeout, RetryPolicy, connect
from worldfs.client.address import find_token, home_of, parse
from worldfs.testing.waiting import PATIENCE_S, soon

from .far import INPUT, TOKEN, Far, far_server

JOB = "/agents/self/jobs/job-1"


def over(test: Callable[[Far, RemoteWorld], Awaitable[None]], far: Far | None = None, **more: Any) -> Far:
    """Run a test over one connection, and look afterwards that every fid was given back."""

    async def run() -> Far:
        async with far_server(far) as served:
            async with connect(served.url, token=TOKEN, timeout=PATIENCE_S, **more) as world:
                await test(served, world)
                await soon(lambda: all(set(fids) <= {1} for fids in served.fids), "a fid is left")
                await soon(lambda: world._tree is None or not world._tree.rpc.alive or world._tree.rpc.waiting == 0)
            return served

    return asyncio.run(asyncio.wait_for(run(), PATIENCE_S))


def alone(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, PATIENCE_S))


def test_the_greeting_is_in_the_order_that_servers_expect() -> None:
    async def test(far: Far, world: RemoteWorld) -> None:
        assert world.bound == ("admin", "alice", "proj-1", "main", "")

    far = over(test, agent="alice", project="proj-1")
    assert far.types()[:6] == [
        "control.version",
        "control.connect",
        "control.agent_ensure",
        "control.session_attach",
        "acheron.t_version",
        "acheron.t_attach",
    ]


def test_a_server_that_does_not_know_agent_ensure_is_greeted_all_the_same() -> None:
    far = Far()
    far.unknown.add("control.agent_ensure")

    async def test(far: Far, world: RemoteWorld) -> None:
        assert await world.read("/README.md") == b"# Far\n"

    over(test, far, agent="alice")


def test_a_warming_agent_is_waited_for_with_heartbeats() -> None:
    far = Far()
    far.states = ["warming", "warming", "ready"]

    async def test(far: Far, world: RemoteWorld) -> None:
        assert far.types().count("control.session_status") == 2

    over(test, far, agent="alice")


def test_an_agent_that_cannot_be_attached_is_an_error_with_its_code() -> None:
    async def run() -> None:
        far = Far()
        far.states = ["error"]
        async with far_server(far):
            with pytest.raises(Busy) as caught:
                await connect(far.url, token=TOKEN, agent="alice")
        assert caught.value.code == "mount_failed"

    alone(run())


@pytest.mark.parametrize(
    ("agents", "expected", "fix"),
    [
        (["mother", "rio"], "one of: mother, rio", "did you mean rio?"),
        (["mother"], "one of: mother", ""),
        (None, "", ""),
        ([], "", ""),
    ],
)
def test_an_agent_that_is_not_there_is_answered_with_what_the_server_is_known_to_have(
    agents: list[str] | None, expected: str, fix: str
) -> None:
    """No hint makes one: a command that makes an agent works on this machine, and the server has its own."""

    async def run() -> None:
        far = Far()
        far.absent, far.agents = True, agents
        async with far_server(far):
            with pytest.raises(NotFound, match="no agent 'roi'") as caught:
                await connect(far.url, token=TOKEN, agent="roi", new_agent=False)
        assert (caught.value.expected, caught.value.fix) == (expected, fix)

    alone(run())


def test_a_wrong_token_says_what_to_do() -> None:
    async def run() -> None:
        async with far_server() as far:
            with pytest.raises(NotPermitted, match="PAOS_TOKEN") as caught:
                await connect(far.url, token="wrong", timeout=PATIENCE_S)
        assert caught.value.code == "provider_auth_failed"

    alone(run())


def test_nobody_there_is_a_lost_connection() -> None:
    async def run() -> None:
        async with far_server() as far:
            url = far.url
        with pytest.raises(ConnectionLost):
            await connect(url, token=TOKEN, timeout=PATIENCE_S)

    alone(run())


def test_files_and_directories_are_read_and_told_apart() -> None:
    async def test(far: Far, world: RemoteWorld) -> None:
        assert await world.list("/") == ["README.md", "agents", "meta", "nodes"]
        assert await world.read("/meta/protocol.json", offset=2, count=7) == b"version"
        place = await world.stat(INPUT)
        assert (place.directory, place.writable, place.mode) == (False, True, 0o100644)
        assert await world.exists("/meta") and not await world.exists("/nope")
        for asked, code in ((world.read("/meta"), "eisdir"), (world.list("/README.md"), "enotdir")):
            with pytest.raises(BadInput) as caught:
                await asked
            assert caught.value.code == code
        with pytest.raises(NotFound) as missing:
            await world.stat("/nope")
        assert (missing.value.code, missing.value.path) == ("enoent", "/nope")

    over(test)


def test_a_file_larger_than_a_frame_is_read_and_written_in_pieces() -> None:
    far = Far()
    far.msize = 8192
    whole = bytes(range(256)) * 200
    far.files["/nodes/n/fs/big"] = whole
    far.writable.add("/nodes/n/fs/big")

    async def test(far: Far, world: RemoteWorld) -> None:
        assert await world.read("/nodes/n/fs/big") == whole
        assert await world.read("/nodes/n/fs/big", offset=100, count=30_000) == whole[100:30_100]
        other = whole[::-1]
        assert (await world.write("/nodes/n/fs/big", other)).n == len(other)
        assert far.files["/nodes/n/fs/big"] == other
        async with await world.open("/nodes/n/fs/big") as file:
            assert await file.read(10, 5) == other[5:15]
            assert await file.read(30_000, 5) == other[5:30_005]

    over(test, far)


def test_a_control_is_written_once_and_whole_or_not_at_all() -> None:
    far = Far()
    far.msize = 8192

    async def test(far: Far, world: RemoteWorld) -> None:
        with pytest.raises(BadInput, match="do not fit one frame"):
            await world.write("/agents/self/memory/control/invoke.json", b"x" * 9000)
        assert "acheron.t_write" not in far.types()

    over(test, far)


def test_a_replacement_that_would_keep_a_tail_is_refused() -> None:
    far = Far()
    far.files["/nodes/n/fs/a"] = b"a longer text"
    far.writable.add("/nodes/n/fs/a")

    async def test(far: Far, world: RemoteWorld) -> None:
        with pytest.raises(BadInput, match="shorter") as caught:
            await world.write("/nodes/n/fs/a", b"short", replace=True)
        assert caught.value.code == "unsupported"
        await world.write("/nodes/n/fs/a", b"short")
        assert far.files["/nodes/n/fs/a"] == b"shortger text"
        await world.write("/nodes/n/fs/a", b"now of the same length or more", replace=True)

    over(test, far)


def test_a_stat_costs_one_round_trip() -> None:
    async def test(far: Far, world: RemoteWorld) -> None:
        far.asked.clear()
        far.deaf.add("acheron.t_walk")
        world.timeout = 0.05
        with pytest.raises(RequestTimeout):
            await world.stat("/meta")
        await soon(lambda: "acheron.t_flush" in far.types())
        # The later ones had left although the first was never answered.
        assert far.types()[:3] == ["acheron.t_walk", "acheron.t_stat", "acheron.t_flush"]

    async def run() -> None:
        async with far_server() as far, connect(far.url, token=TOKEN) as world:
            await test(far, world)

    alone(run())


def test_hundreds_of_requests_share_a_connection_beside_blocking_ones() -> None:
    far = Far()
    far.files[f"{JOB}/result.txt"] = b"done"
    far.blocking[f"{JOB}/result.txt"] = asyncio.Event()

    async def test(far: Far, world: RemoteWorld) -> None:
        blocked = [asyncio.create_task(world.read(f"{JOB}/result.txt")) for _ in range(20)]
        await asyncio.gather(*(world.stat("/README.md") for _ in range(300)))
        assert not any(task.done() for task in blocked)
        far.blocking[f"{JOB}/result.txt"].set()
        assert await asyncio.gather(*blocked) == [b"done"] * 20
        assert len(far.connections) == 1

    over(test, far)


def test_fid_numbers_are_used_again_and_tags_skip_zero() -> None:
    async def test(far: Far, world: RemoteWorld) -> None:
        for _ in range(50):
            await world.stat("/README.md")
        assert max(frame.newfid or 0 for frame in far.asked) <= 4
        assert all(frame.tag != 0 for frame in far.asked)

    over(test)


def test_giving_up_a_read_flushes_it() -> None:
    far = Far()
    far.files[f"{JOB}/result.txt"] = b"done"
    far.blocking[f"{JOB}/result.txt"] = asyncio.Event()

    async def test(far: Far, world: RemoteWorld) -> None:
        task = asyncio.create_task(world.read(f"{JOB}/result.txt"))
        await soon(lambda: "acheron.t_read" in far.types() and world._tree.rpc.waiting == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(RequestTimeout):
            await world.read(f"{JOB}/result.txt", timeout=0.05)
        assert await world.read("/README.md") == b"# Far\n"
        first, second = [frame.tag for frame in far.asked if frame.type == "acheron.t_read"][:2]
        await soon(lambda: {first, second} <= set(far.flushed()), "a read that was given up is left")
        assert far.flushed()[0] == first

    over(test, far)


@pytest.mark.parametrize("give_up", ["timeout", "cancel"])
def test_giving_up_before_the_walk_is_answered_flushes_all_that_was_sent_with_it(give_up: str) -> None:
    far = Far()
    together = [f"acheron.t_{op}" for op in ("walk", "open", "read")]
    far.deaf.update(together)

    async def test(far: Far, world: RemoteWorld) -> None:
        task = asyncio.create_task(world.read("/README.md", timeout=0.05 if give_up == "timeout" else PATIENCE_S))
        await soon(lambda: set(together) <= set(far.types()))
        if give_up == "cancel":
            task.cancel()
        with pytest.raises(RequestTimeout if give_up == "timeout" else asyncio.CancelledError):
            await task
        tags = [frame.tag for frame in far.asked if frame.type in together]
        await soon(lambda: far.flushed() == tags, "what was sent with the walk is left")

    over(test, far)


def test_wait_says_how_long_the_server_may_block() -> None:
    far = Far()
    far.files[f"{JOB}/status.json"] = b'{"state":"running"}'
    far.blocking[f"{JOB}/status.json"] = asyncio.Event()

    async def test(far: Far, world: RemoteWorld) -> None:
        assert await world.read(f"{JOB}/status.json", wait=0) == b'{"state":"running"}'
        assert await world.read(f"{JOB}/status.json", wait=0.05) == b'{"state":"running"}'
        assert [frame.wait_ms for frame in far.asked if frame.type == "acheron.t_read"] == [0, 50]

    over(test, far)


def test_a_chat_becomes_a_job_whose_end_can_be_waited_for() -> None:
    far = Far()
    far.files[f"{JOB}/status.json"] = b'{"state":"running","correlation_id":"c-9","error":null}'
    far.files[f"{JOB}/result.txt"] = b""
    far.blocking[f"{JOB}/status.json"] = asyncio.Event()

    async def test(far: Far, world: RemoteWorld) -> None:
        job = await world.chat("clear the table", correlation="c-9")
        assert (job.id, job.correlation_id, await job.state()) == ("job-1", "c-9", "running")
        with pytest.raises(RequestTimeout):
            await job.result(0.1)
        asked = len(far.asked)
        waiting = asyncio.create_task(job.result())
        await soon(lambda: "acheron.t_read" in far.types()[asked:])
        far.files[f"{JOB}/status.json"] = (
            b'{"state":"failed","correlation_id":"c-9","error":"timeout: too slow","updated_at_ms":7}'
        )
        far.files[f"{JOB}/result.txt"] = b"too slow"
        far.blocking[f"{JOB}/status.json"].set()
        assert await waiting == ("job-1", False, "too slow", "timeout: too slow", "c-9", 7)
        with pytest.raises(BadInput, match="blank"):
            await world.chat("  ")

    over(test, far)


def test_an_invoke_answers_with_the_payload_or_the_error() -> None:
    async def test(far: Far, world: RemoteWorld) -> None:
        place = "/agents/self/memory"
        far.files[f"{place}/status.json"] = b'{"state":"done"}'
        far.files[f"{place}/result.json"] = b'{"results":[]}'
        found = await world.invoke(place, "memory_search", {"query": "x"})
        assert (found.ok, found.payload) == (True, {"results": []})
        sent = [frame for frame in far.asked if frame.type == "acheron.t_write"]
        assert json.loads(sent[0].bytes() or b"") == {"tool_name": "memory_search", "arguments": {"query": "x"}}
        far.files[f"{place}/status.json"] = b'{"state":"failed"}'
        far.files[f"{place}/result.json"] = b'{"error":{"code":"invalid_args","message":"no"}}'
        found = await world.invoke(place, "memory_search")
        assert (found.ok, found.code, found.message) == (False, "invalid_args", "no")

    over(test)


def test_a_control_operation_carries_an_id_and_its_refusal_keeps_the_code() -> None:
    async def test(far: Far, world: RemoteWorld) -> None:
        assert await world.control("node_list") == {"nodes": []}
        with pytest.raises(NotFound) as caught:
            await world.control("node_get", {"node_id": "x"}, correlation="corr")
        assert caught.value.code == "node_not_found"
        assert far.asked[-1].id and far.asked[-1].correlation_id == "corr"

    over(test)


def test_an_error_without_a_name_is_for_the_oldest_that_waits() -> None:
    far = Far()
    far.unknown.add("control.bogus")

    async def test(far: Far, world: RemoteWorld) -> None:
        with pytest.raises(BadInput) as caught:
            await world.control("bogus")
        assert caught.value.code == "invalid_envelope"
        assert await world.control("ping") == {}

    over(test, far)


def test_a_lost_connection_ends_what_waits_and_says_whether_it_had_left() -> None:
    async def test(far: Far, world: RemoteWorld) -> None:
        far.deaf.add("acheron.t_write")
        writing = asyncio.create_task(world.write(INPUT, "hello"))
        await soon(lambda: "acheron.t_write" in far.types())
        await far.connections[0].close()
        with pytest.raises(ConnectionLost, match="check before you repeat") as caught:
            await writing
        assert caught.value.sent
        with pytest.raises(ConnectionLost) as after:
            await world.write(INPUT, "hello")
        assert not after.value.sent

    over(test)


def test_a_connection_is_made_again_for_what_changes_nothing() -> None:
    async def test(far: Far, world: RemoteWorld) -> None:
        far.deaf = {"acheron.t_stat"}
        looking = asyncio.create_task(world.stat("/meta"))
        await soon(lambda: "acheron.t_stat" in far.types())
        far.deaf = {"acheron.t_write"}
        far.connections[0].transport.abort()
        assert (await looking).directory
        writing = asyncio.create_task(world.write(INPUT, "hello"))
        await soon(lambda: "acheron.t_write" in far.types())
        far.connections[1].transport.abort()
        with pytest.raises(ConnectionLost):
            await writing
        assert far.types().count("acheron.t_write") == 1
        assert await world.read("/README.md") == b"# Far\n"

    over(test, retry=RetryPolicy(3, 0.01))


def test_a_walk_gives_every_place_parents_first() -> None:
    async def test(far: Far, world: RemoteWorld) -> None:
        found = [place.path async for place, _ in world.walk("/")]
        assert found[0] == "/"
        places = set(far.files)
        for path in far.files:
            while path := path.rpartition("/")[0]:
                places.add(path)
        assert set(found) == places | {"/"}
        assert len(found) == len(set(found))
        assert all(found.index(path.rpartition("/")[0] or "/") < found.index(path) for path in found[1:])
        assert [place.path async for place, _ in world.walk("/meta")] == ["/meta", "/meta/protocol.json"]
        assert [place.path async for place, _ in world.walk("/README.md")] == ["/README.md"]
        shallow = [place.path async for place, _ in world.walk("/", depth=0)]
        assert shallow == ["/", "/README.md", "/agents", "/meta", "/nodes"]

    over(test)


def test_a_walk_that_is_left_leaves_nothing_behind() -> None:
    async def test(far: Far, world: RemoteWorld) -> None:
        walking = world.walk("/")
        async for _place, _names in walking:
            break
        await walking.aclose()  # type: ignore[attr-defined] # an async generator, declared as what it is for

    over(test)


WAIT, NEXT = "/agents/self/events/control/wait.json", "/agents/self/events/next.json"


def test_a_watch_has_a_connection_of_its_own_and_gives_it_back() -> None:
    far = Far()
    far.files[WAIT] = b""
    far.writable.add(WAIT)
    event = {"configured": True, "waiting": False, "event_id": 1, "seq": 41, "source_path": INPUT, "event_path": JOB}
    far.files[NEXT] = json.dumps({**event, "job": {"job_id": "job-1"}}).encode()

    async def test(far: Far, world: RemoteWorld) -> None:
        watching = world.watch(since="now", timeout=200)
        found = await anext(watching)
        assert (found.seq, found.source_path, found.job) == (41, INPUT, {"job_id": "job-1"})
        assert json.loads(far.files[WAIT]) == {"paths": [INPUT], "timeout_ms": 200_000, "since": "now"}
        assert len(far.connections) == 2
        await watching.aclose()  # type: ignore[attr-defined] # as above

    over(test, far)


def test_a_wait_falls_back_to_looking_where_a_server_cannot_tell_of_changes() -> None:
    far = Far()

    async def test(far: Far, world: RemoteWorld) -> None:
        # Here wait.json does not exist at all: that is no server of ours, and it says so.
        with pytest.raises(NotFound):
            await world.wait("/README.md", timeout=PATIENCE_S)
        far.files[WAIT] = b""
        far.writable.add(WAIT)
        far.files[NEXT] = b'{"configured":true,"waiting":true,"timeout":true}'
        waiting = asyncio.create_task(world.wait("/README.md", timeout=PATIENCE_S))
        asked = len(far.asked)
        await soon(lambda: "acheron.t_read" in far.types()[asked:])
        far.files["/README.md"] = b"# Changed\n"
        assert await waiting == b"# Changed\n"
        assert await world.wait("/README.md", "Changed") == b"# Changed\n"
        assert await world.wait("/README.md", timeout=0.05) is None

    over(test, far)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("127.0.0.1", "ws://127.0.0.1:18790/"),
        ("host:1", "ws://host:1/"),
        ("wss://host/x", "wss://host:18790/x"),
        ("ws://[::1]:5", "ws://[::1]:5/"),
    ],
)
def test_an_address_may_be_short(text: str, url: str) -> None:
    assert parse(text).url == url


def test_an_address_may_say_what_to_be_bound_to() -> None:
    assert parse("ws://h:1/?agent=alice&project=p")[1:] == ("alice", "p")


@pytest.mark.parametrize("text", ["http://h", "ws://", "ws://h:99999", "ws://token@h"])
def test_a_bad_address_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse(text)


def test_the_token_comes_from_a_file_the_environment_or_the_home(tmp_path: Path) -> None:
    home, file = tmp_path / "auth_tokens.json", tmp_path / "token"
    home.write_text('{"schema":3,"admin_token":"a","user_token":"u"}')
    file.write_text("bare\n")
    environ = {"PAOS_TOKEN": "from-the-environment"}
    assert find_token(environ, file=str(file), home=str(tmp_path)) == "bare"
    assert find_token(environ, home=str(tmp_path)) == "from-the-environment"
    assert find_token({}, home=str(tmp_path)) == "a"
    assert find_token({}, home=str(tmp_path / "none")) == ""
    assert home_of({"PAOS_HOME": str(tmp_path)}) == str(tmp_path)
    assert home_of({}) == str(Path("~/.PhyAgentOS").expanduser())
    with pytest.raises(NotFound):
        find_token({}, file=str(tmp_path / "none"))
    file.write_text("{}")
    with pytest.raises(BadInput):
        find_token({}, file=str(file))
