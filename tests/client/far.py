"""A tiny server of the protocol over a dictionary, for tests of the client: strict about what it is sent, and slow or
deaf where a test says so. It is no second implementation: what it does not need, it refuses."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from worldfs.formats.wire import frames
from worldfs.formats.wire.frames import Frame
from worldfs.testing.waiting import PATIENCE_S

TOKEN = "sw-admin_far"
INPUT = "/agents/self/chat/control/input"


class Refused(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Far:
    """The files by path, `blocking` ones with the event that ends their wait, and everything that was asked."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {
            "/README.md": b"# Far\n",
            "/meta/protocol.json": b'{"version":"acheron-1"}',
            "/nodes/README.md": b"# Nodes\n",
            INPUT: b"",
            "/agents/self/memory/control/invoke.json": b"",
            "/agents/self/memory/status.json": b'{"state":"idle"}',
            "/agents/self/memory/result.json": b"{}",
        }
        self.writable = {INPUT, "/agents/self/memory/control/invoke.json"}
        self.blocking: dict[str, asyncio.Event] = {}
        self.deaf: set[str] = set()  # types that get no answer
        self.asked: list[Frame] = []
        self.connections: list[ServerConnection] = []
        self.unknown: set[str] = set()  # control types that this server cannot parse
        self.absent = False  # the agent that is asked for is not there
        self.agents: list[str] | None = None  # those that agent_list answers; None: it is refused
        self.msize = 1_048_576
        self.states = ["ready"]  # of session_attach and session_status, one after the other
        self.fids: list[dict[int, str]] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def types(self) -> list[str]:
        return [frame.type for frame in self.asked]

    def flushed(self) -> list[int | None]:
        return [frame.oldtag for frame in self.asked if frame.type == "acheron.t_flush"]

    async def serve(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        if socket.request.headers.get("Authorization") != f"Bearer {TOKEN}":
            refused = {"type": "error", "request": "unknown", "code": "provider_auth_failed", "message": "forbidden"}
            await socket.send(json.dumps(refused))
            return
        self.connections.append(socket)
        fids: dict[int, str] = {}
        self.fids.append(fids)
        waiting: dict[int, asyncio.Task[None]] = {}
        try:
            async for text in socket:
                assert isinstance(text, str), "one JSON object per TEXT frame"
                assert len(text) <= self.msize
                frame = frames.read(text)
                self.asked.append(frame)
                if frame.type in self.deaf:
                    continue
                if frame.type in self.unknown:
                    said = {"code": "invalid_envelope", "message": "UnsupportedType"}
                    await self._say(socket, {"channel": "control", "type": "control.error", "ok": False, "error": said})
                elif frame.channel == "control":
                    await self._control(socket, frame)
                elif self._waits(frame, fids):
                    assert frame.tag is not None
                    waiting[frame.tag] = asyncio.create_task(self._later(socket, frame, fids))
                else:
                    if frame.type == "acheron.t_flush" and frame.oldtag in waiting:
                        waiting.pop(frame.oldtag).cancel()
                        gone = {"code": "eintr", "message": "flushed"}
                        await self._say(socket, _error(frame.oldtag, gone))
                    await self._acheron(socket, frame, fids)
        except ConnectionClosed:
            pass
        finally:
            fids.clear()
            for task in waiting.values():
                task.cancel()

    def _waits(self, frame: Frame, fids: dict[int, str]) -> bool:
        if frame.type != "acheron.t_read" or frame.offset or frame.wait_ms == 0:
            return False
        event = self.blocking.get(fids.get(frame.fid or 0, ""))
        return event is not None and not event.is_set()

    async def _later(self, socket: ServerConnection, frame: Frame, fids: dict[int, str]) -> None:
        try:
            async with asyncio.timeout(None if frame.wait_ms is None else frame.wait_ms / 1000):
                await self.blocking[fids[frame.fid or 0]].wait()
        except TimeoutError:
            pass
        await self._acheron(socket, frame, fids)

    async def _control(self, socket: ServerConnection, frame: Frame) -> None:
        op = frame.type.removeprefix("control.")
        state = self._state(op)
        answers: dict[str, tuple[str, dict[str, Any]]] = {
            "version": ("version_ack", {"protocol": "unified-v2"}),
            "connect": ("connect_ack", {"agent_id": "mother", "session": "main", "role": "admin"}),
            "agent_ensure": (op, {"agent_id": "alice"}),
            "session_attach": (op, {"agent_id": "alice", "project_id": "proj-1", "attach": state}),
            "session_status": (op, {"session_key": "main", "attach": state}),
            "ping": ("pong", {}),
            "node_list": (op, {"nodes": []}),
        }
        if self.agents is not None:
            answers["agent_list"] = op, {"agents": [{"id": name} for name in self.agents]}
        absent = self.absent and op == "session_attach"
        if absent or op not in answers:
            code, message = ("agent_not_found", "AgentNotFound") if absent else ("node_not_found", "NodeNotFound")
            said = {"code": code, "message": message, "correlation_id": frame.correlation_id}
            await self._say(
                socket, {"channel": "control", "type": "control.error", "id": frame.id, "ok": False, "error": said}
            )
            return
        type_, payload = answers[op]
        reply = {"channel": "control", "type": f"control.{type_}", "id": frame.id, "ok": True, "payload": payload}
        await self._say(socket, reply)

    def _state(self, op: str) -> dict[str, Any]:
        more = op.startswith("session_") and len(self.states) > 1
        state = self.states.pop(0) if more else self.states[0]
        return {"state": state, "error_code": "mount_failed" if state == "error" else None, "error_message": None}

    async def _acheron(self, socket: ServerConnection, frame: Frame, fids: dict[int, str]) -> None:
        op = frame.type.removeprefix("acheron.t_")
        try:
            payload = getattr(self, f"_{op}")(frame, fids)
        except Refused as error:
            await self._say(socket, _error(frame.tag, {"code": error.code, "message": error.message}))
            return
        reply = {"channel": "acheron", "type": f"acheron.r_{op}", "tag": frame.tag, "ok": True, "payload": payload}
        await self._say(socket, reply)

    async def _say(self, socket: ServerConnection, frame: dict[str, Any]) -> None:
        await socket.send(json.dumps(frame))

    # --- the operations

    def _version(self, frame: Frame, fids: dict[int, str]) -> dict[str, Any]:
        assert frame.version == "acheron-1"
        return {"msize": self.msize, "version": "acheron-1"}

    def _attach(self, frame: Frame, fids: dict[int, str]) -> dict[str, Any]:
        fids[frame.fid or 0] = "/"
        return {"qid": {"path": 1, "type": "dir"}}

    def _walk(self, frame: Frame, fids: dict[int, str]) -> dict[str, Any]:
        assert frame.newfid not in fids, f"fid {frame.newfid} is in use"
        path = "/" + "/".join([name for name in fids[frame.fid or 0].split("/") if name] + (frame.path or []))
        if path not in self.files and not self._names(path):
            raise Refused("enoent", "walk segment not found")
        fids[frame.newfid or 0] = path
        return {"qid": {"path": 2, "type": "file" if path in self.files else "dir"}, "walked": len(frame.path or [])}

    def _open(self, frame: Frame, fids: dict[int, str]) -> dict[str, Any]:
        path = self._path(frame, fids)
        if "w" in (frame.mode or "r") and path not in self.writable:
            raise Refused("eisdir" if path not in self.files else "eperm", "file is read-only")
        return {"qid": {"path": 2, "type": "file"}, "iounit": 65536}

    def _read(self, frame: Frame, fids: dict[int, str]) -> dict[str, Any]:
        path = self._path(frame, fids)
        data = self.files[path] if path in self.files else "\n".join(self._names(path)).encode()
        begin = frame.offset or 0
        # A server may give less than was asked for.
        piece = data[begin : begin + min(65536 if frame.count is None else frame.count, self.msize // 2)]
        return {"data_b64": frames.encode_base64(piece), "n": len(piece), "eof": begin + len(piece) >= len(data)}

    def _write(self, frame: Frame, fids: dict[int, str]) -> dict[str, Any]:
        path, data, at = self._path(frame, fids), frame.bytes(), frame.offset or 0
        assert data is not None
        if path not in self.writable:
            raise Refused("eperm", "file is read-only")
        if path == INPUT:
            if not data.strip():
                return {"n": 0}
            return {"n": len(data), "job": "job-1", "result_path": "/agents/self/jobs/job-1/result.txt"} | (
                {"correlation_id": frame.correlation_id} if frame.correlation_id else {}
            )
        old = self.files[path].ljust(at, b"\0")
        self.files[path] = data if "/control/" in path else old[:at] + data + old[at + len(data) :]
        return {"n": len(data)}

    def _stat(self, frame: Frame, fids: dict[int, str]) -> dict[str, Any]:
        path = self._path(frame, fids)
        directory = path not in self.files
        return {
            "id": 2,
            "name": path.rpartition("/")[2] or "/",
            "kind": "dir" if directory else "file",
            "size": 0 if directory else len(self.files[path]),
            "mode": 16877 if directory else 33188 if path in self.writable else 33060,
            "writable": path in self.writable,
        }

    def _clunk(self, frame: Frame, fids: dict[int, str]) -> dict[str, Any]:
        fids.pop(frame.fid or 0, None)
        return {}

    def _flush(self, frame: Frame, fids: dict[int, str]) -> dict[str, Any]:
        return {}

    def _path(self, frame: Frame, fids: dict[int, str]) -> str:
        if frame.fid not in fids:
            raise Refused("enoent", "unknown fid")
        return fids[frame.fid]

    def _names(self, path: str) -> list[str]:
        start = path.rstrip("/") + "/"
        return sorted({name[len(start) :].partition("/")[0] for name in self.files if name.startswith(start)})


def _error(tag: int | None, said: dict[str, Any]) -> dict[str, Any]:
    return {"channel": "acheron", "type": "acheron.error", "tag": tag, "ok": False, "error": said}


@asynccontextmanager
async def far_server(far: Far | None = None) -> AsyncIterator[Far]:
    far = far or Far()
    async with serve(far.serve, "127.0.0.1", far.port, compression=None, max_size=2**22, close_timeout=1) as server:
        far.port = server.sockets[0].getsockname()[1]
        yield far


@contextmanager
def far_thread(far: Far) -> Iterator[Far]:
    """The same in a thread of its own, for callers that block."""
    ready, end = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def run() -> None:
        async with far_server(far):
            ready.set()
            await end.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
    thread.start()
    assert ready.wait(PATIENCE_S)
    try:
        yield far
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join(PATIENCE_S)
        loop.close()
