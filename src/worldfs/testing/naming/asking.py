"""Kinds of questions: where, what, how many, is, which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from .drawing import Draw, Look
from .grammar import Speech
from .labels import Label
from .one_thing import Kind
from .truth import TABLE_ID, Answer, Item, Redraw, Truth, every, one, the


def _spread(d: Draw, name: Label, count: int = 1) -> list[Item]:
    """Things of that name, each in a container or on the table."""
    return [d.add(name, Look(inside=d.rng.choice(("", *(p.id for p in d.places))))) for _ in range(count)]


def _ids(things: Iterable[Item]) -> frozenset[str]:
    return frozenset(t.id for t in things)


def _support(thing: Item) -> str:
    return thing.inside or TABLE_ID


def where(d: Draw, s: Speech) -> tuple[str, Truth]:
    d.ordinary_places(2)
    name = d.anything()
    (thing,) = _spread(d, name)
    d.fill(1, 3)
    one(name, d.things)
    text = s.pick("where is {} / where's {} / where can I find {}", "{}在哪里 / {}在哪儿 / {}在哪").format(s.the(name))
    if s.en and name.plural == name.text:
        text = text.replace(" is ", " are ").replace("where's", "where are")
    return _asked(s, text), Truth(answer=Answer("where", frozenset({_support(thing)})))


def where_modifier(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Where is the can?", with only a can opener: asked; that there is none would be untrue of its word."""
    d.ordinary_places(2)
    name = d.compound()
    phrase = d.bare(name)
    _spread(d, name)
    d.fill(1, 3, clear=[phrase])
    found = the(phrase, d.things)
    if found.thing is not None or found.among:
        raise Redraw
    return _asked(s, s.pick("where is {}", "{}在哪里 / {}在哪儿").format(s.the(phrase))), Truth(
        answer=Answer("where", none=True, asked=True)
    )


def where_several(d: Draw, s: Speech) -> tuple[str, Truth]:
    """Of two things: both places, or a question."""
    d.ordinary_places(2)
    name = d.compound()
    head = d.head(name)
    things = [*_spread(d, name), *_spread(d, d.named(name.head))]
    d.fill(0, 2, clear=[head])
    text = s.pick("where is {}", "{}在哪里").format(s.the(head))
    return _asked(s, text), Truth(ask=True, answer=Answer("where", frozenset(_support(t) for t in things)))


def what_in(d: Draw, s: Speech) -> tuple[str, Truth]:
    places = d.ordinary_places(2)
    place = places[0]
    one(place.name, d.places)
    for _ in range(d.rng.choice((0, 1, 2, 3))):
        d.add(d.anything(), Look(inside=place.id))
    d.fill(1, 3)
    text = s.pick(
        "what is in {} / what's in {} / what do you see in {}", "{}里有什么 / {}里面有什么 / {}里有什么东西"
    ).format(s.the(place.name))
    return _asked(s, text), Truth(answer=Answer("list", frozenset(t.id for t in d.things if t.inside == place.id)))


def how_many(d: Draw, s: Speech) -> tuple[str, Truth]:
    """A count by the head: what only has the word in its name does not count."""
    d.ordinary_places(1)
    name = d.compound()
    phrase = d.head(name) if d.rng.random() < 0.65 else d.bare(name)
    for _ in range(d.rng.choice((1, 2, 3))):
        d.add(d.rng.choice((name, d.named(name.head))))
    d.fill(1, 3)
    if not phrase.countable:
        raise Redraw
    count = len(every(phrase, d.things))
    text = s.pick("how many {} are there / how many {} do you see", "有几{m}{} / 有多少{m}{} / 一共有几{m}{}").format(
        phrase.plural, m=s.measure(phrase)
    )
    names = _ids(every(phrase, d.things))
    return _asked(s, text), Truth(answer=Answer("count", names, count, none=not count, asked=not count))


def how_many_in(d: Draw, s: Speech) -> tuple[str, Truth]:
    """A count of what is in a container: all things, or those of a head."""
    place = d.ordinary_places(2)[0]
    one(place.name, d.places)
    name = d.compound()
    head = d.head(name)
    for _ in range(d.rng.choice((1, 2))):
        d.add(d.rng.choice((name, d.named(name.head))), Look(inside=place.id))
    d.add(name)
    d.add(d.anything(), Look(inside=place.id))
    d.fill(0, 2)
    if not head.countable or (s.en and head.plural == head.text):
        raise Redraw
    inside = [t for t in d.things if t.inside == place.id]
    if d.rng.random() < 0.5:
        text = s.pick("how many things are in {} / how many things are there in {}", "{}里有几个东西 / {}里有多少东西")
        return _asked(s, text.format(s.the(place.name))), Truth(answer=Answer("count", _ids(inside), len(inside)))
    found = [t for t in every(head, d.things) if t in inside]
    text = s.pick("how many {n} are in {p} / how many {n} are there in {p}", "{p}里有几{m}{n} / {p}里有多少{n}")
    text = text.format(n=head.plural, p=s.the(place.name), m=s.measure(head))
    return _asked(s, text), Truth(answer=Answer("count", _ids(found), len(found), none=not found))


