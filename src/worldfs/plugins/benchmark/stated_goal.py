"""The stated goal of an instruction, as a model would propose it and as the benchmark's person confirms it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Final

from worldfs.base.messages import coded, render
from worldfs.base.messages.coded_text import language_of
from worldfs.base.model import Json, Profile, Scene
from worldfs.planning.planner import task_text
from worldfs.planning.planner.directions import axis
from worldfs.planning.planner.proposed_steps import ProposedSteps

from .instruction_list import GoalFact, InstructionCase

_STEPS: Final = {
    "in": ("put_in", "object", "container"), "on": ("put_on", "object", "support"), "held": ("hold", "object"),
    "beside": ("put_beside", "object", "other"), "above": ("go_above", "thing"), "home": ("go_home",),
    "wave": ("wave",), "open": ("open_gripper",), "closed": ("close_gripper",),
}  # fmt: skip


def steps_of_goal(goal: Sequence[GoalFact], scene: Scene) -> list[Json]:
    """A goal as the steps that a model is offered."""
    return [_step(fact, scene) for fact in goal]


def _step(fact: GoalFact, scene: Scene) -> Json:
    if fact.word == "shift":
        thing, side = scene.thing(fact.names[0]), axis(fact.names[1], scene)
        assert thing is not None
        point = [round(at + fact.metres * way, 3) for at, way in zip(thing.position, side, strict=False)]
        return {"do": "put_at", "object": thing.id, "position": point}
    if fact.word not in _STEPS:
        return {"do": "put_toward", "object": fact.names[0], "other": fact.names[1], "side": fact.word}
    name, *words = _STEPS[fact.word]
    return {"do": name, **dict(zip(words, fact.names, strict=True))}


class CasePerson:
    """The person of an instruction: says yes to a reading only where its sentences are those of the stated goal, in any
    order, and nothing to any other question."""

    def __init__(self, case: InstructionCase, scene: Scene, profile: Profile | None) -> None:
        self._language = language_of(case.words)
        known, said = ProposedSteps(scene, profile), []
        for goal in case.right:
            goals = known.goals({"steps": steps_of_goal(goal, scene)})
            said.append([render(task_text.goal_text(one, scene), self._language) for one in goals])
        joint = "；" if self._language == "zh" else "; "
        self._readings = [joint.join(order) for texts in said for order in permutations(texts)]

    def __call__(self, question: str) -> str:
        before, between, after = confirmation(self._language)
        wanted = [before + reading + between for reading in self._readings]
        return "yes" if question.endswith(after) and question.startswith(tuple(wanted)) else ""


def confirmation(language: str) -> tuple[str, str, str]:
    """What stands in a request for confirmation before the reading, between it and the warning, and at the end."""
    before, between, after = render(coded("model.confirm", what="\0", warning="\0"), language).split("\0")
    return before, between, after


def agreeable(question: str) -> str:
    """No person stands between: yes to whatever is to be confirmed, and no answer to a model's own question."""
    return "yes" if any(question.startswith(confirmation(language)[0]) for language in ("en", "zh")) else ""
