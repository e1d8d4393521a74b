"""An independent judge of what is in or on what: random scenes come to rest in physics, read raw.

A thing is in a hollow thing if its middle and its lowest point are over the hollow, the lowest point below the rim, and
the hollow's bottom and walls carry it, directly or through others in it. It is on what carries at least 95 % of its
load otherwise. What several carry is on none of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import mujoco
import numpy as np

from worldfs.base.footprint import gap
from worldfs.base.model import RobotState, Scene, Thing

TABLE = Thing("table", "table", "furniture", (0.5, 0.0, 0.0), size=(0.9, 1.8, 0.75), shape="table")
WALL, DRAWER_SIDE, CUP_WALL, CUP_FLOOR, DRAWER_RIM = 0.008, 0.019, 0.003, 0.004, 0.031
ALONE, PARTLY, TOUCH = 0.95, 0.2, 0.05  # parts of a load
UPRIGHT, AS_LOW, NEAR_FLOOR = 0.7, 0.002, 0.001
PRESSED = 0.003  # m: deeper in each other, two things go through each other
STILL = 0.002  # m, or of a quaternion, in 0.3 s
EDGE, ACROSS = 0.004, 0.005  # m: nearer to a wall, or to the rim, it may be told either way


def turned(yaw: float, lean: float = 0.0) -> tuple[float, ...]:
    """A quaternion: first a lean about its own x, then a turn about the vertical (rad)."""
    c, s, a, b = math.cos(yaw / 2), math.sin(yaw / 2), math.cos(lean / 2), math.sin(lean / 2)
    return (c * a, c * b, s * b, s * a)


# --- scenes ---


@dataclass(frozen=True)
class RandomScene:
    """`scene`: furniture, and the loose things in a row where they rest; `drops`: the spot over which each is let go in
    its turn, and how it is turned; `within`: those that begin in what is shut."""

    scene: Scene
    drops: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]]
    within: frozenset[str]


def _furniture(dice: Random, n: int, at: tuple[float, float]) -> list[Thing]:
    yaw = dice.choice((0.0, dice.uniform(-math.pi, math.pi)))
    kind = dice.choice(("basket", "tray", "bin", "drawer", "shut", "chest", "post", "ramp", "box", "low tray"))
    low, high = {"tray": (0.02, 0.05), "low tray": (0.011, 0.02), "bin": (0.12, 0.2)}.get(kind, (0.06, 0.11))
    wide, deep, tall = dice.uniform(0.12, 0.3), dice.uniform(0.12, 0.3), dice.uniform(low, high)
    extra: dict[str, Any] = {}
    shape, status, lean = "basket", "", 0.0
    if kind in ("drawer", "shut", "chest"):
        shape = "chest" if kind == "chest" else "drawer"
        wide, deep, tall = dice.uniform(0.18, 0.26), dice.uniform(0.18, 0.26), dice.uniform(0.08, 0.14)
        far = {"drawer": dice.uniform(0.02, 0.6 * wide), "shut": 0.0, "chest": dice.choice((0.0, 1.7))}[kind]
        extra, status = {"opening": far}, "open" if far else "closed"
    elif kind in ("post", "ramp", "box"):
        shape, size = "box", {"post": (0.03, 0.07), "ramp": (0.1, 0.2), "box": (0.08, 0.2)}[kind]
        wide, deep, tall = dice.uniform(*size), dice.uniform(*size), dice.uniform(0.02, 0.15)
        lean = dice.uniform(0.1, 0.5) if kind == "ramp" else 0.0
    container = "container" if shape == "basket" else "furniture"
    rise = (tall * math.cos(lean) + deep * math.sin(lean)) / 2
    return [
        Thing(
            f"{kind.replace(' ', '_')}_{n}", kind, container, (*at, rise), turned(yaw, lean), (wide, deep, tall), shape,
            status=status, extra=extra,
        )
    ]  # fmt: skip


def _loose(dice: Random, n: int) -> Thing:
    kind = dice.choice(("cube", "bar", "plate", "board", "ball", "bottle", "book", "coin", "pen", "key", "lid", "rod"))
    u = dice.uniform
    size = {
        "cube": (u(0.03, 0.06),) * 3, "bar": (u(0.08, 0.2), u(0.02, 0.04), u(0.02, 0.04)), "plate": (u(0.08, 0.2),) * 2,
        "board": (u(0.15, 0.4), u(0.05, 0.12), u(0.004, 0.02)), "ball": (u(0.03, 0.07),) * 3, "book": (0.14, 0.2, 0.03),
        "bottle": (u(0.03, 0.07),) * 2, "coin": (u(0.02, 0.04),) * 2, "pen": (0.14, 0.012, 0.012),
        "key": (0.05, 0.02, 0.004), "lid": (u(0.06, 0.16),) * 2, "rod": (u(0.012, 0.03),) * 2,
    }[kind]  # fmt: skip
    tall = {"plate": (0.006, 0.02), "bottle": (0.1, 0.25), "coin": (0.002, 0.005), "lid": (0.006, 0.015)}
    tall["rod"] = (0.12, 0.25)
    if len(size) == 2:
        size = (size[0], size[0], u(*tall[kind]))
    shape = "sphere" if kind == "ball" else "cylinder" if kind in tall else "box"
    return Thing(f"{kind}_{n}", kind, kind, size=tuple(round(v, 4) for v in size), shape=shape, mass=0.1)


def _cup(dice: Random, n: int) -> Thing:
    wide, tall = dice.choice(((0.07, 0.1), (0.14, 0.05), (0.16, 0.12), (0.1, 0.025), (0.08, 0.08)))
    return Thing(f"cup_{n}", "cup", "cup", size=(wide, wide, tall), shape="cylinder", mass=0.3, extra={"grains": 0})


def random_scene(seed: int) -> RandomScene:
    dice = Random(seed)
    spots = [(0.5, 0.35), (0.5, dice.uniform(0.5, 0.7))]
    if dice.random() < 0.3:  # two that a board reaches across
        spots[1] = (0.5, 0.35 + dice.uniform(0.08, 0.2))
    furniture = [piece for n, at in enumerate(spots[: dice.randint(0, 2)]) for piece in _furniture(dice, n, at)]
    if len(furniture) > 1 and gap(*furniture) < 0.01:
        furniture.pop()
    loose = [_cup(dice, n) for n in range(dice.choice((0, 0, 1, 2)))] + [
        _loose(dice, n) for n in range(dice.randint(1, 4))
    ]
    loose = [
        replace(one, position=(0.1 + 0.16 * (n % 6), -0.5, one.size[2] / 2 + 0.0003)) for n, one in enumerate(loose)
    ]
    drops: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {}
    at = [*(piece.position[:2] for piece in furniture), (0.5, 0.35)]
    for one in loose:
        aim = dice.choice(at)
        off = dice.choice((0.0, 0.0, 0.03, 0.08, 0.15))
        spot = (aim[0] + dice.uniform(-off, off), aim[1] + dice.uniform(-off, off))
        lean = dice.choice((0.0, 0.0, math.pi / 2, dice.uniform(-math.pi, math.pi)))
        if one.id.startswith("cup"):
            lean = dice.choice((0.0,) * 9 + (math.pi, math.pi / 2))
            at.append(spot)
        drops[one.id] = (spot, turned(dice.choice((0.0, dice.uniform(-math.pi, math.pi))), lean))
    shut = [piece.position[:2] for piece in furniture if piece.status == "closed"]
    within = frozenset(id for id, (spot, _) in drops.items() if spot in shut and dice.random() < 0.7)
    return RandomScene(Scene((RobotState("franka_001"),), tuple(loose), (*furniture, TABLE)), drops, within)


def let_fall(hand: Any, case: RandomScene) -> bool:
    """Each thing is let go where it touches nothing over its spot, or in it, and comes to rest. False: some do not, or
    are pressed into each other."""
    rig, model, data = hand.rig, hand.rig.simulation.model, hand.rig.simulation.data
    hand.body.arm.mover.begin(lambda: "")
    for id, (spot, quat) in case.drops.items():
        at, body = rig.qpos[id], rig.body[id]
        data.qpos[at + 3 : at + 7] = quat
        heights = np.arange(0.002, 0.7, 0.006)
        free: float | None = None
        for high in heights if id in case.within else heights[::-1]:
            data.qpos[at : at + 3] = (*spot, high)
            mujoco.mj_forward(model, data)
            touches = any(body in pair for pair in model.geom_bodyid[data.contact.geom].tolist())
            free = free if touches else high
            if touches != (id in case.within):
                break
        if free is None:
            return False
        data.qpos[at : at + 3] = (*spot, free)
        data.qvel[rig.dof[id] : rig.dof[id] + 6] = 0
        hand.body.arm.mover.wait(0.3)
    for _ in range(12):
        before = data.qpos.copy()
        hand.body.arm.mover.wait(0.3)
        if all(np.abs(data.qpos - before)[rig.qpos[id] : rig.qpos[id] + 7].max() < STILL for id in case.drops):
            return not data.ncon or data.contact.dist.min() > -PRESSED
    return False


# --- truth ---


@dataclass(frozen=True)
class Truth:
    """`relation`: in | on | "" where several carry it; `by`: each support and its part, through others in a hollow."""

    relation: str
    of: str
    by: Mapping[str, float]
    inside: tuple[str, ...] = ()  # the hollow things that its place is in and that carry a good part of it


def hollow(rig: Any, id: str) -> tuple[Any, Any, float, float, Any] | None:
    """Origin, axes, floor and rim (in its own frame), and a test of its own x and y; None: it is not hollow."""
    thing = rig.things[id]
    half = [v / 2 for v in thing.size]
    if id in rig.vessels:
        turn = rig.rotation(id)
        if turn[2, 2] < -UPRIGHT:
            return None
        wide = half[0] - CUP_WALL
        return rig.position(id), turn, CUP_FLOOR - half[2], half[2], lambda x, y: math.hypot(x, y) <= wide
    quat = np.zeros(9)
    mujoco.mju_quat2Mat(quat, np.array(thing.orientation))
    frame = (np.array(thing.position), quat.reshape(3, 3))
    if thing.shape == "drawer":
        out = rig.opening(id)
        fits = lambda x, y: (  # noqa: E731
            WALL - half[0] - out <= x <= half[0] - out - DRAWER_SIDE and abs(y) <= half[1] - DRAWER_SIDE
        )
        return (*frame, DRAWER_SIDE - half[2], half[2] - DRAWER_RIM, fits)  # below the case, its top is the rim
    if thing.shape in ("basket", "chest"):
        rim = half[2] - (WALL + 0.001 if thing.shape == "chest" else 0.0)
        fits = lambda x, y: abs(x) <= half[0] - WALL and abs(y) <= half[1] - WALL  # noqa: E731
        return (*frame, WALL - half[2], rim, fits)
    return None


def lowest(rig: Any, id: str) -> Any:
    """Its lowest point (3, m): the middle of all that are as low."""
    thing, half = rig.things[id], np.array(rig.things[id].size) / 2
    if thing.shape == "sphere":
        return rig.position(id) - (0.0, 0.0, half[0])
    if thing.shape == "cylinder":
        around = np.linspace(0, 2 * math.pi, 24, endpoint=False)
        own = [(half[0] * math.cos(a), half[0] * math.sin(a), side * half[2]) for a in around for side in (1, -1)]
    else:
        own = [(x * half[0], y * half[1], z * half[2]) for x in (1, -1) for y in (1, -1) for z in (1, -1)]
    points = np.array(own) @ rig.rotation(id).T + rig.position(id)
    least = points[:, 2].min()
    return np.array([*points[points[:, 2] < least + AS_LOW, :2].mean(axis=0), least])


def over(rig: Any, id: str, place: str) -> bool | None:
    """Whether its place is in the hollow: its middle over the bottom, its lowest point below the rim, itself above.
    None: so near to a wall or to the rim that it may be told either way."""
    found = hollow(rig, place) if id != place else None
    if found is None:
        return False
    origin, turn, floor, rim, fits = found
    (x, y, z), foot = turn.T @ (rig.position(id) - origin), turn.T @ (lowest(rig, id) - origin)
    if turn[2, 2] < UPRIGHT:
        return None if fits(x, y) and floor <= z <= rim else False  # in a cup that has fallen over, or on it
    if rig.things[place].shape == "drawer" and x > -rig.things[place].size[0] / 2:
        rim = rig.things[place].size[2] / 2 - WALL  # of the case
    steps = (-EDGE, 0.0, EDGE)
    near = [{fits(px + dx, py + dy) for dx in steps for dy in steps} for px, py in ((x, y), foot[:2])]
    if z <= floor - 3 * NEAR_FLOOR or foot[2] >= rim + 0.001 or {False} in near:
        return False
    across = foot[2] > rim - min(ACROSS, (rim - floor) / 2) - 0.001
    return None if {True} != near[0] | near[1] or across or z < floor + NEAR_FLOOR / 2 else True


def loads(rig: Any, id: str) -> dict[str, float]:
    model, data, body = rig.simulation.model, rig.simulation.data, rig.body[id]
    found: dict[str, float] = {}
    force = np.zeros(6)
    for n in range(data.ncon):
        one, other = (int(model.geom_bodyid[g]) for g in data.contact[n].geom)
        if body not in (one, other):
            continue
        mujoco.mj_contactForce(model, data, n, force)
        up = float((data.contact[n].frame.reshape(3, 3).T @ force[:3])[2]) * (1 if other == body else -1)
        owner = rig.body_owner[one if other == body else other]
        found[owner] = found.get(owner, 0.0) + up
    return {owner: up for owner, up in found.items() if up > 0}


def truth(rig: Any, id: str) -> Truth | None:
    by = loads(rig, id)
    total = sum(by.values()) or 1.0
    by = {owner: part / total for owner, part in by.items() if part / total > 0.005}
    found = {place: over(rig, id, place) for place in rig.things}
    if None in found.values() or (
        "table" in by and any(over and place not in rig.body for place, over in found.items())
    ):
        return None
    if any(over(rig, other, place) is None for other in by if other in rig.body for place in found):
        return None
    hollows = [place for place, is_over in found.items() if is_over]
    hollows.sort(key=lambda place: math.prod(rig.things[place].size))  # the cup in the basket first
    inside = tuple(place for place in hollows if _carried(rig, id, place, by) > PARTLY)
    for place in hollows:
        if _carried(rig, id, place, by) >= ALONE:
            return Truth("in", place, by, inside)
    alone = next((owner for owner, part in by.items() if part >= ALONE), "")
    return Truth("on", alone, by, inside) if alone else Truth("", "", by, inside)


def _carried(rig: Any, id: str, place: str, by: Mapping[str, float], seen: tuple[str, ...] = ()) -> float:
    """The part of its load that the hollow thing carries, directly or through others in it."""
    part = by.get(place, 0.0)
    for other, share in by.items():
        if other in rig.body and other not in (place, id, *seen) and over(rig, other, place) is not False:
            total = sum((own := loads(rig, other)).values()) or 1.0
            own = {owner: v / total for owner, v in own.items()}
            part += share * _carried(rig, other, place, own, (*seen, id))
    return part
