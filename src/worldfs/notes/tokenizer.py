"""Text and queries as the words that are looked up: English by its stem, ids whole and in parts, Chinese by pairs.

What is written without spaces (Chinese, Japanese, Korean) is indexed sign by sign, and a query asks for neighbours:
so one sign finds, two signs find exactly where they are side by side, and nothing has to be segmented rightly.
A query is data: of its text only letters and digits are left, each word quoted (SQLite FTS5, full-text query syntax).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MOST: Final = 64  # words of one query; more say nothing more
_SIGNS: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_SPACED: Final = re.compile(f"[{_SIGNS}]+")
_RUN: Final = re.compile(rf"[{_SIGNS}]+|[^\W{_SIGNS}]+(?:[.'’-][^\W{_SIGNS}]+)*")
_POINT: Final = re.compile(r"(?<=\d)\.(?=\d)")
_JOIN: Final = "\u02d1"  # a letter to both SQLite and Python: 1.8 is one word, which neither 1 nor 8 finds
_PART: Final = re.compile(r"[^\W_]+")
_SMALL: Final = (
    "a an and are as at be been but by did do does for from had has have how i if in into is it its me my of on or our "
    "so than that the their them then there these they this to us was we were what when where which who why will with "
    "you your 的 了 是 在 和 与 吗 呢 吧"
)
_EMPTY: Final = frozenset(_SMALL.split())


def index_text(text: str) -> str:
    """The text as the index is given it: signs apart from each other; nothing that is no Unicode."""
    whole = _POINT.sub(_JOIN, text)
    if text.isascii():
        return whole
    folded = unicodedata.normalize("NFKC", whole).encode("utf-8", "replace").decode()
    return _SPACED.sub(lambda run: f" {' '.join(run[0])} ", folded)


def match_expression(query: str) -> str:
    """The FTS5 expression that finds what shares words with the query; "" if there is no word in it.

    A word of four letters or more also finds the words that begin with its stem, which then count less: they are many.
    """
    terms = _terms(query)
    full = [term for term in terms if term not in _EMPTY] or terms
    return " OR ".join(_asked(term) for term in full[:MOST])


def _terms(query: str) -> list[str]:
    found: dict[str, None] = {}
    whole = _POINT.sub(_JOIN, query[:20_000])
    for run in _RUN.findall(unicodedata.normalize("NFKC", whole).casefold()):
        if _SPACED.match(run):
            found.update(dict.fromkeys(run[i : i + 2] for i in range(max(1, len(run) - 1))))
        else:
            found[run] = None
            parts = _PART.findall(run)
            found.update(dict.fromkeys(part for part in parts if len(part) > 1 or part.isdigit() or part == run))
    return [term for term in found if _PART.search(term)]


def _asked(term: str) -> str:
    if _SPACED.match(term):
        return f'"{" ".join(term)}"'
    if len(term) >= 4 and term.isalpha():
        return f'"{term}" OR "{term}"*'
    return f'"{term}"'
