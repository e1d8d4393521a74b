"""The terms of a lesson's texts, as the page form has them (000, 001): what was found, what refused it, clauses.

LESSONS.md is also written by people and models, so a lesson has no other data than its texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from worldfs.base.model import Finding, Lesson

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


def first_clause(note: Lesson) -> str:
    """What was found first, without what was expected."""
    return _CLAUSE.split(note.reason or note.rejection)[0]
