"""The parser of a service's control files: a tool and its arguments, in any of the known spellings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.json_text import KeyTwice, NoNumber, each_key_once, parse_json
from worldfs.base.json_values import as_object
from worldfs.base.model import Json
from worldfs.base.restricting_fields import unread
from worldfs.formats.entry_contradictions import refuse_restrictions
from worldfs.formats.sheet_members import RETRY, TERMS, EntryRefused, OrderTerms
from worldfs.world.agent_jobs.written_terms import read_terms

REFUSAL: Final = "invoke payload must include tool/tool_name/op and optional arguments/args"
NO_NUMBER: Final = "invoke payload has a number that is none, or too large"
GENERAL: Final = "invoke.json"
_READ: Final = ("tool", "tool_name", "op", "arguments", "args", *TERMS)
_PARTS: Final = {"timeouts": ("queue", "execute", "session"), "retry": RETRY}


class AcceptedTools(NamedTuple):
    """The tools that an endpoint accepts: one for each op file, and what its runtime declares."""

    operations: Mapping[str, str]  # "create": "memory_create"
    tool: str = ""  # RUNTIME.tool: its only tool
    family: str = ""  # RUNTIME.tool_family: tools begin with it and "_"

    @staticmethod
    def of(operations: Mapping[str, str], runtime: Mapping[str, object]) -> AcceptedTools:
        words = [value if isinstance(value := runtime.get(key), str) else "" for key in ("tool", "tool_family")]
        return AcceptedTools(operations, *words)


class ToolOrder(NamedTuple):
    tool: str
    text: str  # as it was written, trimmed
    terms: OrderTerms = OrderTerms()


def parse_tool_order(data: bytes, file: str, accepts: AcceptedTools) -> ToolOrder:
    """Steps 2 to 5 of an invoke. Raises `BadInput` with the recorded message.

    `file`: the control's name, "invoke.json" or that of an op. Only beside `arguments` or `args` do its terms stand:
    what an order without them says is for the tool.
    """
    try:
        text = data.decode().strip()
        asked = parse_json(text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=each_key_once)
    except KeyTwice as error:
        raise bad_tool_order(f"{error.key!r} twice") from None
    except NoNumber as error:
        raise BadInput(f"{NO_NUMBER}: {error}", op="write", code="invalid") from None
    except ValueError:
        raise bad_tool_order("no JSON") from None
    if not isinstance(asked, dict):
        raise bad_tool_order("no JSON object")
    own = "" if file == GENERAL else accepts.operations.get(file.removesuffix(".json"), "")
    tool = _explicit(asked) or own or accepts.tool or _only(accepts.operations)
    if not tool:
        raise bad_tool_order("no tool")
    if (accepts.tool and tool != accepts.tool) or (own and tool != own):
        raise bad_tool_order(f"tool {tool[:80]!r}, expected {own or accepts.tool}")
    if accepts.family and not tool.startswith(f"{accepts.family}_"):
        raise bad_tool_order(f"tool {tool[:80]!r}, expected {accepts.family}_…")
    if not isinstance(_arguments(asked), dict):
        raise bad_tool_order("arguments that are no JSON object")
    if _arguments(asked) is not asked:
        try:
            refuse_restrictions(asked, "", _READ, TERMS, _PARTS, refused=unread)
        except EntryRefused as refused:
            raise bad_tool_order(f"{refused.pointer[1:81]}, which nothing reads") from None
    return ToolOrder(tool, text, read_terms(asked) if _given(asked) is not None else OrderTerms())


def arguments(text: str) -> Json:
    """The arguments of an accepted order."""
    return as_object(_arguments(parse_json(text)))


def bad_tool_order(found: str) -> BadInput:
    return BadInput(REFUSAL, op="write", code="invalid", expected=found)


def _no_number(word: str) -> object:
    raise NoNumber(word)  # Python would take NaN and Infinity, and write them into result.json


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise NoNumber(text[:20])
    return value


def _explicit(asked: Json) -> str:
    words = (asked.get(key) for key in ("tool", "tool_name", "op"))
    return next((word.strip() for word in words if isinstance(word, str) and word.strip()), "")


def _only(operations: Mapping[str, str]) -> str:
    """The op of a service that has only one (acheron D24)."""
    return next(iter(operations.values())) if len(operations) == 1 else ""


def _arguments(asked: Json) -> object:
    given = _given(asked)
    return given if given is not None else {} if _explicit(asked) else asked


def _given(asked: Json) -> object:
    return next((asked[key] for key in ("arguments", "args") if asked.get(key) is not None), None)
