"""Names of things, in every language or in that of the instruction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from worldfs.base.messages import coded, render
from worldfs.base.model import Scene, Thing
from worldfs.base.word_forms import is_chinese

from . import lexicon_en
from .thing_words import thing_words

OWNED: Final = re.compile(r"[^\W\d_]['’](?:s\b|(?=\s))|\b(?:my|your|our|his|her|their)\b|\b(?:of|for|by) [A-Z][a-z]")
_OWNER_FIRST: Final = re.compile(r"[A-Z][\w-]*['’]s?\s")  # Bob's, James'
HOME = {"en": "go home", "zh": "回家"}


def named(id: str, scene: Scene) -> str:
    """The name of a thing of the scene, as a message: it becomes a name of each language."""
    thing = scene.thing(id)
    if thing is None:
        return id
    return coded("planner.named", en=_name(thing, "en", scene), zh=_name(thing, "zh", scene))


def the(name: str) -> str:
    """A name with its article, as a message; an owner has none ("Bob's key")."""
    return name if _OWNER_FIRST.match(name) else coded("planner.the", name=name)


def name(thing: Thing | None, language: str, scene: Scene | None = None, id: str = "") -> str:
    """A thing's name in that language, with its id where two share the name."""
    return id if thing is None else _name(thing, language, scene)


def _name(thing: Thing, language: str, scene: Scene | None) -> str:
    found = _plain(thing, language)
    if scene is not None and found != thing.id:
        others = [t for t in (*scene.objects, *scene.furniture) if t.id != thing.id and _plain(t, language) == found]
        if others:
            return f"{found} ({thing.id})"
    return found


def _plain(thing: Thing, language: str) -> str:
    """Its own name; in the other language the name of its kind, where the name says no more than that."""
    chinese = is_chinese(thing.name)
    if thing.name and chinese == (language == "zh"):
        return thing.name if chinese or _OWNER_FIRST.match(thing.name) else thing.name.lower()
    called = thing_words(thing)
    kind = next((kind[2:] for kind in sorted(called.kinds) if called.translates), "")
    mixed = chinese and any(
        c.isascii() and c.isalpha() for c in thing.name
    )  # recycling箱: no word for its kind says so
    if not kind or mixed or any(c.isdecimal() for c in thing.name) or (not thing.name and language == "en"):
        return thing.name or thing.id
    _, english, word = lexicon_en.KINDS[kind]
    colour = _colour(thing, language) if thing.color.lower() in lexicon_en.COLOURS else ""
    return colour + word.split()[0] if language == "zh" else f"{colour} {english.split()[0]}".strip()


def _colour(thing: Thing, language: str) -> str:
    row = lexicon_en.COLOURS.get(thing.color.lower())
    return row[1].split()[0] if row is not None and language == "zh" else thing.color


def names(ids: Iterable[str], scene: Scene, language: str) -> str:
    """Names with ids, for refusals that ask for a choice."""
    ids = tuple(ids)
    called = _called([thing for id in ids if (thing := scene.thing(id)) is not None], language)
    told = (f"{called[id]} ({id})" if called.get(id, id) != id else id for id in ids)
    return ("、" if language == "zh" else ", ").join(told) or ("没有东西" if language == "zh" else "nothing")


def apart(ids: Iterable[str], scene: Scene, language: str) -> str:
    """Names with ids; of things that are called alike with what tells each apart: colour, place or position."""
    things = [thing for id in ids if (thing := scene.thing(id)) is not None]
    called = _called(things, language)
    told = []
    for thing in things:
        alike = [other for other in things if called[other.id] == called[thing.id]]
        about = [called[thing.id], thing.id] if called[thing.id] != thing.id else [thing.id]
        if len(alike) > 1:
            about.append(_difference(thing, alike, scene, language))
        told.append(f"{about[0]} ({', '.join(filter(None, about[1:]))})" if len(about) > 1 else about[0])
    return ("、" if language == "zh" else ", ").join(told) or ("没有东西" if language == "zh" else "nothing")


def _called(things: Sequence[Thing], language: str) -> dict[str, str]:
    """Id → name in a language; each its own where one word is for the kinds of two: 苹果汁 and 橙子汁, "juice"."""
    found = {thing.id: name(thing, language) for thing in things}
    names: dict[str, set[str]] = {}
    for thing in things:
        names.setdefault(found[thing.id], set()).add(thing.name)
    return {
        thing.id: found[thing.id] if len(names[found[thing.id]]) == 1 else thing.name or thing.id for thing in things
    }


def _difference(thing: Thing, alike: Sequence[Thing], scene: Scene, language: str) -> str:
    if len({one.color for one in alike}) == len(alike) and thing.color:
        return _colour(thing, language)
    where = {
        one.id: next(((r.relation, r.object) for r in scene.relations if r.subject == one.id), None) for one in alike
    }
    spot = where[thing.id]
    if len(set(where.values())) == len(alike) and spot is not None and spot[0] in ("in", "on"):
        place = name(scene.thing(spot[1]), language, scene, spot[1])
        return render(coded(f"planner.at_{spot[0]}", place=the(place)), language)
    return "x {:.2f}, y {:.2f}".format(*thing.position[:2]) if len(thing.position) >= 2 else ""
