"""Cases from a seed: a scene of ENVIRONMENT.md, a sentence, and what a careful person would do."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from worldfs.base.model import Relation, RobotState, Scene, Thing

from . import (
    asking,
    asking_whole,
    choosing,
    endings,
    inner_words,
    left_alone,
    left_places,
    not_so,
    one_thing,
    partly,
    related,
    said_besides,
    said_once,
    several_things,
    stated,
)
from .drawing import Draw
from .grammar import Speech
from .labels import EN, ZH
from .one_thing import Kind
from .truth import TABLE_ID, Item, Redraw, Truth

ROBOT: Final = "franka_001"
TABLE: Final = Thing(TABLE_ID, "table", "furniture", (0.45, 0.0, 0.0), size=(0.95, 1.3, 0.75), shape="table")
KINDS: Final[Mapping[str, Kind]] = {
    **one_thing.KINDS, **several_things.KINDS, **choosing.KINDS, **asking.KINDS, **asking_whole.KINDS,
    **endings.KINDS, **related.KINDS, **left_alone.KINDS,
    **stated.KINDS, **partly.KINDS, **said_besides.KINDS, **said_once.KINDS, **not_so.KINDS,
    **left_places.KINDS, **inner_words.KINDS,
}  # fmt: skip
QUESTIONS: Final = frozenset((
    *asking.KINDS, *asking_whole.KINDS, *endings.ASKED, *related.ASKED, *said_once.ASKED, *inner_words.ASKED
))  # fmt: skip
ENGLISH_ONLY: Final = frozenset().union(
    one_thing.ENGLISH_ONLY, endings.ENGLISH, stated.ENGLISH, said_besides.ENGLISH, not_so.ENGLISH, left_places.ENGLISH
)
CHINESE_ONLY: Final = partly.CHINESE | said_besides.CHINESE | said_once.CHINESE | not_so.CHINESE
TRIES: Final = 400  # of the same kind, until its truth is certain


@dataclass(frozen=True, slots=True)
class Case:
    """`number`: with the seed of the run, it draws the same case again."""

    number: int
    kind: str
    language: str
    text: str
    things: tuple[Item, ...]
    places: tuple[Item, ...]
    truth: Truth

    def scene(self) -> Scene:
        objects = tuple(_thing(item) for item in self.things)
        furniture = (TABLE, *(_place(item) for item in self.places))
        relations = tuple(Relation(i.id, "in" if i.inside else "on", i.inside or TABLE.id) for i in self.things)
        below = tuple(Relation(p.id, "on", TABLE.id) for p in self.places)
        return Scene((RobotState(ROBOT, (0.0, 0.0, 0.0), {}, "open", None),), objects, furniture, (*relations, *below))


def _thing(item: Item) -> Thing:
    z = round(item.side / 2 + (0.006 if item.inside else 0.0), 4)
    at = (round(item.position[0], 4), round(item.position[1], 4), z)
    return Thing(
        item.id,
        item.shown or item.name.text,
        item.category or "thing",
        at,
        size=(item.side,) * 3,
        shape="box",
        mass=item.mass,
        color=item.colour,
    )


def _place(item: Item) -> Thing:
    at = (*item.position, item.width[2] / 2)
    return Thing(
        item.id, item.shown or item.name.text, "container", at, size=item.width, shape="basket", color=item.colour
    )


def case(seed: int, number: int) -> Case:
    """The case of that number: the kinds in turn, English and Chinese 2:1. `RuntimeError`: none can be drawn."""
    names = list(KINDS)
    kind = names[number % len(names)]
    chinese = kind in CHINESE_ONLY or ((number // len(names)) % 3 == 2 and kind not in ENGLISH_ONLY)
    language = ZH if chinese else EN
    for turn in range(TRIES):
        rng = random.Random(f"{seed} {number} {turn}")  # noqa: S311  # a drawn case is no secret
        draw = Draw(rng, language, language)
        speech = Speech(language, rng)
        try:
            text, truth = KINDS[kind](draw, speech)
        except (Redraw, IndexError):
            continue
        ids = [item.id for item in (*draw.things, *draw.places)]
        if len(ids) != len(set(ids)):
            continue
        return Case(number, kind, language, speech.style(text), tuple(draw.things), tuple(draw.places), truth)
    raise RuntimeError(f"no case of {kind!r} in {language} with seed {seed}")


def cases(seed: int, count: int, first: int = 0, step: int = 1) -> Iterator[Case]:
    for number in range(first, count, step):
        yield case(seed, number)
