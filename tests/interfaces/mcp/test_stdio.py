"""`paos mcp` over stdio: the first answer before the SDK, the official client, and what breaks clients or the wire."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp import Client
from mcp.types import (
    LATEST_PROTOCOL_VERSION,
    ClientCapabilities,
    Implementation,
    InitializeRequest,
    InitializeRequestParams,
    InitializeResult,
)

import worldfs
from worldfs.base.model import Order
from worldfs.interfaces.mcp import stdio_transport, thin_start
from worldfs.interfaces.mcp.server_identity import INSTRUCTIONS, NAME, TITLE
from worldfs.testing.waiting import PATIENCE_S, until

from .clients import call, client_of, command, patient, refused

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Wire:
    """One `paos mcp` by its bare pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def send(self, *messages: object) -> None:
        assert self.process.stdin is not None
        for one in messages:
            self.process.stdin.write((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server has ended"
        return json.loads(line)

    def ask(self, id: int, method: str, **params: object) -> Any:
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        while (found := self.receive()).get("id") != id:
            pass
        return found

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)


@contextmanager
def wire(home: Path, *words: str) -> Iterator[Wire]:
    parameters = command(home, *words)
    with subprocess.Popen(
        [parameters.command, *parameters.args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield Wire(process)
        finally:
            process.kill()


@pytest.mark.parametrize("version", [*thin_start.VERSIONS, "1999-01-01"])
def test_the_thin_answer_is_the_one_that_the_sdk_gives(home: Path, version: str) -> None:
    """The SDK alone, asked the same, says the same."""
    hello = json.loads(json.dumps(HELLO))
    hello["params"]["protocolVersion"] = version
    answer = thin_start.initialize_answer(json.dumps(hello).encode(), NAME, TITLE, worldfs.__version__, INSTRUCTIONS)
    assert answer is not None
    assert answer[0] == 1
    thin = json.loads(answer[1])["result"]

    async def work() -> None:
        async with client_of(home) as client:
            params = InitializeRequestParams(
                protocol_version=version,
                capabilities=ClientCapabilities(),
                client_info=Implementation(name="test", version="0"),
            )
            result = await client.session.send_request(InitializeRequest(params=params), InitializeResult)
            told = result.model_dump(by_alias=True, mode="json", exclude_none=True)
            assert {key: value for key, value in told.items() if key != "resultType"} == thin

    patient(work())


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"nonsense",
        b"[]",
        b"[" * 100_000,
        b'{"method":"initialize"}',
        b'{"id":1,"method":"initialize","params":{}}',
        b'{"id":1,"method":"ping"}',
    ],
    ids=["empty", "nonsense", "list", "deep", "half", "bare", "ping"],
)
def test_anything_but_a_whole_initialize_is_left_to_the_sdk(frame: bytes) -> None:
    assert thin_start.initialize_answer(frame, "n", "t", "0", "") is None


def test_initialize_is_answered_before_the_sdk_is_loaded(home: Path, tmp_path: Path) -> None:
    """An SDK that cannot be loaded: the answer has been given all the same."""
    for name in ("mcp", "mcp_types"):
        (tmp_path / "broken" / name).mkdir(parents=True)
        (tmp_path / "broken" / name / "__init__.py").write_text("raise RuntimeError('loaded')\n")
    environ = {**os.environ, "PYTHONPATH": f"{tmp_path / 'broken'}:{os.environ.get('PYTHONPATH', '')}"}
    parameters = command(home)
    found = subprocess.run(
        [parameters.command, *parameters.args], input=json.dumps(HELLO).encode() + b"\n", capture_output=True,
        env=environ, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert json.loads(found.stdout)["result"]["protocolVersion"] == "2025-06-18"
    assert b"loaded" in found.stderr


@pytest.mark.proof  # both modes of that client are used by the two of the next test
def test_the_official_client_over_stdio(home: Path) -> None:
    async def work() -> None:
        async with Client(command(home), mode="legacy") as client:
            assert (await call(client, "look"))["role"] == "operator"
        async with Client(command(home, "--as", "critic"), mode="auto") as client:
            assert client.protocol_version == LATEST_PROTOCOL_VERSION
            assert (await call(client, "look"))["role"] == "critic"
            assert "NOT_FOUND: no tool 'do'" in await refused(client, "do", instruction="put the apple on the table")

    patient(work())


@pytest.mark.proof
def test_two_clients_on_one_home_see_the_same_files(home: Path) -> None:
    async def work() -> None:
        async with (
            Client(command(home, "--as", "planner"), mode="legacy") as one,
            Client(command(home, "--as", "planner"), mode="auto") as two,
        ):
            assert two.protocol_version == LATEST_PROTOCOL_VERSION
            assert (await call(two, "look"))["role"] == "planner"
            path = "/projects/main/TASK.md"
            waiting = asyncio.create_task(call(two, "wait", path=path, until="of one"))
            await call(one, "write", path=path, text="of one\n")
            assert (await waiting)["happened"]
            first, second = await asyncio.gather(
                *(client.call_tool("write", {"path": path, "text": f"{name}\n", "expect": known})
                  for known in [(await call(one, "read", path=path))["revision"]]
                  for name, client in (("one", one), ("two", two)))
            )  # fmt: skip
            assert sorted((first.is_error, second.is_error)) == [False, True]  # nobody's change is lost unseen

    patient(work())


@pytest.mark.proof
def test_what_is_no_request_is_answered_and_the_connection_goes_on(home: Path) -> None:
    """Garbage, a cancelled call, huge arguments and huge frames; at last the client goes in the middle of a call."""
    with wire(home) as server:
        server.send(HELLO, READY)
        assert server.receive()["id"] == 1
        server.send(b"not json", b"{}", b"[1, 2]", b"\xff\xfe", b"")
        for _ in range(4):
            told = server.receive()
            assert told["id"] is None
            assert "expected" in told["error"]["message"]
        assert server.ask(2, "ping")["result"] == {}
        assert "error" in server.ask(3, "no/such/method")
        assert "error" in server.ask(4, "tools/call", name=7)
        assert server.ask(5, "tools/call", name="look")["result"]["isError"] is False
        server.send({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "wait", "arguments": {}}})
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 6}})
        assert server.ask(7, "tools/call", name="look")["result"]["isError"] is False
        text = "y" * (10 << 20)
        told = server.ask(8, "tools/call", name="write", arguments={"path": "/projects/main/TASK.md", "text": text})
        assert told["result"]["isError"]
        assert "10,485,760 characters; expected at most" in told["result"]["content"][0]["text"]
        server.send(b"z" * (thin_start.FRAME_MOST + 2))
        assert "more than 16,777,216 bytes" in server.receive()["error"]["message"]
        assert server.ask(9, "ping")["result"] == {}
        server.send({"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": {"name": "wait", "arguments": {}}})
        assert server.end() == 0


