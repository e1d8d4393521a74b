"""Kinds of sentences that order one named thing to one place."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from . import words_en, words_zh
from .drawing import Draw, Look
from .grammar import Speech
from .labels import (
    EN,
    ZH,
    Label,
    closed,
    coloured,
    english,
    grammatical,
    head_first,
    invented,
    mixed_script,
    numbered,
    plain,
)
from .truth import HELD, Choice, End, Redraw, Truth, ends, one, sure, the

Kind = Callable[[Draw, Speech], tuple[str, Truth]]
TRADITIONAL: Final = str.maketrans(
    "开罐盖钥车书笔灯锅铲鸡订锤袜积纽币铁带鼠标刷红绿黄蓝蛋苹萝钱夹团饭叶饰袋购垃圾链领绸头发枕机轮边后圆进里",
    "開罐蓋鑰車書筆燈鍋鏟雞訂錘襪積紐幣鐵帶鼠標刷紅綠黃藍蛋蘋蘿錢夾團飯葉飾袋購垃圾鏈領綢頭髮枕機輪邊後圓進裡",
)


def order(d: Draw, s: Speech, phrase: Label, said: str = "") -> tuple[str, Truth]:
    """An order about "the PHRASE", and its truth by the rules, whatever else is in the scene."""
    place = d.places[0]
    one(place.name, d.places)
    found = the(phrase, d.things)
    moved = meant(found, phrase, place.id)
    said = said or s.the(phrase)
    truth = Truth(moved, found.ask, candidates=frozenset(i.id for i in found.among), noun=said)
    return s.put(said, s.into(place)), truth


def meant(found: Choice, phrase: Label, place: str) -> tuple[End, ...]:
    """ "The scissors" may be one thing, or all of several."""
    moved = ends([found.thing], [place]) if found.thing is not None else ()
    several = phrase.head in words_en.NEVER_ONE and len(found.among) > 1 and place != HELD
    return (*moved, *ends(found.among, [place])) if several else moved


def certain(d: Draw, s: Speech, phrase: Label) -> tuple[str, Truth]:
    one(phrase, d.things)
    return order(d, s, phrase)


def asked(d: Draw, s: Speech, phrase: Label, candidates: int | None = None) -> tuple[str, Truth]:
    """Only asking or refusing is right."""
    text, truth = order(d, s, phrase)
    if not truth.must_ask or (candidates is not None and len(truth.candidates) != candidates):
        raise Redraw
    return text, truth


def full_name(d: Draw, s: Speech) -> tuple[str, Truth]:
    name = d.anything()
    d.ordinary_places()
    d.add(name)
    d.fill()
    return certain(d, s, name)


def partial(d: Draw, s: Speech) -> tuple[str, Truth]:
    """Some of the words, and the head: "the steel opener" for the steel can opener, beside a plastic one."""
    name = d.compound()
    one_made, other_made = d.rng.sample(
        words_en.MATERIALS.split(", ") if d.names == EN else words_zh.MATERIALS.split(", "), 2
    )
    whole = d.made_of(name, one_made)
    head = d.head(name)
    phrase = (
        english((one_made,), name.head) if d.names == EN else Label(one_made + head.text, name.head, (one_made,), ZH)
    )
    d.ordinary_places()
    d.add(whole)
    d.add(d.made_of(d.named(name.head) if d.rng.random() < 0.5 else name, other_made))
    d.fill()
    return certain(d, s, phrase)


def head_alone(d: Draw, s: Speech) -> tuple[str, Truth]:
    name = d.compound()
    d.ordinary_places()
    d.add(name)
    d.fill(clear=[name])
    return certain(d, s, d.head(name))


def same_head(d: Draw, s: Speech) -> tuple[str, Truth]:
    name = d.compound()
    d.ordinary_places()
    d.add(name)
    d.add(d.named(name.head, but=[name]))
    d.fill()
    return asked(d, s, d.head(name))


def modifier_alone(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The can", with only a can opener there."""
    name = d.compound() if d.rng.random() < 0.7 else d.made_of(d.compound())
    phrase = d.bare(name)
    d.ordinary_places()
    d.add(name)
    d.fill(clear=[phrase])
    return asked(d, s, phrase, 0)


