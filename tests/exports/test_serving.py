"""The server's side of a connection: who gets in, order and concurrency, bounds, locks, and what is told of changes."""

import asyncio
import errno
import json
import os
import threading

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from worldfs.exports.client import FsClient
from worldfs.exports.desk import LISTINGS
from worldfs.exports.directory import Directory
from worldfs.exports.serving import FLYING, FRAME_MAX, FsServer
from worldfs.exports.trouble import FsError
from worldfs.testing.exports import TOKEN, exported, listening, reached, run
from worldfs.testing.waiting import PATIENCE_S

HELLO = {"protocol": "unified-v2-fs", "proto": 2, "auth_token": TOKEN}


def frame(op, payload=None, tag=1, **top):
    return json.dumps({"channel": "acheron", "type": f"acheron.t_fs_{op}", "tag": tag, "payload": payload or {}, **top})


async def answer(wire, text):
    await wire.send(text)
    return json.loads(await wire.recv())


@pytest.mark.parametrize(
    ("said", "number", "message"),
    [
        (frame("exports"), 22, "acheron.t_fs_hello must be negotiated first"),
        (frame("hello", {**HELLO, "auth_token": "wrong"}), 13, "AuthFailed"),
        (frame("hello", {**HELLO, "auth_token": ""}), 13, "AuthMissing"),
        (frame("hello", {"protocol": "unified-v2-fs", "proto": 2}), 13, "AuthMissing"),
        (frame("hello", {**HELLO, "auth_token": 7}), 13, "AuthMissing"),
        (frame("hello", {**HELLO, "protocol": "unified-v1-fs"}), 22, "ProtocolMismatch"),
        ('{"channel":"control","type":"control.version","id":"1"}', 22, "acheron.t_fs_hello must be negotiated first"),
        ("{no json", 22, "SyntaxError"),
    ],
)
def test_who_does_not_prove_himself_first_is_told_once_and_closed(source, said, number, message):
    async def work():
        async with exported(source) as url, connect(url) as wire:
            reply = await answer(wire, said)
            assert (reply["type"], reply["error"]) == ("acheron.err_fs", {"errno": number, "message": message})
            with pytest.raises(ConnectionClosed):
                await wire.recv()

    run(work())


def test_a_server_without_a_token_lets_nobody_in(source):
    async def work():
        async with exported(source, token="") as url, connect(url) as wire:
            assert (await answer(wire, frame("hello", {**HELLO, "auth_token": ""})))["error"]["errno"] == 13

    run(work())


def test_who_says_nothing_is_not_waited_for(source):
    async def work():
        server = FsServer([source], TOKEN, patience=0.05)
        async with listening(server.serve) as url, connect(url) as wire:
            with pytest.raises(ConnectionClosed):
                await wire.recv()

    run(work())


def test_what_is_no_request_is_answered_and_the_connection_goes_on(source):
    async def work():
        async with exported(source) as url, connect(url) as wire:
            await answer(wire, frame("hello", HELLO))
            for text, number in (
                ("[]", 22),
                (frame("fly"), 38),
                (frame("getattr"), 22),
                (frame("getattr", node="1").replace('"1"', '"x"'), 22),
                (frame("read", {"off": -1}, h=99), 9),
                (frame("open", {"flags": 3}, node=source.root), 22),
                (frame("rename", {"old_parent": 1}), 22),
                (frame("lookup", {"path": []}, node=source.root), 22),
                (frame("setxattr", {"name": "user.x", "value_b64": "!"}, node=source.root), 22),
                ('{"channel":"acheron","type":"acheron.t_read","tag":3,"fid":1}', 38),
            ):
                assert (await answer(wire, text))["error"]["errno"] == number, text
            assert (await answer(wire, frame("exports")))["ok"]

    run(work())


