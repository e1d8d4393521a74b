"""Lessons: written from refusals and failures, found by search, applied before acting (000, search_lessons)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING

from worldfs.base.json_values import as_floats
from worldfs.base.measured_facts import condition_text
from worldfs.base.messages import coded, kept_text, render
from worldfs.base.messages.coded_text import vector_text
from worldfs.base.messages.message_rendering import render_finding
from worldfs.base.model import Finding, Lesson, Order, Outcome, Profile, Scene
from worldfs.base.order_parameters import AXES, GOAL, LABEL, OBJECT, POINT, REMARKS, given_parameter
from worldfs.base.standard_operations import EXECUTE_TEXT, LOOK, MOVE, PICK, PLACE
from worldfs.formats import lesson_terms
from worldfs.formats.prose import one_line

from . import parameters, refusals
from .lesson_conditions import is_so

if TYPE_CHECKING:
    from worldfs.notes import Passage, PassageIndex
    from worldfs.notes.embed import Embedder

_DEEDS = (
    (PICK, "lesson.pick"),
    (PLACE, "lesson.place"),
    (MOVE, "lesson.move"),
    (LOOK, "lesson.look"),
    (frozenset((EXECUTE_TEXT.name,)), "lesson.text_task"),
    (frozenset(("strategy",)), "lesson.strategy"),
)
# (code, last part of the field) → what the title says; the first that fits. No code: from the critic and the driver.
_TITLES = (
    ("", "Max Reach", "lesson.reach"),
    ("", "Max Payload", "lesson.payload"),
    ("", "Max Grip Width", "lesson.grip"),
    ("", "Min Grip Width", "lesson.small"),
    ("", "Workspace Bounds", "lesson.bounds"),
    ("UNKNOWN_OBJECT", "", "lesson.unknown_object"),
    ("OP_NOT_IN_PROFILE", "", "lesson.no_op"),
    ("REQUIRED_SENSOR_MISSING", "", "lesson.no_sensor"),
    ("SCHEMA_VALIDATION", "", "lesson.parameters"),
    ("HOLDING", "", "lesson.holding"),
    ("NOT_HOLDING", "", "lesson.not_holding"),
)


# -- making ----------------------------------------------------------------------------------------------------------


def note_for(order: Order, findings: Sequence[Finding], when: datetime | str, language: str = "en") -> Lesson:
    """The lesson of a refusal, in the specification's form; warnings are left out unless there is nothing else.

    Numbers, limits and fixes are the findings' own words.
    """
    refused = [f for f in findings if not f.warning] or list(findings)
    fixes = list(dict.fromkeys(f.fix for f in refused))
    said = [render_finding(f, language) for f in refused]
    written = "zh" if language.startswith("zh") else "en"
    return Lesson(
        title=render(_failed(order, _refusal(order, refused[0]) if refused else coded("lesson.refused")), language),
        action=action_text(order),
        reason=lesson_terms.reason(said, written),
        rejection=lesson_terms.rejection(said, written),
        fix=render(reduce(lambda one, more: coded("lesson.fixes", one=one, more=more), fixes), language)
        if fixes
        else "",
        condition=condition_text([f.condition for f in refused]),
        at=_at(when),
    )


def note_for_lost(order: Order, when: datetime | str, language: str = "en") -> Lesson:
    """The lesson of a job that was running when its worker ended: its progress is unknown."""
    return Lesson(
        render(coded("lesson.lost", deed=_deed(order)), language),
        action_text(order),
        render(coded("lesson.worker_ended"), language),
        render(coded("lesson.not_repeated"), language),
        render(coded("lesson.look_again"), language),
        at=_at(when),
    )


def note_for_failure(order: Order, outcome: Outcome, when: datetime | str, language: str = "en") -> Lesson:
    """The lesson of an attempt that failed: the driver's own words, its code, and what to try. It has no condition: the
    next attempt may succeed."""
    code = outcome.code or (outcome.cause.value.upper() if outcome.cause else "RUNTIME_ERROR")
    if outcome.findings:
        return replace(note_for(order, outcome.findings, when, language), condition="")
    return Lesson(
        title=render(_failed(order, _code_words(code)), language),
        action=action_text(order),
        reason=one_line(render(outcome.message, language)) or render(coded("lesson.no_reason"), language),
        rejection=render(coded("lesson.failed_executing", code=code), language),
        fix=render(coded("lesson.another_way"), language),
        at=_at(when),
    )


def action_text(order: Order) -> str:
    """The order in one line: op and main parameter, "pick_up apple_01" (000 LESSONS.md), then by name all others that
    it was given: "push book, direction left, distance 0.08"."""
    names, value = _main(order.op, order.params)
    said = f"{refusals.display_value(order.op)} {'' if value is None else _value_text(value)}".strip()
    more = {
        name: given
        for name, given in sorted(order.params.items())
        if name not in (*names, "robot_id", *REMARKS) and given is not None and given != value
    }
    return ", ".join((said, *(f"{refusals.display_value(name)} {_value_text(given)}" for name, given in more.items())))


def _value_text(value: object) -> str:
    return vector_text(as_floats(value)) if _numbers(value) else refusals.display_value(value)


def _failed(order: Order, what: str) -> str:
    return coded("lesson.failed", deed=_deed(order), what=what)


def _refusal(order: Order, finding: Finding) -> str:
    """What was wrong with the order, in the few words of a title."""
    if kept_text(finding.field, "robot.collision_check"):
        return coded("lesson.collision")
    part = finding.field.rpartition(" / ")[2]
    for code, last, title in _TITLES:
        if code in ("", finding.code) and last in ("", part):
            thing = coded("lesson.object") if order.op in PICK else coded("lesson.target")
            return coded(title, thing=thing)
    return _code_words(finding.code)


def _code_words(code: str) -> str:
    return coded("lesson.code_words", code=code, words=code.replace("_", " ").title())


def _deed(order: Order) -> str:
    deed = next((deed for ops, deed in _DEEDS if order.op in ops), "")
    return coded(deed) if deed else refusals.display_value(order.op)


def _at(when: datetime | str) -> str:
    return when if isinstance(when, str) else when.strftime("%Y-%m-%d %H:%M:%S")


def _main(op: str, params: dict[str, object]) -> tuple[Sequence[str], object]:
    """The main parameter: by which names it is given, and its value."""
    names = OBJECT if op in PICK else GOAL if op in PLACE else LABEL if op in LOOK else POINT if op in MOVE else ()
    names = (*names, "nl_task", "task", "name", "strategy")
    name, value = given_parameter(params, names)
    if value is None and all(parameters.number(params.get(axis)) for axis in AXES):
        return AXES, [params[axis] for axis in AXES]
    if value is None:
        name, value = next(((k, v) for k, v in params.items() if isinstance(v, str | int | float)), ("", None))
    return (name,), value


def _numbers(value: object) -> bool:
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(parameters.number(v) and -1e12 < v < 1e12 for v in value)


# -- applying -- -------------------------------------------------------------------------------------------------------


def avoid(notes: Sequence[Lesson], order: Order, scene: Scene, profile: Profile | None) -> Lesson | None:
    """The lesson that refuses this very order (same op, same parameters) while its condition is measured to hold in
    the scene and the profile of the order's robot, as it is now; or None.

    A lesson without a condition refuses nothing: what it tells is of its moment, such as a slip or an abort, or its
    writer did not say while what it holds. It advises.
    """
    wanted, node = _same_action(action_text(order)), order.node or only_robot(scene)
    for note in notes:
        if _same_action(_note_action(note)) == wanted and is_so(note.condition, scene, profile, node):
            return note
    return None


def only_robot(scene: Scene) -> str:
    """The id of the only robot; "" where there are several."""
    return scene.robots[0].robot_id if len(scene.robots) == 1 else ""


def _note_action(note: Lesson) -> str:
    given = note.extra.get("parameters")
    if isinstance(given, dict) and note.action and " " not in note.action:
        return action_text(Order("", "", note.action, given))
    return note.action


def _same_action(text: str) -> str:
    op, _, rest = one_line(text).casefold().partition(" ")
    return f"{op} {rest.removeprefix('to ').strip(' `')}"


# -- finding ---------------------------------------------------------------------------------------------------------


def search(
    notes: Sequence[Lesson],
    query: str,
    limit: int = 10,
    *,
    index: PassageIndex | None = None,
    revision: str = "",
    embedder: Embedder | None = None,
) -> list[tuple[Lesson, float]]:
    """`search_lessons`: the lessons that fit the query, best first, each with its score (> 0), by worldfs.notes.

    English words by their stem (reach finds "reaches", "reachable"), ids whole and in parts, Chinese by neighbouring
    signs. No match: []. Equal scores: the newer lesson first. `index` keeps the words of LESSONS.md; `revision` says of
    which content `notes` are.
    """
    from worldfs.notes import PassageIndex, search

    with index or PassageIndex() as kept:
        kept.keep("LESSONS.md", revision, lambda: [_passage(str(i), note) for i, note in enumerate(notes)])
        hits = search(kept, query, limit, embedder=embedder)
    return [(notes[int(hit.passage.id)], hit.score) for hit in hits]


def _passage(id: str, note: Lesson) -> Passage:
    from worldfs.notes import Passage

    rest = [value for value in note.extra.values() if isinstance(value, str)]
    text = "\n".join(part for part in (note.action, note.reason, note.fix, note.rejection, *rest) if part)
    return Passage(id, note.title, text, "LESSONS.md", note.at)
