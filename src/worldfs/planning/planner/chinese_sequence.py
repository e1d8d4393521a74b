"""What is said in another order than it is done: 把A放进X之前先把B放进Y, 把A放进X后把B放进Y."""

from __future__ import annotations

from typing import Final

from . import lexicon_zh
from .chinese_nouns import LOCATION, ChineseWord

_AFTER: Final = ("后", "之后", "以后")
_BEFORE: Final = ("前", "之前", "以前")
_NEXT: Final = (ChineseWord("，"), ChineseWord("然后", frozenset(("join",))))
_COMMAS: Final = ("，", ",")


def in_order(words: list[ChineseWord]) -> list[ChineseWord]:
    """The words in the order of doing; as they are where either half is no order, or anything is denied."""
    at = next((n for n, word in enumerate(words) if word.text in (*_AFTER, *_BEFORE) and _is_time(words, n)), 0)
    if not at or any("neg" in word.kinds for word in words):
        return words
    first, second = words[:at], _without_joins(words[at + 1 :])
    if not second or not ("ba" in second[0].kinds or second[0].act()):
        return words
    if words[at].text in _AFTER:
        return [*first, *_NEXT, *in_order(second)]
    first = [word for n, word in enumerate(first) if not (word.text == "在" and "ba" in first[(n + 1) % at].kinds)]
    if any(word.text in _COMMAS or word.text in lexicon_zh.THEN for word in (*first, *second)):
        return words  # which of several comes before what?
    return [*second, *_NEXT, *first]


def _is_time(words: list[ChineseWord], at: int) -> bool:
    """After a whole order: 放进篮子后. 放在篮子后 may tell a place, and 以后 is always a time."""
    acts = [word for word in words[:at] if word.act()]
    if not acts:
        return False
    open_place = "put" in acts[-1].act() and acts[-1].text[-1] not in "进入去"
    return words[at].text[0] == "以" or not open_place or bool({*LOCATION} & words[at - 1].kinds)


def _without_joins(words: list[ChineseWord]) -> list[ChineseWord]:
    start = next((n for n, word in enumerate(words) if not ("join" in word.kinds or word.text in _COMMAS)), len(words))
    return words[start:]