@pytest.mark.proof  # in `make test` the thin start is given the same frames in this process, above
@pytest.mark.parametrize("first", [b"not json", b"z" * (thin_start.FRAME_MOST + 2), b""])
def test_a_first_frame_that_is_no_message_hinders_nothing(home: Path, first: bytes) -> None:
    with wire(home) as server:
        server.send(first)
        if first:
            assert "error" in server.receive()
        server.send(HELLO, READY)
        assert server.receive()["result"]["serverInfo"]["name"] == NAME
        assert server.end() == 0


def test_the_thread_that_reads_ends_with_stdin() -> None:
    given, end = os.pipe()

    async def work() -> None:
        ends = stdio_transport.Wire(thin_start.LineReader(given), stdio_transport.LineWriter(given), b"", None)
        async with stdio_transport.stdio_streams(ends) as (incoming, outgoing):
            (reader,) = [one for one in threading.enumerate() if one.name == "mcp-stdin"]
            os.close(end)
            await asyncio.to_thread(reader.join, PATIENCE_S)
            assert not reader.is_alive()
            await incoming.aclose()
            await outgoing.aclose()

    try:
        patient(work())
    finally:
        os.close(given)


def test_a_client_that_reads_no_more_ends_the_server(home: Path) -> None:
    with wire(home) as server:
        server.send(HELLO, READY)
        assert server.receive()["id"] == 1
        assert server.process.stdout is not None
        server.process.stdout.close()
        server.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        assert server.process.wait(PATIENCE_S) == 0


def test_what_a_client_asked_of_a_robot_ends_with_it_safely(home: Path, executed: list[Order]) -> None:
    with wire(home) as server:
        server.send(HELLO, READY)
        assert server.receive()["id"] == 1
        hang = json.dumps({"target_pose": [0.9, 0.0, 0.5, 0, 0, 0], "hang": True})
        control = {"path": "/nodes/franka_001/body/control/move_to.json", "text": hang}
        assert server.ask(2, "tools/call", name="write", arguments=control)["result"]["isError"] is False
        until(lambda: executed)
        assert server.end() == 0
    (file,) = until(lambda: list((home / "workspace/.paos/done").glob("act_*")))
    assert "cancelled" in file.read_text()


def test_a_home_that_is_not_there_is_refused(tmp_path: Path) -> None:
    parameters = command(tmp_path / "none")
    found = subprocess.run([parameters.command, *parameters.args], input=b"", capture_output=True, check=False)
    assert found.returncode == 2
    assert b"no home here" in found.stderr


def test_no_other_command_loads_the_sdk(home: Path) -> None:
    code = (
        "import sys\nfrom worldfs.interfaces.cli.main import main\n"
        f"main(['--home', {str(home)!r}, 'ls', '/'])\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('mcp', 'mcp_types', 'pydantic', 'starlette')])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"
