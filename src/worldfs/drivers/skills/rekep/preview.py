"""The preview: a program run through in thought before anything moves, stage by stage, by reach and costs alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from worldfs.ground.model import Thing

from .costs import Sight
from .course import grasp_way
from .grip import grips
from .hands import Halt, Hand, State
from .keypoints import Keypoint, pose_of
from .program import Program
from .solver import solve
from .turns import Pose, quaternion

LOOKS = 2_000  # of its search, some 3 ms each; after so many the arm itself will show it, in the session's time


def preview(program: Program, points: tuple[Keypoint, ...], hand: Hand, slack: float) -> str:
    """ "" if every stage can be reached as far as can be told now, else the first that cannot, and why.

    The first grasp is planned as it will be; what comes after begins in a world that is not there yet. Raises `Broken`
    for a constraint that cannot be evaluated.
    """
    state = hand.now()
    for step in program.stages:  # every constraint once, as things are: what is no cost is found before all else
        sight = Sight(points, state, state.held)
        sight.costs(step.subgoals, state.hand)
        sight.costs(step.paths, state.hand)
    looks = iter(range(LOOKS))

    def going() -> None:
        if next(looks, None) is None:
            raise Halt("preview")

    try:
        return _through(program, points, hand, slack=slack, going=going)
    except Halt:
        return ""


def _through(
    program: Program, points: tuple[Keypoint, ...], hand: Hand, *, slack: float, going: Callable[[], None]
) -> str:
    state, first = hand.now(), True
    for number, step in enumerate(program.stages, 1):
        sight = Sight(points, state, state.held)
        if step.grasp >= 0:
            owner = points[step.grasp].owner
            if state.held == owner:
                continue
            if state.held is not None:
                return f"stage {number}: the gripper holds {state.held}"
            if first:
                taking = grasp_way(step, sight, points, hand, slack=slack, going=going)
                if isinstance(taking, str):
                    return f"stage {number}: no grasp of {owner}: {taking}"
                first = False
            thing = state.things[owner]
            pose = next(
                (g.pose for g in grips(thing, state.base, step.approach) if hand.effort(g.pose) is not None), None
            )
            if pose is None:
                return f"stage {number}: no joint angles take the hand to {owner}"
            state = State.of(state.things, pose, owner, state.base)
            continue
        first = False
        if step.release >= 0 and state.held != points[step.release].owner:
            return f"stage {number}: {points[step.release].name} is let go of before it is held"
        if not step.subgoals:
            continue
        found, least = solve(
            step.subgoals, sight, hand, slack=slack, rng=np.random.default_rng(5), enough=1, going=going
        )
        if not found:
            why = f"by {least:.4f} at best" if least > slack else "no joint angles take the hand there"
            return f"stage {number}: no pose of the hand satisfies its subgoals ({why})"
        held = None if step.release >= 0 else state.held
        state = State.of(_moved(state, found[0].pose), found[0].pose, held, state.base)
    return ""


def _moved(state: State, hand: Pose) -> dict[str, Thing]:
    """The things, what is held gone along with the hand."""
    things = dict(state.things)
    if state.held is not None:
        was = pose_of(things[state.held])
        position = hand.point(state.hand.inverse(was.position))
        rotation = hand.rotation @ state.hand.rotation.T @ was.rotation
        things[state.held] = replace(
            things[state.held], position=tuple(float(v) for v in position), orientation=quaternion(rotation)
        )
    return things
