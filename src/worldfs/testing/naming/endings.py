"""Kinds of sentences about names that begin with their head: "battery AA", "cup red", 盒子甲, "book about cats"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from . import words_en, words_zh
from .drawing import Draw, Look
from .grammar import Speech
from .labels import EN, ZH, Label, any_related, english, plain, trailing
from .one_thing import Kind
from .several_things import all_but
from .truth import Answer, Item, Redraw, Truth, ends, every, one, the


def _ended(name: Label, ending: str) -> Label:
    """The plain name with what tells which it is behind it."""
    if name.language == EN:
        return Label(f"{name.text} {ending}", name.head, tuple(ending.lower().split()), EN, tail=ending)
    return Label(name.text + ending, name.head, (ending,), ZH)


def _alike(d: Draw, count: int) -> tuple[Label, list[Item]]:
    """Several things of one name and different endings of one series; all of them are meant by the name."""
    name = d.rng.choice([p for p in plain(d.names) if p.countable and p.head not in words_en.NEVER_ONE])
    if name.plural == name.text and d.names == EN:
        raise Redraw
    series = d.rng.choice(words_en.ENDINGS if d.names == EN else words_zh.ENDINGS).split(", ")
    d.ordinary_places()
    found = []
    for ending in d.rng.sample(series, min(count, len(series))):
        colour = ending if ending in words_en.COLOURS.split(", ") else ""
        found.append(d.add(_ended(name, ending), Look(colour=colour)))
    d.fill(1, 3, clear=[name])
    if set(every(name, d.things)) != set(found):
        raise Redraw
    return name, found


def all_alike(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The batteries", of battery C and battery AA: both."""
    name, found = _alike(d, d.rng.choice((2, 2, 3)))
    said = f"the {name.plural}" if s.en and d.rng.random() < 0.5 else s.all(name)
    said += "都" if not s.en and d.rng.random() < 0.5 else ""
    return s.put(said, s.into(d.places[0])), Truth(ends(found, [d.places[0].id]), ask=_is_one_sign(name))


def all_but_alike(d: Draw, s: Speech) -> tuple[str, Truth]:
    name, found = _alike(d, 2)
    said = f"the {name.plural}" if s.en else s.pick("", "所有{} / 所有的{}").format(name.text)
    text, truth = all_but(d, s, said, found, ask=_is_one_sign(name))
    return text.replace("where it is", "where they are"), truth


