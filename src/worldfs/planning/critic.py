"""The critic: checks, by numbers alone, whether an order is possible for this robot in this scene, before anything
moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

from worldfs.base.drawers import with_drawn_part
from worldfs.base.footprint import gap, is_round_above, lying
from worldfs.base.map_zones import map_zones
from worldfs.base.measured_facts import NOTHING, fact, facts
from worldfs.base.meeting_points import POINTS, meeting_points
from worldfs.base.messages import CodedText, coded
from worldfs.base.model import Finding, Operation, Order, Profile, RobotState, Scene, Thing, Vec
from worldfs.base.order_parameters import (
    GOAL,
    LABEL,
    OBJECT,
    POINT,
    declared_parameters,
    given_parameter,
    goal_names,
    thing_names,
    unread_parameters,
    usual_names,
)
from worldfs.base.resting import STEADY, is_steady, slope
from worldfs.base.restricting_fields import restricts
from worldfs.base.standard_operations import (
    FIXTURED,
    HAND_OVER,
    HANDLED,
    LIFTED,
    LOOK,
    MOVE,
    PICK,
    PLACE,
    PLACE_BESIDE,
    STACK,
    TAKE_OVER,
    WIPE,
    described,
)
from worldfs.base.workspace_bounds import beyond, bounds_finding, reach_finding
from worldfs.formats import sensors

from . import compound_review, nested_orders, parameters, refusals
from .order_ends import order_ends
from .reviewers import refuses

ASTRAY = 0.01  # m beyond the outline of what an order names, where its point is no longer in or on that
_SHARES = (0.0, 0.25, -0.25, 0.5, -0.5, 0.75, -0.75, 1.0, -1.0)  # of half a side, from the middle on
_SLACK = 1e-9  # m, kg: tolerance for rounding


@dataclass(slots=True)
class _Case:
    """One review under way."""

    order: Order
    scene: Scene
    profile: Profile
    op: Operation
    robot: RobotState | None
    findings: list[Finding] = field(default_factory=list)

    def say(self, key: str, *given: str, **words: object) -> None:
        """`given`: the measured facts that it comes from."""
        words = {"op": self.order.op, "node": self.order.node or "the robot", **words}
        self.findings.append(refusals.finding(key, self.order.id, facts(*given), **words))

    @property
    def node(self) -> str:
        """The robot's id."""
        return self.robot.robot_id if self.robot is not None else self.order.node


