"""Kinds of sentences about several things: lists, clauses, order, pronouns, all, both, two of, exceptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from . import words_en, words_zh
from .drawing import Draw, Look
from .grammar import Speech
from .labels import EN, Label, coloured, compounds, parts
from .one_thing import Kind, asked
from .truth import HELD, TABLE_ID, Item, Redraw, Truth, both, ends, every, one, some, the


def distinct(d: Draw, count: int) -> list[Item]:
    """Things whose full names each mean one."""
    names = [d.anything() if d.rng.random() < 0.5 else d.compound() for _ in range(count)]
    d.ordinary_places()
    found = [d.add(name) for name in names]
    d.fill(0, 3)
    for thing in found:
        one(thing.name, d.things)
    return found


def two_places(d: Draw, count: int) -> tuple[list[Item], Item, Item]:
    names = [d.anything() for _ in range(count)]
    first, second = d.ordinary_places(2)
    found = [d.add(name) for name in names]
    d.fill(0, 3)
    for thing in found:
        one(thing.name, d.things)
    for place in (first, second):
        one(place.name, d.places)
    return found, first, second


def listed(d: Draw, s: Speech) -> tuple[str, Truth]:
    things = distinct(d, d.rng.choice((2, 2, 3)))
    said = s.join([s.the(t.name) for t in things])
    if s.en and len(things) == 2 and d.rng.random() < 0.25:
        said = f"both {said}"
    if not s.en and d.rng.random() < 0.5:
        said += "都"
    return s.put(said, s.into(d.places[0])), Truth(ends(things, [d.places[0].id]))


def listed_beside(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "All of the umbrella and the tag", 把收据和雨伞都…, with a beach umbrella: it stays."""
    name = d.compound()
    head = d.head(name)
    d.ordinary_places()
    things = [d.add(head), d.add(d.plain())]
    d.add(name)
    d.fill(0, 2)
    if any(the(thing.name, d.things).thing != thing for thing in things):
        raise Redraw
    d.rng.shuffle(things)
    said = s.join([s.the(t.name) for t in things])
    said = s.pick("{} / both {} / all of {} / each of {}", "{}都 / {}全都 / {}全部 / {}两样都").format(said)
    if not (head.countable and things[0].name.countable and things[1].name.countable) and " of " in said:
        raise Redraw
    return s.put(said, s.into(d.places[0])), Truth(ends(things, [d.places[0].id]), ask=True)


