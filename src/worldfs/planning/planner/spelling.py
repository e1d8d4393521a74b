"""Misspelt words: corrected to the one possible known word, with a note; never a guess between two."""

from __future__ import annotations

from . import lexicon_en as en
from .unrelated_words_en import OTHERS
from .vocabulary import Vocabulary, one_edit

SHORT = {"teh": "the", "hte": "the", "adn": "and", "nad": "and", "pu": "put", "tabel": "table", "u": "you"}
_INFLECTED = ("s", "es", "d", "ed", "ing", "er", "r", "ly", "n", "en", "y")
_TABLES = (
    en.VERBS, en.PREPS, en.REQUESTS, en.WISHES, en.EXCEPT,
    en.JOINS, en.OPENERS, en.CLOSERS,
    en.WAYS, en.AWAY, en.UNITS, en.A_BIT, en.BEST, en.NEAREST,
    en.ON_THE_SIDE, en.ROBOT,
    en.TAGS, en.NUMBERS, en.ALL, en.ANY, en.THE, en.PRONOUNS,
    en.QUESTIONS, en.PROTECT,
    en.ASK_PLAIN, en.COMPARED,
    ("colour color kind kinds type types category other others else either or only",),
    ("alone where it is in place as they are",), tuple(p for group in en.PARTICLES.values() for p in group),
)  # fmt: skip
_GRAVE = en.NEGATIONS | en.IFS | en.PAST
_PLAIN = frozenset(w for table in _TABLES for phrase in table for w in phrase.split()) | frozenset(en.gerunds())
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


def corrected(tokens: list[str], vocabulary: Vocabulary) -> tuple[list[str], list[str]]:
    """The tokens with slips put right, and a line for each that says what was read."""
    found, notes = [], []
    for token in tokens:
        better = "" if _known(token, vocabulary) else SHORT.get(token) or _meant(token, vocabulary)
        if better:
            notes.append(f"read “{token}” as “{better}”")
        found.append(better or token)
    return found, notes


def _known(word: str, vocabulary: Vocabulary) -> bool:
    return word in _PLAIN or word in _GRAVE or word in OTHERS or vocabulary.english_word(word) is not None


def _meant(word: str, vocabulary: Vocabulary) -> str:
    if len(word) < 4 or not word.isalpha() or not word.isascii():
        return ""
    own = {k[2:] for k in vocabulary.raw if k[2:].isalpha()}
    nouns = {*vocabulary.english, *own}
    known = {*nouns, *(n + "s" for n in nouns), *en.IRREGULAR, *_CORE, *_GRAVE}
    # an inflected form is no slip: "places" or "placed" is no order
    if any(word == k + end or (k[-1:] == "e" and word == k[:-1] + end) for k in known for end in _INFLECTED if k):
        return ""
    close = {k for k in known if one_edit(word, k)}
    if len(close) != 1 or close & _GRAVE:
        return ""
    [only] = close
    return only if len(only) > 2 and only[0] == word[0] else ""
