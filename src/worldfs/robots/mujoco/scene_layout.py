"""The layout: a `Scene` made fit for physics, every thing complete and at rest.

Conventions of position and size (m, full extents, world frame):
- objects: centre;
- tables and stands: centre of the TOP face; size z reaches down to their support;
- baskets and boxes: centre; a basket is an open box with walls; regions: centre, flat, visible and without collision.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from worldfs.base import drawers
from worldfs.base.errors import BadInput
from worldfs.base.furniture_shapes import furniture_shape
from worldfs.base.hollows import is_in
from worldfs.base.map_zones import MapZone, map_zones
from worldfs.base.messages import coded
from worldfs.base.model import RobotState, Scene, Thing
from worldfs.base.tray_names import tray_id
from worldfs.robots import rotations
from worldfs.robots.displacements import STAND

from . import carrier_model, fixture_model, geometry, object_kinds
from .array_types import Array
from .quadruped.quadruped_placement import QuadrupedPlacement, quadruped_placements

BASKET_WALL = 0.008  # m
SLAB = 0.04  # m, table top
BETWEEN_BASES = 0.30  # m
# x, y (m), yaw (rad) in the first arm's frame: at its table, the second arm faces it, two more stand at the sides
SEATS = ((0.0, 0.0, 0.0), (0.9, 0.0, math.pi), (0.45, -0.75, math.pi / 2), (0.45, 0.75, -math.pi / 2))
LABEL_OWN, LABEL_FLOOR = "robot", "floor"  # what contacts call an arm itself, and what stands under everything
PARKING = ((-0.42, 0.45), (-0.42, -0.45), (1.32, 0.45), (1.32, -0.45))  # x, y (m) of carriers in that frame
APART = 0.6  # m between the middles of two carriers
CLEAR_BASE = 0.20  # m about the base's axis that guessed furniture keeps free
CLEAR_HAND = 0.13  # m that a guessed table top keeps from things below it, so that a gripper can come down
TABLE_SIZE = (0.9, 1.2)
TABLE_HEIGHT = 0.75


@dataclass(frozen=True, slots=True)
class ArmPlacement:
    """A robot's arm in a world: the prefix of its names in the model, its base pose (x y z roll pitch yaw), and the
    robot as the file has it. An arm alone has no prefix."""

    robot_id: str
    prefix: str
    base: tuple[float, ...]
    robot: RobotState | None = None


@dataclass(frozen=True, slots=True)
class CarrierPlacement:
    """A robot's carrier in a world: its prefix, the middle of its base on the floor (x y z, m), and its tray."""

    robot_id: str
    prefix: str
    base: tuple[float, ...]
    tray: Thing
    robot: RobotState | None = None


@dataclass(frozen=True, slots=True)
class SceneLayout:
    """The model's input: the arms and carriers, complete objects, the height of the floor."""

    arms: tuple[ArmPlacement, ...]
    floor: float
    objects: tuple[Thing, ...]
    furniture: tuple[Thing, ...]
    loose: tuple[str, ...] = ()  # ids of objects that nothing is beneath, the lowest first
    added: frozenset[str] = field(default_factory=frozenset)  # ids of stands that are in no file
    carriers: tuple[CarrierPlacement, ...] = ()
    zones: tuple[MapZone, ...] = ()  # of the map: places to drive onto
    quadrupeds: tuple[QuadrupedPlacement, ...] = ()

    @property
    def middle(self) -> tuple[float, ...]:
        """The middle of the arms' bases, else of the carriers', else the origin (x y z, m): of one arm its own base."""
        bases = [place.base[:3] for place in self.arms or self.carriers] or [(0.0, 0.0, self.floor)]
        return tuple(float(v) for v in np.mean(bases, axis=0))


