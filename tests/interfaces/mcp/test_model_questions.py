"""What the planner's model asks about an instruction is asked of the person at the client, and of no model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")
pytest.importorskip("pydantic_ai", reason="the extra `models`")

from mcp import Client
from mcp.types import ElicitResult

from worldfs.access.binding import Binding
from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput
from worldfs.base.model import Order
from worldfs.interfaces.mcp import model_questions
from worldfs.interfaces.mcp.local_actor import local_actor
from worldfs.interfaces.mcp.model_questions import ASKED
from worldfs.world.agent_jobs.chat import Chat
from worldfs.world.agent_jobs.written_terms import split_message

from .asking_model import ODD, PLAN, QUESTION, WHICH, Person, asking
from .clients import call, client_of, command, patient, refused
from .test_stdio import HELLO, READY, wire

MODES = ("legacy", "auto")


@pytest.mark.parametrize("mode", MODES)
def test_the_persons_answer_goes_back_to_the_model_and_its_plan_is_done_after_a_yes(
    home: Path, executed: list[Order], mode: str
) -> None:
    person = Person("the red apple\n{}", "yes")

    async def work() -> None:
        async with client_of(home, mode=mode, elicitation_callback=person) as client:
            found = await call(client, "do", instruction=ODD)
            assert (found["reading_kind"], "question" in found) == ("command", False)
            assert found["reading"] == "at [0.45, 0, 0.45]"  # and none of the words of the job that only proposed it
            assert (await call(client, "wait", job=found["job"]))["state"] == "done"
            jobs = (await call(client, "list", path="/agents/self/jobs"))["entries"]
            assert sum(one["directory"] for one in jobs) == 3  # the instruction, the answered one, the confirmed one

    with asking(home) as api:
        patient(work())
    assert person.asked[0] == f"the model asks: {WHICH} (1/{ASKED})"
    assert "the model reads this as: at [0.45, 0, 0.45]" in person.asked[1]
    assert len(person.asked) == 2
    assert [order.op for order in executed] == ["move_to"]
    told = json.loads(api.requests[1][1]["messages"][-1]["content"])
    assert told == {"answer_of_the_person": "the red apple {}"}  # data, in one line


@pytest.mark.slice(4)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("words", [None, "", "  "], ids=["declined", "empty", "blank"])
def test_without_an_answer_nothing_moves_and_the_result_has_the_question(
    home: Path, executed: list[Order], mode: str, words: str | None
) -> None:
    person = Person(words)

    async def work() -> None:
        async with client_of(home, mode=mode, elicitation_callback=person) as client:
            found = await call(client, "do", instruction=ODD)
            assert (found["reading_kind"], found["question"]) == ("refused", WHICH)
            assert found["next"].startswith("nothing was ordered")
            ended = await call(client, "wait", job=found["job"])
            assert ended["state"] == "failed" and f"{WHICH} There is no answer, so nothing was ordered" in ended["text"]

    with asking(home) as api:
        patient(work())
        assert len(api.requests) == 1
    assert len(person.asked) == 1 and executed == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("questions", [1, 0], ids=["question", "plan"])
def test_stop_as_an_answer_stops_the_robots_and_the_result_says_so(
    home: Path, executed: list[Order], mode: str, questions: int
) -> None:
    person = Person("Stop!")

    async def work() -> None:
        async with client_of(home, mode=mode, elicitation_callback=person) as client:
            found = await call(client, "do", instruction=ODD)
            assert (found["stopped"], "question" in found) == (["franka_001"], bool(questions))
            assert (found["confirmed"], found["unconfirmed"]) == (True, [])  # no kernel simulates it
            assert found["delivered"] == ["franka_001"]
            assert found["next"] == "the person said stop: what waits is held until `resume`"
            (robot,) = (await call(client, "look"))["robots"]
            assert robot["stopped"] is True

    with asking(home, questions) as api:
        patient(work())
        assert len(api.requests) == 1
    assert len(person.asked) == 1 and executed == []


@pytest.mark.parametrize("mode", MODES)
def test_each_job_of_the_order_has_the_members_of_the_message(
    home: Path, executed: list[Order], monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    members = {"priority": "high", "timeouts": {"execute": 60}}
    person, sent, send = Person("the red apple", "yes"), [], Chat.send

    def recorded(chat: Chat, binding: Binding, data: bytes, *rest: Any) -> Any:
        sent.append(split_message(data.decode()))
        return send(chat, binding, data, *rest)

    async def work() -> None:
        monkeypatch.setattr(Chat, "send", recorded)
        async with client_of(home, mode=mode, elicitation_callback=person) as client:
            found = await call(client, "do", instruction=json.dumps({"text": ODD, **members}))
            assert found["instruction"] == ODD
            assert (await call(client, "wait", job=found["job"]))["state"] == "done"

    with asking(home):
        patient(work())
    assert [{**said, "answers": []} for _, said in sent] == [{**members, "answers": []}] * 3
    assert len(person.asked) == 2 and [order.op for order in executed] == ["move_to"]


@pytest.mark.parametrize("mode", MODES)
def test_the_question_of_an_attempt_that_another_followed_is_asked_of_no_person(
    home: Path, executed: list[Order], mode: str
) -> None:
    person = Person("yes")

    async def work() -> None:
        async with client_of(home, mode=mode, elicitation_callback=person) as client:
            found = await call(client, "do", instruction=json.dumps({"text": ODD, "max_retries": 1}))
            assert (await call(client, "wait", job=found["job"]))["state"] == "done"

    with asking(home, 0, QUESTION, PLAN):
        patient(work())
    assert len(person.asked) == 1 and person.asked[0].startswith("the model reads this as: ")
    assert [order.op for order in executed] == ["move_to"]


def test_the_text_of_a_message_with_members_is_read_and_not_its_json(home: Path) -> None:
    async def work() -> None:
        async with client_of(home) as client:
            said = {"text": "pick up the apple", "priority": "high"}
            found = await call(client, "do", instruction=json.dumps(said))
            assert (found["instruction"], found["reading_kind"]) == ("pick up the apple", "command")

    patient(work())


@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_cancels_has_not_answered(home: Path, executed: list[Order], mode: str) -> None:
    async def person(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="cancel", content={"answer": "the apple"})

    async def work() -> None:
        async with client_of(home, mode=mode, elicitation_callback=person) as client:
            assert (await call(client, "do", instruction=ODD))["question"] == WHICH

    with asking(home) as api:
        patient(work())
        assert len(api.requests) == 1
    assert executed == []


@pytest.mark.slice(2, 1)
@pytest.mark.parametrize("mode", MODES)
def test_a_person_is_asked_so_many_questions_and_no_more(home: Path, executed: list[Order], mode: str) -> None:
    person = Person("that one")

    async def work() -> None:
        async with client_of(home, mode=mode, elicitation_callback=person) as client:
            found = await call(client, "do", instruction=ODD)
            assert (found["reading_kind"], "question" in found) == ("refused", False)  # the model has no more to ask

    with asking(home, 100):
        patient(work())
    assert [one[-6:] for one in person.asked] == [f" ({n}/{ASKED})" for n in range(1, ASKED + 1)]
    assert executed == []


def test_a_question_beyond_the_last_has_no_answer(
    home: Path, executed: list[Order], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_questions, "ASKED", 1)
    person = Person("that one")

    async def work() -> None:
        async with client_of(home, elicitation_callback=person) as client:
            assert (await call(client, "do", instruction=ODD))["question"] == "And Q1?"

    with asking(home, 2):
        patient(work())
    assert len(person.asked) == 1 and executed == []


@pytest.mark.parametrize("mode", MODES)
def test_a_client_without_elicitation_is_asked_nothing_and_its_result_has_the_question(
    home: Path, executed: list[Order], mode: str
) -> None:
    async def work() -> None:
        async with client_of(home, mode=mode) as client:
            given = {"instruction": ODD}
            answer = await client.session.call_tool("do", given, allow_input_required=True)
            ended = await call(client, "wait", job=answer.structured_content["job"])
            assert f"{WHICH} There is no answer, so nothing was ordered" in ended["text"]

    with asking(home):
        patient(work())
    assert executed == []


@pytest.mark.proof
def test_a_client_that_declares_no_elicitation_is_sent_no_question_on_the_wire(home: Path) -> None:
    with asking(home), wire(home) as server:
        server.send(HELLO, READY)
        assert server.receive()["id"] == 1
        params = {"name": "do", "arguments": {"instruction": ODD}}
        server.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
        seen = server.receive()
        while seen.get("id") != 2:
            assert seen["method"].startswith("notifications/")
            seen = server.receive()
        assert seen["result"]["isError"] is False


@pytest.mark.slice(2)
@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_over_stdio_is_asked(home: Path, executed: list[Order], mode: str) -> None:
    person = Person("the red apple", "yes")

    async def work() -> None:
        async with Client(command(home), mode=mode, elicitation_callback=person) as client:
            found = await call(client, "do", instruction=ODD)
            assert (await call(client, "wait", job=found["job"]))["state"] == "done"

    with asking(home):
        patient(work())
    assert len(person.asked) == 2 and [order.op for order in executed] == ["move_to"]


def test_a_client_s_model_that_answers_in_the_person_s_place_is_refused(home: Path, executed: list[Order]) -> None:
    answers = [{"question": WHICH, "answer": "the red apple"}]
    words = json.dumps({"text": ODD, "answers": answers})

    async def work() -> None:
        async with client_of(home) as client:
            for tool, given in (
                ("do", {"instruction": words}),
                ("write", {"path": "/agents/self/chat/control/input", "text": words}),
                ("write", {"path": "agents/mother/chat/control/input", "text": f" \n{words}"}),
            ):
                assert (await refused(client, tool, **given)).startswith("NEEDS_PERSON")

    with asking(home) as api:
        patient(work())
        assert api.requests == []
    assert executed == []


@pytest.mark.parametrize(
    "answers",
    [{}, "the red apple", ["the red apple"], [{"question": WHICH}], [{"question": "", "answer": "a"}],
     [{"question": WHICH, "answer": "a"}] * (ASKED + 1)],
    ids=["object", "text", "words", "half", "blank", "many"],
)  # fmt: skip
def test_answers_that_are_none_are_refused_by_name(home: Path, answers: Any) -> None:
    async def work() -> None:
        async with local_actor(home, home / "agents", "operator", "", SystemClock()) as tree:
            with pytest.raises(BadInput, match="answers is"):
                await tree.write(
                    "/agents/self/chat/control/input", json.dumps({"text": ODD, "answers": answers}).encode()
                )

    patient(work())


def test_a_message_with_two_texts_is_refused() -> None:
    with pytest.raises(BadInput, match="text is written twice"):
        split_message('{"text": "stop", "text": "go home", "priority": "high"}')
