"""JSON with comments, as Gemini CLI and opencode read their settings: `//`, `/* */`, a comma before a bracket's end."""

from __future__ import annotations

import re
from typing import Final

from worldfs.base.model import Json
from worldfs.formats import jsontext

_TOKEN: Final = re.compile(r'"(?>(?:[^"\\]+|\\.)*)(?:"|\\?\Z)|//[^\n]*|/\*.*?(?P<open>\*/|\Z)|,(?=\s*[}\]])', re.DOTALL)


def bare(text: str) -> str:
    """The text as plain JSON of the same length: blanks where there were comments and such commas."""
    without = _TOKEN.sub(
        lambda found: found[0] if found[0][0] in '",' or found["open"] == "" else re.sub(r"\S", " ", found[0]), text
    )
    return _TOKEN.sub(lambda found: " " if found[0] == "," else found[0], without)


def edit(text: str, old: Json, new: Json) -> str | None:
    """The text with `new` in place of `old`, which must be what `bare(text)` says; every comment stays. None: a comment
    stands in the middle of what changes."""
    plain = bare(text)
    changes = [_least(plain, change) for change in jsontext.edits(plain, old, new)]
    if any(plain[start:end] != text[start:end] for start, end, _ in changes):
        return None
    made = jsontext.apply(text, changes)
    return made if jsontext.parse(bare(made)) == new else None


def _least(plain: str, change: jsontext.Edit) -> jsontext.Edit:
    """The same change without what stays at both of its ends, and without blanks that stand for a comment."""
    start, end, new = change
    while end > start and new and plain[end - 1] == new[-1]:
        end, new = end - 1, new[:-1]
    while end > start and new and plain[start] == new[0]:
        start, new = start + 1, new[1:]
    return start, end, re.sub(r"(?<![ \t])[ \t]++(?=\n)", "", new)
