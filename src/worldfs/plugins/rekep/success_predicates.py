"""Success predicates: measured on the world after the program, each with its value and its limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from worldfs.base.model import Json
from worldfs.robots import orientation
from worldfs.robots.rotations import matrix

from . import placement_space
from .end_effector import EndEffector, ObjectMeasurement, SceneSnapshot
from .keypoints import of_thing
from .program_library import ProgramGoal

NEAR = 0.03  # m of a goal, as the body's own place counts
STILL = 0.02  # m/s
RISEN = 0.08  # m
CARRIES = 0.95  # share of its weight
TILTED = 95.0  # degrees from upright


@dataclass(slots=True)
class PourMeasurement:
    """The measurement of a pouring, taken while it goes on; angles in degrees from upright."""

    tilt: float = 0.0  # the most, while the spout was over the target
    seconds: float = 0.0  # tilted by `TILTED` over the target
    spilt: float = 0.0  # the most, while it was not over the target
    _last: float = 0.0

    def update(self, goal: ProgramGoal, state: SceneSnapshot, now: float) -> None:
        """One observation, at `now` (s of the world's time)."""
        passed, self._last = now - self._last, now
        thing, target = state.things.get(goal.thing), state.things.get(goal.place)
        if goal.task != "pour" or thing is None or target is None:
            return
        top = next(point for point in of_thing(replace(thing, orientation=goal.turn or thing.orientation))
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
    value: object
    limit: str
    ok: bool

    def to_json(self) -> Json:
        value = round(self.value, 4) if isinstance(self.value, float) else self.value
        return {"name": self.name, "value": value, "limit": self.limit, "ok": self.ok}


def evaluate(goal: ProgramGoal, effector: EndEffector, pouring: PourMeasurement) -> list[SuccessPredicate]:
    """All that must be true of a task of the library; every predicate, also those that hold."""
    return _JUDGES[goal.task](goal, effector, pouring)


def _holding(goal: ProgramGoal, effector: EndEffector) -> SuccessPredicate:
    held = effector.now().held
    return SuccessPredicate("held", held, f"{goal.thing} between both fingers", held == goal.thing)


def _picked(goal: ProgramGoal, effector: EndEffector, pouring: PourMeasurement) -> list[SuccessPredicate]:
    del pouring
    risen = float(effector.measure(goal.thing).position[2]) - goal.start[2]
    found = [_holding(goal, effector), SuccessPredicate("risen_m", risen, f"at least {RISEN}", risen >= RISEN)]
    return found + carried(goal.thing, "robot", effector)


def carried(thing: str, place: str, effector: EndEffector) -> list[SuccessPredicate]:
    """What carries its weight; no predicate where that cannot be measured."""
    part = effector.share(thing, place)
    if part is None:
        return []
    return [SuccessPredicate("carried", part, f"at least {CARRIES} of its weight by {place}", part >= CARRIES)]


def _upright(goal: ProgramGoal, now: ObjectMeasurement, effector: EndEffector) -> list[SuccessPredicate]:
    """The way up that it was before; nothing for a ball."""
    thing = effector.now().things[goal.thing]
    axis = orientation.axis(thing.shape, matrix(goal.turn)) if goal.turn else -1
    if axis < 0 or len(thing.size) != 3:
        return []
    leans = math.degrees(orientation.lean(thing.shape, thing.size, now.rotation, axis))
    return [SuccessPredicate("leans_deg", leans, "at most 10", leans <= math.degrees(orientation.FLAT))]


def resting(thing: str, effector: EndEffector) -> list[SuccessPredicate]:
    """Let go of, and still."""
    now = effector.measure(thing)
    if not now.observed:
        return [SuccessPredicate("seen", None, f"an observation of {thing}'s position", False)]
    found = [SuccessPredicate("speed_m_s", now.speed, f"at most {STILL}", now.speed <= STILL)]
    if now.touching is None:
        held = effector.now().held
        return [*found, SuccessPredicate("let_go", held is None, "an empty gripper", held is None)]
    return [*found, SuccessPredicate("touches_robot", "robot" in now.touching, "not", "robot" not in now.touching)]


def _placed(goal: ProgramGoal, effector: EndEffector, pouring: PourMeasurement) -> list[SuccessPredicate]:
    del pouring
    found = resting(goal.thing, effector)
    now = effector.measure(goal.thing)
    at = now.position
    basket = effector.now().things.get(goal.place) if not goal.at else None
    if basket is not None:
        low, high = placement_space.basket_interior(basket)
        inside = bool(np.all(at >= low - 0.01) and np.all(at[:2] <= high[:2]) and at[2] <= high[2] + NEAR)
        found.append(SuccessPredicate("inside", inside, f"its centre within {goal.place}", inside))
        return found + carried(goal.thing, goal.place, effector)
    distance = float(np.linalg.norm(at - np.array(goal.at)))
    found.append(SuccessPredicate("distance_to_goal", distance, f"at most {NEAR}", distance <= NEAR))
    return found + carried(goal.thing, goal.on, effector) + _upright(goal, now, effector)


def _stacked(goal: ProgramGoal, effector: EndEffector, pouring: PourMeasurement) -> list[SuccessPredicate]:
    del pouring
    found = resting(goal.thing, effector)
    now, base = effector.measure(goal.thing), effector.now().things[goal.place]
    above = float(now.position[2] - base.position[2])
    off = float(np.hypot(*(now.position[:2] - np.array(base.position[:2]))))
    high = float(placement_space.extents(base)[2])
    found.append(SuccessPredicate("above_m", above, f"at least {high:.3f}", above >= high))
    found.append(SuccessPredicate("off_centre_m", off, f"at most {NEAR}", off <= NEAR))
    return found + carried(goal.thing, goal.place, effector) + _upright(goal, now, effector)


def _poured(goal: ProgramGoal, effector: EndEffector, pouring: PourMeasurement) -> list[SuccessPredicate]:
    """The motion of pouring; the content is not simulated, and no claim is made about it."""
    return [
        _holding(goal, effector),
        *carried(goal.thing, "robot", effector),
        SuccessPredicate("tilt_over_target_deg", pouring.tilt, f"at least {TILTED:.0f}", pouring.tilt >= TILTED),
        SuccessPredicate("tilted_s", pouring.seconds, "at least 0.8", pouring.seconds >= 0.8),
        SuccessPredicate("tilt_elsewhere_deg", pouring.spilt, "at most 65", pouring.spilt <= 65.0),
    ]


_JUDGES: Final[Mapping[str, Callable[[ProgramGoal, EndEffector, PourMeasurement], list[SuccessPredicate]]]] = {
    "pick": _picked, "place": _placed, "stack": _stacked, "pour": _poured,
}  # fmt: skip
