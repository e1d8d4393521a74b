"""The subgoal solver: a tool pose at which a stage's costs are satisfied; sampled widely, then refined.

Sampling finds the basin (orientations that turn what is held, positions about the keypoints), Levenberg-Marquardt on
costs above their slack finds the bottom; reach and collision then choose among what is satisfied. numpy only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from worldfs.robots.rotations import Array, Pose, angle_between, axis_rotation, exp, hand_rotation

from .constraint_function import ConstraintFunction
from .end_effector import EndEffector
from .stage_costs import KeypointState, violation

KEEP = 40  # samples that are refined
ROUNDS = 14
INSIDE = 0.0008  # how far within a constraint the refinement aims, so that it does not end on the edge
SATISFIED = 1e-9
PULL = 0.004  # of what moves for nothing


@dataclass(frozen=True, slots=True)
class SubgoalSolution:
    """A pose with its costs; `effort`: how far the arm has to go for it (rad)."""

    pose: Pose
    costs: tuple[float, ...]
    effort: float = math.inf


def solve(
    functions: Sequence[ConstraintFunction], keypoint_state: KeypointState, effector: EndEffector, *,
    slack: float, rng: np.random.Generator,
    low: bool = False, enough: int = 12, going: Callable[[], None] = lambda: None,
) -> tuple[list[SubgoalSolution], float]:  # fmt: skip
    """Poses that satisfy a stage and that the arm can take, the easiest first; and the least violation met at all.

    `slack`: costs up to it count as satisfied. `low`: prefer what is near the support (where something is let go of).
    `enough`: poses that are wanted; the search ends with them. `going` is called now and then and may raise.
    """
    present = keypoint_state.state.tool_pose

    def cost(pose: Pose) -> tuple[float, ...]:
        return tuple(keypoint_state.costs(functions, pose))

    ranked: list[tuple[float, Pose]] = []
    for number, sample in enumerate(_samples(keypoint_state, rng)):
        if number % 50 == 0:
            going()
        away = float(np.linalg.norm(sample.position - present.position)) + 0.3 * angle_between(
            sample.rotation, present.rotation
        )
        ranked.append((violation(cost(sample), slack) + 0.05 * away, sample))
    ranked.sort(key=lambda item: item[0])
    found: list[SubgoalSolution] = []
    least = math.inf
    for _, sample in _spread(ranked):
        going()
        pose = _refine(sample, cost, slack)
        costs = cost(pose)
        off = violation(costs, slack)
        least = min(least, off)
        if off > SATISFIED:
            continue
        effort = effector.effort(pose)
        if effort is None:
            continue
        height = 4.0 * float(pose.position[2]) if low else 0.0
        lean = 0.5 * math.acos(max(-1.0, min(1.0, -float(pose.rotation[2, 2]))))
        found.append(SubgoalSolution(pose, costs, effort + height + lean))
        if len(found) >= enough:
            break
    return sorted(found, key=lambda solution: solution.effort), least


def _spread(ranked: list[tuple[float, Pose]]) -> Iterator[tuple[float, Pose]]:
    """The best ones, no two nearly the same."""
    taken: list[Pose] = []
    for item in ranked:
        pose = item[1]
        if all(
            float(np.linalg.norm(pose.position - other.position)) > 0.025
            or angle_between(pose.rotation, other.rotation) > 0.3
            for other in taken
        ):
            taken.append(pose)
            yield item
            if len(taken) >= KEEP:
                return


def _samples(keypoint_state: KeypointState, rng: np.random.Generator) -> Iterator[Pose]:
    positions, turns = list(_places(keypoint_state, rng)), list(_turns(keypoint_state.state.tool_pose.rotation))
    for number, position in enumerate(positions):
        for turn in turns if number < 4 else turns[:9]:
            yield Pose(position, turn)


def _turns(present: Array) -> Iterator[Array]:
    """The tool's rotation now (straight, if it is nearly so), turned about the vertical, then tilted every way."""
    start = present
    if present[2, 2] < -0.99:
        start = hand_rotation(math.atan2(float(present[1, 0]), float(present[0, 0])))
    for k in range(8):
        yield axis_rotation((0, 0, 1), k * math.pi / 4) @ start
    yield present
    for axis in np.eye(3):
        for angle in (-2.1, -1.57, -1.05, -0.5, 0.5, 1.05, 1.57, 2.1):
            yield present @ axis_rotation(axis, angle)


def _places(keypoint_state: KeypointState, rng: np.random.Generator) -> Iterator[Array]:
    """The tool's position now; those that bring the held object above each other keypoint; and around."""
    present = keypoint_state.state.tool_pose.position
    yield present
    carried = [i for i, point in enumerate(keypoint_state.points) if point.owner and point.owner == keypoint_state.held]
    offset = present - keypoint_state.now[carried[0]] if carried else np.zeros(3)
    others = [
        i for i in range(len(keypoint_state.points)) if i not in carried and np.isfinite(keypoint_state.now[i]).all()
    ]
    for i in others[:8]:
        yield keypoint_state.now[i] + offset + np.array([0.0, 0.0, 0.05])
    for i in others[:8]:
        for _ in range(6):
            yield keypoint_state.now[i] + offset + rng.uniform([-0.16, -0.16, 0.0], [0.16, 0.16, 0.15])
    for _ in range(6):
        yield present + rng.uniform([-0.2, -0.2, 0.0], [0.2, 0.2, 0.25])


def _refine(start: Pose, cost: Callable[[Pose], tuple[float, ...]], slack: float) -> Pose:
    """Levenberg-Marquardt over six numbers, metres and radians, from `start`; gradients by differences."""

    def moved(x: Array) -> Pose:
        return Pose(start.position + x[:3], exp(x[3:]) @ start.rotation)

    def residual(x: Array) -> Array:
        above = [max(0.0, value - slack + INSIDE) for value in cost(moved(x))]
        return np.array([*above, *(PULL * x)])

    x, damping = np.zeros(6), 1e-3
    now = residual(x)
    step = np.array([1e-4] * 3 + [1e-3] * 3)
    for _ in range(ROUNDS):
        if not now[:-6].any():
            break
        jacobian = np.empty((now.size, 6))
        for i in range(6):
            nudge = np.zeros(6)
            nudge[i] = step[i]
            jacobian[:, i] = (residual(x + nudge) - now) / step[i]
        normal, slope = jacobian.T @ jacobian, jacobian.T @ now
        for _ in range(4):
            change = -np.linalg.solve(normal + damping * np.diag([1.0, 1, 1, 0.05, 0.05, 0.05]), slope)
            size = float(np.linalg.norm(change[:3]))
            if size > 0.3:
                change *= 0.3 / size
            tried = residual(x + change)
            if float(tried @ tried) < float(now @ now):
                x, now, damping = x + change, tried, max(damping / 5, 1e-7)
                break
            damping *= 8
        else:
            break
    return moved(x)
