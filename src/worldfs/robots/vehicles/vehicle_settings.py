"""Members of `config` in TARGETS.md that every vehicle has: limits, places, tolerances."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Json, Target
from worldfs.robots.targets.robots.robot_library import config_member
from worldfs.robots.targets.safety_limits import SafetyLimits, effective_limits

from .vehicle_interface import DriveGoal, VehicleSettings

COMMON: Final = ("safety", "places", "tolerance", "turn_tolerance", "battery_min", "control_hz")
SECRETS: Final = ("password_env", "password_file")


def vehicle_settings(target: Target, usual: SafetyLimits, maker: SafetyLimits, own: Iterable[str]) -> VehicleSettings:
    """Raises `BadInput` naming the member. `own`: the names that this kind of vehicle has beside the common ones."""
    at, known = f"TARGETS.md {target.id} config", sorted({*COMMON, *own})
    if unknown := sorted(name for name in target.config if name not in known):
        raise BadInput(
            ", ".join(unknown), path=at, expected=coded("common.some_of", names=known),
            fix=coded("vehicle.correct_member"),
        )  # fmt: skip
    raw = config_member(target, "places", dict, {})
    return VehicleSettings(
        effective_limits(target.config.get("safety"), (), usual, maker, path=f"{at}.safety"),
        {str(name): _place(str(name), value, f"{at}.places.{name}") for name, value in raw.items()},
        _positive(target, "tolerance", 0.25),
        _positive(target, "turn_tolerance", 0.2),
        config_member(target, "battery_min", float, 10.0),
    )


def _positive(target: Target, name: str, default: float) -> float:
    value = config_member(target, name, float, default)
    if value <= 0:
        path = f"TARGETS.md {target.id} config.{name}"
        raise BadInput(f"{value:g}", path=path, expected=coded("target.above_0"))
    return value


def _place(name: str, value: object, at: str) -> DriveGoal:
    """`[x, y]`, `[x, y, theta]`, or `{x, y, theta, node, actions}`."""
    more: Json = {}
    if isinstance(value, Mapping):
        more = {str(key): part for key, part in value.items()}
        numbers = [more.get("x"), more.get("y"), *([more["theta"]] if more.get("theta") is not None else [])]
    else:
        numbers = list(value) if isinstance(value, list | tuple) else []
    found = [float(part) for part in numbers if isinstance(part, int | float) and not isinstance(part, bool)]
    fine = 2 <= len(found) == len(numbers) <= 3 and all(math.isfinite(part) for part in found)
    actions = more.get("actions", [])
    if not fine or not isinstance(actions, list) or not all(isinstance(item, dict) for item in actions):
        raise BadInput(f"{value!r}"[:200], path=at, expected=coded("vehicle.a_place"))
    yaw = found[2] if len(found) == 3 else None
    return DriveGoal(found[0], found[1], yaw, name, str(more.get("node", name)), tuple(actions))
