"""Goals that one operation of the body reaches: a thing slid somewhere, set upright, a drawer opened or closed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from worldfs.base.messages import coded
from worldfs.base.model import Profile, Scene, Thing, Vec

from . import planned_actions, thing_names
from .goals import Goal, HandedGoal, OpenedGoal, PouredGoal, SlidGoal, holds, subject
from .hand_over_points import allowed_points, no_way_to_meet
from .plan_constraints import PlanConstraints
from .planned_actions import PlannedAction
from .predicted_scene import after_operation

Refusal = Callable[[PlannedAction, Scene], str]  # why an action would be refused in that scene; "" if it would not


def handled(  # noqa: PLR0917  # one group of goals, taken apart
    goals: Sequence[Goal],
    scene: Scene,
    profile: Profile | None,
    robot_id: str,
    stage: int,
    limits: PlanConstraints,
    refused: Refusal,
) -> tuple[list[PlannedAction], list[tuple[Goal, str]], Scene]:
    """One operation for each thing from where it stands, what cannot be reached and why, and the scene afterwards."""
    actions: list[PlannedAction] = []
    lost: list[tuple[Goal, str]] = []
    for goal in goals:
        if holds(goal, scene, robot_id):
            continue
        id, thing = subject(goal), scene.thing(subject(goal))
        if thing is None:
            lost.append((goal, coded("planner.gone", name=id)))
            continue
        points: Sequence[Vec] | None = None
        why = limits.abandoned.get(id, "")
        if isinstance(goal, HandedGoal) and limits.profile_of is not None:
            pair = (robot_id, profile), (goal.robot, limits.profile_of(goal.robot))
            points = allowed_points(scene, *pair)
            why = why or no_way_to_meet(scene, points, *pair)
        action = _operation(goal, thing, points or (), stage)
        if id in limits.protected:
            why = coded("planner.protected", name=thing_names.named(id, scene))
        if not why and not planned_actions.supports_op(profile, action.op):
            why = coded("planner.no_op", what=action.op)
        why = why or refused(action, scene)
        if not why and points is not None and not points:
            why = coded("planner.no_meeting", one=robot_id, other=action.partner)
        if why:
            lost.append((goal, why))
            continue
        actions.append(action)
        scene = after_operation(goal, thing, scene)
    return actions, lost, scene


def _operation(goal: Goal, thing: Thing, points: Sequence[Vec], stage: int) -> PlannedAction:
    if isinstance(goal, OpenedGoal):
        return planned_actions.fixture_action(thing.id, goal.state, stage)
    if isinstance(goal, HandedGoal):
        return planned_actions.hand_over_action(thing.id, goal.robot, points, stage)
    if isinstance(goal, PouredGoal):
        return planned_actions.pour_action(thing.id, goal.into, stage)
    if not isinstance(goal, SlidGoal):
        return planned_actions.upright_action(thing.id, stage)
    x, y = (b - a for a, b in zip(thing.position[:2], goal.position[:2], strict=True))
    metres = math.hypot(x, y)
    return planned_actions.push_action(thing.id, (x / metres, y / metres), metres, stage)
