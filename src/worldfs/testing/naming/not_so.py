"""Kinds of sentences in which half of a phrase is easily lost: "non-", "not in the box", the 1 of "1 litre bottle", an
owner after a noun, the end of a longer word, thanks for what was done. What is not obeyed must be asked about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .drawing import Draw, Look
from .grammar import Speech
from .labels import EN, Label, any_related, chinese, english
from .one_thing import Kind
from .several_things import all_but, distinct
from .truth import Redraw, Truth, ends, every, one

_STATES: Final = ("clean, sealed, plastic, sterile, spare, sharp", "塑料, 密封, 备用, 陶瓷")
_MEASURES: Final = "litre bottle, pound coin, inch nail, person tent, kg bag, hole punch, euro coin, metre cable"
_NUMBERS: Final = (("1", "one"), ("2", "two"), ("3", "three"), ("5", "five"))
_ENDS: Final = (
    "toothpick|guitar pick, keyboard|cutting board, candlestick|hockey stick, chopstick|glue stick, "
    "drumstick|walking stick, sandpaper|baking paper, wallpaper|writing paper, horseshoe|tennis shoe"
)
_OWNERS: Final = ("Maren, Berlin, Dr Helm, Brovex, Ines", "莲芷酒店, 霁川")
_CONTENTS: Final = "bag|rice|flour, jar|honey|jam, box|sugar|salt, bottle|oil|vinegar, can|soup|milk"


def all_that_are_not(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "All non-sterile swabs", of a sterile and another one: that one, or ask; never the sterile one. Without a noun
    after it, ask."""
    state, head = d.rng.choice(_STATES[0 if d.names == EN else 1].split(", ")), d.word("sided")
    d.ordinary_places(1)
    make = english if s.en else chinese
    name = make([state], head)
    d.add(name)
    other = [d.add(d.named(head, but=[name]))] if d.rng.random() < 0.6 else []
    d.fill(1, 3, clear=[d.head(name)])
    plural = d.head(name).plural
    if (
        any(state in t.name.words for t in other)
        or (s.en and plural == head)
        or any_related(head, [t.name.head for t in (*d.things, *d.places)])
    ):
        raise Redraw
    said = s.pick(
        f"all non-{state} {plural} / every non-{state} {head} / all the non {state} {plural} / all not {state} {plural}"
        f" / the non-{state} {plural} / each non-{state} {head} / all non-{state} things / all non-{state}"
        f" / all non-{plural}",
        f"所有非{state}的{head} / 不是{state}的{head}都 / 所有非{state}的东西",
    )
    truth = Truth(ends(other, [d.places[0].id]) if other and (head in said or plural in said) else (), ask=True)
    return s.put(said, s.into(d.places[0])), truth if f"non-{plural}" not in said else Truth()


