"""The sentence that ends a plan, in the language of the instruction: what held, what cannot be, what is left undone."""

from __future__ import annotations

from collections.abc import Sequence

from worldfs.base.messages import coded, render
from worldfs.base.model import Scene

from . import failure_reasons, task_text, thing_names
from .centre_spot import AT_CENTRE_M, distance_to_centre, in_the_middle
from .goals import CentreGoal, ClearedGoal, Goal
from .plan_report import GoalResult
from .scene_facts import layout, movable, obstacles

Unmet = Sequence[tuple[Goal, str]]  # goals, each with the reason why it cannot be reached


def nothing_to_do(
    goals: Sequence[Goal], scene: Scene, language: str, spared: Sequence[str] = (), emptied: Sequence[str] = ()
) -> str:
    """Names what holds already, the whole before its parts. `spared`: what must not be touched."""
    if spared and not goals:
        return render(coded("planner.none_spared", names=thing_names.names(spared, scene, language)), language)
    whole = [g for g in goals if isinstance(g, ClearedGoal)] or goals
    texts = list(
        dict.fromkeys(_off_centre(g, scene, language) or task_text.state_text(g, scene, language) for g in whole)
    )
    what = ("、" if language == "zh" else ", ").join(texts[:3]) + ("…" if len(texts) > 3 else "")
    if emptied and not texts:
        what = coded("planner.is_emptied", names=[thing_names.named(id, scene) for id in emptied])
    return render(coded("planner.nothing", what=what) if what else coded("planner.none"), language)


def done(goals: Sequence[Goal], scene: Scene, language: str) -> str:
    """With how far from the middle each thing is that other things keep from it."""
    far = filter(None, (_off_centre(goal, scene, language) for goal in dict.fromkeys(goals)))
    return _signs(language)[2].join((render(coded("planner.done"), language), *far))


def _off_centre(goal: Goal, scene: Scene, language: str) -> str:
    """How far from the middle a thing is that is to be there, and what is there; "" for one that is in the middle."""
    if not isinstance(goal, CentreGoal):
        return ""
    thing, surface = scene.thing(goal.object), scene.thing(goal.support)
    away = distance_to_centre(thing, surface) if thing is not None and surface is not None else 0.0
    if thing is None or surface is None or not away > AT_CENTRE_M:
        return ""
    now = {t.id: t for t in movable(scene)}
    there = in_the_middle(thing, surface, obstacles(scene, now, layout(scene), thing.id))
    name, where, *others = (thing_names.named(one.id, scene) for one in (thing, surface, *there))
    return render(coded("planner.off_centre", name=name, where=where, cm=100 * away, others=others), language)


def infeasible(unmet: Unmet, told: Sequence[str], scene: Scene, language: str) -> str:
    """Each impossible goal with its reason. `told`: what lessons say of it."""
    by_why: dict[str, list[str]] = {}
    for goal, why in unmet:
        by_why.setdefault(reason_text(why, language), []).append(render(task_text.goal_text(goal, scene), language))
    comma, colon, semicolon = _signs(language)
    said = semicolon.join(comma.join(dict.fromkeys(texts)) + colon + why for why, texts in by_why.items())
    return render(coded("planner.infeasible", what=semicolon.join((said, *told))), language)


def left_undone(
    judged: Sequence[GoalResult],
    reason: str,
    unmet: Unmet,
    *,
    lessons: Sequence[str],
    codes: Sequence[str],
    language: str,
) -> str:
    """What does not hold, why, and the lessons; codes in brackets at the end."""
    by_why: dict[str, list[str]] = {}
    for j in judged:
        if not j.held:
            by_why.setdefault(j.why, []).append(j.text)
    comma, colon, semicolon = _signs(language)
    missing = semicolon.join(comma.join(texts) + (colon + why if why else "") for why, texts in by_why.items())
    goals = {j.goal for j in judged}
    lost = [said for g, why in unmet if g not in goals and (said := reason_text(why, language)) not in by_why]
    left = render(coded("planner.unmet", what=missing), language)
    said = semicolon.join(filter(None, (left, "" if reason in by_why else reason, *dict.fromkeys(lost))))
    if lessons:
        said += render(coded("planner.noted", titles=comma.join(dict.fromkeys(lessons))), language)
    return with_codes(said, codes)


def with_codes(said: str, codes: Sequence[str]) -> str:
    return f"{said} [{', '.join(dict.fromkeys(codes))}]" if codes else said


def reason_text(why: str, language: str) -> str:
    return failure_reasons.clip(render(why, language))


def _signs(language: str) -> tuple[str, str, str]:
    """Comma, colon, semicolon."""
    return ("、", "：", "；") if language == "zh" else (", ", ": ", "; ")
