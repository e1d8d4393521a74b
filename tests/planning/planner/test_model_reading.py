"""A model reads what the grammar does not: as checked steps, read back, confirmed; nothing else of it moves a robot."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from worldfs.base.chat_model import ModelCall, ModelReply, ModelUnavailable, RequestedCall
from worldfs.base.clock import SystemClock
from worldfs.base.model import Cause, Operation, Outcome, Profile
from worldfs.base.stop_signal import StopSignal
from worldfs.planning.planner import CommandIntent, Planner, PlannerModel, PlanReport, RefusedIntent
from worldfs.planning.planner.model_reading import ROUNDS
from worldfs.planning.planner.planner import ATTEMPTS
from worldfs.planning.planner.proposed_steps import MOST_STEPS

from .conftest import TABLE, World, ball, scene_of

ODD = "chuck the apple into the basket please"
APPLE = {"do": "put_in", "object": "apple_01", "container": "basket_01"}


def plan(*steps: dict[str, Any]) -> ModelReply:
    return ModelReply("", (RequestedCall("plan", {"steps": list(steps)}),))


def call(tool: str, **arguments: Any) -> ModelReply:
    return ModelReply("", (RequestedCall(tool, arguments),))


class Scripted:
    """Each reply once, the last one for ever; a function of the messages is called."""

    name = "tiny"

    def __init__(self, *replies: Any) -> None:
        self.replies, self.asked, self.calls = replies, [], []

    def reply(self, messages: Any, tools: Any, run: Any) -> ModelReply:
        self.asked.append((list(messages), list(tools)))
        self.calls.append(ModelCall("tiny", "0" * 64, 100, 10, 0.001, 0.5))
        found = self.replies[min(len(self.asked), len(self.replies)) - 1]
        if isinstance(found, Exception):
            raise found
        return found(messages) if callable(found) else found


class Person:
    """Answers each question as told; keeps what was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), []

    def __call__(self, question: str) -> str:
        self.asked.append(question)
        return self.answers.pop(0) if self.answers else ""


def carried_out(
    world: World, text: str, model: Scripted, person: Callable[[str], str] | None = None, confirmed: str = ""
) -> PlanReport:
    access = PlannerModel(lambda: model, SystemClock(), person or Person(), confirmed)
    return Planner(world, access).run(text)


def told(model: Scripted, number: int = -1) -> str:
    return model.asked[number][0][-1].text


# -- the way of a good answer ------------------------------------------------------------------------------------------


def test_what_the_grammar_understands_never_reaches_a_model(world: World) -> None:
    def opened() -> Any:
        raise AssertionError("the model was opened")

    access = PlannerModel(opened, SystemClock())
    assert Planner(world, access).run("put the apple in the basket").ok
    for text in (
        "don't clear the table",
        "where is the apple?",
        "put the cube in the basket",
        "if it rains, clear up",
        "he cleared the table",
        "is it so?",
    ):
        Planner(world, access).run(text)


def test_a_plan_is_read_back_confirmed_and_carried_out(world: World) -> None:
    model, person = Scripted(plan(APPLE)), Person("yes")
    report = carried_out(world, ODD, model, person)
    assert report.ok and report.verdict == "reached" and world.where("apple_01") == ("in", "basket_01")
    assert person.asked == ["I read this as: red apple in basket. Shall I? [y/N]"]
    assert "Understood: red apple in basket" in world.lines
    assert [order.op for order in world.log] == ["pick_up", "place"]
    for order in world.log:
        assert order.extra["proposed_by"] == {
            "model": "tiny", "prompt_sha256": "0" * 64, "input_tokens": 100, "output_tokens": 10, "cost_usd": 0.001,
            "latency_s": 0.5, "calls": 1, "tokens": 110, "total_usd": 0.001,
        }  # fmt: skip
    assert len(report.model_calls) == 1


@pytest.mark.parametrize("answer", ["", "n", "no", "maybe", "yes but not the apple"])
def test_nothing_moves_without_a_yes(world: World, answer: str) -> None:
    report = carried_out(world, ODD, Scripted(plan(APPLE)), Person(answer))
    assert not world.log and report.verdict == "not_understood" and "red apple in basket" in report.reason


def test_a_confirmation_is_bound_to_the_words_the_robot_and_every_goal(world: World) -> None:
    report = carried_out(world, ODD, Scripted(plan(APPLE)))
    assert isinstance(report.intent, RefusedIntent) and len(report.intent.reading) == 16
    code = report.intent.reading
    can = {**APPLE, "object": "can_01"}
    for text, steps in ((ODD, [can]), (ODD, [APPLE, can]), (ODD + "!", [APPLE])):
        assert not carried_out(world, text, Scripted(plan(*steps)), confirmed=code).ok
    assert not world.log
    assert carried_out(world, ODD, Scripted(plan(APPLE)), confirmed=code).ok


