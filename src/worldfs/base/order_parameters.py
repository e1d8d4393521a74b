"""The names of an order's parameters: which of them a critic and a driver read, and which none of the two does.

Of names that mean the same the first that is given counts: what is judged is what is moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from .model import Json, Operation, Parameter, Profile
from .restricting_fields import unread
from .standard_operations import (
    EXECUTE_TEXT,
    FIXTURED,
    HAND_OVER,
    HANDLED,
    LOOK,
    MOVE,
    PLACE,
    PLACE_BESIDE,
    POUR,
    STANDARD,
    TAKE_OVER,
    WIPE,
    meaning,
)

OBJECT: Final = ("object_id", "object", "target_object", "target", "target_id", "id")
LABEL: Final = ("target_label", "label", "target", "object_id", "target_id", "location")
POINT: Final = ("target_pose", "target_position", "position", "pose")
SUPPORT: Final = (
    *("location", "target_location", "container_id", "container", "support_id", "support", "on", "into", "in"),
    *("target_id", "target"),
)
GOAL: Final = ("target_position", "target_pose", "position", *SUPPORT)
AXES: Final = ("x", "y", "z")
TURNS: Final = ("roll", "pitch", "yaw")
SCRIPT: Final = ("name", "strategy", "strategy_name", "script")
TEXT: Final = ("nl_task", "task", "instruction", "text")
REMARKS: Final = ("comment", "note", "notes", "reason")  # for people: no program reads them
_ANY: Final = frozenset(("robot_id", *REMARKS))  # q1 names the node among the parameters (workspace D14)
_ONTO: Final = frozenset((PLACE_BESIDE.name, POUR.name, WIPE.name))
_ONE: Final = HANDLED | FIXTURED | {TAKE_OVER.name, HAND_OVER.name}


def declared_parameters(op: Operation) -> tuple[Parameter, ...]:
    """The parameters of a row, or those of the specification when the row prints none."""
    return op.parameters or STANDARD.get(op.name, op).parameters


def given_parameter(params: Json, names: tuple[str, ...]) -> tuple[str, object]:
    """The first of `names` that is given, and its value; ("", None) without one."""
    return next(((name, params[name]) for name in names if params.get(name) is not None), ("", None))


def goal_names(op: Operation, params: Json) -> tuple[str, ...]:
    """What may say where to place: with a `location` (q1), `target` is the thing, not the place."""
    listed = {p.name for p in op.parameters}
    if "location" in listed or ("location" in params and "target" in params):
        return tuple(name for name in GOAL if name not in ("target", "target_id"))
    return GOAL


def thing_names(op: Operation, params: Json) -> tuple[str, ...]:
    """What may say which held thing is put down."""
    goal = goal_names(op, params)
    return tuple(name for name in OBJECT if name not in goal)


def unread_parameters(op: Operation, params: Json) -> list[str]:
    """What is given and not read: no name of its row, nor one more for what these mean. Where no row says, all but what
    only tells of the order."""
    listed = {*_listed(op)}
    meanings, read = tuple(_meanings(op, params)), listed | _ANY
    for names in meanings:
        given = [name for name in names if params.get(name) is not None]
        counts = next((name for name in given if name in listed), given[0] if given else "")
        read |= {name for name in given if params[name] == params[counts]}
    if not listed and not meanings:
        return list(unread(params, _ANY))
    return [name for name, value in params.items() if value is not None and name not in read]


def profile_with_declared(profile: Profile, declared: Operation | None) -> Profile:
    """The profile, its row of that operation with what the driver declares to read beside what the row lists."""
    row = profile.op(declared.name) if declared is not None else None
    if declared is None or row is None or (not row.parameters and meaning(row.name) is not None):
        return profile
    listed = {parameter.name for parameter in row.parameters}
    more = tuple(replace(one, optional=True) for one in declared.parameters if one.name not in listed)
    if not more:
        return profile
    whole = replace(row, parameters=(*row.parameters, *more))
    return replace(profile, ops=tuple(whole if op is row else op for op in profile.ops))


def usual_names(op: Operation) -> list[str]:
    """The names that its row lists; else one for each thing that it takes."""
    return _listed(op) or [names[0] for names in _meanings(op, {})]


def _listed(op: Operation) -> list[str]:
    return [parameter.name for parameter in op.parameters or (meaning(op.name) or op).parameters]


def _meanings(op: Operation, params: Json) -> Iterator[tuple[str, ...]]:
    if op.name in PLACE:
        goal = goal_names(op, params)
        yield tuple(name for name in goal if name in POINT)
        yield tuple(name for name in goal if name in SUPPORT)  # beside a point: what that is in or on
        yield thing_names(op, params)
    elif op.name in _ONTO:
        yield SUPPORT
        yield OBJECT[:3]
    elif op.name in _ONE:
        yield OBJECT
    elif op.name in MOVE:
        yield POINT
    elif op.name in LOOK:
        yield LABEL
    elif op.name == EXECUTE_TEXT.name:
        yield TEXT
    elif op.name == "strategy":
        yield from (SCRIPT, POINT, SUPPORT, OBJECT[:3], ("steps",))
    if op.name in PLACE | MOVE and not given_parameter(params, GOAL)[0]:
        yield from ((name,) for name in (*AXES, *TURNS))
