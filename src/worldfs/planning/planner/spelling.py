"""Misspelt words: corrected to the one possible known word, with a note; never a guess.

No list of real words is whole, so a word is corrected only for what the hand does and few other words have: two letters
swapped, or one typed once for twice or twice for once. The real words of that sort are in `unrelated_words_en`. Any
other letter may make another word (towel, trowel), and is asked about.
"""

from __future__ import annotations

from itertools import groupby

from . import english_manners
from . import lexicon_en as en
from .intent import NotUnderstood
from .unrelated_words_en import OTHERS
from .vocabulary import Vocabulary, one_edit

SHORT = {"teh": "the", "hte": "the", "adn": "and", "nad": "and", "pu": "put", "tabel": "table", "u": "you"}
_INFLECTED = ("s", "es", "d", "ed", "ing", "er", "r", "ly", "n", "en", "y")
_TABLES = (
    en.VERBS, en.PREPS, en.EXCEPT, en.JOINS, english_manners.WORDS,
    en.WAYS, en.AWAY, en.UNITS, en.A_BIT, en.BEST, en.NEAREST,
    en.ON_THE_SIDE, en.ROBOT,
    en.NUMBERS, en.ALL, en.ANY, en.THE, en.PRONOUNS,
    en.QUESTIONS, en.PROTECT,
    en.ASK_PLAIN, en.COMPARED,
    ("colour color kind kinds type types category other others else either or only",),
    ("alone where it is in place as they are",), tuple(p for group in en.PARTICLES.values() for p in group),
)  # fmt: skip
_GRAVE = en.NEGATIONS | en.IFS | en.PAST
_PLAIN = frozenset(w for table in _TABLES for phrase in table for w in phrase.split()) | frozenset(
    form for forms in en.base_forms().values() for form in forms
)
# What a slip may stand for; the rest of a polite phrase is known, and nothing is read as it.
_CORE = frozenset(
    w
    for table in (
        en.VERBS,
        en.PREPS,
        en.UNITS,
        en.BEST,
        en.NUMBERS,
        en.ALL,
        en.THE,
        en.QUESTIONS,
    )
    for phrase in table
    for w in phrase.split()
) | {"please", "could", "would", "then", "after", "except", "without", "colour", "color", "kind", "other", "them"}


def corrected(tokens: list[str], vocabulary: Vocabulary) -> tuple[list[str], list[str], NotUnderstood | None]:
    """The tokens with slips put right, a line for each, and the question where two words fit."""
    found, notes, doubt = [], [], None
    for token in tokens:
        near = [] if is_known(token, vocabulary) else [SHORT[token]] if token in SHORT else _meant(token, vocabulary)
        certain = len(near) == 1 and (token in SHORT or _is_slip(token, near[0]))
        if certain:
            notes.append(f"read “{token}” as “{near[0]}”")
        elif near and doubt is None:
            code = "planner.doubt" if len(near) > 1 else "planner.doubt_one"
            doubt = NotUnderstood(code, "ambiguous", word=token, names=" / ".join(near))
        found.append(near[0] if certain else token)
    return found, notes, doubt


def is_known(word: str, vocabulary: Vocabulary) -> bool:
    return word in _PLAIN or word in _GRAVE or word in OTHERS or vocabulary.english_word(word) is not None


def _meant(word: str, vocabulary: Vocabulary) -> list[str]:
    """The known words that it may be a slip of; none where one of them denies or supposes something."""
    if len(word) < 4 or not word.isalpha() or not word.isascii():
        return []
    known = {*vocabulary.every_english_word(), *_CORE, *_GRAVE}
    # an inflected form is no slip: "places" or "placed" is no order
    stems = {word.removesuffix(end) for end in _INFLECTED if word.endswith(end) and word != end}
    if not known.isdisjoint(stems | {stem + "e" for stem in stems}):
        return []
    close = {k for k in known if -2 < len(k) - len(word) < 2 and one_edit(word, k)}
    if close & _GRAVE or (len(close) == 1 and not all(len(k) > 2 and k[0] == word[0] for k in close)):
        return []
    return sorted(close)


def _is_slip(word: str, meant: str) -> bool:
    """Is it the other word with two letters swapped, or with a letter once for twice or twice for once?"""
    return sorted(word) == sorted(meant) or _once(word) == _once(meant)


def _once(word: str) -> str:
    return "".join(letter for letter, _ in groupby(word))
