"""A session's task for the library: which object, where to; read from its parameters as people write them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.json_values import as_list
from worldfs.base.messages import coded
from worldfs.base.model import Json, Thing
from worldfs.robots.rotations import Array

from . import placement_space
from .keypoints import half_height

OBJECT: Final = ("object_id", "object", "target_object", "thing", "source", "source_id")
PLACE: Final = ("target_id", "location", "container", "destination", "place", "on", "into", "target")
POINT: Final = ("target_position", "position", "goal_position", "target_pose")

HANDLED: Final = ("sphere", "box", "cylinder")


@dataclass(frozen=True, slots=True)
class TaskParams:
    """The input of a program: the session, the objects as they are, the held one, the robot's base (m)."""

    job: str
    params: Json
    things: Mapping[str, Thing]
    held: str | None
    base: Array


def thing_of(task_params: TaskParams, *, lifts: bool = False) -> Thing:
    """What the parameters name; what is held, where they name nothing and it is to be put somewhere."""
    word = _word(task_params.params, OBJECT)
    if not word and task_params.held and not lifts:
        word = task_params.held
    if not word:
        raise missing_param(task_params, "object_id", "the id of a thing")
    thing = _find(task_params, word)
    if thing is None or (thing.shape not in HANDLED) or len(thing.size) != 3:
        raise _unknown(
            task_params, word, "object_id", (t.id for t in task_params.things.values() if t.shape in HANDLED)
        )
    if task_params.held not in (None, thing.id):
        raise BadInput(
            coded("robot.holds", id=task_params.held),
            path="ENVIRONMENT.md robots[].holding",
            expected=coded("plugin.rekep_empty_or", id=thing.id),
            fix=coded("robot.place_first", id=task_params.held),
            code="HOLDING",
        )
    return thing


def target_of(task_params: TaskParams, thing: Thing) -> str:
    word = _word(task_params.params, PLACE)
    if not word or (word == thing.id and point_of(task_params) is not None):
        return ""
    found = _find(task_params, word)
    if found is None or found.id == thing.id:
        raise _unknown(task_params, word, "target_id", (id for id in task_params.things if id != thing.id))
    return found.id


def _unknown(task_params: TaskParams, word: str, param: str, known: Iterable[str]) -> BadInput:
    return BadInput(
        word,
        path=f"SESSIONS.md {task_params.job} execution.params.{param}",
        expected=coded("common.either_of", names=", ".join(known) or "nothing"),
        fix=coded("plugin.rekep_name_thing"),
        code="UNKNOWN_OBJECT",
    )


def _find(task_params: TaskParams, word: str) -> Thing | None:
    """By id, else by whole name."""
    if word in task_params.things:
        return task_params.things[word]
    same = [thing for thing in task_params.things.values() if thing.name.lower() == word.lower()]
    return same[0] if len(same) == 1 else None


def _word(params: Json, keys: Sequence[str]) -> str:
    return next((value.strip() for key in keys if isinstance(value := params.get(key), str) and value.strip()), "")


def point_of(task_params: TaskParams) -> Array | None:
    for key in POINT:
        value: object = task_params.params.get(key)
        if isinstance(value, Mapping):
            value = [value.get(axis) for axis in "xyz"]
        if value is None or isinstance(value, str):
            continue
        numbers = [
            float(v) for v in as_list(value)[:3]
            if isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) and abs(v) < 100
        ]  # fmt: skip
        if len(numbers) < 3:
            field = f"SESSIONS.md {task_params.job} execution.params.{key}"
            raise BadInput(
                repr(value)[:80], path=field, expected=coded("plugin.rekep_point"), fix=coded("robot.give_three")
            )
        return np.array(numbers)
    return None


def support_of(task_params: TaskParams, thing: Thing, at: Array) -> tuple[Thing | None, float]:
    """The support beneath a named point, and where the object's centre comes to rest on it (m)."""
    half = half_height(thing)
    ranked = [
        (max(0.0, top - at[2], at[2] - (top + 2 * half)), -top, id)
        for top, id in placement_space.surfaces_below(task_params.things, float(at[0]), float(at[1]), thing.id)
    ]
    if not ranked or min(ranked)[0] > 0.15:
        field = f"SESSIONS.md {task_params.job} execution.params.target_position"
        near = f"the nearest surface there is at z = {-min(ranked)[1]:.3f} m" if ranked else "nothing is beneath it"
        raise BadInput(f"{[round(float(v), 3) for v in at]}: {near}", path=field, fix=coded("plugin.rekep_on_table"),
                       expected=coded("robot.surface"), code="CRITIC_REFUSED")  # fmt: skip
    _, lowered, id = min(ranked)
    return task_params.things[id], -lowered + half


def missing_param(task_params: TaskParams, what: str, meaning: str) -> BadInput:
    found = ", ".join(sorted(task_params.params)) or "nothing"
    field = f"SESSIONS.md {task_params.job} execution.params"
    return BadInput(found, path=field, expected=f"{what}: {meaning}", fix=coded("plugin.rekep_give", name=what))
