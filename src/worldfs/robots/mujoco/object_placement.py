"""The placing: onto a surface, a thing or into a container, judged by where it comes to rest."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from worldfs.base import packing
from worldfs.base.hollows import rest_limit
from worldfs.base.messages import CodedText, coded
from worldfs.base.model import Finding, Thing
from worldfs.robots import rotations
from worldfs.robots.orientation import FLAT, SAME

from . import fixture_model, fixture_placement, geometry, panda, support
from .arm import Arm, AttemptResult, collision_finding, unreachable_finding
from .array_types import Array
from .collision import CollisionChecker, contacts, pair, thing_name
from .path_planner import first_way
from .rig import Rig
from .scene_layout import covers, interior, within
from .shared_motion import Leg

TOLERANCE = 0.03  # m from the goal
STILL = 0.02  # m/s
SPIN = 0.25  # rad/s
WATCHED = 0.2  # s between two checks of what should be at rest
GAP = 0.003  # m above the surface when released
ABOVE = 0.12  # m
LEVEL = -0.5  # of the upward part of a hand's direction: above this it points to the side
LOWEST = 0.03  # m: the same under an upper bound
PALM_ABOVE_TCP = panda.TCP - panda.PALM  # m from the pads' middle up to the housing
FINGER_ROOM = 0.066  # m from the pads' middle to a finger's outer side, opened
NARROW = 0.008  # m between things on a table, where nothing wider is left
NEAR_SPOT = 0.025  # m from a named point: nearer, a roomy place will do
TRIED = 6  # narrow places, before the arm gives up
ASTRAY = 0.01  # m beyond the outline of what an order names, where its point is no longer in or on that
TALL = 0.09  # m: higher things are carried slower


@dataclass(frozen=True, slots=True)
class PlacementGoal:
    """A placement: `centre` of the object (m), on or in its support; `inside`: any rest within the container."""

    centre: Array
    on: str
    inside: bool = False
    release: float = GAP  # m above `centre` when the fingers open
    yaws: tuple[float, ...] = ()  # of the gripper (rad), where only these have room


@dataclass(frozen=True, slots=True)
class PlacementPlan:
    thing: str
    goal: PlacementGoal
    route: list[Array]
    down: list[Array]
    up: list[Array]
    height: float  # m of the straight line
    opening: float


def legs(planned: PlacementPlan) -> list[Leg]:
    return [([*planned.route, *planned.down], planned.thing), (planned.up, None)]


def surfaces(arm: Arm, x: float, y: float, besides: str) -> list[tuple[float, str]]:
    """(height, id) of everything that a thing could rest on at (x, y); "floor" is the last. Not what is in a shut chest
    or in a case, or below either."""
    rig = arm.rig
    found: list[tuple[float, str]] = [(rig.plan.floor, "floor")]
    shut: list[tuple[float, float]] = []  # from where to where no thing fits
    for piece in rig.furniture:
        if piece.shape == "basket" and covers(piece, x, y, -0.005):
            found.append((float(interior(piece)[0][2]), piece.id))
        elif piece.shape == "table" and covers(piece, x, y):
            found.append((piece.position[2], piece.id))
        elif piece.shape == "box" and covers(piece, x, y):
            found.append((piece.position[2] + piece.size[2] / 2, piece.id))
        elif (top := _lid(rig, piece, x, y)) is not None:
            found.append((top, piece.id))
            shut.append((top - piece.size[2] - TOLERANCE, top - GAP))
    for id in rig.objects:
        if id != besides:
            centre, half = rig.position(id), rig.half(id)
            if abs(x - centre[0]) <= 0.6 * half[0] and abs(y - centre[1]) <= 0.6 * half[1]:
                found.append((float(centre[2] + half[2]), id))
    return sorted((one for one in found if not any(low < one[0] < high for low, high in shut)), reverse=True)


def _lid(rig: Rig, piece: Thing, x: float, y: float) -> float | None:
    """The height of the flat top of a shut chest, or of a drawer's case, over (x, y)."""
    if piece.id not in rig.fixtures:
        return None
    own = rotations.matrix(piece.orientation).T @ (np.array([x, y, piece.position[2]]) - np.array(piece.position))
    if abs(own[0]) > piece.size[0] / 2 or abs(own[1]) > piece.size[1] / 2:
        return None
    shut = rig.knows_opening(piece.id) and fixture_model.state(piece, rig.opening(piece.id)) == fixture_model.CLOSED
    return piece.position[2] + piece.size[2] / 2 if shut or piece.shape == fixture_model.DRAWER else None


