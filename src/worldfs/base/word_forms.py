"""Pieces and forms of words: one spelling of each word, and the plurals of English."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from .traditional_signs import simplified

_SIGN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_PIECE: Final = re.compile(rf"[{_SIGN}]|\d+|[^\W\d_{_SIGN}]+(?:(?:[+＋]{{1,2}}|[#＃])(?![A-Za-z0-9]))?")  # C++, F#
_CHINESE: Final = re.compile(f"[{_SIGN}]")
_KEPT: Final = 4096  # results: a scene's names are asked about again and again
_VOWELS: Final = "aeiou"
_LATIN_END: Final = "\u0250"
_IRREGULAR: Final = {
    "foot": "feet", "tooth": "teeth", "goose": "geese", "mouse": "mice", "die": "dice", "child": "children",
    "ox": "oxen", "loaf": "loaves",
}  # fmt: skip


class TextPiece(NamedTuple):
    """A word, a number or a Chinese sign of a text, folded, and where it stands."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=_KEPT)
def fold(text: str) -> str:
    """Without differences of case, width, accent and script: the form in which words are compared."""
    return _unaccented(simplified(unicodedata.normalize("NFKC", text)).casefold())


def plain_letters(text: str) -> str:
    """Without differences of width and accent, and without signs that are not seen; case and script stay."""
    if text.isascii():
        return text
    seen = "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")
    return _unaccented(seen)


def _unaccented(plain: str) -> str:
    if plain.isascii():
        return plain
    found: list[str] = []
    for char in unicodedata.normalize("NFD", plain):
        if not (unicodedata.category(char) == "Mn" and found and found[-1] < _LATIN_END):
            found.append(char)
    return unicodedata.normalize("NFC", "".join(found))


def text_pieces(text: str) -> list[TextPiece]:
    """The words, numbers and Chinese signs of a text; numbers without leading zeros."""
    return [TextPiece(_number(fold(m.group())), m.start(), m.end()) for m in _PIECE.finditer(text)]


@lru_cache(maxsize=_KEPT)
def pieces(text: str) -> tuple[str, ...]:
    return tuple(piece.text for piece in text_pieces(text))


def _number(text: str) -> str:
    return (text.lstrip("0") or "0") if text.isdecimal() else text


def is_chinese(text: str) -> bool:
    """Whether any sign of the text is Chinese."""
    return _CHINESE.search(text) is not None


@lru_cache(maxsize=_KEPT)
def plurals(word: str) -> frozenset[str]:
    """Every form that the plural of an English noun may have."""
    if not word.isalpha() or not word.isascii() or len(word) < 2:
        return frozenset()
    found = {_IRREGULAR[word]} if word in _IRREGULAR else set()
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return frozenset(found | {word + "es"})
    if word.endswith("y") and word[-2] not in _VOWELS:
        return frozenset(found | {word[:-1] + "ies"})
    if word.endswith("man"):
        found.add(word[:-2] + "en")
    if word.endswith("f"):
        found.add(word[:-1] + "ves")
    if word.endswith("fe"):
        found.add(word[:-2] + "ves")
    if word.endswith("o"):
        found.add(word + "es")
    return frozenset(found | {word + "s"})


@lru_cache(maxsize=_KEPT)
def singulars(word: str) -> tuple[str, ...]:
    """The word, and what it may be the plural of."""
    found = [word]
    for end, instead in (("s", ""), ("es", ""), ("ies", "y"), ("ves", "f"), ("ves", "fe"), ("men", "man")):
        if word.endswith(end) and len(word) > len(end) + 1 and word in plurals(word.removesuffix(end) + instead):
            found.append(word.removesuffix(end) + instead)
    return tuple(found)
