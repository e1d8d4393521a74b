"""The facts of a stated goal, measured in the physics world: positions, contact forces and the arm's joints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from worldfs.robots.mujoco import panda, support
from worldfs.robots.mujoco.sequences import AT_HOME, WAVE

from .instruction_list import GoalFact

if TYPE_CHECKING:
    from worldfs.robots.mujoco.arm import Arm
    from worldfs.robots.mujoco.array_types import Array

MOVED: Final = 0.03  # m that a thing may be pushed by what is done beside it
TOUCHED: Final = 0.01  # m or rad: more, and something has moved
BESIDE: Final = 0.12  # m between two footprints
SIDE: Final = 0.30  # m, of one that is to a side of another
LIFTED: Final = 0.05  # m above where it lay
ABOVE: Final = (0.04, 0.30)  # m from the vertical of a thing, and over it
OFF: Final = 0.05  # m that a move by a distance may be off; a person says "10 cm" and means about that
SWINGS: Final = 3  # of the wrist from one side to the other
SAMPLED: Final = 25  # physics steps between two looks at the wrist
_WRIST: Final = 4  # the joint that waves
_WAYS: Final = {"left": (0.0, 1.0), "right": (0.0, -1.0), "front": (-1.0, 0.0), "behind": (1.0, 0.0)}  # from the base


class GoalFacts:
    """What has moved since it was made, and which facts hold now. Looks at the simulation and at nothing else."""

    def __init__(self, arm: Arm) -> None:
        self._arm, self._rig = arm, arm.rig
        self._before = {id: arm.rig.position(id) for id in arm.rig.objects}
        self._joints, self._opening = arm.view.joints(), arm.view.opening()
        self._farthest, self._side, self._swings = 0.0, 0, 0
        arm.mover.watch, arm.mover.watch_every = self._look, SAMPLED

    def _look(self) -> None:
        turned = self._arm.view.joints() - self._joints
        self._farthest = max(self._farthest, float(np.max(np.abs(turned))))
        side = 1 if turned[_WRIST] > 0.6 * WAVE else -1 if turned[_WRIST] < -0.6 * WAVE else 0
        if side and side != self._side:
            self._swings, self._side = self._swings + bool(self._side), side

    def moved(self, least: float = MOVED) -> set[str]:
        """The things that are elsewhere than before, by more than `least` metres."""
        return {id for id, at in self._before.items() if float(np.linalg.norm(self._rig.position(id) - at)) > least}

    @property
    def at_rest(self) -> bool:
        """Whether nothing has moved at all: neither a thing nor the arm nor its gripper."""
        self._look()
        shut = abs(self._arm.view.opening() - self._opening)
        return not self.moved(TOUCHED) and self._farthest <= TOUCHED and shut <= TOUCHED

    def hold(self, facts: Iterable[GoalFact]) -> bool:
        return all(_FACTS[fact.word](self, fact) for fact in facts)

    # -- one fact each --------------------------------------------------------------------------------------------

    def _inside(self, fact: GoalFact) -> bool:
        thing, basket = fact.names
        return self._rig.held() != thing and support.contains(self._rig, thing, basket)

    def _on(self, fact: GoalFact) -> bool:
        thing, place = fact.names
        return self._rig.held() != thing and support.carried(self._rig, thing, place)

    def _held(self, fact: GoalFact) -> bool:
        thing = fact.names[0]
        return self._rig.held() == thing and self._rig.position(thing)[2] - self._before[thing][2] > LIFTED

    def _beside(self, fact: GoalFact) -> bool:
        return self._on_table(fact.names) and self._gap(*fact.names) <= BESIDE

    def _to_side(self, fact: GoalFact) -> bool:
        ahead, across = self._along(fact.word, *(self._rig.position(id) for id in fact.names))
        return self._on_table(fact.names) and ahead > 0 and abs(across) <= ahead and self._gap(*fact.names) <= SIDE

    def _shifted(self, fact: GoalFact) -> bool:
        thing, side = fact.names
        ahead, across = self._along(side, self._rig.position(thing), self._before[thing])
        return self._on_table((thing,)) and math.hypot(ahead - fact.metres, across) <= OFF

    def _above(self, fact: GoalFact) -> bool:
        x, y, z = self._arm.view.tcp_pose()[0] - self._rig.position(fact.names[0])
        return math.hypot(x, y) <= ABOVE[0] and 0 < z <= ABOVE[1]

    def _home(self, fact: GoalFact) -> bool:
        return float(np.max(np.abs(self._arm.view.joints() - self._arm.ready))) <= AT_HOME

    def _waved(self, fact: GoalFact) -> bool:
        return self._swings >= SWINGS

    def _open(self, fact: GoalFact) -> bool:
        return self._arm.view.opening() >= 0.9 * panda.STROKE * 2

    def _closed(self, fact: GoalFact) -> bool:
        return self._arm.view.opening() <= 0.1 * panda.STROKE * 2

    def _on_table(self, ids: Iterable[str]) -> bool:
        return all(self._rig.held() != id and support.carried(self._rig, id, "table_01") for id in ids)

    def _along(self, side: str, one: Array, other: Array) -> tuple[float, float]:
        dx, dy = (one - other)[:2]
        x, y = _WAYS[side]
        return float(dx * x + dy * y), float(dy * x - dx * y)

    def _gap(self, one: str, other: str) -> float:
        """Between two footprints, along the line of their centres; of a box by its axis-aligned extents (m)."""
        a, b = (self._rig.position(id)[:2] for id in (one, other))
        away = b - a
        length = float(np.linalg.norm(away)) or 1.0
        return length - sum(self._half(id, away / length) for id in (one, other))

    def _half(self, id: str, way: Array) -> float:
        half = self._rig.half(id)
        if self._rig.things[id].shape in ("sphere", "cylinder"):
            return float(half[0])
        return min(float(half[axis] / abs(way[axis])) for axis in (0, 1) if abs(way[axis]) > 1e-9)


_FACTS: Final[dict[str, Callable[[GoalFacts, GoalFact], bool]]] = {
    "in": GoalFacts._inside, "on": GoalFacts._on, "held": GoalFacts._held, "beside": GoalFacts._beside,
    "left": GoalFacts._to_side, "right": GoalFacts._to_side, "front": GoalFacts._to_side,
    "behind": GoalFacts._to_side, "shift": GoalFacts._shifted, "above": GoalFacts._above, "home": GoalFacts._home,
    "wave": GoalFacts._waved, "open": GoalFacts._open, "closed": GoalFacts._closed,
}  # fmt: skip