@dataclass(frozen=True, slots=True)
class Critic:
    """The reviewer of `ground.driver.Reviewer`: deterministic, every finding at once, warnings refuse nothing.

    Order of checks: reference `embodied.md` §5. What only the driver knows (inverse kinematics, collisions) the driver
    reviews. Text out of the files is data: it is quoted in findings and never interpreted.
    """

    def review(self, order: Order, scene: Scene, profile: Profile | None) -> list[Finding]:
        """All findings, empty = go. Lengths in metres in the world frame, masses in kilograms."""
        return self._review_whole(order, scene, profile, compound_review.DEEPEST)

    def _review_whole(self, order: Order, scene: Scene, profile: Profile | None, deeper: int) -> list[Finding]:
        """The order and, at every level, the orders inside it. `deeper`: levels below it that are read."""
        found = self._review_plain(order, scene, profile)
        if deeper == compound_review.DEEPEST:  # which reads every level
            found = [*nested_orders.review_nested(order), *found]
        inside = compound_review.expansion(order, scene) if profile is not None and not refuses(found) else None
        if inside is None or profile is None:
            return found
        if deeper == 0:
            return [*found, refusals.finding("critic.too_deep", order.id, most=compound_review.DEEPEST, op=order.op)]
        judged, robot = replace(profile, unread=()), _robot(scene, order.node)
        node = robot.robot_id if robot is not None else order.node
        within = partial(self._review_whole, deeper=deeper - 1)
        return [*found, *compound_review.review_steps(inside, scene, judged, node, within)]

    def _review_plain(self, order: Order, scene: Scene, profile: Profile | None) -> list[Finding]:
        listed = profile.op(order.op) if profile else None
        robot = _robot(scene, order.node)
        case = _Case(order, scene, profile or Profile(), listed or described(order.op), robot)
        if profile is None or not profile.ops:
            case.say("critic.no_profile", op=refusals.display_value(order.op))
        elif listed is None:
            names = [op.name for op in profile.ops]
            close = _close(order.op, names) or names
            said, instead = refusals.short_list(names), refusals.short_list(close)
            given = fact(case.node, "lacks", order.op)
            case.say("critic.op", given, ops=said, close=instead, op=refusals.display_value(order.op))
        _parameters(case)
        for where, value in parameters.invalid_numbers(order.params):
            case.say(
                "critic.finite",
                name=refusals.display_value(where),
                value=refusals.display_value(value),
                limit=parameters.HUGE,
            )
        if profile is not None:
            _sensors(case)
        what, thing, place = _target(case)
        if profile is not None:
            _bounds(case, what, _inside(case, thing, place) if order.op in PLACE else place)
            _reach(case, what, place)
            refused = refuses(case.findings)
            for end in () if refused else order_ends(order, scene, robot, scene.held(case.node)):
                _bounds(case, end.said, end.point)
                _reach(case, end.said, end.point)
            if order.op in (HAND_OVER.name, TAKE_OVER.name):
                _meeting(case)
            taken = _taken(case) if order.op == TAKE_OVER.name else thing if order.op in LIFTED else None
            if taken is not None:
                _payload(case, taken)
                _grip(case, taken)
            if case.op.moves and compound_review.is_of_unknown_contents(order, scene):
                _all_named(case)
        _hand(case)
        if order.op in HANDLED and thing is not None:
            _elsewhere(case, thing)
        for line in case.profile.unread:
            found = refusals.unread_limit(line, order.id)
            case.findings.append(found if case.op.moves else replace(found, warning=True))
        return case.findings


def _robot(scene: Scene, node: str) -> RobotState | None:
    return scene.robot(node) or (scene.robots[0] if not node and len(scene.robots) == 1 else None)


def _parameters(case: _Case) -> None:
    params, asked = case.order.params, declared_parameters(case.op)
    goal = goal_names(case.op, params) if case.op.name in PLACE else ()
    given_goal = bool(goal) and given_parameter(params, goal)[0] != ""
    for parameter in asked:
        value = params.get(parameter.name)
        name = refusals.display_value(parameter.name)
        if value is None:
            spoken = (parameter.name in goal and given_goal) or (
                not case.op.parameters and given_parameter(params, _siblings(case.op.name))[0]
            )
            if not parameter.optional and not spoken:
                kind = f"{name}: {parameter.type}" if parameter.type else coded("critic.some_value", name=name)
                case.say("critic.missing", name=name, expected=kind)
        elif expected := parameters.mismatch(parameter, value):
            case.say("critic.type", name=name, expected=expected, value=refusals.display_value(value))
    names = usual_names(case.op)
    for name in unread_parameters(case.op, params):
        close = _close(name[:80], names)
        hint = f": {refusals.short_list(close[:1])}?" if close else ""
        key = "critic.not_read" if case.op.moves or restricts(name, params[name]) else "critic.extra"
        case.say(key, name=refusals.display_value(name), names=refusals.short_list(names), hint=hint)


def _siblings(op: str) -> tuple[str, ...]:
    families = ((PICK, OBJECT), (PLACE, GOAL), (MOVE, (*POINT, "x")), (LOOK, LABEL))
    return next((names for ops, names in families if op in ops), ())


def _sensors(case: _Case) -> None:
    listed = case.profile.sensors
    if case.op.name in LOOK and not sensors.missing_sensors(("lidar",), listed):
        return  # a vehicle that finds its way by lidar needs no camera to drive to a place
    for sensor in sensors.missing_sensors(case.op.sensors, listed):
        present = refusals.short_list([text for text, ticked in listed if ticked])
        case.say("critic.sensor", fact(case.node, "lacks_sensor", sensor), sensor=sensor, present=present)


