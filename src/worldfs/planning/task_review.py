"""TASK.md compared with the measured world: the assertions of its goal, done rows and progress, and their verdicts.

No model is used. An assertion is parsed by the planner's grammar and judged by ENVIRONMENT.md; what the page cannot
show (a grasp that a later step has undone, a look) by the record of ended jobs. The others are unjudged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from worldfs.base.messages import CodedText, coded, render
from worldfs.base.messages.coded_text import LANGUAGES
from worldfs.base.model import Finding, Lesson, Scene, Task, TaskStep
from worldfs.formats.task import Progress

from .planner import CommandIntent, Goal, RefusedIntent, holds, interpret
from .planner.goal_stages import lasting_goals
from .planner.goals import (
    POSE_GOALS,
    AtGoal,
    GestureGoal,
    GripperGoal,
    HoldingGoal,
    HomeGoal,
    InGoal,
    OnGoal,
    SeenGoal,
    VisitGoal,
    subject,
)
from .planner.scene_sentences import fact
from .planner.task_text import goal_text

RecordedCheck = Callable[[str, str, str], bool]
""" (op, thing or name, support or ""): did such a job succeed?"""

Row = tuple[TaskStep, tuple[Goal, ...] | str | None]  # a done row, and what its words claim (`_goals`)

FALSE, UNJUDGED = "TASK_NOT_BORNE_OUT", "TASK_UNJUDGED"
_ASIDE_EN = re.compile(r"^set (.+) aside on (.+)$", re.I | re.S)


@dataclass(frozen=True, slots=True)
class TaskAssertion:
    """`verdict`: true | false | unjudged. `found`: what the world shows, if it is not true."""

    where: str  # "row 3" | "goal" | "progress"
    text: str
    verdict: str
    found: str = ""
    past: bool = False  # it was so by the record, and is no more


def no_record(op: str, word: str, support: str) -> bool:
    """The record of a world without one."""
    return False


def review(
    task: Task, scene: Scene, *, progress: Progress | None = None, happened: RecordedCheck = no_record
) -> tuple[TaskAssertion, ...]:
    """Every assertion of the page. Rows that are not done, and a goal with such rows, assert nothing."""
    done = [step for step in task.steps if step.status == "done"]
    rows = [(step, _goals(step.action or step.id, scene, _robot(step, scene))) for step in done]
    claims = [_row(row, rows[n + 1 :], scene, happened) for n, row in enumerate(rows)]
    if task.steps and task.goal and len(rows) == sum(s.status != "skipped" for s in task.steps) and rows:
        claims.append(_goal(task.goal, scene, all(c.verdict == "true" for c in claims)))
    if progress is not None and (wrong := _progress(progress, task)):
        claims.append(TaskAssertion("progress", progress.text, "false", wrong))
    return tuple(claims)


def _robot(step: TaskStep, scene: Scene) -> str:
    """The robot that the row names as its device; "": it names none, so that of any robot counts."""
    return step.target if scene.robot(step.target) is not None else ""


def _goals(text: str, scene: Scene, robot: str = "") -> tuple[Goal, ...] | str | None:
    """The goals that the words assert; or why they cannot hold ("" none given); None where they cannot be parsed, and
    where what they name may be an entry that cannot be read."""
    words = _ASIDE_EN.sub(r"put \1 on \2", text).replace("暂放", "放")
    intent = interpret(words, scene, robot_id=robot)
    if isinstance(intent, CommandIntent):
        return intent.goals
    if isinstance(intent, RefusedIntent) and intent.kind == "missing" and not scene.unread:
        return intent.reason
    return None


def _row(row: Row, later: Sequence[Row], scene: Scene, happened: RecordedCheck) -> TaskAssertion:
    (step, goals), robot = row, _robot(row[0], scene)
    where, words = coded("lesson.row", id=step.id), step.action or step.id  # a table may have no column of actions
    if isinstance(goals, str):
        return TaskAssertion(where, words, "false", goals)
    if not goals:
        return TaskAssertion(where, step.action or coded("lesson.no_action"), "unjudged")
    after = [g for _, more in later if isinstance(more, tuple) for g in more]
    for goal in goals:
        if holds(goal, scene, robot) or _record(goal, happened):
            continue
        handled = [g for g in after if subject(g) and subject(g) == subject(goal)]
        if isinstance(goal, HoldingGoal) and any(holds(g, scene, robot) for g in handled):
            continue  # a thing placed by a later row was in the gripper before
        if handled or isinstance(
            goal, (*POSE_GOALS, HoldingGoal)
        ):  # a grasp passes: what was held may have been put down
            return TaskAssertion(where, words, "unjudged")
        return TaskAssertion(where, words, "false", _shown(goal, scene))
    return TaskAssertion(where, words, "true", past=not all(holds(g, scene, robot) for g in goals))


def _goal(text: str, scene: Scene, rows_true: bool) -> TaskAssertion:
    where = coded("lesson.goal")
    goals = _goals(text, scene)
    if isinstance(goals, CodedText) and goals.code == "planner.no_history":  # an undo: only its rows say of what
        return TaskAssertion(where, text, "true" if rows_true else "unjudged")
    if isinstance(goals, str):
        return TaskAssertion(where, text, "false", goals)
    last = [g for g, lasts in zip(goals or (), lasting_goals(goals or ()), strict=True) if lasts]
    open_ = [g for g in last if not holds(g, scene)]
    if not last or all(isinstance(g, POSE_GOALS) for g in last):
        return TaskAssertion(where, text, "true" if rows_true and goals else "unjudged")
    for goal in open_:
        if not isinstance(goal, POSE_GOALS):
            return TaskAssertion(where, text, "false", _shown(goal, scene), past=rows_true)
    return TaskAssertion(where, text, "true")


def _shown(goal: Goal, scene: Scene) -> str:
    claimed = goal_text(goal, scene)
    if not subject(goal):
        return coded("lesson.not_so", claimed=claimed)
    now = coded("planner.named", **{language: fact(subject(goal), scene, language) for language in LANGUAGES})
    return coded("lesson.not_so_but", claimed=claimed, now=now)


def _record(goal: Goal, happened: RecordedCheck) -> bool:
    match goal:
        case HoldingGoal(object=id):
            return happened("pick_up", id, "")
        case InGoal(object=id, container=support) | OnGoal(object=id, support=support):
            return happened("place", id, support)
        case SeenGoal(object=id) | VisitGoal(object=id) | AtGoal(label=id) if id:
            return happened("target_navigation", id, "")
        case HomeGoal():
            return happened("strategy", "home", "")
        case GripperGoal(state=state):
            return happened("strategy", "open_gripper" if state == "open" else "close_gripper", "")
        case GestureGoal(name=name):
            return happened("strategy", name, "")
        case _:
            return bool(subject(goal)) and happened("place", subject(goal), "")


def _progress(said: Progress, task: Task) -> str:
    done, total = sum(s.status == "done" for s in task.steps), len(task.steps)
    percent = round(100 * done / total) if total else 0
    if (said.done, said.total) == (done, total) and said.percent in (None, percent):
        return ""
    return coded("lesson.rows_done", done=done, total=total, percent=percent)


def findings(claims: Sequence[TaskAssertion]) -> list[Finding]:
    """A finding for each false assertion, one warning for all unjudged ones."""
    found = []
    for claim in claims:
        if claim.verdict == "false":
            where, expected = coded("lesson.task_at", where=claim.where), coded("lesson.so_there", text=claim.text)
            fix = coded("lesson.correct_row")
            found.append(Finding(FALSE, where, expected, claim.found, fix, warning=claim.past))
    open_ = [c for c in claims if c.verdict == "unjudged"]
    if open_:
        said: object = [coded("lesson.claim", where=c.where, text=c.text) for c in open_[:5]]
        text = coded("lesson.more", said=said, n=len(open_) - 5) if len(open_) > 5 else coded("lesson.all", said=said)
        fix = coded("lesson.unjudged")
        found.append(Finding(UNJUDGED, "TASK.md", coded("lesson.provable"), text, fix, warning=True))
    return found


def lesson(claim: TaskAssertion, when: datetime, language: str = "en") -> Lesson:
    """The lesson of a false assertion."""
    return Lesson(
        title=render(coded("lesson.claims_false"), language),
        action=f"{render(coded('lesson.task_at', where=claim.where), language)}: {claim.text}",
        reason=render(claim.found, language),
        rejection=render(coded("lesson.task_refused", code=FALSE), language),
        fix=render(coded("lesson.look_before"), language),
        at=when.strftime("%Y-%m-%d %H:%M:%S"),
    )