def measured_one(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The 1 litre bottle", of a 2 litre bottle: ask; where both are here, that one."""
    measure, head = d.rng.choice(_MEASURES.split(", ")).split()
    number = d.rng.choice(_NUMBERS[1:])[d.rng.randrange(2)]
    other = d.add(english([number, measure], head))
    said = english([d.rng.choice(_NUMBERS[0]), measure], head)
    d.write_as_said()
    d.ordinary_places()
    d.fill(1, 3, clear=[english((), head)])
    rest = [t for t in d.things if t is not other]
    if not rest or any_related(head, [t.name.head for t in (*rest, *d.places)]):
        raise Redraw
    if d.rng.random() < 0.25:
        asked = one(d.add(said).name, d.things)
        return s.put(s.the(said), s.into(d.places[0])), Truth(ends([asked], [d.places[0].id]))
    roll, beside = d.rng.random(), one(rest[0].name, d.things)
    phrase = f"{s.pick('the / the / the / a', '')} {said.text}"
    if roll < 0.5:
        return s.put(phrase if d.rng.random() < 0.8 else said.text, s.into(d.places[0])), Truth()
    if roll < 0.65:
        return s.put(f"{s.the(beside.name)} and {phrase}", s.into(d.places[0])), Truth()
    if roll < 0.8:
        return s.put(s.the(beside.name), f"next to {phrase}"), Truth()
    return all_but(d, s, phrase, [other])[0], Truth()


def not_there(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Everything not in the box", 盒子外的东西: what lies in it stays, or ask."""
    first, second = d.ordinary_places(2)
    for place in (first, second):
        one(place.name, d.places)
    name = d.plain()
    inside, outside = d.add(name, Look(colour="red", inside=second.id)), d.add(name, Look(colour="blue"))
    d.fill(1, 3, clear=[name])
    if not name.countable or set(every(name, d.things)) != {inside, outside}:
        raise Redraw
    all_of_it = d.rng.random() < 0.5
    what = s.pick("everything / all things / all the things", "东西") if all_of_it else (
        s.pick(f"the {name.plural} / all {name.plural} / every {name.text}", name.text))  # fmt: skip
    there = second.name.text
    said = s.pick(
        f"{what} not in the {there} / {what} that is not in the {there} / {what} not inside the {there} / "
        f"{what} not on the table",
        f"{there}外的{what}都 / {there}之外的{what} / 不在{there}里的{what}都 / {there}外的{what}",
    )
    moved = [t for t in d.things if t is not inside] if all_of_it else [outside]
    moved = [inside] if "table" in said else moved
    return s.put(said, s.into(first)), Truth(ends(moved, [first.id]), ask=True)


def owner_alone(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Put Anna in the box", of a "coat Anna": ask; so of all but Anna, and next to Anna."""
    owner = d.rng.choice(_OWNERS[0 if s.en else 1].split(", "))
    name = d.rng.choice([p for p in (d.plain(), d.compound()) if p.countable])
    text = f"{name.text} {owner}"
    d.write_as_said()
    d.add(Label(text, name.head, (*name.words, *owner.lower().split()), name.language, tail=owner))
    d.ordinary_places()
    d.fill(1, 3, clear=[name])
    if len(d.things) < 2:
        raise Redraw
    way, other = d.rng.random(), one(d.things[1].name, d.things)
    if way < 0.4:
        return s.put(owner, s.into(d.places[0])), Truth()
    if way < 0.7:
        return all_but(d, s, owner, [d.things[0]])[0], Truth()
    side = s.pick(f"next to {owner} / to the left of {owner}", f"放在{owner}旁边 / 放到{owner}左边")
    return s.put(s.the(other.name), side), Truth()


def end_of_a_word(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The pick", of a toothpick and a guitar pick: ask."""
    word, two = d.rng.choice(_ENDS.split(", ")).split("|")
    modifier, head = two.split()
    d.ordinary_places()
    found = [d.add(english((), word)), d.add(english([modifier], head))]
    d.fill(0, 3, clear=[english((), head), english((), word)])
    if d.rng.random() < 0.5:
        text = all_but(d, s, f"the {head}", found[:1])[0] if len(d.things) > 2 else ""
        return text or s.put(f"the {head}", s.into(d.places[0])), Truth()
    said = f"the {head}" if d.rng.random() < 0.6 else f"all {head}s"
    return s.put(said, s.into(d.places[0])), Truth(candidates=frozenset(t.id for t in found))


def of_one_and_another(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The bag of rice and flour", of a bag of rice and a bag of flour: ask. "Both in the box and both in the bin":
    ask."""
    first, second = d.ordinary_places(2)
    if d.rng.random() < 0.5:
        pack, one_, two = d.rng.choice(_CONTENTS.split(", ")).split("|")
        for mass in (one_, two):
            d.add(Label(f"{pack} of {mass}", pack, (mass,), EN, tail=f"of {mass}"))
        return s.put(f"the {pack} of {one_} and {two}", s.into(first)), Truth()
    name = d.plain()
    found = [d.add(name, Look(colour=hue)) for hue in ("red", "blue")]
    d.fill(0, 2, clear=[name])
    if not name.countable or name.plural == name.text or set(every(name, d.things)) != set(found):
        raise Redraw
    what = s.pick("both / them / both of them / all of them", "")
    return f"put both {name.plural} {s.into(first)} and {what} {s.into(second)}", Truth()


def thanked(d: Draw, s: Speech) -> tuple[str, Truth]:
    """谢谢你把…, 抱歉把…: it was done, or may have been; 谢谢，把… asks for it."""
    (thing,) = distinct(d, 1)
    place = one(d.places[0].name, d.places)
    told = d.rng.random() < 0.7
    told_of = "谢谢你把{} / 谢谢您把{} / 谢谢你帮我把{} / 抱歉把{} / 不好意思把{} / 非常感谢你把{} / 你好，谢谢你把{}"
    ordered = "谢谢，把{} / 抱歉，请把{} / 不好意思，帮我把{} / 把{}，谢谢 / 你好，把{}，谢谢你"
    way = s.pick("", told_of if told else ordered)
    text = way.format(f"{thing.name.text}{s.into(place)}")
    return text, Truth() if told else Truth(ends([thing], [place.id]))


KINDS: Final[Mapping[str, Kind]] = {
    "all that are not": all_that_are_not, "measured one": measured_one, "not there": not_there,
    "owner alone": owner_alone, "end of a word": end_of_a_word, "of one and another": of_one_and_another,
    "thanked": thanked,
}  # fmt: skip
ENGLISH: Final = frozenset(("measured one", "end of a word", "of one and another"))
CHINESE: Final = frozenset(("thanked",))
