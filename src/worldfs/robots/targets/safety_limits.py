"""A robot's limits, in figures: the maker's, the defaults, and the operator's.

TARGETS.md `config.safety` replaces the defaults, and never goes beyond the maker's. SI units.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.plugin_values import UNBOUNDED

from .target_declaration import WORDS

Array = NDArray[np.float64]
Limit = Annotated[float, UNBOUNDED]
LimitArray = Annotated[Array, UNBOUNDED]
WATCHDOG_MOST_S: Final = 60.0  # a robot that is not told anything for longer is stopped, whatever is written
REDUCED_SPEED: Final = 0.25  # m/s of a tool near people: ISO 10218-1 "reduced speed control"


@dataclass(frozen=True, slots=True)
class SafetyLimits:
    """None: this robot has none of it, or it is not known."""

    joint_low: LimitArray | None = None  # (n,) rad
    joint_high: LimitArray | None = None
    joint_speed: LimitArray | None = None  # (n,) rad/s
    joint_step: Limit = math.inf  # rad that a joint may change in one action
    low: LimitArray | None = None  # the workspace (3,) m in the base frame; of a base: where it may walk (2 or 3,)
    high: LimitArray | None = None
    ee_speed: Limit = math.inf  # m/s of the tool
    ee_turn: Limit = math.inf  # rad/s of the tool
    ee_step: Limit = math.inf  # m that the tool may change in one action
    gripper_low: Limit = 0.0  # of the opening, 0 closed … 1 open
    gripper_high: Limit = 1.0
    gripper_speed: Limit = math.inf  # openings a second
    gripper_force: Limit = math.inf  # N
    force: Limit = math.inf  # N at the tool, as the robot reports it: more stops it
    torque: LimitArray | None = None  # (n,) Nm from outside: more stops it
    base_low: LimitArray | None = None  # (3,) m/s, m/s, rad/s
    base_high: LimitArray | None = None
    base_acceleration: LimitArray | None = None  # (3,) m/s², m/s², rad/s²
    follow: Limit = math.inf  # rad that the joints may lag behind their commands
    watchdog_s: Limit = 5.0  # without a step or a heartbeat for so long, it stops
    stale_s: Limit = 10.0  # an action from an observation older than this is refused


_HIGHER: Final = frozenset({"joint_low", "low", "gripper_low", "base_low"})  # of two, the tighter is the higher
_JOINTS: Final = frozenset({"joint_low", "joint_high", "joint_speed", "torque"})
_SIGNED: Final = frozenset({"joint_low", "joint_high", "low", "high", "base_low", "base_high"})
_BASE: Final = frozenset({"base_low", "base_high", "base_acceleration"})
_NAMES: Final = tuple(field.name for field in fields(SafetyLimits))


def tightest(one: SafetyLimits, other: SafetyLimits) -> SafetyLimits:
    """Of each figure the one that allows less."""
    found: dict[str, Any] = {}
    for name in _NAMES:
        a, b = getattr(one, name), getattr(other, name)
        tighter = np.maximum if name in _HIGHER else np.minimum
        known = [part for part in (a, b) if part is not None]
        if len(known) < 2:
            found[name] = known[0] if known else None
        elif isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            found[name] = tighter(a, b)
        else:
            found[name] = float(tighter(a, b))
    return SafetyLimits(**found)


def effective_limits(
    safety: object, joints: Sequence[str], usual: SafetyLimits, maker: SafetyLimits, *, path: str
) -> SafetyLimits:
    """The limits that hold: `safety` of TARGETS.md over `usual`, within `maker`.

    Raises `BadInput` naming the member: an unknown word (a misspelt limit must not be no limit), no number, a box that
    is none.
    """
    if safety is None:
        safety = {}
    if not isinstance(safety, Mapping):
        raise BadInput(f"{safety!r}", path=path, expected=coded("target.limits_of", names=[*WORDS]))
    if unknown := [str(word) for word in safety if word not in WORDS]:
        raise BadInput(
            coded("target.no_limit", names=[*unknown]), path=path, expected=coded("common.some_of", names=[*WORDS])
        )
    values: dict[str, Any] = {}
    for word, value in safety.items():
        at = f"{path}.{word}"
        if word == "workspace":
            values["low"], values["high"] = _box(value, at, 3 if joints else 2)
        elif word == "base_speed":
            row = _row(value, at, ("vx", "vy", "wz"), signed=False)
            for side, sign in (("base_high", 1), ("base_low", -1)):
                mine = getattr(usual, side)
                values[side] = np.where(np.isnan(row), math.inf * sign if mine is None else mine, sign * row)
        elif word in _BASE or word in _JOINTS:
            names = ("vx", "vy", "wz") if word in _BASE else joints
            row, mine = _row(value, at, names, signed=word in _SIGNED), getattr(usual, word)
            other = mine if mine is not None else (-math.inf if word in _HIGHER else math.inf)
            values[word] = np.where(np.isnan(row), other, row)
        else:
            zero = word.startswith("gripper_") and word != "gripper_force"
            values[word] = _number(value, at, zero=zero)
    if not 0 <= values.get("watchdog_s", 0) <= WATCHDOG_MOST_S:
        raise BadInput(
            f"{values['watchdog_s']:g} s",
            path=f"{path}.watchdog_s",
            expected=coded("target.watchdog", s=WATCHDOG_MOST_S),
        )
    limits = tightest(maker, replace(usual, **values))
    limits = replace(limits, watchdog_s=min(limits.watchdog_s, WATCHDOG_MOST_S))  # also a package's own
    for low, high, what in (
        (limits.joint_low, limits.joint_high, "joint_low"), (limits.low, limits.high, "workspace"),
        (limits.base_low, limits.base_high, "base_low"),
    ):  # fmt: skip
        if low is not None and high is not None and not bool((low < high).all()):
            raise BadInput(
                coded("target.range_text", low=low.tolist(), high=high.tolist()),
                path=f"{path}.{what}",
                expected=coded("target.low_below"),
            )
    if limits.gripper_low > limits.gripper_high:
        raise BadInput(coded("target.gripper_range"), path=path, expected="0 … 1")
    return limits


def limits_json(limits: SafetyLimits) -> dict[str, object]:
    """The figures as JSON, without those that are none."""
    found: dict[str, object] = {}
    for name in _NAMES:
        value = getattr(limits, name)
        if isinstance(value, np.ndarray):
            found[name] = [round(float(part), 4) for part in value]
        elif value is not None and math.isfinite(value):
            found[name] = round(value, 4)
    return found


def _number(value: object, at: str, *, zero: bool = False, signed: bool = False) -> float:
    fine = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not fine or not (signed or value > 0 or (zero and value == 0)):  # type: ignore[operator]  # a number by `fine`
        raise BadInput(f"{value!r}", path=at, expected=coded("file.number") if signed else coded("target.above_0"))
    return float(value)  # type: ignore[arg-type]  # same


def _row(value: object, at: str, names: Sequence[str], *, signed: bool) -> Array:
    """One number for all, one for each, or by name (the others not a number: they stay as they were)."""
    if isinstance(value, Mapping):
        if unknown := [str(name) for name in value if name not in names]:
            raise BadInput(
                coded("target.none_of", names=[*unknown]), path=at, expected=coded("common.some_of", names=[*names])
            )
        return np.array([_number(value[n], f"{at}.{n}", signed=signed) if n in value else math.nan for n in names])
    if isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) != len(names):
            raise BadInput(f"{len(value)} numbers", path=at, expected=f"{len(names)}: {', '.join(names)}")
        return np.array([_number(part, f"{at}[{i}]", signed=signed) for i, part in enumerate(value)])
    return np.full(len(names), _number(value, at, signed=signed))


def _box(value: object, at: str, least: int) -> tuple[Array, Array]:
    if isinstance(value, Mapping) and set(value) == {"low", "high"}:
        sides = [value["low"], value["high"]]
        if all(isinstance(side, list | tuple) and least <= len(side) <= 3 for side in sides):
            low, high = (np.array([_number(part, at, signed=True) for part in side]) for side in sides)
            if low.shape == high.shape and bool((low < high).all()):
                return low, high
    raise BadInput(f"{value!r}", path=at, expected=coded("target.box"))
