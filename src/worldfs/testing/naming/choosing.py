"""Kinds of sentences that choose by size, mass, colour or position; and places that are named, or beside a thing."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import hypot
from typing import Final

from . import words_en, words_zh
from .drawing import Draw, Look
from .grammar import Speech
from .labels import EN, Label, coloured
from .one_thing import Kind
from .truth import BESIDE, LEFT_OF, RIGHT_OF, Item, Redraw, Truth, both, ends, every, one, the

MORE: Final = {  # what is compared: English and Chinese for the most and the least
    "mass": (("heaviest", "最重"), ("lightest", "最轻")),
    "side": (("biggest / largest", "最大"), ("smallest", "最小")),
}


def _measured(d: Draw, quantity: str, count: int, *, tie: bool = False) -> tuple[Label, list[Item]]:
    """Things of one head that differ clearly in the quantity; `tie`: the two that are most so are alike."""
    name = d.compound() if d.rng.random() < 0.6 else d.plain()
    head = d.head(name)
    values = {"mass": [0.05, 0.12, 0.3, 0.6], "side": [0.03, 0.04, 0.05]}[quantity][:count]
    d.rng.shuffle(values)
    if tie:
        top = max(values)
        values[values.index(min(values))] = top
    alike = d.rng.random() < 0.6
    d.ordinary_places()
    found = []
    for value in values:
        named = name if alike else d.named(name.head)
        found.append(d.add(named, Look(mass=value) if quantity == "mass" else Look(side=value)))
    d.fill(0, 3, clear=[head])
    if not head.countable or (head.plural == head.text and d.names == EN):
        raise Redraw
    if len(every(head, d.things)) != count:
        raise Redraw
    return (name if alike else head), found


def superlative(d: Draw, s: Speech) -> tuple[str, Truth]:
    quantity = d.rng.choice(("mass", "side"))
    phrase, found = _measured(d, quantity, 3)
    most = d.rng.random() < 0.5
    words = MORE[quantity][0 if most else 1]
    thing = (max if most else min)(found, key=lambda i: getattr(i, quantity))
    said = f"the {s.pick(words[0], '')} {phrase.text}" if s.en else f"{words[1]}的{phrase.text}"
    return s.put(said, s.into(d.places[0])), Truth(ends([thing], [d.places[0].id]))


def tie(d: Draw, s: Speech) -> tuple[str, Truth]:
    """The heaviest of two that are equally heavy: ask."""
    quantity = d.rng.choice(("mass", "side"))
    phrase, _ = _measured(d, quantity, 3, tie=True)
    words = MORE[quantity][0]
    said = f"the {s.pick(words[0], '')} {phrase.text}" if s.en else f"{words[1]}的{phrase.text}"
    return s.put(said, s.into(d.places[0])), Truth()


def extremes(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The heaviest and the lightest" of all things."""
    phrase, found = _measured(d, "mass", 3)
    low, high = min(found, key=lambda i: i.mass), max(found, key=lambda i: i.mass)
    text = s.put(
        s.pick(
            "the heaviest and the lightest {n} / the heaviest {n} and the lightest {n}",
            "最重的和最轻的{n} / 最重的{n}和最轻的{n}",
        ).format(n=phrase.text),
        s.into(d.places[0]),
    )
    return text, Truth(ends([low, high], [d.places[0].id]))


def of_all(d: Draw, s: Speech) -> tuple[str, Truth]:
    """The heaviest thing of all, whatever its name."""
    d.ordinary_places()
    masses = [0.05, 0.12, 0.3, 0.6]
    d.rng.shuffle(masses)
    things = [d.add(d.anything(), Look(mass=m)) for m in masses[: d.rng.choice((3, 4))]]
    most = d.rng.random() < 0.5
    thing = (max if most else min)(things, key=lambda i: i.mass)
    en, zh = MORE["mass"][0 if most else 1]
    said = s.pick(f"the {en} thing / the {en} object / the {en} one", f"{zh}的东西 / {zh}的那个 / {zh}的物体")
    return s.put(said, s.into(d.places[0])), Truth(ends([thing], [d.places[0].id]))