def to_two_places(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The cup in the basket and the cup on the tray": which of the two?"""
    (a,), p, q = two_places(d, 1)
    text = s.pick(
        "put {a} {p} and {a} {q} / put {a} {p} and put {a} {q} / put {a} {p}, {a} {q}",
        "把{a}{p}，把{a}{q} / 把{a}{p}，{a}{q} / {a}{p}，{a}{q}",
    )
    return text.format(a=s.the(a.name), p=s.into(p), q=s.into(q)), Truth()


def too(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Put the lemon in the tray and the tomato too." """
    first, second = distinct(d, 2)
    where = s.into(d.places[0])
    text = s.pick(
        "put {a} {p} and {b} too / put {a} {p}, and {b} too / put {a} {p}, {b} as well / put {a} {p} and {b} as well / "
        "put {a} {p}, and also {b}",
        "把{a}{p}，{b}也{p} / 把{a}{p}，{b}也一样 / 把{a}{p}，还有{b} / 把{a}{p}，{b}也是",
    )
    return text.format(a=s.the(first.name), b=s.the(second.name), p=where), Truth(
        ends([first, second], [d.places[0].id])
    )


def two_clauses(d: Draw, s: Speech) -> tuple[str, Truth]:
    (a, b), p, q = two_places(d, 2)
    text = s.pick(
        "put {a} {p} and {b} {q} / put {a} {p} and put {b} {q} / put {a} {p}, {b} {q} / put {a} {p}; put {b} {q} / "
        "put {a} {p}. Put {b} {q}",
        "把{a}{p}，把{b}{q} / 把{a}{p}，{b}{q} / {a}{p}，{b}{q} / 把{a}{p}，再把{b}{q} / 请把{a}{p}，并把{b}{q}",
    ).format(a=s.the(a.name), b=s.the(b.name), p=s.into(p), q=s.into(q))
    return text, Truth(both(ends([a], [p.id]), ends([b], [q.id])))


def in_order(d: Draw, s: Speech) -> tuple[str, Truth]:
    (a, b), p, q = two_places(d, 2)
    same = d.rng.random() < 0.4
    q = p if same else q
    text = s.pick(
        "first put {a} {p}, then put {b} {q} / put {a} {p}, then {b} {q} / first {a} {p}, then {b} {q} / "
        "before you put {b} {q}, put {a} {p} / put {b} {q} after putting {a} {p} / put {a} {p} and then put {b} {q}",
        "先把{a}{p}，再把{b}{q} / 先把{a}{p}，然后把{b}{q} / 把{a}{p}之后，再把{b}{q} / 首先把{a}{p}，接着把{b}{q}",
    ).format(a=s.the(a.name), b=s.the(b.name), p=s.into(p), q=s.into(q))
    return text, Truth(both(ends([a], [p.id]), ends([b], [q.id])), order=(a.id, b.id))


def pronoun(d: Draw, s: Speech) -> tuple[str, Truth]:
    (thing,) = distinct(d, 1)
    it = "it"
    if s.en and thing.name.plural == thing.name.text:
        it = "them"
    text = s.pick(
        "take {a} and put {it} {p} / pick up {a} and put {it} {p} / pick up {a}, then place {it} {p} / "
        "grab {a} and drop {it} {p}",
        "拿起{a}，把它{p} / 拿{a}，{p} / 把{a}拿起来{p} / 拿起{a}然后把它{p}",
    ).format(a=s.the(thing.name), it=it, p=s.into(d.places[0]))
    return text, Truth(ends([thing], [d.places[0].id]))


def pronoun_of_two(d: Draw, s: Speech) -> tuple[str, Truth]:
    things = distinct(d, 2)
    text = s.pick(
        "take {a} and {b} and put them {p} / take {a} and {b} and put both {p} / "
        "pick up {a} and {b}, then put them {p}",
        "拿起{a}和{b}，把它们{p} / 拿{a}和{b}，都{p} / 拿起{a}和{b}，把两个都{p}",
    ).format(a=s.the(things[0].name), b=s.the(things[1].name), p=s.into(d.places[0]))
    return text, Truth(ends(things, [d.places[0].id]))


def everything(d: Draw, s: Speech) -> tuple[str, Truth]:
    d.ordinary_places()
    d.fill(2, 4)
    if len(d.things) < 2:
        raise Redraw
    text = s.put(
        s.pick("everything / all the things", "所有东西 / 所有的东西都 / 全部东西 / 桌上的东西都"), s.into(d.places[0])
    )
    return text, Truth(ends(d.things, [d.places[0].id]))


def all_but(d: Draw, s: Speech, said: str, kept: Sequence[Item], *, ask: bool = False) -> tuple[str, Truth]:
    place = d.places[0]
    rest = [t for t in d.things if t not in kept]
    if not rest:
        raise Redraw
    where = s.into(place)
    text = s.pick(
        "put everything except {k} {p} / put everything but {k} {p} / put all the things except {k} {p} / "
        "everything except {k} goes {p} / put everything {p} except {k} / put everything {p}, but not {k} / "
        "put everything {p} but leave {k} where it is / put everything {p} but don't touch {k}",
        "除了{k}，把所有东西都{p} / 除了{k}以外都{p} / 把除了{k}以外的东西都{p} / 除{k}外，把所有东西{p} / "
        "把所有东西都{p}，除了{k} / 把所有东西{p}，不要动{k} / 把所有东西都{p}，{k}不要动",
    ).format(k=said, p=where)
    if "goes into" in text or "goes onto" in text:
        text = text.replace("goes into", "goes in").replace("goes onto", "goes on")
    return text, Truth(ends(rest, [place.id]), ask)


def all_but_one(d: Draw, s: Speech) -> tuple[str, Truth]:
    d.ordinary_places()
    kept = d.add(d.anything())
    d.fill(2, 4)
    return all_but(d, s, s.the(kept.name), [one(kept.name, d.things)])


def all_but_modifier(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Everything except the apple", with apple juice: the juice moves where there is an apple; else ask."""
    name = d.compound()
    phrase = d.bare(name)
    d.ordinary_places()
    d.add(name)
    there = d.rng.random() < 0.6
    if there:
        d.add(phrase)
    d.fill(1, 3, clear=[phrase])
    if there:
        return all_but(d, s, s.the(phrase), [one(phrase, d.things)])
    if not the(phrase, d.things).among and the(phrase, d.things).thing is None:
        return all_but(d, s, s.the(phrase), [])[0], Truth()
    raise Redraw


def all_but_all(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Everything except the mugs goes on the tray." """
    name = d.compound()
    head = d.head(name)
    d.ordinary_places()
    kept = [d.add(name), d.add(d.named(name.head, but=[name]) if d.rng.random() < 0.6 else name)]
    d.fill(1, 3)
    if d.rng.random() < 0.4:
        d.add(d.rng.choice(_with_modifier(d, name.head) or [d.anything()]))
    if not head.countable or {t.id for t in every(head, d.things)} < {t.id for t in kept}:
        raise Redraw
    said = f"the {head.plural}" if s.en else s.pick("", "所有{} / 所有的{} / 那些{}").format(head.text)
    text, truth = all_but(d, s, said, every(head, d.things), ask=head.head in words_en.NEVER_ONE)
    return text.replace("where it is", "where they are"), truth


def all_of_head_but_one(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Every mug that isn't the tea mug", 除茶杯以外的杯子: the other mugs, and nothing else."""
    name = d.compound()
    head = d.head(name)
    d.ordinary_places()
    kept = d.add(name)
    for _ in range(d.rng.choice((1, 2))):
        d.add(d.named(name.head, but=[name]))
    d.fill(1, 3)
    found = every(head, d.things)
    if not head.countable or (s.en and head.plural == head.text) or one(name, d.things) != kept or kept not in found:
        raise Redraw
    text = s.pick(
        "put all {n} other than {k} {p} / put every {h} that isn't {k} {p} / put every {h} that is not {k} {p} / "
        "put all the {n} that aren't {k} {p} / put every {h} but {k} {p} / put all {n} except {k} {p} / "
        "put every {h} other than {k} {p} / put all the {n} {p}, but not {k}",
        "把除{k}以外的{h}都{p} / 把除了{k}以外的{h}{p} / 除了{k}的{h}都{p} / 把除{k}之外的所有{h}{p} / "
        "除{k}外，所有{h}都{p} / 把不是{k}的{h}都{p} / 把所有{h}都{p}，除了{k}",
    ).format(n=head.plural, h=head.text, k=s.the(name) if s.en else name.text, p=s.into(d.places[0]))
    return text, Truth(ends([t for t in found if t != kept], [d.places[0].id]))


def the_other(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "… and the other one in the tray", of two of that name; where there is one, or three, ask."""
    name = d.compound() if d.rng.random() < 0.5 else d.plain()
    p, q = d.ordinary_places(2)
    things = [d.add(name, Look(colour=hue)) for hue in d.rng.sample(words_en.COLOURS.split(", "), 3)]
    count = d.rng.choice((1, 2, 2, 2, 3))
    for thing in things[count:]:
        d.things.remove(thing)
    d.fill(1, 2, clear=[name])
    for place in (p, q):
        one(place.name, d.places)
    phrase = d.coloured(name, things[0].colour)
    if one(phrase, d.things) != things[0] or (s.en and name.plural == name.text):
        raise Redraw
    text = s.pick(
        "put {a} {p} and the other one {q} / put {a} {p} and the other {q} / put {a} {p}, and the other {n} {q}",
        "把{a}{p}，另一个{q} / 把{a}{p}，把另一个{q} / 把{a}{p}，另一个{n}{q} / 把{a}{p}，另外那个{q}",
    ).format(a=s.the(phrase), n=name.text, p=s.into(p), q=s.into(q))
    return text, Truth(both(ends([things[0]], [p.id]), ends([things[1]], [q.id])) if count == 2 else ())


def _with_modifier(d: Draw, head: str) -> list[Label]:
    return [c for c in compounds(d.names) if head in {p.head for p in parts(c)} and c.head != head]


def all_of_head(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "All the openers", beside things whose modifier it is: those stay."""
    name = d.compound()
    head = d.head(name)
    d.ordinary_places()
    d.add(name)
    d.add(d.named(name.head, but=[name]) if d.rng.random() < 0.7 else name)
    if d.rng.random() < 0.3:
        d.add(head)
    d.fill(1, 3)
    found = every(head, d.things)
    if not head.countable or len(found) < 2:
        raise Redraw
    return s.put(_all(s, head, d), s.into(d.places[0])), Truth(ends(found, [d.places[0].id]))


def _all(s: Speech, name: Label, d: Draw) -> str:
    return s.all(name) + ("都" if not s.en and d.rng.random() < 0.5 else "")


def all_of_modifier(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "All the cans", with a can opener: it stays; with nothing else, ask."""
    name = d.compound()
    phrase = d.bare(name)
    d.ordinary_places()
    d.add(name)
    if d.rng.random() < 0.5:
        d.add(phrase)
        d.add(phrase)
    d.fill(1, 3, clear=[phrase])
    if not phrase.countable:
        raise Redraw
    found = every(phrase, d.things)
    if len(found) == 1:
        raise Redraw
    moved = ends(found, [d.places[0].id]) if found else ()
    return s.put(_all(s, phrase, d), s.into(d.places[0])), Truth(moved)


def all_with_exact(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "All ties", with a tie and a striped tie: both."""
    name = d.compound()
    head = d.head(name)
    d.ordinary_places()
    d.add(head)
    d.add(name)
    d.fill(1, 3)
    if not head.countable:
        raise Redraw
    return s.put(_all(s, head, d), s.into(d.places[0])), Truth(ends(every(head, d.things), [d.places[0].id]))


def both_of(d: Draw, s: Speech) -> tuple[str, Truth]:
    """Both of two; of three, or of one, ask."""
    name = d.compound()
    head = d.head(name)
    d.ordinary_places()
    for _ in range(d.rng.choice((2, 2, 2, 3, 1))):
        d.add(d.rng.choice((name, d.named(name.head), head)))
    d.fill(1, 3)
    found = every(head, d.things)
    if not head.countable:
        raise Redraw
    text = s.put(s.both(head), s.into(d.places[0]))
    moved = ends(found, [d.places[0].id]) if len(found) == 2 else ()
    if not s.en and len(found) > 2 and not text.count("都"):  # 两个 may be any two
        return text, Truth(some(found, 2, d.places[0].id), True)
    return text, Truth(moved)


def another_number(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The four mugs", of three: nothing is done in part."""
    head, found = _several(d, 2)
    if s.en and head.plural == head.text:
        raise Redraw
    there, m = len(found), s.measure(head)
    n = d.rng.choice([n for n in (2, 3, 4, 5) if n != there])
    en, zh = {2: "two", 3: "three", 4: "four", 5: "five"}[n], {2: "两", 3: "三", 4: "四", 5: "五"}[n]
    whole = f"the {en} {{0}} / all {en} {{0}} / the {n} {{0}}", f"那{zh}{m}{{0}} / {zh}{m}{{0}}都 / 所有{zh}{m}{{0}}"
    more = f"{en} {{0}} / {en} of the {{0}} / {n} {{0}}", f"{zh}{m}{{0}} / 其中{zh}{m}{{0}} / {n}{m}{{0}}"
    said = s.pick(*(more if n > there and d.rng.random() < 0.5 else whole)).format(head.plural)
    return s.put(said, s.into(d.places[0])), Truth()


def respectively(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The mug and the key in the basket and the tray, respectively": each to its own."""
    (a, b), p, q = two_places(d, 2)
    text = s.pick(
        "put {a} and {b} in {p} and {q} respectively / put {a} and {b} in {p} and {q}, respectively",
        "把{a}和{b}分别放进{p}和{q} / 分别把{a}和{b}放进{p}和{q}里 / 将{a}和{b}分别放到{p}和{q}里",
    ).format(a=s.the(a.name), b=s.the(b.name), p=s.the(p.name), q=s.the(q.name))
    return text, Truth(both(ends([a], [p.id]), ends([b], [q.id])))


def two_of(d: Draw, s: Speech) -> tuple[str, Truth]:
    """Any two of three or four; which is not said, and does not matter."""
    return _some_of(d, s, 2)


def one_of(d: Draw, s: Speech) -> tuple[str, Truth]:
    return _some_of(d, s, 1)


def _several(d: Draw, least: int) -> tuple[Label, tuple[Item, ...]]:
    name = d.compound()
    head = d.head(name)
    d.ordinary_places()
    alike = d.rng.random() < 0.5
    for _ in range(least + d.rng.choice((0, 0, 1))):
        d.add(name if alike else d.rng.choice((name, d.named(name.head))))
    d.fill(0, 2)
    if not head.countable:
        raise Redraw
    return head, every(head, d.things)


def _some_of(d: Draw, s: Speech, count: int) -> tuple[str, Truth]:
    head, found = _several(d, count + 1)
    if len(found) <= count:
        raise Redraw
    said = s.two_of(head) if count == 2 else s.one_of(head)
    return s.put(said, s.into(d.places[0])), Truth(some(found, count, d.places[0].id))


def do_not_care(d: Draw, s: Speech) -> tuple[str, Truth]:
    head, found = _several(d, 2)
    if s.en and head.plural == head.text:
        raise Redraw
    text = s.pick(
        "put {a} {p}, I don't care which / put {a} {p}, any will do / put {a} {p}, it doesn't matter which one / "
        "put one of {b} {p}, I don't care which / put any {n} {p}",
        "随便把一{m}{n}{p} / 把一{m}{n}{p}，哪{m}都行 / 把任意一{m}{n}{p} / 把其中一{m}{n}{p}，哪{m}都可以",
    ).format(a=s.a(head), b=f"the {head.plural}", n=head.text, p=s.into(d.places[0]), m=s.measure(head))
    return text, Truth(some(found, 1, d.places[0].id))


def do_not_care_which_two(d: Draw, s: Speech) -> tuple[str, Truth]:
    head, found = _several(d, 3)
    if s.en and head.plural == head.text:
        raise Redraw
    text = s.pick(
        "put two {n} {p}, I don't care which / put two of the {n} {p}, any will do / put any two {n} {p}",
        "把两{m}{n}{p}，哪两{m}都行 / 随便把两{m}{n}{p} / 把其中两{m}{n}{p}，哪两{m}都可以",
    ).format(n=head.plural, p=s.into(d.places[0]), m=s.measure(head))
    return text, Truth(some(found, 2, d.places[0].id))


def either_thing(d: Draw, s: Speech) -> tuple[str, Truth]:
    first, second = distinct(d, 2)
    said = s.join([s.the(first.name), s.the(second.name)], "or")
    return s.put(said, s.into(d.places[0])), Truth(some([first, second], 1, d.places[0].id))


def either_place(d: Draw, s: Speech) -> tuple[str, Truth]:
    (thing,), p, q = two_places(d, 1)
    text = s.pick(
        "put {a} {p} or {q} / put {a} {p} or {q}, whichever / put {a} either {p} or {q}",
        "把{a}{p}或者{q} / 把{a}{p}或{q}都行 / 把{a}{p}或者{q}，都可以",
    ).format(a=s.the(thing.name), p=s.into(p), q=s.into(q))
    return text, Truth(ends([thing], [p.id, q.id]))


def contents(d: Draw, s: Speech) -> tuple[str, Truth]:
    """What is in one container, to another."""
    p, q = d.ordinary_places(2)
    for place in (p, q):
        one(place.name, d.places)
    inside = [d.add(d.anything(), Look(inside=q.id)) for _ in range(d.rng.choice((1, 2, 3)))]
    d.fill(1, 3)
    text = s.pick(
        "put everything in {q} {p} / put what is in {q} {p} / put everything that is in {q} {p} / "
        "move the contents of {q} {p} / "
        "put the things in {q} {p} / put all the things from {q} {p}",
        "把{q}里的东西{p} / 把{q}里的东西都{p} / 把{q}里所有的东西{p} / 把{q}里面的东西都{p}",
    ).format(q=s.the(q.name), p=s.into(p))
    return text, Truth(ends(inside, [p.id]))


def out_of(d: Draw, s: Speech) -> tuple[str, Truth]:
    """One thing out of a container, where a twin lies on the table."""
    p, q = d.ordinary_places(2)
    for place in (p, q):
        one(place.name, d.places)
    name = d.anything()
    inner = d.add(name, Look(inside=q.id))
    outer = d.add(name)
    d.fill(0, 2, clear=[name])
    within = d.rng.random() < 0.6
    text = s.pick(
        ("put {a} that is in {q} {p} / put {a} from {q} {p} / take {a} out of {q} and put it {p}" if within
         else "put {a} that is on the table {p} / put {a} from the table {p}"),
        ("把{q}里的{n}{p} / 把{q}里面的{n}{p}" if within else "把桌上的{n}{p} / 把桌子上的{n}{p}"),
    ).format(a=s.the(name) if s.en else "", n=name.text, q=s.the(q.name), p=s.into(p))  # fmt: skip
    if name.plural == name.text and s.en and " it " in text:
        raise Redraw
    return text, Truth(ends([inner if within else outer], [p.id]))


def taken_out(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Remove the plum from the basket": onto the table, or into the hand. Without a word of from where: ask."""
    q = d.ordinary_places(2)[0]
    one(q.name, d.places)
    thing = d.add(d.anything(), Look(inside=q.id))
    if d.rng.random() < 0.5:
        d.add(d.anything(), Look(inside=q.id))
    d.fill(0, 3)
    one(thing.name, d.things)
    if d.rng.random() < 0.2:
        return s.pick("remove {} / empty {}", "把{}拿走 / 把{}移走 / 拿走{} / 把{}清空").format(
            s.the(thing.name)
        ), Truth()
    text = s.pick(
        "remove {a} from {q} / get {a} out of {q} / take {a} out of {q} / move {a} out of {q} / lift {a} out of {q} / "
        "clear {a} out of {q} / empty {a} out of {q} / pull {a} out of {q} / take {a} from {q} / "
        "please remove {a} from {q}",
        "把{a}从{q}里拿出来 / 从{q}里拿出{a} / 从{q}里把{a}拿出来 / 把{a}从{q}里取出 / 把{a}从{q}里拿走 / "
        "把{a}拿出{q} / 把{a}移出{q} / 从{q}里取走{a}",
    ).format(a=s.the(thing.name), q=s.the(q.name) if s.en else q.name.text)
    return text, Truth(ends([thing], [TABLE_ID, HELD]))


def all_taken_out(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Take everything out of the basket": onto the table, and nothing out of another."""
    q, p = d.ordinary_places(2)
    one(q.name, d.places)
    inside = [d.add(d.anything(), Look(inside=q.id)) for _ in range(d.rng.choice((2, 3)))]
    d.add(d.anything(), Look(inside=p.id))
    d.fill(0, 2)
    text = s.pick(
        "remove everything from {q} / take everything out of {q} / empty {q} / get all the things out of {q} / "
        "clear {q}",
        "把{q}清空 / 清空{q} / 把{q}里的东西都拿出来 / 把所有东西从{q}里拿出来 / 从{q}里拿出所有东西",
    ).format(q=s.the(q.name) if s.en else q.name.text)
    return text, Truth(ends(inside, [TABLE_ID]))


def onto_the_table(d: Draw, s: Speech) -> tuple[str, Truth]:
    (place,) = d.ordinary_places(1)
    one(place.name, d.places)
    thing = d.add(d.anything(), Look(inside=place.id))
    d.fill(0, 3)
    one(thing.name, d.things)
    text = s.pick(
        "put {a} on the table / take {a} out of {q} / move {a} from {q} to the table / put {a} back on the table",
        "把{a}放在桌子上 / 把{a}从{q}里拿出来 / 把{a}放到桌上 / 把{a}从{q}里拿出来放在桌上",
    ).format(a=s.the(thing.name), q=s.the(place.name))
    ways = [TABLE_ID, HELD] if text.startswith("take") or text.endswith("出来") else [TABLE_ID]
    return text, Truth(ends([thing], ways))


def the_rest(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The mug in the basket and everything else on the tray." """
    (thing,), p, q = two_places(d, 1)
    d.fill(1, 2)
    rest = [t for t in d.things if t != one(thing.name, d.things)]
    if not rest:
        raise Redraw
    text = s.pick(
        "put {a} {p} and everything else {q} / put {a} {p} and all the other things {q} / "
        "put {a} {p} and the rest {q} / put {a} {p}, then everything else {q}",
        "把{a}{p}，其他的都{q} / 把{a}{p}，其余的东西都{q} / 把{a}{p}，剩下的{q} / 把{a}{p}，其他东西都{q}",
    ).format(a=s.the(thing.name), p=s.into(p), q=s.into(q))
    return text, Truth(both(ends([thing], [p.id]), ends(rest, [q.id])))


def only_this(d: Draw, s: Speech) -> tuple[str, Truth]:
    name = d.compound()
    d.ordinary_places()
    thing = d.add(name)
    d.fill(1, 3)
    one(name, d.things)
    text = s.pick(
        "put only {a} {p} / put just {a} {p} / put nothing but {a} {p} / only put {a} {p}",
        "只把{a}{p} / 只要把{a}{p}就行 / 把{a}{p}，别的不要动",
    ).format(a=s.the(name), p=s.into(d.places[0]))
    return text, Truth(ends([thing], [d.places[0].id]))


def _painted(d: Draw) -> str:
    """Things all of which have a stated colour; the one that is meant."""
    colour, *others = d.rng.sample(list(words_zh.COLOURS), 4)
    d.ordinary_places()
    for hue in (colour, colour, *others[: d.rng.choice((1, 2))]):
        d.add(d.anything(), Look(colour=hue))
    if d.rng.random() < 0.3:
        d.add(d.rng.choice(coloured(d.names)), Look(colour=others[2]))
    elif d.rng.random() < 0.3:  # its name tells a colour that it has not: a green "white wine glass"
        told = colour if d.names == EN else words_zh.COLOURS[colour]
        d.add(d.make((told, *d.compound().words), d.rng.choice(words_en.TINTED if d.names == EN else words_zh.TINTED)),
              Look(colour=others[2]))  # fmt: skip
    return colour


def all_of_a_colour(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "All the red things", by their stated colour: not the red pepper that is green."""
    colour = _painted(d)
    found = [t for t in d.things if t.colour == colour]
    zh = words_zh.COLOURS[colour]
    said = s.pick(
        f"all the {colour} things / everything {colour} / everything that is {colour} / the {colour} things",
        f"所有{zh}色的东西 / {zh}色的东西都 / 所有{zh}色的 / 全部{zh}色的东西",
    )
    return s.put(said, s.into(d.places[0])), Truth(ends(found, [d.places[0].id]))


def all_but_a_colour(d: Draw, s: Speech) -> tuple[str, Truth]:
    colour = _painted(d)
    kept = [t for t in d.things if t.colour == colour]
    zh = words_zh.COLOURS[colour]
    said = s.pick(f"the {colour} ones / the {colour} things", f"{zh}色的 / {zh}色的东西 / 所有{zh}色的东西")
    text, truth = all_but(d, s, said, kept)
    return text.replace("where it is", "where they are"), truth


def goes_in(d: Draw, s: Speech) -> tuple[str, Truth]:
    (thing,) = distinct(d, 1)
    if s.en and (thing.name.plural == thing.name.text):
        raise Redraw
    place = d.places[0]
    text = s.pick(
        "{a} goes in {p} / {a} should go in {p} / {a} belongs in {p} / I want {a} in {p} / I'd like {a} in {p} / "
        "{a} must be in {p} / make sure {a} is in {p}",
        "{a}应该放进{p} / {a}要放在{p}里 / 我想让{a}放到{p}里 / {a}放进{p} / 让{a}在{p}里",
    ).format(a=s.the(thing.name), p=s.the(place.name))
    return text, Truth(ends([thing], [place.id]))


def never(d: Draw, s: Speech) -> tuple[str, Truth]:
    (thing,) = distinct(d, 1)
    text = s.pick(
        "don't put {a} {p} / never put {a} {p} / do not put {a} {p} / don't touch {a} / please don't move {a}",
        "不要把{a}{p} / 别把{a}{p} / 别碰{a} / 不要动{a}",
    ).format(a=s.the(thing.name), p=s.into(d.places[0]))
    return text, Truth()


def not_the_coloured(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Put the mug in the basket, not the blue one." """
    name = d.plain() if d.rng.random() < 0.5 else d.compound()
    wanted, other = d.rng.sample(("red", "blue", "green", "yellow", "white", "black"), 2)
    d.ordinary_places()
    moved = d.add(name, Look(colour=wanted))
    d.add(name, Look(colour=other))
    three = d.rng.random() < 0.2
    if three:
        d.add(name, Look(colour=wanted))
    d.fill(0, 3, clear=[name])
    if s.en and name.plural == name.text:
        raise Redraw
    text = s.pick(
        "put {a} {p}, not the {c} one / put {a} {p}, but not the {c} one / put {a}, not the {c} one, {p} / "
        "put {a} that is not {c} {p} / put the {n} {p}, I don't mean the {c} one",
        "把{n}{p}，不要{c}色的 / 把{n}{p}，不是{c}色的那个 / 把不是{c}色的{n}{p} / 把{n}{p}，但不要{c}色那个",
    ).format(a=s.the(name), n=name.text, c=other if s.en else _zh(other), p=s.into(d.places[0]))
    return text, Truth(() if three else ends([moved], [d.places[0].id]))


def _zh(colour: str) -> str:
    return words_zh.COLOURS[colour]


def this_not_that(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Put the mug, not the cup, in the basket." """
    first, second = distinct(d, 2)
    text = s.pick(
        "put {a}, not {b}, {p} / put {a} {p}, not {b} / put {a} and not {b} {p} / not {b} but {a} goes {p} / "
        "put {a} {p} instead of {b}",
        "把{a}{p}，不是{b} / 把{a}而不是{b}{p} / 不要把{b}{p}，把{a}{p} / 把{a}{p}，不要{b}",
    ).format(a=s.the(first.name), b=s.the(second.name), p=s.into(d.places[0]))
    return text.replace("goes into", "goes in").replace("goes onto", "goes on"), Truth(ends([first], [d.places[0].id]))


def here_not_there(d: Draw, s: Speech) -> tuple[str, Truth]:
    (thing,), p, q = two_places(d, 1)
    text = s.pick(
        "put {a} {p}, not {q} / put {a} {p} and not {q} / put {a} {p} instead of {r}",
        "把{a}{p}，不要{q} / 把{a}{p}，而不是{q} / 不要把{a}{q}，要{p}",
    ).format(a=s.the(thing.name), p=s.into(p), q=s.into(q), r=s.the(q.name))
    return text, Truth(ends([thing], [p.id]))


def hold_both(d: Draw, s: Speech) -> tuple[str, Truth]:
    """Of a list, one name means nothing: nothing is begun."""
    name = d.compound()
    phrase = d.bare(name)
    d.ordinary_places()
    d.add(name)
    other = d.add(d.anything())
    d.fill(0, 3, clear=[phrase])
    asked(d, s, phrase, 0)
    one(other.name, d.things)
    said = [s.the(other.name), s.the(phrase)]
    d.rng.shuffle(said)
    return s.put(s.join(said), s.into(d.places[0])), Truth()


KINDS: Final[Mapping[str, Kind]] = {
    "list": listed, "list beside a compound": listed_beside, "one thing to two places": to_two_places,
    "too": too, "two clauses": two_clauses, "order": in_order, "it": pronoun, "them": pronoun_of_two,
    "everything": everything, "all but one": all_but_one, "all but a modifier": all_but_modifier,
    "all but all": all_but_all, "all of a head but one": all_of_head_but_one, "the other one": the_other,
    "all of a head": all_of_head, "all of a modifier": all_of_modifier,
    "all, one exact": all_with_exact, "both": both_of, "two of": two_of,
    "another number": another_number, "respectively": respectively, "one of": one_of,
    "any will do": do_not_care, "any two will do": do_not_care_which_two, "this or that": either_thing,
    "here or there": either_place, "onto the table": onto_the_table, "the rest": the_rest, "only": only_this,
    "all of a colour": all_of_a_colour, "all but a colour": all_but_a_colour, "contents": contents, "out of": out_of,
    "taken out": taken_out, "all taken out": all_taken_out,
    "goes in": goes_in, "never": never, "not the coloured": not_the_coloured, "this, not that": this_not_that,
    "here, not there": here_not_there, "a list with a modifier": hold_both,
}  # fmt: skip
