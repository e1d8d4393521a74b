"""Many clients in one process, as lean as they can be: what they cost is not what is measured.

python -m bench._wsload WHAT '{"port": …, "token": …, …}'      prints one JSON object
"""

from __future__ import annotations

import asyncio
import base64
import json
import statistics
import struct
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any, Self

from ._stand import percentile

Json = dict[str, Any]
_KEY = base64.b64encode(b"0123456789abcdef").decode()


def framed(text: str) -> bytes:
    """A text frame of a client, under a mask of zeros."""
    payload = text.encode()
    size = len(payload)
    head = bytes([0x81, 0x80 | size]) if size < 126 else bytes([0x81, 0xFE]) + struct.pack(">H", size)
    return head + bytes(4) + payload


class Client(asyncio.Protocol):
    """One connection. `ask` says a frame and gives what comes; `spin` says the same one again and again."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._upgraded = False
        self._next: asyncio.Future[bytes] | None = None
        self._frame = b""
        self._size = self.spins = 0
        self._until = 0.0
        self._done: asyncio.Future[None] | None = None
        self.heard_at = 0.0

    @classmethod
    async def open(cls, port: int, token: str = "", path: str = "/") -> Self:
        loop = asyncio.get_running_loop()
        _, client = await loop.create_connection(cls, "127.0.0.1", port)
        client._next = loop.create_future()
        head = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade"]
        head += [f"Sec-WebSocket-Key: {_KEY}", "Sec-WebSocket-Version: 13"]
        head += [f"Authorization: Bearer {token}"] if token else []
        assert client._transport is not None
        client._transport.write(("\r\n".join(head) + "\r\n\r\n").encode())
        await client._next
        return client

    async def ask(self, frame: Json) -> Json:
        payload = json.loads(await self.say(json.dumps(frame)))
        assert payload.get("ok"), payload
        return payload  # type: ignore[no-any-return] # JSON

    def say(self, text: str) -> asyncio.Future[bytes]:
        """The next message, as it comes."""
        self._next = asyncio.get_running_loop().create_future()
        self.send(text)
        return self._next

    def send(self, text: str) -> None:
        assert self._transport is not None
        self._transport.write(framed(text))

    async def greet(self, extensions: tuple[str, ...] = ()) -> Client:
        control = {"channel": "control", "type": "control.version", "id": "1", "payload": {"protocol": "unified-v2"}}
        await self.ask(control)
        await self.ask({"channel": "acheron", "type": "acheron.t_version", "tag": 1, "version": "acheron-1",
                        "extensions": extensions})  # fmt: skip
        await self.ask({"channel": "acheron", "type": "acheron.t_attach", "tag": 1, "fid": 1})
        return self

    async def walk(self, fid: int, path: str) -> None:
        names = [name for name in path.split("/") if name]
        await self.ask(
            {"channel": "acheron", "type": "acheron.t_walk", "tag": 1, "fid": 1, "newfid": fid, "path": names}
        )

    async def write(self, path: str, data: Json | str) -> None:
        await self.walk(9, path)
        text = data if isinstance(data, str) else json.dumps(data)
        await self.ask({"channel": "acheron", "type": "acheron.t_write", "tag": 1, "fid": 9, "data": text})

    async def size_of(self, frame: str) -> int:
        """Bytes of the answer to it."""
        return len(await self.say(frame))

    def spin(self, frame: str, answer: int, seconds: float) -> asyncio.Future[None]:
        """Round trips of one frame for so long; each answer has `answer` bytes. They are counted in `spins`."""
        assert self._transport is not None
        self._frame, self.spins = framed(frame), 0
        self._size = answer + (2 if answer < 126 else 4 if answer < 65536 else 10)
        self._until = time.perf_counter() + seconds
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(self._frame)
        return self._done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._done is not None:
            if len(self._buffer) + len(data) < self._size:
                self._buffer += data
                return
            self._buffer = b""
            self.spins += 1
            assert self._transport is not None
            if time.perf_counter() < self._until:
                self._transport.write(self._frame)
            else:
                done, self._done = self._done, None
                done.set_result(None)
            return
        self._buffer += data
        if not self._upgraded:
            head, end, rest = self._buffer.partition(b"\r\n\r\n")
            if not end:
                return
            assert head.startswith(b"HTTP/1.1 101"), head
            self._upgraded, self._buffer = True, rest
            self._tell(head)
        while (message := self._message()) is not None:
            self._tell(message)

    def _message(self) -> bytes | None:
        data = self._buffer
        if len(data) < 2:
            return None
        size, start = data[1] & 0x7F, 2
        if size == 126 and len(data) >= 4:
            size, start = struct.unpack(">H", data[2:4])[0], 4
        elif size == 127 and len(data) >= 10:
            size, start = struct.unpack(">Q", data[2:10])[0], 10
        if len(data) < start + size:
            return None
        self._buffer = data[start + size :]
        return data[start : start + size]

    def _tell(self, message: bytes) -> None:
        self.heard_at = time.perf_counter()
        if self._next is not None and not self._next.done():
            self._next.set_result(message)

    def connection_lost(self, error: Exception | None) -> None:
        for waiting in (self._next, self._done):
            if waiting is not None and not waiting.done():
                waiting.set_exception(ConnectionError("the server hung up"))

    def close(self) -> None:
        assert self._transport is not None
        self._transport.abort()


async def _many(count: int, port: int, token: str) -> list[Client]:
    """Greeted connections, a hundred at a time."""
    found: list[Client] = []
    while len(found) < count:
        some = min(100, count - len(found))
        opened = await asyncio.gather(*(Client.open(port, token) for _ in range(some)))
        found += await asyncio.gather(*(client.greet() for client in opened))
    return found


FILE = "/meta/protocol.json"
STAT = '{"channel":"acheron","type":"acheron.t_stat","tag":7,"fid":2}'
READ = '{"channel":"acheron","type":"acheron.t_read","tag":7,"fid":2,"offset":0,"count":65536}'


async def rates(port: int, token: str, *, echo: int, connections: int, rounds: int, seconds: float) -> Json:
    """Round trips a second, ours over the echo's in the same round; the rounds alternate, the median counts."""
    ours = await _many(connections, port, token)
    for client in ours:
        await client.walk(2, FILE)
    ratios: dict[str, list[float]] = {}
    speeds: dict[str, list[float]] = {}
    for name, frame in (("stat", STAT), ("read", READ)):
        size = await ours[0].size_of(frame)
        theirs = [await Client.open(echo, path=f"/{size}") for _ in range(connections)]
        # A warm-up of each, then in turn, and the turn turned round every other time.
        for turn in range(rounds + 1):
            pair = [(ours, "ours"), (theirs, "echo")]
            found: dict[str, float] = {}
            for clients, who in pair if turn % 2 else reversed(pair):
                began = time.perf_counter()
                await asyncio.gather(*(client.spin(frame, size, seconds) for client in clients))
                found[who] = sum(client.spins for client in clients) / (time.perf_counter() - began)
            if turn:
                ratios.setdefault(name, []).append(found["ours"] / found["echo"])
                speeds.setdefault(name, []).append(found["ours"])
        for client in theirs:
            client.close()
    for client in ours:
        client.close()
    middle = statistics.median
    return {name: {"over_echo": middle(ratios[name]), "rate": middle(speeds[name])} for name in ratios}