def goal_at(arm: Arm, held: str, position: Array, job: str = "", on: str = "") -> list[PlacementGoal] | Finding:
    """Goals for `target_position`: its z may be the surface's, or the thing's centre there; in a basket, as high above
    that again, where it may lie on what is beside. `on`: the object that the order names, also one in a basket."""
    x, y, z = (float(v) for v in position)
    half = _upright_half(arm, held)
    baskets = {piece.id for piece in arm.rig.furniture if piece.shape == "basket"}  # what lies beside bears it, too
    ranked = []
    given = [(float(arm.rig.position(on)[2] + arm.rig.half(on)[2]), on)] if on in arm.rig.objects and on != held else []
    for top, id in given or surfaces(arm, x, y, held):
        off = max(0.0, top - z, z - (top + (2 * half if id in baskets else half)))
        ranked.append((off, -top, id))
    off, lowered, under = min(ranked)
    if off > TOLERANCE:
        return Finding(
            "CRITIC_REFUSED",
            "ACTION.md params.target_position",
            coded("robot.surface"),
            coded("robot.no_surface", at=position, under=thing_name(under), z=-lowered),
            coded("robot.use_height", z=-lowered + half),
            job,
        )
    basket = None if given else _around(arm, under)
    if basket is not None:

        def away(goal: PlacementGoal) -> float:
            return math.hypot(goal.centre[0] - x, goal.centre[1] - y)

        spots = sorted(_spots(arm, held, basket), key=away)
        if spots and away(spots[0]) <= NEAR_SPOT:
            return spots
        narrow = sorted(_narrow_spots(arm, held, basket), key=away)[:TRIED]
        return [*narrow, *spots] or _no_room(held, basket.id, job)
    return [PlacementGoal(np.array([x, y, -lowered + half]), under)]


def _around(arm: Arm, id: str) -> Thing | None:
    """The basket that `id` is or lies in: what goes onto a heap in a basket goes into the basket."""
    rig = arm.rig
    baskets = [piece for piece in rig.furniture if piece.shape == "basket"]
    return next((b for b in baskets if b.id == id or (id in rig.body and support.contains(rig, id, b.id))), None)


def goal_on(arm: Arm, held: str, target: str, job: str = "", at: Array | None = None) -> list[PlacementGoal] | Finding:
    """Goals for placing into or onto the thing `target`, best first; in a drawer or a chest near the point `at` (m)."""
    rig = arm.rig
    piece = rig.things[target]
    half = _upright_half(arm, held)
    if piece.shape == "basket":
        goals = list(_spots(arm, held, piece)) or list(islice(_narrow_spots(arm, held, piece), TRIED))
    elif target in rig.fixtures:
        if closed := fixture_placement.refusal(arm, held, piece, half, job):
            return closed
        places = fixture_placement.spots(arm, held, piece, half, at)
        goals = [PlacementGoal(centre, target, True, above) for centre, above in places]
    elif target in rig.objects:
        centre = rig.position(target)
        goals = [PlacementGoal(np.array([centre[0], centre[1], centre[2] + rig.half(target)[2] + half]), target)]
    elif piece.shape in ("table", "box", "region"):
        goals = list(free_places(arm, held, piece, half))
    else:
        goals = []
    return goals or _no_room(held, target, job)


