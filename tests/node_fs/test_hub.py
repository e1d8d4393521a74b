"""Tunnels: who gets in, whose tunnel stands, tags and handles of clients, and the tree's own way through them."""

import asyncio
import errno
import gc
import json
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedOK

from worldfs.base.errors import BadInput, Exists, NotFound, NotPermitted, WorldError
from worldfs.formats.wire.frames import Frame
from worldfs.plugins.node_fs.directory_source import DirectorySource
from worldfs.plugins.node_fs.fs_client import FsClient
from worldfs.plugins.node_fs.fs_errors import FsError, Unreachable
from worldfs.plugins.node_fs.fs_rpc_client import FsRpcClient
from worldfs.plugins.node_fs.fs_server import FRAME_MAX, FsServer
from worldfs.plugins.node_fs.tunnel_hub import TunnelHub
from worldfs.testing.export_server import TOKEN, run, websocket_server

HELLO = {"protocol": "unified-v2-fs", "proto": 2}


class Keeper:
    """Nodes and their secrets."""

    def __init__(self, **secrets):
        self.secrets = {"edge": TOKEN, **secrets}

    def node_secret_valid(self, node_id, secret):
        return bool(secret) and self.secrets.get(node_id) == secret


@asynccontextmanager
async def hubbed(keeper=None, **options):
    """A hub and its URL; paths as on the server."""
    hub = TunnelHub(keeper or Keeper(), **options)

    async def handler(wire):
        path = wire.request.path
        if path == "/v2/node":
            await hub.serve_tunnel(wire)
        else:
            await hub.serve_client(wire, path.rpartition("/")[2])

    async with websocket_server(handler) as url:
        try:
            yield hub, url
        finally:
            await hub.close()


@asynccontextmanager
async def tunnelled(hub, url, *sources, node="edge", secret=TOKEN):
    """A node's side of a tunnel, serving these exports."""
    server = FsServer(sources, secret)
    async with connect(f"{url}/v2/node", max_size=FRAME_MAX, compression=None) as wire:
        said = await ask(wire, "hello", {**HELLO, "node_id": node, "node_secret": secret})
        assert said["payload"] == {**HELLO, "node_id": node}
        task = asyncio.create_task(server.serve(wire))
        while hub.mounted(node) is None:
            await asyncio.sleep(0.005)
        try:
            yield wire
        finally:
            await wire.close()
            await task
            server.close()


async def ask(wire, op, payload=None, tag=1, **top):
    await wire.send(
        json.dumps({"channel": "acheron", "type": f"acheron.t_fs_{op}", "tag": tag, "payload": payload, **top})
    )
    return json.loads(await wire.recv())


def client(url, node="edge", **options):
    return FsClient.connect(f"{url}/v2/fs/node/{node}", TOKEN, **options)


@pytest.mark.parametrize(
    ("payload", "number", "message"),
    [
        ({**HELLO, "node_id": "edge", "node_secret": "wrong"}, errno.EACCES, "NodeAuthFailed"),
        ({**HELLO, "node_id": "other", "node_secret": TOKEN}, errno.EACCES, "NodeAuthFailed"),
        ({**HELLO, "node_id": "edge", "node_secret": ""}, errno.EACCES, "NodeAuthFailed"),
        ({**HELLO, "node_id": "edge"}, errno.EACCES, "NodeAuthFailed"),
        ({**HELLO, "proto": 3, "node_id": "edge", "node_secret": TOKEN}, errno.EINVAL, "ProtocolMismatch"),
    ],
)
def test_a_tunnel_that_proves_nothing_is_refused_and_closed(payload, number, message):
    async def work():
        async with hubbed() as (hub, url), connect(f"{url}/v2/node") as wire:
            said = await ask(wire, "hello", payload)
            assert said["error"] == {"errno": number, "message": message}
            await wire.wait_closed()
            assert hub.nodes() == []

    run(work())


def test_a_client_of_a_node_without_tunnel_is_told_so(source):
    async def work():
        async with hubbed() as (_, url):
            with pytest.raises(FsError, match="node tunnel is unavailable") as caught:
                await client(url)
            assert caught.value.number == errno.EIO

    run(work())


