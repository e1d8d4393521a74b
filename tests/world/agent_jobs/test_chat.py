"""Chat: a letter is a call at once; who answers it is looked up when it is answered."""

import json
import threading

import pytest

from worldfs.base.errors import BadInput, StorageError
from worldfs.base.model import Outcome
from worldfs.testing.call_fixtures import ALICE, answer, open_calls, wait_for_call
from worldfs.tree.verb_values import Written
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.agent_jobs.chat import Chat


class Parrot:
    lane = ""

    def answer(self, text: str, run: AgentJobContext) -> Outcome:
        return Outcome.success(f"{run.binding.agent}: {text}")


def test_a_letter_is_answered_and_the_reply_names_the_job() -> None:
    calls = open_calls(None)
    chat = Chat(calls, lambda agent: Parrot())
    written = chat.send(ALICE, "擦桌子".encode(), "corr-9")
    result_path = "/agents/self/jobs/job-1/result.txt"
    assert written == Written(9, {"job": "job-1", "result_path": result_path, "correlation_id": "corr-9"})
    wait_for_call(calls, "job-1")
    assert calls.result(ALICE, "job-1").decode() == "alice: 擦桌子"
    assert "correlation_id" not in chat.send(ALICE, b"again").extra
    calls.close()


@pytest.mark.parametrize("text", [b"", b" \n\t", "\u3000".encode()])
def test_blank_text_is_no_letter(text: bytes) -> None:
    calls = open_calls(None)
    assert Chat(calls, lambda agent: Parrot()).send(ALICE, text) == Written(0)
    assert calls.ids(ALICE) == []
    calls.close()


def test_bytes_that_are_no_text_are_refused_and_leave_no_job() -> None:
    calls = open_calls(None)
    with pytest.raises(BadInput, match="no UTF-8 at byte 2"):
        Chat(calls, lambda agent: Parrot()).send(ALICE, b"hi\xff")
    assert calls.ids(ALICE) == []
    calls.close()


def test_a_message_with_terms_is_carried_out_by_them() -> None:
    calls = open_calls(None)
    chat = Chat(calls, lambda agent: Parrot())
    chat.send(ALICE, b"hello")
    chat.send(ALICE, b'{"text": "go", "priority": "low", "timeouts": {"execute": 9}, "depends_on": ["job-1"]}')
    wait_for_call(calls, "job-2")
    order = calls.job("job-2").order
    assert (order.params, order.priority, order.timeout_s, order.depends_on) == ({"text": "go"}, "low", 9.0, ("job-1",))
    with pytest.raises(BadInput, match="priority is 'soon'"):
        chat.send(ALICE, b'{"text": "go", "priority": "soon"}')
    calls.close()


@pytest.mark.parametrize(
    "text",
    ['{"text": "go"}', '{"text": 1, "priority": "low"}', '{"text": "a", "retry": {}, "x": 1}', '{"a": 1}', "{", "[]"],
)
def test_any_other_json_is_a_message_as_it_is(text: str) -> None:
    calls = open_calls(None)
    Chat(calls, lambda agent: Parrot()).send(ALICE, text.encode())
    wait_for_call(calls, "job-1")
    assert calls.result(ALICE, "job-1").decode() == f"alice: {text}"
    calls.close()


def test_a_stop_with_terms_is_a_stop() -> None:
    calls, stopped = open_calls(None), list[object]()
    chat = Chat(calls, lambda agent: Parrot(), stopped.append)
    chat.send(ALICE, b'{"text": "stop", "priority": "high"}')
    with pytest.raises(BadInput, match="priority is 'now'"):
        chat.send(ALICE, b'{"text": "stop", "priority": "now"}')
    assert stopped == [ALICE, ALICE]
    calls.close()


def test_a_stop_that_cannot_be_stored_says_that_the_robots_were_told(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, stopped = open_calls(None), list[object]()
    chat = Chat(calls, lambda agent: Parrot(), stopped.append)

    def full(*args: object, **more: object) -> str:
        raise StorageError("no space left on device", code="ENOSPC", fix="make room")

    monkeypatch.setattr(calls, "submit", full)
    with pytest.raises(StorageError) as stop:
        chat.send(ALICE, b"stop")
    assert stopped == [ALICE] and "told to stop" in stop.value.fix and stop.value.fix.endswith("make room")
    with pytest.raises(StorageError) as other:
        chat.send(ALICE, b"put the cup down")
    assert other.value.fix == "make room"
    calls.close()


def test_a_stop_of_a_robot_that_the_sender_sees_is_a_stop() -> None:
    calls, stopped = open_calls(None), list[object]()
    chat = Chat(calls, lambda agent: Parrot(), stopped.append, lambda binding: ("wa",))
    for text in (b"wa stop", b"wb stop", "停 wa".encode()):
        chat.send(ALICE, text)
    assert stopped == [ALICE, ALICE]
    calls.close()


def test_an_agent_without_a_brain_says_which_key_to_set() -> None:
    calls = open_calls(None)
    Chat(calls, lambda agent: None).send(ALICE, b"hello")
    wait_for_call(calls, "job-1")
    status = json.loads(calls.status(ALICE, "job-1"))
    assert status["state"] == "failed"
    assert "agents.brains of config.json" in status["error"]
    assert calls.result(ALICE, "job-1").decode() == status["error"]
    calls.close()


def test_brains_of_one_lane_answer_in_the_order_of_the_letters() -> None:
    class Slow(Parrot):
        lane = "arm"

    calls = open_calls(None)
    chat = Chat(calls, lambda agent: Slow())
    ids = [chat.send(ALICE, b"x").extra["job"] for _ in range(5)]
    for id in ids:
        wait_for_call(calls, id)
    ends = [calls.visible_job(ALICE, id).ended for id in ids]
    assert ends == sorted(ends)
    calls.close()


def test_a_message_that_may_be_about_stopping_waits_for_none_before_it() -> None:
    free = threading.Event()

    class Busy(Parrot):
        lane = "arm"

        def answer(self, text: str, run: AgentJobContext) -> Outcome:
            if text == "clear the table":
                assert free.wait(60)
            return Outcome.success(text)

    calls = open_calls(None)
    chat = Chat(calls, lambda agent: Busy())
    first = chat.send(ALICE, b"clear the table").extra["job"]
    for text in ("somebody stop it", "no!", "别这样"):
        wait_for_call(calls, chat.send(ALICE, text.encode()).extra["job"])
        assert not calls.visible_job(ALICE, first).over
    free.set()
    wait_for_call(calls, first)
    calls.close()


def test_the_answer_may_be_one_that_no_utf_8_can_say() -> None:
    calls = open_calls(None)
    calls.register("chat", answer("half a pair: \ud83d"))
    id = calls.submit(ALICE, "chat", "say", {"text": "x"})
    wait_for_call(calls, id)
    assert calls.result(ALICE, id).startswith(b"half a pair: ")
    calls.close()
