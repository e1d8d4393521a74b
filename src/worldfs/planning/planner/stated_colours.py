"""The colours of the lexicon that a stated colour certainly is, and those that it may be: red, navy, #b98a54, 银."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from worldfs.base.word_forms import pieces

from . import lexicon_en, lexicon_zh

EVERY: Final = frozenset(f"c:{key}" for key in lexicon_en.COLOURS)
_NONE: Final[frozenset[str]] = frozenset()
UNSAID: Final = frozenset(("", "unknown", "none", "other"))
_CODE: Final = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})")
_RGB: Final = re.compile(r"(?:rgba?)?\s*[(\[]([^()\[\]]*)[)\]]")
_WORDS: Final = re.compile(r"[^\W\d_]+(?:[\s-]+[^\W\d_]+)*")
# What a word that is on no list may be called by a word that is; a word that is not here may be of any colour.
_NEAR: Final = {
    "red orange": "coral salmon vermilion rust terracotta", "red": "scarlet ruby reddish cherry",
    "red brown": "maroon crimson burgundy mahogany", "red pink": "rose raspberry",
    "blue": "navy cobalt sapphire bluish",
    "blue green": "turquoise teal cyan aqua aquamarine", "blue purple": "indigo", "green": "emerald greenish",
    "green yellow": "lime chartreuse", "green brown": "olive", "green white": "mint", "yellow": "yellowish lemon",
    "yellow brown": "mustard ochre amber khaki", "purple pink": "magenta fuchsia plum mauve", "purple": "purplish",
    "purple blue pink": "lavender lilac", "white yellow": "cream ivory eggshell",
    "brown white yellow": "beige tan sand", "brown": "chocolate coffee chestnut brownish",
    "brown orange gold": "bronze copper brass", "black grey": "charcoal anthracite",
    "": "transparent clear colourless colorless 透明 无色",
}  # fmt: skip
_MAY_BE: Final = {
    word: frozenset(f"c:{key}" for key in keys.split()) for keys, words in _NEAR.items() for word in words.split()
}


@lru_cache(maxsize=1024)
def stated_colours(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Of the colour of an entry: what it certainly is, and what it may be as well."""
    text = text.strip().lower()
    if text in UNSAID:
        return _NONE, EVERY
    if certain := listed_colours(text) or listed_colours(f"{text}色" if len(text) == 1 else ""):
        return certain, _NONE
    if (figures := _figures(text)) is not None:
        found = _by_figures(figures)
        return (found, _NONE) if len(found) == 1 else (_NONE, found)
    near = [_MAY_BE[word] for word in (text, *pieces(text)) if word in _MAY_BE]
    return _NONE, frozenset().union(*near) if near else EVERY


def states_a_colour(text: str) -> bool:
    """Is a colour stated in words, on the list (red) or not (turquoise, clear)?"""
    return bool(listed_colours(text)) or (_WORDS.fullmatch(text) is not None and text.lower() not in UNSAID)


def listed_colours(text: str) -> frozenset[str]:
    """The colours of the lexicon that a text names."""
    found = {k for word in pieces(text) for k in lexicon_en.nouns_en().get(word, ()) if k[:2] == "c:"}
    return frozenset(found | {k for word, _ in lexicon_zh.found_words(text, lexicon_en.nouns_zh())
                              for k in lexicon_en.nouns_zh()[word] if k[:2] == "c:"})  # fmt: skip


def _figures(text: str) -> tuple[float, float, float] | None:
    """Red, green and blue, 0…1, of #rgb, #rrggbb, rgb(…) or [r, g, b]; None for anything else."""
    if _CODE.fullmatch(text):
        digits = text[1:] if len(text) > 4 else "".join(2 * digit for digit in text[1:])
        return _share([int(digits[n : n + 2], 16) for n in (0, 2, 4)], 255)
    if (found := _RGB.fullmatch(text)) is None:
        return None
    try:
        values = [float(part) for part in found[1].split(",")]
    except ValueError:
        return None
    if len(values) not in (3, 4) or not all(0 <= value <= 255 for value in values[:3]):
        return None
    return _share(values[:3], 1 if max(values[:3]) <= 1 and not text.startswith("rgb") else 255)


def _share(values: Sequence[float], most: float) -> tuple[float, float, float]:
    red, green, blue = (value / most for value in values)
    return red, green, blue


def _by_figures(figures: tuple[float, float, float]) -> frozenset[str]:
    """What people may call it: the ranges overlap, so that one name alone is certain."""
    turn, strength, light = colorsys.rgb_to_hsv(*figures)
    hue, pale, dim = 360 * turn, strength < 0.75 and light > 0.6, light < 0.75 and strength > 0.2
    coloured = strength >= 0.1 and light >= 0.15
    warm = hue <= 48 or hue >= 345
    so = {
        "black": light < 0.25, "white": strength < 0.15 and light > 0.8,
        "silver": strength < 0.15 and 0.55 < light < 0.85, "grey": strength < 0.15 and 0.15 < light < 0.9,
        "red": coloured and (hue <= 18 or hue >= 335),
        "orange": coloured and 12 <= hue <= 48, "yellow": coloured and 42 <= hue <= 72,
        "gold": coloured and 36 <= hue <= 56, "green": coloured and 65 <= hue <= 175,
        "blue": coloured and 165 <= hue <= 265, "purple": coloured and 250 <= hue <= 325,
        "pink": coloured and (hue >= 300 or hue <= 20) and pale, "brown": coloured and warm and dim,
    }  # fmt: skip
    return frozenset(f"c:{name}" for name, is_so in so.items() if is_so)
