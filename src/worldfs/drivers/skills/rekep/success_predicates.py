"""What counts as done: predicates of the world as it is afterwards, each with its value and its limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from worldfs.drivers import orientation
from worldfs.ground.model import Json

from . import placement_space
from .end_effector import EndEffector, ObjectMeasurement, SceneSnapshot
from .keypoints import of_thing
from .program_library import ProgramGoal
from .rotations import matrix

NEAR = 0.03  # m of a goal, as the body's own place counts
STILL = 0.02  # m/s
RISEN = 0.08  # m
CARRIES = 0.95  # share of its weight
TILTED = 95.0  # degrees from upright


@dataclass(slots=True)
class PourMeasurement:
    """What was measured of a pouring while it went on; angles in degrees from upright."""

    tilt: float = 0.0  # the most, while the spout was over the target
    seconds: float = 0.0  # tilted by `TILTED` over the target
    spilt: float = 0.0  # the most, while it was not over the target
    _last: float = 0.0

    def look(self, wish: ProgramGoal, state: SceneSnapshot, now: float) -> None:
        """One look, at `now` (s of the world's time)."""
        passed, self._last = now - self._last, now
        thing, target = state.things.get(wish.thing), state.things.get(wish.place)
        if wish.task != "pour" or thing is None or target is None:
            return
        top = next(point for point in of_thing(replace(thing, orientation=wish.turn or thing.orientation))
                   if point.label == "top")  # fmt: skip
        pose = state.poses[thing.id]
        axis = pose.rotation @ np.array(top.local)
        tilt = math.degrees(math.acos(max(-1.0, min(1.0, float(axis[2] / np.linalg.norm(axis))))))
        spout = pose.position + axis
        away = np.abs(spout[:2] - np.array(target.position[:2]))
        if np.all(away <= placement_space.extents(target)[:2] + 0.02):
            self.tilt = max(self.tilt, tilt)
            self.seconds += passed if tilt >= TILTED else 0.0
        else:
            self.spilt = max(self.spilt, tilt)


@dataclass(frozen=True, slots=True)
class SuccessPredicate:
    name: str
    value: Any
    limit: str
    ok: bool

    def told(self) -> Json:
        value = round(self.value, 4) if isinstance(self.value, float) else self.value
        return {"name": self.name, "value": value, "limit": self.limit, "ok": self.ok}


def evaluate(wish: ProgramGoal, hand: EndEffector, seen: PourMeasurement) -> list[SuccessPredicate]:
    """All that must be true of a task of the library; every predicate, also those that hold."""
    return _JUDGES[wish.task](wish, hand, seen)


def _holding(wish: ProgramGoal, hand: EndEffector) -> SuccessPredicate:
    held = hand.now().held
    return SuccessPredicate("held", held, f"{wish.thing} between both fingers", held == wish.thing)


def _picked(wish: ProgramGoal, hand: EndEffector, seen: PourMeasurement) -> list[SuccessPredicate]:
    del seen
    risen = float(hand.measure(wish.thing).position[2]) - wish.start[2]
    found = [_holding(wish, hand), SuccessPredicate("risen_m", risen, f"at least {RISEN}", risen >= RISEN)]
    return found + carried(wish.thing, "robot", hand)


def carried(thing: str, place: str, hand: EndEffector) -> list[SuccessPredicate]:
    """Whose weight it is; nothing where nobody can tell."""
    part = hand.share(thing, place)
    if part is None:
        return []
    return [SuccessPredicate("carried", part, f"at least {CARRIES} of its weight by {place}", part >= CARRIES)]


def _upright(wish: ProgramGoal, now: ObjectMeasurement, hand: EndEffector) -> list[SuccessPredicate]:
    """The way up that it was before; nothing for a ball."""
    thing = hand.now().things[wish.thing]
    axis = orientation.axis(thing.shape, matrix(wish.turn)) if wish.turn else -1
    if axis < 0 or len(thing.size) != 3:
        return []
    leans = math.degrees(orientation.lean(thing.shape, thing.size, now.rotation, axis))
    return [SuccessPredicate("leans_deg", leans, "at most 10", leans <= math.degrees(orientation.FLAT))]


def resting(thing: str, hand: EndEffector) -> list[SuccessPredicate]:
    """Let go of, and still."""
    now = hand.measure(thing)
    if not now.seen:
        return [SuccessPredicate("seen", None, f"somebody who sees where {thing} is", False)]
    found = [SuccessPredicate("speed_m_s", now.speed, f"at most {STILL}", now.speed <= STILL)]
    if now.touching is None:
        held = hand.now().held
        return [*found, SuccessPredicate("let_go", held is None, "an empty gripper", held is None)]
    return [*found, SuccessPredicate("touches_robot", "robot" in now.touching, "not", "robot" not in now.touching)]


def _placed(wish: ProgramGoal, hand: EndEffector, seen: PourMeasurement) -> list[SuccessPredicate]:
    del seen
    found = resting(wish.thing, hand)
    now = hand.measure(wish.thing)
    at = now.position
    basket = hand.now().things.get(wish.place) if not wish.at else None
    if basket is not None:
        low, high = placement_space.basket_interior(basket)
        inside = bool(np.all(at >= low - 0.01) and np.all(at[:2] <= high[:2]) and at[2] <= high[2] + NEAR)
        found.append(SuccessPredicate("inside", inside, f"its centre within {wish.place}", inside))
        return found + carried(wish.thing, wish.place, hand)
    distance = float(np.linalg.norm(at - np.array(wish.at)))
    found.append(SuccessPredicate("distance_to_goal", distance, f"at most {NEAR}", distance <= NEAR))
    return found + carried(wish.thing, wish.on, hand) + _upright(wish, now, hand)


def _stacked(wish: ProgramGoal, hand: EndEffector, seen: PourMeasurement) -> list[SuccessPredicate]:
    del seen
    found = resting(wish.thing, hand)
    now, base = hand.measure(wish.thing), hand.now().things[wish.place]
    above = float(now.position[2] - base.position[2])
    off = float(np.hypot(*(now.position[:2] - np.array(base.position[:2]))))
    high = float(placement_space.extents(base)[2])
    found.append(SuccessPredicate("above_m", above, f"at least {high:.3f}", above >= high))
    found.append(SuccessPredicate("off_centre_m", off, f"at most {NEAR}", off <= NEAR))
    return found + carried(wish.thing, wish.place, hand) + _upright(wish, now, hand)


def _poured(wish: ProgramGoal, hand: EndEffector, seen: PourMeasurement) -> list[SuccessPredicate]:
    """The motion of pouring; what is in a thing is not simulated, and nothing is said of it."""
    return [
        _holding(wish, hand),
        *carried(wish.thing, "robot", hand),
        SuccessPredicate("tilt_over_target_deg", seen.tilt, f"at least {TILTED:.0f}", seen.tilt >= TILTED),
        SuccessPredicate("tilted_s", seen.seconds, "at least 0.8", seen.seconds >= 0.8),
        SuccessPredicate("tilt_elsewhere_deg", seen.spilt, "at most 65", seen.spilt <= 65.0),
    ]


_JUDGES: Final[Mapping[str, Callable[[ProgramGoal, EndEffector, PourMeasurement], list[SuccessPredicate]]]] = {
    "pick": _picked, "place": _placed, "stack": _stacked, "pour": _poured,
}  # fmt: skip
