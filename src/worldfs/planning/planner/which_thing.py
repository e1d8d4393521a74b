"""Which thing of a scene words name: one thing, several that they may name, or none."""

from __future__ import annotations

from dataclasses import dataclass

from worldfs.base.messages import coded, render
from worldfs.base.messages.coded_text import language_of
from worldfs.base.model import Scene

from . import thing_names
from .goals import subject
from .instruction_parser import interpret, read_noun
from .intent import CommandIntent, NotUnderstood, RefusedIntent
from .scene_facts import sanitized_scene


@dataclass(frozen=True, slots=True)
class OneThing:
    """The words name this thing, and no other."""

    id: str


@dataclass(frozen=True, slots=True)
class SeveralThings:
    """The words name, or may name, more than one thing: a person must say which. `names` has what tells them apart."""

    ids: tuple[str, ...]
    names: str


@dataclass(frozen=True, slots=True)
class NoThing:
    """Nothing of the scene is named, and why."""

    reason: str


ThingAnswer = OneThing | SeveralThings | NoThing


def which_thing(words: str, scene: Scene) -> ThingAnswer:
    """The thing that a name, an id, a noun phrase or an order names ("the left shoe", 杯垫, "pick up the left shoe").

    The rules are those of instructions (docs/instructions.md): a modifier never stands for a thing, and nothing is
    guessed. Never raises for words.
    """
    scene = sanitized_scene(scene)
    intent = interpret(words, scene)
    if isinstance(intent, CommandIntent):
        return _answer(tuple(dict.fromkeys(filter(None, map(subject, intent.goals)))), scene)
    try:
        return _answer(read_noun(words, scene), scene)
    except NotUnderstood as error:
        doubtful = error.ids or (intent.candidates if isinstance(intent, RefusedIntent) else ())
        return _answer(
            (), scene, doubtful, intent.reason if isinstance(intent, RefusedIntent) else _unknown(words, scene)
        )


def _answer(ids: tuple[str, ...], scene: Scene, doubtful: tuple[str, ...] = (), reason: str = "") -> ThingAnswer:
    if len(ids) == 1:
        return OneThing(ids[0])
    if several := ids or doubtful:
        return SeveralThings(several, thing_names.apart(several, scene, language_of(reason)))
    return NoThing(reason)


def _unknown(words: str, scene: Scene) -> str:
    language = language_of(words)
    here = thing_names.names([thing.id for thing in (*scene.objects, *scene.furniture)], scene, language)
    return render(coded("planner.noun", word=words, hint="", here=here), language)