def test_two_clients_share_a_tunnel_with_tags_and_handles_of_their_own(source):
    async def work():
        async with (
            hubbed() as (hub, url),
            tunnelled(hub, url, source),
            await client(url) as one,
            await client(url) as two,
        ):
            root = (await one.exports())[0].root
            attr = await two.lookup(root, "a.txt")
            h = await one.open(attr.id)
            reads = await asyncio.gather(*(one.read(h, n, 1) for n in range(7)), two.getattr(root), two.exports())
            assert b"".join(piece for piece, _ in reads[:7]) == b"file A\n"
            with pytest.raises(FsError, match="unknown handle"):
                await two.read(h, 0)
            assert (await one.read(h, 0))[0] == b"file A\n"

    run(work())


def test_what_a_client_had_open_is_closed_when_it_goes(source):
    async def work():
        async with hubbed() as (hub, url), tunnelled(hub, url, source):
            fs = await client(url)
            root = (await fs.exports())[0].root
            h = await fs.open((await fs.lookup(root, "a.txt")).id)
            await fs.lock(h, "exclusive")
            await fs.close()
            async with await client(url) as other:
                again = await other.open((await other.lookup(root, "a.txt")).id)
                await other.lock(again, "exclusive", wait=True)

    run(work())


def test_a_newer_tunnel_replaces_the_older_and_who_waits_there_is_told(work, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "new.txt").write_bytes(b"new")

    async def case():
        async with (
            hubbed() as (hub, url),
            tunnelled(hub, url, DirectorySource("work", str(work))) as older,
            await client(url) as fs,
        ):
            root = (await fs.exports())[0].root
            h = await fs.open((await fs.lookup(root, "a.txt")).id)
            async with tunnelled(hub, url, DirectorySource("work", str(tmp_path / "other"))):
                await older.wait_closed()
                with pytest.raises(FsError, match="unknown handle"):
                    await fs.read(h, 0)
                root = (await fs.exports())[0].root
                assert [one.name for one in await fs.listing(root)] == ["new.txt"]

    run(case())


def test_a_tunnel_that_greets_again_as_another_node_is_closed(source):
    async def work():
        keeper = Keeper(second="x" * 32)
        async with hubbed(keeper) as (_, url), connect(f"{url}/v2/node") as wire:
            await ask(wire, "hello", {**HELLO, "node_id": "edge", "node_secret": TOKEN})
            await wire.recv()  # the hub's own greeting, left unanswered
            said = await ask(wire, "hello", {**HELLO, "node_id": "edge", "node_secret": TOKEN}, tag=7)
            assert (said["tag"], said["payload"]["node_id"]) == (7, "edge")
            said = await ask(wire, "hello", {**HELLO, "node_id": "second", "node_secret": "x" * 32}, tag=8)
            assert said["error"] == {"errno": 13, "message": "node_id mismatch for active tunnel"}
            await wire.wait_closed()

    run(work())


def test_a_tunnel_that_goes_fails_who_waits_for_it(source):
    async def work():
        async with hubbed() as (hub, url):
            async with tunnelled(hub, url, source) as tunnel, await client(url) as fs, await client(url) as holder:
                root = (await fs.exports())[0].root
                id = (await fs.lookup(root, "a.txt")).id
                held = await holder.open(id)
                await holder.lock(held, "exclusive")
                h = await fs.open(id)
                waiting = asyncio.create_task(fs.lock(h, "exclusive", wait=True))
                await asyncio.sleep(0.05)
                tunnel.transport.abort()
                with pytest.raises(FsError, match="node tunnel is unavailable"):
                    await waiting
                with pytest.raises(FsError, match="node tunnel is unavailable"):
                    await fs.getattr(root)
            assert hub.mounted("edge") is None

    run(work())


