"""Kinds of sentences about what a thing is, where its name alone does not tell: a stated category, or a one-word name.

A category makes a thing one of that kind; without one nothing tells of what kind a thing is. A teaspoon may be one of
the spoons: it counts, or it is asked about. A pineapple is no apple.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from . import words_en, words_zh
from .drawing import Draw, Look
from .grammar import Speech
from .labels import Label, any_related, compounds, english, invented
from .one_thing import Kind
from .several_things import all_but
from .truth import Answer, Item, Redraw, Truth, contained, ends, exact, one, sure


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


def of_no_known_kind(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Everything but the tools", with a thing of no stated kind: ask. A count may name it."""
    groups = (words_en if s.en else words_zh).GROUPS.split(", ")
    group, other = d.rng.sample(groups, 2)
    d.ordinary_places(1)
    one(d.places[0].name, d.places)
    said = english((), group).plural if s.en else group
    found = [_unheard_of(d, group) for _ in range(2)]
    for _ in range(d.rng.choice((1, 2))):
        _unheard_of(d, other)
    unknown = [_unheard_of(d, "") for _ in range(d.rng.choice((0, 1)))]
    if len({t.name.text for t in d.things}) < len(d.things):
        raise Redraw
    if d.rng.random() < 0.3:
        text = s.pick("how many {} are there?", "有几个{}？ / 有多少个{}？").format(said)
        return text, Truth(answer=Answer("count", frozenset(t.id for t in found), len(found)))
    text, truth = all_but(d, s, f"the {said}" if s.en else said, found)
    text = text.replace("where it is", "where they are")
    return text, Truth(candidates=frozenset(t.id for t in unknown)) if unknown else truth


def _unheard_of(d: Draw, category: str) -> Item:
    """A thing with a name that no list knows."""
    return d.add(d.make((), invented(d.names, d.rng)), Look(category=category))


def called_otherwise(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The doll", of a rag doll and a Barbie that is stated to be a doll: which? "The dolls" are both."""
    name = d.rng.choice(compounds(d.names))
    said = d.head(name)
    if not said.countable or said.text == "stand" or any_related(name.words[0], [said.head]):
        raise Redraw
    d.ordinary_places(1)
    one(d.places[0].name, d.places)
    called = d.add(said if d.rng.random() < 0.25 else name, Look(category=said.text))
    found = [called, d.add(d.make((), invented(d.names, d.rng)), Look(category=said.text))]
    d.rng.shuffle(d.things)
    if d.rng.random() < 0.3:
        return s.put(s.all(said), s.into(d.places[0])), Truth(ends(found, [d.places[0].id]))
    text = s.put(s.the(said), s.into(d.places[0]))
    if exact(said, [called]):
        return text, Truth(ends([called], [d.places[0].id]))
    return text, Truth(candidates=frozenset(t.id for t in found))


def of_another_colour(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The red glass", of a turquoise "red wine glass": which? With a glass that is red, that one."""
    name, hue = d.rng.choice(compounds(d.names)), d.rng.choice(words_en.COLOURS.split(", "))
    d.ordinary_places(1)
    one(d.places[0].name, d.places)
    d.add(d.make((hue, *name.words), name.head), Look(colour=d.rng.choice(words_en.SHADES.split(", "))))
    phrase = d.make((), name.head, hue)
    if d.rng.random() < 0.5:
        return s.put(s.the(phrase), s.into(d.places[0])), Truth(candidates=frozenset(t.id for t in d.things))
    painted = d.add(d.named(name.head, but=[name]), Look(colour=hue))
    text = s.put(s.the(phrase), s.into(d.places[0]))
    return text, Truth(ends([painted], [d.places[0].id]), ask=True)


KINDS: Final[Mapping[str, Kind]] = {
    "of no known kind": of_no_known_kind, "called otherwise": called_otherwise, "of another colour": of_another_colour,
    "of a category": of_a_category, "by its ending": by_its_ending, "but for its ending": but_for_its_ending,
}  # fmt: skip
ENGLISH: Final = frozenset(("by its ending", "but for its ending", "of another colour"))
