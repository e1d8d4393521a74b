"""Answers to questions, read off the scene: what is where, how many, what is held, is it clear."""

from __future__ import annotations

import re

from ...ground.model import Scene
from . import say
from .facts import Where, containers, layout, movable, resting, surfaces
from .goals import Cleared, held_by, holds
from .vocabulary import Vocabulary

_ASKS = {
    "can": r"what can you|what do you (know|understand)|你(会|能)(做)?什么|会什么",
    "held": r"\b(holding|held|in (your|the) (hand|gripper))\b|拿着什么|手里|夹爪里",
    "clear": r"\b(clear|tidy|clean|empty)\b|干净|收拾好|整齐|空",
    "where": r"\bwhere\b|哪里|哪儿",
    "many": r"\bhow many\b|\bcount\b|几个|多少",
    "colour": r"\bcolou?r\b|颜色",
    "list": r"\b(what|which|list|describe|tell|see|there)\b|什么|哪些|有没有",
}


def answer(text: str, scene: Scene, language: str) -> str:
    """One sentence or two; says so where the scene does not tell."""
    low = text.lower()
    topic = next((name for name, pattern in _ASKS.items() if re.search(pattern, low)), "")
    zh = language == "zh"
    if topic == "can":
        return "；".join(say.CAN["zh"]) if zh else "; ".join(say.CAN["en"])
    named = _named(low, scene, language)
    places = layout(scene)
    if topic == "held":
        held = held_by(scene)
        if zh:
            return f"拿着 {_name(held, scene, language)}" if held else "夹爪里没有东西"
        return f"holding {_name(held, scene, language)}" if held else "nothing is held"
    tops = {s.id for s in surfaces(scene)}
    supports = [id for id in named if id in tops or id in {c.id for c in containers(scene)}]
    if topic == "clear" and (supports or len(tops) == 1):
        top = next(iter(supports or tops))
        if top in tops and holds(Cleared(top), scene):
            return "是，上面没有东西" if zh else "yes, nothing is on it"
        return ("不，" if zh else "no, ") + _contents(top, scene, language)
    if topic == "where" and named:
        return "; ".join(f"{_name(id, scene, language)}: {_spot(id, places, scene, language)}" for id in named)
    if topic == "colour" and named:
        colours = [(id, t.color) for id in named if (t := scene.thing(id)) is not None]
        return "; ".join(f"{_name(id, scene, language)}: {c or '?'}" for id, c in colours)
    if topic == "many":
        chosen = [id for id in named if id in places] or list(places)
        if supports:
            chosen = [id for id in chosen if resting(places, id).of in supports]
        return f"{len(chosen)}: {say.names(chosen, scene, language)}" if chosen else "0"
    if supports and topic == "list":
        return _contents(supports[0], scene, language)
    if topic == "list":
        listed = [f"{_name(t.id, scene, language)} ({_spot(t.id, places, scene, language)})" for t in movable(scene)]
        return (", ".join(listed)) or ("没看到东西" if zh else "no objects are known here")
    return (
        "场景里看不出来；可以问：桌子上有什么，苹果在哪里，有几个方块，桌子干净吗"
        if zh
        else "the scene does not tell; ask what is on the table, where or how many things are, is the table clear"
    )


def _named(text: str, scene: Scene, language: str) -> list[str]:
    """Things that the question names: those which the most of its known words fit."""
    vocabulary = Vocabulary(scene)
    if language == "zh":
        from .chinese import split

        asked = [(w.text, w.keys) for w in split(text, vocabulary) if w.keys]
    else:
        asked = [(w, k) for w in re.findall(r"[a-z0-9_]+", text) if (k := vocabulary.english_word(w))]
    score = {id: sum(bool(k & keys - {"*"}) for _, k in asked) for id, keys in vocabulary.keys.items()}
    nouns = [k for _, k in asked if any(x[:2] in ("k:", "i:", "w:", "n:") for x in k)]
    found = [id for id, keys in vocabulary.keys.items() if any(k & keys for k in nouns)]
    return sorted(found, key=lambda id: -score[id])


def _name(id: str | None, scene: Scene, language: str) -> str:
    return say.name(scene.thing(id or ""), language, scene, id or "")


def _spot(id: str, places: dict[str, Where], scene: Scene, language: str) -> str:
    spot, thing = places.get(id, Where()), scene.thing(id)
    at = " ".join(f"{v:.2f}" for v in thing.position[:3]) if thing is not None else "?"
    if language == "zh":
        side = {"in": "在{}里", "on": "在{}上", "held": "被 {} 拿着"}.get(spot.relation, "")
        return side.format(_name(spot.of, scene, language)) + f" ({at})"
    side = {"in": "in {}", "on": "on {}", "held": "held by {}"}.get(spot.relation, "at")
    return side.format(_name(spot.of, scene, language)) + f" ({at})"


def _contents(id: str, scene: Scene, language: str) -> str:
    places = layout(scene)
    found = [_name(o, scene, language) for o in places if resting(places, o).of == id]
    if language == "zh":
        return f"{_name(id, scene, language)}：" + ("、".join(found) or "没有东西")
    return f"{_name(id, scene, language)}: " + (", ".join(found) or "nothing")
