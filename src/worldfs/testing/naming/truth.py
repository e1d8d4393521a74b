"""What a careful person does with a phrase in a scene, by the rules of names; the product is never asked.

1. An exact id. 2. An exact full name, case and width folded. 3. A phrase whose words are all in one name, and whose
head is that name's head. A modifier never names the thing. Several candidates: ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from . import words_zh
from .labels import CONTAINERS, SUBSTANCES, Label, any_related, folded, parts

HELD = "held"
BESIDE = "beside "
LEFT_OF = "left of "
RIGHT_OF = "right of "
TABLE_ID = "table_01"
_TABLES = frozenset({"desk"})  # the table of every scene may be called so


class Redraw(Exception):
    """This draw does not make a case whose truth is certain: the next one is tried."""


@dataclass(frozen=True, slots=True)
class Item:
    """A thing of a scene. `side`: its width and depth (m); `inside`: the id of a container, "" for the table.

    `category`: the one that its document states, "" for a plain thing.
    """

    id: str
    name: Label
    position: tuple[float, float] = (0.0, 0.0)
    side: float = 0.04
    mass: float = 0.1
    colour: str = ""
    inside: str = ""
    category: str = ""
    shown: str = ""  # the name as the scene writes it: "Can Opener"; "": as it is
    width: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of a place


End = Mapping[str, frozenset[str]]
"""Where each moved thing is afterwards: ids of places, HELD, or BESIDE + id. What is not named was not touched."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a true answer says. `names`: ids that it names; `number` and `yes` where the question asks for them.

    `none`: a refusal, or the word that there is no such thing, is the right answer. `about`: ids that a list may name
    besides, because the question does. `asked`: a name here has the word, so that "there is no such thing" is untrue.
    """

    kind: str  # where | list | count | yes_no | which
    names: frozenset[str] = frozenset()
    number: int = -1
    yes: bool = False
    none: bool = False
    about: frozenset[str] = frozenset()
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """`ends`: the acceptable ends, in none of which anything else has moved. Without any, only asking is right."""

    ends: tuple[End, ...] = ()
    ask: bool = False  # a question or refusal is right too
    order: tuple[str, ...] = ()  # moved in this order
    answer: Answer | None = None
    candidates: frozenset[str] = frozenset()  # whom a question should name
    noun: str = ""  # the one noun phrase on which all of it turns, as said

    @property
    def must_ask(self) -> bool:
        return not self.ends and self.answer is None


@dataclass(frozen=True, slots=True)
class Choice:
    """Which things a definite phrase can mean; `ask`: asking is right, and without any `thing` the only right act."""

    thing: Item | None
    ask: bool
    among: tuple[Item, ...] = field(default=())


def sure(phrase: Label, items: Sequence[Item]) -> list[Item]:
    """What the phrase names for certain: head for head, every other word in the name or the stated colour."""
    return [
        i for i in items if i.name.head == phrase.head
        and all(w in i.name.words or (w == phrase.hue and i.colour == _colour(w)) for w in phrase.words)
    ]  # fmt: skip


def _colour(word: str) -> str:
    return next((en for en, zh in words_zh.COLOURS.items() if zh == word), word)


def exact(phrase: Label, items: Sequence[Item]) -> list[Item]:
    return [i for i in items if folded(i.name.text) == folded(phrase.text)]


def contained(phrase: Label, items: Sequence[Item]) -> list[Item]:
    """Containers and portions that may stand for what is in them: "the milk" for the milk carton."""

    def holds(name: Label) -> bool:
        if name.tail.startswith("of "):
            return {phrase.head, phrase.plural} & set(name.words) != set()
        told = {*name.words, *(p.head for p in parts(name))}
        return phrase.head in SUBSTANCES and name.head in CONTAINERS and {phrase.head, *phrase.words} <= told

    return [i for i in items if holds(i.name)]


def the(phrase: Label, items: Sequence[Item]) -> Choice:
    """The one thing that "the PHRASE" means. Raises `Redraw` where a careful person may see it either way."""
    if phrase.head in _TABLES:
        raise Redraw
    whole, found = exact(phrase, items), sure(phrase, items)
    if len(whole) == 1:
        return Choice(whole[0], len(found) > 1, tuple(found))
    if len(found) == 1:
        return Choice(found[0], False, tuple(found))
    if found:
        return Choice(None, True, tuple(found))
    if any_related(phrase.head, [i.name.head for i in items]):
        raise Redraw
    meant = contained(phrase, items)
    return Choice(meant[0] if len(meant) == 1 else None, True, tuple(meant))


def every(phrase: Label, items: Sequence[Item]) -> tuple[Item, ...]:
    """All things of that name: "all PHRASE" and "everything except PHRASE" use the same rule."""
    if phrase.head in _TABLES:
        raise Redraw
    if any_related(phrase.head, [i.name.head for i in items]) or (not sure(phrase, items) and contained(phrase, items)):
        raise Redraw
    return tuple(sure(phrase, items))


def one(phrase: Label, items: Sequence[Item]) -> Item:
    """For a sentence that must have one meaning."""
    found = the(phrase, items)
    if found.thing is None or found.ask:
        raise Redraw
    return found.thing


def ends(things: Sequence[Item], places: Sequence[str]) -> tuple[End, ...]:
    """All of the things at any of the places, all at the same."""
    return tuple({i.id: frozenset({place}) for i in things} for place in places)


def some(things: Sequence[Item], count: int, place: str) -> tuple[End, ...]:
    return tuple({i.id: frozenset({place}) for i in chosen} for chosen in combinations(things, count))


def both(one: Sequence[End], other: Sequence[End]) -> tuple[End, ...]:
    return tuple({**a, **b} for a, b in product(one, other))
