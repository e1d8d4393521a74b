"""The judge: runs one case and says whether what was done, asked or answered is what a careful person would do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Final

from worldfs.base.model import Profile, Scene
from worldfs.base.stop_signal import StopSignal
from worldfs.formats import embodied
from worldfs.planning.planner import Intent, QuestionIntent, RefusedIntent, interpret
from worldfs.planning.planner.plan_executor import PlanExecutor

from .applied_orders_port import AppliedOrdersPort
from .generator import ROBOT, TABLE, Case
from .labels import folded
from .truth import BESIDE, HELD, LEFT_OF, RIGHT_OF, Answer, End

BESIDE_GAP_M: Final = 0.15
SIDE_GAP_M: Final = 0.3
_NUMBERS: Final = {
    "no": 0, "none": 0, "nothing": 0, "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "没有": 0,
    "无": 0, "零": 0, "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5,
}  # fmt: skip
_NUMBER: Final = re.compile(r"\d+|\b(?:no|none|nothing|zero|one|two|three|four|five)\b|没有|[无零一两二三四五]")
_NO: Final = re.compile(r"\b(?:no|none|nothing|not|never|cannot|isn't|don't)\b|没|不|无")
_YES: Final = re.compile(r"\byes\b|^ ?(?:是|对|在)")
_NONE_HERE: Final = re.compile(r"\bthere (?:is|are) no\b|这里没有")
_DECIMAL: Final = re.compile(r"\d+\.\d+")
_SPACE: Final = re.compile(r"\([-\d. ]*\)")


class Verdict(StrEnum):
    """`NEEDLESS`: a question or refusal where the meaning was certain. `UNTRUE`: an answer or a "done" that is not."""

    RIGHT = "right"
    NEEDLESS = "needless"
    WRONG = "wrong"
    UNTRUE = "untrue"


@dataclass(frozen=True, slots=True)
class Tried:
    """What was done: which things moved, in order, where everything was at the end, and the reply."""

    touched: tuple[str, ...]
    after: Scene
    reply: str
    ok: bool
    question: bool
    refused: bool


@dataclass(frozen=True, slots=True)
class Judged:
    case: Case
    tried: Tried
    verdict: Verdict
    asked_well: bool = True  # a question where only asking is right names every candidate


@cache
def profile() -> Profile:
    return embodied.read(resources.files("worldfs").joinpath("profiles", "franka_panda.md").read_bytes())


def attempt(case: Case) -> Tried:
    """The planner on the case, at the level of submitted orders. As `Planner.run`, without suggestions."""
    port = AppliedOrdersPort(case.scene(), profile(), ROBOT, case.language)
    scene = port.scene()
    intent: Intent = interpret(case.text, scene, port.earlier, profile=profile(), robot_id=ROBOT)
    if isinstance(intent, QuestionIntent):
        return Tried((), scene, intent.answer, intent.answered, True, False)
    if isinstance(intent, RefusedIntent):
        return Tried((), scene, intent.reason, False, False, True)
    report = PlanExecutor(port, intent, StopSignal()).run(scene)
    return Tried(tuple(port.touched), port.scene(), report.reason, report.ok, False, False)


def judge(case: Case, tried: Tried) -> Judged:
    verdict = _verdict(case, tried)
    if not case.truth.must_ask or verdict is not Verdict.RIGHT:
        return Judged(case, tried, verdict)
    named = {i.id for i in _named(case, tried.reply)} | {i.id for i in case.things if i.id in tried.reply}
    return Judged(case, tried, verdict, case.truth.candidates <= named)


def run(case: Case) -> Judged:
    return judge(case, attempt(case))


def _verdict(case: Case, tried: Tried) -> Verdict:
    truth = case.truth
    if truth.answer is not None:
        return Verdict.WRONG if tried.touched else _answered(case, tried, truth.answer)
    if not tried.touched:
        if tried.ok and not tried.question:
            already = any(_reached(end, tried.after) for end in truth.ends)
            return Verdict.RIGHT if already else Verdict.UNTRUE
        held_back = not tried.question and (truth.ask or truth.must_ask)
        return Verdict.RIGHT if held_back else Verdict.NEEDLESS
    allowed = [end for end in truth.ends if set(tried.touched) <= set(end)]
    if _out_of_order(tried.touched, truth.order):
        return Verdict.WRONG
    if any(_reached(end, tried.after) for end in allowed):
        return Verdict.RIGHT if tried.ok else Verdict.UNTRUE
    before = case.scene()
    if not any(_on_the_way(end, tried, before) for end in allowed):
        return Verdict.WRONG
    return Verdict.UNTRUE if tried.ok else Verdict.NEEDLESS


def _out_of_order(touched: Sequence[str], order: Sequence[str]) -> bool:
    first = [touched.index(id) for id in order if id in touched]
    return first != sorted(first)


def _reached(end: End, after: Scene) -> bool:
    return all(_is_at(id, places, after) for id, places in end.items())


def _on_the_way(end: End, tried: Tried, before: Scene) -> bool:
    """Whether each thing that moved is where it may be, in the hand, or where it was."""
    return all(
        _is_at(id, end[id], tried.after) or _is_at(id, frozenset({HELD}), tried.after)
        or _support(id, before) == _support(id, tried.after)
        for id in tried.touched
    )  # fmt: skip


def _support(id: str, scene: Scene) -> str:
    return next((r.object for r in scene.relations if r.subject == id), HELD)


def _is_at(id: str, places: frozenset[str], scene: Scene) -> bool:
    support = HELD if scene.robots[0].holding == id else _support(id, scene)
    if support in places:
        return True
    return any(_is_near(id, place, scene) for place in places)


def _is_near(id: str, place: str, scene: Scene) -> bool:
    """Whether a thing is beside another, or on a side of it: left is +y, as the robot looks along +x."""
    way = next((way for way in (BESIDE, LEFT_OF, RIGHT_OF) if place.startswith(way)), "")
    thing, other = scene.thing(id), scene.thing(place.removeprefix(way)) if way else None
    if thing is None or other is None or _support(id, scene) != _support(other.id, scene):
        return False
    dx, dy = (a - b for a, b in zip(thing.position[:2], other.position[:2], strict=True))
    apart = max(abs(dx), abs(dy)) - (thing.size[0] + other.size[0]) / 2
    if way == BESIDE:
        return apart <= BESIDE_GAP_M
    return apart <= SIDE_GAP_M and (dy if way == LEFT_OF else -dy) >= abs(dx)


# -- answers -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spoken:
    """A thing or place that a reply may name. Two of one name cannot be told apart by it."""

    id: str
    name: str


def _answered(case: Case, tried: Tried, answer: Answer) -> Verdict:
    """Whether the reply says what is so, by the names, numbers and words in it."""
    if tried.refused or not tried.ok:
        return Verdict.RIGHT if answer.none or case.truth.ask else Verdict.NEEDLESS
    said, rest = _said(case, tried.reply)
    if answer.asked and _NONE_HERE.search(tried.reply):
        return Verdict.UNTRUE
    if answer.none and _NO.search(rest):
        return Verdict.RIGHT
    named = {i.id for i in said} & {i.id for i in case.things}
    if answer.kind == "count" and named == answer.names and not _NUMBER.search(rest):
        return Verdict.NEEDLESS  # the things themselves, but not how many
    return Verdict.RIGHT if _ANSWERS[answer.kind](case, answer, said, rest) else Verdict.UNTRUE


def _where_is_true(case: Case, answer: Answer, said: list[Spoken], rest: str) -> bool:
    places = {i.id for i in case.places} | {TABLE.id}
    found = {i.id for i in said} & places
    return found == answer.names or (bool(found) and found - {TABLE.id} == answer.names)


def _list_is_true(case: Case, answer: Answer, said: list[Spoken], rest: str) -> bool:
    told = {folded(i.name) for i in said} & {folded(i.name.text) for i in case.things if i.id not in answer.about}
    return told == {folded(i.name.text) for i in case.things if i.id in answer.names}


def _count_is_true(case: Case, answer: Answer, said: list[Spoken], rest: str) -> bool:
    number = _NUMBER.search(rest)
    return (
        number is not None and _NUMBERS.get(number[0], int(number[0]) if number[0].isdigit() else -1) == answer.number
    )


def _yes_is_true(case: Case, answer: Answer, said: list[Spoken], rest: str) -> bool:
    yes, no = _YES.search(rest), _NO.search(rest)
    return (yes is not None and no is None) if answer.yes else (no is not None and yes is None)


def _which_is_true(case: Case, answer: Answer, said: list[Spoken], rest: str) -> bool:
    """The one thing alone; or the mass of each thing that is named, from which the one is plain."""
    mass = {i.id: i.mass for i in case.things}
    told = {i.id for i in said} & set(mass)
    if told == answer.names:
        return True
    return answer.names < told and _DECIMAL.findall(rest) == [f"{mass[i.id]:g}" for i in said if i.id in mass]


def _there_is_true(case: Case, answer: Answer, said: list[Spoken], rest: str) -> bool:
    """There is: yes, or the things are named, and nothing denies it. There is not: it is denied."""
    if answer.yes:
        return not _NO.search(rest) and (bool(said) or _YES.search(rest) is not None)
    return _NO.search(rest) is not None


_ANSWERS: Final[Mapping[str, Callable[[Case, Answer, list[Spoken], str], bool]]] = {
    "where": _where_is_true, "list": _list_is_true, "count": _count_is_true, "yes_no": _yes_is_true,
    "which": _which_is_true, "exists": _there_is_true,
}  # fmt: skip


def _said(case: Case, reply: str) -> tuple[list[Spoken], str]:
    """The things and places that the reply names, by longest match, and the rest of its words."""
    known = [Spoken(i.id, i.name.text) for i in (*case.things, *case.places)]
    known += [Spoken(TABLE.id, "table"), Spoken(TABLE.id, "桌子"), Spoken(TABLE.id, "桌")]
    by_text: dict[str, list[Spoken]] = {}
    for one in known:
        by_text.setdefault(folded(one.name), []).append(one)
        by_text.setdefault(folded(one.id), []).append(one)
    words = sorted(by_text, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<![a-z0-9]){re.escape(w)}(?![a-z0-9])" for w in words))
    found: list[Spoken] = []

    def take(match: re.Match[str]) -> str:
        found.extend(by_text[match[0]])
        return " · "

    text = folded(_SPACE.sub(" ", reply))
    return found, pattern.sub(take, text)


def _named(case: Case, reply: str) -> list[Spoken]:
    return _said(case, reply)[0]