def is_there(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is there a can?": not a can opener."""
    d.ordinary_places(1)
    name = d.compound()
    phrase = d.bare(name) if d.rng.random() < 0.5 else d.head(name)
    d.add(name)
    d.fill(1, 3, clear=[phrase])
    if not phrase.countable or (s.en and phrase.plural == phrase.text):
        raise Redraw
    there = len(every(phrase, d.things)) > 0
    text = s.pick("is there {a} / is there {a} here / do you see {a}", "有{n}吗 / 有没有{n} / 这里有{n}吗").format(
        a=s.a(phrase) if s.en else "", n=phrase.text
    )
    return _asked(s, text), Truth(answer=Answer("exists", yes=there, none=not there, asked=not there))


def is_in(d: Draw, s: Speech) -> tuple[str, Truth]:
    places = d.ordinary_places(2)
    name = d.anything()
    (thing,) = _spread(d, name)
    d.fill(1, 3)
    one(name, d.things)
    place = d.rng.choice(places)
    one(place.name, d.places)
    text = s.pick("is {a} in {p}", "{a}在{p}里吗 / {a}是不是在{p}里").format(a=s.the(name), p=s.the(place.name))
    if s.en and name.plural == name.text:
        text = "are" + text.removeprefix("is")
    return _asked(s, text), Truth(answer=Answer("yes_no", yes=thing.inside == place.id))


def is_modifier_in(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is the can in the basket?", where the can opener is."""
    place = d.ordinary_places(2)[0]
    one(place.name, d.places)
    name = d.compound()
    phrase = d.bare(name)
    d.add(name, Look(inside=place.id))
    d.fill(1, 3, clear=[phrase])
    found = the(phrase, d.things)
    if found.thing is not None or found.among:
        raise Redraw
    text = s.pick("is {a} in {p}", "{a}在{p}里吗").format(a=s.the(phrase), p=s.the(place.name))
    return _asked(s, text), Truth(answer=Answer("yes_no", yes=False, none=True, asked=True))


def which_most(d: Draw, s: Speech) -> tuple[str, Truth]:
    d.ordinary_places(1)
    masses = [0.05, 0.12, 0.3, 0.6]
    d.rng.shuffle(masses)
    things = [d.add(d.anything(), Look(mass=m)) for m in masses[: d.rng.choice((3, 4))]]
    if len({t.name.text for t in things}) < len(things):
        raise Redraw
    most = d.rng.random() < 0.5
    thing = (max if most else min)(things, key=lambda t: t.mass)
    en, zh = ("heaviest", "最重") if most else ("lightest", "最轻")
    text = s.pick(
        f"which object is the {en} / what is the {en} thing / which thing is the {en}",
        f"哪个东西{zh} / {zh}的东西是什么 / 哪个{zh}",
    )
    return _asked(s, text), Truth(answer=Answer("which", frozenset({thing.id})))


def heavier(d: Draw, s: Speech) -> tuple[str, Truth]:
    d.ordinary_places(1)
    names = [d.compound(), d.anything()]
    things = [d.add(n, Look(mass=m)) for n, m in zip(names, d.rng.sample((0.05, 0.2, 0.5), 2), strict=True)]
    d.fill(0, 2)
    for name in names:
        one(name, d.things)
    thing = max(things, key=lambda t: t.mass)
    text = s.pick("which is heavier, {} or {}", "{}和{}哪个更重 / {}和{}哪个重").format(
        s.the(names[0]), s.the(names[1])
    )
    return _asked(s, text), Truth(answer=Answer("which", frozenset({thing.id})))


def _asked(s: Speech, text: str) -> str:
    return text + ("?" if s.en else "？")


KINDS: Final[Mapping[str, Kind]] = {
    "where?": where, "where, a modifier?": where_modifier, "where, of several?": where_several,
    "what is in?": what_in, "how many?": how_many, "how many in?": how_many_in, "is there?": is_there,
    "is it in?": is_in, "is a modifier in?": is_modifier_in, "which is most?": which_most, "which of two?": heavier,
}  # fmt: skip
