"""What an order needs to itself while it runs, and what its robot stands on: things, lanes, places and air."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from worldfs.base.model import Order, RobotState, Scene, Vec
from worldfs.base.order_parameters import LABEL, OBJECT
from worldfs.base.standard_operations import LOOK, MOVE_TO, PICK
from worldfs.fleet.lanes import Lane, lanes_at, lanes_on, passing_places, read_lanes, zone_pose
from worldfs.fleet.reservations import Reservation, ReservedKind
from worldfs.robots.order_space import DOCK, FOOT, HEIGHT, order_goals, order_space

HALF: Final = max(FOOT)  # m from a vehicle's middle to its sides, and its room


class OrderNeeds(NamedTuple):
    """`things` stay the mission's until it ends, the rest the order's until it has."""

    things: tuple[Reservation, ...] = ()
    passing: tuple[Reservation, ...] = ()  # lanes, air and floor on the way
    goal: tuple[Reservation, ...] = ()  # the place where a vehicle stands afterwards

    @property
    def all(self) -> tuple[Reservation, ...]:
        return (*self.things, *self.passing, *self.goal)


class StepAside(NamedTuple):
    """An order that takes a vehicle out of the others' way, to a passing place of the map."""

    name: str
    at: tuple[float, float]  # x y, m
    order: Order
    needs: OrderNeeds


def order_needs(
    scene: Scene, order: Order, *, mobile: bool, way: Sequence[Sequence[float]] = (), sees: bool = False
) -> OrderNeeds:
    """By the documents, and by the way that its driver would take, where that is known. `sees`: on that way it drives
    round other robots by itself."""
    robot = scene.robot(order.node)
    things = _things(scene, order)
    if robot is None or len(robot.pose) < 2:
        return OrderNeeds(things)
    if not mobile:
        space = order_space(scene, order)
        air = () if space is None else (Reservation(ReservedKind.SPACE, box=_short(space.box)),)
        return OrderNeeds(things, air)
    points = [tuple(point[:2]) for point in way] or _straight(scene, order, robot)
    if len(points) < 2:
        return OrderNeeds(things)
    lanes = [Reservation(ReservedKind.LANE, name, turn) for name, turn in lanes_on(points, read_lanes(scene), HALF)]
    pieces = [Reservation(ReservedKind.SPACE, box=_air(piece, (*robot.pose, 0.0)[2])) for piece in pairwise(points)]
    beside = DOCK if not way and _drives_beside(scene, order) else 0.0
    goal = Reservation(ReservedKind.PLACE, box=_around(points[-1:], beside))
    floor = (
        ()
        if way and sees
        else _floor(points, [one.pose for one in scene.robots if one is not robot and len(one.pose) >= 2])
    )
    return OrderNeeds(things, (*lanes, *pieces, *floor), (goal,))


def stands_on(
    scene: Scene, robot_id: str, *, mobile: bool, lanes: Sequence[Lane] | None = None
) -> tuple[Reservation, ...]:
    """What the robot has because it is there: the floor that it stands on, its lanes, the thing in its gripper."""
    robot = scene.robot(robot_id)
    if robot is None:
        return ()
    held = (Reservation(ReservedKind.OBJECT, robot.holding),) if robot.holding else ()
    if not mobile or len(robot.pose) < 2:
        return held
    at = lanes_at(robot.pose, read_lanes(scene) if lanes is None else lanes, HALF)
    place = Reservation(ReservedKind.PLACE, box=_around([robot.pose]))
    return (*held, place, *(Reservation(ReservedKind.LANE, name) for name in at))


def steps_aside(
    scene: Scene,
    robot_id: str,
    needs: OrderNeeds,
    way: Callable[[Order], Sequence[Sequence[float]]],
    *,
    sees: bool = False,
) -> Iterator[StepAside]:
    """The ways out of the others' way: to each passing place where it is not, and is not to go, nearest first."""
    robot = scene.robot(robot_id)
    here = robot.pose[:2] if robot is not None and len(robot.pose) >= 2 else (0.0, 0.0)
    for name, at in sorted(passing_places(scene), key=lambda place: math.dist(place[1], here)):
        order = Order("", robot_id, MOVE_TO.name, {"target_pose": [*at, 0.0]}, asker="orchestrator")
        aside = order_needs(scene, order, mobile=True, way=way(order), sees=sees)
        stands = stands_on(scene, robot_id, mobile=True, lanes=())
        if aside.goal and not any(spot.conflicts(aside.goal[0]) for spot in (*stands, *needs.goal)):
            yield StepAside(name, (at[0], at[1]), order, aside)


def _things(scene: Scene, order: Order) -> tuple[Reservation, ...]:
    """The things that it takes up: of a sequence of a body's own, each object that it names."""
    if order.op in LOOK:
        return ()
    values = order.params.values() if order.op in PICK else [order.params.get(key) for key in OBJECT]
    objects = {thing.id for thing in scene.objects}
    names = {value for value in values if isinstance(value, str) and value in objects}
    return tuple(Reservation(ReservedKind.OBJECT, name) for name in sorted(names))


def _straight(scene: Scene, order: Order, robot: RobotState) -> list[tuple[float, ...]]:
    goals = list(order_goals(scene, order, robot))
    label = next((value for key in LABEL if isinstance(value := order.params.get(key), str)), "")
    if not goals and (pose := zone_pose(scene, label)) is not None:
        goals = [pose]
    return [tuple(point[:2]) for point in (robot.pose, *goals) if len(point) >= 2] if goals else []


def _floor(points: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> Iterator[Reservation]:
    """Straight from point to point. The room where it stands is left out, and that of `others` which stand too close to
    it now: it may drive off from beside them."""
    here = Reservation(ReservedKind.PLACE, box=_around(points[:1]))
    near = [one for pose in others if (one := Reservation(ReservedKind.PLACE, box=_around([pose]))).conflicts(here)]
    for start, end in pairwise((point[0], point[1]) for point in points):
        far = math.dist(start, end)
        if far <= HALF:
            continue
        whole = _way(start, end, HALF / far, 1.0)
        if not any(whole.conflicts(one) for one in near):
            yield whole
            continue
        shares = [min(1.0, number * HALF / far) for number in range(1, math.ceil(far / HALF) + 1)]
        pieces = (_way(start, end, *piece) for piece in pairwise(shares))
        yield from (piece for piece in pieces if not any(piece.conflicts(one) for one in near))


def _way(start: Sequence[float], end: Sequence[float], first: float, last: float) -> Reservation:
    """The floor below a straight way, from one share of it to another."""
    ends = [a + (b - a) * share for share in (first, last) for a, b in zip(start, end, strict=True)]
    return Reservation(ReservedKind.WAY, box=_short((*ends, HALF)))


def _drives_beside(scene: Scene, order: Order) -> bool:
    """Whether it ends beside what it names, at an unknown place; a place of the map is driven onto."""
    label = next((value for key in LABEL if isinstance(value := order.params.get(key), str)), "")
    thing = scene.thing(label)
    return order.op in LOOK and (scene.robot(label) is not None or (thing is not None and thing.shape != "region"))


def _air(piece: Sequence[Sequence[float]], floor: float) -> tuple[float, ...]:
    x, y, to_x, to_y = _around(piece)
    return _short((x, y, floor, to_x, to_y, floor + HEIGHT))


def _around(points: Sequence[Vec | Sequence[float]], more: float = 0.0) -> tuple[float, ...]:
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    off = HALF + more
    return _short((min(xs) - off, min(ys) - off, max(xs) + off, max(ys) + off))


def _short(box: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(value, 3) for value in box)