def one_of_alike(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The battery": which? And "everything except the battery"."""
    name, found = _alike(d, 2)
    among = frozenset(i.id for i in found)
    if d.rng.random() < 0.4 and s.en:
        text, truth = all_but(d, s, s.the(name), found, ask=True)
        return text, truth if "leave" in text or "touch" in text else Truth()
    return s.put(s.the(name), s.into(d.places[0])), Truth(candidates=among)


def alike_but_one(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "All shirts except shirt L"."""
    name, found = _alike(d, 3)
    kept, *rest = found
    said = s.pick("put all {n} {p} except {k} / put all {n} except {k} {p}", "把所有{n}都{p}，除了{k}").format(
        n=name.plural, k=kept.name.text, p=s.into(d.places[0])
    )
    return said, Truth(ends(rest, [d.places[0].id]), ask=_is_one_sign(name))


def named_of_alike(d: Draw, s: Speech) -> tuple[str, Truth]:
    _, found = _alike(d, 3)
    said = d.rng.choice(("", "the ")) + found[0].name.text if s.en else found[0].name.text
    return s.put(said, s.into(d.places[0])), Truth(ends(found[:1], [d.places[0].id]))


def how_many_alike(d: Draw, s: Speech) -> tuple[str, Truth]:
    name, found = _alike(d, d.rng.choice((2, 3)))
    count = Answer("count", frozenset(i.id for i in found), len(found))
    text = s.pick("how many {} are there / how many {} do you see", "有几{m}{} / 有多少{m}{}")
    return _asked(s, text.format(name.plural, m=s.measure(name))), Truth(ask=_is_one_sign(name), answer=count)


def with_one_ending(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The cups", of a cup and a cup red: both, or a question, and never one alone."""
    name = d.rng.choice([p for p in plain(d.names) if p.countable and p.head not in words_en.NEVER_ONE])
    series = d.rng.choice(words_en.ENDINGS if d.names == EN else words_zh.ENDINGS).split(", ")
    d.ordinary_places()
    ended = d.add(_ended(name, d.rng.choice(series)))
    both = d.rng.random() < 0.6
    found = [d.add(name), ended] if both else [ended]
    d.fill(1, 3, clear=[name])
    if set(every(name, d.things)) != set(found) or (s.en and name.plural == name.text):
        raise Redraw
    said = (f"the {name.plural}" if both else f"the {name.text}") if s.en else f"所有{name.text}"
    if d.rng.random() < 0.4:
        return all_but(d, s, said, found, ask=True)
    return s.put(said, s.into(d.places[0])), Truth(ends(found, [d.places[0].id]), ask=True)


def told_after(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The book", of a book about cats; "the cats" are no thing there."""
    name, inner = _told(d)
    head, phrase = d.head(name), english((), inner)
    d.ordinary_places()
    thing = d.add(name)
    d.fill(1, 3, clear=[head, phrase])
    roll = d.rng.random()
    if roll < 0.4:
        one(head, d.things)
        return s.put(s.the(head), s.into(d.places[0])), Truth(ends([thing], [d.places[0].id]), ask=_is_joined(name))
    said = f"the {inner}"
    if the(phrase, d.things).thing is not None:
        raise Redraw
    if roll < 0.7:
        return s.put(said, s.into(d.places[0])), Truth()
    return all_but(d, s, said, [thing])[0], Truth()


def is_told_after_there(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Is there a shed?", with a key to the shed."""
    name, inner = _told(d)
    head, phrase = d.head(name), english((), inner)
    d.ordinary_places(1)
    d.add(name)
    d.fill(1, 3, clear=[head, phrase])
    if inner.endswith("s") or d.rng.random() < 0.5:
        return _asked(s, f"is there {s.a(head)}"), Truth(ask=_is_joined(name), answer=Answer("exists", yes=True))
    if every(phrase, d.things):
        raise Redraw
    text = s.pick("is there {} / where is the {n} / is the {n} on the table", "").format(s.a(phrase), n=phrase.text)
    return _asked(s, text), Truth(ask=True, answer=Answer("exists", yes=False, none=True))


def _told(d: Draw) -> tuple[Label, str]:
    head, after = d.rng.choice(words_en.TOLD_AFTER.split(", ")).split(" ", 1)
    name, inner = trailing(head, after), after.split()[-1]
    if any_related(head, [inner]):
        raise Redraw
    return name, inner


def _is_joined(name: Label) -> bool:
    """Of "lid on jar" it is in doubt which of the two it is."""
    return name.tail.split()[0] in words_en.JOINED.split(", ")


def count_in_a_name(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "A dozen cartons", with one "dozen eggs carton": a number, and never the name."""
    told = d.rng.choice(words_en.COUNT_NAMES.split(", "))
    *before, head = told.split()
    count = next(word for word in before if word in words_en.COUNT_WORDS.split(", "))
    name = english(before, head)
    d.ordinary_places()
    thing = d.add(name)
    d.fill(1, 3, clear=[d.head(name)])
    noun = d.rng.choice((d.head(name), name)) if before[0] == count else d.head(name)
    if d.rng.random() < 0.25:
        return s.put(s.the(name), s.into(d.places[0])), Truth(ends([thing], [d.places[0].id]))
    said = noun.plural if noun is name else f"{count} {noun.plural}"
    if count in ("dozen", "hundred", "thousand"):
        said = f"a {said}"
    if d.rng.random() < 0.3:
        return _asked(s, f"are there {said}"), Truth(ask=True, answer=Answer("exists", yes=False, none=True))
    return s.put(said, s.into(d.places[0])), Truth()


# -- "the blue ones", after two kinds ---------------------------------------------------------------------------------


def _two_kinds(d: Draw, s: Speech) -> tuple[list[Label], list[list[Item]], list[str]]:
    """Two kinds of things, each in two colours, of which they share the first."""
    names = d.rng.sample([p for p in plain(d.names) if p.countable and p.head not in words_en.NEVER_ONE], 2)
    if any_related(names[0].head, [names[1].head]) or (s.en and any(n.plural == n.text for n in names)):
        raise Redraw
    hues = d.rng.sample(list(words_zh.COLOURS), 3)
    d.ordinary_places(2)
    found = [[d.add(n, Look(colour=hue)) for hue in (hues[0], hues[1 + at])] for at, n in enumerate(names)]
    return names, found, hues


def all_but_coloured_of_two(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The mugs and the bowls except the blue ones": of both kinds."""
    names, found, hues = _two_kinds(d, s)
    hue = hues[0] if s.en else words_zh.COLOURS[hues[0]]
    text = s.pick(
        "put the {a} and the {b} {p} except the {c} ones / put the {a} and {b}, but not the {c} ones, {p} / "
        "put all {a} and {b} except the {c} ones {p} / put the {a} and the {b} {p}, not the {c} ones / "
        "put the {a} and the {b} {p} apart from the {c} ones",
        "把{a}和{b}都{p}，但不要{c}色的 / 把{a}和{b}都{p}，除了{c}色的 / 把所有{a}和{b}都{p}，不要{c}色的",
    ).format(a=names[0].plural, b=names[1].plural, c=hue, p=s.into(d.places[0]))
    return text, Truth(ends([two[1] for two in found], [d.places[0].id]), ask=True)


def coloured_one_of_two(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The red mug and the white bowl in the basket and the blue one in the tray": which?"""
    names, found, hues = _two_kinds(d, s)
    alone = d.rng.random() < 0.4  # the blue one is of one kind only
    if alone:
        d.things.remove(found[d.rng.choice((0, 1))][0])
    left = [two[0] for two in found if two[0] in d.things]
    first, second = d.places[:2]
    for place in (first, second):
        one(place.name, d.places)
    said = [s.the(d.coloured(n, hue)) for n, hue in zip(names, hues[1:], strict=True)]
    other = s.pick(f"the {hues[0]} one / the other one", f"{words_zh.COLOURS[hues[0]]}色的那个")
    text = s.pick("put {a} {p} and {b} {q} / put {a} {p}, then {b} {q}", "把{a}{p}，把{b}{q}").format(
        a=s.join(said), p=s.into(first), b=other, q=s.into(second)
    )
    moved = {two[1].id: frozenset({first.id}) for two in found}
    end = {**moved, left[0].id: frozenset({second.id})}
    return text, Truth((end,) if alone else (), ask=True)


def _is_one_sign(name: Label) -> bool:
    """Of 蛋白 and 蛋黄 it is in doubt whether both are 蛋."""
    return name.language == ZH and len(name.text) == 1


def _asked(s: Speech, text: str) -> str:
    return text + ("?" if s.en else "？")


ENGLISH: Final = frozenset({"told after", "is what is told after there?", "count in a name"})
ASKED: Final[Mapping[str, Kind]] = {
    "how many alike?": how_many_alike, "is what is told after there?": is_told_after_there,
}  # fmt: skip
KINDS: Final[Mapping[str, Kind]] = {
    "all alike": all_alike, "all but alike": all_but_alike, "one of alike": one_of_alike,
    "alike but one": alike_but_one, "named, of alike": named_of_alike, "with one ending": with_one_ending,
    "told after": told_after, "count in a name": count_in_a_name, "all but coloured, of two": all_but_coloured_of_two,
    "coloured one, of two": coloured_one_of_two, **ASKED,
}  # fmt: skip