def test_requests_run_at_once_and_those_of_one_handle_in_their_order(work, monkeypatch):
    source = Directory("work", str(work))
    gate, reached_it = threading.Event(), threading.Event()
    getattr_now = source.getattr

    def slow(node):
        reached_it.set()
        assert gate.wait(PATIENCE_S)
        return getattr_now(node)

    async def case():
        async with reached(source) as fs:
            root = (await fs.exports())[0].root
            monkeypatch.setattr(source, "getattr", slow)
            held = asyncio.create_task(fs.getattr(root))
            await asyncio.to_thread(reached_it.wait, PATIENCE_S)
            _, h = await fs.create(root, "new")  # answered while the other waits
            assert not held.done()
            writes = [fs.write(h, n, bytes([n]) * 3) for n in range(50)]
            last = asyncio.gather(*writes, fs.read(h, 0, 100), fs.close_handle(h))
            assert (await last)[50][0] == bytes(range(50)) + bytes([49, 49])
            gate.set()
            await held

    run(case())


def test_waiting_locks_do_not_keep_the_unlock_from_being_heard(source):
    async def work():
        async with reached(source) as fs:
            root = (await fs.exports())[0].root
            id = (await fs.lookup(root, "a.txt")).id
            holder = await fs.open(id)
            await fs.lock(holder, "exclusive")
            others = [await fs.open(id) for _ in range(FLYING + 8)]
            waiting = [asyncio.create_task(fs.lock(h, "shared", wait=True)) for h in others]
            await asyncio.sleep(0.05)
            assert not any(task.done() for task in waiting)
            with pytest.raises(FsError) as caught:
                await fs.lock(await fs.open(id), "shared")
            assert caught.value.number == errno.EAGAIN
            await fs.lock(holder, "unlock")
            await asyncio.gather(*waiting)

    run(work())


def test_a_connection_that_goes_gives_back_its_locks_and_handles(source):
    async def work():
        async with exported(source) as url:
            async with await FsClient.connect(url, TOKEN) as fs:
                root = (await fs.exports())[0].root
                id = (await fs.lookup(root, "a.txt")).id
                await fs.lock(await fs.open(id), "exclusive")
                before = len(os.listdir("/proc/self/fd"))
            async with await FsClient.connect(url, TOKEN) as fs:
                await fs.lock(await fs.open(id), "exclusive", wait=True)
                assert len(os.listdir("/proc/self/fd")) <= before

    run(work())


def test_handles_are_bounded_before_a_file_is_made(work):
    source = Directory("work", str(work))

    async def case():
        server = FsServer([source], TOKEN, handles=3)
        async with listening(server.serve) as url, await FsClient.connect(url, TOKEN) as fs:
            root = (await fs.exports())[0].root
            id = (await fs.lookup(root, "a.txt")).id
            held = [await fs.open(id) for _ in range(3)]
            with pytest.raises(FsError, match="too many open handles"):
                await fs.create(root, "never")
            assert not (work / "never").exists()
            await fs.close_handle(held[0])
            await fs.open(id)

    run(case())


def test_a_megabyte_goes_through_in_one_frame_and_more_is_read_short(work):
    data = os.urandom(2_500_000)
    (work / "big").write_bytes(data)

    async def case():
        async with reached(Directory("work", str(work))) as fs:
            root = (await fs.exports())[0].root
            h = await fs.open((await fs.lookup(root, "big")).id, 2)
            piece, eof = await fs.read(h, 0, len(data))
            assert (len(piece), eof) == (1 << 20, False)
            assert await fs.write(h, 0, data[::-1][: 1 << 20]) == 1 << 20
            assert (await fs.read(h, 0))[0] == data[::-1][: 1 << 20]
            assert (await fs.read(h, len(data) - 1, 10)) == (data[-1:], True)
            assert (await fs.read(h, len(data) + 5, 10)) == (b"", True)

    run(case())


def test_a_frame_beyond_four_mebibytes_ends_the_connection(source):
    async def work():
        async with exported(source) as url, connect(url, max_size=None) as wire:
            await answer(wire, frame("hello", HELLO))
            wire.transport.write(b"\x81\xff" + (FRAME_MAX + 1).to_bytes(8, "big") + b"mask")  # only its head
            with pytest.raises(ConnectionClosed) as caught:
                await wire.recv()
            assert caught.value.rcvd.code == 1009

    run(work())


