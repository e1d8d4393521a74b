"""Where things go that are thrown away without a word about where: into the one bin for waste of any sort."""

from __future__ import annotations

from worldfs.base.model import Scene

from . import lexicon_en, lexicon_zh
from .scene_facts import containers
from .thing_words import ThingWords
from .vocabulary import Vocabulary


def waste_bins(scene: Scene, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The ids of the containers for waste of any sort; "food waste" and "recycling" are none."""
    return tuple(box.id for box in containers(scene) if _for_waste(vocabulary.called[box.id]))


def _for_waste(called: ThingWords) -> bool:
    if called.signs:
        return lexicon_zh.WASTE_BIN.fullmatch(called.signs) is not None
    told = (word for word in called.full if not word.isdecimal())
    words = {"waste" if lexicon_en.WASTE_WITH.get(word) == called.head else word for word in told}
    words -= lexicon_en.COLOURS.keys()
    return not words.isdisjoint(lexicon_en.WASTE) and words <= lexicon_en.WASTE | lexicon_en.WASTE_BESIDE
