"""Words for TASK.md and progress: a step and its result, in English or Chinese."""

from __future__ import annotations

import math

from worldfs.base.json_values import as_list
from worldfs.base.model import Outcome, Scene

from . import failure_reasons, planned_actions, planner_messages
from .goals import (
    ApartGoal,
    AreaGoal,
    AtGoal,
    BesideGoal,
    ClearedGoal,
    DownGoal,
    GestureGoal,
    Goal,
    GripperGoal,
    HoldingGoal,
    HomeGoal,
    InGoal,
    OnGoal,
    PlacedGoal,
    SeenGoal,
    TowardGoal,
)
from .planned_actions import PlannedAction

GOALS: dict[type, tuple[str, str]] = {
    InGoal: ("{a} in {b}", "{a}在{b}里"),
    OnGoal: ("{a} on {b}", "{a}在{b}上"),
    BesideGoal: ("{a} beside {b}", "{a}在{b}旁边"),
    TowardGoal: ("{a} {side} {b}", "{a}在{b}{side}"),
    ApartGoal: ("{a} at least {m} m from {b}", "{a}离{b}至少 {m} 米"),
    GestureGoal: ("{name}", "{name}"),
    PlacedGoal: ("{a} at {p}", "{a}在 {p}"),
    AreaGoal: ("{a} in the {b} strip", "{a}在“{b}”区"),
    DownGoal: ("{a} put down", "{a}已放下"),
    HoldingGoal: ("{a} held", "拿着{a}"),
    SeenGoal: ("{a} seen", "看到{a}"),
    AtGoal: ("at {p}", "到达 {p}"),
    HomeGoal: ("at home", "回到原位"),
    GripperGoal: ("gripper {b}", "夹爪{b}"),
    ClearedGoal: ("{a} clear", "{a}已收拾干净"),
}


SIDES = {
    "left": ("left of", "左边"),
    "right": ("right of", "右边"),
    "front": ("in front of", "前面"),
    "behind": ("behind", "后面"),
}
GESTURES = {"wave": ("Wave", "挥手")}


def _name(id: str, scene: Scene, language: str) -> str:
    return planner_messages.name(scene.thing(id), language, scene, id)


def _numbers(values: object) -> str:
    return "[" + ", ".join(f"{v:g}" for v in values) + "]" if isinstance(values, (list, tuple)) else "?"


def goal_text(goal: Goal, scene: Scene, language: str = "en") -> str:
    a = getattr(goal, "object", "") or getattr(goal, "surface", "")
    other = next((getattr(goal, k) for k in ("container", "support", "other") if hasattr(goal, k)), "")
    b = _name(other, scene, language) if other else ""
    if isinstance(goal, AreaGoal):
        b = goal.label
    if isinstance(goal, GripperGoal):
        b = {"open": "张开", "closed": "闭合"}[goal.state] if language == "zh" else goal.state
    if isinstance(goal, (TowardGoal, ApartGoal)):
        b = _name(goal.other, scene, language)
    text = GOALS[type(goal)][language == "zh"]
    return text.format(
        a=_name(a, scene, language),
        b=b,
        p=_numbers(getattr(goal, "position", ())),
        m=f"{getattr(goal, 'least', 0.0):.2g}",
        side=SIDES[goal.label][language == "zh"] if isinstance(goal, TowardGoal) else "",
        name=GESTURES.get(goal.name, (goal.name,) * 2)[language == "zh"] if isinstance(goal, GestureGoal) else "",
    )


def state_text(goal: Goal, scene: Scene, language: str = "en") -> str:
    """A goal that holds, as a sentence: `the table is already clear`."""
    text = goal_text(goal, scene, language)
    if language == "zh":
        return text
    if isinstance(goal, (HomeGoal, AtGoal)):
        return f"the robot is already {text}"
    if isinstance(goal, GripperGoal):
        return f"the gripper is already {goal.state}"
    named = _name(getattr(goal, "object", "") or getattr(goal, "surface", ""), scene, language)
    return f"the {named} is already {text.removeprefix(named).strip()}" if text.startswith(named) else text


def step_text(action: PlannedAction, scene: Scene, language: str = "en") -> str:
    """`Grasp apple` · `抓取红苹果`."""
    zh = language == "zh"
    a, b = _name(action.object, scene, language), _name(action.to.of, scene, language)
    if action.op == planned_actions.PICK:
        return f"抓取{a}" if zh else f"Grasp {a}"
    if action.op == planned_actions.PLACE and not action.final:
        return f"将{a}暂放到{b}上" if zh else f"Set {a} aside on {b}"
    if action.op == planned_actions.PLACE and action.to.relation == "in":
        return f"将{a}放入{b}" if zh else f"Place {a} in {b}"
    if action.op == planned_actions.PLACE:
        return f"将{a}放到{b}上" if zh else f"Place {a} on {b}"
    if action.op == planned_actions.LOOK:
        return f"寻找{a}" if zh else f"Look at {a}"
    if action.op == planned_actions.MOVE:
        spot = _numbers(as_list(action.params["target_pose"])[:3])
        return f"移动到 {spot}" if zh else f"Move to {spot}"
    names = {"home": ("Go home", "回到原位"), "open_gripper": ("Open gripper", "张开夹爪"), **GESTURES}
    return names.get(str(action.params.get("name")), ("Close gripper", "闭合夹爪"))[zh]


def target_text(action: PlannedAction, scene: Scene, robot_id: str, language: str = "en") -> str:
    """The page's third column: the device in English (000), the state to reach in Chinese (001)."""
    if language != "zh":
        return robot_id
    a, b = action.object, action.to.of
    if action.op == planned_actions.PICK:
        return f"拿起 {a}"
    if action.op == planned_actions.PLACE:
        return f"{a} 在 {b} {'里' if action.to.relation == 'in' else '上'}"
    return f"看到 {a}" if action.op == planned_actions.LOOK else ""


def result_text(action: PlannedAction, outcome: Outcome | None, scene: Scene, language: str = "en") -> str:
    """From the measured evidence where there is any, else the outcome's own words, one line."""
    zh = language == "zh"
    if outcome is None:
        return ""
    if not outcome.ok:
        why, code = failure_reasons.short_reason(outcome, scene, language, action.object), failure_reasons.code(outcome)
        return f"{why} [{code}]" if code and code != why else why
    before, after = (_height(outcome.evidence.get(k)) for k in ("before", "after"))
    if action.op == planned_actions.PICK and before is not None and after is not None:
        return f"举起 {after - before:.3f} 米" if zh else f"lifted {after - before:.3f} m"
    away = outcome.evidence.get("distance_to_goal")
    if (
        isinstance(away, (int, float))
        and math.isfinite(away)
        and action.op in (planned_actions.PLACE, planned_actions.MOVE)
    ):
        if action.op == planned_actions.PLACE and action.to.relation == "in":
            return "已放入" if zh else "rests inside"
        return f"偏差 {away * 1000:.1f} 毫米" if zh else f"{away * 1000:.1f} mm off"
    return _line(outcome.message)


def _height(record: object) -> float | None:
    thing = record.get("object") if isinstance(record, dict) else None
    position = thing.get("position") if isinstance(thing, dict) else None
    return float(position[2]) if isinstance(position, (list, tuple)) and len(position) > 2 else None


def _line(text: str, limit: int = 400) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
