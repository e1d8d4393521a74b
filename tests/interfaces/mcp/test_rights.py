"""Rights by role: what a role may not see or use is not listed, and a call by its name is refused all the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from mcp import MCPError

from worldfs.access.roles import ROLES
from worldfs.base.model import Order
from worldfs.interfaces.mcp.tool_service import TOOLS
from worldfs.world.world import World

from .clients import call, client_of, patient, refused

READING = {"look", "list", "read", "wait", "search", "write", "stop", "operations"}  # of every role
GIVEN = {
    "operator": {"do", "resume", "operate", "lessons", "remember", "recall", "send"},
    "planner": {"do", "resume", "operate", "lessons", "remember", "recall", "send"},
    "critic": {"lessons"},
    "watchdog": set(),
    "orchestrator": {"resume", "lessons", "send"},
    "runtime_watchdog": set(),
    "agent": {"do", "operate", "remember", "recall", "send"},
}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_is_listed_the_tools_that_it_can_use_and_no_other(home: Path, role: str) -> None:
    async def work() -> None:
        async with client_of(home, role) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            assert listed == READING | GIVEN[role]
            for tool in TOOLS:
                if tool.name not in listed:
                    assert f"NOT_FOUND: no tool '{tool.name}'" in await refused(client, tool.name)

    patient(work())


@pytest.mark.parametrize("role", ROLES)
def test_what_a_role_may_not_see_is_neither_listed_nor_read_nor_found(home: Path, role: str) -> None:
    async def work() -> None:
        async with client_of(home, role) as client:
            path, sees = "/projects/main/LESSONS.md", role in ("operator", "planner", "orchestrator", "critic")
            uris = {str(one.uri) for one in (await client.list_resources()).resources}
            entries = (await call(client, "list", path="/projects/main"))["entries"]
            hits = (await call(client, "search", text="grasp", path="/projects"))["hits"]
            assert (f"paos://{path}" in uris) is sees
            assert ("LESSONS.md" in {one["name"] for one in entries}) is sees
            assert (path in {one["path"] for one in hits}) is sees
            if not sees:
                assert "NOT_FOUND" in await refused(client, "read", path=path)
                assert "NOT_FOUND" in await refused(client, "write", path=path, text="x")

    patient(work())


@pytest.mark.parametrize(
    ("role", "path", "code"),
    [
        ("operator", "/projects/main/TASK.md", "NOT_PERMITTED"),
        ("planner", "/projects/main/ENVIRONMENT.md", "NOT_PERMITTED"),
        ("critic", "/nodes/franka_001/ACTION.md", "NOT_PERMITTED"),
        ("critic", "/agents/self/chat/control/input", "NOT_PERMITTED"),
        ("agent", "/projects/main/TASK.md", "NOT_FOUND"),
        ("watchdog", "/nodes/franka_001/resume", "NOT_PERMITTED"),
    ],
)
def test_a_write_that_the_role_may_not_make_is_refused(home: Path, role: str, path: str, code: str) -> None:
    async def work() -> None:
        async with client_of(home, role) as client:
            assert code in await refused(client, "write", path=path, text="put the apple on the table")

    patient(work())


def test_the_prompts_are_those_of_the_role(home: Path) -> None:
    async def work() -> None:
        for role, names in (
            ("operator", {"operator", "agent"}),
            ("planner", {"planner", "agent"}),
            ("critic", {"critic"}),
        ):
            async with client_of(home, role) as client:
                prompts = (await client.list_prompts()).prompts
                assert {one.name for one in prompts} == names
                said = await client.get_prompt(prompts[0].name)
                assert said.messages[0].content.text.startswith("You ")
                with pytest.raises(MCPError, match="no prompt 'watchdog'"):
                    await client.get_prompt("watchdog")

    patient(work())


@pytest.mark.parametrize("asker", ["planner", "operator"])
@pytest.mark.parametrize("role", ROLES)
def test_only_the_operator_approves_and_never_what_it_asked_for(home: Path, role: str, asker: str) -> None:
    with World.open(home / "workspace") as world:
        asked = world.approvals.ask("franka_001", [Order("a", "franka_001", "pick_up", {})], asker, "test").plan

        async def work() -> None:
            async with client_of(home, role) as client:
                given = {"path": "/nodes/franka_001/approve", "text": json.dumps({"plan": asked, "answer": "approved"})}
                if role == "operator" != asker:
                    await call(client, "write", **given)
                else:
                    assert "NOT_PERMITTED" in await refused(client, "write", **given)
                for path in (
                    "/config.json",
                    "/meta/config.json",
                    "/.paos/config.json",
                    f"/.paos/approvals/{asked}.json",
                ):
                    assert "NOT_FOUND" in await refused(client, "write", path=path, text='{"approval": "never"}')

        patient(work())
        answer = world.approvals.load(asked).answer
        assert (answer is not None) is (role == "operator" != asker)
