"""Rights by role: what a role may not see or use is not listed, and a call by its name is refused all the same."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp import MCPError
from mcp.types import ElicitResult, ErrorData

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


@pytest.mark.slice(3)
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


@pytest.mark.slice(3)
@pytest.mark.parametrize("asker", ["planner", "operator"])
@pytest.mark.parametrize("role", ROLES)
def test_only_the_person_at_an_operators_client_approves_and_never_a_plan_of_their_own(
    home: Path, role: str, asker: str
) -> None:
    questions: list[str] = []

    async def person(context: Any, params: Any) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept", content={"answer": "yes"})

    with World.open(home / "workspace") as world:
        asked = world.approvals.ask("franka_001", [Order("a", "franka_001", "pick_up", {})], asker, "test").plan

        async def work() -> None:
            async with client_of(home, role, elicitation_callback=person) as client:
                given = {"path": "/nodes/franka_001/approve", "text": json.dumps({"plan": asked, "answer": "approved"})}
                if role == "operator" != asker:
                    await call(client, "write", **given)
                else:
                    said = await refused(client, "write", **given)
                    assert ("UNCONFIRMED" if role == "operator" else "NOT_PERMITTED") in said
                    more = {**json.loads(str(given["text"])), "confirm": asked}
                    assert "NOT_PERMITTED" in await refused(client, "write", **{**given, "text": json.dumps(more)})
                assert len(questions) == (role == "operator" != asker)  # nobody is asked for a yes that counts nothing
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


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_plan_is_approved_by_the_person_at_the_client_and_by_no_tool(home: Path, mode: str) -> None:
    """A client's model that obeys "approve it" writes the answer: the person is asked for exactly that plan."""
    replies = iter(("thinks", "", "no", "later", "yes"))
    asked: list[str] = []
    thinks = asyncio.Event()

    async def person(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        said = next(replies)
        if said == "thinks":
            thinks.set()
            await asyncio.Event().wait()
        return ElicitResult(action="accept", content={"answer": said}) if said else ElicitResult(action="decline")

    async def work(world: World) -> None:
        params = {"object_id": "tea\u202edica"}
        plans = [
            world.approvals.ask("franka_001", [Order("a", "franka_001", op, params)], "planner", "tea", orderer=by).plan
            for op, by in (("pick_up", "agent/rio"), ("place", ""))
        ]
        path, approve = "/nodes/franka_001/approve", json.dumps({"plan": plans[0], "answer": "approved"})
        async with client_of(home, mode=mode) as client:  # nobody to ask
            shown = {one["plan"]: one for one in (await call(client, "look"))["approvals"]}
            assert set(shown) == set(plans)
            assert (shown[plans[0]]["orderer"], shown[plans[0]]["answered_at"]) == ("agent/rio", path)
            for way in (path, path[1:], "/nodes//franka_001/approve"):
                said = await refused(client, "write", path=way, text=approve)
                assert said.startswith("NEEDS_PERSON") and f"paos approve {plans[0]}" in said
            await call(client, "write", path=path, text=json.dumps({"plan": plans[1], "answer": "refused"}))
        long = world.approvals.ask(
            "franka_001", [Order("a", "franka_001", "pick_up", params)] * 200, "planner", ""
        ).plan
        async with client_of(home, mode=mode, elicitation_callback=person) as client:
            given_up = asyncio.ensure_future(client.call_tool("write", {"path": path, "text": approve}))
            await thinks.wait()
            given_up.cancel()
            for _ in range(3):
                assert "the person did not say yes" in await refused(client, "write", path=path, text=approve)
            assert world.approvals.load(plans[0]).answer is None
            await call(client, "write", path=path, text=approve)
            assert "already" in await refused(client, "write", path=path, text=approve)
            text = json.dumps({"plan": long, "answer": "approved"})  # nobody could read it in a form
            assert "cannot be asked here" in await refused(client, "write", path=path, text=text)
        answers = [answer.answer for plan in plans if (answer := world.approvals.load(plan).answer)]
        assert answers == ["approved", "refused"]
        assert len(asked) == 5
        assert all("pick_up" in one and "tea\\u202edica" in one and "agent rio" in one for one in asked)

    with World.open(home / "workspace") as world:
        patient(work(world))


def test_in_the_stateless_era_an_answer_counts_for_its_own_question_and_call_alone(home: Path) -> None:
    yes = ElicitResult(action="accept", content={"answer": "yes"})
    with World.open(home / "workspace") as world:
        path = "/nodes/franka_001/approve"
        plans = [
            world.approvals.ask("franka_001", [Order("a", "franka_001", op, {})], "planner", "test").plan
            for op in ("pick_up", "place")
        ]
        given = [{"path": path, "text": json.dumps({"plan": plan, "answer": "approved"})} for plan in plans]

        async def person(context: Any, params: Any) -> ElicitResult:
            raise AssertionError("the test answers itself")

        async def work() -> None:
            async with client_of(home, mode="auto", elicitation_callback=person) as client:

                async def write(arguments: dict[str, str], **more: Any) -> Any:
                    return await client.session.call_tool("write", arguments, allow_input_required=True, **more)

                first, other = [await write(one) for one in given]
                (key,) = first.input_requests
                for answers, state in (
                    ({key: yes}, None),  # an answer without the question
                    ({next(iter(other.input_requests)): yes}, first.request_state),  # of another question
                ):
                    again = await write(given[0], input_responses=answers, request_state=state)
                    assert set(again.input_requests) == {key}
                for arguments, state in ((given[0], other.request_state), (given[0], first.request_state[:-2] + "AA")):
                    with pytest.raises(MCPError, match="requestState"):
                        await write(arguments, input_responses={key: yes}, request_state=state)
                assert [world.approvals.load(plan).answer for plan in plans] == [None, None]
                done = await write(given[0], input_responses={key: yes}, request_state=first.request_state)
                assert not done.is_error

        patient(work())
        assert [world.approvals.load(plan).answer is not None for plan in plans] == [True, False]


@pytest.mark.parametrize(
    "odd", [ErrorData(code=-32603, message="no window"), {"answer": ["yes"]}, {"other": "yes"}, None]
)
def test_a_client_that_cannot_show_its_question_has_not_said_yes(home: Path, odd: Any) -> None:
    async def person(context: Any, params: Any) -> Any:
        return odd if isinstance(odd, ErrorData) else ElicitResult(action="accept", content=odd)

    async def work(world: World) -> None:
        plan = world.approvals.ask("franka_001", [Order("a", "franka_001", "pick_up", {})], "planner", "test").plan
        given = {"path": "/nodes/franka_001/approve", "text": json.dumps({"plan": plan, "answer": "approved"})}
        async with client_of(home, elicitation_callback=person) as client:
            assert (await refused(client, "write", **given)).startswith("NEEDS_PERSON")
        assert world.approvals.load(plan).answer is None

    with World.open(home / "workspace") as world:
        patient(work(world))