def test_a_node_that_does_not_answer_in_time_is_unreachable_and_what_it_opens_late_is_closed(source):
    async def work():
        keeper = Keeper()
        async with hubbed(keeper, limit=0.2) as (hub, url), connect(f"{url}/v2/node") as wire:
            await ask(wire, "hello", {**HELLO, "node_id": "edge", "node_secret": TOKEN})
            hello = json.loads(await wire.recv())
            reply = {"channel": "acheron", "ok": True, "type": "acheron.r_fs_hello", "tag": hello["tag"]}
            await wire.send(json.dumps({**reply, "payload": {"protocol": "unified-v2-fs", "proto": 2}}))
            while not hub.nodes():
                await asyncio.sleep(0.005)
            async with await client(url) as fs:
                with pytest.raises(FsError, match=r"no reply in 0\.2 s"):
                    await fs.open(1)
                opened = json.loads(await wire.recv())
                late = {**reply, "type": "acheron.r_fs_open", "tag": opened["tag"], "payload": {"h": 77}}
                await wire.send(json.dumps(late))
                closed = json.loads(await wire.recv())
                assert (closed["type"], closed["h"]) == ("acheron.t_fs_close", 77)

    run(work())


def test_a_secret_that_is_no_longer_good_ends_clients_and_tunnel_alike(source):
    async def work():
        keeper = Keeper()
        async with hubbed(keeper) as (hub, url), tunnelled(hub, url, source) as wire, await client(url) as fs:
            root = (await fs.exports())[0].root
            keeper.secrets["edge"] = "another"
            with pytest.raises(FsError, match="NodeAuthFailed"):
                await fs.getattr(root)
            with pytest.raises(Unreachable):
                hub.require_tunnel("edge")
            await hub.drop("edge")
            await wire.wait_closed()

    run(work())


def test_a_client_that_subscribed_hears_of_changes_through_the_tunnel(work):
    async def case():
        heard = asyncio.Queue()
        async with (
            hubbed() as (hub, url),
            tunnelled(hub, url, DirectorySource("work", str(work))),
            await client(url, subscribe=True, push=heard.put_nowait) as fs,
            await client(url) as deaf,
        ):
            root = (await fs.exports())[0].root
            id = (await fs.lookup(root, "a.txt")).id
            (work / "a.txt").write_bytes(b"changed by somebody else")
            frame = await heard.get()
            while frame.type != "acheron.e_fs_inval":
                frame = await heard.get()
            assert frame.body()["node"] == id
            (work / "new").write_bytes(b"")
            while (frame := await heard.get()).type != "acheron.e_fs_inval_dir":
                pass
            assert frame.body() == {"dir": root}
            assert deaf.rpc._push is None

    run(case())


# -- the tree's own way ------------------------------------------------------------------------------------------------


def mounted(source, test):
    """Run `test(fs)` in a thread, as a room of the tree would."""

    async def work():
        async with hubbed() as (hub, url), tunnelled(hub, url, source):
            return await asyncio.to_thread(test, hub.mounted("edge"))

    return run(work())


def test_a_room_reads_and_writes_through_a_tunnel_from_a_thread(source, work):
    def test(fs):
        assert [one.name for one in fs.exports()] == ["work"]
        assert fs.list("") == ["work"]
        assert fs.list("work") == ["a.txt", "sub"]
        assert [(one.name, one.attr.k) for one in fs.entries("work")] == [("a.txt", 1), ("sub", 2)]
        spot = fs.dir_entry("work/a.txt")
        assert (spot.directory, spot.size, spot.writable, bool(spot.revision)) == (False, 7, True, True)
        assert fs.dir_entry("work/sub").directory
        assert (
            fs.dir_entry("work/nope")
            is fs.dir_entry("nope")
            is fs.dir_entry("work/a.txt/x")
            is fs.dir_entry("work/..")
            is None
        )
        assert fs.read("work/a.txt") == b"file A\n"
        assert fs.read("work/a.txt", 2, 2) == b"le"
        assert fs.read("work/a.txt", 100) == b""
        assert fs.stat("work/sub/b.txt").sz == 7
        assert fs.write("work/sub/b.txt", b"XY", 5) == 2
        assert fs.create("work/sub/new", b"1" * 3_000_000).sz == 3_000_000
        assert fs.read("work/sub/new") == b"1" * 3_000_000
        assert fs.read("work/sub/new", 2_999_999, 10) == b"1"
        fs.truncate("work/sub/new", 3)
        fs.replace("work/a.txt", b"whole")
        fs.mkdir("work/d")
        fs.rename("work/sub/new", "work/d/new")
        fs.remove("work/d/new")
        fs.remove("work/d")
        return fs.statfs("work").namemax

    assert mounted(source, test) == 255
    assert (work / "sub" / "b.txt").read_bytes() == b"file XY"
    assert (work / "a.txt").read_bytes() == b"whole"
    assert sorted(path.name for path in work.rglob("*")) == ["a.txt", "b.txt", "sub"]


