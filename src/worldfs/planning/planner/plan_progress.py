"""How far an instruction has come: what a later execution of it, after a restart, does not do once more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import NamedTuple

from worldfs.base.model import Scene

from .goal_stages import lasting_goals, stages
from .goals import POSE_GOALS, Goal, holds
from .intent import CommandIntent
from .planned_actions import PlannedAction, serves

_POSES = frozenset(kind.__name__ for kind in POSE_GOALS)


class PlanProgress(NamedTuple):
    """`stage`: the first that is not done. `reached`: keys of goals that held once their turn had come."""

    stage: int = 0
    reached: tuple[str, ...] = ()
    reaches: tuple[str, ...] = ()  # keys of the goals that the next order reaches if it succeeds


def goal_keys(groups: Sequence[Sequence[Goal]]) -> dict[tuple[int, Goal], str]:
    """A key for each goal of each stage that another reading of the same words gives it, too.

    A position is no part of it: "10 cm to the left" is another one once the robot has moved.
    """
    found: dict[tuple[int, Goal], str] = {}
    for stage, group in enumerate(groups):
        count: Counter[str] = Counter()
        for goal in group:
            words = [type(goal).__name__]
            words += [value for field in fields(goal) if isinstance(value := getattr(goal, field.name), str) and value]
            name = " ".join(words)
            count[name] += 1
            found[stage, goal] = f"{stage} {name} {count[name]}"
    return found


def about_robot(reached: Collection[str]) -> bool:
    """Whether one of these goals is about the robot itself, as where it stands: no other robot has reached it."""
    return any(key.split(" ", 2)[1] in _POSES for key in reached if key.count(" ") >= 2)


def progress_of(
    groups: Sequence[Sequence[Goal]], stage: int, witnessed: Collection[tuple[int, Goal]], action: PlannedAction
) -> PlanProgress:
    """As it is when the order for `action` is submitted. Whether a thing came where it was wanted, the scene shows."""
    keys = goal_keys(groups)
    reached = tuple(key for where, key in keys.items() if where in witnessed)
    poses = [g for g in groups[action.stage] if isinstance(g, POSE_GOALS) and serves(action, g)]
    return PlanProgress(stage, reached, tuple(keys[action.stage, goal] for goal in poses))


def unmet_goals(command: CommandIntent, progress: PlanProgress, scene: Scene, robot: str) -> list[Goal]:
    """The goals that a later execution would still have to reach; those that must last are judged by the scene."""
    groups = stages(command.goals, command.later)
    keys = goal_keys(groups)
    staged = [(stage, goal) for stage, group in enumerate(groups) for goal in group]
    lasts = lasting_goals([goal for _, goal in staged], [stage for stage, _ in staged])
    found = []
    for (stage, goal), last in zip(staged, lasts, strict=True):
        seen = keys[stage, goal] in progress.reached and (not last or isinstance(goal, POSE_GOALS))
        if not seen and not holds(goal, scene, robot):
            found.append(goal)
    return found
