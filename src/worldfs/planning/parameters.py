"""Parameters of an order: their types, their meaning, and the numbers in them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from worldfs.base.json_values import as_float, as_int, as_objects
from worldfs.base.model import Json, Operation, Parameter
from worldfs.base.order_parameters import AXES, GOAL, POINT, given_parameter

_FACTOR = {"m": 1.0, "cm": 0.01, "mm": 0.001, "centimetres": 0.01, "centimeters": 0.01, "厘米": 0.01, "毫米": 0.001}
HUGE = 1e4  # m: no arm and no floor is larger; beyond it a number is a mistake


def number(value: object) -> bool:
    """A JSON number: booleans are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def mismatch(parameter: Parameter, value: object) -> str:
    """What was expected, if `value` is not of the parameter's JSON Schema; "" if it fits."""
    schema, kind = parameter.json_schema(), parameter.kind
    match schema.get("type"):
        case "array" if "items" in schema:
            sizes = [as_int(size["minItems"]) for size in as_objects(schema.get("anyOf", [schema]))]
            if isinstance(value, list | tuple) and len(value) in sizes and all(number(v) for v in value):
                return ""
            return f"{' or '.join(map(str, sizes))} numbers {kind}"
        case "array":
            wanted = f"a list {parameter.type}" if parameter.type.strip().startswith("[") else "a list"
            return "" if isinstance(value, list | tuple) else wanted
        case "string":
            return "" if isinstance(value, str) and value.strip() else "a string that is not empty"
        case "number":
            return "" if number(value) else "a number"
        case "integer":
            return "" if number(value) and isinstance(value, int) else "a whole number"
        case "boolean":
            return "" if isinstance(value, bool) else "true or false"
        case "object":
            return "" if isinstance(value, Mapping) else "a mapping"
    return ""


def invalid_numbers(params: Json) -> Iterator[tuple[str, object]]:
    """Numbers that no driver accepts: NaN, infinite, or a length beyond `HUGE`; (where, value)."""
    stack: list[tuple[str, str, object]] = [(str(k), str(k), v) for k, v in reversed(list(params.items()))]
    while stack:
        where, root, value = stack.pop()
        if isinstance(value, Mapping):
            stack += [(f"{where}/{k}", root, v) for k, v in reversed(list(value.items()))]
        elif isinstance(value, list | tuple):
            stack += [(f"{where}[{i}]", root, value[i]) for i in reversed(range(len(value)))]
        elif number(value):
            limit = HUGE if root in POINT or root in GOAL or root in AXES else 1e300
            if not -limit <= as_float(value) <= limit:
                yield where, value


def point(op: Operation, params: Json, names: tuple[str, ...]) -> tuple[float, ...] | None:
    """The position that the parameters give, in metres by the unit the profile prints; None if they give none."""
    units = {p.name: _FACTOR.get(p.unit, 1.0) for p in op.parameters}
    name, value = given_parameter(params, names)
    if isinstance(value, list | tuple) and len(value) >= 3 and all(number(v) for v in value[:3]):
        return _metres(value[:3], [units.get(name, 1.0)] * 3)
    if isinstance(value, Mapping) and all(number(value.get(a)) for a in AXES):
        return _metres([value[a] for a in AXES], [units.get(name, 1.0)] * 3)
    if not name and all(number(params.get(a)) for a in AXES):
        return _metres([params[a] for a in AXES], [units.get(a, 1.0) for a in AXES])
    return None


def _metres(values: Sequence[object], factors: list[float]) -> tuple[float, ...] | None:
    try:
        place = tuple(as_float(v) * f for v, f in zip(values, factors, strict=True))
    except OverflowError:
        return None
    return place if all(math.isfinite(v) for v in place) else None