@pytest.mark.parametrize(
    ("call", "kind", "code"),
    [
        (lambda fs: fs.read("work/nope"), NotFound, "enoent"),
        (lambda fs: fs.read("other/x"), NotFound, "enoent"),
        (lambda fs: fs.read("work/sub"), BadInput, "eisdir"),
        (lambda fs: fs.list("work/a.txt"), BadInput, "enotdir"),
        (lambda fs: fs.read("work/../../etc/passwd"), BadInput, "invalid"),
        (lambda fs: fs.read("work//a.txt"), BadInput, "invalid"),
        (lambda fs: fs.create("work/a.txt"), Exists, "eexist"),
        (lambda fs: fs.create("new"), NotPermitted, "eperm"),
        (lambda fs: fs.rename("work", "work2"), NotPermitted, "eperm"),
        (lambda fs: fs.remove("work"), NotPermitted, "eperm"),
    ],
)
def test_what_a_node_refuses_is_an_error_of_the_house(source, call, kind, code):
    def test(fs):
        with pytest.raises(kind) as caught:
            call(fs)
        assert caught.value.code == code
        assert "edge:" in str(caught.value)

    mounted(source, test)


def test_a_read_only_export_says_so_to_the_tree(work):
    def test(fs):
        with pytest.raises(NotPermitted) as caught:
            fs.write("ro/a.txt", b"x")
        assert not fs.dir_entry("ro/a.txt").writable
        assert caught.value.code == "erofs"

    mounted(DirectorySource("ro", str(work), ro=True), test)


def test_a_node_that_is_gone_is_unreachable_not_empty(source):
    async def work():
        async with hubbed() as (hub, url):
            async with tunnelled(hub, url, source):
                fs = hub.mounted("edge")
            while hub.mounted("edge") is not None:
                await asyncio.sleep(0.01)
            with pytest.raises(WorldError) as caught:
                await asyncio.to_thread(fs.read, "work/a.txt")
            assert caught.value.code == "runtime_unavailable"
            assert await asyncio.to_thread(fs.list, "work") == []
            assert await asyncio.to_thread(fs.dir_entry, "work") is None

    run(work())


def test_waiting_for_the_loop_in_the_loop_is_refused(source):
    async def work():
        async with hubbed() as (hub, url), tunnelled(hub, url, source):
            with pytest.raises(AssertionError, match="would wait for itself"):
                hub.mounted("edge").read("work/a.txt")

    run(work())


def test_a_link_that_leads_nowhere_or_outside_is_not_there(source, work):
    (work / "out").symlink_to("/etc")
    (work / "lost").symlink_to("nobody")
    (work / "in").symlink_to("sub")

    def test(fs):
        assert fs.list("work") == ["a.txt", "in", "sub"]
        assert {name: spot.directory for name, spot in fs.dir_entries("work").items()} == {
            "a.txt": False,
            "in": True,
            "sub": True,
        }
        assert fs.dir_entry("work/out") is fs.dir_entry("work/out/passwd") is fs.dir_entry("work/lost") is None

    mounted(source, test)


def test_an_end_while_a_request_is_being_sent_leaves_no_unheard_error():
    async def case():
        unheard, sent = [], asyncio.Event()
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: unheard.append(context))

        class Stuck:
            async def send(self, message, *, text=None):
                await sent.wait()
                raise ConnectionClosedOK(None, None)

        line = FsRpcClient(Stuck())
        asking = asyncio.create_task(line.ask(Frame("acheron", "acheron.t_fs_exports")))
        await asyncio.sleep(0)
        line.fail()
        sent.set()
        with pytest.raises(Unreachable):
            await asking
        del asking, line
        gc.collect()
        await asyncio.sleep(0)
        assert not unheard

    run(case())