def _no_room(held: str, target: str, job: str) -> Finding:
    return Finding(
        "CRITIC_REFUSED",
        "ACTION.md params.target",
        coded("robot.space", id=held, on=target),
        coded("robot.no_space", on=target),
        coded("robot.take_out", on=target),
        job,
    )


def _upright_half(arm: Arm, held: str) -> float:
    """Half height of the held object once the gripper is straightened (m)."""
    thing = arm.rig.things[held]
    _, rotation = arm.view.tcp_pose()
    if _is_level(rotation) and _is_alike(thing):
        return max(thing.size) / 2  # the hand is turned down, and the thing with it
    turned = _straight(rotation) @ rotation.T @ arm.rig.rotation(held)
    return float(rotations.half_extents(thing.shape, thing.size, turned)[2])


def _is_level(rotation: Array) -> bool:
    """Whether a hand points to the side: no table leaves it the room to set down what it holds so."""
    return bool(rotation[2, 2] > LEVEL)


def _is_alike(thing: Thing) -> bool:
    """Whether each way up is as good: a ball, a cube."""
    return thing.shape == "sphere" or (thing.shape == "box" and max(thing.size) - min(thing.size) < SAME)


def _straight(rotation: Array) -> Array:
    """The gripper's rotation now, or exactly down when it is nearly so."""
    if rotation[2, 2] < -0.99:
        return rotations.hand_rotation(math.atan2(float(rotation[1, 0]), float(rotation[0, 0])))
    return rotation


def plain_turns(arm: Arm) -> list[Array]:
    """The gripper as it is, straightened, and turned about the vertical."""
    now = _straight(arm.view.tcp_pose()[1])
    return [rotations.about_z(k * math.pi / 4) @ now for k in range(8)]


def _turns(arm: Arm, held: str, goal: Array) -> list[Array]:
    """Gripper rotations that set the object down the way up it is held; a ball may be set down from behind as well, and
    what was taken over from the side, and is the same each way up, with the hand turned down."""
    turns = plain_turns(arm)
    if _is_level(arm.view.tcp_pose()[1]) and _is_alike(arm.rig.things[held]):
        turns = [rotations.hand_rotation(k * math.pi / 4) for k in range(8)]
    if arm.rig.things[held].shape == "sphere":
        toward = math.atan2(goal[1] - arm.view.base[1], goal[0] - arm.view.base[0])
        for tilt in (0.0, 0.5, 1.0, 1.5):
            turns += [rotations.hand_rotation(toward, tilt), rotations.hand_rotation(toward + math.pi, -tilt)]
    return turns


def _spots(arm: Arm, held: str, basket: Thing) -> Iterator[PlacementGoal]:
    """Roomy places in a basket, the freest first; a thing over others is let go above them."""
    rig = arm.rig
    thing = rig.things[held]
    low, high = interior(basket)
    half = _upright_half(arm, held)
    radius = math.hypot(thing.size[0], thing.size[1]) / 2 if thing.shape == "box" else thing.size[0] / 2
    # the fingers reach farther out than most objects: they too need space before the wall
    room = np.maximum((high - low)[:2] / 2 - max(min(radius + 0.01, 0.07), FINGER_ROOM), 0.0)
    inside = [
        (rig.position(id), float(np.max(rig.half(id)[:2])), float(rig.half(id)[2]))
        for id in rig.objects
        if id != held and within(basket, rig.position(id), 0.05)
    ]
    centre = (low + high)[:2] / 2
    ranked = []
    for fx in np.linspace(-1, 1, 5):
        for fy in np.linspace(-1, 1, 7):
            spot = centre + room * [fx, fy]
            if not arm.limits.holds(held, np.array([*spot, low[2] + half])):
                continue
            gaps = [float(np.hypot(*(p[:2] - spot))) - r - radius for p, r, _ in inside]
            nearest = min([*gaps, 0.05])
            under = [float(p[2]) + h for (p, _, h), gap in zip(inside, gaps, strict=True) if gap < 0]
            pile = max(under, default=-math.inf)
            # nearer the base is easier, and leaves the far side's view free
            ease = 0.1 * float(np.hypot(*(spot - rig.view.base[:2])))
            ranked.append((-nearest + ease, spot, pile))
    for _, spot, pile in sorted(ranked, key=lambda item: item[0])[:14]:
        floor = max(float(low[2]), pile)
        if floor < rest_limit(basket):  # else it would lie on a heap above the rim
            yield _goal_in(arm, held, basket, spot, floor)


