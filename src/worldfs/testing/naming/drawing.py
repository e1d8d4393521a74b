"""One drawn scene: its things, where they are, and the phrases by which a sentence of either language names them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import capwords
from typing import Final

from . import words_en, words_zh
from .labels import (
    EN,
    ZH,
    Label,
    alone,
    any_related,
    chinese,
    closed,
    compounds,
    english,
    folded,
    grammatical,
    head_first,
    invented,
    mixed_script,
    numbered,
    parts,
    plain,
)
from .truth import Item, Redraw

SPOTS: Final = tuple((x, y) for y in (-0.12, 0.02, 0.16, 0.30) for x in (0.36, 0.48, 0.60))
CORNERS: Final = ((0.40, -0.42), (0.36, 0.56), (0.63, -0.37))
INSIDE: Final = ((-0.05, -0.05), (0.05, 0.05), (-0.05, 0.05), (0.05, -0.05))
WIDTH: Final = (0.24, 0.28, 0.08)
NEXT_TO_M: Final = 0.095  # between two centres: a finger's width of table between them
COLOURS: Final = tuple(words_zh.COLOURS)
_WORDS: Final = {
    EN: {"materials": words_en.MATERIALS, "sides": words_en.SIDES, "sided": words_en.SIDED, "sizes": words_en.SIZES,
         "sized": words_en.SIZED, "numbered": words_en.NUMBERED, "colours": words_en.COLOURS},
    ZH: {"materials": words_zh.MATERIALS, "sides": words_zh.SIDES, "sided": words_zh.SIDED, "sizes": words_zh.SIZES,
         "sized": words_zh.SIZED, "numbered": words_zh.NUMBERED, "colours": ", ".join(words_zh.COLOURS.values())},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """How a thing differs from an ordinary one."""

    side: float = 0.04
    mass: float = 0.1
    colour: str = ""
    spot: tuple[float, float] | None = None
    inside: str = ""
    id: str = ""
    category: str = ""


ORDINARY: Final = Look()


class Draw:
    """`language`: of the sentence; `names`: of the things. The first of `places` is the one that sentences mean."""

    def __init__(self, rng: random.Random, language: str, names: str) -> None:
        self.rng, self.language, self.names = rng, language, names
        self.things: list[Item] = []
        self.places: list[Item] = []
        self._ids = rng.choice(("told", "told", "letter", "number", "opaque"))
        self._spots = rng.sample(SPOTS, len(SPOTS))
        self._shown = rng.choice(("", "", "", "title", "title", "upper", "snake"))
        self._number = rng.randrange(1, 20)
        self._inside: dict[str, int] = {}

    # -- words ----------------------------------------------------------------------------------------------------

    def word(self, kind: str) -> str:
        return self.rng.choice(_WORDS[self.names][kind].split(", "))

    def compound(self) -> Label:
        """A noun before a noun; one in six has a word in it that no list knows."""
        name = self.rng.choice(compounds(self.names))
        if self.rng.random() > 0.17:
            return name
        if self.rng.random() < 0.6 and alone(name.head):
            return self.make((invented(self.names, self.rng),), name.head)
        return self.make(name.words, invented(self.names, self.rng))

    def named(self, head: str, *, but: Sequence[Label] = ()) -> Label:
        """Another compound with that head."""
        found = [c for c in compounds(self.names) if c.head == head and c.text not in {b.text for b in but}]
        if not found and any(c.head == head for c in compounds(self.names)):
            raise Redraw
        return self.rng.choice(found) if found else self.make((invented(self.names, self.rng),), head)

    def plain(self) -> Label:
        return self.rng.choice(plain(self.names))

    def anything(self) -> Label:
        """A name of any kind."""
        roll = self.rng.random()
        if roll < 0.35:
            return self.compound()
        if roll < 0.58:
            return self.plain()
        if roll < 0.64:
            return self.rng.choice((*head_first(self.names), *mixed_script(self.names)))
        if roll < 0.74:
            return self.rng.choice(grammatical(self.names))
        if roll < 0.81:
            return self.sided()
        if roll < 0.88:
            return self.made_of(self.compound())
        if roll < 0.94:
            return numbered(self.make((), self.word("numbered")), self.rng.randrange(1, 9))
        return self.rng.choice(closed(self.names))[0]

    def make(self, words: Sequence[str], head: str, hue: str = "") -> Label:
        return english(words, head, hue) if self.names == EN else chinese(words, head, hue)

    def sided(self) -> Label:
        return self.make((self.word("sides"),), self.word("sided"))

    def made_of(self, name: Label, material: str = "") -> Label:
        return self.make((material or self.word("materials"), *name.words), name.head)

    def head(self, name: Label) -> Label:
        """The head of a name alone, as a phrase."""
        alone = self.make((), name.head)
        if not alone.text:
            raise Redraw
        return alone

    def bare(self, name: Label) -> Label:
        """A noun in the name that is not its head."""
        found = [p for p in parts(name) if p.head != name.head]
        if not found:
            raise Redraw
        return self.rng.choice(found)

    def coloured(self, name: Label, colour: str) -> Label:
        """The phrase with a colour before it."""
        hue = colour if name.language == EN else words_zh.COLOURS[colour]
        return (english if name.language == EN else chinese)(name.words, name.head, hue)

    def write_as_said(self) -> None:
        """Names in this scene keep their capitals and spaces."""
        self._shown = ""

    # -- things ---------------------------------------------------------------------------------------------------

    def add(self, name: Label, look: Look = ORDINARY) -> Item:
        spot = look.spot or self._spots.pop()
        if look.inside:
            taken = self._inside.get(look.inside, 0)
            self._inside[look.inside] = taken + 1
            at = next(p for p in self.places if p.id == look.inside).position
            spot = (at[0] + INSIDE[taken][0], at[1] + INSIDE[taken][1])
        colour = look.colour or next((en for en, zh in words_zh.COLOURS.items() if name.hue in (en, zh)), "")
        thing = Item(
            look.id or self._id(name),
            name,
            spot,
            look.side,
            look.mass,
            colour,
            look.inside,
            look.category,
            self._write(name),
        )
        if any(t.id == thing.id for t in self.things):
            raise Redraw
        self.things.append(thing)
        return thing

    def beside(self, other: Item) -> tuple[float, float]:
        """A spot next to a thing, towards a side that is free."""
        x, y = other.position
        ways = [(x, y + NEXT_TO_M), (x, y - NEXT_TO_M)]
        self.rng.shuffle(ways)
        for spot in ways:
            near = [s for s in self._spots if _apart(s, spot) < 0.09]
            if all(_apart(t.position, spot) >= NEXT_TO_M - 1e-9 for t in self.things) and -0.2 < spot[1] < 0.4:
                self._spots = [s for s in self._spots if s not in near]
                return spot
        raise Redraw

    def keep_free(self, spot: tuple[float, float], apart: float) -> None:
        self._spots = [s for s in self._spots if _apart(s, spot) >= apart]

    def place(self, name: Label, id: str = "", colour: str = "") -> Item:
        corner = CORNERS[len(self.places)]
        found = Item(id or self._id(name), name, corner, colour=colour, shown=self._write(name), width=WIDTH)
        if any(t.id == found.id for t in self.places):
            raise Redraw
        self.places.append(found)
        return found

    def ordinary_places(self, count: int = 0) -> tuple[Item, ...]:
        """Containers of different heads, so that each head alone means one."""
        words = words_en.PLACES if self.names == EN else words_zh.PLACES
        heads = self.rng.sample(list(words), count or self.rng.choice((1, 2, 2, 3)))
        return tuple(self.place(self.place_name(head)) for head in heads)

    def place_name(self, head: str) -> Label:
        words = words_en.PLACES if self.names == EN else words_zh.PLACES
        if self.rng.random() < 0.5:
            return self.make((), head)
        return self.make((self.rng.choice(words[head].split(", ")),), head)

    def fill(self, least: int = 1, most: int = 4, *, clear: Sequence[Label] = ()) -> None:
        """Other things; none whose name could be meant by a phrase in `clear`. Some share a word with what is there."""
        heads = {label.head for label in clear}
        for _ in range(self.rng.randint(least, most)):
            if not self._spots:
                return
            name = self._near_name() if self.things and self.rng.random() < 0.35 else self.anything()
            told = {folded(t.name.text) for t in self.things}
            if name.head in heads or any_related(name.head, heads) or folded(name.text) in told:
                continue
            self.add(name, Look(colour=self.rng.choice(("", "", *COLOURS)) if not name.hue else ""))

    def _near_name(self) -> Label:
        like = self.rng.choice(self.things).name
        if like.language != self.names:
            return self.anything()
        roll = self.rng.random()
        if roll < 0.4:
            found = [
                c for c in compounds(self.names) if like.head in c.words or like.head in {p.head for p in parts(c)}
            ]
        elif roll < 0.7:
            found = [c for c in compounds(self.names) if c.head == like.head and c.text != like.text]
        else:
            found = [c for c in compounds(self.names) if set(c.words) & set(like.words)]
        return self.rng.choice(found) if found else self.anything()

    def _id(self, name: Label) -> str:
        self._number += self.rng.randrange(1, 3)
        n = self._number
        if self._ids == "told" and name.head.isascii():
            return f"{name.head}_{n:02d}"
        if self._ids in ("letter", "told"):
            return f"{chr(97 + n % 26)}{n}"
        return f"obj_{n}" if self._ids == "number" else f"{(n * 2654435761) % 65536:04x}x"

    def _write(self, name: Label) -> str:
        """The name as this scene writes its names."""
        if name.language != EN or not self._shown:
            return ""
        ways: dict[str, Callable[[str], str]] = {
            "title": capwords,
            "upper": str.upper,
            "snake": lambda text: text.replace(" ", "_"),
        }
        return ways[self._shown](name.text)


def _apart(one: tuple[float, float], other: tuple[float, float]) -> float:
    return math.dist(one, other)
