"""A head that is said once for two things that exclude each other: "the big and the small spoon", 大的和小的勺子.

Each gets the head before names are looked for: "the big spoon and the small spoon". Words that may describe one thing
together ("the big and heavy box", "the wooden and metal spoon") stay as they are.
"""

from __future__ import annotations

import itertools
import re
from typing import Final

from . import lexicon_en
from .vocabulary import Vocabulary

_THE: Final = "(?:the|my|your|our|these|those) "
_EN: Final = tuple(
    re.compile(
        rf"\b(?P<first>{_THE}(?:{one})(?:, (?:{_THE})?(?:{one})){{0,4}})(?P<last>,? (?:and|or) (?:{_THE})?(?:{one})) "
        rf"(?P<head>[a-z]+)\b(?= ?(?P<next>[a-z]*))",
        re.IGNORECASE,
    )
    for one in (row.replace(" ", "|") for row in lexicon_en.CONTRARY)
)
_WORD: Final = re.compile(r"[a-z]+")
_SIDE_OF: Final = re.compile(r"\b(?:to|on|at|of|from|in|towards?) $")  # "to the left and the right cup"
_SIDES: Final = frozenset(("left", "right"))
_ZH: Final = re.compile(
    r"(?P<first>(?P<one>[大小长短新旧]|[左右]边)的)(?P<last>(?:和|与|跟|以及|、)(?P<two>[大小长短新旧]|[左右]边)的)"
)
_LONGEST: Final = 6  # signs of a Chinese head


def with_heads(text: str, vocabulary: Vocabulary) -> str:
    """The text with the shared head after each of the words that share it."""
    for pattern in _EN:
        text = pattern.sub(lambda found: _english(found, vocabulary), text)
    return _ZH.sub(lambda found: _chinese(found, vocabulary), text)


def _english(found: re.Match[str], vocabulary: Vocabulary) -> str:
    first, last, head, following = (found[name].lower() for name in ("first", "last", "head", "next"))
    said = [word for word in _WORD.findall(f"{first}{last}") if any(word in row.split() for row in lexicon_en.CONTRARY)]
    meant = {lexicon_en.PLAIN_SIZES.get(word, word) for word in said}
    side = not _SIDES.isdisjoint(said) and _SIDE_OF.search(found.string[: found.start()].lower())
    named = any((said[0], word) in itertools.pairwise(called.full)
                for called in vocabulary.called.values() for word in ("and", "or", *said[1:2]))  # fmt: skip
    if len(meant) < len(said) or side or named or not _is_noun(head, vocabulary) or _is_noun(following, vocabulary):
        return found[0]
    each = re.sub(rf"\b({'|'.join(said)})\b", rf"\1 {found['head']}", found["first"], flags=re.IGNORECASE)
    return f"{each}{found['last']} {found['head']}"


def _is_noun(word: str, vocabulary: Vocabulary) -> bool:
    senses = vocabulary.english_word(word) or frozenset()
    return word in vocabulary.head_forms or any(sense[:2] == "k:" for sense in senses)


def _chinese(found: re.Match[str], vocabulary: Vocabulary) -> str:
    rest = found.string[found.end() : found.end() + _LONGEST]
    heads = (rest[:n] for n in range(len(rest), 0, -1))
    head = next((one for one in heads if one in vocabulary.tails or one in vocabulary.chinese), "")
    if not head or found["one"] == found["two"]:
        return found[0]
    return f"{found['first']}{head}{found['last']}"
