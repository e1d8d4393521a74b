"""TASK.md compared with the measured world: the assertions of its goal, done rows and progress, and their verdicts.

No model is used. An assertion is parsed by the planner's grammar and judged by ENVIRONMENT.md; what the page cannot
show (a grasp that a later step has undone, a look) by the record of ended jobs. The others are unjudged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from worldfs.base.model import Finding, Lesson, Scene, Task, TaskStep
from worldfs.formats.task import Progress

from .planner import CommandIntent, Goal, RefusedIntent, holds, interpret
from .planner.goals import (
    POSE_GOALS,
    GestureGoal,
    GripperGoal,
    HoldingGoal,
    HomeGoal,
    InGoal,
    OnGoal,
    SeenGoal,
    subject,
)
from .planner.plan import lasting_goals
from .planner.scene_answers import fact
from .planner.task_text import goal_text

RecordedCheck = Callable[[str, str, str], bool]
""" (op, thing or name, support or ""): did such a job succeed?"""

Row = tuple[TaskStep, tuple[Goal, ...] | str | None]  # a done row, and what its words claim (`_goals`)

FALSE, UNJUDGED = "TASK_NOT_BORNE_OUT", "TASK_UNJUDGED"
_ASIDE_EN = re.compile(r"^set (.+) aside on (.+)$", re.I)


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
    zh = task.language == "zh"
    rows = [(step, _goals(step.action, scene)) for step in task.steps if step.status == "done"]
    claims = [_row(row, rows[n + 1 :], scene, happened, zh) for n, row in enumerate(rows)]
    if task.steps and task.goal and len(rows) == sum(s.status != "skipped" for s in task.steps) and rows:
        claims.append(_goal(task.goal, scene, zh, all(c.verdict == "true" for c in claims)))
    if progress is not None and (wrong := _progress(progress, task, zh)):
        claims.append(TaskAssertion("progress", progress.text, "false", wrong))
    return tuple(claims)


def _goals(text: str, scene: Scene) -> tuple[Goal, ...] | str | None:
    """The goals that the words assert; or why they cannot hold ("" none given); None where they cannot be parsed."""
    words = _ASIDE_EN.sub(r"put \1 on \2", text).replace("暂放", "放")
    intent = interpret(words, scene)
    if isinstance(intent, CommandIntent):
        return intent.goals
    return intent.reason if isinstance(intent, RefusedIntent) and intent.kind == "missing" else None


def _row(row: Row, later: Sequence[Row], scene: Scene, happened: RecordedCheck, zh: bool) -> TaskAssertion:
    step, goals = row
    where = f"{'第' if zh else 'row '}{step.id}{'行' if zh else ''}"
    if isinstance(goals, str):
        return TaskAssertion(where, step.action, "false", goals)
    if not goals:
        return TaskAssertion(where, step.action, "unjudged")
    after = [g for _, more in later if isinstance(more, tuple) for g in more]
    for goal in goals:
        if holds(goal, scene) or _record(goal, happened):
            continue
        handled = [g for g in after if subject(g) and subject(g) == subject(goal)]
        if isinstance(goal, HoldingGoal) and any(holds(g, scene) for g in handled):
            continue  # a thing placed by a later row was in the gripper before
        if handled or isinstance(
            goal, (*POSE_GOALS, HoldingGoal)
        ):  # a grasp passes: what was held may have been put down
            return TaskAssertion(where, step.action, "unjudged")
        return TaskAssertion(where, step.action, "false", _shown(goal, scene, zh))
    return TaskAssertion(where, step.action, "true", past=not all(holds(g, scene) for g in goals))


def _goal(text: str, scene: Scene, zh: bool, rows_true: bool) -> TaskAssertion:
    where = "目标" if zh else "goal"
    goals = _goals(text, scene)
    if isinstance(goals, str):
        return TaskAssertion(where, text, "false", goals)
    last = [g for g, lasts in zip(goals or (), lasting_goals(goals or ()), strict=True) if lasts]
    open_ = [g for g in last if not holds(g, scene)]
    if not last or all(isinstance(g, POSE_GOALS) for g in last):
        return TaskAssertion(where, text, "true" if rows_true and goals else "unjudged")
    for goal in open_:
        if not isinstance(goal, POSE_GOALS):
            return TaskAssertion(where, text, "false", _shown(goal, scene, zh), past=rows_true)
    return TaskAssertion(where, text, "true")


def _shown(goal: Goal, scene: Scene, zh: bool) -> str:
    language = "zh" if zh else "en"
    claimed = goal_text(goal, scene, language)
    now = fact(subject(goal), scene, language) if subject(goal) else ""
    not_so = f"“{claimed}”不成立" if zh else f"“{claimed}” does not hold"
    return f"{not_so}：{now}" if zh and now else f"{not_so}: {now}" if now else not_so


def _record(goal: Goal, happened: RecordedCheck) -> bool:
    match goal:
        case HoldingGoal(object=id):
            return happened("pick_up", id, "")
        case InGoal(object=id, container=support) | OnGoal(object=id, support=support):
            return happened("place", id, support)
        case SeenGoal(object=id):
            return happened("target_navigation", id, "")
        case HomeGoal():
            return happened("strategy", "home", "")
        case GripperGoal(state=state):
            return happened("strategy", "open_gripper" if state == "open" else "close_gripper", "")
        case GestureGoal(name=name):
            return happened("strategy", name, "")
        case _:
            return bool(subject(goal)) and happened("place", subject(goal), "")


def _progress(said: Progress, task: Task, zh: bool) -> str:
    done, total = sum(s.status == "done" for s in task.steps), len(task.steps)
    percent = round(100 * done / total) if total else 0
    if (said.done, said.total) == (done, total) and said.percent in (None, percent):
        return ""
    return f"表中 {total} 行有 {done} 行完成 ({percent}%)" if zh else f"{done} of {total} rows are done ({percent}%)"


def findings(claims: Sequence[TaskAssertion], language: str = "en") -> list[Finding]:
    """A finding for each false assertion, one warning for all unjudged ones."""
    zh = language.startswith("zh")
    found = []
    for claim in claims:
        if claim.verdict == "false":
            expected = f"ENVIRONMENT.md 中成立：{claim.text}" if zh else f"so in ENVIRONMENT.md: {claim.text}"
            fix = "改正这一行，或真正完成它" if zh else "correct what it says, or carry it out"
            found.append(Finding(FALSE, f"TASK.md {claim.where}", expected, claim.found, fix, warning=claim.past))
    open_ = [c for c in claims if c.verdict == "unjudged"]
    if open_:
        said = ("、" if zh else ", ").join(f"{c.where} “{c.text}”" for c in open_[:5])
        said += f" … (+{len(open_) - 5})" if len(open_) > 5 else ""
        expected = (
            "ENVIRONMENT.md 或任务记录能证明" if zh else "a claim that ENVIRONMENT.md or a job's record can bear out"
        )
        fix = "未经证实，不当作已完成" if zh else "unjudged: do not take it as done"
        found.append(Finding(UNJUDGED, "TASK.md", expected, said, fix, warning=True))
    return found


def lesson(claim: TaskAssertion, when: datetime, language: str = "en") -> Lesson:
    """The lesson of a false assertion."""
    zh = language.startswith("zh")
    return Lesson(
        title="TASK.md 的说法与世界不符" if zh else "TASK.md Claims What Is Not So",
        action=f"TASK.md {claim.where}: {claim.text}",
        reason=claim.found,
        rejection=f"TASK.md 校验失败 ({FALSE})" if zh else f"TASK.md validation failed ({FALSE})",
        fix="先看 ENVIRONMENT.md，再写“完成”" if zh else "look at ENVIRONMENT.md before a row is marked done",
        at=when.strftime("%Y-%m-%d %H:%M:%S"),
    )
