"""What a robot would make of an instruction: the grammar's reading, and the plan as it stands now. Nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from worldfs.base.json_text import compact_json
from worldfs.base.messages import render
from worldfs.base.messages.coded_text import language_of
from worldfs.base.stop_words import is_stop
from worldfs.planning.planner import (
    CommandIntent,
    PlanConstraints,
    QuestionIntent,
    RefusedIntent,
    build_plan,
    holds,
    interpret,
    plan_sentences,
    stages,
    task_text,
)
from worldfs.planning.planner.scene_facts import sanitized_scene
from worldfs.planning.planner.suggestions import suggestions

if TYPE_CHECKING:
    from worldfs.base.model import Scene
    from worldfs.planning.planner import PlannerPort


def render_reading(instruction: str, port: PlannerPort, robots: Callable[[], Iterable[str]] = tuple) -> bytes:
    return compact_json(reading(instruction, port, robots)) + b"\n"


def reading(instruction: str, port: PlannerPort, robots: Callable[[], Iterable[str]] = tuple) -> dict[str, object]:
    """The reading of the grammar: `kind` stop, command or question, else why it is refused in one word. `robots`: the
    names of all."""
    if is_stop(instruction, robots):
        language = language_of(instruction)
        return {
            "instruction": instruction,
            "robot": port.robot_id,
            "language": language,
            "kind": "stop",
            "understood": True,
        }
    scene, profile, robot = sanitized_scene(port.scene()), port.profile(), port.robot_id
    intent = interpret(instruction, scene, port.earlier, profile=profile, robot_id=robot)
    said: dict[str, object] = {"instruction": instruction, "robot": robot, "language": intent.language}
    if isinstance(intent, QuestionIntent):
        return {**said, "kind": "question", "understood": intent.answered, "answer": intent.answer}
    if isinstance(intent, RefusedIntent):
        can = intent.can or suggestions(scene, intent.language, profile, robot)
        return {**said, "kind": intent.kind, "understood": False, "reason": intent.reason, "can": list(can)}
    return {**said, "kind": "command", **_plan(intent, scene, port)}


def _plan(intent: CommandIntent, scene: Scene, port: PlannerPort) -> dict[str, object]:
    """Goals and steps in words, in the instruction's language; what cannot be reached is named with its reason."""
    language, robot = intent.language, port.robot_id
    limits = PlanConstraints(intent.protected, profile_of=port.profile)
    groups = stages(intent.goals, intent.later)
    plan = build_plan(groups, scene, profile=port.profile(), robot_id=robot, limits=limits)
    goals = [
        {"text": render(task_text.goal_text(goal, scene), language), "held": holds(goal, scene, robot)}
        for goal in intent.goals
    ]
    steps = [render(task_text.step_text(action, scene), language) for action in plan.actions]
    reason = plan_sentences.infeasible(plan.unmet, (), scene, language) if plan.unmet else ""
    note = render(intent.note, language)
    return {"understood": not plan.unmet, "goals": goals, "steps": steps, "note": note, "reason": reason}
