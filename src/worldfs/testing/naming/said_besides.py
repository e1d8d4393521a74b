"""Kinds of sentences that say more than which things: a number that tells which, a part, a tool, one word before two
kinds, an exception and one more thing. What is not obeyed must be asked about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from . import words_zh
from .drawing import Draw, Look
from .grammar import Speech
from .labels import EN, ZH, Label, chinese, english
from .one_thing import Kind
from .several_things import distinct
from .truth import Item, Redraw, Truth, both, ends, one

_DESIGNATED: Final = "号, 层, 路, 楼, 栋, 室, 级, 码"
_PARTED: Final = ("apple, pear, melon, loaf, cake, cheese", "苹果, 橙子, 柠檬, 番茄, 土豆, 面包, 胡萝卜")
_PART: Final = (
    "a slice of the / a piece of the / half of the / half the",
    "一片 / 一块 / 一袋 / 一箱 / 一堆 / 一碗 / 一盘 / 一串 / 那片 / 这袋 / 两片 / 一段",
)
_MASSES: Final = "rice, honey, bread, flour, butter, sugar, cheese"
_TOOLS: Final = ("tongs, pliers, glove, ladle, tweezers", "夹子, 手套, 勺子, 叉子, 剪刀, 毛巾")


def _words(d: Draw, en: str, zh: str) -> list[str]:
    return (en if d.names == EN else zh).split(", ")


def _label(d: Draw, word: str) -> Label:
    return english((), word) if d.names == EN else Label(word, word, (), ZH)


def numbered_in_signs(d: Draw, s: Speech) -> tuple[str, Truth]:
    """三号钥匙, of 1号, 2号 and 3号钥匙: that one, or ask; of none with a number, ask. In English "key 3"."""
    if s.en:
        raise Redraw
    noun, sign = d.rng.choice(("钥匙", "门卡", "文件", "标签")), d.rng.choice(_DESIGNATED.split(", "))
    place = d.ordinary_places()[0]
    count = d.rng.choice((2, 3))
    named = d.rng.random() < 0.6
    hues = d.rng.sample([*words_zh.COLOURS.values()], count)
    told = [f"{n + 1}{sign}" for n in range(count)] if named else [f"{hue}色" for hue in hues]
    found = [d.add(Label(f"{word}{noun}", noun, (word,), ZH)) for word in told]
    d.fill(0, 2, clear=[t.name for t in found])
    number = {2: "二两", 3: "三三"}[count][d.rng.randrange(2)]
    ends_ = ends([found[-1]], [place.id]) if named and number != "两" else ()
    return s.put(f"{number}{sign}{noun}", s.into(place)), Truth(ends_, ask=True)


def part_of_a_thing(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "A slice of the melon", "some rice", 一片梨: no part of a thing is moved as the whole."""
    at = 0 if d.names == EN else 1
    mass = at == 0 and d.rng.random() < 0.5
    word = d.rng.choice((_MASSES if mass else _PARTED[at]).split(", "))
    thing = d.add(_label(d, word))
    d.ordinary_places()
    d.fill(0, 3, clear=[thing.name])
    one(thing.name, d.things)
    way = s.pick("some / some of the", "") if mass else d.rng.choice(_PART[at].split(" / "))
    what = f"{way} {word}" if s.en else f"{way}{word}"
    return s.put(what, s.into(d.places[0])), Truth()


def with_a_tool(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "With the tongs", 用夹子把…: a tool that is here is not passed over; nor is a hand that is in a name."""
    thing = distinct(d, 1)[0]
    words = [word for word in _words(d, *_TOOLS) if word not in thing.name.text]
    tool = d.rng.choice(words)
    place = s.into(d.places[0])
    if d.rng.random() < 0.3:
        d.add(_label(d, "left hand board") if d.names == EN else chinese(("左手",), "板"))
        tool = "left hand" if d.names == EN else "左手"
    elif any(t.name.head == tool for t in d.things):
        raise Redraw
    else:
        d.add(_label(d, tool))
    said = s.the(thing.name)
    text = s.pick(
        "use the {t} to put {a} {p} / put {a} {p} with the {t} / with the {t}, put {a} {p} / put {a} {p} using the {t}",
        "用{t}把{a}{p} / 请用{t}把{a}{p} / 把{a}用{t}{p} / 先用{t}把{a}{p}",
    )
    return text.format(t=tool, a=said, p=place), Truth()


def one_word_before_two(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The red cubes and balls", where blue balls are too: ask; "the red cubes and the balls" is plain."""
    pair = _words(d, "plate, ball, hook, letter, ribbon", "盘子, 球, 袜子, 信, 纽扣")
    first, second = d.rng.sample(pair, 2)
    place = d.ordinary_places()[0]
    hue, other = d.rng.sample([*words_zh.COLOURS], 2)
    each: dict[str, list[Item]] = {}
    for word in (first, second):
        each[word] = [d.add(_label(d, word), Look(colour=colour)) for colour in (hue, hue, other)]
    said = hue if s.en else f"{words_zh.COLOURS[hue]}色的"
    a, b = (f"{_label(d, word).plural}" for word in (first, second))
    if d.rng.random() < 0.7:
        text = s.pick(f"the {said} {a} and {b} / all {said} {a} and {b}", f"{said}{a}和{b}都 / 所有{said}{a}和{b}")
        return s.put(text, s.into(place)), Truth()
    text = s.pick(f"the {said} {a} and the {b} / all {said} {a} and all {b}", f"所有{said}{a}和所有的{b}")
    moved = [t for t in each[first] if t.colour == hue] + each[second]
    return s.put(text, s.into(place)), Truth(ends(moved, [place.id]), ask=not s.en)


def exception_and_one_more(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "All plates except the blue one, and the book": the book too, or ask. It is never left out in silence."""
    if not s.en:
        raise Redraw
    more = distinct(d, 1)[0]
    word = d.rng.choice(["plate", "ball", "hook", "letter", "ribbon"])
    if any(word in t.name.text for t in d.things):
        raise Redraw
    hue, other, third = d.rng.sample([*words_zh.COLOURS], 3)
    one_, two_, three = (d.add(_label(d, word), Look(colour=colour)) for colour in (hue, other, third))
    if any(t.colour == hue for t in d.things if t is not one_):
        raise Redraw
    p, name = s.into(d.places[0]), f"all {_label(d, word).plural} except the {hue} one"
    moved = both(ends([two_, three], [d.places[0].id]), ends([more], [d.places[0].id]))
    text = s.pick(
        "put {n}, and {a}, {p} / put {n} and {a} {p} / {n}, and {a}, go {p} / put {a} and {n} {p}", ""
    ).format(n=name, a=s.the(more.name), p=p)
    return text, Truth(moved, ask=True)


KINDS: Final[Mapping[str, Kind]] = {
    "part of a thing": part_of_a_thing,
    "with a tool": with_a_tool,
    "one word before two": one_word_before_two,
    "exception and one more": exception_and_one_more,
    "numbered in signs": numbered_in_signs,
}
ENGLISH: Final = frozenset(("exception and one more",))
CHINESE: Final = frozenset(("numbered in signs",))
