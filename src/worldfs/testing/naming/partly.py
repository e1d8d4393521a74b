"""Kinds of sentences about things that fit a phrase in part: a brand or a size after the head, half of a modifier.

What is called "glue Pattex" or 瓶子250毫升 counts among the glue and the bottles, or it is asked about, and stays where
these stay. A half-full bottle is no full bottle, and 防水袋 no 水袋.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from . import words_en, words_zh
from .drawing import Draw, Look
from .grammar import Speech
from .labels import EN, Label, any_related, chinese, english, plain
from .one_thing import Kind
from .several_things import all_but
from .truth import Answer, Item, Redraw, Truth, ends, every


def _tailed(name: Label, tail: str) -> Label:
    space = " " if name.language == EN else ""
    return Label(f"{name.text}{space}{tail}", name.head, tuple(tail.lower().split()), name.language, tail=tail)


def partly_named(d: Draw, s: Speech) -> tuple[str, Truth]:
    """All, all but, how many, or one: of "glue Pattex" and "wood glue"."""
    name = d.rng.choice([p for p in plain(d.names) if p.countable and p.head not in words_en.NEVER_ONE])
    if s.en and name.plural == name.text:
        raise Redraw
    tail = d.rng.choice((words_en.TAILS if s.en else words_zh.TAILS).split(", "))
    if s.en:
        d.write_as_said()
    d.ordinary_places(1)
    found = [d.add(_tailed(name, tail.replace("_", " "))), d.add(d.named(name.head))]
    if any_related(name.head, [p.name.head for p in d.places]):
        raise Redraw
    d.fill(1, 3, clear=[name])
    if set(every(name, d.things)) != set(found):
        raise Redraw
    return _asked(d, s, name, found)


def _asked(d: Draw, s: Speech, name: Label, found: Sequence[Item]) -> tuple[str, Truth]:
    way, place = d.rng.choice(("all", "but", "count", "one", "but one")), d.places[0]
    if way == "all":
        return s.put(s.all(name), s.into(place)), Truth(ends(found, [place.id]), ask=True)
    if way == "count":
        count = Answer("count", frozenset(t.id for t in found), len(found))
        return s.pick("how many {} are there?", "有几个{}？ / 有多少个{}？").format(name.plural), Truth(
            ask=True, answer=count
        )
    if way == "one":
        return s.put(s.the(name), s.into(place)), Truth(candidates=frozenset(t.id for t in found))
    plural = way == "but"
    phrase = (f"the {name.plural}" if plural else f"the {name.text}") if s.en else name.text
    text, truth = all_but(d, s, phrase, found, ask=True)
    return text.replace("where it is", "where they are") if plural else text, truth


def half_of_a_word(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The full bottle", of a half-full bottle: to be asked about; of a full one too, only that."""
    whole, half = d.rng.choice((words_en.HALVES if s.en else words_zh.HALVES).split(", ")).split("|")
    head = d.word("sided") if s.en else d.compound().head
    make = english if s.en else chinese
    name, said = make([whole], head), make([half], head)
    if s.en and said.plural == said.text:
        raise Redraw
    d.ordinary_places(1)
    d.add(name, Look(colour="green"))
    both = d.rng.random() < 0.4
    real = [d.add(said, Look(colour="white" if half in ("white", "白的") else ""))] if both else []
    d.fill(1, 2, clear=[d.head(name)])
    if any_related(head, [t.name.head for t in (*d.things, *d.places)]):
        raise Redraw
    place = d.places[0]
    if both:
        return s.put(s.all(said) if d.rng.random() < 0.5 else s.the(said), s.into(place)), Truth(
            ends(real, [place.id]), ask=True
        )
    roll = d.rng.random()
    if s.en and roll < 0.2:
        return f"is there {s.a(said)}?", Truth(ask=True, answer=Answer("exists", yes=False, none=True))
    if roll < 0.5:
        return all_but(d, s, s.the(said), [d.things[0]])[0], Truth()
    return s.put(s.all(said) if roll < 0.65 else s.the(said), s.into(place)), Truth()


def measured_first(d: Draw, s: Speech) -> tuple[str, Truth]:
    """13毫米的套筒, of 13毫米套筒 and 10毫米套筒: that one; and all, or how many, by the head of both."""
    head, measures = d.rng.choice(words_zh.MEASURED.split(", ")).split("|")
    one, other = d.rng.sample(measures.split(), 2)
    found = [d.add(chinese((measure,), head)) for measure in (one, other)]
    return _alike(d, s, chinese((), head), found, chinese((f"{one}的",), head).text)


def sorts_of_a_head(d: Draw, s: Speech) -> tuple[str, Truth]:
    """All of 薄荷种子 and 罗勒种子 by their head, or how many of it there are, or one by its name."""
    head, sorts = d.rng.choice(words_zh.SORTS.split(", ")).split("|")
    found = [d.add(chinese((sort,), head)) for sort in d.rng.sample(sorts.split(), 2)]
    return _alike(d, s, chinese((), head), found, found[0].name.text)


def _alike(d: Draw, s: Speech, head: Label, found: Sequence[Item], one: str) -> tuple[str, Truth]:
    place = d.ordinary_places(1)[0]
    d.fill(0, 2, clear=[head])
    way = d.rng.choice(("all", "count", "two", "one", "but"))
    if way == "count":
        return f"有几个{head.text}？", Truth(answer=Answer("count", frozenset(t.id for t in found), 2))
    if way == "but":
        return all_but(d, s, one, [found[0]])
    said = {"all": s.all(head), "two": s.both(head), "one": one}[way]
    return s.put(said, s.into(place)), Truth(ends(found[:1] if way == "one" else found, [place.id]))


KINDS: Final[Mapping[str, Kind]] = {
    "fits in part": partly_named, "half of a word": half_of_a_word, "measured first": measured_first,
    "sorts of a head": sorts_of_a_head,
}  # fmt: skip
CHINESE: Final = frozenset(("measured first", "sorts of a head"))
