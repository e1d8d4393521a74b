"""Frames that are too large, peers that are too slow, and sockets that speak no protocol."""

import asyncio
import json
import socket
from contextlib import suppress

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from worldfs.testing.bare_client import BareClient
from worldfs.testing.waiting import PATIENCE_S, soon

HEAD = (
    "GET / HTTP/1.1\r\nhost: x\r\nupgrade: WebSocket\r\nconnection: keep-alive, Upgrade\r\n"
    "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\nauthorization: {}\r\n\r\n"
)


async def raw(stand):
    """A socket after the upgrade, with header names as nobody writes them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", stand.server.port)
    writer.write(HEAD.format(stand.token()).encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
    return reader, writer


def masked(text, first=0x81):
    data = text.encode()
    size = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0x80 | 126]) + len(data).to_bytes(2, "big")
    return bytes([first]) + size + b"\0\0\0\0" + data


def test_a_frame_beyond_msize_is_answered(hold):
    async def life(stand):
        async with stand.connect() as plug:
            stand.tree.files["/x"] = b""
            await plug.walk("/x", 2)
            assert (await plug.ask("write", fid=2, data="x" * 300_000))["payload"]["n"] == 300_000
            reply = await plug.ask("write", fid=2, data="x" * (2 << 20))
            assert reply["error"] == {"code": "invalid", "message": "frame exceeds msize"}
            reply = await plug.control("ping", {"x": "x" * (2 << 20)})
            assert reply["error"] == {"code": "invalid_envelope", "message": "FrameTooLarge"}
            await plug.ask("version", version="acheron-1", msize=8192)
            assert (await plug.ask("write", fid=2, data="x" * 9000))["error"]["code"] == "invalid"
            assert (await plug.ask("stat", fid=2))["payload"]["size"] == 300_000
            assert stand.server.meters.oversize == 3

    hold(life)


def test_a_frame_beyond_four_mebibytes_closes_with_1009(hold):
    async def life(stand):
        reader, writer = await raw(stand)
        writer.write(b"\x81\xff" + (5 << 20).to_bytes(8, "big") + b"\0\0\0\0" + b"x" * 1000)
        assert (await reader.readexactly(4))[2:] == (1009).to_bytes(2, "big")
        writer.close()

    hold(life)


def test_a_frame_without_a_mask_closes_with_1002(hold):
    async def life(stand):
        reader, writer = await raw(stand)
        writer.write(b"\x81\x02{}")
        assert (await reader.readexactly(4))[2:] == (1002).to_bytes(2, "big")
        writer.close()

    hold(life)


def test_frames_of_a_dribbling_client_arrive(hold):
    async def life(stand):
        reader, writer = await raw(stand)
        for byte in masked('{"channel":"control","type":"control.version","payload":{"protocol":"unified-v2"}}'):
            writer.write(bytes([byte]))
            await asyncio.sleep(0)
        assert b"version_ack" in await asyncio.wait_for(reader.read(500), PATIENCE_S)
        writer.close()

    hold(life)


def test_no_websocket_is_told_so_and_who_says_nothing_is_let_go(hold, monkeypatch):
    async def life(stand):
        reader, writer = await asyncio.open_connection("127.0.0.1", stand.server.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 426 " in (await reader.read()).splitlines()[0]
        writer.close()
        monkeypatch.setattr("worldfs.interfaces.acheron.websocket_transport.GREETING_S", 0.1)
        reader, writer = await asyncio.open_connection("127.0.0.1", stand.server.port)
        assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b""
        writer.close()

    hold(life)


def slow(stand):
    """A connection whose client has a tiny buffer and reads nothing."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.connect(("127.0.0.1", stand.server.port))
    made.setblocking(False)
    headers = {"Authorization": f"Bearer {stand.token()}"}
    return connect(stand.url, sock=made, additional_headers=headers, compression=None, max_queue=1, ping_interval=None)


READ = json.dumps({"channel": "acheron", "type": "acheron.t_read", "tag": 1, "fid": 2, "count": 1 << 20})


def test_a_slow_client_waits_and_the_server_keeps_little_for_it(hold):
    async def life(stand):
        stand.tree.files["/big"] = bytes(700_000)
        async with slow(stand) as bare, stand.connect() as quick:
            plug = BareClient(bare)
            await plug.greet()
            await plug.walk("/big", 2)
            asked = 200
            for _ in range(asked):
                await bare.send(READ)
            await soon(lambda: any(not line._transport.is_reading() for line in stand.server.connections))
            assert (await quick.ask("stat", fid=1))["ok"] is True
            kept = max(each._transport.get_write_buffer_size() for each in stand.server.connections)
            assert kept < 3 << 20, "the replies to a client that does not read pile up"
            for _ in range(asked):
                assert len(await bare.recv()) > 900_000
            await bare.send('{"channel":"control","type":"control.ping","id":"p"}')
            assert "pong" in await bare.recv()

    hold(life)


def test_a_client_that_never_reads_is_dropped(hold, monkeypatch):
    monkeypatch.setattr("worldfs.interfaces.acheron.websocket_transport.STALLED_S", 0.1)

    async def life(stand):
        stand.tree.files["/big"] = bytes(700_000)
        bare = await slow(stand)
        plug = BareClient(bare)
        await plug.greet()
        await plug.walk("/big", 2)
        with suppress(ConnectionClosed):  # it may be dropped before it has asked for everything
            for _ in range(60):
                await bare.send(READ)
        await soon(lambda: not stand.server.connections)
        assert stand.server.meters.dropped == 1
        bare.transport.abort()

    hold(life)


def test_the_server_says_goodbye_when_it_ends(hold):
    async def life(stand):
        async with stand.connect() as plug:
            await asyncio.gather(stand.server.stop(), plug.closed())
            assert plug.socket.close_code == 1001

    hold(life)
