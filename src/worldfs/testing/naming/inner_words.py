"""Kinds of sentences about a word that a name says of another noun: wooden of "box with wooden blocks", 铁 of 铁观音罐.

Such a word is not said of the thing: it is asked about, or another thing of that head is meant. A word that is said of
the thing, and the inner noun itself, still tell which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .drawing import Draw
from .grammar import Speech
from .labels import EN, ZH, Label, alone, any_related, english, trailing
from .one_thing import Kind
from .several_things import all_but
from .truth import Answer, Redraw, Truth, ends

_OF_ANOTHER: Final = (  # a name, its head, and a word that is said of another noun in it
    "box with wooden blocks|box|wooden, tin of hot peppers|tin|hot, bag of plastic forks|bag|plastic, "
    "photo of a black dog|photo|black, jar with spare screws|jar|spare, brush for small parts|brush|small, "
    "crate for broken toys|crate|broken, mug with steel handle|mug|steel, tub containing frozen peas|tub|frozen, "
    "hot chocolate tin|tin|hot, dirty laundry sack|sack|dirty, paper clip dish|dish|paper, wet floor sign|sign|wet, "
    "frozen pea bag|bag|frozen, loose screw jar|jar|loose, plastic fork box|box|plastic",
    "铁观音罐|罐|铁, 纸巾盒|盒|纸, 木瓜刀|刀|木, 皮蛋盒|盒|皮, 布丁勺|勺|布, 棉花糖袋|袋|棉, 铜锣烧袋|袋|铜, "
    "装木块的盒子|盒|木, 放铁钉的袋子|袋|铁, 木耳袋|袋|木, 报纸夹|夹|纸, 银耳罐|罐|银, 装玻璃球的罐子|罐|玻璃",
)
_OF_ITSELF: Final = (
    "tin of sweet corn|tin|corn, tin of sweet corn|tin|sweet corn, box of marbles|box|marbles, "
    "red toy truck|truck|red, "
    "wooden box with blocks|box|wooden, big wooden ladle|ladle|wooden, old tin with buttons|tin|old, "
    "hot chocolate tin|tin|chocolate, box with wooden blocks|box|wooden blocks, box of marbles|box|marble",
    "木勺|勺|木, 铁罐|罐|铁, 不锈钢勺|勺|不锈钢, 红色木盒|盒|木, 塑料面包刀|刀|塑料, 大布袋|袋|布, 木头盒子|盒|木",
)


def _drawn(d: Draw, s: Speech, told: str) -> tuple[Label, Label]:
    """A name, in the scene, and the phrase that says one word of it with its head."""
    text, head, word = d.rng.choice(told.split(", ")).split("|")
    if not s.en:
        said = f"{word}{d.rng.choice((head, alone(head)))}"
        name, phrase = Label(text, head, (), ZH), Label(said, head, (word,), ZH)
    else:
        front, _, tail = text.partition(f"{head} ")
        name = trailing(head, tail) if tail and not front else english(text.split()[:-1], head)
        name = Label(text, head, name.words, EN, tail=tail) if tail and front else name
        phrase = english(word.split(), head)
    d.ordinary_places(1)
    d.add(name)
    if any_related(head, [p.name.head for p in d.places]) or head in [p.name.head for p in d.places]:
        raise Redraw
    return name, phrase


def _of_another(d: Draw, s: Speech) -> Label:
    """A phrase that says of a thing what its name says of another noun, and other things."""
    _, phrase = _drawn(d, s, _OF_ANOTHER[0 if s.en else 1])
    d.fill(1, 3, clear=[phrase])
    if any_related(phrase.head, [t.name.head for t in d.things]) or len(d.things) < 2:
        raise Redraw
    return phrase


def said_of_another(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The wooden box", of a box with wooden blocks: ask; beside a wooden box, that."""
    phrase, place, roll = _of_another(d, s), d.places[0], d.rng.random()
    if roll < 0.3:
        return s.put(s.the(phrase), s.into(place)), Truth(ends([d.add(phrase)], [place.id]))
    if roll < 0.5:
        return all_but(d, s, s.the(phrase), [d.things[0]])[0], Truth()
    return s.put(s.all(phrase) if roll < 0.7 else s.the(phrase), s.into(place)), Truth()


def asked_of_another(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is there a wooden box?", "how many wooden boxes?", of a box with wooden blocks: none, or ask."""
    phrase = _of_another(d, s)
    if d.rng.random() < 0.6:
        text = s.pick(f"is there {s.a(phrase)}?", f"有{phrase.text}吗？ / 这里有没有{phrase.text}？")
        return text, Truth(ask=True, answer=Answer("exists", yes=False, none=True))
    text = s.pick(f"how many {phrase.plural} are there?", f"有几个{phrase.text}？")
    return text, Truth(ask=True, answer=Answer("count", frozenset(), 0))


def said_of_itself(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The corn tin", of a tin of sweet corn; "the wooden box", of a wooden box with blocks."""
    _, phrase = _drawn(d, s, _OF_ITSELF[0 if s.en else 1])
    d.fill(1, 3, clear=[phrase])
    if any_related(phrase.head, [t.name.head for t in d.things]):
        raise Redraw
    return s.put(s.the(phrase), s.into(d.places[0])), Truth(ends(d.things[:1], [d.places[0].id]))


ASKED: Final[Mapping[str, Kind]] = {"said of another?": asked_of_another}
KINDS: Final[Mapping[str, Kind]] = {
    "said of another": said_of_another, "said of itself": said_of_itself, **ASKED,
}  # fmt: skip
