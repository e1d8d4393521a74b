"""What a thing is called: its full name, the head of that, the words beside the head, and what kind of thing it is.

The head names the thing (the opener of "can opener", 垫 of 杯垫); a modifier never does.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from worldfs.base.model import Thing
from worldfs.base.name_parts import (
    DESCRIBING,
    DESCRIBING_SIGNS,
    SIZES,
    STATES,
    Ending,
    NameParts,
    is_head,
    name_parts,
    names_head,
)
from worldfs.base.word_forms import is_chinese, pieces, singulars

from . import lexicon_en, lexicon_zh
from .stated_colours import listed_colours, stated_colours, states_a_colour

_ID: Final = re.compile(r"[^\W\d_]+")
_ID_NUMBER: Final = re.compile(r"[a-zA-Z]+[_-]?(\d+)")
MANY_KINDS: Final = frozenset(("k:fruit", "k:toy", "k:tool", "k:container"))  # words for many kinds, and for none alone
_TELLING: Final = frozenset(("sign", "label", "sticker", "poster", "photo", "picture", "card"))  # of another thing
_HOLDING: Final = lexicon_en.FILLED | lexicon_en.HOLDING | lexicon_en.STORAGE | lexicon_en.PACKS
_APART: Final = lexicon_en.COLOURS.keys() | lexicon_en.FUNCTION | lexicon_en.NUMBERS.keys() | {"s"}
_OF_ITSELF: Final = DESCRIBING | STATES | SIZES | {"wooden"}  # what is said of a thing, whatever is said before it
_SAID_OF_NOUNS: Final = _OF_ITSELF - SIZES | lexicon_en.NAMED_SIDES | lexicon_en.PLAIN_SIZES.keys()
_BETWEEN: Final = _SAID_OF_NOUNS | SIZES | lexicon_en.PLAIN | lexicon_en.FUNCTION  # no noun of its own
_NOT_A_KIND: Final = frozenset(("object", "thing", "item", "furniture", "graspable", "unknown", "misc", "other"))


@dataclass(frozen=True, slots=True)
class ThingWords:
    """One thing. `head` is the English head, `tail` the end of a Chinese name; each "" where there is none.

    `beside`: the other words of the name. `perhaps`: words that may stand for it, and are asked about. `simple`: the
    head has only a colour, a size or a number beside it. `kinds`: what the head is; `broader`: what that also is.
    """

    id: str
    full: tuple[str, ...] = ()
    head: str = ""
    tail: str = ""
    beside: frozenset[str] = frozenset()
    perhaps: frozenset[str] = frozenset()
    number: str = ""
    simple: bool = True
    kinds: frozenset[str] = frozenset()
    broader: frozenset[str] = frozenset()
    wider: frozenset[str] = frozenset()  # kinds above it that name things of their own as well: a mug is a cup
    categories: frozenset[str] = frozenset()  # words for the stated category
    doubted: frozenset[str] = (
        frozenset()
    )  # those of them that are also modifiers in the name, and what they are a kind of
    said_of: frozenset[str] = frozenset()  # senses of the words beside the head
    denied: frozenset[tuple[str, str]] = frozenset()  # words that alone say nothing of it, with what makes it so
    shape: str = ""
    colours: frozenset[str] = frozenset()
    told_colours: frozenset[str] = frozenset()  # of the name; the stated colour may differ
    perhaps_colours: frozenset[str] = frozenset()  # of the name, where they may tell its sort: whiteboard, red wine
    maybe_colours: frozenset[str] = frozenset()  # that its stated colour, or none, does not rule out
    titled: bool = False  # its head may be a brand, an owner or a title, and no word for the thing: "coat Anna"

    @property
    def translates(self) -> bool:
        """Whether the word for its kind in the other language names it as well as its own does."""
        return self.simple or bool(self.tail) or self.head in lexicon_en.main_nouns()

    @property
    def signs(self) -> str:
        """The Chinese signs of its name."""
        return _signs(self.full)

    @property
    def english(self) -> frozenset[str]:
        said = (*self.full, *self.perhaps, self.head)
        return frozenset(p for p in said if p.rstrip("+#").isalpha() and not is_chinese(p))


@lru_cache(maxsize=1024)
def _signs(full: tuple[str, ...]) -> str:
    return "".join(piece for piece in full if is_chinese(piece))


def thing_words(thing: Thing, *, marked: bool = False) -> ThingWords:
    """By what a page calls it; the same words are read once. `marked`: the end of its name only tells which it is."""
    return _words_of(thing.id, thing.name, thing.category, thing.shape, thing.color, marked=marked)


def words_of_scene(things: Iterable[Thing]) -> dict[str, ThingWords]:
    """Id → words. Names that begin alike and end in "AA", "red", 甲 tell which, and not what: battery C, battery AA."""
    found: dict[str, ThingWords] = {}
    alike: dict[tuple[str, ...], dict[tuple[str, ...], list[Thing]]] = {}
    for thing in things:
        found[thing.id] = thing_words(thing)
        parts = _parts_of(thing)
        if parts.stem:
            alike.setdefault(parts.stem, {}).setdefault(parts.full, []).append(thing)
    whole = {words.full for words in found.values()}
    for stem, same in alike.items():
        told = [(thing, _parts_of(thing)) for several in same.values() for thing in several]
        plain = len(same) > 1 and any(parts.ending > Ending.LETTERS for _, parts in told)
        for thing, parts in told:
            words, head = found[thing.id], parts.first.head or parts.first.tail if parts.first is not None else ""
            known = head in parts.doubtful and parts.ending is not Ending.NOUN
            if head and not known and (plain or stem in whole):  # 蛋白, 蛋黄; cable USB, cable 2 m
                found[thing.id] = replace(words, perhaps=words.perhaps | {head})
            elif head and plain:
                found[thing.id] = thing_words(thing, marked=True)
    lettered = {stem for stem, same in alike.items() for full in same if not "".join(full[len(stem) :]).isdecimal()}
    for id, words in found.items():  # "the hot tin", of hot chocolate tin and cold chocolate tin
        if (inner := _said_of_another(words.full, words.head)) and any(
            other[-len(words.full) + 1 :] == words.full[1:] for other in whole - {words.full}
        ):
            found[id] = replace(words, denied=words.denied - {pair for pair in inner if pair[0] == words.full[0]})
    for id, words in found.items():  # battery C, battery lithium; a word that is known is no such ending
        stem = words.full[:-1]
        if stem in lettered and words.head == words.full[-1] and words.head not in lexicon_en.nouns_en():
            found[id] = replace(words, perhaps=words.perhaps | {stem[-1]})
    return found


def _said_of_another(full: tuple[str, ...], head: str) -> frozenset[tuple[str, str]]:
    """The words before a head that may be said of a noun before it, each with that noun: hot of "hot chocolate tin",
    green of "green tea cup"."""
    if not full or full[-1] != head:
        return frozenset()
    return _describing_another(full) | (_kinds_of_another(full, head) if head in _HOLDING | _TELLING else frozenset())


def _describing_another(full: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    """The colours, sides, sizes and states that stand before another noun than the head. No size is said of what has
    none ("large coffee mug"), and none of these of a use ("left running shoe") or a material ("blue plastic cup")."""
    found, plain = set[tuple[str, str]](), _BETWEEN if full[-1] in _TELLING else _BETWEEN | lexicon_en.USES
    for at, word in enumerate(full[:-1]):
        rest = itertools.pairwise(full[at:-1])  # "blue 500 ml bottle"
        nouns = (two for one, two in rest if not (two in plain or _is_use(two) or one.isdecimal()))
        noun = next(nouns, "") if word in _SAID_OF_NOUNS else ""
        sized = word in lexicon_en.PLAIN_SIZES.keys() | DESCRIBING - lexicon_en.COLOURS.keys() - lexicon_en.NAMED_SIDES
        if noun and not (noun in lexicon_en.FILLINGS and sized):
            found.add((word, noun))
    return frozenset(found)


def _is_use(word: str) -> bool:
    """Is it a number, a letter or what a thing is for: running, of a running shoe; not the ring of a ring box?"""
    uses = word.endswith("ing") and len(word) > len("wing") and word not in lexicon_en.NO_USES
    return uses or len(word) == 1 or not word.isalpha()


def _kinds_of_another(full: tuple[str, ...], head: str) -> frozenset[tuple[str, str]]:
    own = _OF_ITSELF | (lexicon_en.PLAIN if head in _HOLDING else frozenset())
    return frozenset(
        (one, two)
        for one, two in itertools.pairwise(full[:-1])
        if not ({one, two} & _APART or two in own or two.isdecimal() or one.isdecimal())
        and not (one in DESCRIBING and two in lexicon_en.FILLINGS)  # "large coffee mug"
    )


def _parts_of(thing: Thing) -> NameParts:
    """Of its name; without one, of its id."""
    named = name_parts(thing.name)
    return named if named.full else name_parts(" ".join(word.lower() for word in _ID.findall(thing.id)))


@lru_cache(maxsize=1024)
def _words_of(id: str, name: str, category: str, shape: str, color: str, *, marked: bool) -> ThingWords:
    thing = Thing(id, name, category, shape=shape, color=color)
    if thing.category == "stand":  # a support named after the thing on it: it is not that thing
        return ThingWords(thing.id, head="stand")
    stem = tuple(word.lower() for word in _ID.findall(thing.id))
    named = name_parts(thing.name).full
    parts = _parts_of(thing)
    parts = parts.first if marked and parts.first is not None else parts
    kinds, id_kinds = _kinds(parts.head, parts.tail), _kinds(stem[-1], "") if stem else frozenset()
    of_id = stem[-1:] == (parts.head,) or bool(kinds & id_kinds)
    perhaps = set(parts.doubtful) | (lexicon_en.CALLED_BY_FIRST.get(parts.head, frozenset()) & {*parts.full[-2:-1]})
    # an English id of a thing with a Chinese name may say what it is; one that says another thing does not
    if stem and (of_id or (parts.tail and not kinds and len(stem[-1]) > 2)):
        perhaps.add(stem[-1])
    numbered = _ID_NUMBER.fullmatch(thing.id) if of_id else None
    number = parts.number or ((numbered[1].lstrip("0") or "0") if numbered else "")
    told, states = _name_colours(parts), states_a_colour(thing.color)
    known, maybe = stated_colours(thing.color)
    if not states and _tells_its_colour(parts) and told:
        known, maybe = told, frozenset()
    if of_id and named:  # table, with the id kitchen_table
        beside = frozenset(word for word in stem[:-1] if word not in DESCRIBING and len(word) > 1)
        parts = replace(parts, beside=parts.beside | beside)
    listed = _category(thing.category)
    doubted, above = frozenset[str](), _wider(kinds)
    if listed.own and (listed.own | listed.above).isdisjoint(kinds | above):  # an orange that is stated to be a cup
        doubted, above = _words_for(above & MANY_KINDS), above - MANY_KINDS
    if _is_modifier(listed.words, parts) and not ("k:toy" in listed.own and not _holds(parts)):  # a toy train
        doubted, listed = doubted | listed.words | _words_for(listed.own | listed.above), _Category()
    simple = all(word in DESCRIBING | SIZES for word in parts.beside) if parts.head else _is_simple(parts.tail)
    return ThingWords(
        thing.id, parts.full, parts.head, parts.tail, parts.beside, frozenset(perhaps), number, simple, kinds,
        _broader(thing, kinds, above, listed), (above | listed.above) - kinds, listed.words, doubted,
        _said_of(parts), parts.denied | _said_of_another(parts.full, parts.head),
        _shape(thing, kinds), known, told if known or states else frozenset(),
        frozenset() if known or states else told, maybe,
        parts.ending is Ending.TITLE and not kinds,
    )  # fmt: skip


def _kinds(head: str, tail: str) -> frozenset[str]:
    if head:
        return frozenset(k for k in lexicon_en.nouns_en().get(head, ()) if k[:2] == "k:")
    found = next((tail[-n:] for n in range(min(6, len(tail)), 0, -1) if tail[-n:] in lexicon_en.nouns_zh()), "")
    if not is_head(found, tail):
        return frozenset()
    return frozenset(k for k in lexicon_en.nouns_zh().get(found, ()) if k[:2] == "k:")


def _is_simple(tail: str) -> bool:
    """Whether a Chinese name is a word of the lexicon with at most a colour, a size or a number before it."""
    for at, sign in enumerate(tail):
        if not lexicon_en.nouns_zh().keys().isdisjoint((tail[at:], tail[at:] + "子")):
            return True
        if sign not in DESCRIBING_SIGNS:
            return False
    return False


def _wider(kinds: frozenset[str]) -> frozenset[str]:
    return frozenset(above for kind in kinds for above in lexicon_en.ancestor_kinds(kind[2:])) - kinds


def _said_of(parts: NameParts) -> frozenset[str]:
    """The kinds that the words beside the head name: of words in the other language, all that can be compared."""
    before = lexicon_zh.found_words(parts.tail[:-1], lexicon_en.nouns_zh())
    found = [lexicon_en.nouns_zh()[word] for word, _ in before]
    denied = {word for word, _ in parts.denied}
    found += [lexicon_en.nouns_en().get(word, frozenset()) for word in parts.beside - denied]
    return frozenset(sense for senses in found for sense in senses if sense[:2] == "k:")


@dataclass(frozen=True, slots=True)
class _Category:
    """What the stated category says that a thing is. `words`: those for it; `own`: its kinds; `above`: theirs."""

    words: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()

    @property
    def above(self) -> frozenset[str]:
        return frozenset(above for kind in self.own for above in lexicon_en.ancestor_kinds(kind[2:])) - self.own


def _category(category: str) -> _Category:
    stated = pieces(category)
    if not stated:
        return _Category()
    if is_chinese(category):
        word = "".join(stated)
        return _Category(frozenset((word,)), _kinds("", word))
    if stated[-1] in _NOT_A_KIND:
        return _Category()
    words = frozenset((stated[-1], *singulars(stated[-1])))
    nouns = lexicon_en.nouns_en()
    return _Category(words, frozenset(k for word in words for k in nouns.get(word, ()) if k[:2] == "k:"))


def _is_modifier(words: frozenset[str], parts: NameParts) -> bool:
    """Is one of the words in the name, and not its head: the medicine of a "medicine bottle", 药 of 药瓶?"""
    inside = any(is_chinese(w) and w in parts.tail and not names_head(w, parts.tail) for w in words)
    return inside or not words.isdisjoint(parts.beside)


def _holds(parts: NameParts) -> bool:
    """Is it a vessel, a pack or a box: a toy box is no toy for certain."""
    vessels = lexicon_en.FILLED | lexicon_en.HOLDING | lexicon_en.STORAGE
    return parts.head in vessels or parts.tail.endswith(tuple(lexicon_zh.VESSELS))


def _words_for(kinds: Iterable[str]) -> frozenset[str]:
    rows = [lexicon_en.KINDS[kind[2:]] for kind in kinds]
    return frozenset(word for _, english, chinese in rows for word in f"{english} {chinese}".split())


def _broader(thing: Thing, kinds: frozenset[str], above: frozenset[str], category: _Category) -> frozenset[str]:
    """What it also is, by the kinds of things, those `above` them, and the category that is stated."""
    found = (above | category.above) & MANY_KINDS | category.own | {f"w:{word}" for word in category.words}
    if thing.is_container:
        found |= {"k:container"}
    return frozenset(found - kinds)


def _shape(thing: Thing, kinds: frozenset[str]) -> str:
    if thing.shape in ("sphere", "cylinder", "basket", "table") and f"k:{thing.shape}" not in kinds:
        return f"k:{thing.shape}"
    return "k:box" if thing.shape == "box" and not kinds else ""


def _name_colours(parts: NameParts) -> frozenset[str]:
    """The colours that the words beside the head name."""
    english = listed_colours(" ".join(word for word in parts.beside if not is_chinese(word)))
    return english | listed_colours(parts.tail[:-1])


def _tells_its_colour(parts: NameParts) -> bool:
    """Whether a colour in the name is the thing's own (红色酒杯), or may tell its sort ("red wine", 红酒杯)."""
    if parts.tail:
        return "色" in parts.tail or (_is_simple(parts.tail) and "的" not in parts.tail and _describes(parts))
    return not parts.head or (_describes(parts) and parts.head not in lexicon_en.SORTED_BY_COLOUR)


def _describes(parts: NameParts) -> bool:
    return all(word in DESCRIBING for word in parts.beside)
