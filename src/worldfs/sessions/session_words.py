"""What a session's parameters and words name: read by the resolver of instructions, or refused.

A word that nothing reads moves nothing. An unknown parameter refuses the session; words that name no thing, or another
one than a parameter does, refuse it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from typing import Final

from worldfs.base.messages import coded
from worldfs.base.model import Finding, Scene
from worldfs.base.order_parameters import given_parameter
from worldfs.base.restricting_fields import restricting
from worldfs.planning.planner import NoThing, OneThing, SeveralThings, which_thing
from worldfs.skills.skill_runtime import SkillParameters, SkillRequest

from .unread_fields import REMARKS

UNREAD: Final = (*REMARKS, "gripper")  # the specification's session names its gripper: every robot has one
THINGS: Final = ("object_id", "object", "target_object", "thing")  # parameters of a session that name what is handled
MOST_NAMED: Final = 100  # things that one parameter may name
WORDS: Final = ("nl_task", "instruction", "task", "text")
_TOKENS: Final = re.compile(r"[\w-]+")


def unknown_parameters(request: SkillRequest, reads: SkillParameters) -> Iterator[Finding]:
    """A refusal for each parameter that nothing reads."""
    known = sorted(reads.names)
    for name, value in request.params.items():
        if name in reads.names or name in UNREAD or value is None:
            continue
        likely = "".join(get_close_matches(name, known, 1, 0.7))
        fix = coded("world.did_you_mean", likely=likely) if likely else coded("session.remove_field")
        field, found = f"SESSIONS.md {request.job} execution.params", coded("session.unread", name=name[:80])
        yield Finding("UNKNOWN_PARAMETER", field, coded("common.some_of", names=known), found, fix, request.job)


def undeclared_restrictions(request: SkillRequest) -> Iterator[Finding]:
    """A refusal for each parameter that would hold the session back or limit it, where the runtime declares none."""
    for name in restricting(request.params):
        field, fix = f"SESSIONS.md {request.job} execution.params", coded("session.declare_or_remove")
        found = coded("file.holds_back", name=name[:80], value=str(request.params[name])[:80])
        yield Finding("UNKNOWN_PARAMETER", field, coded("session.declared_parameters"), found, fix, request.job)


def unnamed_things(request: SkillRequest, names: Iterable[str]) -> Iterator[Finding]:
    """A refusal for each of these parameters that is written and names nothing: it is not as if it were not there."""
    for name in dict.fromkeys((*names, *THINGS)):
        value = request.params.get(name, "-")
        named = value if isinstance(value, list | tuple) and value else (value,)
        if not all(isinstance(one, str) and one.strip() for one in named):
            yield _refused(request, f"execution.params.{name}", coded("session.words_of_one"), repr(value)[:200])


def words_of(request: SkillRequest, reads: SkillParameters) -> tuple[str, str]:
    """The session's words and their place in its entry; "" where there are none. The name of a task is no sentence."""
    for name in WORDS:
        value = request.params.get(name)
        if isinstance(value, str) and value.strip() and not (name == "task" and value.strip() in reads.tasks):
            return value.strip(), f"execution.params.{name}"
    return request.words.strip(), "task_description"


def named_thing(request: SkillRequest, reads: SkillParameters) -> str:
    """What a parameter names as the thing to handle; "" for nothing."""
    values = (request.params.get(name) for name in reads.objects)
    return next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")


def with_words(request: SkillRequest, reads: SkillParameters, scene: Scene) -> SkillRequest | Finding:
    """The request with the thing that its words name as its parameter; a refusal where they name none, or another."""
    words, place = words_of(request, reads)
    named = named_thing(request, reads)
    if not words or not reads.objects or not scene.objects or reads.words:
        return request
    answer = which_thing(words, scene)
    if named:
        ids = {thing.id for thing in scene.objects if named in (thing.id, thing.name)}
        if isinstance(answer, OneThing) and answer.id not in (named, *ids):
            return _refused(request, place, coded("session.one_thing", id=named), answer.id)
        return request
    match answer:
        case OneThing(id):
            return replace(request, params={**request.params, reads.objects[0]: id})
        case SeveralThings(_, names):
            return _refused(request, place, coded("session.words_of_one"), names)
        case NoThing(reason):
            return _refused(request, place, coded("session.words_of_one"), reason)


def with_named_thing(request: SkillRequest, reads: SkillParameters, scene: Scene) -> SkillRequest | Finding:
    """The request with the id of the thing that its parameter names; a refusal where the target has none of that name.
    A target that lists no things judges the name itself."""
    name, value = given_parameter(request.params, reads.objects)
    if not name or not scene.objects or not reads.objects:
        return request
    ids = things_named(value, scene)
    if len(ids) == 1 and isinstance(value, str):
        return replace(request, params={**request.params, name: ids[0]})
    known = [thing.id for thing in scene.objects]
    return _refused(request, f"execution.params.{name}", coded("common.some_of", names=known), repr(value)[:200])


def things_named(value: object, scene: Scene) -> list[str]:
    """The ids of what a parameter names: an id or a name as it is written, else in words; of a list, of each."""
    if isinstance(value, list | tuple):
        return [id for one in value[:MOST_NAMED] if isinstance(one, str) for id in things_named(one, scene)]
    if not isinstance(value, str) or not value.strip():
        return []
    word = value.strip()
    if exact := _written(word, scene):
        return exact
    answer = which_thing(word, scene)
    return [answer.id] if isinstance(answer, OneThing) else []


def _written(word: str, scene: Scene) -> list[str]:
    """The ids of what has this id or name, as it is written."""
    things = (*scene.objects, *scene.furniture)
    for exact in (
        [thing.id for thing in things if thing.id == word],
        [thing.id for thing in things if thing.name == word],
        [thing.id for thing in things if word.casefold() in (thing.id.casefold(), thing.name.casefold())],
    ):
        if exact:
            return exact
    return []


def things_written(request: SkillRequest, scene: Scene) -> list[str]:
    """The ids of the things that a session names anywhere: by a parameter of any name whose value, at any depth, is an
    id or a name or has an id among its words, and by the words of its task."""
    if not scene.objects:
        return []
    found = things_in({name: value for name, value in request.params.items() if name not in REMARKS}, scene)
    for words in (*(request.params.get(name) for name in WORDS), request.words):
        found += things_named(words, scene) if isinstance(words, str) else []
    return [*dict.fromkeys(found)]


def things_in(params: Mapping[str, object], scene: Scene) -> list[str]:
    """The ids of the things that parameters name at any depth: by an id or a name, or by an id among the words."""
    found, ids = list[str](), {thing.id for thing in (*scene.objects, *scene.furniture)}
    for text in islice(_texts(params), MOST_NAMED):
        found += _written(text.strip(), scene) or [id for id in _TOKENS.findall(text) if id in ids]
    return [*dict.fromkeys(found)]


def _texts(params: Mapping[str, object]) -> Iterator[str]:
    """The texts that parameters hold at any depth; one that holds itself is read once."""
    ahead: list[object] = [params]
    seen: set[int] = set()
    while ahead:
        one = ahead.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping | list | tuple) and id(one) not in seen:
            seen.add(id(one))
            ahead += one.values() if isinstance(one, Mapping) else one


def _refused(request: SkillRequest, place: str, expected: str, found: str) -> Finding:
    field = f"SESSIONS.md {request.job} {place}"
    return Finding("UNKNOWN_OBJECT", field, expected, found, coded("session.name_thing"), request.job)
