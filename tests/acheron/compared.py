"""Two answers side by side, the recorded one and ours: names and times are matched up, what is left is a difference.

Names that a server makes (node-2, secret-…) are learned in pairs, so that later requests can be said in ours. Times
count as equal when both are times. Keys that only ours has are allowed everywhere (reference page, introduction).
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

Json = Any

_MADE = re.compile(
    r"(?:node|proj|invite|job|pending-join)-\d+\b|pending-join-[0-9a-f]{16}\b|(?:secret|lease|inv|proj)-[0-9a-f]{32}\b"
    r"|0x[0-9a-f]{16}\b|(?<=:)mem_\d+(?=:)"
)
# Lists that stand for a set: matched by the name of their members (D12). Others are compared as they lie.
_SETS = ("service_path", "mem_id", "project_id", "node_id", "session_key", "request_id", "invite_id")
_ORDERED = ("mounts", "desired_mounts", "actual_mounts", "services", "items")
# What depends on when it was looked at.
_TIMES = re.compile(r"(_ms|^timestamp|^ts|^cycles_total)$")


class Difference(NamedTuple):
    where: str  # "payload.nodes[node-2].service_count"
    theirs: Json
    ours: Json

    def __str__(self) -> str:
        return f"{self.where}: {_short(self.theirs)} | {_short(self.ours)}"


class Absent:
    """There is no such key."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT = Absent()


class Names:
    """Their names and ours, in pairs."""

    def __init__(self) -> None:
        self._ours: dict[str, str] = {}

    def learn(self, theirs: str, ours: str) -> bool:
        """Both name the same thing from now on, unless it is known better."""
        if theirs not in self._ours:
            if ours in self._ours.values():
                return False
            self._ours[theirs] = ours
        return self._ours[theirs] == ours

    def said(self, value: Json) -> Json:
        """A recorded request in our names."""
        if isinstance(value, str):
            return _MADE.sub(lambda found: self._ours.get(found.group(), found.group()), value)
        if isinstance(value, dict):
            return {key: self.said(item) for key, item in value.items()}
        return [self.said(item) for item in value] if isinstance(value, list) else value

    def same(self, theirs: str, ours: str) -> bool:
        if theirs == ours:
            return True
        left, right = _MADE.findall(theirs), _MADE.findall(ours)
        if len(left) != len(right) or _MADE.sub("", theirs) != _MADE.sub("", ours):
            return False
        return all(_kind(a) == _kind(b) and self.learn(a, b) for a, b in zip(left, right, strict=True))


def compare(theirs: Json, ours: Json, names: Names, where: str = "") -> list[Difference]:
    """What is different, place by place."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        found: list[Difference] = []
        for key in theirs:
            place = f"{where}.{key}" if where else key
            if key not in ours:
                found.append(Difference(place, theirs[key], ABSENT))
            elif not (_TIMES.search(key) and _times(key, theirs[key], ours[key])):
                found += compare(theirs[key], ours[key], names, place)
        return found
    if isinstance(theirs, list) and isinstance(ours, list):
        return _lists(theirs, ours, names, where)
    if isinstance(theirs, str) and isinstance(ours, str):
        return _texts(theirs, ours, names, where)
    same = type(theirs) is type(ours) and theirs == ours
    return [] if same else [Difference(where, theirs, ours)]


def _texts(theirs: str, ours: str, names: Names, where: str) -> list[Difference]:
    if names.same(theirs, ours):
        return []
    left, right = _inside(theirs), _inside(ours)
    if left is not None and right is not None:
        return compare(left, right, names, where)
    return [Difference(where, theirs, ours)]


def _lists(theirs: list[Json], ours: list[Json], names: Names, where: str) -> list[Difference]:
    key = _named_by(theirs, ours) if where.rpartition(".")[2] not in _ORDERED else ""
    if not key:
        found = [
            difference
            for at, (one, other) in enumerate(zip(theirs, ours, strict=False))
            for difference in compare(one, other, names, f"{where}[{at}]")
        ]
        for at in range(len(ours), len(theirs)):
            found.append(Difference(f"{where}[{at}]", theirs[at], ABSENT))
        for at in range(len(theirs), len(ours)):
            found.append(Difference(f"{where}[{at}]", ABSENT, ours[at]))
        return found
    by_name = {str(item[key]): item for item in ours}
    found = []
    for item in theirs:
        name = names.said(str(item[key]))
        place = f"{where}[{item[key]}]"
        if name in by_name:
            found += compare(item, by_name.pop(name), names, place)
        else:
            found.append(Difference(place, item, ABSENT))
    return found + [Difference(f"{where}[{name}]", ABSENT, item) for name, item in by_name.items()]


def _named_by(theirs: list[Json], ours: list[Json]) -> str:
    items = [*theirs, *ours]
    if not items or not all(isinstance(item, dict) for item in items):
        return ""
    return next((key for key in _SETS if all(key in item for item in items)), "")


def _inside(text: str) -> Json | None:
    """A file's JSON, if it is some."""
    if text[:1] not in ("{", "["):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict | list) else None


def _times(key: str, theirs: Json, ours: Json) -> bool:
    if not isinstance(theirs, int) or not isinstance(ours, int):
        return False
    return key == "waited_ms" or (theirs == 0) == (ours == 0)


def _kind(name: str) -> str:
    head, _, tail = name.rpartition("x" if name.startswith("0x") else "_" if name.startswith("mem") else "-")
    return f"{head}:{'token' if len(tail) == 32 else 'id'}"


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else repr(value) if isinstance(value, Absent) else json.dumps(value)
    return text if len(text) <= 110 else text[:107] + "…"