def layout(scene: Scene, *robot_ids: str, carriers: Sequence[str] = (), quadrupeds: Sequence[str] = ()) -> SceneLayout:
    """Completes and settles `scene` for these robots: arms, carriers with their trays, and quadrupeds. What it leaves
    in the air (`loose`), `stands.stood` puts a stand under.

    Errors: `BadInput` for poses that no world can have.
    """
    arms = _placements(scene, robot_ids, alone=len(robot_ids) == 1 and not carriers and not quadrupeds)
    bases = [place.base for place in arms]
    trays = {tray_id(id) for id in carriers}
    scene = replace(scene, furniture=tuple(t for t in scene.furniture if t.id not in trays))
    # An object without a position in the file is not built, and stays as the file has it. So does
    # one whose numbers cannot be built.
    furniture = {t.id: t for t in scene.furniture if _buildable(t)}
    objects = [object_kinds.completed(_three(t)) for t in scene.objects if _buildable(t) and t.id not in furniture]
    floor = _floor(bases, furniture.values(), objects)
    parked = _parked(scene, carriers, arms, floor)
    held = {place.robot.holding for place in arms if place.robot}
    shapes = {id: replace(_three(t), shape=furniture_shape(t)) for id, t in furniture.items()}
    built: dict[str, Thing] = {}
    for thing in sorted(shapes.values(), key=lambda t: t.shape != "table"):  # tables first: baskets rest on them
        built[thing.id] = _furnish(
            thing, bases, floor, objects=objects, furniture=shapes.values(), built=built.values()
        )
    trays_there = [place.tray for place in parked]
    placed: list[Thing] = []
    loose: list[str] = []
    for thing in sorted(objects, key=lambda t: t.position[2]):
        rested = thing if thing.id in held else settled(thing, [*built.values(), *trays_there], placed, floor)
        if rested is None:
            loose.append(thing.id)
        placed.append(rested or thing)
    order = {t.id: i for i, t in enumerate(objects)}
    return SceneLayout(
        arms,
        floor,
        tuple(sorted(placed, key=lambda t: order[t.id])),
        tuple(built.values()),
        tuple(loose),
        carriers=parked,
        zones=map_zones(scene),
        quadrupeds=quadruped_placements(scene, quadrupeds, [*arms, *parked], tuple(built.values()), floor),
    )


def interior(basket: Thing) -> tuple[Array, Array]:
    """Lowest and highest corner of a basket's interior (m)."""
    centre, half = np.array(basket.position), np.array(basket.size) / 2
    low, high = centre - half, centre + half
    low += BASKET_WALL
    high[:2] -= BASKET_WALL
    return low, high


def within(basket: Thing, position: Array, slack: float = 0.0) -> bool:
    """Whether a centre is inside a basket's interior, `slack` m above its rim included."""
    low, high = interior(replace(basket, position=(0.0, 0.0, 0.0)))
    at = np.array(drawers.own_frame(basket, tuple(position.tolist())))
    return bool(np.all(at >= low) and np.all(at[:2] <= high[:2]) and at[2] <= high[2] + slack)


def covers(thing: Thing, x: float, y: float, slack: float = 0.0) -> bool:
    """Whether (x, y) is above a piece of furniture."""
    dx, dy, _ = drawers.own_frame(thing, (x, y, thing.position[2]))
    return abs(dx) <= thing.size[0] / 2 + slack and abs(dy) <= thing.size[1] / 2 + slack


def settled(thing: Thing, furniture: Iterable[Thing], placed: Iterable[Thing], floor: float) -> Thing | None:
    """`thing` lifted until it rests on what it is near; unchanged when it does already; None: nothing is beneath."""
    x, y, z = thing.position
    half = rotations.half_extents(thing.shape, thing.size, rotations.matrix(thing.orientation))
    height = float(half[2])
    tops: list[tuple[float, bool]] = [(floor, True)]
    for piece in furniture:
        if piece.shape == "basket" and covers(piece, x, y, -BASKET_WALL):
            low, high = interior(piece)
            if low[2] - height - 0.02 <= z <= high[2] + height:
                tops.append((float(low[2]), True))
        elif piece.shape == "table" and covers(piece, x, y, 0.02):
            tops.append((piece.position[2], True))
        elif piece.shape in fixture_model.FIXTURES:
            opening = fixture_model.opening(piece)
            if is_in(thing, piece, opening):
                tops.append((piece.position[2] + float(fixture_model.interior(piece, opening)[0][2]), True))
            elif covers(piece, x, y) and z > piece.position[2] + piece.size[2] / 2:
                tops.append((piece.position[2] + piece.size[2] / 2, True))
        elif piece.shape == "box" and covers(piece, x, y, 0.0):
            tops.append((piece.position[2] + piece.size[2] / 2, True))
    for other in placed:
        reach = rotations.half_extents(other.shape, other.size, rotations.matrix(other.orientation))
        if abs(x - other.position[0]) <= reach[0] and abs(y - other.position[1]) <= reach[1]:
            tops.append((other.position[2] + float(reach[2]), False))
    for top, solid in sorted(tops, reverse=True):
        gap = z - height - top
        # a file often has the surface's height for the object's; an object just above a surface falls onto it
        if solid and -2 * height - 0.05 <= gap <= 0.03:
            return thing if gap >= -0.003 else replace(thing, position=(x, y, top + height + 0.0005))
        if not solid and -0.01 <= gap <= 0.02:
            return thing
    # inside a basket or a pile things lie as they fell: anything within a basket's interior has a support
    for piece in furniture:
        if piece.shape in fixture_model.FIXTURES:
            if is_in(thing, piece, fixture_model.opening(piece)):
                return thing
        elif piece.shape == "basket" and covers(piece, x, y) and z - height <= piece.position[2] + piece.size[2] / 2:
            return thing
    return None


