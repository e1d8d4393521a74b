"""Where things go that are put away without a word about where: into a container that is there for keeping things."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from worldfs.base.model import Scene
from worldfs.base.name_parts import DESCRIBING_SIGNS, MATERIALS_ZH

from . import lexicon_en, lexicon_zh
from .scene_facts import containers
from .thing_words import ThingWords
from .vocabulary import Vocabulary

_HEAD_ZH: Final = re.compile(f"(?:{'|'.join(lexicon_zh.STORAGE)})子?$")
_KEEPING_ZH: Final = re.compile(f"[橱衣书]?(?:{'|'.join(lexicon_zh.STORAGE)})子?")
_PLAIN_ZH: Final = re.compile(f"[{DESCRIBING_SIGNS}]|{MATERIALS_ZH.pattern}|{'|'.join(lexicon_zh.PLAIN)}")


def storage(ids: Iterable[str], scene: Scene, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The ids of the containers that are there for keeping these things: a box, a fruit basket where all are fruit.

    A name that says more of a container than its looks says what it is for: wastepaper, laundry, egg, 药, 猫砂.
    """
    each = [called.kinds | called.broader | called.wider for id in ids if (called := vocabulary.called.get(id))]
    found = [(box.id, _serves(vocabulary.called[box.id], vocabulary)) for box in containers(scene)]
    return tuple(id for id, kinds in found if kinds is not None and all(not kinds or kinds & own for own in each))


def also_fit(ids: Iterable[str], scene: Scene, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The ids of the containers that may keep these things, though their names do not say so plainly: a screw box for
    a screw, a cupboard box."""
    things = [called for id in ids if (called := vocabulary.called.get(id)) is not None]
    return tuple(box.id for box in containers(scene) if _may_serve(vocabulary.called[box.id], things))


def _may_serve(box: ThingWords, things: Iterable[ThingWords]) -> bool:
    end = _HEAD_ZH.search(box.tail)
    if box.head not in lexicon_en.STORAGE and end is None:
        return False
    beside = box.tail[: end.start()] if end is not None else ""
    words = {word for word in box.beside if len(word) > 1 and word not in lexicon_en.PLAIN}
    if (beside and not _KEEPING_ZH.sub("", beside)) or (words and words <= lexicon_en.STORAGE):
        return True
    return any(not words.isdisjoint(thing.full) or _is_named(thing.tail, beside) for thing in things)


def _is_named(tail: str, beside: str) -> bool:
    """Does a Chinese name of a container name the thing: 螺丝盒 the 长螺丝, 勺盒 the 勺子?"""
    parts = {tail.removesuffix("子"), *(tail[n : n + 2] for n in range(len(tail) - 1))}
    return any(part and part in beside for part in parts)


def alike(ids: Iterable[str], vocabulary: Vocabulary) -> bool:
    """Whether a colour, a size or a number is all that tells them apart: either does, where none is named."""
    return len({_sort(vocabulary.called[id]) for id in ids}) == 1


def _serves(called: ThingWords, vocabulary: Vocabulary) -> frozenset[str] | None:
    """The kinds of things that it keeps, none for any; None: it is not known to keep things, or which."""
    words = [word for word in called.full if len(word) > 1 and word.isalpha() and word.isascii()]
    said = [word for word in words if word != called.head and word not in lexicon_en.PLAIN]
    if called.tail:
        found = _HEAD_ZH.search(called.tail)
        rest = _PLAIN_ZH.sub("", called.tail[: found.start()]) if found is not None else called.tail
        if found is None or (called.tail in lexicon_en.nouns_zh() and found.start() and rest):
            return None
        said += [rest] if rest else []
    elif called.head not in lexicon_en.STORAGE:
        return None
    kinds = [frozenset(sense for sense in vocabulary.senses(word) if sense[:2] == "k:") for word in said]
    return frozenset().union(*kinds) if all(kinds) else None


def _sort(called: ThingWords) -> tuple[str, ...]:
    if called.simple and (called.head or called.tail):
        return ("kind", *sorted(called.kinds)) if called.kinds else ("head", called.head or called.tail)
    return ("name", *(word for word in called.full if not word.isdecimal()))
