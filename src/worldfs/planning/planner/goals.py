"""Goals: literals over a scene, judged by relations and poses only (never by what a step reported)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from worldfs.base.footprint import gap
from worldfs.base.model import RobotState, Scene, Thing, Vec

from .centre_spot import AT_CENTRE_M, distance_to_centre, farthest_allowed
from .directions import lies_toward
from .scene_facts import (
    ThingLocation,
    final_support,
    grains_in,
    height,
    inside,
    layout,
    movable,
    obstacles,
    own_robot,
    perhaps_there,
    sanitized_scene,
    settled_at,
    upright,
)

PLACED_M = AT_CENTRE_M  # the robot's placement tolerance (embodied.md §4.4)
BESIDE_M = 0.10  # gap between two footprints that still counts as beside
AT_M = 0.03
SPREAD = 0.6  # metres across for each metre that way
SIDE_M = 0.25  # gap up to which a thing still is "to the left of" another


@dataclass(frozen=True, slots=True)
class InGoal:
    """`at`: there on its floor, where the object was measured before (m, world frame); () for anywhere in it."""

    object: str
    container: str
    at: Vec = ()


@dataclass(frozen=True, slots=True)
class OnGoal:
    """`at`: there, where the object was measured before (m, world frame); () for anywhere on it."""

    object: str
    support: str
    at: Vec = ()


@dataclass(frozen=True, slots=True)
class BesideGoal:
    """Both rest on the same support, their footprints at most `BESIDE_M` apart."""

    object: str
    other: str


@dataclass(frozen=True, slots=True)
class TowardGoal:
    """`object` rests on the same support as `other`, that way from it (a unit vector), at most `SIDE_M` apart."""

    object: str
    other: str
    direction: Vec
    label: str = ""  # left | right | front | behind


@dataclass(frozen=True, slots=True)
class ApartGoal:
    """`object` rests on `support`, its footprint at least `least` metres from that of `other`."""

    object: str
    other: str
    support: str
    least: float


@dataclass(frozen=True, slots=True)
class PlacedGoal:
    """`object` rests within `within` of `position` in the plane (m, world frame)."""

    object: str
    position: Vec
    within: float = PLACED_M


@dataclass(frozen=True, slots=True)
class SlidGoal:
    """`object` stands within `within` of `position` in the plane (m, world frame), slid there and not lifted."""

    object: str
    position: Vec
    within: float = PLACED_M


@dataclass(frozen=True, slots=True)
class UprightGoal:
    """`object` is in no gripper, and stands as its size is given: its own height is vertical."""

    object: str


@dataclass(frozen=True, slots=True)
class OpenedGoal:
    """A piece of furniture with a drawer or a lid is open, or closed (`state`), by its status."""

    object: str
    state: str  # open | closed


@dataclass(frozen=True, slots=True)
class PouredGoal:
    """`object` is empty: what was in it is in `into`. `grains`: how many there are then in that, at least."""

    object: str
    into: str
    grains: int


@dataclass(frozen=True, slots=True)
class HandedGoal:
    """`object` is in the gripper of another robot, which took it over."""

    object: str
    robot: str


@dataclass(frozen=True, slots=True)
class AreaGoal:
    """`object` rests on `support` inside the strip low..high (x0, y0) to (x1, y1); `label` names the strip."""

    object: str
    support: str
    low: Vec
    high: Vec
    label: str = ""


@dataclass(frozen=True, slots=True)
class CentreGoal:
    """`object` rests on `support` in the middle of that, or as near to the middle as other things allow."""

    object: str
    support: str


@dataclass(frozen=True, slots=True)
class DownGoal:
    """`object` is in no gripper, and rests on something."""

    object: str


@dataclass(frozen=True, slots=True)
class HoldingGoal:
    object: str


@dataclass(frozen=True, slots=True)
class SeenGoal:
    object: str


@dataclass(frozen=True, slots=True)
class AtGoal:
    """The gripper (or, without one, the base) is at `position`; `label` is the thing it is above, if any."""

    position: Vec
    label: str = ""


@dataclass(frozen=True, slots=True)
class VisitGoal:
    """A robot that walks or drives is at the thing, or on it where it is a place."""

    object: str


@dataclass(frozen=True, slots=True)
class HomeGoal:
    pass


@dataclass(frozen=True, slots=True)
class GripperGoal:
    state: str  # open | closed


@dataclass(frozen=True, slots=True)
class GestureGoal:
    """A motion of the robot that changes nothing: the driver's strategy of that name."""

    name: str


