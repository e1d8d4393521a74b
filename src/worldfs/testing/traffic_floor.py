"""A floor with vehicles and arms that see nothing of each other, and a judge who sees all of them, at every time.

Its time is its own: it goes on when every mission that could move has begun to, so that what may meet does meet.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from worldfs.base.driver import Run
from worldfs.base.json_values import as_floats
from worldfs.base.model import Cause, Finding, Operation, Order, Outcome, Relation, RobotState, Scene, Thing
from worldfs.base.standard_operations import MOVE_TO, NAVIGATE, PICK_UP, PLACE_DOWN

Point = tuple[float, float]
RADIUS: Final = 0.3  # m, of a vehicle
HAND: Final = 0.06  # m, about the line from an arm's base to its hand
PACE: Final = 0.5  # m/s
STEP_S: Final = 0.05  # between two looks of the judge


class FloorMove(NamedTuple):
    """Along straight pieces, from `start` on; `cut`: the time at which it was stopped."""

    robot: str
    start: float
    way: tuple[Point, ...]
    cut: float = math.inf

    @property
    def end(self) -> float:
        return self.start + sum(math.dist(a, b) for a, b in zip(self.way, self.way[1:], strict=False)) / PACE

    def at(self, time: float) -> Point:
        if min(time, self.cut) >= self.end:
            return self.way[-1]
        left = max(0.0, min(time, self.cut) - self.start) * PACE
        for a, b in zip(self.way, self.way[1:], strict=False):
            far = math.dist(a, b)
            if left <= far and far > 0:
                return a[0] + (b[0] - a[0]) * left / far, a[1] + (b[1] - a[1]) * left / far
            left -= far
        return self.way[-1]


class FloorViolation(NamedTuple):
    """`kind`: collision | taken (two hands at one thing). At `time` s of the floor's own clock."""

    kind: str
    robots: tuple[str, str]
    time: float


@dataclass
class TrafficFloor:
    """Vehicles stand at `starts`; arms at their bases, their hands drawn in. `road`: the way between two points, which
    the vehicles can say, or, `silent`, cannot."""

    starts: dict[str, Point]
    arms: frozenset[str] = frozenset()
    things: dict[str, Point] = field(default_factory=dict)
    boxes: dict[str, Point] = field(default_factory=dict)
    road: Callable[[Point, Point], Sequence[Point]] = lambda a, b: (a, b)
    silent: bool = False

    def __post_init__(self) -> None:
        self.now = 0.0
        self.moves: list[FloorMove] = []  # those that have ended
        self.going: dict[str, tuple[FloorMove, threading.Event]] = {}
        self.held: dict[str, str] = {}  # robot → thing
        self.inside: dict[str, str] = {}  # thing → box
        self.taken: list[FloorViolation] = []
        self._lock = threading.Lock()

    # -- what bodies do -----------------------------------------------------------------------------------------

    def where(self, robot: str) -> Point:
        last = [move for move in self.moves if move.robot == robot]
        return last[-1].at(math.inf) if last else self.starts[robot]

    def go(self, robot: str, way: Sequence[Point], run: Run) -> str:
        """Until it is there ("") or is asked to stop (why)."""
        arrived = threading.Event()
        with self._lock:
            move = FloorMove(robot, self.now, tuple(way))
            self.going[robot] = move, arrived
        while not arrived.wait(0.02):
            if why := run.stop:
                with self._lock:
                    if not arrived.is_set():
                        del self.going[robot]
                        self.moves.append(move._replace(cut=self.now))
                        return why
        return ""

    def take(self, robot: str, thing: str) -> bool:
        with self._lock:
            if other := next((one for one, what in self.held.items() if what == thing), ""):
                self.taken.append(FloorViolation("taken", (other, robot), self.now))
                return False
            self.held[robot] = thing
            self.inside.pop(thing, None)
            return True

    def put(self, robot: str, spot: Point, box: str) -> None:
        with self._lock:
            thing = self.held.pop(robot)
            self.things[thing] = spot
            if box in self.boxes:
                self.inside[thing] = box

    # -- time ---------------------------------------------------------------------------------------------------

    def go_on(self) -> None:
        """To the moment at which the next body arrives."""
        with self._lock:
            robot = min(self.going, key=lambda id: (self.going[id][0].end, id))
            move, arrived = self.going.pop(robot)
            self.now = max(self.now, move.end)
            self.moves.append(move)
            arrived.set()

    # -- the judge ----------------------------------------------------------------------------------------------

    def judge(self) -> list[FloorViolation]:
        """Which robots met, and when, by their places at every moment."""
        found = list(self.taken)
        moves = [*self.moves, *(move._replace(cut=self.now) for move, _ in self.going.values())]
        for one in moves:
            met: set[str] = set()
            for step in range(math.ceil((min(one.end, one.cut) - one.start) / STEP_S) + 1):
                time = one.start + step * STEP_S
                for other in self.starts:
                    if other != one.robot and other not in met and self._touch(one, other, moves, time):
                        met.add(other)
                        if not any(v.robots == (other, one.robot) and v.time == time for v in found):
                            found.append(FloorViolation("collision", (one.robot, other), time))
        return found

    def _touch(self, one: FloorMove, other: str, moves: Sequence[FloorMove], time: float) -> bool:
        there = self.starts[other]
        for move in moves:
            if move.robot == other and move.start <= time:
                there = move.at(time)
        here = one.at(time)
        if one.robot in self.arms and other in self.arms:
            return _apart((self.starts[one.robot], here), (self.starts[other], there)) < 2 * HAND
        if one.robot in self.arms or other in self.arms:
            return False
        return math.dist(here, there) < 2 * RADIUS


