"""Words for TASK.md and progress: a step and its result, in English or Chinese."""

from __future__ import annotations

import json
import math

from worldfs.base.json_values import as_float, as_list
from worldfs.base.messages import CodedText, coded, render
from worldfs.base.model import Outcome, Scene

from . import failure_reasons, planned_actions, thing_names
from .goals import (
    ApartGoal,
    AreaGoal,
    AtGoal,
    BesideGoal,
    CentreGoal,
    ClearedGoal,
    DownGoal,
    GestureGoal,
    Goal,
    GripperGoal,
    HandedGoal,
    HoldingGoal,
    HomeGoal,
    InGoal,
    OnGoal,
    OpenedGoal,
    OperationGoal,
    PlacedGoal,
    PouredGoal,
    SeenGoal,
    SlidGoal,
    TowardGoal,
    UprightGoal,
    VisitGoal,
)
from .planned_actions import PlannedAction

GOALS = {
    InGoal: "planner.goal_in",
    OnGoal: "planner.goal_on",
    BesideGoal: "planner.goal_beside",
    TowardGoal: "planner.goal_toward",
    ApartGoal: "planner.goal_apart",
    GestureGoal: "planner.goal_gesture",
    OperationGoal: "planner.goal_operation",
    PlacedGoal: "planner.goal_placed",
    SlidGoal: "planner.goal_slid",
    UprightGoal: "planner.goal_upright",
    OpenedGoal: "planner.goal_opened",
    PouredGoal: "planner.goal_poured",
    HandedGoal: "planner.goal_handed",
    AreaGoal: "planner.goal_area",
    CentreGoal: "planner.goal_centre",
    DownGoal: "planner.goal_down",
    HoldingGoal: "planner.goal_holding",
    SeenGoal: "planner.goal_seen",
    AtGoal: "planner.goal_at",
    VisitGoal: "planner.goal_visit",
    HomeGoal: "planner.goal_home",
    GripperGoal: "planner.goal_gripper",
    ClearedGoal: "planner.goal_cleared",
}
SIDES = {
    "left": "planner.side_left",
    "right": "planner.side_right",
    "front": "planner.side_front",
    "behind": "planner.side_behind",
}
HANDLING = {
    planned_actions.PUSH: "planner.step_push",
    planned_actions.UPRIGHT: "planner.step_upright",
    planned_actions.NUDGE: "planner.step_nudge",
    planned_actions.OPEN_FIXTURE: "planner.step_open",
    planned_actions.CLOSE_FIXTURE: "planner.step_close",
}
STRATEGIES = {
    "home": "planner.go_home",
    "open_gripper": "planner.open_gripper",
    "close_gripper": "planner.close_gripper",
    "wave": "planner.wave",
}


def _numbers(values: object) -> str:
    return "[" + ", ".join(f"{v:g}" for v in values) + "]" if isinstance(values, (list, tuple)) else "?"


def goal_text(goal: Goal, scene: Scene) -> CodedText:
    a = getattr(goal, "object", "") or getattr(goal, "surface", "")
    other = next((getattr(goal, k) for k in ("container", "support", "other", "into", "robot") if hasattr(goal, k)), "")
    b = thing_names.named(other, scene) if other else ""
    if isinstance(goal, AreaGoal):
        b = goal.label
    if isinstance(goal, GripperGoal):
        b = coded("planner.gripper_open") if goal.state == "open" else coded("planner.gripper_closed")
    if isinstance(goal, OpenedGoal):
        b = coded("fixture.open") if goal.state == "open" else coded("fixture.closed")
    if isinstance(goal, (TowardGoal, ApartGoal)):
        b = thing_names.named(goal.other, scene)
    gesture = STRATEGIES.get(goal.name) if isinstance(goal, GestureGoal) else None
    return coded(
        GOALS[type(goal)],
        a=thing_names.named(a, scene),
        b=b,
        p=_numbers(getattr(goal, "position", ())),
        m=f"{getattr(goal, 'least', 0.0):.2g}",
        side=coded(SIDES[goal.label]) if isinstance(goal, TowardGoal) else "",
        name=coded(gesture) if gesture else getattr(goal, "name", ""),
        params=getattr(goal, "params", ""),
    )