@dataclass(frozen=True, slots=True)
class OperationGoal:
    """An operation of the robot's profile that succeeded, by the driver's own measure. `params` is JSON."""

    name: str
    params: str = "{}"


@dataclass(frozen=True, slots=True)
class ClearedGoal:
    """Nothing movable rests on `surface`, stacks included, but for `but`; nor is anything left in the gripper."""

    surface: str
    but: tuple[str, ...] = ()
    into: tuple[str, ...] = ()  # containers, in order of preference


Goal = (
    InGoal
    | OnGoal
    | BesideGoal
    | TowardGoal
    | ApartGoal
    | PlacedGoal
    | SlidGoal
    | UprightGoal
    | OpenedGoal
    | PouredGoal
    | HandedGoal
    | AreaGoal
    | CentreGoal
    | DownGoal
    | HoldingGoal
    | SeenGoal
    | AtGoal
    | VisitGoal
    | HomeGoal
    | GripperGoal
    | GestureGoal
    | OperationGoal
    | ClearedGoal
)
BODY_GOALS = (
    SlidGoal,
    UprightGoal,
    OpenedGoal,
    PouredGoal,
    HandedGoal,
)  # of things, each reached by one operation of the body
POSE_GOALS = (
    SeenGoal,
    AtGoal,
    VisitGoal,
    HomeGoal,
    GripperGoal,
    GestureGoal,
    OperationGoal,
)  # of the robot, not of things: most pages do not show them


def subject(goal: Goal) -> str:
    """The thing a goal is about, "" for none."""
    return str(getattr(goal, "object", ""))


def destinations(goal: Goal) -> frozenset[str]:
    """The things, robots and surfaces that a goal puts something in, on or to."""
    if isinstance(goal, ClearedGoal):
        return frozenset(goal.into)
    return frozenset(str(getattr(goal, end)) for end in ("container", "support", "robot", "into") if hasattr(goal, end))


def former_place(goal: Goal | None) -> Vec:
    """Where the thing was measured before, if the goal is to bring it back there; else ()."""
    return goal.at if isinstance(goal, InGoal | OnGoal) else ()


def held_by(scene: Scene, robot_id: str = "") -> str | None:
    """The thing that this robot holds; where none is named, the only robot of the scene. None: nothing, or it is not
    known whose hand is meant."""
    robot = own_robot(scene, robot_id)
    return scene.held(robot.robot_id if robot is not None else robot_id) if robot is not None or robot_id else None


def littering(
    goal: ClearedGoal, scene: Scene, robot_id: str = "", places: Mapping[str, ThingLocation] | None = None
) -> tuple[str, ...]:
    """Ids of the things on a surface that is to be clear, and of what the robot itself holds, in page order."""
    spots, held = layout(scene) if places is None else places, held_by(scene, robot_id)
    found = [t.id for t in movable(scene) if t.id not in goal.but]
    return tuple(id for id in found if final_support(spots, id) == ThingLocation("on", goal.surface) or id == held)


def perhaps_littering(goal: ClearedGoal, scene: Scene, places: Mapping[str, ThingLocation]) -> tuple[str, ...]:
    """Ids of the things of which the scene does not tell whether they are on the surface."""
    top = scene.thing(goal.surface)
    perhaps = perhaps_there(top, scene, places, "on") if top is not None else ()
    return tuple(id for id in perhaps if id not in goal.but)


def tcp(robot: RobotState) -> Vec | None:
    """The tool's position if the page gives it, else None (`pose` is the base)."""
    for key in ("tcp_position", "tcp", "tcp_pose", "ee_pose", "eef_pose"):
        found = robot.extra.get(key)
        found = found.get("position") if isinstance(found, dict) else found
        if isinstance(found, (list, tuple)) and len(found) >= 3 and all(isinstance(v, (int, float)) for v in found[:3]):
            return tuple(float(v) for v in found[:3])
    return None