def _narrow_spots(arm: Arm, held: str, basket: Thing) -> Iterator[PlacementGoal]:
    """Places on its floor that are just large enough for the thing and the fingers, from one corner on."""
    rig = arm.rig
    _, rotation = rig.view.tcp_pose()
    if rotation[2, 2] > -0.99:
        return  # a hand that holds it from the side cannot be turned about the vertical
    others = [as_it_lies(rig, id) for id in rig.objects if id != held and within(basket, rig.position(id), 0.05)]
    for spot in packing.spots(_in_the_hand(rig, held, rotation), basket, others, held=True):
        goal = _goal_in(arm, held, basket, np.array([spot.x, spot.y]), float(interior(basket)[0][2]))
        if not arm.limits.holds(held, goal.centre):
            continue
        yield replace(goal, yaws=(spot.turn, spot.turn + math.pi))


def _goal_in(arm: Arm, held: str, basket: Thing, spot: Array, floor: float) -> PlacementGoal:
    rig, half = arm.rig, _upright_half(arm, held)
    grip_above_bottom = float(rig.view.tcp_pose()[0][2] - rig.position(held)[2]) + half
    bottom = max(floor + 0.008, basket.position[2] + basket.size[2] / 2 + 0.010 - PALM_ABOVE_TCP - grip_above_bottom)
    return PlacementGoal(np.array([*spot, floor + half]), basket.id, True, bottom - floor)


def as_it_lies(rig: Rig, id: str) -> Thing:
    """The thing where it is now (m), turned as it is."""
    return rig.lying(id)


def _in_the_hand(rig: Rig, held: str, rotation: Array) -> Thing:
    """What the gripper holds, as a box whose second side the fingers close across."""
    thing = rig.things[held]
    half = rotations.half_extents(thing.shape, thing.size, rotation.T @ rig.rotation(held))
    return Thing(held, shape="box", size=tuple(float(2 * v) for v in half))


def free_places(arm: Arm, held: str, piece: Thing, half: float) -> Iterator[PlacementGoal]:
    """Positions on a flat top, 0.35 to 0.65 m before the robot and apart from other objects, the freest first."""
    rig = arm.rig
    top = piece.position[2] + (0.0 if piece.shape == "table" else piece.size[2] / 2)
    thing = rig.things[held]
    radius = math.hypot(*thing.size[:2]) / 2
    others = [(rig.position(id)[:2], float(np.max(rig.half(id)[:2]))) for id in rig.objects if id != held]
    others += [
        (np.array(f.position[:2]), math.hypot(*f.size[:2]) / 2)
        for f in rig.furniture
        if f.shape in ("basket", "box") and f.id != piece.id
    ]
    margin = min(radius, piece.size[0] / 2 - 0.005, piece.size[1] / 2 - 0.005)
    open_: list[tuple[float, Array]] = []
    narrow: list[tuple[float, Array]] = []
    for distance in (0.48, 0.4, 0.56, 0.62, 0.34):
        for angle in np.linspace(-1.2, 1.2, 25):
            ahead = [distance * math.cos(angle), distance * math.sin(angle), 0.0]
            spot = rig.view.base + rig.view.base_rotation @ ahead
            if not covers(piece, spot[0], spot[1], -margin):
                continue
            if not arm.limits.holds(held, np.array([*spot[:2], top + half])):
                continue
            gap = min([float(np.hypot(*(p - spot[:2]))) - r - radius for p, r in others] or [0.2])
            if gap > NARROW:
                ranked = open_ if gap > 0.03 else narrow
                ranked.append((-min(gap, 0.10) + 0.1 * abs(distance - 0.48), spot))
    ranked = open_ or narrow
    if not ranked and min(piece.size[:2]) < 0.5:  # a small support away from the rings: its middle
        ranked.append((0.0, np.array(piece.position)))
    for _, spot in sorted(ranked, key=lambda item: item[0])[:10]:
        if piece.shape == "region":
            tops = surfaces(arm, float(spot[0]), float(spot[1]), held)
            under = [(t, id) for t, id in tops if t <= top + 0.05]
            top_here, carrier = under[0] if under else (top, piece.id)
            yield PlacementGoal(np.array([spot[0], spot[1], top_here + half]), carrier)
        else:
            yield PlacementGoal(np.array([spot[0], spot[1], top + half]), piece.id)