def _target(case: _Case) -> tuple[str, Thing | None, Vec | None]:
    """The target of the order: its name in messages, the thing if it is one, the point that the gripper must reach."""
    op, params = case.order.op, case.order.params
    if op in HANDLED:
        name, value = given_parameter(params, OBJECT)
        if not isinstance(value, str) or not value.strip():
            return "", None, None
        thing = _named(case, value, by_name=name != "object_id", handled=True)
        return _located(case, thing)
    if op in FIXTURED:
        name, value = given_parameter(params, OBJECT)
        if not isinstance(value, str) or not value.strip():
            return "", None, None
        return _located(case, _named(case, value, by_name=name != "object_id", handled=False))
    if op in PLACE:
        names = goal_names(case.op, params)
        name, value = given_parameter(params, names)
        if isinstance(value, str) and name not in POINT:
            what, thing, place = _located(case, _support(case, value))
            return what, thing, _nearest(case, thing, place) if thing and place else None
        at = parameters.point(case.op, params, names)
        _, beside = given_parameter(params, tuple(name for name in names if name not in POINT))
        held = case.scene.held(case.node)
        what_is_held = isinstance(beside, str) and held is not None and _is(case.scene, beside, held)
        support = _support(case, beside) if isinstance(beside, str) and not what_is_held else None
        if at is not None and support is not None and _misses(at, support):
            case.say("critic.astray", id=refusals.display_value(support.id), point=at)
        return "target", None, at
    if op in MOVE:
        return "target", None, parameters.point(case.op, params, POINT)
    if op in LOOK:
        _, value = given_parameter(params, LABEL)
        if isinstance(value, str) and value.strip() and not _described(case.scene, value):
            everything = (*case.scene.objects, *case.scene.furniture)
            if everything:
                _unknown(case, value, everything)
            else:
                case.say("critic.unseen", value=refusals.display_value(value))
    return "", None, None


def _taken(case: _Case) -> Thing | None:
    """What another robot is to hold out."""
    value = given_parameter(case.order.params, OBJECT)[1]
    return case.scene.thing(value) if isinstance(value, str) else None


def _meeting(case: _Case) -> None:
    """Where two arms meet: at the points that the order lists, else at any that their drivers may choose."""
    listed = case.order.params.get(POINTS)
    if listed is None:
        _anywhere(case)
        return
    points = [parameters.point(Operation(""), {GOAL[0]: one}, GOAL[:1]) for one in _items(listed)]
    if not points or None in points:
        case.say("critic.type", name=POINTS, expected=coded("handover.points"), value=refusals.display_value(listed))
    for point in points:
        _bounds(case, coded("critic.meeting"), point)
        _reach(case, coded("critic.meeting"), point)


def _items(listed: object) -> Sequence[object]:
    return listed if isinstance(listed, list | tuple) else ()


def _anywhere(case: _Case) -> None:
    """One of the points between the bases must be in reach, and each that is must be inside the bounds: which one of
    them it will be only the drivers know."""
    robot, reach = case.robot, case.profile.max_reach
    if robot is None or not _located_base(robot):
        return
    base = robot.pose[:3]
    points = [point for partner in _partners(case) for point in meeting_points(base, partner.pose[:3])]
    near = [point for point in points if reach is None or math.dist(base, point) <= reach + _SLACK]
    if points and not near:
        _reach(case, coded("critic.meeting"), min(points, key=lambda point: math.dist(base, point)))
    outside = next((point for point in near if any(beyond(case.profile, robot, point))), None)
    _bounds(case, coded("critic.meeting"), outside)


def _partners(case: _Case) -> list[RobotState]:
    """The robot to which an order gives a thing, or the one that holds what it takes; any other one where that is not
    known yet."""
    others = [one for one in case.scene.robots if one.robot_id != case.node and _located_base(one)]
    if case.order.op == HAND_OVER.name:
        return [one for one in others if one.robot_id == case.order.params.get("to")]
    thing = _taken(case)
    return [one for one in others if thing is not None and case.scene.held(one.robot_id) == thing.id] or others


def _located_base(robot: RobotState) -> bool:
    return len(robot.pose) >= 3 and all(parameters.number(v) and math.isfinite(v) for v in robot.pose)


