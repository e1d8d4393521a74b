"""The review of an order that does several: each of them as if it stood alone, a compound among them with all that it
does in turn, in the scene as the orders before it leave it. What a compound of unknown contents does is unknown: it may
do anything to all that it names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from worldfs.base import compound_orders
from worldfs.base.footprint import gap, lying
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Json, Operation, Order, Profile, RobotState, Scene, Thing, Vec
from worldfs.base.order_parameters import GOAL, OBJECT, POINT, REMARKS, TEXT, given_parameter, goal_names
from worldfs.base.standard_operations import (
    CLOSE_FIXTURE,
    FIXTURED,
    HAND_OVER,
    HANDLED,
    LOOK,
    MOVE,
    OPEN_FIXTURE,
    PICK,
    PLACE,
    PLACE_BESIDE,
    PUSH,
    STACK,
    TAKE_OVER,
    UPRIGHT,
    described,
    meaning,
)

from . import parameters
from .order_ends import named_things, order_ends, push_end

Review = Callable[[Order, Scene, Profile], Sequence[Finding]]
DEEPEST: Final = 8  # levels of orders inside an order
FAMILIES: Final = (PICK, PLACE, LOOK)  # names that profiles give to what a sequence is made of


class Expansion(NamedTuple):
    """The orders inside an order. `own`: the order itself lists them, in the words of the robot's profile."""

    orders: list[Order]
    own: bool


def expansion(order: Order, scene: Scene) -> Expansion | None:
    """None: the order is plain, or nothing here says what it does."""
    steps: compound_orders.Steps | None = None
    own = False
    if order.op == STACK.name:
        steps = compound_orders.tower_steps(_still_to_set(compound_orders.levels(order.params), scene))
    elif order.op == compound_orders.STRATEGY:
        own = compound_orders.script_name(order.params) == compound_orders.STEPS
        steps = (compound_orders.listed_steps if own else compound_orders.sequence_steps)(order.params)
    return None if steps is None else Expansion([replace(order, op=op, params=given) for op, given in steps], own)


def _still_to_set(ids: Sequence[str], scene: Scene) -> list[str]:
    """The levels from the last one that stands where it is to be."""
    stands = 0
    while stands + 1 < len(ids) and _is_on(ids[stands + 1], ids[stands], scene):
        stands += 1
    return list(ids[stands:])


def _is_on(upper: str, lower: str, scene: Scene) -> bool:
    one, other = scene.thing(upper), scene.thing(lower)
    stated = any((r.subject, r.relation, r.object) == (upper, "on", lower) for r in scene.relations)
    return stated and one is not None and other is not None and gap(one, other) == 0.0


def review_steps(found: Expansion, scene: Scene, profile: Profile, node: str, review: Review) -> Iterator[Finding]:
    """Findings on each order up to the first that is refused: what follows that would be judged in a scene that will
    not be. They are of no condition: what they say depends on all that the order names."""
    said: set[tuple[str, str, str]] = set()
    for number, step in enumerate(found.orders, 1):
        refused = False
        if step.op not in compound_orders.MOVEMENTS:
            words = {"i": number, "n": len(found.orders), "op": step.op}
            for one in review(step, scene, profile if found.own else _with_plain_row(profile, step.op)):
                key = (one.code, one.field, one.found)
                if key not in said:
                    said.add(key)
                    yield replace(one, found=coded("robot.step_failed", **words, said=one.found), condition=())
                refused = refused or not one.warning
        if refused:
            return
        scene = scene_after(step, scene, node)


def _with_plain_row(profile: Profile, op: str) -> Profile:
    """The profile with the order's own parameters in the row that lists such an order, whatever that calls them."""
    names = next((family for family in FAMILIES if op in family), frozenset((op,)))
    listed = next((row for row in profile.ops if row.name in names), None)
    if listed is None:
        return profile
    plain = replace(described(op), sensors=listed.sensors)
    return replace(profile, ops=(*(row for row in profile.ops if row.name not in names), plain))


# --- the scene as an order leaves it ---


