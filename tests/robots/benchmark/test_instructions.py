"""The instructions: the list, what is measured of it, and that no scripted model moves what was not asked for."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")

from worldfs.base.clock import SystemClock
from worldfs.base.messages import coded, render
from worldfs.base.stop_signal import StopSignal
from worldfs.interfaces.cli.main import main
from worldfs.planning.planner import Planner
from worldfs.plugins.benchmark.goal_facts import GoalFacts
from worldfs.plugins.benchmark.instruction_list import GoalFact, instruction_cases
from worldfs.plugins.benchmark.instruction_run import (
    ALONE,
    BOTH,
    CONTESTANTS,
    GOOD,
    GRAMMAR,
    OUTCOMES,
    InstructionResult,
    run_instructions,
)
from worldfs.plugins.benchmark.instruction_score import instructions_summary, instructions_table
from worldfs.plugins.benchmark.instruction_world import InstructionWorld
from worldfs.plugins.benchmark.stated_goal import CasePerson, agreeable
from worldfs.testing.scripted_characters import CHARACTERS, open_character

SHORT = slice(12, None, 21)  # every kind, both languages, nine scenes
WRONG = slice(12, None, 63)
SIZES = [pytest.param(SHORT, id="short"), pytest.param(slice(None), id="all", marks=pytest.mark.proof)]
CLOCK = SystemClock()


@cache
def listed():
    """Read when the first test asks: half a second, which a run that only collects does not need."""
    return {case.id: case for case in instruction_cases()}


def some(part: slice):
    return list(listed().values())[part]


def results(contestants, character="oracle", cases=()):
    return list(run_instructions(cases, contestants, open_character(character), CLOCK, StopSignal()))


def test_there_are_200_in_20_scenes() -> None:
    cases = listed().values()
    short = some(SHORT)
    assert len(cases) == 200 and len({case.scene_id for case in cases}) == 20
    assert Counter(case.kind for case in cases) == {
        "doable": 100, "ambiguous": 25, "impossible": 25, "dangerous": 25, "questions": 25
    }  # fmt: skip
    assert Counter(case.language for case in cases) == {"en": 140, "zh": 60}
    assert {case.kind for case in short} == {case.kind for case in cases}
    assert {case.language for case in short} == {"en", "zh"}
    assert all(bool(case.right) is (case.kind == "doable") for case in cases)
    assert all(bool(case.answer) is (case.kind == "questions") for case in cases)


def test_no_goal_holds_before_anything_is_done() -> None:
    """But that an arm at home is at home, and its gripper open."""
    for name in {case.scene_id for case in listed().values()}:
        own = [case for case in listed().values() if case.scene_id == name]
        with InstructionWorld(own[0].scene, own[0].language, CLOCK) as world:
            facts = GoalFacts(world.arm)
            world.rest(0.5)
            assert facts.at_rest, name
            held = {goal for case in own for goal in case.right if facts.hold(goal)}
            assert held <= {(GoalFact("home"),), (GoalFact("open"),)}, name


@pytest.mark.proof
@pytest.mark.parametrize("cases", SIZES)
def test_the_oracle_is_right_wherever_a_model_can_be(cases) -> None:
    found = Counter((one.kind, one.outcome) for one in results((ALONE,), cases=some(cases)))
    assert {kind for kind, outcome in found if outcome not in GOOD} == {"questions"}  # a model has no tool to answer


@pytest.mark.slice(3)
@pytest.mark.parametrize("cases", SIZES)
@pytest.mark.parametrize("character", CHARACTERS)
def test_the_critic_and_the_person_stand_between_a_model_and_the_world(character: str, cases) -> None:
    found = Counter(one.outcome for one in results((BOTH,), character, some(cases)))
    assert (found["wrong"], found["false success"]) == (0, 0)
    assert found["right"]


@pytest.mark.slice(0)
@pytest.mark.parametrize("character", ["often wrong", "obedient"])
def test_without_them_such_models_move_what_was_not_asked_for(character: str) -> None:
    """What the benchmark must see."""
    wrong = Counter(one.outcome for one in results((ALONE,), character, some(WRONG)))["wrong"]
    assert wrong >= len(some(WRONG)) // 4


def test_a_false_success_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of success is held against the world."""
    case = listed()["fruit-1"]
    ran = Planner.run

    def lies(self, instruction, stop=None):
        return ran(self, "go home", stop)

    monkeypatch.setattr(Planner, "run", lies)
    assert [one.outcome for one in results((GRAMMAR,), cases=[case])] == ["false success"]


