"""Kinds of sentences in which a place is left alone or left out: nothing goes there, and what lies there stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .drawing import COLOURS, Draw, Look
from .grammar import Speech
from .labels import EN, Label, chinese
from .one_thing import Kind
from .truth import TABLE_ID, Item, Truth, ends, one

_SPARED: Final = (
    ", but leave {k} alone / , but do not touch {k} /  without touching {k} /  and don't touch {k}",
    "，别碰{k} / ，但不要动{k} / ，别动{k}",
)
_BEFORE: Final = ("don't touch {k}, / leave {k} as it is and / leave {k} alone,", "别动{k}，/ 不要碰{k}，")
_EXCEPT: Final = "except / but / apart from / other than / excluding"


def _boxes(d: Draw, s: Speech) -> tuple[Item, Item, str]:
    """Two boxes that only a colour tells apart: one that is left alone, and another; and their noun."""
    head = d.rng.choice(("box", "basket", "tray") if d.names == EN else ("盒子", "篮子", "托盘"))
    kept, other = (d.place(d.coloured(d.make((), head), hue)) for hue in d.rng.sample(COLOURS, 2))
    return kept, other, head


def put_away_beside(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Put the cup away, but leave the red box alone": into the other box, or ask."""
    kept, other, _ = _boxes(d, s)
    thing = d.add(d.anything())
    d.fill(0, 2)
    one(thing.name, d.things)
    spared = d.rng.choice(_SPARED[0 if s.en else 1].split(" / ")).format(k=s.the(kept.name))
    text = s.pick("put {a} away{k} / tidy up{k} / clear the table{k}", "把{a}收起来{k} / 收拾桌子{k}")
    moved = [thing] if "{a}" in text else d.things
    return text.format(a=s.the(thing.name), k=spared), Truth(ends(moved, [other.id]), ask=True)


def stays_inside(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Don't touch the red box, put everything in the tray": what lies in the red box stays."""
    kept, other, head = _boxes(d, s)
    inside, beside = d.add(d.anything(), Look(inside=kept.id)), d.add(d.anything(), Look(inside=other.id))
    told, at = s.the(kept.name), 0 if s.en else 1
    if s.en and d.rng.random() < 0.5:
        few = f"{d.rng.choice(_EXCEPT.split(' / '))} {told}"
        plural = {"box": "boxes"}.get(head, f"{head}s")
        text = s.pick(
            f"take everything out of every {head} {few} / remove everything from every {head} {few} / "
            f"empty every {head} {few} / take everything out of the {plural}, but leave {told} alone / "
            f"don't touch {told}, take everything out of every {head}",
            "",
        )
        return text, Truth(ends([beside], [TABLE_ID]), ask=True)
    loose = d.add(d.anything())
    place = d.place(d.make((), "bin" if d.names == EN else "箱子"))
    spared, before = (d.rng.choice(ways[at].split(" / ")).format(k=told) for ways in (_SPARED, _BEFORE))
    order = f"put everything {s.into(place)}" if s.en else f"把所有东西{s.into(place)}"
    text = f"{order}{spared}" if d.rng.random() < 0.5 else f"{before.strip()}{' ' * s.en}{order}"
    assert inside not in (beside, loose)
    return text, Truth(ends([beside, loose], [place.id]), ask=True)


def no_other_place(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "In any box except the lunch box", of no other box: ask."""
    kept = d.place(Label("lunch box", "box", ("lunch",), EN) if d.names == EN else chinese(("饭",), "盒"))
    d.place(d.make((), "crate" if d.names == EN else "篮子"))
    thing = d.add(d.anything())
    d.fill(0, 2)
    one(thing.name, d.things)
    few = f"{d.rng.choice(_EXCEPT.split(' / '))} the lunch box"
    text = s.pick(
        f"put {{a}} in any box {few} / put {{a}} in a box {few} / put {{a}} in one of the boxes {few} / "
        f"put everything in any box {few} / put {{a}} in any box, not the lunch box",
        "把{a}放进任意一个盒子，{k}除外 / 把{a}放进一个盒子，但不是{k} / 把{a}放进任意盒子，除了{k} / "
        "随便把{a}放进一个盒子，不要{k}",
    )
    return text.format(a=s.the(thing.name), k=kept.name.text), Truth()


def what_remains(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Whatever is left of the pear": what remains of it, or what lies to its left? Ask."""
    place = d.ordinary_places()[0]
    thing = d.add(d.anything())
    d.fill(1, 4)
    one(thing.name, d.things)
    what = s.pick("whatever is left of {a} / what is left of {a} / what's left of {a}", "").format(a=s.the(thing.name))
    return s.put(what, s.into(place)), Truth()


KINDS: Final[Mapping[str, Kind]] = {
    "put away beside": put_away_beside, "stays inside": stays_inside, "no other place": no_other_place,
    "what remains": what_remains,
}  # fmt: skip
ENGLISH: Final = frozenset({"what remains"})
