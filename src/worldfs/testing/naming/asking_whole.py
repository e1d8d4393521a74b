"""Kinds of questions in which one more word decides: a side, a size, a colour, a number, a place, "than", "no"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from . import words_zh
from .drawing import ORDINARY, Draw, Look
from .grammar import Speech
from .labels import Label
from .one_thing import Kind
from .truth import Answer, Item, Redraw, Truth, every, one

_SIDES: Final = {  # the robot looks along +x; its left is +y
    "left": (0.0, 1.0), "right": (0.0, -1.0), "behind": (1.0, 0.0), "front": (-1.0, 0.0),
}  # fmt: skip
_SAID: Final = {
    "left": ("to the left of / left of", "左边 / 左侧"), "right": ("to the right of / right of", "右边 / 右侧"),
    "behind": ("behind", "后面 / 后方"), "front": ("in front of", "前面 / 前方"),
}  # fmt: skip
_MIDDLE: Final = (0.48, 0.09)
_FAR_M: Final = 0.13
_NUMBERS: Final = {2: ("two", "两"), 3: ("three", "三"), 4: ("four", "四"), 5: ("five", "五")}


def _asked(s: Speech, text: str) -> str:
    return text + ("?" if s.en else "？")


def _yes(yes: bool, *, ask: bool = False) -> Truth:
    return Truth(ask=ask, answer=Answer("yes_no", yes=yes))


def _exists(yes: bool, *, ask: bool = False) -> Truth:
    return Truth(ask=ask, answer=Answer("exists", yes=yes, none=not yes))


def _countable(s: Speech, name: Label) -> None:
    if not name.countable or (s.en and name.plural == name.text):
        raise Redraw


def _is(s: Speech, name: Label) -> str:
    return "are" if s.en and name.plural == name.text else "is"


def _alone(d: Draw, name: Label, look: Look = ORDINARY) -> Item:
    """The only thing of that name."""
    thing = d.add(name, look)
    d.fill(1, 3, clear=[name])
    if one(name, d.things) != thing:
        raise Redraw
    return thing


def _is_one(s: Speech, phrase: Label) -> str:
    return _asked(
        s,
        s.pick("is there {a} / is there {a} here / do you see {a}", "有{n}吗 / 有没有{n} / 这里有{n}吗").format(
            a=s.a(phrase) if s.en else "", n=phrase.text
        ),
    )


def of_a_side(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is there a right boot?", with a left one."""
    d.ordinary_places(1)
    name = d.sided()
    phrase = d.make((d.word("sides"),), name.head)
    d.add(name)
    d.fill(1, 3, clear=[d.make((), name.head)])
    return _is_one(s, phrase), _exists(phrase.text == name.text)