def _placements(scene: Scene, robot_ids: Sequence[str], *, alone: bool) -> tuple[ArmPlacement, ...]:
    arms: list[ArmPlacement] = []
    for i, robot_id in enumerate(robot_ids):
        robot = scene.robot(robot_id)
        # a robot that the file does not have takes the place of its only robot; what that one holds is not its own
        there = robot or (scene.robots[0] if alone and len(scene.robots) == 1 else None)
        base = _base(there) if alone or (there and there.pose) else _seat(arms, scene, robot_ids)
        arms.append(ArmPlacement(robot_id, "" if alone else f"arm{i}/", base, robot))
    for one, other in combinations(arms, 2):
        if math.dist(one.base[:3], other.base[:3]) < BETWEEN_BASES:
            raise BadInput(
                coded(
                    "robot.too_close",
                    one=one.robot_id,
                    at=list(one.base[:3]),
                    other=other.robot_id,
                    there=list(other.base[:3]),
                ),
                expected=coded("robot.bases_apart", m=BETWEEN_BASES),
                fix=coded("robot.own_pose"),
            )
    taken = {LABEL_OWN, LABEL_FLOOR, *(thing.id for thing in (*scene.objects, *scene.furniture))}
    for place in () if alone else arms:
        if place.robot_id in taken:  # contacts name an arm by its robot's id
            raise BadInput(
                coded("robot.other_robot", id=place.robot_id),
                expected=coded("file.own_id"),
                fix=coded("robot.call_otherwise"),
            )
    return tuple(arms)


def _parked(
    scene: Scene, robot_ids: Sequence[str], arms: Sequence[ArmPlacement], floor: float
) -> tuple[CarrierPlacement, ...]:
    """Carriers where the file has them, else at the first free place beside the first arm."""
    first = arms[0].base if arms else (0.0,) * 6
    turn = geometry.from_rpy(0.0, 0.0, first[5])
    free = [np.array(first[:3]) + turn @ np.array([x, y, 0.0]) for x, y in PARKING]
    found: list[CarrierPlacement] = []
    for i, robot_id in enumerate(robot_ids):
        robot = scene.robot(robot_id)
        if robot and robot.pose:
            at = _base(robot)[:2]
        else:
            taken = [one.base for one in found] + [_base(r) for id in robot_ids if (r := scene.robot(id)) and r.pose]
            at = next((tuple(p[:2]) for p in free if all(math.dist(p[:2], t[:2]) > APART for t in taken)), ())
        if not at:
            raise BadInput(coded("robot.no_seat", n=len(PARKING)), fix=coded("robot.own_pose"))
        base = (round(float(at[0]), 4) + 0.0, round(float(at[1]), 4) + 0.0, floor)
        found.append(CarrierPlacement(robot_id, f"carrier{i}/", base, carrier_model.tray(robot_id, base), robot))
    return tuple(found)


def _seat(arms: Sequence[ArmPlacement], scene: Scene, robot_ids: Sequence[str]) -> tuple[float, ...]:
    """The first place at the first arm's table that is free: for an arm whose base the file does not say."""
    given = [_base(robot) for id in robot_ids if (robot := scene.robot(id)) and robot.pose]
    taken = [*given, *(place.base for place in arms)]
    first = arms[0].base if arms else (*given, (0.0,) * 6)[0]
    for x, y, yaw in SEATS:
        at = np.array(first[:3]) + geometry.from_rpy(*first[3:]) @ np.array([x, y, 0.0])
        base = (*(round(float(v), 4) + 0.0 for v in at), *first[3:5], first[5] + yaw)
        if all(math.dist(base[:3], other[:3]) >= BETWEEN_BASES for other in taken):
            return base
    raise BadInput(
        coded("robot.no_seat", n=len(SEATS)), expected=coded("robot.bases_apart", m=BETWEEN_BASES),
        fix=coded("robot.own_pose"),
    )  # fmt: skip


def _base(robot: RobotState | None) -> tuple[float, ...]:
    pose = tuple(float(v) for v in (robot.pose if robot else ())) or (0.0, 0.0, 0.0)
    pose = (*pose, *(0.0,) * 6)[:6]
    if not all(math.isfinite(v) for v in pose):
        raise BadInput(
            coded("robot.robot_pose", pose=list(pose)),
            expected=coded("robot.only_finite"),
            fix=coded("robot.correct_pose"),
        )
    return pose


