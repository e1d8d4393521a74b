"""Lessons: written from refusals and failures, found by search, applied before acting (000, search_lessons)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING

from worldfs.base.json_values import as_floats
from worldfs.base.messages import coded, kept_text, render
from worldfs.base.messages.coded_text import LANGUAGES
from worldfs.base.messages.message_rendering import render_finding
from worldfs.base.model import Finding, Lesson, Order, Outcome, Scene
from worldfs.base.standard_operations import EXECUTE_TEXT, LABEL, LOOK, MOVE, OBJECT, PICK, PLACE
from worldfs.formats import lesson_terms
from worldfs.formats.prose import one_line

from . import parameters, refusals
from .parameters import GOAL, POINT

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
_OBSTACLE_FIELDS = ("robot.collision_check", "robot.what_rests")
# (code, last part of the field) → what the title says; the first that fits. No code: from the critic and the driver.
_TITLES = (
    ("", "Max Reach", "lesson.reach"),
    ("", "Max Payload", "lesson.payload"),
    ("", "Max Grip Width", "lesson.grip"),
    ("", "Workspace Bounds", "lesson.bounds"),
    ("UNKNOWN_OBJECT", "", "lesson.unknown_object"),
    ("OP_NOT_IN_PROFILE", "", "lesson.no_op"),
    ("REQUIRED_SENSOR_MISSING", "", "lesson.no_sensor"),
    ("SCHEMA_VALIDATION", "", "lesson.parameters"),
    ("HOLDING", "", "lesson.holding"),
    ("NOT_HOLDING", "", "lesson.not_holding"),
)
# A lesson of these describes a passing state, not the order; so does one of a timeout.
_PASSING = frozenset(
    ("LOST", "CANCELLED", "DEPENDENCY_FAILED", "ID_REUSED", "ID_DUPLICATE", "NODE_MISMATCH", "HOLDING", "NOT_HOLDING",
     "HELD_ELSEWHERE", "CAMERA_UNAVAILABLE", "NO_INTERPRETER", "MODEL_CRITIC")
)  # fmt: skip
MOVED = 0.01  # m: a lesson does not apply if the thing or the base has moved farther than this


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
    """The lesson of an attempt that failed: the driver's own words, its code, and what to try."""
    code = outcome.code or (outcome.cause.value.upper() if outcome.cause else "RUNTIME_ERROR")
    if outcome.findings:
        return note_for(order, outcome.findings, when, language)
    return Lesson(
        title=render(_failed(order, _code_words(code)), language),
        action=action_text(order),
        reason=one_line(render(outcome.message, language)) or render(coded("lesson.no_reason"), language),
        rejection=render(coded("lesson.failed_executing", code=code), language),
        fix=render(coded("lesson.another_way"), language),
        at=_at(when),
    )


def action_text(order: Order) -> str:
    """The order in one line: op and main parameter, "pick_up apple_01" (000 LESSONS.md)."""
    value = _main(order.op, order.params)
    text = "" if value is None else refusals.display_value(value)
    text = refusals.vector(as_floats(value)) if _numbers(value) else text
    return f"{refusals.display_value(order.op)} {text}".strip()


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


def _main(op: str, params: dict[str, object]) -> object:
    names = OBJECT if op in PICK else GOAL if op in PLACE else LABEL if op in LOOK else POINT if op in MOVE else ()
    names = (*names, "nl_task", "task", "name", "strategy")
    value = parameters.given_parameter(params, names)[1]
    if value is None and all(parameters.number(params.get(axis)) for axis in "xyz"):
        return [params[axis] for axis in "xyz"]
    if value is None:
        value = next((v for v in params.values() if isinstance(v, str | int | float)), None)
    return value


def _numbers(value: object) -> bool:
    if not isinstance(value, list | tuple) or len(value) < 3:
        return False
    return all(parameters.number(v) and -1e12 < v < 1e12 for v in value[:3])


# -- applying -- -------------------------------------------------------------------------------------------------------


def avoid(notes: Sequence[Lesson], order: Order, scene: Scene | None = None) -> Lesson | None:
    """The lesson that says this very order fails (same op, same main parameter), or None.

    With a `scene`, a lesson whose facts no longer hold is none: the thing or the robot's base stands elsewhere now,
    the unknown object is known. Lessons of passing states (lost, timeout, full
    hand, a collision) never forbid.
    """
    wanted = _same_action(action_text(order))
    for note in notes:
        same = _same_action(_note_action(note)) == wanted and not _passing(note)
        if same and (scene is None or _still(note, order, scene)):
            return note
    return None


def _passing(note: Lesson) -> bool:
    codes = lesson_terms.codes(note)
    if codes & _PASSING or any(code.endswith("_TIMEOUT") for code in codes):
        return True
    # an obstacle of now may be gone by the next time
    return note.title.endswith(tuple(render(coded("lesson.collision"), language) for language in LANGUAGES)) or any(
        kept_text(section, field) for section in lesson_terms.sections(note) for field in _OBSTACLE_FIELDS
    )


def _note_action(note: Lesson) -> str:
    given = note.extra.get("parameters")
    if isinstance(given, dict) and note.action and " " not in note.action:
        return action_text(Order("", "", note.action, given))
    return note.action


def _same_action(text: str) -> str:
    op, _, rest = one_line(text).casefold().partition(" ")
    return f"{op} {rest.removeprefix('to ').strip(' `')}"


def _still(note: Lesson, order: Order, scene: Scene) -> bool:
    value = _main(order.op, order.params)
    thing = scene.thing(value) if isinstance(value, str) else None
    if thing is not None and "UNKNOWN_OBJECT" in lesson_terms.codes(note):
        return False
    robot = scene.robot(order.node)
    now = [thing.position if thing is not None else None, robot.pose if robot is not None else None]
    for then, present in zip(lesson_terms.positions(note), now, strict=False):
        if present is not None and len(present) >= 3 and not math.dist(then, present[:3]) <= MOVED:
            return False
    return True


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