def of_a_size(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is there a big clamp?", with one that is called small, or only a clamp."""
    d.ordinary_places(1)
    head, size = d.word("sized"), d.word("sizes")
    phrase = d.make((size,), head)
    called = d.rng.choice((size, d.word("sizes"), ""))
    name = d.make((called,) if called else (), head)
    d.add(name)
    d.fill(1, 3, clear=[d.make((), head)])
    return _is_one(s, phrase), _exists(called == size, ask=not called)


def of_an_unsaid_word(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is there a steel mug?", with a mug of which that is not said."""
    d.ordinary_places(1)
    name = d.compound()
    d.add(name)
    d.fill(1, 3, clear=[d.make((), name.head)])
    phrase = d.made_of(name)
    if phrase.words[0] in name.words:
        raise Redraw
    _countable(s, phrase)
    return _is_one(s, phrase), _exists(False, ask=True)


def of_two_colours(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is there a red or blue mug?" """
    d.ordinary_places(1)
    name = d.plain()
    _countable(s, name)
    here, first, second = d.rng.sample(("red", "blue", "green", "yellow", "white"), 3)
    if d.rng.random() < 0.5:
        here = d.rng.choice((first, second))
    d.add(name, Look(colour=here))
    d.fill(1, 3, clear=[name])
    if s.en:
        text = f"is there {'an' if first[0] in 'aeiou' else 'a'} {first} or {second} {name.text}"
    else:
        zh = words_zh.COLOURS
        text = s.pick("", "有{}色或{}色的{}吗 / 有{}色或者{}色的{}吗").format(zh[first], zh[second], name.text)
    return _asked(s, text), _exists(here in (first, second), ask=True)


def of_another_colour(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "How many red mugs are there?", where one that is called red is measured blue."""
    d.ordinary_places(1)
    hue, other = d.rng.sample(("red", "blue", "green", "yellow", "white"), 2)
    name = d.compound()
    called = d.coloured(d.head(name), hue)  # not all of its name, which it has whatever its colour
    _countable(s, called)
    d.add(d.coloured(name, hue), Look(colour=other))
    d.fill(1, 3, clear=[called])
    text = s.pick("how many {p} are there / how many {p} do you see", "有几{m}{n} / 有多少{n}").format(
        p=called.plural, n=called.text, m=s.measure(called)
    )
    return _asked(s, text), Truth(ask=True, answer=Answer("count", frozenset(), 0, none=True))


def _twins(d: Draw, s: Speech, inside: str = "") -> tuple[Label, list[Item]]:
    name = d.plain()
    _countable(s, name)
    count = d.rng.choice((1, 2, 3))
    return name, [d.add(name, Look(inside=inside, colour=c)) for c in ("red", "blue", "green")[:count]]


def so_many(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Are there four mugs?": no fewer, and where there are more the number is told."""
    place = d.ordinary_places(1)[0]
    inside = d.rng.random() < 0.4
    name, things = _twins(d, s, place.id if inside else "")
    if inside:
        d.add(name)
    d.fill(0, 2, clear=[name])
    found = [t for t in every(name, d.things) if not inside or t.inside]
    asked = d.rng.choice((2, 3, 4, 5))
    if asked < len(found) or len(found) != len(things):
        raise Redraw
    number = _NUMBERS[asked][0 if s.en else 1]
    if inside:
        text = s.pick("are there {k} {p} in {w} / are {k} {p} in {w}", "{w}里有{k}{m}{n}吗 / 有{k}{m}{n}在{w}里吗")
    else:
        text = s.pick("are there {k} {p} / do you see {k} {p}", "有{k}{m}{n}吗 / 有没有{k}{m}{n} / 是不是有{k}{m}{n}")
    text = text.format(k=number, p=name.plural, n=name.text, m=s.measure(name), w=s.the(place.name))
    return _asked(s, text), _yes(len(found) == asked)


def more_of(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Are there more mugs than bowls?" """
    d.ordinary_places(1)
    name, things = _twins(d, s)
    other = d.plain()
    _countable(s, other)
    others = [d.add(other, Look(colour=c)) for c in ("white", "black")[: d.rng.choice((1, 2))]]
    d.fill(0, 2, clear=[name, other])
    if tuple(things) != every(name, d.things) or tuple(others) != every(other, d.things):
        raise Redraw
    text = s.pick("are there more {} than {}", "{}比{}多吗").format(name.plural, other.plural)
    return _asked(s, text), _yes(len(things) > len(others))


def on_a_side(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is the mug behind the bowl?" """
    names = [d.anything(), d.compound()]
    so, side, things = _beside(d, names)
    d.ordinary_places(1)
    for name, thing in zip(names, things, strict=True):
        if one(name, d.things) != thing:
            raise Redraw
    way = s.pick(*_SAID[side])
    text = s.pick("{v} {a} {w} {b}", "{a}在{b}{w}吗 / {a}在{b}的{w}吗 / {a}是不是在{b}{w}").format(
        a=s.the(names[0]), b=s.the(names[1]), w=way, v=_is(s, names[0])
    )
    return _asked(s, text), _yes(so)


def _beside(d: Draw, names: Sequence[Label]) -> tuple[bool, str, list[Item]]:
    """Two things in a row, and a side: whether the first lies there from the second."""
    side, lies = d.rng.choice(tuple(_SIDES)), d.rng.choice(tuple(_SIDES))
    lies = side if d.rng.random() < 0.5 else lies
    x, y = _SIDES[lies]
    spot = (_MIDDLE[0] + x * _FAR_M, _MIDDLE[1] + y * _FAR_M)
    for at in (_MIDDLE, spot):
        d.keep_free(at, 0.09)
    things = [d.add(names[0], Look(spot=spot)), d.add(names[1], Look(spot=_MIDDLE))]
    return side == lies, side, things


def what_on_a_side(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "What is to the left of the bowl?" """
    names = [d.anything(), d.compound()]
    so, side, things = _beside(d, names)
    d.ordinary_places(1)
    if one(names[1], d.things) != things[1]:
        raise Redraw
    way = s.pick(*_SAID[side])
    if d.rng.random() < 0.5:
        text = s.pick("what is {w} {b} / what's {w} {b}", "{b}{w}有什么 / {b}的{w}有什么东西")
        truth = Truth(answer=Answer("list", frozenset({things[0].id} if so else ()), about=frozenset({things[1].id})))
    else:
        text = s.pick("is anything {w} {b} / is there anything {w} {b}", "{b}{w}有东西吗 / {b}的{w}有没有东西")
        truth = _yes(so)
    return _asked(s, text.format(w=way, b=s.the(names[1]))), truth


def than(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is the mug heavier than the bowl?": yes or no, and not the heaviest."""
    d.ordinary_places(1)
    names = [d.compound(), d.anything()]
    heavy = d.rng.random() < 0.5
    values = d.rng.sample((0.05, 0.2, 0.5) if heavy else (0.03, 0.04, 0.05), 2)
    things = [d.add(n, Look(mass=v) if heavy else Look(side=v)) for n, v in zip(names, values, strict=True)]
    d.fill(0, 2)
    for name, thing in zip(names, things, strict=True):
        if one(name, d.things) != thing:
            raise Redraw
    ways = ("heavier", "重") if heavy else ("bigger / larger", "大")
    text = s.pick("{v} {a} {w} than {b}", "{a}比{b}{w}吗").format(
        a=s.the(names[0]), b=s.the(names[1]), w=s.pick(*ways), v=_is(s, names[0])
    )
    return _asked(s, text), _yes(values[0] > values[1])


def is_the_most(d: Draw, s: Speech) -> tuple[str, Truth]:
    d.ordinary_places(1)
    masses = d.rng.sample((0.05, 0.12, 0.3, 0.6), 3)
    things = [d.add(d.anything(), Look(mass=m)) for m in masses]
    name = things[0].name
    if one(name, d.things) != things[0]:
        raise Redraw
    text = s.pick("{v} {a} the heaviest / {v} {a} the heaviest thing", "{a}是最重的吗 / {a}最重吗")
    return _asked(s, text.format(a=s.the(name), v=_is(s, name))), _yes(masses[0] == max(masses), ask=True)


def two_places(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is the mug in the basket and the bowl on the tray?" """
    places = d.ordinary_places(2)
    names = [d.compound(), d.anything()]
    things = [d.add(n, Look(inside=d.rng.choice(places).id)) for n in names]
    for name, thing in zip(names, things, strict=True):
        if one(name, d.things) != thing:
            raise Redraw
    for place in places:
        one(place.name, d.places)
    text = s.pick("is {a} in {p} and {b} in {q}", "{a}在{p}里，{b}在{q}里吗").format(
        a=s.the(names[0]), b=s.the(names[1]), p=s.the(places[0].name), q=s.the(places[1].name)
    )
    return _asked(s, text), _yes(things[0].inside == places[0].id and things[1].inside == places[1].id, ask=True)


def where_both(d: Draw, s: Speech) -> tuple[str, Truth]:
    places = d.ordinary_places(2)
    names = [d.compound(), d.anything()]
    things = [d.add(n, Look(inside=p.id)) for n, p in zip(names, places, strict=True)]
    d.fill(0, 2)
    for name, thing in zip(names, things, strict=True):
        if one(name, d.things) != thing:
            raise Redraw
    text = s.pick("where are {} and {}", "{}和{}在哪里 / {}和{}在哪儿").format(*map(s.the, names))
    return _asked(s, text), Truth(answer=Answer("where", frozenset(t.inside for t in things)))


def all_in(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Are all the mugs in the basket?" """
    place = d.ordinary_places(2)[0]
    one(place.name, d.places)
    name, things = _twins(d, s, place.id)
    if d.rng.random() < 0.5:
        things.append(d.add(name))
    d.fill(0, 2, clear=[name])
    if tuple(things) != every(name, d.things) or len(things) < 2:
        raise Redraw
    text = s.pick("are all the {n} in {p} / are all {n} in {p}", "所有{n}都在{p}里吗 / {n}都在{p}里吗")
    return _asked(s, text.format(n=name.plural, p=s.the(place.name))), _yes(all(t.inside for t in things))


def none_in(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is no mug in the basket?", "isn't the mug in the basket?" """
    places = d.ordinary_places(2)
    for place in places:
        one(place.name, d.places)
    name = d.plain()
    thing = _alone(d, name, Look(inside=d.rng.choice(("", *(p.id for p in places)))))
    _countable(s, name)
    place = places[0]
    if d.rng.random() < 0.5:
        text, so = s.pick("is no {n} in {p}", "没有{n}在{p}里吗"), thing.inside != place.id
    else:
        text, so = s.pick("isn't {a} in {p}", "{a}不是在{p}里吗"), thing.inside == place.id
    return _asked(s, text.format(n=name.text, a=s.the(name), p=s.the(place.name))), _yes(so, ask=True)


def only_in(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is only the mug in the basket?", "what else is in it?" """
    place = d.ordinary_places(2)[0]
    one(place.name, d.places)
    names = [d.compound(), d.anything()]
    first = d.add(names[0], Look(inside=place.id))
    second = d.add(names[1], Look(inside=d.rng.choice(("", place.id))))
    if one(names[0], d.things) != first:
        raise Redraw
    said = {"a": s.the(names[0]), "p": s.the(place.name)}
    if d.rng.random() < 0.5:
        text = s.pick("is only {a} in {p} / is just {a} in {p}", "只有{a}在{p}里吗 / {p}里只有{a}吗").format(**said)
        return _asked(s, text), _yes(not second.inside, ask=True)
    text = s.pick(
        "besides {a}, what is in {p} / what else is in {p} besides {a}", "除了{a}，{p}里还有什么 / {p}里除了{a}还有什么"
    ).format(**said)
    return _asked(s, text), Truth(ask=True, answer=Answer("list", frozenset({second.id} if second.inside else ())))


def colour_in(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is the mug in the basket red?", with another beside it."""
    place = d.ordinary_places(2)[0]
    one(place.name, d.places)
    name = d.plain()
    _countable(s, name)
    colours = d.rng.sample(("red", "blue", "green", "yellow", "white"), 2)
    d.add(name, Look(inside=place.id, colour=colours[0]))
    d.add(name, Look(colour=colours[1]))
    d.fill(0, 2, clear=[name])
    if len(every(name, d.things)) != 2:
        raise Redraw
    colour = d.rng.choice(colours)
    said = colour if s.en else words_zh.COLOURS[colour] + "色的"
    text = s.pick("is the {n} in {p} {c}", "{p}里的{n}是{c}吗").format(n=name.text, p=s.the(place.name), c=said)
    return _asked(s, text), _yes(colour == colours[0])


def how_many_of_a_colour(d: Draw, s: Speech) -> tuple[str, Truth]:
    place = d.ordinary_places(2)[0]
    one(place.name, d.places)
    name = d.plain()
    _countable(s, name)
    colours = d.rng.sample(("red", "blue", "green", "yellow"), 2)
    looks = [(colour, place.id if d.rng.random() < 0.5 else "") for colour in (*colours, colours[0])]
    things = [d.add(name, Look(colour=colour, inside=inside)) for colour, inside in looks]
    d.fill(0, 2, clear=[name])
    if len(every(name, d.things)) != 3:
        raise Redraw
    phrase = d.coloured(name, colours[0])
    found = [t for t in things if t.colour == colours[0] and t.inside]
    text = s.pick("how many {n} are in {p} / how many {n} are there in {p}", "{p}里有几{m}{n} / 有几{m}{n}在{p}里")
    text = text.format(n=phrase.plural, p=s.the(place.name), m=s.measure(phrase))
    ids = frozenset(t.id for t in found)
    return _asked(s, text), Truth(answer=Answer("count", ids, len(found), none=not found))


def which_of_a_colour(d: Draw, s: Speech) -> tuple[str, Truth]:
    d.ordinary_places(1)
    first, second = d.rng.sample(("red", "blue", "green", "yellow"), 2)
    names = [d.compound(), d.anything()]
    things = [d.add(n, Look(colour=c)) for n, c in zip(names, (first, second), strict=True)]
    if any(name.hue or {first, second} & set(name.words) for name in names):
        raise Redraw
    for name, thing in zip(names, things, strict=True):
        if one(name, d.things) != thing:
            raise Redraw
    said = first if s.en else words_zh.COLOURS[first] + "色的"
    text = s.pick("which is {c}, {a} or {b} / what is {c}", "哪个是{c} / {c}是哪个").format(
        c=said, a=s.the(names[0]), b=s.the(names[1])
    )
    return _asked(s, text), Truth(answer=Answer("which", frozenset({things[0].id})))


KINDS: Final[Mapping[str, Kind]] = {
    "is there, of a side?": of_a_side, "is there, of a size?": of_a_size,
    "is there, unsaid of it?": of_an_unsaid_word, "is there, this or that?": of_two_colours,
    "how many, of a clash?": of_another_colour, "are there so many?": so_many, "are there more?": more_of,
    "is it on a side?": on_a_side, "what is on a side?": what_on_a_side, "is it more than?": than,
    "is it the most?": is_the_most, "two places?": two_places, "where are both?": where_both,
    "are all in?": all_in, "is none in?": none_in, "is it alone in?": only_in, "is it red, of those in?": colour_in,
    "how many red in?": how_many_of_a_colour, "which is red?": which_of_a_colour,
}  # fmt: skip
