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
from .name_marks import mark
from .vocabulary import Vocabulary

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
    """Ids of things that would be touched although the instruction has no word for them: no name, id or colour, and no
    word for what they are (the opener of "can opener", and not the can).

    "All" and "everything" name what is movable; an order to clear a table names the things on it and the containers.
    """
    vocabulary = Vocabulary(scene)
    marked = mark(instruction, vocabulary)
    text = marked.text.lower()
    english, said = re.findall(r"[a-z0-9_]+", text), [word for words in marked.words.values() for word in words]
    said += [(word, senses) for word in english if (senses := vocabulary.english_word(word)) is not None]
    parts = {text[start:end] for start in range(len(text)) for end in range(start + 1, min(start + 7, len(text) + 1))}
    said += [(part, senses) for part in parts if (senses := vocabulary.chinese_word(part)) is not None]
    everything = any(word in lexicon_en.ALL or word in ("everything", "rest", "others") for word in english)
    everything |= any(word in text for word in _ALL_ZH)
    cleared = {goal.surface: goal for goal in goals if isinstance(goal, ClearedGoal)}
    named = {id for id in vocabulary.things if any(vocabulary.is_called(id, word) for word in said)}
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
