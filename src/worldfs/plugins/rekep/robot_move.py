"""`move_to` on a robot that is led by poses: a straight way over obstacles, and where the tool came to rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Json, Outcome
from worldfs.plugins.rekep.end_effector import EndEffector, ExecutionHalted, MotionRequest
from worldfs.plugins.rekep.rekep_runtime import end_effector_of, halted_outcome
from worldfs.robots.rotations import Pose, angle_between, axis_rotation, matrix
from worldfs.robots.targets.real_target import RealTarget
from worldfs.robots.targets.target_adapter import TargetAdapter
from worldfs.skills.skill_runtime import SkillContext, SkillParameters, SkillRequest

KEYS: Final = ("target_pose", "target_position", "position", "pose")
NEAR, TURNED = 0.01, 0.05  # m and rad from the goal that count as there
NEARER = 0.002  # m a way that count as getting there


class MoveRuntime:
    """`params`: `target_pose` [x, y, z] or [x, y, z, roll, pitch, yaw], or x, y, z; metres and radians, world frame."""

    name = "MoveRuntime"

    def review(self, request: SkillRequest, target: TargetAdapter) -> Sequence[Finding]:
        effector = end_effector_of(target, "", request.home)
        numbers = _numbers(request.params)
        if effector is None or numbers is None:
            expected = coded("plugin.rekep_pose")
            found = str(dict(request.params))[:200]
            return [
                Finding(
                    "SCHEMA_VALIDATION",
                    "ACTION.md params.target_pose",
                    expected,
                    found,
                    coded("plugin.rekep_correct_it"),
                )
            ]
        goal = _goal(numbers, effector)
        if effector.effort(goal) is None:
            away = float(np.linalg.norm(goal.position - effector.now().base))
            found = coded("plugin.rekep_away", m=away)
            return [Finding("CRITIC_REFUSED", "ACTION.md params.target_pose", coded("plugin.rekep_reachable"), found,
                            coded("plugin.rekep_nearer"))]  # fmt: skip
        if isinstance(way := effector.plan(MotionRequest(goal, lambda pose: "")), str):
            return [Finding("CRITIC_REFUSED", "ACTION.md params.target_pose", coded("plugin.rekep_reachable"), way,
                            coded("plugin.rekep_choose_inside"))]  # fmt: skip
        if isinstance(target, RealTarget) and (found := _outside(target, goal, effector)):
            return [Finding("CRITIC_REFUSED", f"TARGETS.md {target.target.id} config.safety.workspace",
                            coded("plugin.rekep_inside"), found, coded("plugin.rekep_choose_inside"))]  # fmt: skip
        return []

    def parameters(self, request: SkillRequest) -> SkillParameters:
        return SkillParameters(frozenset((*KEYS, "x", "y", "z")))

    def perform(self, request: SkillRequest, context: SkillContext) -> Outcome:
        effector, numbers = end_effector_of(context.target, "", request.home), _numbers(request.params)
        if effector is None or numbers is None:
            return Outcome.failure(Cause.ERROR, "SCHEMA_VALIDATION", coded("plugin.rekep_no_pose"))
        goal = _goal(numbers, effector)
        evidence: Json = {}
        try:
            effector.begin(lambda: context.run.stop)
            start = effector.now().tool_pose
            after, far = start, math.inf
            while (gap := _gap(after, goal)) < far - NEARER:
                far = gap  # limits may have held it back: on as long as it comes nearer
                way = effector.plan(MotionRequest(goal, lambda pose: ""))
                if isinstance(way, str):
                    return Outcome.failure(Cause.ERROR, "CRITIC_REFUSED" if after is start else "PLAN_FAILED", way)
                effector.go(way)
                after = effector.now().tool_pose
                if angle_between(after.rotation, goal.rotation) <= TURNED and _gap(after, goal) <= NEAR:
                    break
        except ExecutionHalted as halt:
            return halted_outcome(halt, evidence, context.run)
        finally:
            evidence |= effector.done()
        gap, turn = _gap(after, goal), angle_between(after.rotation, goal.rotation)
        moved = float(np.linalg.norm(after.position - start.position))
        evidence |= {"distance_to_goal": round(gap, 4), "turn_to_goal": round(turn, 4), "tool_moved": round(moved, 4)}
        if gap <= NEAR and turn <= TURNED:
            return Outcome.success(coded("plugin.rekep_tool_off", mm=gap * 1000), **evidence)
        found = (
            f"the tool is {gap * 1000:.0f} mm and {turn:.2f} rad from its goal; expected within {NEAR * 1000:.0f} mm"
        )
        return Outcome.failure(
            Cause.ERROR, "NOT_REACHED", coded("plugin.rekep_and_turn", found=found, rad=TURNED), evidence=evidence
        )


def _gap(tool: Pose, goal: Pose) -> float:
    return float(np.linalg.norm(tool.position - goal.position))


def _numbers(params: Json) -> list[float] | None:
    """Three or six finite numbers; None where there are none."""
    value: object = next((params[key] for key in KEYS if key in params), params)
    if isinstance(value, dict):
        value = [value.get(axis) for axis in "xyz"]
    if not isinstance(value, list | tuple) or len(value) not in (3, 6):
        return None
    fine = all(isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) for v in value)
    return [float(v) for v in value] if fine else None


def _goal(numbers: list[float], effector: EndEffector) -> Pose:
    """The pose; without a turn, the one that the tool has now."""
    if len(numbers) == 3:
        return Pose(np.array(numbers), effector.now().tool_pose.rotation)
    roll, pitch, yaw = numbers[3:]
    return Pose(
        np.array(numbers[:3]),
        axis_rotation((0, 0, 1), yaw) @ axis_rotation((0, 1, 0), pitch) @ axis_rotation((1, 0, 0), roll),
    )


def _outside(target: RealTarget, goal: Pose, effector: EndEffector) -> str:
    """By how much a goal is outside the safety layer's box, which would clamp it; "" inside or without a box."""
    limits = target.limits
    if limits.low is None or limits.high is None:
        return ""
    state, tool = effector.now(), np.asarray(target.observe()["ee_pose"], dtype=float)
    base = Pose(state.base, state.tool_pose.rotation @ matrix(tool[3:7]).T)
    local = base.inverse(goal.position)
    inside = bool(((local >= limits.low) & (local <= limits.high)).all())
    return "" if inside else f"{[round(float(v), 3) for v in local]} in the robot's base frame"