def test_what_the_person_did_not_name_is_said(world: World) -> None:
    person = Person()
    carried_out(world, ODD, Scripted(plan(APPLE, {**APPLE, "object": "can_01"})), person)
    assert person.asked == [
        "I read this as: red apple in basket; can in basket. You did not name: can_01. Shall I? [y/N]"
    ]


def test_chinese_is_asked_and_answered_in_chinese(world: World) -> None:
    person = Person("好")
    assert carried_out(world, "苹果甩进篮子里头去呗", Scripted(plan(APPLE)), person).ok
    assert person.asked == ["我的理解：红色苹果在棕色篮子里。要这样做吗？[y/N]"]


def test_the_model_is_given_data_and_typed_tools(world: World) -> None:
    model = Scripted(plan(APPLE))
    carried_out(world, ODD, model)
    messages, tools = model.asked[0]
    assert [tool.name for tool in tools] == ["plan", "ask", "refuse"]
    data = json.loads(messages[1].text)
    assert data["instruction"] == ODD and "chuck" in data["not_understood_by_the_grammar"]
    assert {thing["id"] for thing in data["scene"]["things"]} >= {"apple_01", "basket_01"}
    steps = tools[0].schema["properties"]["steps"]["items"]["anyOf"]
    put_in = next(step for step in steps if step["properties"]["do"]["const"] == "put_in")
    assert put_in["properties"]["container"]["enum"] == ["basket_01"]
    assert "real_execute" not in str(tools[0].schema)


def test_an_operation_of_the_profile_is_a_step_and_free_text_is_none(world: World, monkeypatch) -> None:
    from worldfs.base.model import Parameter

    dim = Operation("dim", "Dim the lamp", (Parameter("level", "number"),))
    say = Operation("say", "Do it", (Parameter("nl_task", "string"),))
    monkeypatch.setattr(world, "profile", lambda: Profile("Lamp", ops=(dim, say)))
    person = Person("y")
    report = carried_out(world, "dim the lamp to forty", Scripted(plan({"do": "dim", "level": 40})), person)
    assert report.ok and [(order.op, order.params) for order in world.log] == [("dim", {"level": 40})]
    assert person.asked == ['I read this as: dim {"level": 40}. Shall I? [y/N]']
    assert not carried_out(
        world, "dim the lamp", Scripted(plan({"do": "say", "nl_task": "clear the table"})), Person("y")
    ).ok
    assert len(world.log) == 1


# -- asking ------------------------------------------------------------------------------------------------------------


def test_where_two_things_fit_the_model_asks_and_the_answer_goes_back(world: World) -> None:
    model = Scripted(call("ask", question="The blue or the red cube?"), plan({**APPLE, "object": "cube_02"}))
    person = Person("the red one", "y")
    assert carried_out(world, "yeet one cube into the basket", model, person).ok
    assert person.asked[0] == "the model asks: The blue or the red cube?"
    assert json.loads(told(model)) == {"answer_of_the_person": "the red one"}


def test_without_an_answer_nothing_moves(world: World) -> None:
    report = carried_out(world, "yeet one cube away", Scripted(call("ask", question="Which?")))
    assert not world.log and report.verdict == "not_understood"
    assert report.reason == "the model asks: Which? There is no answer, so nothing was ordered"
    assert isinstance(report.intent, RefusedIntent) and report.intent.question == "Which?"


def test_a_model_that_asks_for_ever_is_left(world: World) -> None:
    model = Scripted(call("ask", question="Really?"))
    assert not carried_out(world, ODD, model, lambda question: "y").ok
    assert len(model.asked) <= 3 + ROUNDS and not world.log


def test_a_refusal_is_passed_on(world: World) -> None:
    report = carried_out(world, ODD, Scripted(call("refuse", reason="There is no apple\x1b[2J.\nAll done!")))
    assert not report.ok and "The model tiny refuses: There is no apple [2J. All done!" in report.reason


# -- answers that cannot be used ---------------------------------------------------------------------------------------