def modifier_and_thing(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The apple", with an apple beside apple juice."""
    name = d.compound()
    phrase = d.bare(name)
    d.ordinary_places()
    d.add(name)
    d.add(phrase)
    d.fill(clear=[phrase])
    return certain(d, s, phrase)


def head_beside_modifier(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The can", with a can opener and a soup can."""
    name = d.compound()
    phrase = d.bare(name)
    d.ordinary_places()
    d.add(name)
    d.add(d.named(phrase.head))
    d.fill(clear=[phrase])
    return certain(d, s, phrase)


def other_modifier(d: Draw, s: Speech) -> tuple[str, Truth]:
    """A modifier that the only thing of that head does not have."""
    name = d.compound()
    d.ordinary_places()
    d.add(name)
    d.fill(clear=[name])
    phrase = d.named(name.head, but=[name])
    return asked(d, s, phrase, 0)


def other_colour(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The red mug", with only a blue one there."""
    name = d.plain() if d.rng.random() < 0.5 else d.compound()
    has, says = d.rng.sample(words_en.COLOURS.split(", "), 2)
    d.ordinary_places()
    d.add(name, Look(colour=has))
    d.fill(clear=[name])
    return asked(d, s, d.coloured(name, says), 0)


def exact_and_more(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The cup", with a cup and a coffee cup."""
    name = d.compound()
    d.ordinary_places()
    d.add(d.head(name))
    d.add(name)
    d.fill()
    return order(d, s, d.head(name))


def nested(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The can opener", with only a can opener case."""
    inner = d.compound()
    outer = d.make(
        (inner.text,), d.rng.choice(("case", "box", "bag", "rack")) if d.names == EN else d.rng.choice("盒袋架套")
    )
    d.ordinary_places()
    d.add(outer)
    if d.rng.random() < 0.5:
        d.add(inner)
        d.fill(clear=[inner])
        return certain(d, s, inner)
    d.fill(clear=[inner])
    return asked(d, s, inner, 0)


def one_word(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The apple", with only a pineapple."""
    name, part = d.rng.choice(closed(d.names))
    d.ordinary_places()
    d.add(name)
    d.fill(clear=[part, name])
    return asked(d, s, part, 0) if d.rng.random() < 0.6 else certain(d, s, name)


def head_before(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The mug with a lid" is a mug; "the lid" is no thing there."""
    name = d.rng.choice(head_first(d.names))
    roll = d.rng.random()
    d.ordinary_places()
    d.add(name)
    if roll < 0.5:
        d.fill()
        return certain(d, s, name)
    phrase = d.head(name) if roll < 0.75 else d.bare(name)
    d.fill(clear=[phrase, name])
    return certain(d, s, phrase) if roll < 0.75 else asked(d, s, phrase, 0)


def no_list_knows(d: Draw, s: Speech) -> tuple[str, Truth]:
    """Nouns of our own making: the rules do not need to know a word."""
    word, other = invented(d.names, d.rng), invented(d.names, d.rng)
    known = d.rng.choice([p for p in plain(d.names) if p.head not in words_en.NEVER_ONE])
    thing, tool = d.make((), word), d.make((word,), known.head)
    d.ordinary_places()
    roll = d.rng.random()
    if word == other:
        raise Redraw
    if roll < 0.35:  # only what has it as its modifier
        d.add(tool)
        d.fill(clear=[thing])
        return asked(d, s, thing, 0)
    d.add(d.make((known.text if d.names == EN else other,), word))
    if roll < 0.7:
        d.add(tool)
        d.fill(clear=[thing])
        return certain(d, s, thing)
    d.add(d.make((other,), word))
    d.fill(clear=[thing])
    return asked(d, s, thing, 2)


def scripts_in_a_name(d: Draw, s: Speech) -> tuple[str, Truth]:
    """Latin letters and digits in a Chinese name: "5号电池" beside "7号电池"."""
    d.names = ZH
    name = d.rng.choice(mixed_script(ZH))
    d.ordinary_places()
    d.add(name)
    for other in mixed_script(ZH):
        if other.head == name.head and other != name:
            d.add(other)
    d.fill()
    return certain(d, s, name)


def by_id(d: Draw, s: Speech) -> tuple[str, Truth]:
    d.ordinary_places()
    name = d.anything()
    thing = d.add(name)
    if d.rng.random() < 0.5:
        d.add(name)  # a twin: only the id tells them apart
    d.fill()
    if any(thing.id in t.name.words or thing.id == t.name.text for t in d.things):
        raise Redraw
    if d.rng.random() < 0.3:  # beside a name
        other = d.add(d.anything())
        one(other.name, d.things)
        said = s.join([thing.id, s.the(other.name)])
        return s.put(said, s.into(d.places[0])), Truth(ends([thing, other], [d.places[0].id]))
    return s.put(thing.id, s.into(d.places[0])), Truth(ends([thing], [d.places[0].id]))


def ids_disagree(d: Draw, s: Speech) -> tuple[str, Truth]:
    """The id says one thing and the name another: a name is meant by its words, an id by all of its letters."""
    one_name, other_name = d.rng.sample([p for p in plain(EN) if p.head not in words_en.NEVER_ONE], 2)
    d.ordinary_places()
    first = d.add(one_name, Look(id=f"{other_name.head}_01"))
    roll = d.rng.random()
    if roll < 0.35:  # no thing of the name that the id seems to tell
        d.fill(clear=[other_name])
        return asked(d, s, other_name, 0)
    d.add(other_name, Look(id=f"{one_name.head}_01"))
    d.fill(clear=[one_name, other_name])
    if roll < 0.7:
        return certain(d, s, one_name)
    return s.put(first.id, s.into(d.places[0])), Truth(ends([first], [d.places[0].id]))


def sided(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The left shoe" is the thing of that name, wherever it lies."""
    head = d.word("sided")
    one_side, other_side = d.rng.sample((words_en.SIDES if d.names == EN else words_zh.SIDES).split(", "), 2)
    name = d.make((one_side,), head)
    d.ordinary_places()
    if d.rng.random() < 0.25:  # it is not there; the other is
        d.add(d.make((other_side,), head))
        d.fill(clear=[name])
        return asked(d, s, name, 0)
    d.add(name)
    d.add(d.make((other_side,), head))
    d.fill(clear=[name])
    return certain(d, s, name)


def sided_where(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The shoe on the left", of a left and a right shoe: which is meant is certain only where both agree."""
    head = d.word("sided")
    left, right = (d.make((w,), head) for w in (("left", "right") if d.names == EN else ("左", "右")))
    d.ordinary_places()
    things = [d.add(left), d.add(right)]
    d.fill(clear=[left])
    says_left = d.rng.random() < 0.5
    named = things[0 if says_left else 1]
    lies = max(things, key=lambda t: t.position[1]) if says_left else min(things, key=lambda t: t.position[1])
    if things[0].position[1] == things[1].position[1]:
        raise Redraw
    what = d.head(left)
    side = ("left", "左") if says_left else ("right", "右")
    said = s.pick("the {0} on the {1} / the {0} that is on the {1}", "{1}边的{0} / {1}边那个{0}").format(
        what.text, side[0] if s.en else side[1]
    )
    agree = named.id == lies.id
    truth = Truth(ends([named], [d.places[0].id]) if agree else (), True, candidates=frozenset(t.id for t in things))
    return s.put(said, s.into(d.places[0])), truth


def _called_another(d: Draw, modifier: str, head: str) -> str:
    """The head, as it is said, of one thing whose name has that modifier; places are there."""
    name = d.make((modifier,), head)
    d.ordinary_places()
    d.add(name)
    d.fill(clear=[name])
    return d.head(name).text


def another_side(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The right-hand boot", with only a left boot: ask, however the side is said and wherever the boot lies."""
    head = d.word("sided")
    named, said = d.rng.sample((("left", "左"), ("right", "右")), 2)
    what = _called_another(d, named[0] if d.names == EN else named[1], head)
    phrase = s.pick(
        "the {0}-hand {1} / the {0} {1} / the {1} on the {0} / the {0}most {1} / the {1} on the {0}-hand side",
        "{0}边的{1} / {0}侧的{1} / 最{0}边的{1} / {0}边那个{1} / {0}手边的{1}",
    ).format(said[0] if s.en else said[1], what)
    return s.put(phrase, s.into(d.places[0])), Truth()


def side_of_one(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The cube on the right", with one cube: that, if it lies there as the robot sees it; else ask."""
    name = d.plain() if d.rng.random() < 0.6 else d.compound()
    d.ordinary_places()
    thing = d.add(name)
    d.fill(clear=[name])
    y = thing.position[1]
    if abs(y) < 0.05 or (s.en and name.plural == name.text):
        raise Redraw
    one(name, d.things)
    left = d.rng.random() < 0.5
    phrase = s.pick(
        "the {0} {1} / the {0}-hand {1} / the {1} on the {0} / the {1} on the {0} side",
        "{0}边的{1} / {0}边那个{1} / {0}侧的{1}",
    ).format(("left" if left else "right") if s.en else "左" if left else "右", name.text)
    lies = (y > 0) == left
    return s.put(phrase, s.into(d.places[0])), Truth(ends([thing], [d.places[0].id]) if lies else ())


def another_size(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The big spoon", with only a small spoon: ask, however the size is said."""
    head = d.word("sized")
    named, said = d.rng.sample((("small", "小", "smaller", "smallest"), ("large", "大", "bigger", "biggest")), 2)
    what = _called_another(d, named[0] if d.names == EN else named[1], head)
    phrase = s.pick(
        f"the {said[0]} {what} / the {said[2]} {what} / the {said[3]} {what}",
        f"{said[1]}{what} / {said[1]}的{what} / 最{said[1]}的{what} / 那个{said[1]}{what}",
    )
    return s.put(phrase, s.into(d.places[0])), Truth()


def sized(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The small spoon" is the thing of that name, whatever its size."""
    head = d.word("sized")
    one_size, other_size = d.rng.sample((words_en.SIZES if d.names == EN else words_zh.SIZES).split(", "), 2)
    name = d.make((one_size,), head)
    sides = d.rng.sample((0.03, 0.05), 2)
    d.ordinary_places()
    d.add(name, Look(side=sides[0]))
    d.add(d.make((other_size,), head), Look(side=sides[1]))
    d.fill(clear=[name])
    return certain(d, s, name)


def number(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Ball 2" is the thing of that name; a number is not read from an id."""
    head = d.make((), d.word("numbered"))
    numbers = d.rng.sample(range(1, 10), 4)
    d.ordinary_places()
    ids = [f"{chr(97 + d.rng.randrange(26))}{n}" for n in (*numbers[1:3], numbers[0])]
    for n, id in zip(numbers[:3], ids, strict=True):
        d.add(numbered(head, n), Look(id=id))
    d.fill(clear=[head])
    if d.rng.random() < 0.25:
        return asked(d, s, numbered(head, numbers[3]), 0)
    return certain(d, s, numbered(head, numbers[0]))


def number_before(d: Draw, s: Speech) -> tuple[str, Truth]:
    names = [english(n.split()[:-1], n.split()[-1]) for n in words_en.NUMBER_BEFORE.split(", ")]
    name = d.rng.choice(names)
    if d.names == ZH:
        name = d.rng.choice([g for g in grammatical(ZH) if g.text[0] in "三七八九五四双两万一"])
    d.ordinary_places()
    d.add(name)
    d.fill(clear=[name])
    return certain(d, s, name)


def grammar_words(d: Draw, s: Speech) -> tuple[str, Truth]:
    """A name that holds words of which sentences are made: "do not disturb sign"."""
    name = d.rng.choice(grammatical(d.names))
    d.ordinary_places()
    d.add(name)
    d.fill()
    return certain(d, s, name)


def sign_in_a_name(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The C book" is not the C++ book."""
    told = words_en.SIGNED if d.names == EN else words_zh.SIGNED
    head = d.rng.choice(sorted(told))
    names = [Label(f"{w}{' ' if d.names == EN else ''}{head}", head, (w,), d.names) for w in told[head].split(", ")]
    d.rng.shuffle(names)
    d.ordinary_places()
    for name in names[d.rng.choice((0, 1)) :][: d.rng.choice((1, 2))]:
        d.add(name)
    d.fill(clear=names)
    return order(d, s, names[0])


def owner(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The chef's", of a chef's knife; of two things of the chef, ask."""
    owners = d.rng.sample(words_en.OWNERS.split(", "), 2)
    heads = d.rng.sample(("knife", "towel", "spoon", "key", "lamp"), 2)
    d.ordinary_places()
    first, second = (d.add(english((f"{who}'s",), heads[0])) for who in owners)
    several = d.rng.random() < 0.3
    if several:
        d.add(english((f"{owners[0]}'s",), heads[1]))
    d.fill(0, 2, clear=[english((), head) for head in heads])
    both_of_them = d.rng.random() < 0.5
    said = f"the {owners[0]}'s" + (f" and the {owners[1]}'s" if both_of_them else "")
    moved = [first, second] if both_of_them else [first]
    return s.put(said, s.into(d.places[0])), Truth(() if several else ends(moved, [d.places[0].id]))


def colour_word(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "Orange juice" is a name; its stated colour is another."""
    name = d.rng.choice(coloured(d.names))
    d.ordinary_places()
    d.add(name, Look(colour=d.rng.choice(words_en.COLOURS.split(", "))))
    d.fill(clear=[name])
    return certain(d, s, name)


def twins(d: Draw, s: Speech) -> tuple[str, Truth]:
    name = d.anything()
    d.ordinary_places()
    for _ in range(d.rng.choice((2, 2, 3))):
        d.add(name)
    d.fill(clear=[name])
    return asked(d, s, name)


def unknown(d: Draw, s: Speech) -> tuple[str, Truth]:
    name = d.anything()
    d.ordinary_places()
    d.fill(2, 5, clear=[name])
    return asked(d, s, name, 0)


def plural_looking(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The scissors" is one thing."""
    head = d.rng.choice(sorted(words_en.NEVER_ONE))
    whole = english((), head)
    d.ordinary_places()
    d.add(whole if d.rng.random() < 0.5 else d.named(head))
    d.fill(clear=[whole])
    return certain(d, s, whole)


def stands_for_contents(d: Draw, s: Speech) -> tuple[str, Truth]:
    """ "The milk" for the milk carton: moved, or asked about. With the milk itself there, only that."""
    told = words_en.CONTENTS if d.names == EN else words_zh.CONTENTS
    what = d.rng.choice(sorted(told))
    heads = told[what].split(", ")
    phrase = d.make((), what)
    d.ordinary_places()
    for head in d.rng.sample(heads, d.rng.randint(1, len(heads))):
        d.add(d.make((what,), head))
    if d.rng.random() < 0.25:
        d.add(phrase)
    d.fill(clear=[phrase])
    return order(d, s, phrase)


def other_spelling(d: Draw, s: Speech) -> tuple[str, Truth]:
    """The same name in capitals, full width, with hyphens, or in traditional characters."""
    name = d.compound()
    d.ordinary_places()
    d.add(name)
    d.fill()
    if d.names == EN:
        roll = d.rng.random()
        if roll < 0.3:
            text = name.text.upper()
        elif roll < 0.5:
            text = name.text.title()
        elif roll < 0.75:
            text = "".join(chr(ord(c) + 0xFEE0) if c != " " else " " for c in name.text)
        else:
            text = name.text.replace(" ", "-")
        assert unicodedata.normalize("NFKC", text).casefold().replace("-", " ") == name.text
    else:
        text = name.text.translate(TRADITIONAL)
        if text == name.text:
            raise Redraw
    if len(sure(name, d.things)) != 1:
        raise Redraw
    return order(d, s, name, s.the(replace(name, text=text)))


def mixed(d: Draw, s: Speech) -> tuple[str, Truth]:
    """English names in a Chinese sentence, and the other way round: the rules are the same."""
    d.names = ZH if d.language == EN else EN
    return d.rng.choice((full_name, full_name, head_alone, modifier_alone, same_head, sided, grammar_words, partial))(
        d, s
    )


def pick_up(d: Draw, s: Speech) -> tuple[str, Truth]:
    name = d.compound() if d.rng.random() < 0.6 else d.anything()
    phrase = name
    d.ordinary_places()
    d.add(name)
    if d.rng.random() < 0.3:
        phrase = d.bare(name)
    d.fill(clear=[phrase])
    found = the(phrase, d.things)
    told = s.pick(
        "pick up {} / grab {} / take {} / lift {} / please pick up {}", "拿起{} / 抓住{} / 把{}拿起来 / 拿{}"
    ).format(s.the(phrase))
    moved = meant(found, phrase, HELD)
    return told, Truth(moved, found.ask, candidates=frozenset(i.id for i in found.among))


ENGLISH_ONLY: Final = frozenset({"ids that disagree", "plural-looking", "owner"})
KINDS: Final[Mapping[str, Kind]] = {
    "full name": full_name, "some of its words": partial, "head alone": head_alone, "head of several": same_head,
    "modifier alone": modifier_alone, "modifier, and the thing": modifier_and_thing,
    "modifier, and the head": head_beside_modifier, "another modifier": other_modifier,
    "another colour": other_colour, "exact, and longer": exact_and_more, "a name in a name": nested,
    "one-word compound": one_word, "head first": head_before, "words that no list knows": no_list_knows,
    "mixed scripts": scripts_in_a_name, "id": by_id, "ids that disagree": ids_disagree, "side in a name": sided,
    "side, or where": sided_where, "another side": another_side, "side of one": side_of_one,
    "another size": another_size, "size in a name": sized, "number in a name": number,
    "number before": number_before, "sign in a name": sign_in_a_name, "owner": owner,
    "grammar in a name": grammar_words, "colour in a name": colour_word,
    "twins": twins, "not there": unknown, "plural-looking": plural_looking,
    "stands for contents": stands_for_contents, "other spelling": other_spelling, "mixed languages": mixed,
    "pick up": pick_up,
}  # fmt: skip