class FloorBody:
    """A `Driver` of one robot of the floor, which cannot say its way."""

    def __init__(self, floor: TrafficFloor, robot_id: str) -> None:
        self.floor, self.robot_id = floor, robot_id
        arm = robot_id in floor.arms
        self.operations: Sequence[Operation] = (PICK_UP, PLACE_DOWN) if arm else (MOVE_TO, NAVIGATE)
        self.orders: list[Order] = []

    def open(self, scene: Scene) -> None:
        pass

    def observe(self) -> Scene:
        floor, at = self.floor, self.floor.where(self.robot_id)
        if self.robot_id not in floor.arms:
            return Scene((RobotState(self.robot_id, (*at, 0.0)),))
        held = floor.held.get(self.robot_id)
        base = (*floor.starts[self.robot_id], 0.0)
        robot = RobotState(self.robot_id, base, gripper="holding" if held else "open", holding=held)
        hands = {thing: robot for robot, thing in floor.held.items()}
        things = tuple(_thing(id, floor.where(hands[id]) if id in hands else spot) for id, spot in floor.things.items())
        boxes = tuple(_box(id, spot) for id, spot in floor.boxes.items())
        relations = [Relation(id, "held_by", robot) for id, robot in hands.items()]
        relations += [Relation(id, "in", floor.inside[id]) for id in floor.things if id in floor.inside]
        return Scene((robot,), things, (TABLE, *boxes), tuple(relations))

    def review(self, order: Order) -> Sequence[Finding]:
        return ()

    def drive(self, order: Order) -> Sequence[Point]:
        """The way of a vehicle, over the floor."""
        pose = as_floats(order.params.get("target_pose"))
        if self.robot_id in self.floor.arms or len(pose) < 2:
            return ()
        return tuple(self.floor.road(self.floor.where(self.robot_id), (pose[0], pose[1])))

    def execute(self, order: Order, run: Run) -> Outcome:
        floor, robot = self.floor, self.robot_id
        self.orders.append(order)
        home = floor.starts[robot]
        spot = self._spot(order) if robot in floor.arms else home
        why = floor.go(robot, (home, spot) if robot in floor.arms else self.drive(order), run)
        if not why and robot in floor.arms:
            if order.op == PICK_UP.name and not floor.take(robot, str(order.params["object_id"])):
                floor.go(robot, (spot, home), run)
                return Outcome.failure(Cause.ERROR, "GRASP_FAILED", "another hand has it")
            if order.op == PLACE_DOWN.name:
                floor.put(robot, spot, str(order.params.get("target", "")))
            why = floor.go(robot, (spot, home), run)
        if why:
            return Outcome.failure(Cause(why), "CANCELLED", "stopped")
        return Outcome.success("done")

    def _spot(self, order: Order) -> Point:
        if order.op == PICK_UP.name:
            return self.floor.things[str(order.params["object_id"])]
        at = as_floats(order.params.get("target_position"))
        return at[0], at[1]

    def close(self) -> None:
        pass


class FloorBodyWithWay(FloorBody):
    def way(self, order: Order) -> Sequence[Point]:
        return self.drive(order)


TABLE: Final = Thing("table_01", "table", "furniture", (0.0, 0.0, 0.0), size=(6.0, 6.0, 0.75), shape="table")


def _thing(id: str, at: Point) -> Thing:
    size = (0.05, 0.05, 0.05)
    return Thing(id, id.replace("_", " "), "cube", (*at, 0.025), size=size, shape="box", mass=0.1)


def _box(id: str, at: Point) -> Thing:
    return Thing(id, id.replace("_", " "), "container", (*at, 0.05), size=(0.3, 0.3, 0.1), shape="basket")


def _apart(one: tuple[Point, Point], other: tuple[Point, Point]) -> float:
    """The distance of two straight pieces; 0 where they cross."""
    (a, b), (c, d) = one, other

    def side(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    if side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0:
        return 0.0
    return min(_off(a, c, d), _off(b, c, d), _off(c, a, b), _off(d, a, b))


def _off(point: Point, start: Point, end: Point) -> float:
    length = math.dist(start, end)
    if length == 0:
        return math.dist(point, start)
    part = ((point[0] - start[0]) * (end[0] - start[0]) + (point[1] - start[1]) * (end[1] - start[1])) / length**2
    part = min(1.0, max(0.0, part))
    return math.dist(point, (start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1])))
