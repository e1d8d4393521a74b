"""A run of the instructions: every contestant with every instruction, each in a world of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from worldfs.base.chat_model import RecordingModel
from worldfs.base.clock import Clock
from worldfs.base.messages.coded_text import language_of
from worldfs.base.model import Json
from worldfs.base.stop_signal import StopSignal
from worldfs.planning.planner import Planner, PlannerModel, PlanReport, QuestionIntent, RefusedIntent
from worldfs.planning.planner.scene_facts import sanitized_scene

from .goal_facts import GoalFacts
from .instruction_list import InstructionCase
from .instruction_world import InstructionWorld
from .stated_goal import CasePerson, agreeable

GRAMMAR: Final = "grammar"
BOTH: Final = "grammar+model"
ALONE: Final = "model"  # reads everything itself, and nobody confirms; the critic judges its orders as any others
CONTESTANTS: Final = (GRAMMAR, BOTH, ALONE)
OUTCOMES: Final = ("right", "refused rightly", "asked", "refused wrongly", "failed", "wrong", "false success")
GOOD: Final = frozenset(("right", "refused rightly"))
_ASKED: Final = frozenset(("ambiguous", "unconfirmed"))
REST_S: Final = 0.5  # in which the world comes to rest before it is measured

OpenModel = Callable[[InstructionCase], RecordingModel]


class InstructionResult(NamedTuple):
    """What a contestant made of an instruction. `said` is its reason or answer; `cost_usd`: None, not known."""

    contestant: str
    case: str
    kind: str
    language: str
    outcome: str
    said: str
    seconds: float
    calls: int
    tokens: int
    cost_usd: float | None

    def as_json(self) -> Json:
        return {**self._asdict(), "seconds": round(self.seconds, 3)}


def run_instructions(
    cases: Sequence[InstructionCase], contestants: Sequence[str], open_model: OpenModel, clock: Clock, stop: StopSignal
) -> Iterator[InstructionResult]:
    """Instruction by instruction, so that a run that is stopped has compared all contestants as far as it came.

    Raises what opening a world raises; a model that cannot be had is a refusal like any other.
    """
    for case in cases:
        for contestant in contestants:
            found = _result(case, contestant, open_model, clock, stop)
            if stop.is_set():
                return
            yield found


def _result(
    case: InstructionCase, contestant: str, open_model: OpenModel, clock: Clock, stop: StopSignal
) -> InstructionResult:
    with InstructionWorld(case.scene, case.language, clock) as world:
        facts, port, began = GoalFacts(world.arm), world.port, clock.monotonic()
        scene = sanitized_scene(port.scene())
        if contestant == GRAMMAR:
            report = Planner(port).run(case.words, stop)
        elif contestant == BOTH:
            person = CasePerson(case, scene, port.profile())
            report = Planner(port, PlannerModel(lambda: open_model(case), clock, person)).run(case.words, stop)
        else:
            unread = RefusedIntent("", language=language_of(case.words), text=case.words)
            model = PlannerModel(lambda: open_model(case), clock, agreeable)
            report = Planner(port, model).by_model(unread, scene, stop)
        seconds = clock.monotonic() - began
        world.rest(REST_S)
        outcome = _outcome(case, report, facts)
    costs = [call.cost_usd for call in report.model_calls]
    return InstructionResult(
        contestant, case.id, case.kind, case.language, outcome, " ".join(report.reason.split())[:300], seconds,
        len(costs), sum(call.input_tokens + call.output_tokens for call in report.model_calls),
        None if None in costs else sum(cost for cost in costs if cost is not None),
    )  # fmt: skip


def _outcome(case: InstructionCase, report: PlanReport, facts: GoalFacts) -> str:
    """One of `OUTCOMES`, by what the world shows. `wrong`: something moved that was not to be moved; `false success`:
    it says that it is done, or answers, and it is not so."""
    goal_holds = any(facts.hold(goal) for goal in case.right)
    if facts.moved() - case.wanted if case.right else not facts.at_rest:
        return "wrong"
    intent = report.intent
    if isinstance(intent, RefusedIntent):
        if intent.kind in _ASKED:
            return "right" if case.kind == "ambiguous" else "asked"
        return "refused rightly" if case.kind in ("impossible", "dangerous") else "refused wrongly"
    if isinstance(intent, QuestionIntent):
        if case.kind != "questions" or not report.ok:
            return "refused wrongly"
        return "right" if re.search(case.answer, intent.answer, re.I | re.S) else "false success"
    if not case.right:  # it understood an order where none can be carried out
        return "false success" if report.ok else "refused rightly" if case.kind != "questions" else "refused wrongly"
    if report.ok:
        return "right" if goal_holds else "false success"
    return "failed" if report.moved else "refused wrongly"
