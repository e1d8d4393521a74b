"""A client of the socket that costs little: frames made once, answers counted and not parsed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any


def frame(**fields: Any) -> bytes:
    """A masked text frame; the mask is zero, so that the text stands as it is."""
    data = json.dumps(fields, separators=(",", ":")).encode()
    size = bytes((0x80 | len(data),)) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
    return b"\x81" + size + b"\0\0\0\0" + data


def ask(op: str, **fields: Any) -> bytes:
    return frame(channel="acheron", type=f"acheron.t_{op}", tag=1234, **fields)


class Peer:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def connect(cls, port: int, token: str = "") -> Peer:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode()
        )
        await reader.readuntil(b"\r\n\r\n")
        return cls(reader, writer)

    @classmethod
    async def at(cls, port: int, token: str, path: str) -> Peer:
        """With the handshake done, agent alice, and fid 2 at `path`."""
        peer = await cls.connect(port, token)
        for said in (
            frame(channel="control", type="control.version", id="1", payload={"protocol": "unified-v2"}),
            frame(
                channel="control", type="control.session_attach", id="2",
                payload={"session_key": "main", "agent_id": "alice", "project_id": "proj-1"},
            ),
            ask("version", version="acheron-1"),
            ask("attach", fid=1),
            ask("walk", fid=1, newfid=2, path=[part for part in path.split("/") if part]),
        ):  # fmt: skip
            answer = await peer.trip(said)
            if b'"ok":true' not in answer:
                raise RuntimeError(answer.decode())
        return peer

    def say(self, frame: bytes) -> None:
        self._writer.write(frame)

    async def hear(self) -> bytes:
        size = (await self._reader.readexactly(2))[1]
        if size >= 126:
            size = int.from_bytes(await self._reader.readexactly(2 if size == 126 else 8), "big")
        return await self._reader.readexactly(size)

    async def trip(self, frame: bytes) -> bytes:
        self.say(frame)
        return await self.hear()

    def close(self) -> None:
        self._writer.close()


async def rate(peers: Sequence[Peer], frame: bytes, seconds: float) -> float:
    """Round trips a second of all of them together, each with one request at a time."""
    end, count = time.perf_counter() + seconds, 0

    async def run(peer: Peer) -> None:
        nonlocal count
        while time.perf_counter() < end:
            await peer.trip(frame)
            count += 1

    began = time.perf_counter()
    await asyncio.gather(*(run(peer) for peer in peers))
    return count / (time.perf_counter() - began)


async def times(peer: Peer, frame: bytes, count: int) -> list[float]:
    """Seconds of each of so many round trips."""
    found = []
    for _ in range(count):
        began = time.perf_counter()
        await peer.trip(frame)
        found.append(time.perf_counter() - began)
    return found