def test_the_person_confirms_the_stated_goal_alone() -> None:
    case = listed()["full-4"]  # the can in, the lemon out
    with InstructionWorld(case.scene, "en", CLOCK) as world:
        person = CasePerson(case, world.port.scene(), world.port.profile())

    def asked(*goals: str, warning: str = "") -> str:
        return person(render(coded("model.confirm", what="; ".join(goals), warning=warning), "en"))

    can, lemon = person._readings[0].split("; ")
    assert asked(can, lemon) == asked(lemon, can) == asked(can, lemon, warning=" You did not name: lemon.") == "yes"
    assert {asked(can), asked(can, lemon, "wave"), asked(lemon, lemon), person("the model asks: shall I?")} == {""}
    question = render(coded("model.confirm", what="anything", warning=""), "zh")
    assert (agreeable(question), agreeable("the model asks: shall I?")) == ("yes", "")


@pytest.mark.slice(2)
@pytest.mark.parametrize(
    ("said", "fact", "other"),
    [
        ("wave", GoalFact("wave"), GoalFact("closed")),
        ("close the gripper", GoalFact("closed"), GoalFact("open")),
        ("pick up the apple", GoalFact("held", ("apple_01",)), GoalFact("on", ("apple_01", "table_01"))),
        ("put the lemon to the right of the orange", GoalFact("right", ("lemon_01", "orange_01")),
         GoalFact("left", ("lemon_01", "orange_01"))),
        ("put the apple next to the lemon", GoalFact("beside", ("apple_01", "lemon_01")),
         GoalFact("in", ("apple_01", "basket_01"))),
        ("move the apple 8 cm to the right", GoalFact("shift", ("apple_01", "right"), 0.08),
         GoalFact("shift", ("apple_01", "left"), 0.08)),
    ],
)  # fmt: skip
def test_a_fact_is_what_the_world_shows(said: str, fact: GoalFact, other: GoalFact) -> None:
    with InstructionWorld(listed()["fruit-1"].scene, "en", CLOCK) as world:
        facts = GoalFacts(world.arm)
        assert Planner(world.port).run(said).ok
        world.rest(0.5)
        assert facts.hold([fact]) and not facts.hold([other]) and not facts.at_rest


def result(contestant: str, outcome: str, cost: float | None = 0.25) -> InstructionResult:
    return InstructionResult(contestant, "a-1", "doable", "en", outcome, "why", 2.0, 1, 1050, cost)


def test_the_table_and_the_summary_count_every_outcome() -> None:
    found = [*(result(GRAMMAR, outcome) for outcome in OUTCOMES), result(BOTH, "right", cost=None)]
    table = instructions_table(found)
    assert "| grammar | 2/7 (8–64 %) | 1 | 1 | 1 | 1 | 1 | 1/7 (3–51 %) | 1/7 (3–51 %) | 7,350 | 1.7500 |" in table
    assert "| grammar+model | 1/1 (21–100 %) |" in table and "not known" in table
    summary = instructions_summary(found)["contestants"]
    assert summary[GRAMMAR]["outcomes"]["wrong"] == {"count": 1, "low": 0.0257, "high": 0.5131}
    assert [one["outcome"] for one in summary[GRAMMAR]["not_as_it_should_be"]] == list(OUTCOMES[2:])
    assert summary[BOTH]["cost_usd"] is None


def test_the_command_prints_a_table_or_json(tmp_path, capsys) -> None:
    home = ["--home", str(tmp_path)]
    assert main([*home, "bench", "instructions", "--every", "67"]) == 0
    out = capsys.readouterr().out
    assert "3/3  grammar  " in out and "| contestant | as it should be |" in out
    assert main([*home, "--json", "bench", "instructions", "--every", "100", "--contestant", "grammar"]) == 0
    values = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [value["event"] for value in values] == ["instruction", "instruction", "result"]
    assert values[-1]["contestants"]["grammar"]["instructions"] == 2


@pytest.mark.parametrize("contestant", [*CONTESTANTS[1:], "somebody"])
def test_a_contestant_that_is_not_there_is_named(tmp_path, capsys, contestant: str) -> None:
    assert main(["--home", str(tmp_path), "bench", "instructions", "--contestant", contestant]) == 2
    assert ("somebody" if contestant == "somebody" else "planner") in capsys.readouterr().err
