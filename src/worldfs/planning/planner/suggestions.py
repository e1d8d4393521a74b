"""Suggested commands for this robot and scene: sentences that are understood and whose plan is feasible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from worldfs.base.model import Profile, Scene, Thing

from . import thing_names
from .goal_stages import stages
from .goals import ClearedGoal
from .instruction_parser import interpret
from .intent import CommandIntent
from .plan import build_plan
from .plan_constraints import PlanConstraints
from .planned_actions import goes_to_places
from .scene_facts import containers, movable, sanitized_scene
from .vocabulary import Vocabulary

MOST = 6  # things tried for one kind of sentence
MOST_PLANNED = 12  # things moved in all plans of one kind of sentence: after that only the first is tried

FORMS = {
    "en": (
        ("clear the table",),
        ("put {thing} in {box}",),
        ("pick up {thing}",),
        ("stack the cubes", "stack the blocks"),
        ("sort the objects by colour",),
        ("look at {thing}",),
        ("go home",),
        ("put everything in {box} except {thing}",),
    ),
    "zh": (
        ("收拾桌子",),
        ("把{thing}放进{box}里",),
        ("拿起{thing}",),
        ("把方块叠起来", "把积木叠起来"),
        ("按颜色分类",),
        ("看看{thing}",),
        ("回家",),
        ("除了{thing}，把所有东西放进{box}",),
    ),
}
VISITS = {"en": (("go to {place}",),), "zh": (("去{place}",),)}  # of a robot that goes to places itself


def suggestions(scene: Scene, language: str, profile: Profile | None = None, robot_id: str = "") -> tuple[str, ...]:
    """The first of each kind that would be carried out from here; "go home" if there is nothing else."""
    found, vocabulary = [], Vocabulary(sanitized_scene(scene))
    for forms in (*VISITS[language], *FORMS[language]) if goes_to_places(profile) else FORMS[language]:
        planned = 0
        for said in _filled(forms, scene, language):
            intent = interpret(said, scene, profile=profile, robot_id=robot_id, vocabulary=vocabulary)
            if not isinstance(intent, CommandIntent) or not intent.goals:
                continue
            size = _size(intent, scene)
            if planned and planned + size > MOST_PLANNED:  # a plan of all things takes long, and ends as the first did
                break
            planned += size
            if _feasible(intent, scene, profile, robot_id):
                found.append(said)
                break
    return tuple(found) or (thing_names.HOME[language],)


def _filled(forms: tuple[str, ...], scene: Scene, language: str) -> Iterator[str]:
    def called(them: Iterable[Thing]) -> list[str]:
        names = (thing_names.name(thing, language, scene) for thing in them)
        return [name if language == "zh" else thing_names.the(name) for name in names]

    things, boxes = called(movable(scene)[:MOST]), called(containers(scene)[:2])
    places = called([t for t in scene.furniture if t.category != "wall"][:MOST])
    for form in forms:
        for thing in things if "{thing}" in form else [""]:
            for box in boxes if "{box}" in form else [""]:
                for place in places if "{place}" in form else [""]:
                    yield form.format(thing=thing, box=box, place=place)


def _size(intent: CommandIntent, scene: Scene) -> int:
    """How many things a plan may move; a table that is cleared counts for all things."""
    clears = any(isinstance(goal, ClearedGoal) for goal in intent.goals)
    return len(movable(scene)) if clears else len(intent.goals)


def _feasible(intent: CommandIntent, scene: Scene, profile: Profile | None, robot_id: str) -> bool:
    limits = PlanConstraints(intent.protected)
    plan = build_plan(stages(intent.goals), scene, profile=profile, robot_id=robot_id, limits=limits)
    return bool(plan.actions) and not plan.unmet
