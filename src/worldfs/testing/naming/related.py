"""Kinds of sentences in scenes that hold two names for one kind: cans and tins, cups and mugs, 盒子 and 箱子.

Where things of the said name are there, the others are not meant; and no sentence gives one thing two places.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from . import words_en, words_zh
from .drawing import Draw, Look
from .grammar import Speech
from .labels import EN, ZH, Label, alone, english
from .one_thing import Kind
from .several_things import all_but
from .truth import Answer, Item, Redraw, Truth, both, ends, one, some


def _pair(d: Draw) -> tuple[Label, Label]:
    """Two names; the second may be thought to be the first."""
    said, other = d.rng.choice(words_en.TWO_NAMES if d.names == EN else words_zh.TWO_NAMES).split()
    if d.rng.random() < 0.5 and (said, other) != ("cup", "mug"):
        said, other = other, said
    if d.names == EN:
        return english((), said), english((), other)
    return _alone(said), _alone(other)


def _alone(word: str) -> Label:
    """A Chinese word, with the sign by which the other names know it: 盒 of 盒子."""
    return Label(word, next((sign for sign in words_zh.COMPOUNDS if alone(sign) == word), word), (), ZH)


def _scene(d: Draw, count: int, others: int, places: int = 1) -> tuple[Label, Label, list[Item], list[Item]]:
    said, other = _pair(d)
    for place in d.ordinary_places(places):
        one(place.name, d.places)
        if place.name.text.endswith((said.head.removesuffix("子"), other.head.removesuffix("子"))):
            raise Redraw
    drawn = [said] * count + [other] * others
    d.rng.shuffle(drawn)
    stated = d.rng.random() < 0.4  # each by its own name
    for name in drawn:
        d.add(name, Look(category=name.text if stated else ""))
    found = [t for t in d.things if t.name.head == said.head]
    rest = [t for t in d.things if t.name.head == other.head]
    d.fill(0, 2, clear=[said, other])
    return said, other, found, rest


def some_of_that_name(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Put two cups in the basket", with cups and mugs; of one cup, ask."""
    number = d.rng.choice((1, 2, 2))
    said, _, found, _ = _scene(d, d.rng.choice((1, 2, 3)), d.rng.choice((1, 2, 3)))
    text = s.a(said) if number == 1 else s.pick("two {} / any two {}", "两{m}{} / 任意两{m}{}")
    text = text.format(said.plural, m=s.measure(said))
    moved = some(found, number, d.places[0].id) if len(found) >= number else ()
    return s.put(text, s.into(d.places[0])), Truth(moved)


def all_of_that_name(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "All the cans", with cans and tins; of one can, ask or move it."""
    said, _, found, _ = _scene(d, d.rng.choice((1, 2, 2, 3)), d.rng.choice((1, 2)))
    return s.put(s.all(said), s.into(d.places[0])), Truth(ends(found, [d.places[0].id]), ask=len(found) == 1)


def each_to_its_own(d: Draw, s: Speech) -> tuple[str, Truth]:
    said, other, found, rest = _scene(d, 2, 2, 2)
    p, q = d.places
    text = s.pick(
        "put the {a} {p} and the {b} {q} / put all the {a} {p} and all the {b} {q} / put the {a} {p}. Put the {b} {q}",
        "把所有{a}{p}，把所有{b}{q} / 把{a}都{p}，把{b}都{q}",
    ).format(a=said.plural, b=other.plural, p=s.into(p), q=s.into(q))
    return text, Truth(both(ends(found, [p.id]), ends(rest, [q.id])))


def one_and_one_more(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "A mug in the basket and a mug in the tray": two of them."""
    said, _, found, _ = _scene(d, d.rng.choice((2, 3)), 1, 2)
    p, q = d.places
    text = s.pick(
        "put {a} {p} and {a} {q} / put {a} {p}, then put {a} {q}", "把{a}{p}，把{a}{q} / 先把{a}{p}，再把{a}{q}"
    )
    pairs = [(a, b) for a in found for b in found if a != b]
    moved = tuple(end for a, b in pairs for end in both(ends([a], [p.id]), ends([b], [q.id])))
    return text.format(a=s.a(said), p=s.into(p), q=s.into(q)), Truth(moved)


def all_but_that_name(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Everything but the cans": the tins move, or stay, or it asks; a can never moves."""
    said, _, found, rest = _scene(d, 2, d.rng.choice((1, 2)))
    if len(d.things) == len(found) + len(rest):
        raise Redraw
    phrase = f"the {said.plural}" if s.en else s.pick("", "所有{} / 那些{}").format(said.text)
    text, truth = all_but(d, s, phrase, found, ask=True)
    both_stay = ends([t for t in d.things if t not in (*found, *rest)], [d.places[0].id])
    return text.replace("where it is", "where they are"), Truth((*truth.ends, *both_stay), ask=True)


def coloured_other(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The red cup", of a blue cup and a red mug: which?"""
    said, other = _pair(d)
    d.ordinary_places()
    one_hue, two_hue = d.rng.sample(words_en.COLOURS.split(", "), 2)
    d.add(said, Look(colour=one_hue))
    d.add(other, Look(colour=two_hue))
    d.fill(0, 2, clear=[said, other])
    phrase = f"{two_hue} {said.text}" if s.en else f"{words_zh.COLOURS[two_hue]}色{said.text}"
    what = s.pick("the {} / a {}", "{} / 一个{}").format(phrase)
    return s.put(what, s.into(d.places[0])), Truth()


def of_two_places(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The red things in the basket and the cups in the tray", with a red cup: which of the two?"""
    said, *_ = _scene(d, 0, 0, 2)
    hue, another = d.rng.sample(words_en.COLOURS.split(", "), 2)
    for name, colour in ((said, hue), (said, another), (d.plain(), hue)):
        d.add(name, Look(colour=colour))
    things = f"the {hue} things" if s.en else f"{words_zh.COLOURS[hue]}色的东西都"
    them = f"the {said.plural}" if s.en else f"所有{said.text}"
    p, q = d.places
    text = s.pick("put {a} {p} and {b} {q} / put {a} {p}, {b} {q}", "把{a}{p}，把{b}{q}")
    return text.format(a=things, b=them, p=s.into(p), q=s.into(q)), Truth()


def how_many_of_that_name(d: Draw, s: Speech) -> tuple[str, Truth]:
    said, _, found, _ = _scene(d, d.rng.choice((1, 2, 3)), d.rng.choice((1, 2)))
    text = s.pick("how many {} are there?", "有几{m}{}？ / 有多少{m}{}？").format(said.plural, m=s.measure(said))
    return text, Truth(answer=Answer("count", frozenset(i.id for i in found), len(found)))


ASKED: Final[Mapping[str, Kind]] = {"how many of that name?": how_many_of_that_name}
KINDS: Final[Mapping[str, Kind]] = {
    "some of that name": some_of_that_name, "all of that name": all_of_that_name, "each to its own": each_to_its_own,
    "one and one more": one_and_one_more, "all but that name": all_but_that_name, "coloured other": coloured_other,
    "of two places": of_two_places, **ASKED,
}  # fmt: skip
