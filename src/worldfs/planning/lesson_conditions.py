"""Whether the condition of a lesson is measured to hold now: its facts compared with the scene and the profile."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from worldfs.base.measured_facts import NOTHING, MeasuredFact, numbers, read_condition
from worldfs.base.model import Profile, Scene, Thing
from worldfs.formats import sensors

MOVED_M: Final = 0.01  # what is farther from where it was stands elsewhere
TURNED: Final = 0.05  # of each part of a quaternion
SAME: Final = 1e-3  # metres and kilograms of what does not move


def is_so(condition: str, scene: Scene, profile: Profile | None, node: str) -> bool:
    """Whether every fact of one of its alternatives is so. `profile`: of the robot `node`; what another robot's profile
    says is not known. An empty condition, and one that cannot be read, is not."""
    return any(all(_holds(one, scene, profile, node) for one in facts) for facts in read_condition(condition))


def _holds(fact: MeasuredFact, scene: Scene, profile: Profile | None, node: str) -> bool:
    if fact.name in _OF_PROFILE:
        return profile is not None and fact.subject == node and _OF_PROFILE[fact.name](profile, fact.value)
    if fact.name == "present":
        return (scene.thing(fact.subject) is None and not _named(fact.subject, scene)) is (fact.value == "no")
    if fact.name in ("on", "in"):
        return any((r.subject, r.relation, r.object) == (fact.subject, fact.name, fact.value) for r in scene.relations)
    robot = scene.robot(fact.subject)
    if fact.name == "holding":
        return robot is not None and (scene.held(fact.subject) or NOTHING) == fact.value
    if fact.name == "base":
        return robot is not None and _near(robot.pose[:3], fact.value, MOVED_M)
    thing = scene.thing(fact.subject)
    return thing is not None and _OF_THING[fact.name](thing, fact.value)


def _named(word: str, scene: Scene) -> bool:
    word = word.casefold()
    return any(word in (t.name.casefold(), t.category.casefold()) for t in (*scene.objects, *scene.furniture))


def _near(values: tuple[float, ...], then: str, most: float) -> bool:
    before = numbers(then)
    same = bool(before) and len(before) == len(values)
    return same and all(math.isfinite(a) and abs(a - b) <= most for a, b in zip(values, before, strict=False))


def _is(value: float | None, then: str) -> bool:
    return value is not None and _near((value,), then, SAME)


_OF_THING: Final[Mapping[str, Callable[[Thing, str], bool]]] = {
    "position": lambda thing, then: _near(thing.position[:3], then, MOVED_M),
    "orientation": lambda thing, then: any(
        _near(tuple(sign * v for v in thing.orientation), then, TURNED) for sign in (1, -1)
    ),
    "size": lambda thing, then: _near(thing.size, then, SAME),
    "mass": lambda thing, then: _is(thing.mass, then),
    "status": lambda thing, then: thing.status == then,
}
_OF_PROFILE: Final[Mapping[str, Callable[[Profile, str], bool]]] = {
    "max_reach": lambda profile, then: _is(profile.max_reach, then),
    "max_payload": lambda profile, then: _is(profile.max_payload, then),
    "max_grip_width": lambda profile, then: _is(profile.max_grip_width, then),
    "min_grip_width": lambda profile, then: _is(profile.min_grip_width, then),
    "bounds": lambda profile, then: _near(tuple(v for pair in profile.bounds for v in pair), then, SAME),
    "lacks": lambda profile, then: bool(profile.ops) and profile.op(then) is None,
    "lacks_sensor": lambda profile, then: then in sensors.missing_sensors((then,), profile.sensors),
}
