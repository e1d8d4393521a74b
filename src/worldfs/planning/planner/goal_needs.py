"""What goals ask of a robot before any plan is made: operations, places in their order, and the heaviest thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from worldfs.base.model import Scene, Vec
from worldfs.base.standard_operations import (
    CLOSE_FIXTURE,
    HAND_OVER,
    MOVE_TO,
    NAVIGATE,
    OPEN_FIXTURE,
    PICK_UP,
    POUR,
    PUSH,
    UPRIGHT,
)

from .goals import (
    AtGoal,
    ClearedGoal,
    DownGoal,
    GestureGoal,
    Goal,
    GripperGoal,
    HandedGoal,
    HoldingGoal,
    HomeGoal,
    OpenedGoal,
    OperationGoal,
    PouredGoal,
    SeenGoal,
    SlidGoal,
    UprightGoal,
    VisitGoal,
    littering,
    subject,
)


class GoalNeeds(NamedTuple):
    """`ops`: of a profile. `places`: positions in metres. `mass` in kg; 0: unknown, or nothing is lifted. `things`:
    what is lifted."""

    ops: frozenset[str] = frozenset()
    places: tuple[Vec, ...] = ()
    mass: float = 0.0
    things: tuple[str, ...] = ()


def goal_needs(goals: Sequence[Goal], scene: Scene) -> GoalNeeds:
    """Words that mean the same (pick, put_down) are the planner's to choose: only what every way needs is named."""
    ops: set[str] = set()
    places: list[Vec] = []
    lifted: list[str] = []
    for goal in goals:
        match goal:
            case OperationGoal():
                ops.add(goal.name)
            case AtGoal():
                ops.add(MOVE_TO.name)
                places.append(goal.position)
            case SeenGoal() | VisitGoal():
                ops.add(NAVIGATE.name)
                places += _position(scene, goal.object)
            case HomeGoal() | GripperGoal() | GestureGoal():
                pass  # a strategy of the body's own
            case ClearedGoal():
                lifted += littering(goal, scene)
            case SlidGoal():
                ops.add(PUSH.name)
                places += [*_position(scene, goal.object), goal.position]
            case UprightGoal():
                ops.add(UPRIGHT.name)
                places += _position(scene, goal.object)
            case OpenedGoal():
                ops.add((OPEN_FIXTURE if goal.state == "open" else CLOSE_FIXTURE).name)
                places += _position(scene, goal.object)
            case HandedGoal():
                ops.add(HAND_OVER.name)
            case PouredGoal():
                ops.add(POUR.name)
                places += [*_position(scene, goal.object), *_position(scene, goal.into)]
            case DownGoal():
                places += _position(scene, goal.object)
            case _:
                lifted.append(subject(goal))
                ends = [] if isinstance(goal, HoldingGoal) else _ends(goal)
                places += [at for id in (subject(goal), *ends) for at in _position(scene, id)]
    if lifted:
        ops.add(PICK_UP.name)
    masses = [thing.mass for id in lifted if (thing := scene.thing(id)) is not None]
    places += [at for id in lifted for at in _position(scene, id) if at not in places]
    return GoalNeeds(frozenset(ops), tuple(places), max(masses, default=0.0), tuple(dict.fromkeys(lifted)))


def _ends(goal: Goal) -> list[str]:
    """What the thing is brought to."""
    return [str(found) for name in ("container", "other") if (found := getattr(goal, name, ""))]


def _position(scene: Scene, id: str) -> list[Vec]:
    thing, robot = scene.thing(id), scene.robot(id)
    if thing is None:
        return [] if robot is None or len(robot.pose) < 2 else [robot.pose]
    return [thing.position]
