"""The reading of an order's params in the forms that people and planners write; a finding names the accepted ones."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import Finding, Json, Operation, Order
from worldfs.base.order_parameters import POINT, unread_parameters, usual_names
from worldfs.base.standard_operations import meaning

from .array_types import Array
from .rig import Rig


def refused(expected: str, found: str, fix: str, job: str) -> Finding:
    """What a well-formed order asks for cannot be done here. `expected`: a code without arguments."""
    return Finding("CRITIC_REFUSED", "ACTION.md params", coded(expected), found, fix, job)


TURNED = 0.05  # rad that a robot may stand turned from its goal


def invalid_param(
    order: Order, field: str, expected: str, found: object, fix: str, *, code: str = "SCHEMA_VALIDATION"
) -> Finding:
    text = coded("robot.nothing") if found is None else str(found)[:200]
    return Finding(code, f"ACTION.md params.{field}", expected, text, fix, order.id)


def unread(order: Order, op: Operation | None = None) -> Finding | None:
    """A parameter that nothing reads: the order asks for more than would be done. `op`: one of no standard."""
    op = op or meaning(order.op)
    given = unread_parameters(replace(op, name=order.op), order.params) if op else []
    if op is None or not given:
        return None
    field, names = f"ACTION.md params.{given[0][:80]}", ", ".join(usual_names(op))
    found, fix = coded("critic.not_read.found", name=given[0][:80]), coded("critic.not_read.fix", hint="")
    return Finding("UNKNOWN_PARAMETER", field, coded("critic.not_read.expected", names=names), found, fix, order.id)


def vector(value: object) -> Array | None:
    """3 to 7 finite numbers from a list or from {x, y, z[, roll, pitch, yaw]}; None when it is no such thing."""
    if isinstance(value, dict):
        keys = ["x", "y", "z"]
        if any(k in value for k in ("roll", "pitch", "yaw")):
            keys += ["roll", "pitch", "yaw"]
        if not all(k in value for k in keys[:3]):
            return None
        value = [value.get(k, 0.0) for k in keys]
    if not isinstance(value, (list, tuple)) or not 3 <= len(value) <= 7:
        return None
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) or not math.isfinite(v) for v in value):
        return None
    return np.array([float(v) for v in value])


def point(order: Order, keys: tuple[str, ...] = POINT) -> Array | Finding | None:
    """The order's target as numbers; None when it has none; a finding when it is not a point."""
    params = order.params
    for key in keys:
        if key in params and not isinstance(params[key], str):
            found = vector(params[key])
            if found is None:
                return invalid_param(order, key, coded("robot.param_point"), params[key], coded("robot.give_three"))
            return found
    if {"x", "y", "z"} <= params.keys():
        found = vector(params)
        if found is None:
            return invalid_param(
                order, "x, y, z", coded("robot.param_numbers"), dict(params), coded("robot.give_three")
            )
        return found
    return None


def turned(order: Order, place: Array, *, yaw: bool) -> Finding | None:
    """What a pose asks of a body that stays level on the floor and does not do: to lean, or to turn without `yaw`.

    `place`: as of `point`. Its roll, pitch and yaw are in rad, by `TURNED` at most from zero.
    """
    asked = place[3:] if len(place) != 7 else place[3:6]  # of a quaternion: all but w
    if yaw and len(place) == 6:
        asked = asked[:2]
    if not np.any(np.abs(np.remainder(asked + math.pi, 2 * math.pi) - math.pi) > TURNED):
        return None
    expected = coded("robot.level" if yaw else "robot.level_unturned")
    return invalid_param(order, "target_pose", expected, place.tolist(), coded("robot.give_three"))


def word(params: Json, keys: tuple[str, ...]) -> tuple[str, str] | None:
    """(key, text) of the first of `keys` that holds a text."""
    for key in keys:
        value = params.get(key)
        if isinstance(value, str) and value.strip():
            return key, value.strip()
    return None


def thing(rig: Rig, order: Order, keys: tuple[str, ...], *, objects: bool) -> str | Finding:
    """The id of the thing that an order names, by id, else by its whole name."""
    named = word(order.params, keys)
    known = rig.objects if objects else list(rig.things)
    if named is None:
        return invalid_param(
            order, keys[0], coded("robot.param_id"), dict(order.params), coded("robot.name_one", known=known)
        )
    key, text = named
    if text in known:
        return text
    same = [id for id in known if rig.things[id].name.lower() == text.lower()]
    if len(same) == 1:
        return same[0]
    expected = coded("common.either_of", names=known) if known else coded("robot.no_thing")
    fix = coded("robot.use_listed")
    if objects and text in rig.things:
        fix = coded("robot.furniture_stays", id=text)
    return invalid_param(order, key, expected, text, fix, code="UNKNOWN_OBJECT")
