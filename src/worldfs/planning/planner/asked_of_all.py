"""A question that is put to no robot: each robot answers it, and where all answers are the same it is said once."""

from __future__ import annotations

from collections.abc import Mapping

from worldfs.base.messages import coded, render
from worldfs.base.model import Profile, Scene
from worldfs.base.stop_words import may_be_about_stopping

from .instruction_parser import interpret
from .intent import QuestionIntent, RefusedIntent


def asked_of_all(
    text: str, scene: Scene, robots: Mapping[str, Profile | None]
) -> QuestionIntent | RefusedIntent | None:
    """The answer of all `robots`, by id; a refusal where it is not clear which thing is meant.

    None where a robot must be named: for an order, and for what no robot can answer and may be about stopping one.
    """
    said: dict[str, QuestionIntent | RefusedIntent] = {}
    for id, profile in robots.items():
        intent = interpret(text, scene, profile=profile, robot_id=id, several=True)
        if not isinstance(intent, QuestionIntent) and not (isinstance(intent, RefusedIntent) and intent.asked):
            return None
        said[id] = intent
    answers = {id: one.answer if isinstance(one, QuestionIntent) else one.reason for id, one in said.items()}
    answered = any(isinstance(one, QuestionIntent) and one.answered for one in said.values())
    if not said or (not answered and may_be_about_stopping(text)):
        return None
    first = next(iter(said.values()))
    if len({*answers.values()}) == 1 or (isinstance(first, RefusedIntent) and not answered):
        return first
    language = first.language
    told = [render(coded("planner.by_robot", robot=id, said=answer), language) for id, answer in answers.items()]
    return QuestionIntent(text, language, ("；" if language == "zh" else "; ").join(told), answered)