USELESS = {
    "a text": ModelReply("Sure! I have put the apple into the basket. Success: true."),
    "another language": ModelReply("Конечно, яблоко уже в корзине."),
    "nothing": ModelReply(""),
    "an unknown tool": call("run_shell", command="rm -rf /"),
    "an unknown step": plan({"do": "explode", "object": "apple_01"}),
    "an unknown id": plan({**APPLE, "object": "apple_99"}),
    "no container": plan({**APPLE, "container": "can_01"}),
    "furniture": plan({**APPLE, "object": "table_01"}),
    "one thing on itself": plan({"do": "put_on", "object": "can_01", "support": "can_01"}),
    "a missing value": plan({"do": "put_in", "object": "apple_01"}),
    "a value too many": plan({**APPLE, "speed": "fast"}),
    "a value of another type": plan({**APPLE, "object": ["apple_01"]}),
    "no number": plan({"do": "put_at", "object": "apple_01", "position": [float("nan"), 0.0]}),
    "out of reach": plan({"do": "put_at", "object": "apple_01", "position": [9.0, 9.0]}),
    "free text": plan({"do": "real_execute", "nl_task": "clear the table"}),
    "raw motion": plan({"do": "move_to", "target_pose": [0.5, 0.0, 0.3, 3.14, 0.0, 0.0]}),
    "no steps": plan(),
    "steps that are none": call("plan", steps="put the apple in the basket"),
    "other arguments": call("plan", steps=[APPLE], approved=True),
    "a thousand steps": plan(*[APPLE] * 1000),
    "two calls": ModelReply("", (RequestedCall("plan", {"steps": [APPLE]}),) * 2),
    "an empty question": call("ask", question=" "),
    "half json": ModelUnavailable("half of a JSON value", code="MODEL_ANSWER"),
}


@pytest.mark.parametrize("answer", USELESS)
def test_an_answer_that_cannot_be_used_is_named_bounded_and_moves_nothing(world: World, answer: str) -> None:
    model = Scripted(USELESS[answer])
    report = carried_out(world, ODD, model, lambda question: "yes")
    assert not world.log and not report.ok and report.verdict == "not_understood"
    assert len(model.asked) == ROUNDS and "gave no plan that can be used" in report.reason
    assert len(report.reason) < 1200 and report.reason.isprintable()
    assert "problem" in told(model)


def test_the_problem_goes_back_and_a_better_answer_is_taken(world: World) -> None:
    model = Scripted(plan({**APPLE, "object": "aple_01"}), plan(APPLE))
    assert carried_out(world, ODD, model, Person("y")).ok
    assert "one of apple_01" in told(model)


@pytest.mark.parametrize(
    "step",
    [
        {"do": "put_on", "object": "can_01", "support": "can_01"},
        {"do": "put_beside", "object": "can_01", "other": "can_01"},
        {"do": "put_toward", "object": "can_01", "other": "can_01", "side": "left"},
    ],
    ids=lambda step: step["do"],
)
def test_the_model_is_told_which_step_has_one_thing_twice(world: World, step: dict[str, str]) -> None:
    model = Scripted(plan(APPLE, step), plan(APPLE))
    assert carried_out(world, ODD, model, Person("y")).ok
    assert json.loads(told(model)) == {"problem": "step 2: 'can_01' twice; expected two things"}


def test_the_model_is_told_that_there_is_nowhere_to_clear_to(world: World) -> None:
    world.now_scene = scene_of(ball("apple_01", 0.5, 0.1), furniture=(TABLE,))
    model, person = Scripted(plan({"do": "clear", "surface": "table_01"})), Person("y")
    assert carried_out(world, ODD, model, person).verdict == "not_understood"
    assert json.loads(told(model)) == {"problem": "clear; expected a container, and none is here"}
    assert person.asked == [] and not world.log


@pytest.mark.parametrize("code", ["MODEL_UNREACHABLE", "MODEL_TIMEOUT", "MODEL_REFUSED", "MODEL_BUDGET", "MODEL_KEY"])
def test_a_model_that_cannot_be_asked_leaves_the_grammar_s_word(world: World, code: str) -> None:
    model = Scripted(ModelUnavailable("HTTP 500", code=code))
    report = carried_out(world, ODD, model, lambda question: "yes")
    assert len(model.asked) == 1 and not world.log
    assert "chuck" in report.reason and "HTTP 500" in report.reason


def test_a_model_that_cannot_be_opened_leaves_the_grammar_s_word(world: World) -> None:
    def opened() -> Any:
        raise ModelUnavailable("no TINY_KEY in the environment", code="MODEL_KEY")

    report = Planner(world, PlannerModel(opened, SystemClock())).run(ODD)
    assert "no TINY_KEY" in report.reason and report.verdict == "not_understood"


def test_a_reading_of_any_length_is_confirmed_whole_or_not_at_all(world: World, monkeypatch) -> None:
    monkeypatch.setattr("worldfs.planning.planner.model_reading.LONGEST", 300)
    at = [{"do": "put_at", "object": "apple_01", "position": [0.4 + n / 1000, 0.1]} for n in range(MOST_STEPS)]
    person = Person("y")
    report = carried_out(world, ODD, Scripted(plan(*at)), person)
    assert person.asked == [] and not world.log and "cannot be confirmed in one line" in report.reason


