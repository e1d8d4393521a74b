"""Bids: what a mission would cost each robot in seconds, or why a robot cannot do it. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from worldfs.base.messages import coded
from worldfs.base.model import Json, Profile, Vec
from worldfs.base.standard_operations import NAVIGATE, PICK
from worldfs.formats import sensors

from .reservations import Reservation

STEP_S: Final = 10.0  # an operation of unknown duration
SPEED_M_S: Final = 0.5  # of a mobile robot that says nothing else
LOAD_S: Final = 30.0  # an order that waits at the robot already
BATTERY_LOW: Final = 0.2  # below: no new mission
BATTERY_S: Final = 60.0  # what a battery that is half empty costs, for balance
MARGIN_M: Final = 0.05  # beyond the printed reach, a robot may still be able: the critic decides

# What people call an ability → the operations of which a robot needs all those of one group.
ABILITIES: dict[str, tuple[frozenset[str], ...]] = {
    **dict.fromkeys(
        ("manipulation", "manipulate", "arm", "grasp", "grasping", "pick", "操作", "抓取", "机械臂", "搬运"),
        (frozenset(("pick_up", "place")), frozenset(("pick_up", "put_down")), frozenset(("real_execute",))),
    ),
    **dict.fromkeys(
        ("mobile", "mobility", "navigation", "navigate", "drive", "walk", "移动", "导航", "行走"),
        (frozenset(("target_navigation", "mobile base")),),
    ),
}
_TRAYS = ("tray", "托盘")
_TRAVELS = ("mobile", "quadruped", "wheeled", "carrier", "go2", "移动", "四足", "轮式")


class RobotOffer(NamedTuple):
    """What is known of a robot when it bids. Positions in metres, in the world frame."""

    id: str
    profile: Profile | None = None  # None: no bid
    position: Vec | None = None
    mobile: bool = False
    load: int = 0  # orders that wait at it
    battery: float | None = None  # 0 to 1; None: it does not say
    unable: str = ""  # why it takes no mission now: stopped, disabled, not heard of, at work
    state: str = "idle"  # as dashboards have it: idle | busy | stopped | disabled | offline | unreachable
    served: bool = True  # by this process, or by another one that holds its lease
    heard: datetime | None = None  # when that lease was renewed last; None: never, or it is this process's
    stands: tuple[Reservation, ...] = ()  # what it is in: the floor that it stands on, the lanes, what it holds
    cut_off: bool = False  # its own workspace does not answer, as `unable` says
    may_move: bool = False  # it was to stand, and has not confirmed it, as `unable` says


class MissionNeeds(NamedTuple):
    """What a mission asks of a robot. `places`: where its things are, in the order of the mission."""

    ops: frozenset[str] = frozenset()
    abilities: tuple[str, ...] = ()
    places: tuple[Vec, ...] = ()
    mass: float = 0.0  # of the heaviest thing to lift, kg
    steps: int = 1
    robot: str = ""  # the only one that may
    own: bool = False  # its robot has reached what is about itself, as where it stands: another one would do it again
    met: bool = False  # all that it asks for was reached
    named: frozenset[str] = frozenset()  # robots that it is about, and that cannot be sent to themselves
    waits: str = ""  # why none of the robots that are here can have it now


class Bid(NamedTuple):
    """`cost` in seconds; `refusal`: why the robot cannot, then the cost is infinite."""

    robot: str
    cost: float
    refusal: str = ""

    def as_json(self) -> Json:
        return {"robot": self.robot, **({"why": self.refusal} if self.refusal else {"cost_s": round(self.cost, 1)})}


def bid(needs: MissionNeeds, robot: RobotOffer) -> Bid:
    """The robot's cost: its way, the work, what waits at it, and its battery."""
    refusal = _refusal(needs, robot)
    if refusal:
        return Bid(robot.id, math.inf, refusal)
    way = path_length(robot.position, needs.places) / SPEED_M_S
    battery = 0.0 if robot.battery is None else (1.0 - robot.battery) * BATTERY_S * 2
    return Bid(robot.id, way + STEP_S * needs.steps + LOAD_S * robot.load + battery)


def ranked(needs: MissionNeeds, robots: Iterable[RobotOffer]) -> list[Bid]:
    """Every robot's bid, the best first; of equal ones the smaller id."""
    return sorted((bid(needs, robot) for robot in robots), key=lambda item: (item.cost, item.robot))


def path_length(start: Vec | None, places: Sequence[Vec]) -> float:
    """Metres from place to place in the plane; an unknown position counts nothing."""
    found, at = 0.0, start
    for place in places:
        if at is not None:
            found += math.dist(at[:2], place[:2])
        at = place
    return found


def _refusal(needs: MissionNeeds, robot: RobotOffer) -> str:
    if needs.waits:
        return needs.waits
    if needs.robot and needs.robot != robot.id:
        return coded("mission.for_other", robot=needs.robot)
    if robot.id in needs.named:
        return coded("mission.is_named", robot=robot.id)
    if robot.unable:
        return robot.unable
    profile = robot.profile
    if profile is None:
        return coded("mission.no_profile")
    if robot.battery is not None and robot.battery < BATTERY_LOW:
        return coded("mission.battery", percent=round(100 * robot.battery))
    missing = sorted(op for op in needs.ops if profile.op(op) is None)
    if missing:
        return coded("mission.no_operation", ops=missing)
    unmet = [word for word in needs.abilities if not has_ability(robot, word)]
    if unmet:
        return coded("mission.no_ability", words=unmet)
    if profile.max_payload is not None and needs.mass > profile.max_payload:
        return coded("mission.too_heavy", mass=needs.mass, limit=profile.max_payload)
    if profile.max_reach is not None and robot.position is not None and not robot.mobile:
        far = [math.dist(robot.position[:2], place[:2]) for place in needs.places]
        if far and max(far) > profile.max_reach + MARGIN_M:
            return coded("mission.out_of_reach", far=round(max(far), 2), reach=profile.max_reach)
    return ""


def has_ability(robot: RobotOffer, word: str) -> bool:
    """Whether the robot has what people call so: an ability, an operation of its profile, or a sensor."""
    profile, plain = robot.profile, " ".join(word.casefold().split())
    if profile is None:
        return False
    ops = {op.name.casefold() for op in profile.ops} | ({"mobile base"} if robot.mobile else set())
    if plain in ABILITIES:
        return any(group <= ops for group in ABILITIES[plain])
    if plain in ops or plain.replace(" ", "_") in ops:
        return True
    return not sensors.missing_sensors((plain.replace(" ", "_"),), profile.sensors)


def carries(profile: Profile) -> bool:
    """Whether the body travels and has a tray that arms put things on, as its profile says."""
    said = " ".join((profile.type, profile.model, profile.name)).casefold()
    return is_mobile(profile) and any(word in said for word in _TRAYS)


def is_mobile(profile: Profile) -> bool:
    """Whether the body travels: its profile says so, or it navigates and neither grasps nor has a reach."""
    said = " ".join((profile.type, profile.model, profile.name)).casefold()
    if any(word in said for word in _TRAVELS):
        return True
    grasps = profile.max_reach is not None or any(op.name in PICK for op in profile.ops)
    return profile.op(NAVIGATE.name) is not None and not grasps
