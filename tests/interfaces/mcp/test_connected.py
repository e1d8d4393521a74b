"""`paos --connect URL mcp`: the same tools over a served world, with the rights of a token."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mcp")

from mcp import Client

from worldfs.access.tokens import TokenStore
from worldfs.base.model import Order
from worldfs.interfaces.acheron.serve_realm import BackgroundServer, ListenOptions
from worldfs.interfaces.mcp.thin_start import FRAME_MOST
from worldfs.world.served_world import ServedWorld

from .clients import call, command, patient, refused
from .test_stdio import HELLO, READY, wire


def test_every_tool_works_over_a_connection(home: Path, executed: list[Order], tmp_path: Path) -> None:
    async def work(url: str, file: Path) -> None:
        async with Client(command(home, "--connect", url, "--token-file", str(file)), mode="legacy") as client:
            found = await call(client, "look")
            assert (found["agent"], found["role"], found["project"]) == ("rio", "planner", "/projects/main")
            assert "kernel" in found
            page = (await call(client, "read", path="/projects/main/ENVIRONMENT.md"))["text"]
            assert page == (home / "workspace/ENVIRONMENT.md").read_text()
            await call(client, "write", path="/projects/main/TASK.md", text="over the wire\n")
            assert (home / "workspace/TASK.md").read_text() == "over the wire\n"
            assert "carries no revisions" in await refused(
                client, "write", path="/projects/main/TASK.md", text="x", expect="0"
            )
            assert (await call(client, "search", text="over the wire", path="/projects"))["hits"]
            await call(client, "remember", text="the blue crate is fragile")
            assert (await call(client, "recall", query="crate"))["notes"]
            asked = await call(
                client, "operate", operation="move_to", parameters={"target_pose": [0.9, 0.0, 0.5, 0, 0, 0]}
            )
            ended = await call(client, "wait", job=asked["job"])
            assert (ended["state"], [order.op for order in executed]) == ("done", ["move_to"])
            asked = await call(client, "do", instruction="put the apple on the table")
            assert asked["reading"] == "red apple on table_01"
            assert (await call(client, "wait", job=asked["job"]))["happened"]
            sent = await call(client, "send", to="rio", text="note to myself")
            assert sent["sent"]
            assert (await call(client, "stop"))["stopped"] == ["franka_001"]
            assert (await call(client, "resume"))["resumed"] == "franka_001"
            assert (await call(client, "lessons"))["known"] > 0
            listed = (await client.list_resources()).resources
            assert "paos:///projects/main/TASK.md" in {str(one.uri) for one in listed}

    with ServedWorld.open(home) as realm, BackgroundServer(realm, ListenOptions(port=0)) as server:
        _, token = TokenStore.open(home).add("rio")
        (tmp_path / "token").write_text(token)
        patient(work(server.started.url, tmp_path / "token"))


@pytest.mark.proof
def test_a_huge_frame_is_refused_over_a_connection_too(home: Path, tmp_path: Path) -> None:
    with ServedWorld.open(home) as realm, BackgroundServer(realm, ListenOptions(port=0)) as server:
        _, token = TokenStore.open(home).add("rio")
        (tmp_path / "token").write_text(token)
        with wire(home, "--connect", server.started.url, "--token-file", str(tmp_path / "token")) as client:
            client.send(HELLO, READY)
            assert client.receive()["id"] == 1
            client.send(b"z" * (FRAME_MOST + 2))
            assert "more than 16,777,216 bytes" in client.receive()["error"]["message"]
            assert client.ask(2, "tools/call", name="look")["result"]["isError"] is False
            assert client.end() == 0
