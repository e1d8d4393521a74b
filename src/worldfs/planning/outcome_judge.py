"""A success held against the observation that follows it: what a standard operation leaves behind, by what was seen.

The judge knows no driver, and a driver's word counts for nothing. It compares the order with two observations of the
node, the last one before the attempt and the one after it: where the robot stands, what it holds, where the object is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from worldfs.base.json_values import as_floats, as_object
from worldfs.base.map_zones import map_zones
from worldfs.base.model import Json, Operation, Order, Profile, RobotState, Scene, Thing, Vec
from worldfs.base.order_parameters import LABEL, OBJECT, POINT, given_parameter, goal_names, thing_names
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
from .planner.scene_facts import tops

AT, OFF = 0.1, 0.5  # m from a robot's goal: no more is at it, more is elsewhere, and between the two nothing is said
LAID, ASTRAY = 0.03, 0.15  # m, the same of a thing
STILL: Final = 0.005  # m: what moved less has not moved
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
    return held or ("" if robot.gripper in ("open", "closed") else None)


def _moved(order: Order, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    goal = point(_operation(order, seen), order.params, POINT)
    return UNSEEN if goal is None else _arrived(goal, robot, seen)


def _arrived(goal: Vec, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    """A hand by its own pose, if the entry has it; a body that travels by where it stands."""
    name, at = next(((key, as_floats(robot.extra[key])[:3]) for key in TOOL if key in robot.extra), ("", []))
    profile = seen.profile
    if not at and profile is not None and (profile.max_reach or any(op.name in PICK for op in profile.ops)):
        return UNSEEN  # an arm, whose base stands still
    name, at = (name, at) if at else ("pose", list(robot.pose[:2]))
    if len(at) < 2:
        return UNSEEN
    away = math.dist(at, goal[: len(at)])
    return OutcomeVerdict(_near(away, AT, OFF), {"goal": [*goal]}, {name: at, "distance": round(away, 4)})


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
    if thing is None or len(thing.position) < 3 or any(held_by(other, seen.after) == id for other in others):
        return UNSEEN
    name, value = given_parameter(order.params, places)
    observed: Json = {"object": id, "position": [*thing.position]}
    if isinstance(value, str) and name not in POINT:
        support = seen.thing(seen.named(value))
        return UNSEEN if support is None else OutcomeVerdict(_lies(thing, support), {"place": support.id}, observed)
    goal = point(op, order.params, places)
    if goal is None:
        return UNSEEN
    away = math.dist(thing.position[:2], goal[:2])
    return OutcomeVerdict(_near(away, LAID, ASTRAY), {"position": [*goal]}, {**observed, "distance": round(away, 4)})


def _held_before(order: Order, seen: Observed) -> str | None:
    robot = seen.before.robot(order.node)
    return None if robot is None else held_by(robot, seen.before)


def _let_go(order: Order, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    id = _held_before(order, seen)
    if id and held_by(robot, seen.after) == id:
        return OutcomeVerdict(False, {"holding": None}, {"holding": id})
    return UNSEEN


def _pushed(order: Order, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    _, word = given_parameter(order.params, OBJECT)
    wanted = order.params.get("distance")
    if not isinstance(word, str) or not isinstance(wanted, int | float) or not number(wanted):
        return UNSEEN
    one, other = seen.before.thing(seen.named(word)), seen.after.thing(seen.named(word))
    if one is None or other is None or len(one.position) != 3 or len(other.position) != 3:
        return UNSEEN
    moved = math.dist(one.position[:2], other.position[:2])
    holds = True if abs(moved - wanted) <= LAID else False if moved <= STILL else None
    return OutcomeVerdict(holds, {"distance": wanted}, {"object": other.id, "moved": round(moved, 4)})


def _shows(order: Order, robot: RobotState, seen: Observed) -> OutcomeVerdict:
    """An operation of the body's own: what it declares that its entry shows afterwards."""
    pairs = seen.operation.shows if seen.operation is not None else ()
    asked = [(member, order.params[name]) for member, name in pairs if order.params.get(name) is not None]
    if not asked:
        return UNSEEN
    observed = {member: _member(robot, member) for member, _ in asked}
    holds = all(_same(observed[member], value) for member, value in asked)
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


def _same(one: object, other: object) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float) and number(one) and number(other):
        return abs(one - other) <= SAME * max(1.0, abs(other))
    return type(one) is type(other) and one == other


def _lies(thing: Thing, support: Thing) -> bool | None:
    """Whether the thing's middle is over the support, turned as that is, and no lower than it may be."""
    if len(support.position) < 3 or len(support.size) < 3:
        return None
    w, x, y, z = support.orientation if len(support.orientation) == 4 else (1.0, 0.0, 0.0, 0.0)
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    dx, dy = (a - b for a, b in zip(thing.position[:2], support.position[:2], strict=True))
    along = (dx * math.cos(yaw) + dy * math.sin(yaw), dy * math.cos(yaw) - dx * math.sin(yaw))
    beside = max(abs(part) - side / 2 for part, side in zip(along, support.size[:2], strict=True))
    base = support.position[2] - support.size[2] / 2 if support.is_container else min(tops(support))
    return _near(max(beside, base - thing.position[2]), 0.0, ASTRAY)


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
