"""What a carrier does: to a point or beside a thing; judged by where it stands and what it still carries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Json, Order, Outcome
from worldfs.base.model.profile import TRUTH
from worldfs.base.order_parameters import LABEL
from worldfs.robots import displacements
from worldfs.robots.floor_footprint import Footprint, between, footprint_of

from . import carrier_model, params
from .action_evidence import object_poses, plan_failure, rounded
from .array_types import Array
from .body_limits import within_limits
from .carrier import Carrier
from .carrier_route import HALF, ROOM, FloorMap, obstacles, swept_boxes
from .floor_obstacles import Obstacle
from .model_builder import TIMESTEP
from .reserved_space import SweptSpace
from .shared_motion import plan_in_turn

ARRIVED = 0.02  # m
REACHES = (0.50, 0.55, 0.45, 0.60, 0.40)  # m from an arm's base to the tray's middle, the best first
BEHIND = 2.5  # rad off its front within which an arm works
DIRECTIONS = 24
LOOKED_AT = 12  # places that are worth the search of a way


@dataclass(frozen=True, slots=True)
class DrivePlan:
    route: list[Array]
    goal: Array
    label: str


def plan(carrier: Carrier, order: Order, *, minding: bool) -> DrivePlan | Finding:
    """A way within the limits to where the order says, or why there is none; with `minding` clear of where others will
    pass, and the carrier's `blockers` are those that it waits for."""
    return within_limits(carrier.limits, lambda: drive_plan(carrier, order, minding=minding))


def drive_plan(carrier: Carrier, order: Order, *, minding: bool) -> DrivePlan | Finding:
    """The same, whatever the cause of a refusal: from any thread, also beside `plan`."""
    load = carrier.load()
    if load > carrier_model.MAX_PAYLOAD:
        return Finding(
            "CRITIC_REFUSED", "EMBODIED.md Physical Constraints / Max Payload",
            coded("robot.carrier_limit", kg=carrier_model.MAX_PAYLOAD), coded("robot.carrier_load", kg=load),
            coded("robot.carrier_unload"), order.id,
        )  # fmt: skip
    goals = _goals(carrier, order)
    if isinstance(goals, Finding):
        return goals
    label, places, target = goals
    start = carrier.view.position()[:2]
    everything = obstacles(carrier, minding=minding)
    floor = FloorMap(everything, start, carrier.limits)
    free = [place for place in places if floor.free(place)]
    closing = {tuple(place): _closing(place, target, everything) for place in free}
    for place in [place for place in free if not closing[tuple(place)]][:LOOKED_AT]:
        if (route := floor.route(start, place)) is not None:
            return DrivePlan(route, place, label)
    places = [place for place in places if not closing.get(tuple(place))]
    in_way = _in_the_way(carrier, everything, start, places)
    if minding:
        carrier.blockers |= in_way
    at = next(iter(places or free), start)
    if in_way:
        why, fix = coded("robot.way_blocked_by", robots=sorted(in_way)), coded("robot.let_pass", robots=sorted(in_way))
    else:
        why, fix = coded("robot.no_way_over_floor" if free else "robot.no_place_beside"), coded("robot.clear_floor")
        if free and all(closing.values()):
            why = coded("robot.stands_between", ids=sorted(set().union(*closing.values())))
    found = coded("robot.carrier_to", label=label, at=rounded(at), why=why)
    return Finding("CRITIC_REFUSED", "ACTION.md params", coded("robot.free_floor"), found, fix, order.id)


def _closing(place: Array, target: Footprint | None, everything: Sequence[Obstacle]) -> list[str]:
    """What stands between a place and what the carrier drives to."""
    if target is None:
        return []
    boxes = ((one.owner, footprint_of(one.rectangle)) for one in everything if not one.robot)
    return between((float(place[0]), float(place[1])), target, boxes)


def _in_the_way(carrier: Carrier, everything: Sequence[Obstacle], start: Array, places: Sequence[Array]) -> set[str]:
    """The robots without which there would be a way: one of them alone if that is enough, else all of them."""
    found = list(everything)
    robots = sorted({one.owner for one in found if one.robot})
    for without in [*([id] for id in robots), robots]:
        left = [one for one in found if not (one.robot and one.owner in without)]
        floor = FloorMap(left, start, carrier.limits)
        free = [place for place in places if floor.free(place)]
        if any(floor.route(start, place) is not None for place in free[:LOOKED_AT]):
            return set(without)
    return set()