def state_text(goal: Goal, scene: Scene, language: str = "en") -> str:
    """A goal that holds, as a sentence: `the table is already clear`."""
    text = render(goal_text(goal, scene), language)
    if language == "zh":
        return text
    if isinstance(goal, (HomeGoal, AtGoal)):
        return f"the robot is already {text}"
    if isinstance(goal, GripperGoal):
        return f"the gripper is already {goal.state}"
    named = thing_names.named(getattr(goal, "object", "") or getattr(goal, "surface", ""), scene)
    return f"{thing_names.the(named)} is already {text.removeprefix(named).strip()}" if text.startswith(named) else text


def step_text(action: PlannedAction, scene: Scene) -> CodedText:
    """`Grasp apple` · `抓取红苹果`."""
    a, b = thing_names.named(action.object, scene), thing_names.named(action.to.of, scene)
    if action.op == planned_actions.PICK:
        return coded("planner.step_pick", a=a)
    if action.op == planned_actions.PLACE and not action.final:
        return coded("planner.step_aside", a=a, b=b)
    if action.op == planned_actions.PLACE:
        return coded("planner.step_in", a=a, b=b) if action.to.relation == "in" else coded("planner.step_on", a=a, b=b)
    if action.op == planned_actions.LOOK:
        return coded("planner.step_visit" if action.visit else "planner.step_look", a=a)
    if action.op == planned_actions.MOVE:
        return coded("planner.step_move", spot=_numbers(as_list(action.params["target_pose"])[:3]))
    if action.op == planned_actions.HAND_OVER:
        return coded("planner.step_hand", a=a, b=action.partner)
    if action.op == planned_actions.TAKE_OVER:
        return coded("planner.step_take", a=a, b=action.node)
    if action.op == planned_actions.POUR:
        into = thing_names.named(str(action.params.get("target")), scene)
        return coded("planner.step_pour", a=a, b=into)
    if action.op in HANDLING:
        metres = as_float(action.params.get("distance"))
        return coded(HANDLING[action.op], a=a, m=f"{metres:.2f}")
    if action.op != planned_actions.STRATEGY:
        return coded("planner.goal_operation", name=action.op, params=json.dumps(action.params, ensure_ascii=False))
    return coded(STRATEGIES.get(str(action.params.get("name")), "planner.close_gripper"))


def target_text(action: PlannedAction, scene: Scene, robot_id: str, language: str = "en") -> str:
    """The page's third column: the device in English (000), the state to reach in Chinese (001)."""
    if language != "zh":
        return robot_id
    a, b = action.object, action.to.of
    if action.op == planned_actions.PICK:
        return f"拿起 {a}"
    if action.op == planned_actions.PLACE:
        return f"{a} 在 {b} {'里' if action.to.relation == 'in' else '上'}"
    if action.op == planned_actions.LOOK:
        return f"到达 {a}" if action.visit else f"看到 {a}"
    return ""


def result_text(action: PlannedAction, outcome: Outcome, scene: Scene, language: str = "en") -> str:
    """From the measured evidence where there is any, else the outcome's own words, one line."""
    if not outcome.ok:
        why, code = failure_reasons.short_reason(outcome, scene, action.object), failure_reasons.code(outcome)
        said = failure_reasons.clip(render(why, language))
        return f"{said} [{code}]" if code and code != said else said
    before, after = (_height(outcome.evidence.get(k)) for k in ("before", "after"))
    if action.op == planned_actions.PICK and before is not None and after is not None:
        return render(coded("planner.lifted", m=after - before), language)
    away = outcome.evidence.get("distance_to_goal")
    if (
        isinstance(away, (int, float))
        and math.isfinite(away)
        and action.op in (planned_actions.PLACE, planned_actions.MOVE)
    ):
        if action.op == planned_actions.PLACE and action.to.relation == "in":
            return render(coded("planner.inside"), language)
        return render(coded("planner.off", mm=away * 1000), language)
    return _line(render(outcome.message, language))


def _height(record: object) -> float | None:
    thing = record.get("object") if isinstance(record, dict) else None
    position = thing.get("position") if isinstance(thing, dict) else None
    return float(position[2]) if isinstance(position, (list, tuple)) and len(position) > 2 else None


def _line(text: str, limit: int = 400) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
