"""Why a step failed, for a person: one short clause, separate from the code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from worldfs.base.model import Finding, Lesson, Outcome, Scene, Thing

from . import planner_messages
from .scene_facts import immovable_ids

# (code, part of the field) → what it comes to, and whether the expectation says more; the first that fits
_SHORT: tuple[tuple[str, str, str, str, bool], ...] = (
    ("", "Max Reach", "out of reach", "够不着", True),
    ("", "Max Payload", "too heavy", "太重", True),
    ("", "Max Grip Width", "too wide for the gripper", "太宽，夹爪夹不住", True),
    ("", "Bounds", "outside the workspace", "在工作空间之外", True),
    ("UNKNOWN_OBJECT", "", "it is not in the scene", "它不在场景中", False),
    ("OP_NOT_IN_PROFILE", "", "this body has no such action", "这个机器人没有这个动作", False),
    ("REQUIRED_SENSOR_MISSING", "", "the sensor for it is missing", "缺少所需的传感器", False),
    ("CAMERA_UNAVAILABLE", "", "there is no camera to look with", "没有可用的相机", False),
    ("NOT_HOLDING", "", "nothing is in the gripper", "夹爪里没有东西", False),
    ("HOLDING", "", "something else is in the gripper", "夹爪里拿着别的东西", False),
    ("", "target_position", "nothing there to rest on, or no way to reach it", "那里没有可以放的地方，或够不着", False),
)
_COLLISION = re.compile(r"collision|contact|碰撞|接触", re.I)
_PAIR = re.compile(r"([\w.:]+)-([\w.:]+) \(\d")
LIMIT = 110


def collides(outcome: Outcome) -> bool:
    """Whether it was refused because of a present obstacle, which may move."""
    if any(not f.warning for f in outcome.findings):
        return any(_COLLISION.search(f"{f.field} {f.expected}") for f in outcome.findings if not f.warning)
    return bool(_COLLISION.search(outcome.message))


def obstructing_ids(outcome: Outcome, scene: Scene) -> tuple[str, ...]:
    """Ids of things that a refusal names as touched by the robot."""
    text = " ".join([outcome.message, *(f.found for f in outcome.findings)])
    named = [id for pair in _PAIR.findall(text) for id in pair]
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
    return clip(outcome.message or outcome.code)


def code(outcome: Outcome) -> str:
    refused = [f.code for f in outcome.findings if not f.warning]
    return outcome.code or (refused[0] if refused else "")


def note_reason(note: Lesson) -> str:
    """A lesson's first clause."""
    return clip(re.split(r"[;；] ?(?:expected|应为|also)", note.reason or note.rejection)[0])


def clip(text: str, limit: int = LIMIT) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rsplit(" ", 1)[0] + "…"


def finding_reason(found: Finding, zh: bool) -> str:
    if found.field == "EMBODIED.md":  # the robot has no profile at all: the shortest fix that helps
        return clip(f"{found.found}{'；' if zh else '; '}{found.fix}")
    for code, part, en, chinese, more in _SHORT:
        if code in ("", found.code) and part in found.field:
            detail = found.expected if more and _zh(found.expected) == zh and len(found.expected) < 60 else ""
            return clip((chinese if zh else en) + ((f"：{detail}" if zh else f": {detail}") if detail else ""))
    return clip(found.found)


def _zh(text: str) -> bool:
    return any("\u4e00" <= c <= "\u9fff" for c in text)


def _the(thing: Thing | None, scene: Scene, id: str, zh: bool) -> str:
    named = planner_messages.name(thing, "zh" if zh else "en", scene, id)
    return named if zh else f"the {named}"


def movable_among(ids: Sequence[str], scene: Scene) -> tuple[str, ...]:
    still = immovable_ids(scene)
    return tuple(id for id in ids if id not in still)