def _all_named(case: _Case) -> None:
    """What an order names may be moved by it, and whatever it names it may go to."""
    things, points = compound_review.named_in(case.order.params, case.scene)
    for thing in things:
        what, _, place = _located(case, thing)
        at = _nearest(case, thing, place) if place is not None and thing not in case.scene.objects else place
        _bounds(case, what, _inside(case, thing, at))
        _reach(case, what, at)
        if thing in case.scene.objects:
            _payload(case, thing)
            _grip(case, thing)
    for point in points:
        _bounds(case, "target", point)
        _reach(case, "target", point)


def _support(case: _Case, value: str) -> Thing | None:
    """What an order names as the place: known, in no other gripper, and of a shape on which something stays."""
    support = _named(case, value, by_name=True, handled=False) if value.strip() else None
    if support is not None:
        _elsewhere(case, support)
        if is_round_above(support) and not support.is_container:
            lies = (fact(support.id, "shape", support.shape), fact(support.id, "orientation", support.orientation))
            case.say("critic.round", *lies, id=refusals.display_value(support.id))
        else:
            _steady(case, case.scene.held(case.node), support.id)
    return support


def _steady(case: _Case, held: object, on: object) -> None:
    """What is set down on too narrow or too steep a thing falls, and takes it along."""
    thing, support = case.scene.thing(str(held)), case.scene.thing(str(on))
    if thing is None or support is None or thing is support:
        return
    ids = {"id": refusals.display_value(support.id), "thing": refusals.display_value(thing.id)}
    if steep := slope(thing, support):
        lies = [fact(one.id, "orientation", one.orientation) for one in (thing, support)]
        case.say("critic.steep", *lies, degrees=math.degrees(steep), **ids)
    elif not is_steady(thing, support):
        lies = [fact(one.id, name, getattr(one, name)) for one in (thing, support) for name in ("size", "orientation")]
        case.say("critic.unsteady", *lies, mm=1000 * min(lying(support)[:2]), least=2000 * STEADY, **ids)


def _misses(at: Vec, support: Thing) -> bool:
    """Whether the point is surely not over the support, by their outlines from above."""
    there = (*at[:2], *support.position[:2], *support.size[:2])
    if len(support.size) < 2 or len(support.position) < 2 or not all(math.isfinite(v) for v in there):
        return False
    return gap(Thing("", position=at), with_drawn_part(support)) > ASTRAY


def _nearest(case: _Case, support: Thing, centre: Vec) -> Vec | None:
    """The point in or on `support` nearest to the base: something may lie there even if its middle is out of reach.

    A table of unknown extent has no such point: the driver finds a free spot within reach. On an object it is set
    squarely, over the middle.
    """
    if support in case.scene.objects:
        return centre
    base = case.robot.pose[:3] if case.robot else ()
    size = support.size if len(support.size) >= 3 and all(math.isfinite(v) and v >= 0 for v in support.size) else ()
    if not size and not support.is_container and support in case.scene.furniture:
        return None
    if not size or len(base) < 3:
        return centre
    away = math.dist(base[:2], centre[:2])
    closer = min(away, math.hypot(size[0], size[1]) / 2)  # the circle round its outline, so that no yaw matters
    x, y = (c + (b - c) * closer / away if away else c for b, c in zip(base[:2], centre[:2], strict=True))
    drop = max(-size[2] / 2, min(size[2] / 2, base[2] - centre[2]))
    return (x, y, centre[2] + drop)


def _inside(case: _Case, support: Thing | None, nearest: Vec | None) -> Vec | None:
    """A point in or on `support` within the bounds, else its middle. `nearest`: what `_nearest` found."""
    if support is None or nearest is None or support in case.scene.objects or len(support.position) < 3:
        return nearest
    shape, middle = lying(support), (*support.position[:2], nearest[2])
    cos, sin = math.cos(shape.turn), math.sin(shape.turn)
    for i, j in product(_SHARES, _SHARES):
        u, v = i * shape.along / 2, j * shape.across / 2
        point = (middle[0] + u * cos - v * sin, middle[1] + u * sin + v * cos, middle[2])
        if next(beyond(case.profile, case.robot, point), None) is None:
            return point
    return middle


