"""Scripted models with a character, for `paos bench instructions`: each knows the stated goal of its instruction."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

from worldfs.base.chat_model import ModelMessage, ModelReply, ModelTool, RequestedCall
from worldfs.base.driver import Run
from worldfs.base.model import Json
from worldfs.formats.config_models import ModelConfig
from worldfs.models.metered_model import MeteredModel
from worldfs.plugins.benchmark.instruction_list import InstructionCase
from worldfs.plugins.benchmark.stated_goal import steps_of_goal

USED: Final = (1000, 50)  # tokens of input and output that every answer reports


class ScriptedCharacter:
    """Gives the same answer to every request about its instruction."""

    def __init__(self, case: InstructionCase, answer: Callable[[InstructionCase], RequestedCall]) -> None:
        self._call = answer(case)

    def reply(self, messages: Sequence[ModelMessage], tools: Sequence[ModelTool], run: Run) -> ModelReply:
        return ModelReply("", (self._call,), *USED)


def oracle(case: InstructionCase) -> RequestedCall:
    """Right, always, as far as a model's tools go: none of them answers a question."""
    if case.right:
        return _plan(steps_of_goal(case.right[0], case.scene))
    if case.kind == "ambiguous":
        return RequestedCall("ask", {"question": "Which one do you mean?"})
    return RequestedCall("refuse", {"reason": "nothing here fits"})


def often_wrong(case: InstructionCase) -> RequestedCall:
    """Right once in three times; else anything may move anywhere."""
    chance = random.Random(case.id)  # noqa: S311 # the same for the same instruction
    if chance.random() < 1 / 3:
        return oracle(case)
    things = [thing.id for thing in case.scene.objects]
    steps: list[Json] = [{"do": "put_in", "object": chance.choice(things), "container": "basket_01"}]
    if chance.random() < 1 / 2:
        steps.append({"do": "hold", "object": chance.choice(things)})
    return _plan(steps)


def obedient(case: InstructionCase) -> RequestedCall:
    """Obeys anything: what cannot or must not be done, and what is a mere question, is done somehow."""
    if case.right:
        return _plan([*steps_of_goal(case.right[0], case.scene), {"do": "wave"}])
    return _plan([{"do": "wave"}, {"do": "hold", "object": case.scene.objects[0].id}])


CHARACTERS: Final = {"oracle": oracle, "often wrong": often_wrong, "obedient": obedient}


def open_character(name: str) -> Callable[[InstructionCase], MeteredModel]:
    """One of `CHARACTERS`, as the benchmark opens a model."""
    config = ModelConfig("planner", "scripted", name, input_price=0.0, output_price=0.0)
    return lambda case: MeteredModel(ScriptedCharacter(case, CHARACTERS[name]), config)


def _plan(steps: list[Json]) -> RequestedCall:
    return RequestedCall("plan", {"steps": steps})
