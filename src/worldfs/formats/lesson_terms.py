"""The terms of a lesson's texts, as the page form has them (000, 001): codes, refused sections, positions, clauses.

LESSONS.md is also written by people and models, so a lesson has no other data than its texts: this module writes those
of ours, and reads what any text says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from worldfs.base.model import Finding, Lesson, Vec

_CODE = re.compile(r"\b[A-Z][A-Z_]+\b")
_VECTOR = re.compile(r"\[\s*(-?[\d.eE+-]+)\s*,\s*(-?[\d.eE+-]+)\s*,\s*(-?[\d.eE+-]+)")
_BETWEEN = {"en": "; expected ", "zh": "；应为 "}
_ALSO = {"en": "; also ", "zh": "；"}
_VERDICT = {"en": "validation failed", "zh": "校验失败"}
_CLAUSE = re.compile(r"[;；] ?(?:expected|应为|also)")


def reason(refused: Sequence[Finding], language: str) -> str:
    """What was found and what was expected, finding by finding, in the language that the findings have."""
    return _ALSO[language].join(f"{f.found}{_BETWEEN[language]}{f.expected}" for f in refused)


def rejection(refused: Sequence[Finding], language: str) -> str:
    """The sections that refused it, and the codes."""
    if not refused:
        return _VERDICT[language]
    named = ", ".join(dict.fromkeys(f.field.split(" / ")[0] for f in refused))
    return f"{named} {_VERDICT[language]} ({', '.join(dict.fromkeys(f.code for f in refused))})"


def codes(note: Lesson) -> frozenset[str]:
    """The codes that its rejection names."""
    return frozenset(_CODE.findall(note.rejection))


def sections(note: Lesson) -> tuple[str, ...]:
    """The sections that its rejection names, in the words of the file."""
    for verdict in _VERDICT.values():
        named, found, _ = note.rejection.partition(f" {verdict}")
        if found:
            return tuple(named.split(", "))
    return ()


def positions(note: Lesson) -> list[Vec]:
    """The vectors of its reason (m), in their order; NaN for what is no number."""
    return [tuple(map(_float, match.groups())) for match in _VECTOR.finditer(note.reason)]


def first_clause(note: Lesson) -> str:
    """What was found first, without what was expected."""
    return _CLAUSE.split(note.reason or note.rejection)[0]


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