def _located(case: _Case, thing: Thing | None) -> tuple[str, Thing | None, Vec | None]:
    if thing is None:
        return "", None, None
    place = thing.position
    if len(place) < 3 or not all(parameters.number(v) and math.isfinite(v) for v in place):
        case.say("critic.place", id=refusals.display_value(thing.id), value=refusals.display_value(place))
        return thing.id, thing, None
    return thing.id, thing, place[:3]


def _named(case: _Case, value: str, *, by_name: bool, handled: bool) -> Thing | None:
    """The thing with that id (or, where a dialect allows it, the one thing of that name), else a finding."""
    things = (*case.scene.objects, *case.scene.furniture)
    thing = next((t for t in things if t.id == value), None)
    if thing is None and by_name:
        same = [t for t in things if value.strip().casefold() in (t.name.casefold(), t.category.casefold())]
        thing = same[0] if len(same) == 1 else None
    if thing is None:
        _unknown(case, value, case.scene.objects if handled else things)
    elif handled and thing not in case.scene.objects:
        case.say(
            "critic.furniture",
            id=refusals.display_value(thing.id),
            kind=refusals.display_value(thing.category or thing.shape or "table"),
        )
    return thing


def _unknown(case: _Case, value: str, things: Sequence[Thing]) -> None:
    ids = [t.id for t in things[:2000]]
    word = value.strip().casefold()
    close = [t.id for t in things if word and word in (t.name.casefold(), t.category.casefold())][:3]
    close += [i for i in _close(value[:80], ids) if i not in close]
    hint = f": {refusals.short_list(close[:3])}?" if close else ""
    given, shown = fact(value, "present", "no"), refusals.display_value(value)
    case.say("critic.unknown", given, value=shown, known=refusals.short_list(ids), hint=hint)


def _close(word: str, known: Sequence[str]) -> list[str]:
    import difflib  # 5 ms that only a refusal needs

    return difflib.get_close_matches(word, known, 3, 0.5)


def _described(scene: Scene, label: str) -> bool:
    """Whether the scene has something that the label may mean: id, name, kind, colour, or a zone of the map."""
    if any(zone.name == label for zone in map_zones(scene)) or scene.robot(label) is not None:
        return True
    wanted = set(label.casefold().replace("_", " ").split())
    for thing in (*scene.objects, *scene.furniture):
        if label == thing.id:
            return True
        words = f"{thing.id} {thing.name} {thing.category} {thing.color} {thing.shape}".casefold().replace("_", " ")
        if wanted <= set(words.split()) or (not label.isascii() and label in thing.name):
            return True
    return False


def _bounds(case: _Case, what: str, place: Vec | None) -> None:
    if place is None:
        return
    robot, stands = case.robot or RobotState(case.node), _stands(case, what)
    for found in beyond(case.profile, case.robot, place):
        refused = bounds_finding(case.profile, robot, found, _what(what), place, stands=stands)
        case.findings.append(replace(refused, job=case.order.id))


def _reach(case: _Case, what: str, place: Vec | None) -> None:
    if case.profile.max_reach is None or place is None:
        return
    base = case.robot.pose[:3] if case.robot else ()
    if case.robot is None or len(base) < 3 or not all(parameters.number(v) and math.isfinite(v) for v in base):
        case.say("critic.reach_unchecked")
        return
    refused = reach_finding(case.profile, case.robot, _what(what), place, stands=_stands(case, what))
    if refused is not None:
        case.findings.append(replace(refused, job=case.order.id))


def _stands(case: _Case, what: str) -> tuple[str, ...]:
    """Where the thing is that the order is about; () for a point that the order itself names."""
    thing = case.scene.thing(what) if what != "target" else None
    return () if thing is None else (fact(thing.id, "position", thing.position[:3]),)


def _what(what: str) -> str:
    if isinstance(what, CodedText):
        return what
    return coded("common.target") if what == "target" else refusals.display_value(what)


