"""What waits holds up nothing; what does not is answered in order."""

import asyncio
import base64
import threading
import time

import pytest

from worldfs.testing.waiting import soon


def code(reply):
    return reply.get("error", {}).get("code")


@pytest.fixture
def run(hold):
    def hold_on(life):
        async def begin(stand):
            stand.tree.files.update({"/wait/a": b"a", "/wait/b": b"b", "/slow/s": b"s", "/x": b"x"})
            stand.tree.closed |= {"/wait/a", "/wait/b"}
            stand.tree.heavy.add("/slow")
            async with stand.plug() as plug:
                for fid, path in enumerate(("/wait/a", "/wait/b", "/x"), 2):
                    await plug.walk(path, fid)
                await life(plug, stand)

        hold(begin)

    return hold_on


def test_two_blocked_reads_and_a_ping_on_one_connection(run):
    async def life(plug, stand):
        one, two = await plug.begin("read", fid=2), await plug.begin("read", fid=3)
        assert (await plug.control("ping"))["ok"] is True
        assert (await plug.ask("stat", fid=4))["ok"] is True
        stand.tree.open("/wait/b", b"second")
        assert (await plug.of(two))["payload"]["n"] == 6
        stand.tree.open("/wait/a", b"first")
        assert (await plug.of(one))["payload"]["n"] == 5

    run(life)


def test_a_waiting_file_stats_as_large(run):
    async def life(plug, stand):
        assert (await plug.ask("stat", fid=2))["payload"]["size"] == 1_048_576

    run(life)


def test_a_wait_of_no_time_is_no_wait(run):
    async def life(plug, stand):
        assert (await plug.ask("read", fid=2, wait_ms=0))["payload"]["n"] == 1
        begun = time.monotonic()
        assert (await plug.ask("read", fid=2, wait_ms=80))["payload"]["n"] == 1
        assert time.monotonic() - begun >= 0.08

    run(life)


def test_a_flushed_read_is_interrupted_and_answered_before_the_flush(run):
    async def life(plug, stand):
        tag = await plug.begin("read", fid=2)
        flush = await plug.begin("flush", oldtag=tag)
        first, second = await plug.hear(), await plug.hear()
        assert (first["tag"], code(first)) == (tag, "eintr")
        assert (second["tag"], second["ok"]) == (flush, True)
        assert stand.server.waiters.waiting == 0

    run(life)


def test_giving_up_a_fid_ends_its_waits(run):
    async def life(plug, stand):
        tag = await plug.begin("read", fid=2)
        assert (await plug.ask("clunk", fid=2))["ok"] is True
        assert code(await plug.of(tag)) == "eintr"

    run(life)


def test_a_rebind_ends_the_waits_of_its_key(run):
    async def life(plug, stand):
        tag = await plug.begin("read", fid=2)
        await plug.send(
            channel="control",
            type="control.session_attach",
            id="r",
            payload={"session_key": "main", "agent_id": "alice"},
        )
        assert code(await plug.of(tag)) == "eintr"

    run(life)


def test_a_disconnect_ends_everything(run):
    async def life(plug, stand):
        await plug.begin("read", fid=2)
        await plug.control("ping")
        assert stand.server.waiters.waiting == 1
        await plug.socket.close()
        await soon(lambda: not stand.server.waiters.waiting and not stand.server.peers, "something still waits")

    run(life)


def test_a_tag_in_use_is_refused_and_its_first_request_goes_on(run):
    async def life(plug, stand):
        tag = await plug.begin("read", fid=2)
        await plug.send(channel="acheron", type="acheron.t_stat", tag=tag, fid=4)
        reply = await plug.of(tag)
        assert (code(reply), reply["error"]["message"]) == ("invalid", "tag is in use")
        stand.tree.open("/wait/a", b"first")
        assert (await plug.of(tag))["payload"]["n"] == 5
        await plug.send(channel="acheron", type="acheron.t_stat", tag=tag, fid=4)
        assert (await plug.of(tag))["ok"] is True

    run(life)


def test_what_asks_a_thread_holds_up_what_comes_after_it_and_nothing_else(run):
    async def life(plug, stand):
        stand.tree.slow = threading.Event()
        async with stand.plug() as other:
            slow = await plug.begin("walk", fid=1, newfid=9, path=["slow", "s"])
            quick = await plug.begin("stat", fid=4)
            assert (await other.ask("stat", fid=1))["ok"] is True
            await asyncio.sleep(0.05)
            stand.tree.slow.set()
            assert [(await plug.hear())["tag"] for _ in range(2)] == [slow, quick]

    run(life)


def test_a_read_after_a_write_sees_the_write(run):
    async def life(plug, stand):
        for number in range(50):
            await plug.begin("write", fid=4, data=f"{number:03}")
            reply = await plug.ask("read", fid=4)
            assert reply["payload"]["data_b64"] == base64.b64encode(b"%03d" % number).decode()

    run(life)


def test_many_requests_at_once_are_all_answered_in_order(run):
    async def life(plug, stand):
        tags = [await plug.begin("write" if n % 7 == 0 else "stat", fid=4, data="x") for n in range(500)]
        assert [(await plug.hear())["tag"] for _ in tags] == tags

    run(life)


def test_too_many_waits_of_one_connection_are_refused(monkeypatch, run):
    monkeypatch.setattr("worldfs.doors.acheron.peer.WAITS", 5)

    async def life(plug, stand):
        for _ in range(5):
            await plug.begin("read", fid=2)
        assert code(await plug.ask("read", fid=2)) == "queue_saturated"
        assert (await plug.ask("stat", fid=4))["ok"] is True
        stand.tree.open("/wait/a", b"first")
        for _ in range(5):
            assert (await plug.hear())["ok"] is True
        assert (await plug.ask("stat", fid=4))["ok"] is True

    run(life)