def by_size(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The big mug", of two."""
    name = d.compound() if d.rng.random() < 0.5 else d.plain()
    big = d.rng.random() < 0.5
    d.ordinary_places()
    things = [d.add(name, Look(side=side)) for side in d.rng.sample((0.03, 0.05), 2)]
    d.fill(0, 3, clear=[name])
    if name.plural == name.text and s.en:
        raise Redraw
    thing = (max if big else min)(things, key=lambda i: i.side)
    said = s.pick(
        "the bigger {} / the big {} / the larger {}" if big else "the smaller {} / the small {}",
        "大的{} / 较大的{} / 那个大{}" if big else "小的{} / 较小的{} / 那个小{}",
    ).format(name.text)
    return s.put(said, s.into(d.places[0])), Truth(ends([thing], [d.places[0].id]))


def by_colour(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The blue mug", by the stated colour, of two or three."""
    name = d.compound() if d.rng.random() < 0.5 else d.plain()
    colours = d.rng.sample(words_en.COLOURS.split(", "), 3)
    d.ordinary_places()
    things = [d.add(name, Look(colour=c)) for c in colours[: d.rng.choice((2, 3))]]
    d.fill(0, 3, clear=[name])
    phrase = d.coloured(name, colours[0])
    if one(phrase, d.things) != things[0]:
        raise Redraw
    return s.put(s.the(phrase), s.into(d.places[0])), Truth(ends([things[0]], [d.places[0].id]))


def colour_alone(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The orange one" is the thing whose stated colour it is, and not the orange juice."""
    name = d.rng.choice(coloured(d.names))
    word = name.words[0] if d.names == EN else name.text[0]
    colour = next((en for en, zh in words_zh.COLOURS.items() if word in (en, zh)), "")
    if not colour:
        raise Redraw
    d.ordinary_places()
    d.add(name, Look(colour=d.rng.choice([c for c in words_zh.COLOURS if c != colour])))
    thing = d.add(d.plain(), Look(colour=colour))
    d.fill(0, 3)
    if sum(t.colour == colour for t in d.things) != 1:
        raise Redraw
    said = s.pick(
        f"the {colour} one / the {colour} thing",
        f"{words_zh.COLOURS[colour]}色的那个 / {words_zh.COLOURS[colour]}色的东西",
    )
    return s.put(said, s.into(d.places[0])), Truth(ends([thing], [d.places[0].id]))


def _alike(d: Draw, count: int) -> tuple[Label, list[Item]]:
    name = d.compound() if d.rng.random() < 0.5 else d.plain()
    d.ordinary_places()
    found = [d.add(name) for _ in range(count)]
    d.fill(0, 3, clear=[name])
    if name.plural == name.text and d.names == EN:
        raise Redraw
    return name, found


def by_side(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The left mug", "the leftmost mug": as the robot sees it, left is +y."""
    three = d.rng.random() < 0.4
    name, found = _alike(d, 3 if three else 2)
    ys = sorted(i.position[1] for i in found)
    if any(b - a < 0.1 for a, b in pairwise(ys)):
        raise Redraw
    left = d.rng.random() < 0.5
    en, zh = ("left", "左") if left else ("right", "右")
    thing = (max if left else min)(found, key=lambda i: i.position[1])
    most = f"the {en}most {{0}} / the {{0}} farthest to the {en}", f"最{zh}边的{{0}} / 最{zh}边那个{{0}}"
    of_two = (
        f"the {en} {{0}} / the {{0}} on the {en} / the {en}-hand {{0}}",
        f"{zh}边的{{0}} / {zh}边那个{{0}} / {zh}侧的{{0}}",
    )
    said = s.pick(*(most if three else of_two)).format(name.text)
    return s.put(said, s.into(d.places[0])), Truth(ends([thing], [d.places[0].id]))


def by_distance(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The nearest mug", from the robot."""
    name, found = _alike(d, d.rng.choice((2, 3)))
    near = d.rng.random() < 0.6
    away = sorted((hypot(*i.position), i.id) for i in found)
    if any(b[0] - a[0] < 0.08 for a, b in pairwise(away)):
        raise Redraw
    thing = next(i for i in found if i.id == away[0 if near else -1][1])
    said = s.pick(
        "the nearest {} / the closest {} / the {} nearest to you"
        if near
        else "the farthest {} / the {} farthest from you",
        "最近的{} / 离你最近的{}" if near else "最远的{} / 离你最远的{}",
    ).format(name.text)
    return s.put(said, s.into(d.places[0])), Truth(ends([thing], [d.places[0].id]))


def by_neighbour(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The mug next to the sponge", of two mugs."""
    name = d.compound() if d.rng.random() < 0.5 else d.plain()
    mark = d.anything()
    d.ordinary_places()
    post = d.add(mark)
    thing = d.add(name, Look(spot=d.beside(post)))
    d.keep_free(post.position, 0.25)
    d.add(name)
    d.fill(0, 2, clear=[name, mark])
    if one(mark, d.things) != post or (name.plural == name.text and s.en) or name.head == mark.head:
        raise Redraw
    said = s.pick(
        "the {a} next to {m} / the {a} beside {m} / the {a} that is next to {m}",
        "{m}旁边的{a} / 在{m}旁边的{a} / {m}旁边那个{a}",
    ).format(a=name.text, m=s.the(mark) if s.en else mark.text)
    return s.put(said, s.into(d.places[0])), Truth(ends([thing], [d.places[0].id]))


def next_to(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Put the mug next to the can opener"; next to "the can" means nothing there."""
    mark, what = d.compound(), d.anything()
    d.ordinary_places()
    d.add(mark)
    thing = d.add(what)
    phrase = d.bare(mark) if d.rng.random() < 0.35 else mark
    d.fill(0, 2, clear=[phrase, mark])
    one(what, d.things)
    if what.head == mark.head:
        raise Redraw
    text = s.pick(
        "put {a} next to {m} / put {a} beside {m} / place {a} next to {m}", "把{a}放在{m}旁边 / 把{a}放到{m}旁边"
    ).format(a=s.the(what), m=s.the(phrase) if s.en else phrase.text)
    if phrase is mark:
        return text, Truth(ends([thing], [BESIDE + one(mark, d.things).id]))
    found = the(phrase, d.things)
    if found.thing is not None or found.among:
        raise Redraw
    return text, Truth()


def on_a_side_of(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "To the left of the left shoe": the second is a name, the first a direction, and left is +y."""
    mark, what = d.rng.choice((d.sided(), d.compound())), d.anything()
    d.ordinary_places()
    post, thing = d.add(mark), d.add(what)
    d.fill(0, 1, clear=[mark])
    if one(mark, d.things) != post or one(what, d.things) != thing or not -0.1 < post.position[1] < 0.2:
        raise Redraw
    left = d.rng.random() < 0.5
    en, zh = ("left", "左") if left else ("right", "右")
    text = s.pick(
        f"put {{a}} to the {en} of {{m}} / put {{a}} on the {en} of {{m}} / place {{a}} to the {en} of {{m}}",
        f"把{{a}}放在{{m}}的{zh}边 / 把{{a}}放到{{m}}{zh}边",
    ).format(a=s.the(what), m=s.the(mark) if s.en else mark.text)
    return text, Truth(ends([thing], [(LEFT_OF if left else RIGHT_OF) + post.id]))


# -- places ------------------------------------------------------------------------------------------------------


def _place_words(d: Draw) -> Mapping[str, str]:
    return words_en.PLACES if d.names == EN else words_zh.PLACES


def _to_place(d: Draw, s: Speech, place: Item, phrase: Label) -> tuple[str, Truth]:
    thing = d.add(d.anything())
    d.fill(0, 3)
    one(thing.name, d.things)
    return s.put(s.the(thing.name), s.into(place, phrase)), Truth(ends([thing], [place.id]))


def place_full(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The bread basket", beside a laundry basket; "the in tray", "the left basket" wherever it is."""
    head = d.rng.choice(sorted(_place_words(d)))
    first, second = d.rng.sample(_place_words(d)[head].split(", "), 2)
    place = d.place(d.make((first,), head))
    d.place(d.make((second,), head))
    return _to_place(d, s, place, one(place.name, d.places).name)


def place_head(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The basket", with one: that; with two, ask."""
    head = d.rng.choice(sorted(_place_words(d)))
    several = d.rng.random() < 0.4
    words = d.rng.sample(_place_words(d)[head].split(", "), 2)
    place = d.place(d.make((words[0],), head))
    if several:
        d.place(d.make((words[1],), head))
    else:
        other = d.rng.choice([h for h in _place_words(d) if h != head])
        d.place(d.place_name(other))
    text, truth = _to_place(d, s, place, d.make((), head))
    return text, Truth() if several else truth


def place_modifier(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "In the bread", with only a bread basket."""
    head = d.rng.choice(sorted(_place_words(d)))
    place = d.place(d.make((d.rng.choice(_place_words(d)[head].split(", ")),), head))
    phrase = d.bare(place.name)
    thing = d.add(d.anything())
    d.fill(0, 3, clear=[phrase])
    one(thing.name, d.things)
    where = f"in {s.the(phrase)}" if s.en else s.pick("", "放进{} / 放到{}里").format(phrase.text)
    return s.put(s.the(thing.name), where), Truth()


def place_sided(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The left basket" by its name, though it is on the right; or by where it is, if no name has a side."""
    head = d.rng.choice(("basket", "tray") if d.names == EN else ("篮子", "托盘"))
    left, right = ("left", "right") if d.names == EN else ("左", "右")
    named = d.rng.random() < 0.6
    if named:
        names = [d.make((w,), head) for w in d.rng.sample((left, right), 2)]
        places = [d.place(n) for n in names]
        return _to_place(d, s, places[0], places[0].name)
    places = [d.place(d.make((), head), id=f"{'place' if d.names != EN else head}_{n}") for n in (1, 2)]
    to_left = d.rng.random() < 0.5
    place = (max if to_left else min)(places, key=lambda p: p.position[1])
    thing = d.add(d.anything())
    d.fill(0, 3)
    one(thing.name, d.things)
    side = ("left" if to_left else "right") if s.en else ("左" if to_left else "右")
    where = (
        f"in the {side} {places[0].name.text}" if s.en
        else s.pick("", "放进{0}边的{1} / 放到{0}边的{1}里").format(side, places[0].name.text)
    )  # fmt: skip
    return s.put(s.the(thing.name), where), Truth(ends([thing], [place.id]))


def place_of_a_colour(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The blue basket", of two baskets with stated colours."""
    head = d.rng.choice(sorted(_place_words(d)))
    colours = d.rng.sample(list(words_zh.COLOURS), 2)
    name = d.make((), head)
    places = [d.place(name, colour=colour) for colour in colours]
    return _to_place(d, s, places[0], d.coloured(name, colours[0]))


def two_named_places(d: Draw, s: Speech) -> tuple[str, Truth]:
    """Two things, two places of one head: "… in the bread basket and … in the laundry basket"."""
    head = d.rng.choice(sorted(_place_words(d)))
    words = d.rng.sample(_place_words(d)[head].split(", "), 2)
    p, q = (d.place(d.make((w,), head)) for w in words)
    a, b = d.add(d.anything()), d.add(d.anything())
    d.fill(0, 2)
    one(a.name, d.things)
    one(b.name, d.things)
    text = s.pick(
        "put {a} {p} and {b} {q} / put {a} {p} and put {b} {q}", "把{a}{p}，把{b}{q} / 把{a}{p}，{b}{q}"
    ).format(a=s.the(a.name), b=s.the(b.name), p=s.into(p), q=s.into(q))
    return text, Truth(both(ends([a], [p.id]), ends([b], [q.id])))


KINDS: Final[Mapping[str, Kind]] = {
    "the most": superlative, "a tie": tie, "the most and the least": extremes, "the most of all": of_all,
    "by size": by_size, "by colour": by_colour, "colour alone": colour_alone, "by side": by_side,
    "by distance": by_distance, "by its neighbour": by_neighbour, "next to": next_to, "named place": place_full,
    "place by its head": place_head, "place by a modifier": place_modifier, "place with a side": place_sided,
    "place of a colour": place_of_a_colour, "on a side of": on_a_side_of, "two places": two_named_places,
}  # fmt: skip
