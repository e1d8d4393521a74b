"""Why a step failed, for a person: one short clause, separate from the code."""

from __future__ import annotations

from collections.abc import Sequence

from worldfs.base.messages import parts, render
from worldfs.base.messages.message_rendering import render_finding
from worldfs.base.model import Finding, Lesson, Outcome, Scene, Thing
from worldfs.formats import lesson_terms

from . import planner_messages
from .scene_facts import immovable_ids

# (code, last part of the field) → what it comes to, and whether the expectation says more; the first that fits
_SHORT: tuple[tuple[str, str, str, str, bool], ...] = (
    ("", "Max Reach", "out of reach", "够不着", True),
    ("", "Max Payload", "too heavy", "太重", True),
    ("", "Max Grip Width", "too wide for the gripper", "太宽，夹爪夹不住", True),
    ("", "Workspace Bounds", "outside the workspace", "在工作空间之外", True),
    ("UNKNOWN_OBJECT", "", "it is not in the scene", "它不在场景中", False),
    ("OP_NOT_IN_PROFILE", "", "this body has no such action", "这个机器人没有这个动作", False),
    ("REQUIRED_SENSOR_MISSING", "", "the sensor for it is missing", "缺少所需的传感器", False),
    ("CAMERA_UNAVAILABLE", "", "there is no camera to look with", "没有可用的相机", False),
    ("NOT_HOLDING", "", "nothing is in the gripper", "夹爪里没有东西", False),
    ("HOLDING", "", "something else is in the gripper", "夹爪里拿着别的东西", False),
    (
        "",
        "ACTION.md params.target_position",
        "nothing there to rest on, or no way to reach it",
        "那里没有可以放的地方，或够不着",
        False,
    ),
)
_OBSTACLE = frozenset(
    ("robot.collision_check", "robot.what_rests", "robot.no_free_way", "robot.no_free_way_home", "robot.no_free_view",
     "robot.no_constrained_way")
)  # fmt: skip
LIMIT = 110


def collides(outcome: Outcome) -> bool:
    """Whether it was refused because of a present obstacle, which may move."""
    refused = [f.field for f in outcome.findings if not f.warning] or [outcome.message]
    return any(part.code in _OBSTACLE for text in refused for part in parts(text))


def obstructing_ids(outcome: Outcome, scene: Scene) -> tuple[str, ...]:
    """Ids of things that a refusal names as touched by the robot."""
    said = [part for text in (outcome.message, *(f.found for f in outcome.findings)) for part in parts(text)]
    named = [id for part in said if part.code == "robot.contact" for id in (part.args["one"], part.args["other"])]
    return tuple(dict.fromkeys(id for id in named if scene.thing(id) is not None))


def short_reason(outcome: Outcome, scene: Scene, language: str, about: str = "") -> str:
    """One clause of at most `LIMIT` signs; "" without any. `about`: the thing handled."""
    zh = language == "zh"
    if collides(outcome):
        names = [_the(scene.thing(id), scene, id, zh) for id in obstructing_ids(outcome, scene) if id != about]
        if zh:
            return f"机器人会碰到{'和'.join(names)}" if names else "没有不碰撞的路径"
        return f"the robot would hit {' and '.join(names)}" if names else "no way there that is free of collision"
    refused = [f for f in outcome.findings if not f.warning]
    if refused:
        return finding_reason(refused[0], zh)
    return clip(render(outcome.message, language) or outcome.code)


def code(outcome: Outcome) -> str:
    refused = [f.code for f in outcome.findings if not f.warning]
    return outcome.code or (refused[0] if refused else "")


def note_reason(note: Lesson) -> str:
    """A lesson's first clause."""
    return clip(lesson_terms.first_clause(note))


def clip(text: str, limit: int = LIMIT) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rsplit(" ", 1)[0] + "…"


def finding_reason(finding: Finding, zh: bool) -> str:
    found = render_finding(finding, "zh" if zh else "en")
    if found.field == "EMBODIED.md":  # the robot has no profile at all: the shortest fix that helps
        return clip(f"{found.found}{'；' if zh else '; '}{found.fix}")
    part = found.field.rpartition(" / ")[2]
    for code, last, en, chinese, more in _SHORT:
        if code in ("", found.code) and last in ("", part):
            detail = found.expected if more and len(found.expected) < 60 else ""
            return clip((chinese if zh else en) + ((f"：{detail}" if zh else f": {detail}") if detail else ""))
    return clip(found.found)


def _the(thing: Thing | None, scene: Scene, id: str, zh: bool) -> str:
    named = planner_messages.name(thing, "zh" if zh else "en", scene, id)
    return named if zh else f"the {named}"


def movable_among(ids: Sequence[str], scene: Scene) -> tuple[str, ...]:
    still = immovable_ids(scene)
    return tuple(id for id in ids if id not in still)