def scene_after(order: Order, scene: Scene, node: str) -> Scene:
    """Where the order has succeeded. Of one that nothing here knows, what the hand holds is not known."""
    if (inside := expansion(order, scene)) is not None:
        for step in inside.orders:
            scene = scene_after(step, scene, node)
        return scene
    robot = scene.robot(node)
    held = scene.thing(scene.held(node) or "")
    thing = _one(order, OBJECT, scene)
    match order.op:
        case op if op in PICK or op == TAKE_OVER.name:
            return scene if thing is None else _held(scene, node, thing.id)
        case op if op in PLACE or op == PLACE_BESIDE.name:
            at = _put(order, scene, robot, held)
            return _empty(scene if held is None or at is None else _with(scene, replace(held, position=at)), node)
        case HAND_OVER.name | "home" | "ready" | "wave" | "open_gripper":
            opens = order.op in (HAND_OVER.name, "open_gripper")
            return _empty(scene, node) if opens else scene
        case PUSH.name if thing is not None and (end := push_end(order, thing, robot)) is not None:
            return _with(scene, replace(thing, position=end[0]))
        case UPRIGHT.name if thing is not None:
            return _with(scene, replace(thing, orientation=(1.0, 0.0, 0.0, 0.0)))
        case OPEN_FIXTURE.name | CLOSE_FIXTURE.name if thing is not None:
            return _with(scene, replace(thing, status="open" if order.op == OPEN_FIXTURE.name else "closed"))
        case op if op in HANDLED | FIXTURED | MOVE | LOOK:
            return scene
    robots = tuple(replace(r, holding=None, gripper="") if r.robot_id == node else r for r in scene.robots)
    return _without_holder(replace(scene, robots=robots), node)


def _one(order: Order, names: tuple[str, ...], scene: Scene) -> Thing | None:
    value = given_parameter(order.params, names)[1]
    found = named_things(value, scene) if isinstance(value, str) else []
    return found[0] if len(found) == 1 else None


def _put(order: Order, scene: Scene, robot: RobotState | None, held: Thing | None) -> Vec | None:
    """Where a thing comes to rest, as far as that is known: on what is named, its middle."""
    if order.op == PLACE_BESIDE.name:
        return next((end.point for end in order_ends(order, scene, robot, held.id if held else None)), None)
    op = described(order.op)
    names = goal_names(op, order.params)
    if (at := parameters.point(op, order.params, names)) is not None:
        return at
    support = _one(order, tuple(name for name in names if name not in POINT), scene)
    if support is None or len(support.position) < 3:
        return None
    x, y, z = support.position[:3]
    rise = sum(lying(thing).height for thing in (support, held) if thing is not None) / 2
    return (x, y, z + rise) if support in scene.objects else (x, y, z)


def _held(scene: Scene, node: str, id: str) -> Scene:
    robots = tuple(
        replace(r, holding=id, gripper="holding") if r.robot_id == node
        else replace(r, holding=None if r.holding == id else r.holding)
        for r in scene.robots
    )  # fmt: skip
    return replace(scene, robots=robots, relations=tuple(r for r in scene.relations if r.subject != id))


def _empty(scene: Scene, node: str) -> Scene:
    robots = tuple(
        replace(r, holding=None, gripper="open" if r.gripper else "") if r.robot_id == node else r for r in scene.robots
    )
    return _without_holder(replace(scene, robots=robots), node)


def _without_holder(scene: Scene, node: str) -> Scene:
    return replace(scene, relations=tuple(r for r in scene.relations if (r.relation, r.object) != ("held_by", node)))


def _with(scene: Scene, thing: Thing) -> Scene:
    objects = tuple(thing if t.id == thing.id else t for t in scene.objects)
    furniture = tuple(thing if t.id == thing.id else t for t in scene.furniture)
    return replace(scene, objects=objects, furniture=furniture)


# --- an order of unknown contents ---


def is_of_unknown_contents(order: Order, scene: Scene) -> bool:
    """Whether nothing here says what the order does."""
    return meaning(order.op) is None and order.op not in compound_orders.MOVEMENTS and expansion(order, scene) is None


def named_in(params: Json, scene: Scene) -> tuple[list[Thing], list[Vec]]:
    """All the things, and all the points (m), that parameters name, at whatever depth."""
    things: dict[str, Thing] = {}
    points: list[Vec] = []
    for key, value in _members("", params):
        if isinstance(value, str):
            things |= {thing.id: thing for thing in named_things(value, scene)[:1]}
            continue
        given, names = (as_object(value), ()) if isinstance(value, Mapping) else ({key: value}, (key,))
        if names and key not in (*GOAL, *POINT):
            continue
        if (at := parameters.point(Operation(""), given, names)) is not None:
            points.append(at)
    return list(things.values()), points


def _members(key: str, value: object) -> Iterator[tuple[str, object]]:
    """Every value below, with the nearest name that it goes by. Words for people name nothing."""
    stack = [(key, value)]
    while stack:
        key, value = stack.pop()
        yield key, value
        if isinstance(value, Mapping):
            stack += [(str(k), v) for k, v in value.items() if k not in (*REMARKS, *TEXT)]
        elif isinstance(value, list | tuple):
            stack += [(key, item) for item in value]
