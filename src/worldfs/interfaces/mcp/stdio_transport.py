"""The transport over stdin and stdout: bounded lines in, whole lines out; nothing else may write to the wire."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from .thin_start import FRAME_MOST, TOO_LARGE, LineReader

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
_AHEAD: Final = 64  # frames read ahead of the server
_END: Final = b""  # in place of a frame: stdin has ended
_BLANK: Final = b" "
FLUSH_S: Final = 2.0


class LineWriter:
    """Writes whole lines to a descriptor, from any thread one after the other."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    async def send(self, data: bytes) -> None:
        """In a thread: a client that reads slowly must not hold the loop. Raises `OSError` once the client has gone."""
        await asyncio.get_running_loop().run_in_executor(None, self._write, data + b"\n")

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        with self._lock:
            while left:
                left = left[os.write(self._descriptor, left) :]


class Wire(NamedTuple):
    """The ends of the wire, moved away from stdin and stdout, and what the thin start has done with them: the first
    frame that it read (None: it was too long), and the id of the `initialize` that it has answered."""

    reader: LineReader
    writer: LineWriter
    first: bytes | None
    answered: object


@asynccontextmanager
async def stdio_streams(wire: Wire) -> AsyncIterator[Streams]:
    """The streams that the SDK's server runs on. A thread reads, and waits while the server is behind."""
    loop = asyncio.get_running_loop()
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    frames: asyncio.Queue[bytes | None] = asyncio.Queue()
    frames.put_nowait(wire.first if wire.first is None else wire.first.strip() or _BLANK)
    room = threading.Semaphore(_AHEAD)
    drained = anyio.Event()

    def read() -> None:
        while True:
            room.acquire()
            try:
                frame = wire.reader.line()
            except (EOFError, OSError):
                frame = _END
            else:
                frame = frame if frame is None else frame.strip() or _BLANK
            try:
                loop.call_soon_threadsafe(frames.put_nowait, frame)
            except RuntimeError:  # the loop is closed: the server has ended
                return
            if frame == _END:
                return

    async def pump() -> None:
        async with to_server:
            while (frame := await frames.get()) != _END:
                room.release()
                if frame is None:
                    await wire.writer.send(_error(types.INVALID_REQUEST, TOO_LARGE.format(most=FRAME_MOST)))
                elif frame != _BLANK:
                    message = _message(frame)
                    if message is None:
                        text = "no message of the protocol: one JSON-RPC 2.0 object a line is expected"
                        await wire.writer.send(_error(types.PARSE_ERROR, text))
                    else:
                        await to_server.send(message)

    async def drain() -> None:
        answered = wire.answered
        async with from_server:
            async for item in from_server:
                message = item.message
                if answered is not None and getattr(message, "id", None) == answered:
                    answered = None  # the thin start has answered it
                    continue
                await wire.writer.send(message.model_dump_json(by_alias=True, exclude_unset=True).encode())
        drained.set()

    async def until_gone(work: Callable[[], Awaitable[None]], scope: anyio.CancelScope) -> None:
        try:
            await work()
        except OSError:  # the client has closed its end
            scope.cancel()

    threading.Thread(target=read, name="mcp-stdin", daemon=True).start()
    async with anyio.create_task_group() as group:
        group.start_soon(until_gone, pump, group.cancel_scope)
        group.start_soon(until_gone, drain, group.cancel_scope)
        yield incoming, outgoing
        with anyio.move_on_after(FLUSH_S):
            await drained.wait()  # what the server said last is on the wire
        group.cancel_scope.cancel()


def _message(frame: bytes) -> SessionMessage | None:
    """None: it is none."""
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(frame, by_name=False))
    except ValueError:
        return None


def _error(code: int, text: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": text}}).encode()
