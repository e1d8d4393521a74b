"""The preview: a program simulated before anything moves, stage by stage, by reach and costs alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from worldfs.base.model import Thing
from worldfs.robots.rotations import Pose, quaternion

from .constraint_program import ConstraintProgram
from .end_effector import EndEffector, ExecutionHalted, SceneSnapshot
from .grasp_sampling import grasp_candidates
from .keypoints import Keypoint, pose_of
from .program_executor import plan_grasp
from .stage_costs import KeypointState
from .subgoal_solver import solve

LOOKS = 2_000  # of its search, some 3 ms each; after so many the arm itself will show it, in the session's time
STEPS = 1_000_000  # of its constraints together, some 30 times what a task of the library takes; same


def preview(program: ConstraintProgram, points: tuple[Keypoint, ...], effector: EndEffector, slack: float) -> str:
    """ "" if every stage can be reached as far as is known now, else the first that cannot, and why.

    The first grasp is planned as it will be; what comes after begins in a world that is not there yet. Raises
    `ConstraintError` for a constraint that cannot be evaluated.
    """
    state = effector.now()
    looks, left = iter(range(LOOKS)), [STEPS]

    def going() -> None:
        if next(looks, None) is None:
            raise ExecutionHalted("preview")

    def spent(steps: int) -> None:
        left[0] -= steps
        if left[0] < 0:
            raise ExecutionHalted("preview")

    try:
        for step in program.stages:  # every constraint once, as things are: what is no cost is found before all else
            keypoint_state = KeypointState(points, state, state.held, spent)
            keypoint_state.costs(step.subgoals, state.tool_pose)
            keypoint_state.costs(step.paths, state.tool_pose)
        return _through(program, points, effector, slack=slack, going=going, spent=spent)
    except ExecutionHalted:
        return ""


def _through(
    program: ConstraintProgram,
    points: tuple[Keypoint, ...],
    effector: EndEffector,
    *,
    slack: float,
    going: Callable[[], None],
    spent: Callable[[int], None],
) -> str:
    state, first = effector.now(), True
    for number, step in enumerate(program.stages, 1):
        keypoint_state = KeypointState(points, state, state.held, spent)
        if step.grasp >= 0:
            owner = points[step.grasp].owner
            if state.held == owner:
                continue
            if state.held is not None:
                return f"stage {number}: the gripper holds {state.held}"
            if first:
                taking = plan_grasp(step, keypoint_state, points, effector, slack=slack, going=going)
                if isinstance(taking, str):
                    return f"stage {number}: no grasp of {owner}: {taking}"
                first = False
            thing = state.things[owner]
            pose = next(
                (
                    g.pose
                    for g in grasp_candidates(thing, state.base, step.approach)
                    if effector.effort(g.pose) is not None
                ),
                None,
            )
            if pose is None:
                return f"stage {number}: no joint angles reach {owner}"
            state = SceneSnapshot.of(state.things, pose, owner, state.base)
            continue
        first = False
        if step.release >= 0 and state.held != points[step.release].owner:
            return f"stage {number}: {points[step.release].name} is let go of before it is held"
        if not step.subgoals:
            continue
        found, least = solve(
            step.subgoals, keypoint_state, effector, slack=slack, rng=np.random.default_rng(5), enough=1, going=going
        )
        if not found:
            why = f"by {least:.4f} at best" if least > slack else "no joint angles reach it"
            return f"stage {number}: no tool pose satisfies its subgoals ({why})"
        held = None if step.release >= 0 else state.held
        state = SceneSnapshot.of(_moved(state, found[0].pose), found[0].pose, held, state.base)
    return ""


def _moved(state: SceneSnapshot, tool_pose: Pose) -> dict[str, Thing]:
    """The objects; the held one moves with the tool."""
    things = dict(state.things)
    if state.held is not None:
        was = pose_of(things[state.held])
        position = tool_pose.point(state.tool_pose.inverse(was.position))
        rotation = tool_pose.rotation @ state.tool_pose.rotation.T @ was.rotation
        things[state.held] = replace(
            things[state.held], position=tuple(float(v) for v in position), orientation=quaternion(rotation)
        )
    return things
