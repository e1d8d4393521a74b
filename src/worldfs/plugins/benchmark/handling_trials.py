"""Trials of handling on seeded tables (push, upright, stack, drawer …), judged by the body's own measures.

A trial whose order the body's review refuses (nothing can be done there: out of reach, no room behind the thing) is no
trial of the motion: it is counted apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from worldfs.base import drawers
from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Json, Order, Outcome, RobotState, Scene, Thing
from worldfs.base.model.profile import CAMERA, TRUTH
from worldfs.base.standard_operations import (
    CLOSE_FIXTURE,
    NUDGE,
    OPEN_FIXTURE,
    PICK_UP,
    PLACE_BESIDE,
    POUR,
    PUSH,
    STACK,
    UPRIGHT,
    WIPE,
)
from worldfs.robots import rotations
from worldfs.robots.mujoco import fixture_model, geometry
from worldfs.robots.mujoco.random_scene import STANDARD_KINDS
from worldfs.robots.mujoco.scene_layout import TABLE_HEIGHT, TABLE_SIZE
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

from .honest_world import HonestWorld

ROBOT: Final = "franka_001"
WALL_S: Final = 120.0
APPLE, CUBE, CAN, BAR, BRICK = STANDARD_KINDS
Kind = tuple[str, tuple[float, float, float], float, str]
Step = tuple[str, Json]


class HandlingTrial(NamedTuple):
    """One trial's result. `refused`: by the review, with its reason in `why`."""

    skill: str
    seed: int
    ok: bool
    refused: bool
    code: str = ""
    why: str = ""
    world: Json | None = None  # what was otherwise than the robot was told


class _Drawn(NamedTuple):
    """A scene, the orders that lead to the one that is measured, and that one."""

    scene: Scene
    before: tuple[Step, ...]
    step: Step


def thing(id: str, kind: Kind, spot: Sequence[float], rotation: np.ndarray) -> Thing:
    name, size, mass, color = kind
    shape = {"apple": "sphere", "can": "cylinder"}.get(name, "box")
    half = float(rotations.half_extents(shape, size, rotation)[2])
    position = (float(spot[0]), float(spot[1]), half + 0.001)
    return Thing(id, f"{color} {name}", name, position, geometry.quat_of(rotation), size, shape, mass, color)


def table_with(things: Sequence[Thing]) -> Scene:
    size = (*TABLE_SIZE, TABLE_HEIGHT)
    table = Thing("table_01", "table", "furniture", (0.45, 0.0, 0.0), size=size, shape="table")
    return Scene((RobotState(ROBOT),), tuple(things), (table,))


def _spots(rng: np.random.Generator, count: int) -> list[tuple[float, float]]:
    """Within ±1 rad and 0.36 to 0.62 m of the base, 0.17 m apart."""
    found: list[tuple[float, float]] = []
    while len(found) < count:
        radius, angle = rng.uniform(0.36, 0.62), rng.uniform(-1, 1)
        x, y = radius * math.cos(angle), radius * math.sin(angle)
        if all(math.hypot(x - a, y - b) > 0.17 for a, b in found):
            found.append((x, y))
    return found


def _yaw(rng: np.random.Generator) -> np.ndarray:
    return rotations.about_z(float(rng.uniform(-math.pi, math.pi)))


def _among_others(rng: np.random.Generator, kinds: Sequence[Kind], others: int = 2) -> list[Thing]:
    drawn = [*kinds, *(STANDARD_KINDS[i] for i in rng.integers(0, len(STANDARD_KINDS), others))]
    spots = _spots(rng, len(drawn))
    return [
        thing(f"{kind[0]}_{n}", kind, spot, _yaw(rng)) for n, (kind, spot) in enumerate(zip(drawn, spots, strict=True))
    ]


def _beside(seed: int, rng: np.random.Generator) -> _Drawn:
    things = _among_others(rng, [STANDARD_KINDS[seed % 5]])
    side = ("left", "right", "front", "behind")[int(rng.integers(4))]
    given: Json = {"target": things[1].id, "side": side, "distance": round(float(rng.uniform(0.02, 0.15)), 3)}
    picked: Step = (PICK_UP.name, {"object_id": things[0].id})
    return _Drawn(table_with(things), (picked,), (PLACE_BESIDE.name, given))


def _push(seed: int, rng: np.random.Generator) -> _Drawn:
    things = _among_others(rng, [(CUBE, CAN, BAR, BRICK)[seed % 4]])
    angle = float(rng.uniform(-math.pi, math.pi))
    given: Json = {
        "object_id": things[0].id,
        "direction": [round(math.cos(angle), 4), round(math.sin(angle), 4)],
        "distance": round(float(rng.uniform(0.03, 0.2)), 3),
    }
    return _Drawn(table_with(things), (), (PUSH.name, given))


