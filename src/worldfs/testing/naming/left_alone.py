"""Kinds of sentences in which a list says what is left alone: "not the mug, the key or the lid", "instead of …".

Each item of the list stays, whatever joins the list, and wherever it stands in the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .drawing import Draw
from .grammar import Speech
from .one_thing import Kind
from .several_things import distinct
from .truth import Item, Truth, ends


def _listed(s: Speech, things: Sequence[Item]) -> str:
    """ "A, b and c", "a, b, or c", "a, b": all ways to join names."""
    said = [s.the(t.name) for t in things]
    last = s.pick(" and / or / or / , ", "和 / 、 / 或 / 或者") if s.en else s.pick("", "和 / 、 / 以及")
    last = f" {last.strip()} " if last.strip(" ,") and s.en else ", " if s.en else last
    oxford = "," if s.en and len(said) > 2 and last != ", " and s.rng.random() < 0.4 else ""
    return (", " if s.en else "、").join(said[:-1]) + oxford + last + said[-1]


def not_these(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Put the cup in the basket, but not the knife, the apple or the book": of these none moves."""
    first, *others = distinct(d, d.rng.choice((3, 3, 4, 5)))
    everything = d.rng.random() < 0.3
    p, k = s.into(d.places[0]), _listed(s, others)
    after = s.pick(
        "put {a} {p}, but not {k} / put {a} {p}, not {k} / put {a} {p} and not {k} / put {a} {p} but not {k} / "
        "put {a} {p} instead of {k} / put {a} {p} rather than {k}",
        "把{a}{p}，不要{k} / 把{a}{p}，不是{k} / 把{a}{p}，但不要{k}",
    )
    before = s.pick("put {a} instead of {k} {p} / put {a}, rather than {k}, {p}", "把{a}而不是{k}{p}")
    if everything:
        text = s.pick(
            "put everything {p}, but not {k} / put everything {p}, not {k} / put everything {p} except {k} / "
            "put everything except {k} {p} / put everything {p} and leave {k} / "
            "put everything {p} but don't touch {k} / put everything that is not {k} {p}",
            "把所有东西{p}，不要动{k} / 除了{k}，把所有东西{p} / 把除了{k}以外的东西都{p}",
        )
    else:
        text = after if d.rng.random() < 0.7 else before
    moved = [t for t in d.things if t not in others] if everything else [first]
    told = s.the(first.name)
    plain = "and" not in k.split(" ") and not (k.count(", ") and " or " not in k) if "that is not" in text else True
    truth = Truth(ends(moved, [d.places[0].id]), ask=_may_ask(text, k, plain=plain))
    return text.format(a=told, p=p, k=k), truth


def _may_ask(text: str, k: str, *, plain: bool) -> bool:
    """Whether it may be asked what the last item belongs to: "and" joins it to what is meant as well."""
    aside = text.index("{k}") < text.index("{p}") and "everything" not in text
    return not plain or (aside and (", and " in k or " or " not in k))


KINDS: Final[Mapping[str, Kind]] = {"not these": not_these}