def plan(
    arm: Arm, held: str, goals: list[PlacementGoal], job: str = "", *, turns: list[Array] | None = None
) -> PlacementPlan | Finding:
    """A way to set the held thing down at the first goal that has one, or why there is none. Moves nothing.

    `turns`: rotations of the gripper to choose from; None: those that keep the thing the way up it is held.
    """
    first: Finding | None = None

    def plans() -> Iterator[tuple[PlacementPlan, CollisionChecker, Array]]:
        nonlocal first
        for goal in goals:
            found = yield from _plans(arm, held, goal, turns or _turns(arm, held, goal.centre))
            first = first or found

    if (reached := first_way(plans(), arm.view.joints(), via=(arm.ready,), over=arm.solver)) is not None:
        return replace(reached[0], route=reached[1])
    assert first is not None
    return replace(first, job=job)


def _plans(
    arm: Arm, held: str, goal: PlacementGoal, turns: list[Array]
) -> Generator[tuple[PlacementPlan, CollisionChecker, Array], None, Finding]:
    """The plans for one goal that lack only a way to their first pose, then why the goal cannot be reached."""
    rig = arm.rig
    checker = arm.collision_checker(held=held)
    tcp, rotation = rig.view.tcp_pose()
    offset = rotation.T @ (rig.position(held) - tcp)
    present = rig.view.joints()
    release = goal.centre + geometry.up(goal.release)
    found: list[tuple[float, Array, Array, Array, float]] = []
    turns = [rotations.hand_rotation(yaw) for yaw in goal.yaws] or turns
    for i, turned in enumerate(turns):
        if i >= 8 and found:
            break  # the turns beyond a plain yaw are for what nothing else reaches
        at = release - turned @ offset
        height = arm.limits.lowered(ABOVE, at, release, least=LOWEST)
        for start in (present, arm.ready):
            above = arm.solver.near(start, at + geometry.up(height), turned)
            low = None if above is None else arm.solver.near(above, at, turned)
            if above is not None and low is not None:
                found.append((float(np.max(np.abs(above - present))), above, at, turned, height))
                break
    if not found:
        return unreachable_finding(arm, coded("robot.the_place"), goal.centre, coded("robot.no_joints_above"), "")
    touched = {pair(held, goal.on)}
    why: str | list[CodedText] = ""
    for _, above, at, turned, height in sorted(found, key=lambda c: c[0]):
        down = arm.solver.line(above, np.linspace(at + geometry.up(height), at, 11)[1:], turned)
        if isinstance(down, int):
            why = why or coded("robot.way_down", n=down + 1)
            continue
        hits = checker.hits(down[-1], allowed=touched) or checker.along([above, *down], allowed=touched)
        if hits:
            why = why or contacts(hits)
            continue
        opening = _opening(arm, held, [*down[::-1], above])
        if opening is None:
            why = why or coded("robot.no_space_to_open")
            continue
        path = [above, *down]
        yield PlacementPlan(held, goal, [], path, path[::-1], height, opening), checker, above
        why = why or coded("robot.no_free_way")
    return collision_finding(coded("robot.place", id=held, at=goal.centre, why=why), "")