def _nudge(seed: int, rng: np.random.Generator) -> _Drawn:
    """A cube with two more at its sides, so near that no finger gets between; each of another colour, so that cameras
    tell them apart."""
    radius, angle, turn = rng.uniform(0.42, 0.55), rng.uniform(-1, 1), _yaw(rng)
    centre = np.array([radius * math.cos(angle), radius * math.sin(angle), 0.0])
    near = CUBE[1][0] + float(rng.uniform(0.001, 0.004))
    sides = ((0.0, 0.0), (near, 0.0), (0.0, near))
    kinds = [(*CUBE[:3], color) for color in ("blue", "red", "green")]
    things = [
        thing(f"cube_{n}", kind, centre + turn @ np.array([*at, 0.0]), turn)
        for n, (kind, at) in enumerate(zip(kinds, sides, strict=True))
    ]
    return _Drawn(table_with(things), (), (NUDGE.name, {"object_id": "cube_0"}))


def _upright(seed: int, rng: np.random.Generator) -> _Drawn:
    things = _among_others(rng, [(CAN, BRICK)[seed % 2]])
    over = ((math.pi / 2, 0.0, 0.0), (0.0, math.pi / 2, 0.0), (-math.pi / 2, 0.0, 0.0), (0.0, -math.pi / 2, 0.0))
    lies = _yaw(rng) @ geometry.from_rpy(*over[int(rng.integers(4))])
    things[0] = thing(things[0].id, (CAN, BRICK)[seed % 2], things[0].position, lies)
    return _Drawn(table_with(things), (), (UPRIGHT.name, {"object_id": things[0].id}))


def _stack(seed: int, rng: np.random.Generator) -> _Drawn:
    """Two to four levels of cubes."""
    levels = 2 + seed % 3
    things = _among_others(rng, [CUBE] * levels, others=1)
    return _Drawn(table_with(things), (), (STACK.name, {"object_ids": [one.id for one in things[:levels]]}))


def _fixture(shape: str, rng: np.random.Generator, *, full: bool) -> tuple[Thing, list[Thing]]:
    """A drawer or a chest that faces the robot, more or less, with a cube in it or two things about it."""
    radius, angle = rng.uniform(0.62, 0.70), rng.uniform(-0.7, 0.7)
    size = tuple(round(float(side * rng.uniform(0.9, 1.1)), 3) for side in drawers.SIZE[shape])
    place = (radius * math.cos(angle), radius * math.sin(angle), size[2] / 2)
    turn = geometry.quat_of(rotations.about_z(angle + float(rng.uniform(-0.35, 0.35))))
    piece = Thing(f"{shape}_01", shape, shape, place, turn, size, shape)
    if full:
        small = ("cube", (0.03, 0.03, 0.03), 0.05, "blue")
        inside = thing("cube_in", small, place, rotations.matrix(turn))
        return piece, [replace(inside, position=(*place[:2], 2 * fixture_model.WALL + fixture_model.GAP + 0.016))]
    kinds = [STANDARD_KINDS[i] for i in rng.integers(0, len(STANDARD_KINDS), 2)]
    spots = [s for s in _spots(rng, 8) if math.hypot(s[0] - place[0], s[1] - place[1]) > 0.36][:2]
    return piece, [
        thing(f"{kind[0]}_{n}", kind, spot, _yaw(rng)) for n, (kind, spot) in enumerate(zip(kinds, spots, strict=False))
    ]


def _drawn_out(piece: Thing, one: Thing) -> Thing:
    """What lies in an open drawer lies where that is."""
    if one.id != "cube_in" or piece.shape != fixture_model.DRAWER:
        return one
    away = rotations.matrix(piece.orientation)[:, 0] * fixture_model.opening(piece)
    return replace(one, position=tuple(float(v) for v in np.array(one.position) - away))


def _opening(shape: str) -> Callable[[int, np.random.Generator], _Drawn]:
    """It is opened; every second one is open, and is closed."""

    def drawn(seed: int, rng: np.random.Generator) -> _Drawn:
        piece, things = _fixture(shape, rng, full=seed % 3 == 0)
        scene = table_with(things)
        if seed % 2:
            piece = replace(piece, status=fixture_model.OPEN)
            things = [_drawn_out(piece, one) for one in things]
            scene = table_with(things)
        op = CLOSE_FIXTURE if seed % 2 else OPEN_FIXTURE
        return _Drawn(replace(scene, furniture=(*scene.furniture, piece)), (), (op.name, {"object_id": piece.id}))

    return drawn


def _put_in(seed: int, rng: np.random.Generator) -> _Drawn:
    """A cube, a bar or a small apple put into an open drawer or chest, which may have a cube in it; others about."""
    piece, things = _fixture((fixture_model.DRAWER, fixture_model.CHEST)[seed % 2], rng, full=seed % 3 == 0)
    piece = replace(piece, status=fixture_model.OPEN)
    held = (CUBE, BAR, ("apple", (0.056, 0.056, 0.056), 0.1, "red"))[seed % 3]
    spots = [s for s in _spots(rng, 8) if math.dist(s, piece.position[:2]) > 0.38][:1] or [(0.3, -0.45)]
    put = thing(f"{held[0]}_put", held, spots[0], _yaw(rng))
    things = [_drawn_out(piece, one) for one in things if math.dist(one.position, put.position) > 0.15]
    scene = table_with([put, *things])
    step: Step = ("place", {"target": piece.id})
    return _Drawn(replace(scene, furniture=(*scene.furniture, piece)), ((PICK_UP.name, {"object_id": put.id}),), step)


