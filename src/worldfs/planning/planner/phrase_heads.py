"""Heads of noun phrases, in either language: a bare colour names nothing until it borrows a head."""

from __future__ import annotations

from dataclasses import replace

from worldfs.base.name_parts import DESCRIBING_SIGNS, MATERIALS_ZH

from . import lexicon_en
from .intent import NotUnderstood, NounPhrase
from .vocabulary import Word


def share_heads(nouns: list[NounPhrase]) -> tuple[NounPhrase, ...]:
    """ "the red and blue cubes": a phrase of colours takes the head of the next; none to take: not understood."""
    found = list(nouns)
    for n in range(len(found) - 2, -1, -1):
        if not has_head(found[n]) and has_head(found[n + 1]):
            model = found[n + 1]
            head = tuple(w for w in model.words if not _colour_word(w[0]))
            quantity = found[n].quantity or model.quantity
            found[n] = replace(found[n], words=(*found[n].words, *head), quantity=quantity, plural=model.plural)
    for n, noun in enumerate(found[1:], 1):
        if not (noun.quantity or noun.pronoun or noun.options or any(word == "s" for word, _ in noun.words)):
            found[n] = replace(noun, owner=found[n - 1].owner)  # "my pens and keys"
    described: tuple[Word, ...] = ()
    for n, noun in enumerate(found):
        if not has_head(noun):
            raise NotUnderstood("planner.headless", word=noun.text)
        own = noun.words[:-1]
        if n and not (own or noun.quantity or noun.count or noun.best or noun.without or noun.being or noun.pronoun):
            found[n] = replace(noun, under=described)
        else:
            described = own
    return tuple(found)


def is_description(word: Word) -> bool:
    """Does the word say how a thing is (red, small, wooden, 红色), and not which kind it is (tea, of a tea mug)?"""
    text = word[0]
    signs = MATERIALS_ZH.fullmatch(text) is not None or set(text) <= set(DESCRIBING_SIGNS)
    return is_colour(word) or text in lexicon_en.PLAIN or signs


def has_head(noun: NounPhrase) -> bool:
    """Does the phrase name a kind, a thing or "ones", and not only a colour?"""
    return noun.pronoun or bool(noun.options) or any(not _colour_word(word) for word, _ in noun.words)


def is_colour(word: Word) -> bool:
    """Does the word name a colour, and no thing?"""
    return any(sense[:2] == "c:" for sense in word[1]) and all(sense[:2] in ("c:", "w:") for sense in word[1])


def _colour_word(word: str) -> bool:
    # "orange" is a fruit as well, so it may stand alone
    return word != "orange" and any(word in names.split() for pair in lexicon_en.COLOURS.values() for names in pair)
