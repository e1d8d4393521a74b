"""MCP over HTTP on the served port: the official client, tokens and their rights, and what breaks connections."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("mcp")

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

from worldfs.access.tokens import TokenStore
from worldfs.base.model import Order
from worldfs.interfaces.acheron.serve_realm import BackgroundServer, ListenOptions
from worldfs.interfaces.cli.serve import applications
from worldfs.interfaces.mcp.remote_actor import remote_actor
from worldfs.interfaces.mcp.thin_start import FRAME_MOST
from worldfs.testing.waiting import PATIENCE_S, soon
from worldfs.world.served_world import ServedWorld
from worldfs.world.world import World

from .asking_model import ODD, Person, asking
from .clients import call, patient, refused

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}
post = partial(httpx2.post, timeout=PATIENCE_S)  # the first request loads the SDK: more than 5 s beside others


class Served(NamedTuple):
    realm: ServedWorld
    host: str
    port: int
    tokens: TokenStore
    admin: str

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/mcp"

    @asynccontextmanager
    async def client(self, token: str = "", **options: Any) -> AsyncIterator[Client]:
        options.setdefault("mode", "legacy")
        headers = {"Authorization": f"Bearer {token or self.admin}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http,
            Client(streamable_http_client(self.url, http_client=http), **options) as client,
        ):
            yield client


@pytest.fixture
def served(home: Path) -> Iterator[Served]:
    with (
        ServedWorld.open(home) as realm,
        BackgroundServer(realm, ListenOptions(port=0), applications()) as server,
    ):
        tokens = TokenStore.open(home)
        admin = json.loads(Path(tokens.path).read_text())["admin_token"]
        yield Served(realm, server.started.host, server.started.port, tokens, admin)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_over_http_with_a_token(served: Served, home: Path, mode: str) -> None:
    asked: list[str] = []

    async def person(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"answer": "yes"})

    with World.open(home / "workspace") as world:
        order = Order("a", "franka_001", "pick_up", {})
        plan = world.approvals.ask("franka_001", [order], "planner", "test", orderer="planner/rio").plan

    async def work() -> None:
        async with served.client(mode=mode, elicitation_callback=person) as client:
            given = {"path": "/nodes/franka_001/approve", "text": json.dumps({"plan": plan, "answer": "approved"})}
            await call(client, "write", **given)
            assert len(asked) == 1 and plan in asked[0]
            assert (await call(client, "look"))["role"] == "operator"
            path = "/projects/main/ENVIRONMENT.md"
            assert not (await call(client, "wait", path=path, seconds=0))["happened"]
            assert "NOT_FOUND" in await refused(client, "read", path="/nope")

    patient(work())


@pytest.mark.slice(2)
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_question_of_the_planners_model_is_asked_over_http(
    served: Served, home: Path, executed: list[Order], mode: str
) -> None:
    pytest.importorskip("pydantic_ai", reason="the extra `models`")
    person = Person("the red apple", "yes")

    async def work() -> None:
        async with served.client(mode=mode, elicitation_callback=person) as client:
            found = await call(client, "do", instruction=ODD)
            assert (await call(client, "wait", job=found["job"]))["state"] == "done"

    with asking(home):
        patient(work())
    assert len(person.asked) == 2 and [order.op for order in executed] == ["move_to"]


def test_a_token_of_an_agent_has_the_rights_of_that_agent(served: Served) -> None:
    _, token = served.tokens.add("rio")

    async def work() -> None:
        async with served.client(token) as client:
            found = await call(client, "look")
            assert (found["agent"], found["role"], found["project"]) == ("rio", "planner", "/projects/main")
            note = await call(client, "remember", text="mine alone")
            assert note["note"].startswith("<EOT>rio:")
            assert "NOT_PERMITTED" in await refused(client, "write", path="/projects/main/SKILLS.md", text="x")

    patient(work())


@pytest.mark.parametrize(("header", "status"), [("", 401), ("Bearer nonsense", 401), ("Bearer USER", 403)])
def test_a_request_without_a_token_that_is_bound_is_refused(served: Served, header: str, status: int) -> None:
    user = json.loads(Path(served.tokens.path).read_text())["user_token"]
    headers = {**ACCEPT, **({"Authorization": header.replace("USER", user)} if header else {})}
    found = post(served.url, json=HELLO, headers=headers)
    assert found.status_code == status
    assert ("www-authenticate" in found.headers) == (status == 401)
    assert found.headers["connection"] == "close"  # a refused client cannot hold the connection with half a head


def test_a_session_answers_no_other_token(served: Served) -> None:
    _, other = served.tokens.add("rio")
    mine, theirs = ({**ACCEPT, "Authorization": f"Bearer {token}"} for token in (served.admin, other))
    session = post(served.url, json=HELLO, headers=mine).headers["mcp-session-id"]
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert post(served.url, json=ping, headers={**mine, "mcp-session-id": session}).status_code == 200
    assert post(served.url, json=ping, headers={**theirs, "mcp-session-id": session}).status_code == 404


def test_two_clients_with_one_token_have_sessions_of_their_own(served: Served) -> None:
    async def work() -> None:
        async with served.client() as one, served.client() as two:
            waits = [
                asyncio.create_task(call(client, "wait", path="/projects/main/ENVIRONMENT.md", until=word))
                for client, word in ((one, "first"), (two, "second"))
            ]
            await asyncio.sleep(0.1)
            page = served.realm.home / "workspace/ENVIRONMENT.md"
            page.write_text(page.read_text() + "\nfirst\n")
            assert (await waits[0])["happened"]
            page.write_text(page.read_text() + "\nsecond\n")
            assert (await waits[1])["happened"]

    patient(work())


def test_two_clients_with_one_token_lose_nothing_of_each_other_s(served: Served) -> None:
    path, rounds = "/projects/main/TASK.md", 6

    async def add(client: Client, name: str) -> None:
        for number in range(rounds):
            await call(client, "remember", text=f"note {name}{number} of both")
            while True:
                known = await call(client, "read", path=path)
                given = {"path": path, "text": f"{known['text']}{name}{number}\n", "expect": known["revision"]}
                written = await client.call_tool("write", given)
                if not written.is_error:
                    break
                assert written.content[0].text.startswith("CONFLICT"), written

    async def work() -> None:
        _, secret = served.tokens.add("rio")
        async with served.client(secret) as one, served.client(secret) as two:
            await asyncio.gather(add(one, "a"), add(two, "b"))
            text = (await call(one, "read", path=path))["text"]
            notes = [(await call(one, "recall", query=f"note {name}{number}", limit=10))["notes"] for name in "ab"
                     for number in range(rounds)]  # fmt: skip
        lines = [f"{name}{number}" for name in "ab" for number in range(rounds)]
        assert [line for line in lines if text.splitlines().count(line) != 1] == []
        found = " ".join(note["text"] for some in notes for note in some)
        assert [line for line in lines if f"note {line} of both" not in found] == []

    patient(work())


def test_a_revoked_token_ends_what_it_asked_for(served: Served) -> None:
    token, secret = served.tokens.add("rio")

    async def work() -> None:
        headers = {**ACCEPT, "Authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(timeout=PATIENCE_S) as http:
            session = (await http.post(served.url, json=HELLO, headers=headers)).headers["mcp-session-id"]
            headers["mcp-session-id"] = session
            async with http.stream("GET", served.url, headers=headers) as stream:
                assert stream.status_code == 200
                served.tokens.revoke(token.id)
                served.realm.feed.publish("/nodes")  # the server looks at its tokens with the plane's next tick
                async with asyncio.timeout(PATIENCE_S):
                    with pytest.raises(httpx2.HTTPError):
                        async for _ in stream.aiter_bytes():
                            pass
            found = await http.post(served.url, json={"jsonrpc": "2.0", "id": 2, "method": "ping"}, headers=headers)
            assert found.status_code == 401

    patient(work())


def test_a_client_that_goes_in_the_middle_of_a_call_leaves_no_wait(served: Served) -> None:
    async def work() -> None:
        listeners = len(served.realm.feed._listeners)
        with pytest.raises(BaseExceptionGroup):
            async with served.client() as client:
                waiting = asyncio.create_task(client.call_tool("wait", {"path": "/nodes"}))
                await soon(lambda: len(served.realm.feed._listeners) > listeners)
                raise RuntimeError("gone")
        await asyncio.gather(waiting, return_exceptions=True)
        await soon(lambda: len(served.realm.feed._listeners) == listeners)

    patient(work())


def test_a_cancelled_call_is_over_and_others_go_on(served: Served) -> None:
    async def work() -> None:
        listeners = len(served.realm.feed._listeners)
        async with served.client() as client:
            waiting = asyncio.create_task(client.call_tool("wait", {"path": "/nodes"}))
            await soon(lambda: len(served.realm.feed._listeners) > listeners)
            waiting.cancel()
            await soon(lambda: len(served.realm.feed._listeners) == listeners)
            assert (await call(client, "look"))["agent"] == "mother"

    patient(work())


def test_garbage_and_huge_bodies_are_refused(served: Served) -> None:
    headers = {**ACCEPT, "Authorization": f"Bearer {served.admin}", "Content-Type": "application/json"}
    assert post(served.url, content=b"not json", headers=headers).status_code == 400
    assert post(served.url, content=b"z" * (FRAME_MOST + 1), headers=headers).status_code == 413

    async def work() -> None:
        async with served.client() as client:
            assert "characters; expected at most" in await refused(client, "write", path="/x", text="y" * (10 << 20))

    patient(work())


def test_a_page_of_a_browser_is_refused(served: Served) -> None:
    headers = {**ACCEPT, "Authorization": f"Bearer {served.admin}", "Origin": "http://evil.example"}
    assert post(served.url, json=HELLO, headers=headers).status_code == 403
    headers = {**ACCEPT, "Authorization": f"Bearer {served.admin}", "Host": "evil.example"}
    assert post(served.url, json=HELLO, headers=headers).status_code == 421


def test_the_rest_of_the_port_is_as_it_was(served: Served) -> None:
    base = served.url.removesuffix("/mcp")
    assert httpx2.get(f"{base}/livez", timeout=PATIENCE_S).text == "ok\n"
    assert httpx2.get(f"{base}/metrics", timeout=PATIENCE_S).status_code == 401
    with httpx2.Client(timeout=PATIENCE_S) as http:
        bearer = {"Authorization": f"Bearer {served.admin}"}
        assert http.post(served.url, json=HELLO, headers=ACCEPT | bearer).status_code == 200
        other = http.get(f"{base}/livez")
        assert (other.status_code, other.headers["connection"]) == (421, "close")

    async def work() -> None:
        async with remote_actor(f"ws://{served.host}:{served.port}", served.admin) as tree:
            assert tree.binding.agent == "mother"
            assert (await tree.stat("/projects/main")).directory

    patient(work())


@pytest.mark.parametrize("path", ["/mcp", "/livez"])
def test_a_request_may_arrive_byte_by_byte(served: Served, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nConnection: close\r\n\r\n".encode()
    with socket.create_connection((served.host, served.port), PATIENCE_S) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(len(request)):
            line.sendall(request[at : at + 1])
        answer = b""
        while piece := line.recv(4096):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 401 " if path == "/mcp" else b"HTTP/1.1 200 ")


@pytest.mark.parametrize("module", ["mcp", "starlette", "uvicorn"])
def test_a_server_without_the_extra_names_it(served: Served, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    answer = post(served.url, json=HELLO, headers=ACCEPT)
    assert answer.status_code == 503 and "pip install 'worldfs[mcp]'" in answer.text
    assert module in answer.text
    monkeypatch.undo()
    assert post(served.url, json=HELLO, headers=ACCEPT).status_code == 401


def test_an_application_that_cannot_be_made_is_an_answer_and_no_broken_connection(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str) -> object:
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr("worldfs.interfaces.cli.serve.import_module", broken)
    answer = post(served.url, json=HELLO, headers=ACCEPT)
    assert answer.status_code == 503 and "log says why" in answer.text and "secret" not in answer.text