def _pour(seed: int, rng: np.random.Generator) -> _Drawn:
    """A cup with 8 to 24 grains poured into a bowl, another thing about."""
    cup, bowl, other = _spots(rng, 3)
    size, high = round(float(rng.uniform(0.062, 0.072)), 3), round(float(rng.uniform(0.08, 0.1)), 3)
    vessels = [
        Thing("cup_01", "white cup", "cup", (*cup, high / 2 + 0.001), size=(size, size, high), shape="cylinder",
              mass=0.15, color="white", extra={"grains": int(rng.integers(8, 25))}),
        Thing("bowl_01", "blue bowl", "bowl", (*bowl, 0.026), size=(0.14, 0.14, 0.05), shape="cylinder", mass=0.25,
              color="blue", extra={"grains": 0}),
    ]  # fmt: skip
    kind = STANDARD_KINDS[int(rng.integers(len(STANDARD_KINDS)))]
    scene = table_with([*vessels, thing("other", kind, other, _yaw(rng))])
    return _Drawn(scene, (), (POUR.name, {"object_id": "cup_01", "target": "bowl_01"}))


def _wipe(seed: int, rng: np.random.Generator) -> _Drawn:
    """A marked area of 14 to 24 cm wiped with a sponge, another thing about."""
    place, sponge, other = _spots(rng, 3)
    sides = tuple(round(float(v), 3) for v in rng.uniform(0.14, 0.24, 2))
    turn = geometry.quat_of(_yaw(rng))
    area = Thing("area_01", "marked area", "region", (*place, 0.001), turn, (*sides, 0.002), "region", color="green")
    kinds = (("sponge", (0.09, 0.06, 0.035), 0.04, "yellow"), STANDARD_KINDS[int(rng.integers(len(STANDARD_KINDS)))])
    things = [thing(f"{kind[0]}_01", kind, at, _yaw(rng)) for kind, at in zip(kinds, (sponge, other), strict=True)]
    away = [one for one in things if math.dist(one.position[:2], place) > math.hypot(*sides) / 2 + 0.08]
    if things[0] not in away:
        away = [replace(things[0], position=(0.25, math.copysign(0.42, -place[1]), things[0].position[2])), *away]
    scene = table_with(away)
    scene = replace(scene, furniture=(*scene.furniture, area))
    return _Drawn(scene, (), (WIPE.name, {"object_id": "sponge_01", "target": area.id}))


def _carry(seed: int, rng: np.random.Generator) -> _Drawn:
    """One of five kinds picked up and placed 0.2 m or farther away."""
    kinds = [STANDARD_KINDS[seed % 5], APPLE]
    things = _among_others(rng, kinds, others=1)
    spot = things.pop(1).position[:2]
    given: Json = {
        "name": "pick_and_place",
        "object_id": things[0].id,
        "target_position": [*spot, things[0].position[2]],
    }
    return _Drawn(table_with(things), (), ("strategy", given))


SKILLS: Final[dict[str, Callable[[int, np.random.Generator], _Drawn]]] = {
    "place_beside": _beside, "push": _push, "nudge": _nudge, "upright": _upright, "stack": _stack,
    "carry": _carry, "drawer": _opening(fixture_model.DRAWER), "lid": _opening(fixture_model.CHEST),
    "pour": _pour, "wipe": _wipe, "put_in": _put_in,
}  # fmt: skip


def trial(skill: str, seed: int, world: HonestWorld | None = None, perception: str = TRUTH) -> HandlingTrial:
    """The same for the same skill, seed and world. None: everything is as the file says."""
    done = _tried(skill, seed, world, perception)
    return done if world is None else done._replace(world=world.as_json())


def _tried(skill: str, seed: int, world: HonestWorld | None, perception: str) -> HandlingTrial:
    drawn = SKILLS[skill](seed, np.random.default_rng([seed, list(SKILLS).index(skill), 23]))
    difference = None if world is None else world.difference()
    body = TabletopDriver(ROBOT, cameras=perception == CAMERA, perception=perception, difference=difference)
    try:
        body.open(drawn.scene)
        for step in drawn.before:
            if not _carried_out(body, step).ok:
                return HandlingTrial(skill, seed, False, True, "BEFORE", f"{step[0]} failed")
        op, given = drawn.step
        findings = [found for found in body.review(Order("trial", ROBOT, op, given)) if not found.warning]
        if findings:
            return HandlingTrial(skill, seed, False, True, findings[0].code, findings[0].found)
        outcome = _carried_out(body, drawn.step)
        return HandlingTrial(skill, seed, outcome.ok, False, outcome.code, "" if outcome.ok else outcome.message)
    finally:
        body.close()


def _carried_out(body: TabletopDriver, step: Step) -> Outcome:
    clock = SystemClock()
    return body.execute(Order("trial", ROBOT, step[0], step[1]), Run(clock, clock.monotonic() + WALL_S))
