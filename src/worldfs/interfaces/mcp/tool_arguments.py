"""The arguments of a tool: declared as rows, shown as JSON Schema, read strictly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.model import Json

_KINDS: Final[Mapping[str, type]] = {"string": str, "integer": int, "boolean": bool, "object": dict}
LINE_MOST: Final = 4_096  # characters of a string that is no content


class ToolArgument(NamedTuple):
    """`most` is the longest string (characters) or the largest number, `least` the smallest number."""

    name: str
    kind: str  # string | integer | boolean | object
    about: str
    required: bool = False
    default: object = None
    least: int = 0
    most: int = LINE_MOST
    choices: tuple[str, ...] = ()

    def json_schema(self) -> Json:
        shown: Json = {"type": self.kind, "description": self.about}
        if self.kind == "string":
            shown |= {"maxLength": self.most} | ({"minLength": 1} if self.required else {})
        if self.kind == "integer":
            shown |= {"minimum": self.least, "maximum": self.most}
        if self.choices:
            shown["enum"] = list(self.choices)
        return shown if self.default is None else {**shown, "default": self.default}

    def read(self, value: object, tool: str) -> object:
        wanted = _KINDS[self.kind]
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            raise _refusal(tool, f"{self.name} is {_name(value)}", f"{self.name}: {self.kind}")
        if isinstance(value, str):
            if len(value) > self.most:
                found = f"{self.name} has {len(value):,} characters"
                raise _refusal(tool, found, f"at most {self.most:,}")
            if self.required and not value.strip():
                raise _refusal(tool, f"{self.name} is empty", self.about)
            if self.choices and value not in self.choices:
                raise _refusal(tool, f"{self.name} is {value[:60]!r}", "one of: " + ", ".join(self.choices))
        elif isinstance(value, int) and wanted is int and not self.least <= value <= self.most:
            raise _refusal(tool, f"{self.name} is {value}", f"{self.least} to {self.most:,}")
        return value


class Arguments:
    """What a call gave, complete with defaults."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def text(self, name: str) -> str:
        value = self._values.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        value = self._values[name]
        assert isinstance(value, int)
        return value

    def flag(self, name: str) -> bool:
        return self._values.get(name) is True

    def value(self, name: str) -> Json:
        value = self._values.get(name)
        return value if isinstance(value, dict) else {}


def input_schema(declared: Sequence[ToolArgument]) -> Json:
    schema: Json = {
        "type": "object",
        "properties": {one.name: one.json_schema() for one in declared},
        "additionalProperties": False,
    }
    required = [one.name for one in declared if one.required]
    return {**schema, "required": required} if required else schema


def read_arguments(tool: str, declared: Sequence[ToolArgument], given: Mapping[str, object]) -> Arguments:
    """Raises `BadInput`, naming the argument that is unknown, missing or of another kind."""
    known = {one.name: one for one in declared}
    for name in given:
        if name not in known:
            near = get_close_matches(name[:60], known, 1)
            fix = f"did you mean {near[0]}?" if near else ""
            there = "one of: " + ", ".join(known) if known else "no arguments"
            raise _refusal(tool, f"unknown argument {name[:60]!r}", there, fix)
    values: dict[str, object] = {}
    for one in declared:
        if given.get(one.name) is not None:
            values[one.name] = one.read(given[one.name], tool)
        elif one.required:
            raise _refusal(tool, f"{one.name} is missing", one.about)
        else:
            values[one.name] = one.default
    return Arguments(values)


def _refusal(tool: str, found: str, expected: str, fix: str = "") -> BadInput:
    return BadInput(found, op=tool, expected=expected, fix=fix, code="INVALID_ARGUMENTS")


def _name(value: object) -> str:
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a fraction",
        str: "a string",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), "null")