def holds(goal: Goal, scene: Scene, robot_id: str = "", places: Mapping[str, ThingLocation] | None = None) -> bool:
    """Whether the goal holds in this scene. What the page does not show does not hold. `places`: the scene's layout, if
    at hand."""
    scene = sanitized_scene(scene) if places is None else scene
    if isinstance(goal, POSE_GOALS):
        return _pose_holds(goal, scene, robot_id)
    places = layout(scene) if places is None else places
    if isinstance(goal, ClearedGoal):
        return not (littering(goal, scene, robot_id, places) or perhaps_littering(goal, scene, places))
    spot, thing = places.get(goal.object), scene.thing(goal.object)
    if isinstance(goal, OpenedGoal):
        return thing is not None and thing.status == goal.state
    if isinstance(goal, PouredGoal):
        return grains_in(scene.thing(goal.into)) >= goal.grains and spot is not None and spot.relation != "held"
    if spot is None or thing is None:
        return False
    match goal:
        case InGoal(container=box, at=at):
            inside_it = spot if at else final_support(places, goal.object)
            return inside_it == ThingLocation("in", box) and _is_at(thing, at)
        case OnGoal(support=under, at=at):
            return spot == ThingLocation("on", under) and not spot.shared and _is_at(thing, at)
        case HoldingGoal():
            return spot.relation == "held" and robot_id in ("", spot.of)
        case HandedGoal(robot=robot):
            return spot == ThingLocation("held", robot)
        case DownGoal():
            return spot.relation in ("on", "in")
        case UprightGoal():
            return spot.relation != "held" and upright(thing)
        case PlacedGoal(position=target, within=within) | SlidGoal(position=target, within=within):
            return spot.relation != "held" and math.dist(thing.position[:2], target[:2]) <= within
        case AreaGoal():
            within = all(lo <= v <= hi for lo, v, hi in zip(goal.low, thing.position, goal.high, strict=False))
            return within and final_support(places, goal.object) == ThingLocation("on", goal.support)
        case CentreGoal(support=under):
            if final_support(places, goal.object) != ThingLocation("on", under):
                return False
            return _is_central(thing, scene.thing(under), scene, places)
        case BesideGoal(other=other):
            return _beside(goal.object, other, scene, places, BESIDE_M)
        case TowardGoal(other=other, direction=direction):
            near = _beside(goal.object, other, scene, places, SIDE_M)
            found = scene.thing(other)
            return near and found is not None and lies_toward(thing, found, direction, SPREAD)
        case ApartGoal(other=other, support=under, least=least):
            found = scene.thing(other)
            return spot == ThingLocation("on", under) and found is not None and gap(thing, found) >= least


def _is_at(thing: Thing, at: Vec) -> bool:
    return not at or math.dist(thing.position[:2], at[:2]) <= PLACED_M


def _is_central(thing: Thing, surface: Thing | None, scene: Scene, places: Mapping[str, ThingLocation]) -> bool:
    if surface is None:
        return False
    away = distance_to_centre(thing, surface)
    if away <= PLACED_M:
        return True
    now = {t.id: t for t in movable(scene)}
    return away <= farthest_allowed(thing, surface, obstacles(scene, now, places, thing.id))


def _beside(one: str, other: str, scene: Scene, places: Mapping[str, ThingLocation], most: float) -> bool:
    a, b = scene.thing(one), scene.thing(other)
    if a is None or b is None or places[one].relation not in ("on", "in") or places[one].of == other:
        return False
    if other in places and settled_at(places, other) != settled_at(places, one):
        return False
    return gap(a, b) <= most and not inside(b, a.position[0], a.position[1])


def _pose_holds(goal: Goal, scene: Scene, robot_id: str) -> bool:
    robots = [r for r in scene.robots if robot_id in ("", r.robot_id)]
    for robot in robots:
        match goal:
            case AtGoal(position=target):
                found = tcp(robot)
                if found is not None and math.dist(found, target[:3]) <= AT_M:
                    return True
            case HomeGoal():
                if robot.extra.get("at_home") is True or robot.extra.get("posture") == "home":
                    return True
            case GripperGoal(state=state):
                # a gripper that holds a thing is closed, whatever the page calls it
                now = "closed" if robot.holding or robot.gripper == "holding" else robot.gripper
                if now == state:
                    return True
    if isinstance(goal, SeenGoal):
        seen = scene.perception.get("seen")
        return isinstance(seen, (list, tuple)) and goal.object in seen
    return False


def point_above(scene: Scene, id: str, clearance: float = 0.15) -> Vec:
    """A point over a thing, `clearance` metres above its top."""
    thing = scene.thing(id)
    if thing is None:
        return ()
    x, y, z = thing.position[:3]
    return (round(x, 4), round(y, 4), round(z + height(thing) / 2 + clearance, 4))
