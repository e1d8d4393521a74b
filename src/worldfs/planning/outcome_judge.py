"""A success held against the observation that follows it: what a standard operation leaves behind, by what was seen.

The judge knows no driver, and a driver's word counts for nothing. It compares the order with two observations of the
node, the last one before the attempt and the one after it: where the robot stands, what it holds, where the object is.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from worldfs.base.drawers import drawn_out
from worldfs.base.footprint import lying, yaw
from worldfs.base.hollows import opens
from worldfs.base.json_values import as_list, as_object
from worldfs.base.map_zones import map_zones
from worldfs.base.model import Json, Operation, Order, Profile, RobotState, Scene, Thing, Vec
from worldfs.base.order_parameters import LABEL, OBJECT, POINT, given_parameter, goal_names, thing_names
from worldfs.base.robot_sides import WAYS
from worldfs.base.standard_operations import (
    HAND_OVER,
    LOOK,
    MOVE,
    PICK,
    PLACE,
    PLACE_BESIDE,
    PUSH,
    TAKE_OVER,
    described,
)

from .parameters import number, point
from .planner.directions import axis
from .planner.scene_facts import tops

AT, OFF = 0.1, 0.5  # m from a robot's goal: no more is at it, more is elsewhere, and between the two nothing is said
LAID, ASTRAY = 0.03, 0.15  # m, the same of a thing
STILL: Final = 0.005  # m: what moved less has not moved
PART: Final = 0.5  # of a motion that is asked for: who is farther than that from its end has not shown it
SAME: Final = 0.01  # of a number that an entry shows, and that share of it
TOOL: Final = ("ee_pose", "tool_pose", "tcp_pose")  # members of a robot's entry that say where its hand is


class Observed(NamedTuple):
    """What there is to judge by: the node's observations before and after, and the document with the latter in it."""

    before: Scene
    after: Scene
    document: Scene
    profile: Profile | None = None
    operation: Operation | None = None  # as the node's driver declares it

    def thing(self, id: str) -> Thing | None:
        """Furniture, and whatever else need not have been seen again to be where it is."""
        return self.after.thing(id) or self.document.thing(id)

    def named(self, word: str) -> str:
        """The id of what an order names by its id, or by the one name that it has."""
        things = (*self.document.objects, *self.document.furniture)
        same = {thing.id for thing in things if word.strip().casefold() == thing.name.casefold()}
        return word if self.thing(word) is not None or len(same) != 1 else same.pop()


class OutcomeVerdict(NamedTuple):
    """`holds`: True, it was seen; False, the opposite was seen; None: the observation does not show it."""

    holds: bool | None
    expected: Json
    observed: Json


UNSEEN: Final = OutcomeVerdict(None, {}, {})


def judge(order: Order, seen: Observed) -> OutcomeVerdict:
    """What the observation says of a success of this order."""
    robot = seen.after.robot(order.node)
    if robot is None:
        return UNSEEN
    judges = next((found for ops, found in _JUDGES.items() if order.op in ops), _shows)
    return judges(order, robot, seen)


def held_by(robot: RobotState, scene: Scene) -> str | None:
    """What the robot holds, by its own entry or by a relation; "" for nothing; None: it does not say."""
    held = robot.holding or next(
        (one.subject for one in scene.relations if (one.relation, one.object) == ("held_by", robot.robot_id)), None
    )
    return held or ("" if robot.gripper in ("open", "closed") or robot.holding == "" else None)