def _payload(case: _Case, thing: Thing) -> None:
    limit = case.profile.max_payload
    if limit is None:
        return
    if not thing.mass:
        case.say("critic.mass_unknown", id=refusals.display_value(thing.id), limit=limit)
    elif not 0 < thing.mass <= limit + _SLACK:
        given = (fact(thing.id, "mass", thing.mass), fact(case.node, "max_payload", limit))
        case.say("critic.payload", *given, id=refusals.display_value(thing.id), mass=thing.mass, limit=limit)


def _grip(case: _Case, thing: Thing) -> None:
    most, least = case.profile.max_grip_width, case.profile.min_grip_width
    if most is None and least is None:
        return
    width, id = graspable_width(thing), refusals.display_value(thing.id)
    if width is None:
        case.say("critic.width_unknown", id=id, limit=most if most is not None else least)
        return
    lies = (fact(thing.id, "size", thing.size), fact(thing.id, "orientation", thing.orientation))
    if most is not None and not width <= most + _SLACK:
        case.say("critic.grip", *lies, fact(case.node, "max_grip_width", most), id=id, width=width, limit=most)
    if least is not None and not (size := min(width, lying(thing).height)) >= least - _SLACK:
        given = (*lies, fact(case.node, "min_grip_width", least))
        case.say("critic.small", *given, id=id, mm=size * 1000, limit=least * 1000)


def graspable_width(thing: Thing) -> float | None:
    """Metres between the fingers: a box's narrower horizontal side as it lies, a round thing's diameter.

    None when ENVIRONMENT.md gives no size (reference `embodied.md` §4.3).
    """
    size = thing.size
    if len(size) < 3 or not all(math.isfinite(v) and v > 0 for v in size[:3]):
        return None
    if thing.shape in ("sphere", "cylinder"):
        return size[0]
    w, x, y, z = thing.orientation if len(thing.orientation) == 4 else (1.0, 0.0, 0.0, 0.0)
    # how much of each of the box's own axes points up
    up = (abs(2 * (x * z - w * y)), abs(2 * (y * z + w * x)), abs(1 - 2 * (x * x + y * y)))
    upright = up.index(max(up))
    return min(size[i] for i in range(3) if i != upright)


def _hand(case: _Case) -> None:
    op, robot = case.order.op, case.robot
    empty, full = HANDLED | FIXTURED | {STACK.name, TAKE_OVER.name}, PLACE | {PLACE_BESIDE.name, HAND_OVER.name}
    if robot is None or op not in empty | full:
        return
    held = case.scene.held(robot.robot_id)
    node, given = refusals.display_value(robot.robot_id), fact(robot.robot_id, "holding", held or NOTHING)
    named = given_parameter(case.order.params, OBJECT)[1] if op == WIPE.name else None
    wipes_with = held is not None and isinstance(named, str) and _is(case.scene, named, held)
    if op in empty and held and not wipes_with:
        case.say("critic.holding", given, node=node, held=refusals.display_value(held))
    if op in full:
        if not held and robot.gripper in ("open", "closed"):  # a profile without a gripper declares nothing about it
            case.say("critic.empty", given, node=node)
        if held:
            _, named = given_parameter(case.order.params, thing_names(case.op, case.order.params))
            if isinstance(named, str) and named.strip() and not _is(case.scene, named, held):
                case.say(
                    "critic.other_held",
                    given,
                    node=node,
                    held=refusals.display_value(held),
                    value=refusals.display_value(named),
                )


def _elsewhere(case: _Case, thing: Thing) -> None:
    """Another robot's gripper is no place to take a thing from; that robot hands it over (`take_over`)."""
    hands = {r.robot_id for r in case.scene.robots}
    hands |= {r.object for r in case.scene.relations if r.relation == "held_by"}
    for other in sorted(hands - {case.node}):
        if case.scene.held(other) == thing.id:
            names = {"id": refusals.display_value(thing.id), "other": refusals.display_value(other)}
            case.say("critic.held_elsewhere", fact(other, "holding", thing.id), **names)
            return


def _is(scene: Scene, word: str, held: str) -> bool:
    thing = scene.thing(held)
    return word == held or (
        thing is not None and word.strip().casefold() in (thing.name.casefold(), thing.category.casefold())
    )
