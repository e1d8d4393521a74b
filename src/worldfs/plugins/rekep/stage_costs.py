"""The costs of a stage at a tool pose: keypoints of the held object move with the tool, the others stay."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from worldfs.robots.rotations import Array, Pose

from .constraint_function import BUDGET, ConstraintFunction
from .constraint_program import GRASPED
from .end_effector import SceneSnapshot
from .keypoints import Keypoint, positions

WORST = 1e3  # for a cost that is no number: it is never satisfied


@dataclass(frozen=True, slots=True)
class KeypointState:
    """Keypoints at one moment, and their positions for another tool pose.

    `spent` is called with the steps of each evaluation of a constraint, which other people wrote, and may raise.
    """

    points: tuple[Keypoint, ...]
    state: SceneSnapshot
    held: str | None  # the object that moves with the tool; in a plan it may be one that will be held
    spent: Callable[[int], None] = lambda steps: None
    now: Array = field(init=False)  # K × 3
    _carried: Array = field(init=False)  # bool K
    _local: Array = field(init=False)  # K × 3, in the tool's frame

    def __post_init__(self) -> None:
        now = positions(self.points, self.state.poses)
        carried = np.array([bool(p.owner) and p.owner == self.held for p in self.points], dtype=bool)
        object.__setattr__(self, "now", now)
        object.__setattr__(self, "_carried", carried)
        object.__setattr__(self, "_local", (now - self.state.tool_pose.position) @ self.state.tool_pose.rotation)

    def at(self, tool_pose: Pose) -> Array:
        """Keypoints (K × 3) with the tool at that pose; read-only."""
        found = self.now.copy()
        if self._carried.any():
            found[self._carried] = tool_pose.position + self._local[self._carried] @ tool_pose.rotation.T
        found.setflags(write=False)
        return found

    def grasped(self) -> Callable[[object], int]:
        points, held = self.points, self.held

        def cost(index: object) -> int:
            owner = points[int(index)].owner  # type: ignore[call-overload]  # a number of a foreign program: int() refuses what is none
            return 0 if owner and owner == held else 1

        return cost

    def costs(self, functions: Sequence[ConstraintFunction], tool_pose: Pose) -> list[float]:
        """One number a constraint. Raises `ConstraintError` naming file and line for one that cannot be evaluated."""
        if not functions:
            return []
        keypoints = self.at(tool_pose)
        tip = tool_pose.position.copy()
        tip.setflags(write=False)
        given = {GRASPED: self.grasped()}
        found = []
        for function in functions:
            purse = [BUDGET]
            cost = function.cost((tip, keypoints), given, purse)
            self.spent(BUDGET - purse[0])
            found.append(cost if math.isfinite(cost) else WORST)
        return found


def violation(costs: Sequence[float], slack: float = 0.0) -> float:
    """The sum of what is above the slack; 0: all satisfied."""
    return float(sum(max(0.0, cost - slack) for cost in costs))


def worst_constraint(functions: Sequence[ConstraintFunction], costs: Sequence[float], slack: float) -> str:
    """The name of the constraint that is broken most; "" where none is."""
    ranked = sorted(((cost, function.name) for function, cost in zip(functions, costs, strict=True)), reverse=True)
    return ranked[0][1] if ranked and ranked[0][0] > slack else ""


def costs_json(functions: Sequence[ConstraintFunction], costs: Sequence[float]) -> dict[str, float]:
    return {function.name: round(cost, 5) for function, cost in zip(functions, costs, strict=True)}
