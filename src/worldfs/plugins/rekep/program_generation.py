"""From words to a program: a model's answer is read as any file is, rehearsed, and sent back where it is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from worldfs.base.chat_model import ConfiguredModel, ModelMessage, ModelUnavailable, RecordingModel
from worldfs.base.driver import Run
from worldfs.base.errors import BadInput, UserError
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.formats.runtime.skill_file import program_text
from worldfs.skills.skill_runtime import SkillRequest

from . import constraint_prompt
from .constraint_program import ConstraintProgram, of_text
from .end_effector import ExecutionHalted, SceneSnapshot
from .keypoints import Keypoint, of_scene, positions
from .program_library import LibraryProgram, ProgramGoal
from .program_sources import with_points

AGAIN: Final = 2  # times that a refused answer is sent back with the reason


def model_of(request: SkillRequest) -> ConfiguredModel:
    """The model that the skill names. Raises `ModelUnavailable` (MODEL_MISSING) naming what is to be declared."""
    name = request.skill.extra.get("model")
    found = request.model(name) if isinstance(name, str) else None
    if found is None:
        said = coded("plugin.rekep_unnamed" if name is None else "plugin.rekep_model")
        said = coded("plugin.rekep_no_model", name=name[:80]) if isinstance(name, str) else said
        raise ModelUnavailable(
            said, code="MODEL_MISSING", path=f"SKILLS.md {request.skill.id} model",
            expected=coded("plugin.rekep_model_name"), fix=coded("plugin.rekep_write_model", skill=request.skill.id),
        )  # fmt: skip
    return found


def generate_program(
    words: str, request: SkillRequest, state: SceneSnapshot, run: Run, *,
    picture: Callable[[Sequence[Keypoint]], bytes],
    check: Callable[[LibraryProgram], None],
) -> tuple[LibraryProgram, Json]:  # fmt: skip
    """A program for `words`, and the evidence of its making. `picture`: PNG bytes, for a skill with `images: true`.

    `check` raises `BadInput` for a program that is not to be run. Raises `ModelUnavailable`, or the last `BadInput`.
    """
    model = model_of(request).open()
    points = of_scene(state.things.values())
    text = constraint_prompt.task_prompt(words, points, positions(points, state.poses).tolist(), state.things)
    refusals: list[str] = []
    evidence: Json = {"model": model.name, "words": words, "answers": 0, "refusals": refusals}
    images: tuple[bytes, ...] = ()
    if request.skill.extra.get("images") is True:
        try:
            images = (picture(points),)
        except UserError as error:  # the model reads the list of keypoints as well
            evidence["picture"] = str(error)[:200]
    messages = [ModelMessage("system", constraint_prompt.RULES), ModelMessage("user", text, images)]
    while True:
        answer = _ask(model, messages, run)
        evidence["answers"] = len(refusals) + 1
        evidence["model_calls"] = [call.as_json() for call in model.calls]
        try:
            program = of_text(program_text(answer), f"{model.name}'s answer")
            program = ConstraintProgram(program.name, program.stages)  # the points are those of the prompt
            planned = with_points(program, state.things, program.name, ProgramGoal(""))
            check(planned)
            return planned, evidence
        except BadInput as error:
            refusals.append(str(error)[:300])
            if len(refusals) > AGAIN:
                raise
            correction = constraint_prompt.correction_prompt(str(error))
            messages += [ModelMessage("assistant", answer), ModelMessage("user", correction)]


def _ask(model: RecordingModel, messages: Sequence[ModelMessage], run: Run) -> str:
    """Raises `ExecutionHalted` when the run is to stop."""
    try:
        answer = model.reply(messages, (), run).text
    except ModelUnavailable:
        if run.stop:
            raise ExecutionHalted(run.stop) from None
        raise
    if not answer.strip():
        raise ModelUnavailable(coded("plugin.rekep_no_answer"), op="ask a model", code="MODEL_ANSWER")
    return answer
