"""Why a step failed, for a person: one short clause, separate from the code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from worldfs.base.json_values import as_list
from worldfs.base.messages import CodedText, coded, parts
from worldfs.base.model import Finding, Lesson, Outcome, Scene
from worldfs.formats import lesson_terms

from . import thing_names
from .scene_facts import immovable_ids

# (code, last part of the field) → what it comes to, and whether the expectation says more; the first that fits
_SHORT = (
    ("PROFILE_LIMIT", "Max Reach", "planner.short_reach", True),  # a body's own says why no joints reach it
    ("", "Max Payload", "planner.short_payload", True),
    ("", "Max Grip Width", "planner.short_wide", True),
    ("", "Workspace Bounds", "planner.short_bounds", True),
    ("UNKNOWN_OBJECT", "", "planner.short_unknown", False),
    ("OP_NOT_IN_PROFILE", "", "planner.short_no_op", False),
    ("REQUIRED_SENSOR_MISSING", "", "planner.short_sensor", False),
    ("CAMERA_UNAVAILABLE", "", "planner.short_camera", False),
    ("NOT_HOLDING", "", "planner.short_not_holding", False),
    ("HOLDING", "", "planner.short_holding", False),
    ("", "ACTION.md params.target_position", "planner.short_surface", False),
)
_OBSTACLE = frozenset(
    ("robot.collision_check", "robot.what_rests", "robot.no_free_way", "robot.no_free_way_home", "robot.no_free_view",
     "robot.no_constrained_way")
)  # fmt: skip
LIMIT = 110


def collides(outcome: Outcome) -> bool:
    """Whether it was refused because of a present obstacle, which may move."""
    refused = [f.field for f in outcome.findings if not f.warning] or [outcome.message]
    return any(part.code in _OBSTACLE for text in refused for part in parts(text))


def obstructing_ids(outcome: Outcome, scene: Scene) -> tuple[str, ...]:
    """Ids of things that a refusal names as touched by the robot."""
    said = [part for text in (outcome.message, *(f.found for f in outcome.findings)) for part in parts(text)]
    named = [
        id for part in said if part.code == "robot.contact" for id in map(str, (part.args["one"], part.args["other"]))
    ]
    return tuple(dict.fromkeys(id for id in named if scene.thing(id) is not None))


def _hits_itself(outcome: Outcome) -> bool:
    """Whether the robot would touch itself: the thing is too near to its base."""
    said = [part for text in (outcome.message, *(f.found for f in outcome.findings)) for part in parts(text)]
    ends = [(part.args["one"], part.args["other"]) for part in said if part.code == "robot.contact"]
    return any(isinstance(end, CodedText) and end.code == "robot.body" and end == other for end, other in ends)


def riders(outcome: Outcome) -> tuple[str, ...]:
    """Ids of things that a refusal says lie on the one that it is about."""
    said = [part for text in (outcome.message, *(f.found for f in outcome.findings)) for part in parts(text)]
    named = [str(id) for part in said if part.code == "robot.carries" for id in as_list(part.args["others"])]
    return tuple(dict.fromkeys(named))  # the message and the finding say it


def robots_in_the_way(outcome: Outcome) -> tuple[str, ...]:
    """Robots that a refusal says stand in the way, and nothing else does."""
    said = [part for text in (outcome.message, *(f.found for f in outcome.findings)) for part in parts(text)]
    named = [str(id) for part in said if part.code == "robot.way_blocked_by" for id in as_list(part.args["robots"])]
    return tuple(dict.fromkeys(named))


def short_reason(outcome: Outcome, scene: Scene, about: str = "") -> str:
    """One clause; "" without any. `about`: the thing handled. To be clipped when it is rendered."""
    if carried := riders(outcome):
        return coded("planner.carries", names=_all(carried, scene))
    if robots := robots_in_the_way(outcome):
        return coded("robot.way_blocked_by", robots=list(robots))
    if collides(outcome):
        hit = [id for id in obstructing_ids(outcome, scene) if id != about]
        if not hit and _hits_itself(outcome):
            return coded("planner.hits_itself")
        return coded("planner.would_hit", names=_all(hit, scene)) if hit else coded("planner.no_way")
    refused = [f for f in outcome.findings if not f.warning]
    if refused:
        return finding_reason(refused[0])
    return outcome.message or outcome.code


def code(outcome: Outcome) -> str:
    refused = [f.code for f in outcome.findings if not f.warning]
    return outcome.code or (refused[0] if refused else "")


def note_reason(note: Lesson) -> str:
    """A lesson's first clause."""
    return clip(lesson_terms.first_clause(note))


def clip(text: str, limit: int = LIMIT) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rsplit(" ", 1)[0] + "…"


def finding_reason(found: Finding) -> str:
    """A refusal in one clause. To be clipped when it is rendered."""
    if found.field == "EMBODIED.md":  # the robot has no profile at all: the shortest fix that helps
        return coded("planner.why_fix", why=found.found, fix=found.fix)
    part = found.field.rpartition(" / ")[2]
    if part == "Min Grip Width":  # it says itself how small
        return coded("planner.why_detail", why=found.found, detail=found.expected)
    for code, last, short, more in _SHORT:
        if code in ("", found.code) and last in ("", part):
            detailed = more and found.expected and len(found.expected) < 60
            return coded("planner.why_detail", why=coded(short), detail=found.expected) if detailed else coded(short)
    return found.found


def _all(ids: Sequence[str], scene: Scene) -> str:
    return reduce(lambda one, two: coded("planner.and", one=one, two=two), [_the(id, scene) for id in ids])


def _the(id: str, scene: Scene) -> str:
    return thing_names.the(thing_names.named(id, scene))


def movable_among(ids: Sequence[str], scene: Scene) -> tuple[str, ...]:
    still = immovable_ids(scene)
    return tuple(id for id in ids if id not in still)
