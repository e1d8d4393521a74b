"""A real server in a process of its own, on a fresh home, and a client that says exactly the frames it is given."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from worldfs.testing.waiting import PATIENCE_S
from worldfs.wire import frames

ROOT = Path(__file__).resolve().parents[2]
Json = dict[str, Any]


class Served:
    """A server: where it is, its tokens, its process."""

    def __init__(self, home: Path, url: str, process: subprocess.Popen[str]) -> None:
        self.home, self.url, self.process = home, url, process
        self.gone = False  # it was killed on purpose

    @property
    def admin(self) -> str:
        return self._token("admin_token")

    @property
    def user(self) -> str:
        return self._token("user_token")

    def _token(self, name: str) -> str:
        return str(json.loads((self.home / "auth_tokens.json").read_text())[name])

    def wire(self, token: str | None = None, path: str = "/") -> Wire:
        return Wire(self.url + path, self.admin if token is None else token)

    def alive(self) -> bool:
        return self.process.poll() is None


@contextmanager
def served(home: Path, *more: str, port: str = "0", environ: Mapping[str, str] | None = None) -> Iterator[Served]:
    """`paos serve` on a port that it picks. It must end by itself when it is told to."""
    home.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **(environ or {})}
    log = home / "serve.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "worldfs.doors.cli.main", "--home", str(home), "serve", "--port", port, *more],
            env=env, stdout=subprocess.PIPE, stderr=errors, text=True,
        )  # fmt: skip
    try:
        server = Served(home, _url(process, log), process)
        yield server
        assert server.gone or process.poll() is None, f"the server ended: {log.read_text()[-2000:]}"
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _url(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"wss?://[^\s/\"]+:\d+", line):
            return found.group()
    raise AssertionError(f"the server ended with {process.wait()}: {log.read_text()[-2000:]}")


class Wire:
    """Frames as they are, one at a time; what comes meanwhile is kept in `pushed`."""

    def __init__(self, url: str, token: str, **headers: str) -> None:
        more = {"Authorization": f"Bearer {token}"} if token else {}
        self._open = ExitStack()
        self.socket: ClientConnection = self._open.enter_context(
            connect(
                url,
                additional_headers={**more, **headers},
                compression=None,
                max_size=2**23,
                proxy=None,
                open_timeout=PATIENCE_S,
                close_timeout=2,
            )
        )
        self.pushed: list[Json] = []
        self._ids = 0
        self._tags = 0

    def say(self, frame: Json | str | bytes) -> None:
        self.socket.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))

    def hear(self, timeout: float = PATIENCE_S) -> Json:
        found = json.loads(self.socket.recv(timeout))
        assert isinstance(found, dict)
        return found

    def silent(self, seconds: float = 0.2) -> bool:
        """Does nothing come for a while?"""
        try:
            self.pushed.append(self.hear(seconds))
        except TimeoutError:
            return True
        return False

    def ask(self, frame: Json, timeout: float = PATIENCE_S) -> Json:
        """The reply to it, by its tag or its id; an error without either counts as one."""
        self.say(frame)
        over = time.monotonic() + timeout
        while True:
            found = self.hear(max(0.01, over - time.monotonic()))
            name = found.get("request") if found.get("type") == "debug.event" else found.get("id")
            mine = found.get("tag") == frame["tag"] if "tag" in frame else name == frame.get("id")
            if mine or found.get("type") in {"error", "control.error"}:
                return found
            self.pushed.append(found)

    def control(self, op: str, payload: Json | None = None, **more: Any) -> Json:
        self._ids += 1
        return self.ask(
            {"channel": "control", "type": f"control.{op}", "id": f"t{self._ids}", "payload": payload or {}, **more}
        )

    def acheron(self, op: str, **fields: Any) -> Json:
        self._tags += 1
        return self.ask({"channel": "acheron", "type": f"acheron.{op}", "tag": self._tags, **fields})

    def done(self, op: str, payload: Json | None = None) -> Json:
        """The payload of a control operation that must succeed."""
        found = self.control(op, payload)
        assert found.get("ok") is True, found
        answer = found["payload"]
        assert isinstance(answer, dict)
        return answer

    def greet(self, agent: str = "", project: str = "", project_token: str = "") -> Self:
        """As far as an attached root, fid 1."""
        self.done("version", {"protocol": "unified-v2"})
        if agent:
            wanted = {"agent_id": agent, "project_id": project, "project_token": project_token}
            self.done("session_attach", {"session_key": "main", **{k: v for k, v in wanted.items() if v}})
        assert self.acheron("t_version", msize=1_048_576, version="acheron-1")["ok"]
        assert self.acheron("t_attach", fid=1)["ok"]
        return self

    def walk(self, path: str, fid: int = 7) -> Json:
        return self.acheron("t_walk", fid=1, newfid=fid, path=[name for name in path.split("/") if name])

    def read(self, path: str, **more: Any) -> bytes:
        """A whole file or listing; raises `Refused`."""
        _good(self.walk(path))
        data, at = b"", 0
        while True:
            found = _good(self.acheron("t_read", fid=7, offset=at, count=700_000, **more))
            piece = frames.unpack(found["data_b64"])
            data, at = data + piece, at + len(piece)
            if found["eof"] or not piece:
                self.acheron("t_clunk", fid=7)
                return data

    def json(self, path: str, **more: Any) -> Any:
        return json.loads(self.read(path, **more))

    def names(self, path: str) -> list[str]:
        return self.read(path).decode().split("\n")

    def write(self, path: str, data: str | bytes | Json, **more: Any) -> Json:
        """One t_write; raises `Refused`."""
        _good(self.walk(path))
        body = json.dumps(data).encode() if isinstance(data, dict) else data.encode() if isinstance(data, str) else data
        return _good(self.acheron("t_write", fid=7, data_b64=frames.pack(body), **more))

    def stat(self, path: str) -> Json:
        _good(self.walk(path))
        return _good(self.acheron("t_stat", fid=7))

    def code(self, path: str, data: str | bytes | Json | None = None, **more: Any) -> str:
        """The code with which a read (or a write of `data`) is refused; "" if it is not."""
        try:
            if data is None:
                self.read(path, **more)
            else:
                self.write(path, data, **more)
        except Refused as error:
            return error.code
        return ""

    def ended(self, timeout: float = PATIENCE_S) -> bool:
        """Does the server close the connection?"""
        try:
            while True:
                self.pushed.append(self.hear(timeout))
        except ConnectionClosed:
            return True
        except TimeoutError:
            return False

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *how: object) -> None:
        self.close()


class Refused(Exception):
    def __init__(self, error: Json) -> None:
        super().__init__(str(error))
        self.code = str(error.get("code", ""))


def _good(found: Json) -> Json:
    if not found.get("ok"):
        raise Refused(found.get("error") or {})
    payload = found["payload"]
    assert isinstance(payload, dict)
    return payload