def _moved(order: Order, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    goal = point(_operation(order, seen), order.params, POINT)
    return UNSEEN if goal is None else _arrived(goal, robot, seen)


def _arrived(goal: Vec, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    """A hand by its own pose, if the entry has it; a body that travels by where it stands, in three coordinates if its
    goal is above the floor."""
    name = next((key for key in TOOL if key in robot.extra), "")
    profile = seen.profile
    if not name and profile is not None and (profile.max_reach or any(op.name in PICK for op in profile.ops)):
        return UNSEEN  # an arm, whose base stands still
    axes = 3 if name or any(abs(height) > AT for height in goal[2:3]) else 2
    at, wanted = _stands(robot, name, axes), coordinates(goal, axes)
    if at is None or wanted is None:
        return UNSEEN
    earlier = seen.before.robot(robot.robot_id)
    start = None if earlier is None else _stands(earlier, name, axes)
    away = math.dist(at, wanted)
    holds = _near(away, _within(AT, start, wanted), OFF)
    if not name and holds is False and math.dist(at[:2], wanted[:2]) <= OFF:
        holds = None  # vehicles observe no height
    if not name and axes == 2 and not all(_finite(one) and abs(one) <= OFF for one in robot.pose[2:3]):
        holds = holds and None  # it flies
    return OutcomeVerdict(holds, {"goal": [*goal]}, {name or "pose": [*at], "distance": round(away, 4)})


def _stands(robot: RobotState, tool: str, axes: int) -> Vec | None:
    return coordinates(robot.extra.get(tool) if tool else robot.pose, axes)


def coordinates(value: object, axes: int = 3) -> Vec | None:
    """The first numbers of a list, one for each axis; None where one is missing or is no finite number."""
    found = as_list(value)[:axes]
    if len(found) < axes or not all(_finite(one) for one in found):
        return None
    return tuple(float(one) for one in found if isinstance(one, int | float))


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and number(value) and abs(value) <= sys.float_info.max


def _within(usual: float, start: Vec | None, goal: Vec) -> float:
    """How far from the goal still shows it: less than the way there, so that what has not moved shows nothing."""
    return usual if start is None else max(STILL, min(usual, PART * math.dist(start, goal)))


def _at_zone(order: Order, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    _, label = given_parameter(order.params, LABEL)
    zone = next((zone for zone in map_zones(seen.document) if zone.name == label and zone.at), None)
    return UNSEEN if zone is None else _arrived(zone.at, robot, seen)


def _holds(order: Order, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    _, word = given_parameter(order.params, OBJECT)
    held = held_by(robot, seen.after)
    if not isinstance(word, str) or held is None:
        return UNSEEN
    return OutcomeVerdict(held == seen.named(word), {"holding": seen.named(word)}, {"holding": held or None})


def _placed(order: Order, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    """What the order names, else what was held before, lies where the order says. Where another robot has it by now,
    nothing is said."""
    op = _operation(order, seen)
    places = goal_names(op, order.params)
    _, named = given_parameter(order.params, thing_names(op, order.params))
    held = _held_before(order, seen)
    id = seen.named(named) if isinstance(named, str) else held
    if not id:
        return UNSEEN
    if held and held != id and held_by(robot, seen.after) != held:
        return OutcomeVerdict(False, {"object": id}, {"object": held})
    if held_by(robot, seen.after) == id:
        return OutcomeVerdict(False, {"holding": None}, {"holding": id})
    thing = seen.after.thing(id)
    others = (other for other in seen.after.robots if other.robot_id != robot.robot_id)
    if (
        thing is None
        or coordinates(thing.position) is None
        or any(held_by(other, seen.after) == id for other in others)
    ):
        return UNSEEN
    name, value = given_parameter(order.params, places)
    named_place = given_parameter(order.params, tuple(one for one in places if one not in POINT))
    into = seen.thing(seen.named(named_place[1])) if isinstance(named_place[1], str) else None
    if into is not None and (opens(into) or into.is_container or into.shape == "region"):
        name, value = named_place  # where in a box there is room, its body knows; a drawer is elsewhere when it is open
    observed: Json = {"object": id, "position": [*thing.position]}
    if isinstance(value, str) and name not in POINT:
        support = seen.thing(seen.named(value))
        if support is None:
            return UNSEEN
        return OutcomeVerdict(_lies(thing, support, seen), {"place": support.id}, observed)
    goal = point(op, order.params, places)
    if goal is None:
        return UNSEEN
    away, above, below = math.dist(thing.position[:2], goal[:2]), _bottom(thing) - goal[2], goal[2] - _top(thing)
    earlier = seen.before.thing(id)
    start = None if earlier is None else coordinates(earlier.position)
    holds = _near(max(away, above), _within(LAID, start, goal), ASTRAY)
    holds = None if holds and below > LAID else holds  # a heap may have given way under it
    return OutcomeVerdict(holds, {"position": [*goal]}, {**observed, "distance": round(max(away, above, below), 4)})


def _bottom(thing: Thing) -> float:
    return float(thing.position[2]) - lying(thing).height / 2


def _top(thing: Thing) -> float:
    return float(thing.position[2]) + lying(thing).height / 2


def _held_before(order: Order, seen: Observed) -> str | None:
    robot = seen.before.robot(order.node)
    return None if robot is None else held_by(robot, seen.before)


def _let_go(order: Order, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    id = _held_before(order, seen)
    if id and held_by(robot, seen.after) == id:
        return OutcomeVerdict(False, {"holding": None}, {"holding": id})
    return UNSEEN


def _pushed(order: Order, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    """Along its direction, and not aside, up or down."""
    _, word = given_parameter(order.params, OBJECT)
    wanted, way = order.params.get("distance"), _way(order.params.get("direction"), robot)
    if not isinstance(word, str) or not isinstance(wanted, int | float) or not _finite(wanted) or wanted <= STILL:
        return UNSEEN
    one, other = seen.before.thing(seen.named(word)), seen.after.thing(seen.named(word))
    start = None if one is None else coordinates(one.position)
    end = None if other is None else coordinates(other.position)
    if start is None or end is None or way is None:
        return UNSEEN
    moved = math.dist(start, end)
    goal = (start[0] + wanted * way[0], start[1] + wanted * way[1], start[2])
    holds = True if math.dist(end, goal) <= min(LAID, PART * wanted) else False if moved <= STILL else None
    told = {"object": seen.named(word), "moved": round(moved, 4), "distance": round(math.dist(end, goal), 4)}
    return OutcomeVerdict(holds, {"position": [round(part, 4) for part in goal]}, told)


def _way(direction: object, robot: RobotState) -> tuple[float, float] | None:
    """A unit vector on the floor: a word as the robot sees it, or [x, y]. A base without a turn looks along x."""
    if isinstance(direction, str):
        side = WAYS.get(direction.strip().lower())
        return None if side is None else axis(side, Scene((robot,)))
    given = coordinates(direction, 2)
    length = 0.0 if given is None else math.hypot(*given)
    return None if given is None or length < 1e-6 else (given[0] / length, given[1] / length)


def _shows(order: Order, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    """An operation of the body's own: what it declares that its entry shows afterwards."""
    pairs = seen.operation.shows if seen.operation is not None else ()
    asked = [(member, order.params[name]) for member, name in pairs if order.params.get(name) is not None]
    if not asked:
        return UNSEEN
    observed = {member: _member(robot, member) for member, _ in asked}
    earlier = seen.before.robot(robot.robot_id)
    holds = all(
        _same(observed[member], value, None if earlier is None else _member(earlier, member)) for member, value in asked
    )
    return OutcomeVerdict(holds, dict(asked), observed)


def _member(robot: RobotState, member: str) -> object:
    """`brightness` or `lamp.brightness` of the robot's entry; None: it is not there."""
    found: object = {
        **robot.extra, "pose": [*robot.pose], "joint_state": robot.joint_state, "gripper": robot.gripper,
        "holding": robot.holding,
    }  # fmt: skip
    for part in member.split("."):
        found = as_object(found).get(part)
    return found


def _same(one: object, other: object, earlier: object = None) -> bool:
    """Numbers within a hundredth, and within half of the change from what the entry showed earlier."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        before = as_list(earlier)
        before = before if len(before) == len(other) else [None] * len(other)
        return len(one) == len(other) and all(map(_same, one, other, before))
    if isinstance(one, int | float) and isinstance(other, int | float) and _finite(one) and _finite(other):
        within = SAME * max(1.0, abs(other))
        if isinstance(earlier, int | float) and _finite(earlier):
            within = min(within, PART * abs(other - earlier))
        return abs(one - other) <= max(within, 1e-9 * abs(other))
    return type(one) is type(other) and one == other


def _lies(thing: Thing, support: Thing, seen: Observed) -> bool | None:
    """Whether the thing's middle is over the support, turned as that is, and its underside is at the support's upper
    side; in a container, between its floor and its rim. On another thing there: that is not said of the support."""
    if coordinates(support.position) is None or coordinates(support.size) is None:
        return None
    container, out = support.is_container or opens(support), drawn_out(support)
    if out is None:
        return None
    dx, dy = (a - b for a, b in zip(thing.position[:2], support.position[:2], strict=True))
    cos, sin = math.cos(yaw(support)), math.sin(yaw(support))
    along = (dx * cos + dy * sin + out, dy * cos - dx * sin)
    beside = max(abs(part) - side / 2 for part, side in zip(along, support.size[:2], strict=True))
    low, high = min(tops(support)), max(tops(support))
    if container:
        low = support.position[2] - support.size[2] / 2
    bottom = _bottom(thing)
    if (out := _near(max(beside, low - thing.position[2]), 0.0, ASTRAY)) is not True:
        return out
    if container:
        return True if low - LAID <= bottom <= high + STILL else _hovers(thing, support, bottom - high, seen)
    if min(abs(bottom - one) for one in tops(support)) <= LAID:
        return True
    return _hovers(thing, support, bottom - high, seen)


def _hovers(thing: Thing, support: Thing, above: float, seen: Observed) -> bool | None:
    """False: high above its place, and nothing else is there that may carry it."""
    if above <= ASTRAY:
        return None
    others = (one for one in (*seen.after.objects, *seen.after.furniture) if one.id not in (thing.id, support.id))
    carried = any(coordinates(one.position) is not None and abs(_top(one) - _bottom(thing)) <= LAID for one in others)
    return None if carried else False


def _near(away: float, near: float, far: float) -> bool | None:
    return True if away <= near else False if away > far else None


def _operation(order: Order, seen: Observed) -> Operation:
    listed = seen.profile.op(order.op) if seen.profile is not None else None
    return listed or described(order.op)


_JUDGES: Final[Mapping[frozenset[str], Callable[[Order, RobotState, Observed], OutcomeVerdict]]] = {
    frozenset(MOVE): _moved,
    frozenset(LOOK): _at_zone,
    frozenset((*PICK, TAKE_OVER.name)): _holds,
    frozenset(PLACE): _placed,
    frozenset((PLACE_BESIDE.name, HAND_OVER.name)): _let_go,
    frozenset((PUSH.name,)): _pushed,
}
