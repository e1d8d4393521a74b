"""The table language of Agent State: what a JSON document may hold, checked and published from the same rows.

A table is its own plan: `check` walks rows beside values, so an ordinary document costs a few microseconds and nothing
is compiled. `schema` prints the same rows as JSON Schema 2020-12.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from worldfs.base.messages import coded

if TYPE_CHECKING:
    from collections.abc import Callable

    from worldfs.base.model import Finding

Kinds = frozenset[type]
NULL: Final[Kinds] = frozenset({type(None)})
TEXT: Final[Kinds] = frozenset({str})
WHOLE: Final[Kinds] = frozenset({int})  # 8.0 is whole too, as in JSON Schema
NUMBER: Final[Kinds] = frozenset({int, float})
LIST: Final[Kinds] = frozenset({list})
OBJECT: Final[Kinds] = frozenset({dict})
TEXT_OR_NULL: Final = TEXT | NULL
NUMBER_OR_NULL: Final = NUMBER | NULL
OBJECT_OR_NULL: Final = OBJECT | NULL

# RFC 3339: a date that exists (but for 29 February), a time, an offset. The last group says "the end" in every dialect.
TIME: Final = (
    "^[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|[12][0-9]))"
    "[Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:[.][0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
    r"(?![\s\S])"
)

_NAMES: Final = (
    (str, "string"), (int, "integer"), (float, "number"), (bool, "boolean"), (list, "array"), (dict, "object"),
    (type(None), "null"),
)  # fmt: skip
_WORDS: Final = {
    "string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "object": "an object", "null": "null",
}  # fmt: skip
_NEVER: Final = object()
_MONTHS: Final = {f"{number:02d}": str(31 - (number in (4, 6, 9, 11)) - 2 * (number == 2)) for number in range(1, 13)}
_MINUTES: Final = frozenset(f"{number:02d}" for number in range(60))
_HOURS: Final = frozenset(f"{number:02d}" for number in range(24))

Path = tuple[Any, ...]  # (((), "tasks"), 0): a step is one small tuple; text only when something is wrong


class Field(NamedTuple):
    """One member of an object. What is absent and not required reads as `default`."""

    name: str
    kinds: Kinds
    about: str
    words: tuple[str, ...] = ()  # the only strings allowed; () allows any
    required: bool = False
    time: bool = False  # its strings are times (RFC 3339)
    least: int | None = None  # its numbers are not below
    item: ObjectSchema | Kinds | None = None  # of a list: what each element is; of an object: its members
    default: Any = None


class ObjectSchema(NamedTuple):
    """An object: its known members in the order in which they are written. Others are always allowed and kept."""

    name: str
    title: str
    about: str
    fields: tuple[Field, ...]


class SchemaViolation(NamedTuple):
    """What is wrong at a place, before it has words."""

    code: str
    path: Path
    field: Field
    value: Any


def check(table: ObjectSchema, value: Any, file: str) -> tuple[Finding, ...]:
    """Everything that is wrong with `value`, in the order of the table; empty for nearly every document.

    `Finding.field` is the file and a JSON pointer (RFC 6901): `tasks.json#/tasks/0/status`.
    """
    found: list[SchemaViolation] = []
    if type(value) is dict:
        _walk(table, value, (), found)
    else:
        found.append(SchemaViolation("WRONG_TYPE", (), Field("", OBJECT, table.about), value))
    return tuple(_finding(fault, file) for fault in found) if found else ()


def finding(code: str, file: str, pointer: str, *, expected: str, found: str, fix: str) -> Finding:
    """A finding of a document; made here so that a clean document never loads the class."""
    from worldfs.base.model import Finding

    return Finding(code, f"{file}#{pointer}", expected, found, fix)


def preview(value: Any) -> str:
    """A value in a few words, whatever it is and however deep."""
    if isinstance(value, dict):
        return f"an object of {len(value)}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, str):
        return f'"{value[:60]}…"' if len(value) > 60 else f'"{value}"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) >> 64:
        return "a huge number"
    return str(value)


@lru_cache(256)
def is_time(text: str) -> bool:
    """Is it an RFC 3339 time? The form that we write is known without a pattern, which takes long to compile."""
    if len(text) == 20 and text.isascii() and f"{text[4]}{text[7]}{text[10]}{text[13:20:3]}" == "--T::Z":
        month, day, second = text[5:7], text[8:10], text[17:19]
        if f"{text[:4]}{day}{second}".isdecimal() and "01" <= day <= _MONTHS.get(month, ""):
            return text[11:13] in _HOURS and text[14:16] in _MINUTES and second <= "60"
    return _time()(text) is not None


@cache
def _time() -> Callable[[str], re.Match[str] | None]:
    return re.compile(TIME).match


def _walk(table: ObjectSchema, value: dict[str, Any], path: Path, found: list[SchemaViolation]) -> None:
    for field in table.fields:
        name, kinds, _, words, required, time, least, item, _ = field
        here = value.get(name, _NEVER)
        kind = type(here)
        if kind in kinds:
            if kind is str:
                if words:
                    if here not in words:
                        found.append(SchemaViolation("UNKNOWN_WORD", (path, name), field, here))
                elif time and not is_time(here):
                    found.append(SchemaViolation("WRONG_TIME", (path, name), field, here))
            elif kind is list:
                _elements(field, here, (path, name), found)
            elif kind is dict:
                if type(item) is ObjectSchema:
                    _walk(item, here, (path, name), found)
            elif here is not None and ((least is not None and here < least) or (kind is float and not isfinite(here))):
                found.append(SchemaViolation("WRONG_NUMBER", (path, name), field, here))
        elif here is _NEVER:
            if required:
                found.append(SchemaViolation("MISSING_FIELD", (path, name), field, None))
        elif kind is float and int in kinds and here.is_integer():
            if least is not None and here < least:
                found.append(SchemaViolation("WRONG_NUMBER", (path, name), field, here))
        else:
            found.append(SchemaViolation("WRONG_TYPE", (path, name), field, here))


def _elements(field: Field, value: list[Any], path: Path, found: list[SchemaViolation]) -> None:
    item = field.item
    if type(item) is ObjectSchema:
        for index, element in enumerate(value):
            if type(element) is dict:
                _walk(item, element, (path, index), found)
            else:
                found.append(SchemaViolation("WRONG_TYPE", (path, index), Field("", OBJECT, item.about), element))
    elif item is not None:
        for index, element in enumerate(value):
            if type(element) not in item:
                found.append(SchemaViolation("WRONG_TYPE", (path, index), Field("", item, field.about), element))  # type: ignore[arg-type]


def pointer(path: Path) -> str:
    """A JSON pointer (RFC 6901)."""
    steps: list[str] = []
    while path:
        path, step = path
        steps.append("/" + str(step).replace("~", "~0").replace("/", "~1"))
    return "".join(reversed(steps))


def _finding(fault: SchemaViolation, file: str) -> Finding:
    field, value = fault.field, fault.value
    name = field.name or "it"
    if fault.code == "UNKNOWN_WORD":
        expected, fix = "one of: " + ", ".join(field.words), f'write one of these words for "{name}"'
    elif fault.code == "WRONG_TIME":
        expected, fix = "a time such as 2026-03-31T22:00:00Z", f'write "{name}" in that form'
    elif fault.code == "MISSING_FIELD":
        kinds = _kinds(field.kinds)
        expected, fix = f"{kinds}: {field.about}", f'add "{name}"'
    elif fault.code == "WRONG_NUMBER":
        low = coded("file.finite_number") if field.least is None else f"a number not below {field.least}"
        expected, fix = low, f'correct "{name}"'
    else:
        expected, fix = _kinds(field.kinds), f'write {_kinds(field.kinds)} for "{name}"' if field.name else ""
    found = coded("file.nothing") if fault.code == "MISSING_FIELD" else preview(value)
    return finding(fault.code, file, pointer(fault.path), expected=expected, found=found, fix=fix)


def _kinds(kinds: Kinds) -> str:
    return " or ".join(_WORDS[name] for name in _type_names(kinds))


def _type_names(kinds: Kinds) -> list[str]:
    names = [name for kind, name in _NAMES if kind in kinds]
    return [name for name in names if name != "integer" or "number" not in names]


# -- as JSON Schema --------------------------------------------------------------------------------------------------


def schema(table: ObjectSchema) -> dict[str, Any]:
    """The table as JSON Schema 2020-12: what it says is exactly what `check` finds (but for numbers that are none)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:worldfs:agent-state:1:{table.name}",
        "title": table.title,
        **_object(table),
    }


def _object(table: ObjectSchema) -> dict[str, Any]:
    required = [field.name for field in table.fields if field.required]
    return {
        "description": table.about,
        "type": "object",
        "properties": {field.name: _member(field) for field in table.fields},
        **({"required": required} if required else {}),
        "additionalProperties": True,
    }


def _member(field: Field) -> dict[str, Any]:
    names = _type_names(field.kinds)
    row: dict[str, Any] = {"description": field.about, "type": names[0] if len(names) == 1 else names}
    if field.words:
        row["enum"] = [*field.words, *([None] if "null" in names else [])]
    if field.time:
        row |= {"format": "date-time", "pattern": TIME}
    if field.least is not None:
        row["minimum"] = field.least
    if type(field.item) is ObjectSchema:
        inner = _object(field.item)
        if list in field.kinds:
            row["items"] = inner
        else:
            row |= {key: inner[key] for key in ("properties", "required", "additionalProperties") if key in inner}
    elif field.item is not None:
        names = _type_names(field.item)  # type: ignore[arg-type]  # not a table, so kinds
        row["items"] = {"type": names[0] if len(names) == 1 else names}
    if not field.required and field.default is not None and not field.time:  # "" is no time: it may only be absent
        row["default"] = field.default
    return row
