"""Upgrades as real clients send them: a fixed key of any length, odd spelling, no version, offers not taken."""

import asyncio
import base64
import hashlib
import json
import shutil

import pytest

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
USUAL = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
HELLO = b'{"channel":"control","type":"control.version","id":"1","payload":{"protocol":"unified-v2"}}'


async def upgraded(stand, headers):
    """The head of the answer, and the first frame that the server sends when it is greeted."""
    reader, writer = await asyncio.open_connection("127.0.0.1", stand.server.port)
    lines = [
        f"{name}: {value}"
        for name, value in {"Host": "x", "Authorization": f"Bearer {stand.token()}", **headers}.items()
    ]
    writer.write(("GET / HTTP/1.1\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    frame = None
    if head.startswith("HTTP/1.1 101"):
        mask = b"\1\2\3\4"
        body = bytes(byte ^ mask[at % 4] for at, byte in enumerate(HELLO))
        writer.write(bytes((0x81, 0x80 | len(HELLO))) + mask + body)
        first, size = await reader.readexactly(2)
        assert first == 0x81, "a whole text frame, not compressed"
        if size == 126:
            size = int.from_bytes(await reader.readexactly(2), "big")
        frame = json.loads(await reader.readexactly(size))
    writer.close()
    return head, frame


@pytest.mark.parametrize(
    "key",
    [
        "c3BpZGVyd2ViLWNvbnRyb2wtY2xp",  # 21 bytes, always the same: a real control client
        base64.b64encode(b"0123456789abcdef").decode(),
        "x",
        "no base64 at all!",
        "A" * 200,
    ],
)
def test_any_key_is_hashed_as_it_is(key, hold):
    async def life(stand):
        head, frame = await upgraded(stand, {**USUAL, "Sec-WebSocket-Key": key})
        proof = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
        assert head.startswith("HTTP/1.1 101 ")
        assert f"Sec-WebSocket-Accept: {proof}\r\n" in head
        assert frame["type"] == "control.version_ack"

    hold(life)


@pytest.mark.parametrize(
    "headers",
    [
        {"upgrade": "WebSocket", "connection": "keep-alive, upgrade", "sec-websocket-version": "13"},
        {"Upgrade": "websocket", "Connection": "Upgrade"},
        {**USUAL, "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits, x-webkit"},
        {**USUAL, "Sec-WebSocket-Protocol": "chat, unified-v2", "Origin": "http://elsewhere"},
    ],
)
def test_what_a_server_may_accept_is_accepted(headers, hold):
    async def life(stand):
        head, frame = await upgraded(stand, {**headers, "Sec-WebSocket-Key": "k"})
        assert head.startswith("HTTP/1.1 101 ")
        assert "Sec-WebSocket-Extensions" not in head and "Sec-WebSocket-Protocol" not in head
        assert frame["type"] == "control.version_ack"

    hold(life)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (USUAL, 400),
        ({**USUAL, "Sec-WebSocket-Key": ""}, 400),
        ({**USUAL, "Sec-WebSocket-Key": "caf\xe9"}, 400),
        ({**USUAL, "Sec-WebSocket-Key": "k", "Sec-WebSocket-Version": "8"}, 400),
        ({"Sec-WebSocket-Key": "k", "Sec-WebSocket-Version": "13", "Connection": "Upgrade"}, 426),
    ],
)
def test_what_is_no_upgrade_is_none(headers, status, hold):
    async def life(stand):
        head, _ = await upgraded(stand, headers)
        assert head.startswith(f"HTTP/1.1 {status} ")
        assert stand.server.meters.refused == 1

    hold(life)


NODE = """
const socket = new WebSocket(process.argv[1], { headers: { Authorization: process.argv[2] } });
const say = (frame) => socket.send(JSON.stringify(frame));
const payload = { protocol: "unified-v2" };
socket.onopen = () => say({ channel: "control", type: "control.version", id: "1", payload });
socket.onmessage = (event) => { console.log(event.data); socket.close(1000); };
socket.onclose = (event) => process.exit(event.code === 1000 ? 0 : 3);
socket.onerror = (event) => { console.error(event.message); process.exit(4); };
"""


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
def test_the_websocket_that_node_brings_along_is_served(hold):
    async def life(stand):
        words = ("node", "--experimental-websocket", "-e", NODE, stand.url, f"Bearer {stand.token()}")
        process = await asyncio.create_subprocess_exec(
            *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        assert json.loads(out)["type"] == "control.version_ack"

    hold(life)