def _goals(carrier: Carrier, order: Order) -> tuple[str, list[Array], Footprint | None] | Finding:
    """What the order names, the places (x y, m) that would do, the best first, and what they are to be beside."""
    if order.op == "move_to":
        point = params.point(order, ("target_pose", "target_position", "pose", "position"))
        if isinstance(point, Finding):
            return point
        if point is None:
            fix = coded("robot.give_pose")
            return params.invalid_param(order, "target_pose", coded("robot.param_pose"), dict(order.params), fix)
        return params.turned(order, point, yaw=False) or (coded("robot.the_place"), [point[:2]], None)
    label = params.word(order.params, LABEL)
    rig = carrier.rig
    known = [*rig.arms, *rig.things, *(zone.name for zone in rig.plan.zones if zone.at)]
    if label is None:
        return params.invalid_param(
            order, "target_label", coded("robot.param_label"), dict(order.params), coded("robot.name_label")
        )
    text = label[1]
    here = carrier.view.position()[:2]
    if text in rig.arms:
        view = rig.arms[text]
        ahead = math.atan2(float(view.base_rotation[1, 0]), float(view.base_rotation[0, 0]))
        spots = list(_beside_arm(view.base[:2], ahead))
        return text, sorted(spots, key=lambda spot: _far(here, spot, view.base[:2])), None
    same = [id for id, thing in rig.things.items() if text in (id, thing.name)]
    zone = next((one for one in rig.plan.zones if one.at and text == one.name), None)
    if zone is not None and not same:
        return zone.name, [np.array(zone.at)], None
    if len(same) != 1 or same[0] == carrier.tray.id:
        expected = coded("common.either_of", names=known)
        return params.invalid_param(order, label[0], expected, text, coded("robot.use_label"), code="UNKNOWN_OBJECT")
    thing = rig.things[same[0]]
    at = rig.position(thing.id)[:2] if thing.id in rig.body else np.array(thing.position[:2])
    if thing.shape == "region":
        return thing.id, [at], None
    half = (rig.half(thing.id) if thing.id in rig.body else np.array(thing.size) / 2)[:2]
    box = footprint_of((*(at - half), *(at + half)))
    return thing.id, sorted(_beside(at, half), key=lambda spot: float(np.linalg.norm(spot - here))), box


def _far(here: Array, spot: Array, base: Array) -> tuple[int, float]:
    """Ranks a place at an arm: how comfortable its reach, then how near it is."""
    off = float(np.linalg.norm(spot - base))
    return min(range(len(REACHES)), key=lambda k: abs(REACHES[k] - off)), float(np.linalg.norm(spot - here))


def _beside_arm(base: Array, ahead: float) -> Iterator[Array]:
    for reach in REACHES:
        for k in range(DIRECTIONS):
            angle = -math.pi + 2 * math.pi * k / DIRECTIONS
            if abs(angle) <= BEHIND:
                yield base + reach * np.array([math.cos(ahead + angle), math.sin(ahead + angle)])


def _beside(at: Array, half: Array) -> Iterator[Array]:
    """Places along the four sides of a rectangle, a hand's breadth away."""
    away = half + HALF + ROOM + 0.01
    for part in (0.0, -0.5, 0.5, -0.9, 0.9):
        for sign in (1.0, -1.0):
            yield at + np.array([sign * away[0], part * half[1]])
            yield at + np.array([part * half[0], sign * away[1]])


def drive(carrier: Carrier, order: Order, evidence: DriveEvidence) -> Outcome:
    """Drives, and measures: it stands where it was to stand, and its tray carries all that it carried."""
    planned = plan_in_turn(carrier, lambda: plan(carrier, order, minding=True), partial(_space, carrier))
    if isinstance(planned, Finding):
        return plan_failure(planned, evidence.close())
    evidence.cargo = carrier.cargo()  # what was put there while it waited comes along
    carrier.reserved.handle(carrier.robot_id, evidence.cargo)
    carrier.drive(planned.route)
    evidence.distance = float(np.linalg.norm(carrier.view.position()[:2] - planned.goal))
    evidence.more |= {"goal": rounded(planned.goal), "way_m": round(_length(planned.route), 3)}
    lost = [id for id in evidence.cargo if id not in carrier.cargo()]
    if evidence.distance > ARRIVED or not carrier.mover.still:
        found = coded(
            "robot.carrier_short", label=planned.label, mm=evidence.distance * 1000, speed=carrier.mover.speed
        )
        return Outcome.failure(Cause.ERROR, "NOT_AT_GOAL", found, evidence=evidence.close())
    if lost:
        found = coded("robot.cargo_lost", ids=lost)
        return Outcome.failure(Cause.ERROR, "CARGO_LOST", found, evidence=evidence.close())
    text = coded("robot.carrier_there", label=planned.label, mm=evidence.distance * 1000, n=len(evidence.cargo))
    return Outcome.success(text, **evidence.close())


def _length(route: Sequence[Array]) -> float:
    return float(sum(np.linalg.norm(b - a) for a, b in pairwise(route)))


def _space(carrier: Carrier, planned: DrivePlan) -> SweptSpace:
    return SweptSpace(boxes=swept_boxes(carrier, planned.route))


class DriveEvidence:
    """Opened before the carrier moves, closed when it stands."""

    def __init__(self, carrier: Carrier) -> None:
        self.carrier, self.cargo = carrier, carrier.cargo()
        self._poses, self._time = object_poses(carrier.rig), float(carrier.simulation.data.time)
        self._steps, self._before = carrier.mover.steps, rounded(carrier.view.position())
        self.distance: float | None = None
        self.more: Json = {}

    def also_moved(self) -> list[displacements.Displacement]:
        """What was moved beside its cargo, and beside what other robots handled."""
        carrier = self.carrier
        theirs = carrier.reserved.handled_by_others(carrier.robot_id, self._time)
        meant = {*self.cargo, *carrier.cargo(), *theirs}
        return displacements.displacements(self._poses, object_poses(carrier.rig), meant)

    def close(self) -> Json:
        """The evidence: positions in m, times in s."""
        carrier = self.carrier
        steps = carrier.mover.steps - self._steps
        out: Json = {
            "evidence_class": "sim",
            "engine": "mujoco",
            "source": TRUTH,
            "before": {"position": self._before, "cargo": self.cargo},
            "after": {"position": rounded(carrier.view.position()), "cargo": carrier.cargo()},
            "speed": carrier.mover.speed,
            "steps": steps,
            "sim_seconds": round(steps * TIMESTEP, 3),
        }
        if self.distance is not None:
            out["distance_to_goal"] = round(self.distance, 4)
        return {**out, **self.more}
