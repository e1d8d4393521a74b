"""What a proposed plan would touch or do, and no word of the instruction names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from worldfs.base.model import Scene

from . import lexicon_en
from .goals import (
    AtGoal,
    ClearedGoal,
    GestureGoal,
    Goal,
    GripperGoal,
    HomeGoal,
    OperationGoal,
    PlacedGoal,
    SeenGoal,
    VisitGoal,
)
from .vocabulary import Vocabulary

_NOUNS = ("k:", "i:", "c:")  # keys of kinds, ids and colours
_WORDS = ("w:", "n:")  # words of a name; one of more than `LONGEST` words is a text, and could hold any word
LONGEST = 4
# Words that ask for a pose of the robot, or for a point; of an operation it is a word of its name.
_ACTS = {
    HomeGoal: r"home|park|rest|回家|归位|原位|复位",
    GripperGoal: r"grip|hand|finger|claw|jaw|夹|爪|手",
    GestureGoal: r"wave|greet|hello|\bhi\b|bye|挥手|招手|招呼",
    SeenGoal: r"look|see|watch|view|show|inspect|check|看|瞧",
    VisitGoal: r"go|walk|drive|move|navigate|visit|come|approach|look|find|see|to|home|去|到|走|看|找|家",
    AtGoal: r"go|move|above|over|hover|near|approach|to|去|到|移|上方",
    PlacedGoal: r"\d",
}
_ALL_ZH = ("所有", "全部", "都", "每")


def touched_ids(goals: Sequence[Goal]) -> tuple[str, ...]:
    """Everything that the goals name, in their order."""
    found: list[str] = []
    for goal in goals:
        keys = ("object", "container", "support", "other", "surface", "label")
        found += [value for key in keys if isinstance(value := getattr(goal, key, ""), str) and value]
    return tuple(dict.fromkeys(found))


def unnamed_things(instruction: str, goals: Sequence[Goal], scene: Scene) -> tuple[str, ...]:
    """Ids of things that would be touched although the instruction has no word for them: no noun, name, id or colour.

    "All" and "everything" name what is movable; an order to clear a table names the things on it and the containers.
    """
    vocabulary = Vocabulary(scene)
    said: set[str] = set()
    everything = False
    text = instruction.lower()
    for word in re.findall(r"[a-z0-9_]+", text):
        everything |= word in lexicon_en.ALL or word in ("everything", "rest", "others")
        said |= vocabulary.english_word(word) or frozenset()
    for start in range(len(text)):
        for end in range(start + 1, min(start + 7, len(text) + 1)):
            said |= vocabulary.chinese_word(text[start:end]) or frozenset()
    everything |= any(word in text for word in _ALL_ZH)
    cleared = {goal.surface: goal for goal in goals if isinstance(goal, ClearedGoal)}
    short = {
        id for id, thing in vocabulary.things.items() if len(thing.name.split()) <= LONGEST and len(thing.name) < 40
    }
    named = {
        id
        for id, keys in vocabulary.keys.items()
        if any(k.startswith((*_NOUNS, *_WORDS) if id in short else _NOUNS) for k in keys & said)
    }
    if everything:
        named |= vocabulary.moving
    for surface, goal in cleared.items():
        if surface in named:
            named |= {*goal.into, *vocabulary.moving}
    return tuple(id for id in touched_ids(goals) if id in vocabulary.things and id not in named)


def unasked_acts(instruction: str, goals: Sequence[Goal]) -> tuple[Goal, ...]:
    """Poses, points and operations that no word of the instruction asks for."""
    text = instruction.lower()

    def asked(goal: Goal) -> bool:
        if isinstance(goal, OperationGoal):
            return any(word in text for word in goal.name.lower().split("_"))
        pattern = _ACTS.get(type(goal))
        return pattern is None or re.search(pattern, text) is not None

    return tuple(goal for goal in goals if not asked(goal))