def _buildable(thing: Thing) -> bool:
    """Has it a place, and numbers such as a world can have, below 10 km and 10 t?"""
    numbers = (*thing.position, *thing.orientation, *thing.size, thing.mass)
    return bool(thing.position) and all(math.isfinite(v) and abs(v) < 1e4 for v in numbers)


def _three(thing: Thing) -> Thing:
    position = tuple(float(v) for v in (*thing.position, 0.0, 0.0, 0.0)[:3])
    orientation = tuple(float(v) for v in thing.orientation)
    if len(orientation) != 4 or abs(math.hypot(*orientation)) < 1e-6:
        orientation = (1.0, 0.0, 0.0, 0.0)
    return replace(thing, position=position, orientation=orientation)


def _floor(bases: list[tuple[float, ...]], furniture: Iterable[Thing], objects: Iterable[Thing]) -> float:
    """0 or the lowest base's height, unless the robot is on a table: then the floor is below that table."""
    lowest = min([0.0, *(base[2] for base in bases)])
    for thing in furniture:
        if furniture_shape(thing) == "table" and thing.category != STAND:
            top = thing.position[2]
            height = thing.size[2] if len(thing.size) == 3 else 0.0
            if height > 0.1:
                lowest = min(lowest, top - height)
            elif top < lowest + 0.1:
                lowest = min(lowest, top - TABLE_HEIGHT)
    return min([lowest, *(t.position[2] - t.size[2] for t in objects if t.position[2] < lowest)])


def _furnish(
    thing: Thing,
    bases: list[tuple[float, ...]],
    floor: float,
    *,
    objects: list[Thing],
    furniture: Iterable[Thing],
    built: Iterable[Thing],
) -> Thing:
    size = thing.size if len(thing.size) == 3 and min(thing.size) > 0 else ()
    if thing.shape == "basket":
        size = size or (0.30, 0.40, 0.09)
        solid = replace(thing, shape="box", size=size)
        rested = settled(solid, built, (), floor) or solid
        return replace(rested, shape="basket", color=thing.color or "#b98a54")
    if thing.shape in fixture_model.FIXTURES:
        size = size or drawers.SIZE[thing.shape]
        solid = replace(thing, shape="box", size=size)
        return replace(settled(solid, built, (), floor) or solid, shape=thing.shape)
    if thing.shape == "region":
        return replace(thing, size=size or (0.2, 0.2, 0.002), color=thing.color or "green")
    if thing.shape == "box":
        return replace(thing, size=size or (0.3, 0.3, 0.3), color=thing.color or "gray")
    if not size:
        half = _table_half(thing, bases, objects, furniture)
        size = (2 * half[0], 2 * half[1], max(thing.position[2] - floor, SLAB))
    return replace(thing, size=tuple(round(v, 4) for v in size))


def _table_half(
    table: Thing, bases: list[tuple[float, ...]], objects: list[Thing], furniture: Iterable[Thing]
) -> tuple[float, float]:
    """Half extents for a table that no file measured: under its things, clear of the base, not over lower things."""
    x, y, z = table.position
    half = [TABLE_SIZE[0] / 2, TABLE_SIZE[1] / 2]
    others = [(t.position, 0.1) for t in objects]
    others += [(t.position, max(t.size[:2] or (0.4,)) / 2) for t in furniture if t.shape == "basket"]
    for position, room in others:
        near = math.hypot(position[0] - x, position[1] - y) < 1.5
        if near and -0.05 < position[2] - z < 0.25:
            half[0] = max(half[0], abs(position[0] - x) + room)
            half[1] = max(half[1], abs(position[1] - y) + room)
    keep: list[tuple[float, float, float, float]] = []
    for base in bases:
        if not -0.02 <= z - base[2] <= 0.02:  # else the robot is on it
            keep.append((base[0], base[1], CLEAR_BASE, 0.0))
    keep += [(t.position[0], t.position[1], CLEAR_HAND, 0.06) for t in objects if t.position[2] <= z - 0.05]
    for px, py, clear, least in keep:
        away = (abs(px - x) - clear, abs(py - y) - clear)
        if away[0] >= half[0] or away[1] >= half[1]:
            continue
        # give up the side that costs the smaller part of the table
        axis = 0 if away[0] / half[0] >= away[1] / half[1] else 1
        half[axis] = max(min(half[axis], away[axis]), least, 0.05)
    return half[0], half[1]
