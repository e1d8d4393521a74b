"""Stages: the goals of a command in groups that follow each other, each with what must last to the end."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .goals import (
    BODY_GOALS,
    POSE_GOALS,
    ApartGoal,
    AreaGoal,
    AtGoal,
    BesideGoal,
    CentreGoal,
    ClearedGoal,
    DownGoal,
    Goal,
    GripperGoal,
    HoldingGoal,
    HomeGoal,
    OnGoal,
    PlacedGoal,
    TowardGoal,
    subject,
)

ALONE = (*POSE_GOALS, *BODY_GOALS, HoldingGoal, DownGoal)


def stages(goals: Sequence[Goal], later: Collection[int] = ()) -> list[tuple[Goal, ...]]:
    """Goals that may be met in any order together; a pose of the robot, or a thing's second place, begins another.

    `later`: indices of goals that begin another because it was said so ("then").
    """
    found: list[list[Goal]] = []
    for number, goal in enumerate(goals):
        alone = isinstance(goal, ALONE)
        last = found[-1] if found else None
        clash = last is None or alone or number in later or isinstance(last[0], ALONE)
        if not clash and last is not None and subject(goal):
            clash = subject(goal) in {subject(g) for g in last}
        if clash or last is None:
            found.append([goal])
        else:
            last.append(goal)
    return [tuple(group) for group in found]


def ordered_stages(goals: Sequence[Goal], later: Collection[int] = ()) -> frozenset[int]:
    """Numbers of the stages that were said to come after those before them: they begin only once those are reached."""
    first, found = 0, set()
    for number, group in enumerate(stages(goals, later)):
        if first in later and number:
            found.add(number)
        first += len(group)
    return frozenset(found)


def lasting_goals(goals: Sequence[Goal], stage: Sequence[int] = ()) -> list[bool]:
    """Which goals must still hold at the very end: poses and places that a later goal undoes need only have held.

    `stage`: the number of the stage of each goal.
    """
    found = []
    for n, goal in enumerate(goals):
        later = goals[n + 1 :]
        if isinstance(goal, ClearedGoal):  # what is put there afterwards was asked for
            found.append(
                not any(
                    isinstance(
                        g, (OnGoal, PlacedGoal, AreaGoal, CentreGoal, BesideGoal, TowardGoal, ApartGoal, DownGoal)
                    )
                    for g in later
                )
            )
        elif isinstance(goal, POSE_GOALS):
            found.append(isinstance(goal, (HomeGoal, AtGoal, GripperGoal)) and not later)
        else:
            undone = {subject(g) for g in later if not isinstance(g, POSE_GOALS)}
            moved = {subject(g) for g, number in zip(later, stage[n + 1 :], strict=False) if number != stage[n]}
            beside = {str(getattr(goal, name, "")) for name in ("support", "other", "into")} - {""}
            gone = any(_turned_over(goal, g) for g in later) or not beside.isdisjoint(moved)
            found.append(subject(goal) not in undone and not gone)
    return found


def _turned_over(goal: Goal, later: Goal) -> bool:
    """ "put A on B, then put B on A": both cannot hold at the end."""
    return (
        isinstance(goal, OnGoal)
        and isinstance(later, OnGoal)
        and (later.object, later.support) == (goal.support, goal.object)
    )
