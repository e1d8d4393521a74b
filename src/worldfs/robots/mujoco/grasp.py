"""The grasp: planned on a copy, carried out by contact alone, judged by what was lifted (reference "Embodied" §4.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from worldfs.base.measured_facts import fact, facts
from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.robots import rotations

from . import fixture_model, fixture_placement, geometry, panda, removal_trial, support
from .arm import GRIP_FIELD, SMALL_FIELD, Arm, AttemptResult, collision_finding, covered_finding, unreachable_finding
from .array_types import Array
from .collision import CollisionChecker, Pair, contacts, pair, persisting, thing_name
from .grip_slip import SLIP, grip_slip, slipping
from .imagined_arm import imagined
from .motion_control import CLOSE
from .path_planner import first_way
from .shared_motion import Leg

APPROACH = 0.12  # m before the grasp, along the gripper
TILTS = (0.0, 0.5, 1.0, 1.5)  # rad off straight down: from above if that can be, else from above and behind, else level
SIDE = 0.038  # m over its support that a level gripper needs
LIFT = 0.20  # m
LOWEST = 0.04  # m: how low an approach or a lift may become under an upper bound
LEVEL = 0.3  # cosine to straight down of a hand that comes from the side
RISEN = 0.7  # share of the lift that counts as lifted
DEPTH = 0.030  # m below the top
SHALLOW = 0.034  # m: deeper than this the palm would touch the top
GROUND = 0.012  # m that the pads' middle stays above the object's support
PADS_ABOVE = 0.0115  # m: half of a pad's height and a millimetre; lower, the fingers would touch what it lies on
LOW_THING = 0.040  # m: things no higher are taken at their middle
UPRIGHT = 0.98  # cosine to the vertical
TIPS = (0.018, 0.009, 0.005)  # m below the top: near a basket's wall the palm must stay above the rim


@dataclass(frozen=True, slots=True)
class GraspPlan:
    """A way to take a thing: joint route to before it, joint lines to it and up, half opening (m) of the fingers."""

    thing: str
    route: list[Array]
    down: list[Array]
    up: list[Array]
    lift: float
    opening: float


def legs(planned: GraspPlan) -> list[Leg]:
    return [([*planned.route, *planned.down], None), (planned.up, planned.thing)]


def plan(
    arm: Arm,
    id: str,
    job: str = "",
    *,
    tilts: Sequence[float] = TILTS,
    unsuited: Callable[[GraspPlan], str] | None = None,
) -> GraspPlan | Finding:
    """A grasp of `id` from the present state, or why there is none. Moves nothing. `unsuited`: why a grasp does not do
    for what is to follow, "" where it does."""
    rig = arm.rig
    thing = rig.things[id]
    lying = geometry.grip_geometry(thing.shape, thing.size, rig.rotation(id))
    narrow = lying.grips[0][0]
    if narrow > panda.MAX_GRIP:
        return Finding(
            "CRITIC_REFUSED",
            GRIP_FIELD,
            coded("robot.grip_limit", limit=panda.MAX_GRIP),
            coded("robot.too_wide", id=id, width=narrow),
            coded("robot.choose_narrower"),
            job,
            condition=facts(fact(id, "size", thing.size), fact(id, "orientation", geometry.quat_of(rig.rotation(id)))),
        )
    if (size := min(narrow, lying.height)) < panda.MIN_GRIP:
        return Finding(
            "CRITIC_REFUSED",
            SMALL_FIELD,
            coded("critic.small.expected", limit=panda.MIN_GRIP * 1000),
            coded("critic.small.found", id=id, mm=size * 1000),
            coded("critic.small.fix"),
            job,
            condition=facts(fact(id, "size", thing.size), fact(id, "orientation", geometry.quat_of(rig.rotation(id)))),
        )
    if shut := fixture_placement.shut_in(arm, id, (fixture_model.CLOSED,), job):
        return shut
    if above := removal_trial.held_up(rig, id):
        return covered_finding(arm, id, above, job)
    why: str = ""
    solved = False
    centre = rig.position(id)
    cut_off = False

    def plans() -> Iterator[tuple[GraspPlan, CollisionChecker, Array]]:
        nonlocal why, solved, cut_off
        for tilt, at in [*((tilt, _point(arm, id, tilt)) for tilt in tilts), *_by_the_tips(arm, id, tilts)]:
            found = _candidates(arm, at, lying, tilt)
            solved = solved or bool(found)
            for one in sorted(found, key=lambda c: c.cost)[:10]:
                for opening in (panda.STROKE, one.width / 2 + 0.008):
                    if not one.width / 2 + panda.GRIP_ROOM - 1e-9 <= opening <= panda.STROKE:
                        continue
                    result = _complete(arm, id, at, one, opening)
                    if not isinstance(result, str) and unsuited is not None:
                        result = unsuited(result) or result
                    if isinstance(result, str):
                        why = why or result
                        continue
                    cut_off = True
                    yield result, arm.collision_checker(opening=opening), one.above

    if (reached := first_way(plans(), arm.view.joints(), via=(arm.ready,), over=arm.solver)) is not None:
        return replace(reached[0], route=reached[1])
    if cut_off:
        why = coded("robot.no_free_way_to_it")
    if ajar := fixture_placement.shut_in(arm, id, (fixture_model.AJAR,), job):
        return ajar
    if not solved:
        return unreachable_finding(arm, id, centre, coded("robot.no_joints_grasp"), job)
    return collision_finding(coded("robot.pick_up", id=id, at=centre, why=why), job)


def _point(arm: Arm, id: str, tilt: float) -> Array:
    """The position of the pads' middle (m): below the top for a grasp from above, at half height from the side."""
    rig = arm.rig
    centre, half = rig.position(id), float(rig.half(id)[2])
    top, bottom = float(centre[2]) + half, float(centre[2]) - half
    if tilt > 0.7:
        height = min(max(float(centre[2]), bottom + SIDE), top - GROUND)
    elif rig.things[id].shape == "sphere" or 2 * half <= LOW_THING:
        height = max(float(centre[2]), top - SHALLOW, bottom + PADS_ABOVE)
    else:
        height = max(top - DEPTH, bottom + GROUND)
    return np.array([centre[0], centre[1], height])