WAIT, NEXT = "/agents/self/events/control/wait.json", "/agents/self/events/next.json"
INPUT = "/agents/self/chat/control/input"
READ_NEXT = '{"channel":"acheron","type":"acheron.t_read","tag":5,"fid":3,"offset":0,"count":65536}'


async def _blocked(client: Client, selector: Json) -> None:
    """From now on it waits in a blocking read."""
    await client.write(WAIT, selector)
    await client.walk(3, NEXT)
    client.say(READ_NEXT).add_done_callback(lambda done: None if done.cancelled() else done.exception())


async def _latencies(client: Client, count: int) -> list[float]:
    found = []
    for _ in range(count):
        began = time.perf_counter()
        await client.say(STAT)
        found.append(time.perf_counter() - began)
    return found


async def blocked(port: int, token: str, waiters: int, count: int) -> Json:
    """The 99th percentile of stats while so many others are blocked, over that without them, before and after."""
    asking = (await _many(1, port, token))[0]
    await asking.walk(2, FILE)
    await _latencies(asking, count // 4)
    alone = await _latencies(asking, count)
    others = await _many(waiters, port, token)
    selector = {"paths": [INPUT], "timeout_ms": 3_600_000, "since": "now"}
    for start in range(0, waiters, 100):
        await asyncio.gather(*(_blocked(client, selector) for client in others[start : start + 100]))
    await asyncio.sleep(1)
    loaded = await _latencies(asking, count)
    assert all(client._next is not None and not client._next.done() for client in others), "they do not wait"
    for client in others:
        client.close()
    await asyncio.sleep(2)
    again = await _latencies(asking, count)
    # The calmer of both: noise of the machine must not excuse us.
    base = min(percentile(alone, 0.99), percentile(again, 0.99))
    asking.close()
    return {"ratio": percentile(loaded, 0.99) / base, "alone_ms": 1000 * base}


async def idle(port: int, token: str, connections: int) -> Json:
    """Holds that many greeted connections until a line comes."""
    found = await _many(connections, port, token)
    print("ready", file=sys.stderr, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    for client in found:
        client.close()
    return {}


async def _order(client: Client, op: str, payload: Json) -> Json:
    answer = await client.ask({"channel": "control", "type": f"control.{op}", "id": "o", "payload": payload})
    return answer["payload"]  # type: ignore[no-any-return] # JSON


async def wake(port: int, token: str, waiters: int, rounds: int) -> Json:
    """From the moment that a change is asked for until the last of so many has been told of it."""
    others = await _many(waiters, port, token)
    asking = (await _many(1, port, token))[0]
    selector = {"paths": ["/nodes"], "kind": "changes", "timeout_ms": 3_600_000, "since": "now"}
    invite = await _order(asking, "node_invite_create", {})
    joined = await _order(asking, "node_join", {"invite_token": invite["invite_token"], "node_name": "waker"})
    node = {"node_id": joined["node_id"], "node_secret": joined["node_secret"]}
    found: list[float] = []
    for turn in range(rounds):
        for start in range(0, waiters, 100):
            await asyncio.gather(*(_blocked(client, selector) for client in others[start : start + 100]))
        await asyncio.sleep(0.5)
        pending = [client._next for client in others if client._next is not None]
        assert not any(one.done() for one in pending), "they do not wait"
        service = {
            "service_id": "s",
            "kind": "s",
            "state": f"turn {turn}",
            "endpoints": [f"/nodes/{node['node_id']}/s"],
        }
        began = time.perf_counter()
        await _order(asking, "node_service_upsert", {**node, "services": [service]})
        await asyncio.wait_for(asyncio.gather(*pending), 60)
        found.append(max(client.heard_at for client in others) - began)
    for client in (*others, asking):
        client.close()
    return {"ms": 1000 * statistics.median(found)}


_WHAT: dict[str, Callable[..., Coroutine[Any, Any, Json]]] = {
    "rates": rates,
    "blocked": blocked,
    "idle": idle,
    "wake": wake,
}

if __name__ == "__main__":
    import gc

    gc.disable()  # a pause of ours would be taken for one of the server's
    print(json.dumps(asyncio.run(_WHAT[sys.argv[1]](**json.loads(sys.stdin.readline())))))
