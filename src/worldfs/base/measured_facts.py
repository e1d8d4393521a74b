"""Measured facts as text, by which a refusal says while what it holds: `drawer_01 status = open`.

A fact is one value of a thing, a robot or a robot's profile. A refusal that names the facts that it came from holds as
long as all of them are measured to be so. A refusal that names none holds at its own moment only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from .messages.coded_text import vector_text
from .model import Vec

NOTHING: Final = "nothing"
# position, base: m in the world frame. size: m. orientation: quaternion. mass: kg. on, in: what a thing rests on or in.
# present: "no" for what the scene does not have. The rest is of a robot: what it holds, and what its profile says.
NAMES: Final = (
    *("position", "orientation", "size", "mass", "status", "on", "in", "present"),
    *(
        "base",
        "holding",
        "max_reach",
        "max_payload",
        "max_grip_width",
        "min_grip_width",
        "bounds",
        "lacks",
        "lacks_sensor",
    ),
)
_FACT: Final = re.compile(rf"([\w.:-]+(?: [\w.:-]+)*) ({'|'.join(NAMES)}) = ([^;=]+)")
_AND, _OR = "; ", " or "


class MeasuredFact(NamedTuple):
    """`value`: a word, a number, or numbers in brackets."""

    subject: str
    name: str
    value: str


def fact(subject: str, name: str, value: str | float | Vec | None) -> str:
    """The fact as text; "" for what cannot be written as one."""
    if value is None:
        return ""
    if isinstance(value, (tuple, list)):
        value = vector_text(value) if value else ""
    text = f"{subject} {name} = {value:g}" if isinstance(value, (int, float)) else f"{subject} {name} = {value}"
    return text if _FACT.fullmatch(text) else ""


def facts(*texts: str) -> tuple[str, ...]:
    """All of them; none where one of them cannot be written: then it is not known while what the refusal holds."""
    return texts if all(texts) else ()


def condition_text(conditions: Sequence[Sequence[str]]) -> str:
    """One line: it holds while all facts of one of these hold."""
    return _OR.join(dict.fromkeys(_AND.join(one) for one in conditions if one))


def read_condition(text: str) -> list[list[MeasuredFact]]:
    """What `condition_text` wrote; [] where a part of it is no fact."""
    found: list[list[MeasuredFact]] = []
    for one in text.split(_OR) if text.strip() else []:
        matches = [_FACT.fullmatch(part.strip()) for part in one.split(_AND.strip())]
        if not all(matches):
            return []
        found.append([MeasuredFact(match[1], match[2], match[3].strip()) for match in matches if match])
    return found


def numbers(value: str) -> tuple[float, ...]:
    """The numbers of a value; () where it has none."""
    try:
        return tuple(float(part) for part in value.strip("[] ").split(","))
    except ValueError:
        return ()
