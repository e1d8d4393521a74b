"""Kinds of sentences about what a thing is, where its name alone does not tell: a stated category, or a one-word name.

A category makes a thing one of that kind, and a teaspoon may be one of the spoons: it counts, or it is asked about. A
pineapple is no apple.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from . import words_en
from .drawing import Draw, Look
from .grammar import Speech
from .labels import Label, any_related, english
from .one_thing import Kind
from .several_things import all_but
from .truth import Answer, Item, Redraw, Truth, contained, ends, one, sure


def _of_category(d: Draw) -> tuple[Label, list[Item]]:
    """A word, and things whose category it is: in the name of one it is a modifier, in those of the others no part."""
    name = d.compound()
    said = d.bare(name)
    d.ordinary_places(1)
    one(d.places[0].name, d.places)
    found = [d.add(name, Look(category=said.text))]
    for _ in range(d.rng.choice((0, 1, 1, 2))):
        other = d.plain()
        if any_related(other.head, [said.head]) or other.head in (said.head, name.head):
            raise Redraw
        found.append(d.add(other, Look(category=said.text)))
    d.fill(1, 2, clear=[said])
    if not said.countable or any(said.head in t.name.words for t in d.things if t not in found):
        raise Redraw
    if sure(said, d.things) or contained(said, [t for t in d.things if t not in found]):
        raise Redraw
    return said, found


def _asked(d: Draw, s: Speech, said: Label, found: Sequence[Item]) -> tuple[str, Truth]:
    """All of them, all but them, or how many: where it is not asked, each of them counts."""
    way, place = d.rng.choice(("all", "but", "count")), d.places[0]
    if way == "all":
        return s.put(s.all(said), s.into(place)), Truth(ends(found, [place.id]), ask=True)
    if way == "but":
        phrase = f"the {said.plural}" if s.en else s.pick("", "所有{} / 那些{}").format(said.text)
        text, truth = all_but(d, s, phrase, found, ask=True)
        return text.replace("where it is", "where they are"), truth
    text = s.pick("how many {} are there?", "有几个{}？ / 有多少个{}？").format(said.plural)
    return text, Truth(ask=True, answer=Answer("count", frozenset(t.id for t in found), len(found)))


def of_a_category(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Everything but the medicine", with a medicine bottle whose category is medicine."""
    return _asked(d, s, *_of_category(d))


def by_its_ending(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "All the spoons", with a soup spoon and a teaspoon."""
    word, head = d.rng.choice(words_en.ENDED).split()
    said = english((), head)
    d.ordinary_places(1)
    one(d.places[0].name, d.places)
    found = [d.add(english((), word)), d.add(d.rng.choice((said, d.named(head))))]
    d.fill(1, 2, clear=[said])
    if any(head in t.name.words for t in d.things):
        raise Redraw
    return _asked(d, s, said, found)


def but_for_its_ending(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "All the apples", with a pineapple; "the apple" is the apple."""
    word, head = d.rng.choice(words_en.OTHER_ENDED).split()
    said = english((), head)
    d.ordinary_places(1)
    one(d.places[0].name, d.places)
    alone = d.rng.random() < 0.5
    found = [d.add(said) for _ in range(1 if alone else 2)]
    d.add(english((), word))
    d.fill(1, 2, clear=[said])
    if any(head in t.name.words for t in d.things):
        raise Redraw
    if not alone:
        text, truth = _asked(d, s, said, found)
        return text, Truth(truth.ends, answer=truth.answer)
    return s.put(s.the(said), s.into(d.places[0])), Truth(ends(found, [d.places[0].id]))


KINDS: Final[Mapping[str, Kind]] = {
    "of a category": of_a_category, "by its ending": by_its_ending, "but for its ending": but_for_its_ending,
}  # fmt: skip
ENGLISH: Final = frozenset(("by its ending", "but for its ending"))
