"""What the planner understands of an instruction, said back before anything moves."""

from __future__ import annotations

from typing import NamedTuple

from worldfs.base.errors import UserError
from worldfs.base.messages import render
from worldfs.base.stop_words import is_stop
from worldfs.formats import embodied, environment
from worldfs.planning.planner import CommandIntent, QuestionIntent, interpret
from worldfs.planning.planner.task_text import goal_text

from . import places
from .actor_tree import ActorTree


class InstructionReading(NamedTuple):
    """`kind`: stop | command | question | refused, and of a refusal why in `why`; "" where the scene is not readable.
    `can`: sentences that would be understood."""

    kind: str = ""
    text: str = ""
    why: str = ""
    can: tuple[str, ...] = ()


async def read_instruction(tree: ActorTree, text: str) -> InstructionReading:
    robots = [] if is_stop(text) else await places.robots(tree)
    if is_stop(text, lambda: robots):
        return InstructionReading("stop", "stop every robot at once")
    try:
        base = await places.project(tree)
        scene = environment.read((await tree.read(f"{base}/ENVIRONMENT.md")).data).scene
    except UserError:
        return InstructionReading()
    node = robots[0] if len(robots) == 1 else ""
    try:
        profile = embodied.read((await tree.read(f"/nodes/{node}/EMBODIED.md")).data) if node else None
    except UserError:
        profile = None
    intent = interpret(text, scene, profile=profile, robot_id=node, suggest=True)
    if isinstance(intent, CommandIntent):
        said = ("；" if intent.language == "zh" else "; then ").join(
            render(goal_text(goal, scene), intent.language) for goal in intent.goals
        )
        return InstructionReading("command", said + (f" ({intent.note})" if intent.note else ""))
    if isinstance(intent, QuestionIntent):
        return InstructionReading("question", intent.answer)
    return InstructionReading("refused", intent.reason, intent.kind, intent.can)
