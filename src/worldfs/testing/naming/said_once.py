"""Kinds of sentences in which a noun is said once for two things, or is not said, or names nothing that is here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .drawing import Draw
from .grammar import Speech
from .labels import EN, Label, any_related, chinese, english, invented
from .one_thing import Kind
from .several_things import all_but
from .truth import Answer, Redraw, Truth, ends

_CONTRARY: Final = {
    "en": "big small, large small, left right, long short, old new, full empty, clean dirty",
    "zh": "大 小, 长 短, 新 旧",
}
_OWNERS: Final = "小明, 小李, 王芳, 李老师, 爸爸, 奶奶"


def one_head_for_two(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The big and the small spoon", 大的和小的勺子: both; where one of them is here twice, or not at all, ask."""
    head = d.word("sided") if s.en else d.compound().head
    one, two = d.rng.choice(_CONTRARY[s.language].split(", ")).split()
    make = english if s.en else chinese
    names = [make((word,), head) for word in (one, two)]
    bare = make((), head)
    if not bare.text or (s.en and bare.plural == bare.text):
        raise Redraw
    place = d.ordinary_places()[0]
    roll = d.rng.random()
    found = [d.add(name) for name in (names if roll < 0.7 else names[:1])]
    several = s.en and d.rng.random() < 0.3
    if 0.7 <= roll < 0.85:
        found = [*found, d.add(names[0]), d.add(names[1])]
    d.fill(0, 2, clear=[bare])
    if any_related(head, [t.name.head for t in (*d.things, *d.places) if t not in found]):
        raise Redraw
    said = f"the {one} and {two} {bare.plural}" if several else s.pick(
        f"the {one} and the {two} {head} / the {one} and {two} {head}", f"{one}的和{two}的{bare.text}"
    )  # fmt: skip
    certain = roll < 0.7 or (several and roll < 0.85)
    if certain and d.rng.random() < 0.3:
        text, truth = all_but(d, s, said, found)
        return text.replace("where it is", "where they are"), truth
    return s.put(said, s.into(place)), Truth(ends(found, [place.id]) if certain else (), ask=several or not s.en)


def left_out_by_owner(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "All mugs except the chef's", 小明的除外: what is called hers stays."""
    if s.en:
        raise Redraw
    owner, other = d.rng.sample(_OWNERS.split(", "), 2)
    heads = d.rng.sample(("笔袋", "水壶", "帽子", "剪刀", "雨伞"), 2)
    his = [d.add(chinese((f"{owner}的",), head)) for head in heads[: d.rng.choice((1, 2))]]
    rest = [d.add(chinese((f"{other}的",), heads[0]))]
    place = d.ordinary_places()[0]
    every = d.rng.random() < 0.6
    d.fill(0, 2, clear=[chinese((), head) for head in heads])
    moved = [t for t in d.things if t not in his] if every else rest
    p, what = s.into(place), "东西" if every else heads[0]
    text = s.pick(
        "", "把所有{w}{p}，{o}的除外 / 除了{o}的，把所有{w}都{p} / 把所有{w}{p}，别动{o}的 / 把{w}都{p}，{o}的除外"
    )
    return text.format(w=what, p=p, o=owner), Truth(ends(moved, [place.id]))


def unknown_there(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is there a zorb?", of no thing of that name: that there is none."""
    word = invented(s.language, d.rng)
    d.ordinary_places()
    d.fill(1, 3)
    name = english((), word) if d.names == EN else Label(word, word, (), d.names)
    if any(word in t.name.text or word[-1] in t.name.text[-1:] for t in (*d.things, *d.places)):
        raise Redraw
    text = s.pick(
        f"is there {s.a(name)}? / is there {s.a(name)} here? / do you see {s.a(name)}? / are there any {name.plural}?",
        f"有{word}吗？ / 有没有{word}？ / 这里有{word}吗？",
    )
    return text, Truth(answer=Answer("exists", yes=False, none=True))


ASKED: Final[Mapping[str, Kind]] = {"is an unknown thing there?": unknown_there}
KINDS: Final[Mapping[str, Kind]] = {
    "one head for two": one_head_for_two, "left out by owner": left_out_by_owner, **ASKED,
}  # fmt: skip
CHINESE: Final = frozenset(("left out by owner",))
