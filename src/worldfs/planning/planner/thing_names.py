"""Names of things, in every language or in that of the instruction."""

from __future__ import annotations

from collections.abc import Iterable

from worldfs.base.messages import coded
from worldfs.base.model import Scene, Thing

from . import lexicon_en

HOME = {"en": "go home", "zh": "回家"}


def named(id: str, scene: Scene) -> str:
    """The name of a thing of the scene, as a message: it becomes a name of each language."""
    thing = scene.thing(id)
    if thing is None:
        return id
    return coded("planner.named", en=_name(thing, "en", scene), zh=_name(thing, "zh", scene))


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
    chinese = any("\u4e00" <= c <= "\u9fff" for c in thing.name)
    if thing.name and chinese == (language == "zh"):
        return thing.name if language == "zh" else thing.name.lower()
    stem = "".join(c if c.isalpha() else " " for c in thing.id).split()
    kind = next((w for w in reversed(stem) if w.lower() in lexicon_en.KINDS), "")
    if language == "zh" and kind:
        colour = lexicon_en.COLOURS.get(thing.color.lower(), ("", ""))[1].split()
        return (colour[0] if colour else "") + lexicon_en.KINDS[kind.lower()][2].split()[0]
    if kind and language == "en" and not thing.name.isascii():
        return f"{thing.color.lower()} {kind}".strip() if thing.color.isascii() and thing.color.isalpha() else kind
    return thing.name if thing.name and not chinese else thing.id


def names(ids: Iterable[str], scene: Scene, language: str) -> str:
    """Names with ids, for refusals that ask for a choice."""
    called = ((id, name(scene.thing(id), language, id=id)) for id in ids)
    told = (id if plain == id else f"{plain} ({id})" for id, plain in called)
    return ("、" if language == "zh" else ", ").join(told) or ("没有东西" if language == "zh" else "nothing")