def test_pages_of_a_listing_fit_together_although_files_come_and_go(work):
    for n in range(30):
        (work / f"f{n:02}").write_bytes(b"")

    async def case():
        async with reached(Directory("work", str(work))) as fs:
            root = (await fs.exports())[0].root
            seen, cookie, eof = [], 0, False
            while not eof:
                page = await fs.readdirp(root, cookie, 7)
                seen += [one.name for one in page.entries]
                cookie, eof = page.next, page.end
                (work / f"a{cookie}").write_bytes(b"")
                (work / "f20").unlink(missing_ok=True)
            assert seen == ["a.txt", *(f"f{n:02}" for n in range(30) if n != 20), "sub"]

    run(case())


def test_unfinished_listings_are_bounded(work):
    for n in range(LISTINGS + 10):
        (work / f"d{n}").mkdir()

    async def case():
        server = FsServer([Directory("work", str(work))], TOKEN)
        desks = []
        async with listening(server.serve) as url, await FsClient.connect(url, TOKEN) as fs:
            root = (await fs.exports())[0].root
            for n in range(LISTINGS + 10):
                desks.append((await fs.readdirp((await fs.lookup(root, f"d{n}")).id, 0, 1)).next)
            d0 = (await fs.lookup(root, "d0")).id
            page = await fs.line.call("readdirp", node=d0, cookie=1, max=10)  # forgotten, and read again
            assert [one["name"] for one in page["ents"]] == [".."]

    run(case())


def test_many_steps_are_looked_up_at_once(source):
    async def work():
        async with reached(source) as fs:
            root = (await fs.exports())[0].root
            found = await fs.line.call("lookup", node=root, path=["sub", "b.txt"])
            assert found["attr"] == (await fs.line.call("lookup", node=found["attrs"][0]["id"], name="b.txt"))["attr"]

    run(work())


def test_exports_do_not_reach_into_each_other(work, tmp_path):
    (tmp_path / "two").mkdir()

    async def case():
        async with reached(Directory("one", str(work)), Directory("two", str(tmp_path / "two"), index=1)) as fs:
            one, two = (export.root for export in await fs.exports())
            with pytest.raises(FsError) as caught:
                await fs.rename(one, "a.txt", two, "a.txt")
            assert caught.value.number == errno.EXDEV
            inode = (await fs.lookup(one, "a.txt")).id & (1 << 48) - 1
            with pytest.raises(FsError) as caught:
                await fs.getattr(two & ~((1 << 48) - 1) | inode)
            assert caught.value.number == errno.ENOENT

    run(case())


def test_who_subscribed_hears_of_what_others_do_in_directories_that_he_has_seen(work):
    async def case():
        heard = asyncio.Queue()
        async with reached(Directory("work", str(work)), push=heard.put_nowait) as fs:
            root = (await fs.exports())[0].root
            sub = (await fs.lookup(root, "sub")).id
            file = (await fs.lookup(sub, "b.txt")).id

            async def until(type, payload):
                async with asyncio.timeout(PATIENCE_S):
                    while True:
                        push = await heard.get()
                        if push.type == type and payload.items() <= push.body().items():
                            return

            (work / "sub" / "b.txt").write_bytes(b"changed")
            await until("acheron.e_fs_inval", {"node": file, "what": "all"})
            (work / "sub" / "new").write_bytes(b"")
            await until("acheron.e_fs_inval_dir", {"dir": sub})
            os.rename(work / "sub" / "b.txt", work / "b.txt")
            await until("acheron.e_fs_inval_dir", {"dir": root})
            await fs.unlink(root, "a.txt")
            await until("acheron.e_fs_inval_dir", {"dir": root})

    run(case())


def test_without_a_listener_nothing_is_watched(source):
    async def work():
        async with exported(source) as url:
            async with await FsClient.connect(url, TOKEN, subscribe=True):
                assert source.watch.running
            while source.watch.running:
                await asyncio.sleep(0.01)
            async with await FsClient.connect(url, TOKEN, subscribe=True, push=lambda frame: None):
                assert source.watch.running

    run(work())