def _by_the_tips(arm: Arm, id: str, tilts: Sequence[float]) -> Iterator[tuple[float, Array]]:
    """Tilts and points of grasps from above that hold only the upper end of a thing with upright sides."""
    rig = arm.rig
    shape, turned = rig.things[id].shape, rig.rotation(id)
    upright = np.abs(turned[2]) > UPRIGHT
    standing = bool(upright.any()) if shape == "box" else shape == "cylinder" and bool(upright[2])
    if not standing or 0.0 not in tilts:
        return
    top = float(rig.position(id)[2] + rig.half(id)[2])
    usual = _point(arm, id, 0.0)
    for depth in TIPS:
        if top - depth > usual[2] + 0.004:
            yield 0.0, np.array([usual[0], usual[1], top - depth])


@dataclass(frozen=True, slots=True)
class _Candidate:
    cost: float
    above: Array  # joints
    grasp: Array  # joints
    pre: Array  # point
    rotation: Array
    width: float


def _candidates(arm: Arm, at: Array, lying: geometry.GripGeometry, tilt: float) -> list[_Candidate]:
    """Every gripper rotation that closes across the object and that the arm reaches; tilted, it points outwards."""
    present, home = arm.view.joints(), arm.ready
    toward = math.atan2(at[1] - arm.view.base[1], at[0] - arm.view.base[0])
    yaws: list[tuple[float, float, float]] = []  # yaw, width, extra cost
    if lying.round:
        yaws = [(toward + k * math.pi / 4, lying.grips[0][0], 0.0) for k in range(-4, 4)]
    else:
        for width, angle in lying.grips:
            if width <= panda.MAX_GRIP:
                extra = 0.4 if width > lying.grips[0][0] + 0.002 else 0.0
                yaws += [(angle + side * math.pi / 2, width, extra) for side in (1, -1)]
    found = []
    for yaw, width, extra in yaws:
        rotation = rotations.hand_rotation(yaw, math.copysign(tilt, math.cos(yaw - toward)))
        steep = -float(rotation[2, 2])
        approach = arm.limits.lowered(APPROACH * steep, at, least=LOWEST) / steep if steep > LEVEL else APPROACH
        pre = at - approach * rotation[:, 2]
        best: _Candidate | None = None
        for start in (present, home):
            above = arm.solver.near(start, pre, rotation)
            if above is None:
                continue
            grasp = arm.solver.near(above, at, rotation)
            if grasp is None:
                continue
            cost = float(np.max(np.abs(above - present))) + 0.3 * abs(float(above[6] - home[6])) + extra
            if best is None or cost < best.cost:
                best = _Candidate(cost, above, grasp, pre, rotation, width)
        if best is not None:
            found.append(best)
    return found