def _opening(arm: Arm, held: str, up: list[Array]) -> float | None:
    """As far as the fingers can open at the goal, and rise from it, without hitting a neighbour (m a finger); None: not
    far enough."""
    now = arm.view.opening() / 2
    for opening in (panda.STROKE, now + 0.012, now + 0.005):
        checker = arm.collision_checker(opening=min(opening, panda.STROKE), held=held)
        if checker.free(up[0]) and not checker.along(up):
            return min(opening, panda.STROKE)
    return None


def carry_out(arm: Arm, placing: PlacementPlan, axis: int, *, pace: float = 1.0) -> AttemptResult:
    """Carries, lowers, lets go, backs off; success by `at_goal`, `axis` of the thing standing up as it did."""
    rig, mover, held = arm.rig, arm.mover, placing.thing
    tall = 2 * float(rig.half(held)[2]) > TALL
    mover.pace = pace * (0.7 if tall else 1.0)
    mover.follow(placing.route)
    mover.pace = 1.0
    if rig.fingers_on(held) < 2:
        return AttemptResult(False, "OBJECT_LOST", coded("robot.lost_carrying", id=held, at=rig.position(held)))
    mover.line(placing.down, placing.height, speed=0.11)
    if rig.fingers_on(held) < 2:
        lost = coded("robot.lost_lowering", id=held, at=rig.position(held))
        mover.grip(placing.opening)
        mover.line(placing.up, placing.height)  # a gripper that stays down there finds no way out
        return AttemptResult(False, "OBJECT_LOST", lost)
    if arm.believed is not None:
        arm.believed()  # it is set down where the joint angles say, until a picture shows it
    mover.grip(placing.opening)
    mover.wait(0.3)
    mover.line(placing.up, placing.height)
    mover.quiet(held)
    return at_goal(arm, held, placing.goal, axis)


def at_goal(arm: Arm, id: str, goal: PlacementGoal, axis: int = -1) -> AttemptResult:
    """The predicate: let go of, at rest, where it should be, carried by what was named, and the way up it was held.

    `axis`: the object's own axis that pointed up in the gripper, −1 for any. Checks twice, `WATCHED` seconds apart.
    """
    rig = arm.rig
    before, turn = rig.position(id), rig.rotation(id)
    arm.mover.wait(WATCHED)
    position = rig.position(id)
    distance = float(np.linalg.norm(position - goal.centre))
    speed = max(rig.speed(id), float(np.linalg.norm(position - before)) / WATCHED)
    spin = 0.0 if rig.things[id].shape == "sphere" else geometry.angle(turn.T @ rig.rotation(id)) / WATCHED
    if "robot" in rig.touching(id):
        return AttemptResult(False, "NOT_RELEASED", coded("robot.still_touches", id=id), distance)
    if speed > STILL or spin > SPIN:
        moves = coded("robot.still_moves", id=id, speed=speed, spin=spin)
        return AttemptResult(False, "NOT_AT_REST", moves, distance)
    if goal.inside:
        if not rig.encloses(goal.on, id):
            found = coded("robot.rests_outside", id=id, at=position, on=goal.on)
            return AttemptResult(False, "NOT_IN_CONTAINER", found, distance)
    elif distance > TOLERANCE:
        found = coded("robot.rests_off", id=id, at=position, mm=distance * 1000)
        return AttemptResult(False, "NOT_AT_GOAL", found, distance)
    if not (support.carried if goal.inside else support.stands_on)(rig, id, goal.on):
        by = support.format_shares(support.shares(rig, id))
        found = coded("robot.carried_by", id=id, on=goal.on, by=by)
        return AttemptResult(False, "NOT_SUPPORTED", found, distance)
    tilt = support.lean(rig, id, axis)
    if not goal.inside and tilt > FLAT:
        found = coded("robot.leans", id=id, degrees=math.degrees(tilt))
        return AttemptResult(False, "NOT_UPRIGHT", found, distance)
    return AttemptResult(True, distance=0.0 if goal.inside else distance)
