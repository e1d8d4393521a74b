"""Names of things by their structure: the words, and which of them is the head. Truth is decided from this alone."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from . import words_en, words_zh

EN: Final = "en"
ZH: Final = "zh"
CONTAINERS: Final = frozenset((words_en.CONTAINERS + ", " + words_zh.CONTAINERS).split(", "))
SUBSTANCES: Final = frozenset((words_en.SUBSTANCES + ", " + words_zh.SUBSTANCES).split(", ")) | words_en.MASS
_NAMED: Final = (words_en.NOT_THINGS, words_en.MATERIALS, words_en.SIDES, words_en.SIZES, words_en.COLOURS)
_LINKS: Final = frozenset({"of", "a", "the", "with", "without", "for", "to", "from", "in", "on"})
NO_THINGS: Final = frozenset(" ".join(_NAMED).replace(",", "").split())


@dataclass(frozen=True, slots=True)
class Label:
    """A name, or a phrase that may be one: "steel can opener" has the words steel and can, and the head opener."""

    text: str
    head: str
    words: tuple[str, ...] = ()
    language: str = EN
    hue: str = ""  # a word that is a colour here: "blue mug", but not "blue cheese"
    tail: str = ""  # what is written after an English head: "mug with a lid"

    @property
    def plural(self) -> str:
        if self.language == ZH:
            return self.text
        front = self.text.removesuffix(f" {self.tail}") if self.tail else self.text
        last = front.rsplit(" ", 1)[-1]
        return front[: len(front) - len(last)] + plural(last) + (f" {self.tail}" if self.tail else "")

    @property
    def countable(self) -> bool:
        return self.language == ZH or (self.head not in words_en.MASS and not self.text[-1].isdigit())


def plural(word: str) -> str:
    if word in words_en.PLURALS:
        return words_en.PLURALS[word]
    if word.endswith(("s", "x", "ch", "sh", "z")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") and word[-2] not in "aeiou" else word + "s"


def english(words: Sequence[str], head: str, hue: str = "") -> Label:
    split = tuple(part for word in (*words, *((hue,) if hue else ())) for part in word.split())
    split = (hue, *(w for w in split if w != hue)) if hue else split
    return Label(" ".join((*split, head)), head, split, EN, hue)


def chinese(words: Sequence[str], head: str, hue: str = "") -> Label:
    """`head`: the last morpheme; alone it is said as its own word."""
    said = "".join((*((hue + "色",) if hue else ()), *words))
    text = said + head if words else said + alone(head)
    return Label(text, head, (*((hue,) if hue else ()), *words), ZH, hue)


def alone(head: str) -> str:
    """The Chinese word that is said for this morpheme alone; "" where it is not said alone."""
    return words_zh.COMPOUNDS[head][0] if head in words_zh.COMPOUNDS else head


def trailing(head: str, tail: str) -> Label:
    """A name whose head comes first: "cup of tea", "key to the shed"."""
    return Label(f"{head} {tail}", head, tuple(w for w in tail.split() if w not in _LINKS), EN, tail=tail)


def numbered(name: Label, number: int) -> Label:
    text = f"{name.text}{' ' if name.language == EN else ''}{number}"
    return Label(text, name.head, (*name.words, str(number)), name.language)


@cache
def compounds(language: str) -> tuple[Label, ...]:
    if language == EN:
        return tuple(english([m], h) for h, said in words_en.COMPOUNDS.items() for m in said.split(", "))
    return tuple(chinese([m], h) for h, (_, said) in words_zh.COMPOUNDS.items() for m in said.split(", "))


@cache
def plain(language: str) -> tuple[Label, ...]:
    if language == EN:
        return tuple(english((), word) for word in words_en.PLAIN.split(", "))
    heads = {word: head for head, (word, _) in words_zh.COMPOUNDS.items() if word}
    return tuple(Label(word, heads.get(word, word), (), ZH) for word in words_zh.PLAIN.split(", "))


@cache
def grammatical(language: str) -> tuple[Label, ...]:
    """Names that contain words of which sentences are made."""
    if language == EN:
        return tuple(english([m], h) for h, said in words_en.GRAMMAR.items() for m in said.split(", "))
    return tuple(Label(a + b, b, (a,), ZH) for a, b in (w.split("|") for w in words_zh.GRAMMAR.split(", ")))


@cache
def head_first(language: str) -> tuple[Label, ...]:
    """English names whose head comes first; Chinese ones with 的."""
    if language == EN:
        after = [trailing(h, t) for h, said in words_en.BEFORE.items() for t in said.split(", ")]
        return (*after, *(trailing(h, f"of {t}") for h, said in words_en.OF.items() for t in said.split(", ")))
    pairs = [word.split("|") for word in words_zh.BEFORE.split(", ")]
    return tuple(Label(f"{a}的{alone(b)}", b, (a,), ZH) for a, b in pairs)


@cache
def mixed_script(language: str) -> tuple[Label, ...]:
    """Chinese names with Latin letters and digits in them."""
    pairs = [word.split("|") for word in words_zh.MIXED.split(", ")] if language == ZH else []
    return tuple(Label(a + b, b, (a,), ZH) for a, b in pairs)


def invented(language: str, rng: random.Random) -> str:
    """A noun that no list knows."""
    if language == ZH:
        return "".join(rng.sample(words_zh.INVENTED, 2))
    return rng.choice(words_en.OPENINGS.split(", ")) + rng.choice(words_en.RHYMES.split(", "))


@cache
def closed(language: str) -> tuple[tuple[Label, Label], ...]:
    """One-word names, each with a noun that is a part of it and does not name it."""
    if language == EN:
        return tuple(
            (english((), word), english((), part))
            for word, parts in words_en.CLOSED.items()
            for part in parts.split(", ")
        )
    return tuple((Label(word, word, (), ZH), said(part)) for word, part in words_zh.CLOSED.items())


@cache
def coloured(language: str) -> tuple[Label, ...]:
    """Names in which a colour word tells the kind of thing."""
    if language == EN:
        return tuple(english(name.split()[:-1], name.split()[-1]) for name in words_en.COLOURED.split(", "))
    return tuple(Label(name, name, (), ZH) for name in words_zh.COLOURED.split(", "))


def said(word: str) -> Label:
    """The Chinese word alone, as a phrase."""
    return next((label for label in plain(ZH) if label.text == word), Label(word, word, (), ZH))


@cache
def parts(name: Label) -> tuple[Label, ...]:
    """The nouns in a name that are not its head, each as a phrase of its own: the modifier alone."""
    if name.tail.startswith("of "):
        return ()  # may stand for the whole
    if name.language == EN:
        found = [english((), word) for word in name.words if word not in NO_THINGS and not word.isdigit()]
        whole = [english(name.words[:n], name.words[n]) for n in range(1, len(name.words)) if found]
        return tuple(label for label in (*found, *whole) if label.head not in NO_THINGS)
    words = [words_zh.FORMS.get(word, word) for word in name.words if word in words_zh.FORMS or _is_noun(word)]
    return tuple(said(word) for word in words if word)


def _is_noun(word: str) -> bool:
    return said(word) in plain(ZH) or set(word) <= set(words_zh.INVENTED)


def folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("-", " ").replace("_", " ").split())


@cache
def _related() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in (*words_en.RELATED, *words_zh.RELATED):
        for word in group.split():
            found.setdefault(word, set()).update(group.split())
    return {word: frozenset(group) for word, group in found.items()}


def related(one: str, other: str) -> bool:
    """Whether a careful person may call one head by the other's name."""
    return one != other and other in _related().get(one, ())


def any_related(head: str, others: Iterable[str]) -> bool:
    return any(related(head, other) for other in others)