def _complete(arm: Arm, id: str, at: Array, one: _Candidate, opening: float) -> GraspPlan | str:
    """A grasp from just before it on, checked for collision all along, its route still to be found; else why not."""
    checker = arm.collision_checker(opening=opening)
    touching = {pair("robot", id)}
    hits = checker.hits(one.grasp, allowed=touching) or checker.hits(one.above)
    if hits:
        return coded("robot.at_grasp", hits=contacts(hits))
    down = arm.solver.line(one.above, np.linspace(one.pre, at, 11)[1:], one.rotation)
    if isinstance(down, int):
        return coded("robot.way_to_it", n=down + 1)
    hits = checker.along([one.above, *down], allowed=touching)
    if hits:
        return coded("robot.on_the_way", hits=contacts(hits))
    met: dict[Pair, float] = {}
    centre = arm.rig.position(id)
    for lift in arm.limits.heights((LIFT, 0.14, 0.10, 0.06), at, centre, least=LOWEST):
        up = arm.solver.line(down[-1], np.linspace(at, at + geometry.up(lift), 11)[1:], one.rotation)
        if isinstance(up, int) or checker.along([down[-1], *up], allowed=touching):
            continue
        if not arm.limits.holds(id, centre + geometry.up(lift)):
            continue
        if not (met := _met_on_the_way_up(arm, id, [down[-1], *up], one.width / 2)):
            break
    else:
        return coded("robot.on_the_way_up", hits=contacts(met)) if met else coded("robot.no_space_to_lift")
    return GraspPlan(id, [], [one.above, *down], [down[-1], *up], lift, opening)


def _met_on_the_way_up(arm: Arm, id: str, path: list[Array], opening: float) -> dict[Pair, float]:
    """The contacts of the rising thing with others, and how deep each is (m). Things in one box with it give way."""
    checker = CollisionChecker(imagined(arm, {}, path[0], opening).rig, held=id)
    boxes = support.boxes_round(arm.rig, id)
    given_way = {pair(id, other) for box in boxes for other in (box, *arm.rig.objects)
                 if other == box or arm.rig.encloses(box, other)}  # fmt: skip
    present = persisting(checker.hits(path[0]))
    return checker.along(path, allowed=present | dict.fromkeys(given_way, math.inf) | {pair("robot", id): math.inf})


def carry_out(arm: Arm, grasp: GraspPlan) -> AttemptResult:
    """Opens, goes, closes, lifts. Success: both fingers touch, the object has risen, and the gripper carries it."""
    rig, mover, id = arm.rig, arm.mover, grasp.thing
    before = float(rig.position(id)[2])
    mover.grip(grasp.opening)
    mover.wait(0.1)
    mover.follow(grasp.route)
    mover.line(grasp.down, APPROACH)
    mover.grip(CLOSE)
    _close(arm, id)
    if rig.fingers_on(id) < 2:
        touched = [thing_name(other) for other in sorted(rig.touching(id))] or [coded("robot.nothing")]
        missed = coded("robot.grasp_missed", m=rig.view.opening(), id=id, touched=touched)
        _back_off(arm, grasp)
        return AttemptResult(False, "GRASP_MISSED", missed)
    if arm.closed_on is not None:
        arm.closed_on(id)
    mover.line(grasp.up, grasp.lift)
    mover.wait(0.15)
    risen = float(rig.position(id)[2]) - before
    if risen < RISEN * grasp.lift or rig.fingers_on(id) < 2:
        lost = coded("robot.lost_on_lift", id=id, risen=risen, lift=grasp.lift, fingers=rig.fingers_on(id))
        return AttemptResult(False, "OBJECT_LOST", lost, distance=max(0.0, grasp.lift - risen))
    found = support.shares(rig, id)
    if found.get("robot", 0.0) < support.CARRIES:
        held = coded("robot.not_carried", id=id, by=support.format_shares(found))
        return AttemptResult(False, "NOT_CARRIED", held, distance=max(0.0, grasp.lift - risen))
    if (slips := grip_slip(arm, id)) > SLIP:
        mover.line(grasp.up[::-1], grasp.lift)
        said = slipping(arm, id, slips)
        _back_off(arm, grasp)
        return AttemptResult(False, "NOT_FIRM", said, distance=grasp.lift)
    return AttemptResult(True, distance=max(0.0, grasp.lift - risen))


def _close(arm: Arm, id: str) -> None:
    last = arm.view.opening()
    for _ in range(12):
        arm.mover.wait(0.05)
        now = arm.view.opening()
        if abs(now - last) < 2e-5 and arm.rig.fingers_on(id) == 2:
            arm.mover.wait(0.05)
            return
        last = now


def _back_off(arm: Arm, grasp: GraspPlan) -> None:
    arm.mover.grip(grasp.opening)
    arm.mover.wait(0.3)
    arm.mover.line(grasp.up, grasp.lift)
