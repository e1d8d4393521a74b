"""From words to a program: the model's answer is read like any file, and requested once more where it is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from worldfs.base.driver import Run
from worldfs.base.errors import BadInput, UserError
from worldfs.base.json_values import as_int
from worldfs.base.model import Json, Skill

from . import constraint_prompt, language_model
from .constraint_program import ConstraintProgram, of_text
from .end_effector import SceneSnapshot
from .keypoints import Keypoint, of_scene, positions
from .program_library import LibraryProgram, ProgramGoal
from .program_sources import with_points

AGAIN = 2  # times that a refused answer is sent back with the reason


def generate_program(
    words: str, skill: Skill, state: SceneSnapshot, run: Run, *,
    picture: Callable[[Sequence[Keypoint]], str] | None = None,
    check: Callable[[LibraryProgram], str] = lambda planned: "",
) -> tuple[LibraryProgram, Json]:  # fmt: skip
    """A program for `words`, and the evidence of its making. `picture`: returns a data URL.

    Raises `LanguageModelError`, or `BadInput` when the last answer is still unusable. `check` returns why one is.
    """
    chosen = language_model.model_of_skill(skill)
    points = of_scene(state.things.values())
    text = constraint_prompt.task_prompt(words, points, positions(points, state.poses).tolist(), state.things)
    content: object = text
    refusals: list[str] = []
    evidence: Json = {"model": chosen.name, "words": words, "answers": 0, "refusals": refusals}
    asked = 0
    if picture is not None and chosen.images:
        try:
            image = {"type": "image_url", "image_url": {"url": picture(points)}}
            content = [{"type": "text", "text": text}, image]
        except UserError as error:  # it reads the list of keypoints as well
            evidence["picture"] = str(error)[:200]
    messages: list[Json] = [
        {"role": "system", "content": constraint_prompt.RULES},
        {"role": "user", "content": content},
    ]
    while True:
        answer, usage = language_model.ask_model(chosen, messages, run)
        asked += 1
        evidence["answers"] = asked
        for key, value in usage.items():
            evidence[key] = as_int(evidence.get(key)) + as_int(value)
        try:
            program = of_text(language_model.fenced_blocks(answer), f"{chosen.name}'s answer")
            program = ConstraintProgram(program.name, program.stages)  # the points are those of the prompt
            planned = with_points(program, state.things, program.name, ProgramGoal(""))
            why = check(planned)
            if not why:
                return planned, evidence
            raise BadInput(why, path=program.name, expected="stages that the arm can reach", code="CRITIC_REFUSED")
        except BadInput as error:
            refusals.append(str(error)[:300])
            if asked > AGAIN:
                raise
            messages += [
                {"role": "assistant", "content": answer},
                {"role": "user", "content": constraint_prompt.correction_prompt(str(error))},
            ]
