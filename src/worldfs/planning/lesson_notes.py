"""Lessons: written from refusals and failures, found by search, applied before acting (000, search_lessons)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from worldfs.base.json_values import as_floats
from worldfs.base.messages import kept_text, render
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
    (PICK, ("Grasp", "抓取")),
    (PLACE, ("Place", "放置")),
    (MOVE, ("Move", "移动")),
    (LOOK, ("Navigation", "导航")),
    (frozenset((EXECUTE_TEXT.name,)), ("ReKep Task", "ReKep 任务")),
    (frozenset(("strategy",)), ("Strategy", "策略")),
)
_COLLISION = ("Collision in the Way", "路径会碰撞")
_OBSTACLE_FIELDS = ("robot.collision_check", "robot.what_rests")
# (code, last part of the field) → what the title says; the first that fits. No code: from the critic and the driver.
_TITLES = (
    ("", "Max Reach", "{thing} Out of Reach", "{thing}超出臂展"),
    ("", "Max Payload", "Object Too Heavy", "物体过重"),
    ("", "Max Grip Width", "Object Too Wide", "物体过宽"),
    ("", "Workspace Bounds", "{thing} Out of Workspace", "{thing}超出工作空间"),
    ("UNKNOWN_OBJECT", "", "Unknown Object", "未知物体"),
    ("OP_NOT_IN_PROFILE", "", "Action Not Supported", "动作不受支持"),
    ("REQUIRED_SENSOR_MISSING", "", "Sensor Missing", "缺少传感器"),
    ("SCHEMA_VALIDATION", "", "Invalid Parameters", "参数无效"),
    ("HOLDING", "", "Gripper Not Free", "夹爪已有物体"),
    ("NOT_HOLDING", "", "Nothing in the Gripper", "夹爪中没有物体"),
)
# A lesson of these describes a passing state, not the order; so does one of a timeout.
_PASSING = frozenset(
    ("LOST", "CANCELLED", "DEPENDENCY_FAILED", "ID_REUSED", "ID_DUPLICATE", "NODE_MISMATCH", "HOLDING", "NOT_HOLDING",
     "CAMERA_UNAVAILABLE", "NO_INTERPRETER")
)  # fmt: skip
MOVED = 0.01  # m: a lesson does not apply if the thing or the base has moved farther than this


# -- making ----------------------------------------------------------------------------------------------------------


def note_for(order: Order, findings: Sequence[Finding], when: datetime | str, language: str = "en") -> Lesson:
    """The lesson of a refusal, in the specification's form; warnings are left out unless there is nothing else.

    Numbers, limits and fixes are the findings' own words.
    """
    zh = language.startswith("zh")
    refused = [render_finding(f, language) for f in [f for f in findings if not f.warning] or findings]
    return Lesson(
        title=_title(order, refused[0] if refused else None, zh),
        action=action_text(order),
        reason=lesson_terms.reason(refused, "zh" if zh else "en"),
        rejection=lesson_terms.rejection(refused, "zh" if zh else "en"),
        fix=("；" if zh else "; ").join(dict.fromkeys(f.fix for f in refused)),
        at=_at(when),
    )


def note_for_lost(order: Order, when: datetime | str, language: str = "en") -> Lesson:
    """The lesson of a job that was running when its worker ended: its progress is unknown."""
    if language.startswith("zh"):
        return Lesson(
            f"{_deed(order, True)}中断：结果未知",
            action_text(order),
            "执行过程中程序终止，动作完成到何种程度未知",
            "未重新执行 (LOST)",
            "先重新观测场景，再决定是否重新下达",
            at=_at(when),
        )
    return Lesson(
        f"{_deed(order, False)} Lost: Outcome Unknown",
        action_text(order),
        "the worker ended while the action was running; how far it came is unknown",
        "not repeated (LOST)",
        "look at the scene again, then give the order anew if it is still wanted",
        at=_at(when),
    )


def note_for_failure(order: Order, outcome: Outcome, when: datetime | str, language: str = "en") -> Lesson:
    """The lesson of an attempt that failed: the driver's own words, its code, and what to try."""
    zh = language.startswith("zh")
    code = outcome.code or (outcome.cause.value.upper() if outcome.cause else "RUNTIME_ERROR")
    if outcome.findings:
        return note_for(order, outcome.findings, when, language)
    words = code.replace("_", " ").title()
    return Lesson(
        title=f"{_deed(order, zh)}失败：{code}" if zh else f"{_deed(order, zh)} Failed: {words}",
        action=action_text(order),
        reason=one_line(render(outcome.message, language)) or ("驱动未说明原因" if zh else "the driver gave no reason"),
        rejection=f"执行失败 ({code})" if zh else f"failed while executing ({code})",
        fix="重新观测场景后换一种方式再试" if zh else "observe the scene again and try another way",
        at=_at(when),
    )


def action_text(order: Order) -> str:
    """The order in one line: op and main parameter, "pick_up apple_01" (000 LESSONS.md)."""
    value = _main(order.op, order.params)
    text = "" if value is None else refusals.display_value(value)
    text = refusals.vector(as_floats(value)) if _numbers(value) else text
    return f"{refusals.display_value(order.op)} {text}".strip()


def _title(order: Order, finding: Finding | None, zh: bool) -> str:
    thing = ("物体" if zh else "Object") if order.op in PICK else ("目标" if zh else "Target")
    what = "未通过审查" if zh else "Refused by the Critic"
    if finding is not None:
        what = finding.code if zh else finding.code.replace("_", " ").title()
        part = finding.field.rpartition(" / ")[2]
        for code, last, english, chinese in _TITLES:
            if code in ("", finding.code) and last in ("", part):
                what = (chinese if zh else english).format(thing=thing)
                break
        if kept_text(finding.field, "robot.collision_check"):
            what = _COLLISION[zh]
    return f"{_deed(order, zh)}失败：{what}" if zh else f"{_deed(order, zh)} Failed: {what}"


def _deed(order: Order, zh: bool) -> str:
    words = next((words for ops, words in _DEEDS if order.op in ops), None)
    return words[zh] if words else refusals.display_value(order.op)


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
    return note.title.endswith(_COLLISION) or any(
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
