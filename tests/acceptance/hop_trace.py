"""A tracer of hops: the first time that a value of certain types passes from one folder of worldfs into another."""

from __future__ import annotations

import sys
import threading
from collections.abc import Collection
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple, Self

NESTED = ("interfaces", "plugins", "robots")  # folders whose own folders count as folders
LEFT_OUT = ("base", "testing")  # nouns and I/O that every folder uses; doubles


class Hop(NamedTuple):
    source: str
    target: str
    type: str
    where: str  # the function that got the value, or returned it


class HopTrace:
    """Of this thread and of those that begin meanwhile. Calls, returns and methods of a value count alike."""

    def __init__(self, *types: str) -> None:
        self.types = frozenset(types)
        self.hops: dict[tuple[str, str], Hop] = {}

    def __enter__(self) -> Self:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, arg: Any) -> None:
        if event not in ("call", "return") or frame.f_code.co_name.startswith(("<", "__")):
            return
        callee = _folder(frame)
        if not callee:
            return
        back = frame.f_back
        while back is not None and not (caller := _folder(back)):
            back = back.f_back
        if back is None or caller == callee:
            return
        source, target = (caller, callee) if event == "call" else (callee, caller)
        if (source, target) in self.hops:
            return
        passed = _parameters(frame) if event == "call" else (arg,)
        found = _first_type(passed, self.types)
        if found:
            self.hops[source, target] = Hop(source, target, found, _name(frame.f_code))


def _folder(frame: FrameType) -> str:
    """ "" outside of worldfs, and in what is left out."""
    first, *rest = frame.f_globals.get("__name__", "").split(".")
    if first != "worldfs" or not rest or rest[0] in LEFT_OUT:
        return ""
    return "/".join(rest[:2]) if rest[0] in NESTED and len(rest) > 2 else rest[0]


def _parameters(frame: FrameType) -> list[Any]:
    code = frame.f_code
    return [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]


def _first_type(values: Collection[Any], types: Collection[str]) -> str:
    for value in values:
        one = value[0] if isinstance(value, list | tuple) and value and not hasattr(value, "_fields") else value
        if type(one).__name__ in types:
            return type(one).__name__
    return ""


def _name(code: CodeType) -> str:
    module = code.co_filename.rpartition("/")[2].removesuffix(".py")
    return f"{module}.{code.co_qualname.replace('.<locals>', '')}"
