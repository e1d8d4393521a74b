"""An independent judge of room in a box: a thing and two fingers are put everywhere; MuJoCo says what they touch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import mujoco
import numpy as np

from worldfs.base.model import Thing

WALL = 0.008
FINGER = (0.011, 0.013, 0.028)  # half sides: along the hand, across it, high
OPENS = 0.005  # m that each finger opens at least
GRID_M, TURNS = 0.006, 12


def quat(yaw: float) -> tuple[float, ...]:
    return (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))


def random_case(chance: Random) -> tuple[Thing, Thing, list[Thing]]:
    """A thing, a box with its middle at the origin, and what lies in the box, clear of each other."""
    wide, deep, high = chance.uniform(0.09, 0.26), chance.uniform(0.09, 0.26), chance.choice((0.03, 0.04, 0.06, 0.1))
    box = Thing("box", shape="basket", position=(0.0, 0.0, high / 2), size=(wide, deep, high))
    there: list[Thing] = []
    for n in range(chance.randint(0, 6)):
        for _ in range(30):
            one = _thing(chance, f"t{n}")
            x, y = chance.uniform(-wide / 2, wide / 2), chance.uniform(-deep / 2, deep / 2)
            one = _at(one, x, y, chance.choice((0.0, chance.uniform(-math.pi, math.pi))))
            if not RoomJudge(box, there, one, fingers=False).touches(x, y, _yaw(one)):
                there.append(one)
                break
    return _thing(chance, "new"), box, there


def _thing(chance: Random, id: str) -> Thing:
    if chance.random() < 0.4:
        wide = chance.uniform(0.03, 0.07)
        return Thing(id, shape="cylinder", size=(wide, wide, chance.uniform(0.03, 0.1)))
    size = (chance.uniform(0.03, 0.14), chance.uniform(0.03, 0.07), chance.uniform(0.03, 0.1))
    return Thing(id, shape="box", size=size)


def _at(thing: Thing, x: float, y: float, yaw: float) -> Thing:
    z = WALL + thing.size[2] / 2
    return Thing(thing.id, shape=thing.shape, size=thing.size, position=(x, y, z), orientation=quat(yaw))


def _yaw(thing: Thing) -> float:
    return 2 * math.atan2(thing.orientation[3], thing.orientation[0])


class RoomJudge:
    """`swollen`: how much larger (m, each side) the thing and the fingers are taken to be."""

    def __init__(
        self, box: Thing, there: Sequence[Thing], thing: Thing, *, fingers: bool = True, swollen: float = 0.0
    ) -> None:
        self.box, self.thing = box, thing
        spec = mujoco.MjSpec()
        fixed = {"contype": 1, "conaffinity": 0}
        half = np.array(box.size) / 2
        at = np.array(box.position)
        low = at - half
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, pos=[*at[:2], low[2] + WALL / 2 - 1e-3], size=[*half[:2], WALL / 2], **fixed
        )
        for axis in (0, 1):
            for side in (1, -1):
                middle, size = at.copy(), half.copy()
                middle[axis] += side * (half[axis] - WALL / 2)
                size[axis] = WALL / 2
                spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=middle, size=size, **fixed)
        for other in there:
            self._add(spec.worldbody, other, other.position, other.orientation, 0.0, **fixed)
        free = {"contype": 0, "conaffinity": 1}
        top = thing.size[2]
        grasp = top / 2 if top <= 0.048 else top - 0.03
        drop = max(0.0, box.size[2] - WALL + 0.010 - 0.0374 - grasp)  # the palm stays above the rim
        self.ways = self._ways() if fingers else [(0.0, 0.0)]
        for across in self.ways if fingers else [None]:
            body = spec.worldbody.add_body(pos=[0, 0, 10])
            body.add_freejoint()
            self._add(body, thing, (0, 0, 0), (1, 0, 0, 0), swollen, **free)
            if across is not None:
                turn, width = across
                for side in (1, -1):
                    away = side * (width / 2 + OPENS + FINGER[1])
                    body.add_geom(
                        type=mujoco.mjtGeom.mjGEOM_BOX,
                        pos=[
                            -away * math.sin(turn),
                            away * math.cos(turn),
                            -top / 2 + grasp + drop - 0.012 + FINGER[2],
                        ],
                        quat=quat(turn),
                        size=[FINGER[0] + swollen, FINGER[1] + swollen, FINGER[2]],
                        **free,
                    )
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def _add(self, body, thing, position, orientation, swollen, **more) -> None:
        if thing.shape == "cylinder":
            kind, size = mujoco.mjtGeom.mjGEOM_CYLINDER, [thing.size[0] / 2 + swollen, thing.size[2] / 2, 0]
        else:
            half = np.array(thing.size) / 2
            kind, size = mujoco.mjtGeom.mjGEOM_BOX, [half[0] + swollen, half[1] + swollen, half[2]]
        body.add_geom(type=kind, pos=position, quat=orientation, size=size, **more)

    def _ways(self) -> list[tuple[float, float]]:
        """How the hand may hold it: its turn against the thing, and what it closes across."""
        if self.thing.shape == "cylinder":
            return [(0.0, self.thing.size[0])]
        ways = [(0.0, self.thing.size[1]), (math.pi / 2, self.thing.size[0])]
        return [way for way in ways if way[1] <= 0.076]

    def touches(self, x: float, y: float, yaw: float, way: int = 0) -> bool:
        z = WALL + self.thing.size[2] / 2
        poses = self.data.qpos.reshape(-1, 7)
        poses[:, :3] = (0, 0, 10)
        poses[way] = (x, y, z, *quat(yaw))
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_collision(self.model, self.data)
        return bool(np.any(self.data.contact.dist[: self.data.ncon] < -1e-4))

    def room(self) -> tuple[float, float, float] | None:
        """A place where nothing is touched; None: there is none."""
        half = np.array(self.box.size) / 2 - WALL
        low = min(self.thing.size[:2]) / 2
        turns = np.linspace(0, math.pi, TURNS, endpoint=False)
        for x in np.arange(-half[0] + low, half[0] - low + 1e-9, GRID_M):
            for y in np.arange(-half[1] + low, half[1] - low + 1e-9, GRID_M):
                for yaw in turns:
                    if any(not self.touches(x, y, yaw, way) for way in range(len(self.ways))):
                        return float(x), float(y), float(yaw)
        return None