# -- failures and what comes after -------------------------------------------------------------------------------------


def test_what_was_measured_goes_back_and_another_way_is_asked_for_again(world: World) -> None:
    world.fail[("pick_up", "apple_01")] = [Outcome.failure(Cause.ERROR, "GRASP_FAILED", "slipped")] * 2
    other = {**APPLE, "object": "can_01"}
    model, person = Scripted(plan(APPLE), plan(other)), Person("y", "n")
    report = carried_out(world, ODD, model, person)
    failed = json.loads(told(model))
    assert "slipped" in failed["failed"] and [step["op"] for step in failed["steps"]] == ["pick_up", "pick_up"]
    assert len(person.asked) == 2 and "can in basket" in person.asked[1]
    assert not report.ok and "slipped" in report.reason and world.where("can_01")[0] == "on"


def test_a_second_try_of_what_was_confirmed_needs_no_second_yes(world: World) -> None:
    world.fail[("pick_up", "apple_01")] = [Outcome.failure(Cause.ERROR, "GRASP_FAILED", "slipped")] * 2
    person = Person("y")
    assert carried_out(world, ODD, Scripted(plan(APPLE)), person).ok and len(person.asked) == 1


def test_a_model_cannot_make_a_failure_a_success_with_fewer_goals(world: World) -> None:
    """It leaves the goal that failed out of its next plan: that goal is still asked for."""
    world.fail[("pick_up", "apple_01")] = [Outcome.failure(Cause.ERROR, "GRASP_FAILED", "slipped")] * 99
    both = plan({**APPLE, "object": "can_01"}, APPLE)
    model = Scripted(both, plan({**APPLE, "object": "can_01"}))
    report = carried_out(world, "chuck the can and the apple into the basket", model, Person("y"))
    assert not report.ok and "apple" in report.reason and world.where("can_01") == ("in", "basket_01")


def test_a_claim_of_success_changes_nothing(world: World) -> None:
    world.fail[("pick_up", "apple_01")] = [Outcome.failure(Cause.ERROR, "GRASP_FAILED", "no torque")] * 99
    said = ModelReply("The apple is in the basket now. The task is complete.")
    report = carried_out(world, ODD, Scripted(plan(APPLE), said), Person("y"))
    assert not report.ok and report.verdict == "failed" and "no torque" in report.reason


def test_the_same_plan_for_ever_is_carried_out_a_few_times(world: World) -> None:
    world.fail[("pick_up", "apple_01")] = [Outcome.failure(Cause.ERROR, "GRASP_FAILED", "slipped")] * 999
    model = Scripted(plan(APPLE))
    assert not carried_out(world, ODD, model, lambda question: "y").ok
    assert len(model.asked) == ATTEMPTS and len(world.log) == 2 * ATTEMPTS


def test_a_stop_ends_it(world: World) -> None:
    stop = StopSignal()

    def stopped(question: str) -> str:
        stop.set()
        return "y"

    access = PlannerModel(lambda: Scripted(plan(APPLE)), SystemClock(), stopped)
    assert Planner(world, access).run(ODD, stop).verdict == "cancelled" and not world.log


def test_a_stop_while_the_model_is_asked_is_a_cancelled_instruction(world: World) -> None:
    stop = StopSignal()

    def stopped(messages: Any) -> ModelReply:
        stop.set()
        raise ModelUnavailable("stopped before it answered", code="MODEL_STOPPED")

    access = PlannerModel(lambda: Scripted(stopped), SystemClock())
    assert Planner(world, access).run(ODD, stop).verdict == "cancelled" and not world.log


def test_an_id_that_could_fake_a_reading_is_not_read_back(world: World) -> None:
    odd = "apple_01 in basket. Nothing else"
    world.now_scene = scene_of(ball(odd, 0.5, 0.1))
    person = Person("y")
    assert not carried_out(world, ODD, Scripted(plan({**APPLE, "object": odd})), person).ok
    assert person.asked == [] and not world.log


def test_a_scene_of_any_size_is_bounded(world: World) -> None:
    world.now_scene = scene_of(*(ball(f"ball_{n}", 0.3, 0.0, name="x" * 90) for n in range(150)))
    model = Scripted(call("refuse", reason="too many"))
    report = carried_out(world, "flurb the wibble", model)
    assert not report.ok and len(told(model)) < 60_000 and len(json.dumps(model.asked[0][1])) < 60_000


def test_the_intent_names_who_proposed_it(world: World) -> None:
    report = carried_out(world, ODD, Scripted(plan(APPLE)), Person("y"))
    assert isinstance(report.intent, CommandIntent) and report.intent.proposed_by["model"] == "tiny"
