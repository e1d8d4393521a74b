"""BuiltinSkillRuntime: a skill as a short list of the body's own ops, with the session's parameters put in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol, runtime_checkable

from worldfs.base.driver import Run
from worldfs.base.json_values import as_objects
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import either, finding_message
from worldfs.base.model import Cause, Finding, Json, Order, Outcome
from worldfs.robots import displacements
from worldfs.robots.targets.target_adapter import TargetAdapter
from worldfs.skills.skill_runtime import SkillContext, SkillParameters, SkillRequest


@runtime_checkable
class NativeOperations(Protocol):
    """An optional addition to a target's port: operations that it plans, carries out and measures itself."""

    @property
    def ops(self) -> frozenset[str]: ...

    def judge(self, order: Order) -> Sequence[Finding]: ...

    def carry_out(self, order: Order, run: Run) -> Outcome: ...


# Skills by id; `{name}` is a parameter of the session; a missing parameter leaves its key out.
STEPS: Final[dict[str, tuple[tuple[str, Json], ...]]] = {
    "rekep_pick": (("pick_up", {"object_id": "{object_id}"}),),
    "rekep_place": (
        ("pick_up", {"object_id": "{object_id}"}),
        ("place", {"target_position": "{target_position}", "target": "{target_id}"}),
    ),
    "go_home": (("strategy", {"strategy": "home"}),),
}
_ALIASES: Final = {
    "object_id": ("object_id", "object", "target", "target_object", "thing"),
    "target_id": ("target_id", "location", "container", "place", "destination", "on", "into"),
    "target_position": ("target_position", "position", "goal_position"),
}


class BuiltinSkillRuntime:
    """The skill's `steps` member (a list of `{op: params}`), else the built-in ones of its id, else its id as an op."""

    name = "BuiltinSkillRuntime"

    def review(self, request: SkillRequest, target: TargetAdapter) -> Sequence[Finding]:
        orders = steps_of(request)
        if isinstance(orders, Finding):
            return [orders]
        if not isinstance(target, NativeOperations):
            return [_bodiless(request, target)]
        unknown = [order for order in orders if order.op not in target.ops]
        if unknown:
            field, there = f"SKILLS.md {request.skill.id} steps", coded("common.either_of", names=sorted(target.ops))
            fix = coded("session.these_ops")
            return [Finding("OP_NOT_IN_PROFILE", field, there, unknown[0].op, fix, request.job)]
        # Only the first can be judged now: what comes after begins in another world.
        wanted = _still_wanted(orders, target)
        return target.judge(wanted[0]) if wanted else []

    def parameters(self, request: SkillRequest) -> SkillParameters:
        """Those that the skill's steps put in; of a skill that is an op of the body, whatever that takes."""
        steps = _steps(request)
        if steps is None:
            return SkillParameters(frozenset(request.params))
        asked = {name for _, params in steps for value in params.values() for name in _blanks(value)}
        names = {alias for name in asked for alias in (name, *_ALIASES.get(name, ()))}
        return SkillParameters(frozenset(names), _ALIASES["object_id"] if "object_id" in asked else ())

    def perform(self, request: SkillRequest, context: SkillContext) -> Outcome:
        orders, target = steps_of(request), context.target
        if isinstance(orders, Finding) or not isinstance(target, NativeOperations):
            finding = orders if isinstance(orders, Finding) else _bodiless(request, target)
            return Outcome.failure(Cause.REJECTED, finding.code, finding_message(finding), findings=(finding,))
        done: list[Json] = []
        unasked: list[Json] = []  # what the steps before the last have moved beside their own things
        outcome = Outcome.success(coded("session.nothing_to_do"))
        for order in _still_wanted(orders, target):
            unasked += as_objects(outcome.evidence.get("also_moved"))
            began = context.run.clock.monotonic()
            limit = context.run.deadline
            if request.step_timeout_s:
                limit = min(limit, began + request.step_timeout_s)
            outcome = target.carry_out(order, replace(context.run, deadline=limit))
            seconds = round(context.run.clock.monotonic() - began, 3)
            attempts = outcome.evidence.get("attempts", 1)
            if outcome.code == "EXECUTION_TIMEOUT" and limit < context.run.deadline and not context.run.stop:
                why = coded("session.step_too_long", op=order.op, s=request.step_timeout_s)
                outcome = replace(outcome, code="SKILL_TIMEOUT", message=why)
            done.append({"op": order.op, "ok": outcome.ok, "seconds": seconds, "attempts": attempts})
            for watch in context.watch:
                watch(target.observe(), None, None)
            if not outcome.ok:
                break
        if unasked:
            outcome = displacements.with_displacements(outcome, unasked)
        return replace(outcome, evidence={**outcome.evidence, "steps_done": done})


def steps_of(request: SkillRequest) -> list[Order] | Finding:
    """The orders of a skill with its parameters filled in; a finding when a required one is missing."""
    value, steps = request.skill.extra.get("steps"), _steps(request)
    if steps is None and value is not None:
        field, expected = f"SKILLS.md {request.skill.id} steps", coded("session.steps_list")
        fix = coded("session.correct_steps")
        return Finding("SCHEMA_VALIDATION", field, expected, str(value)[:200], fix, request.job)
    orders = []
    for number, (op, params) in enumerate(steps or ((request.skill.id, dict(request.params)),)):
        filled = {key: _filled(value, request.params) for key, value in params.items()}
        needed = {key: value for key, value in filled.items() if value is not None}
        if params and not needed:
            field, wanted = f"SESSIONS.md {request.job} execution.params", either(sorted(params))
            found = ", ".join(sorted(request.params)) or coded("common.nothing")
            fix = coded("session.give_parameter")
            return Finding("SCHEMA_VALIDATION", field, wanted, found, fix, request.job)
        orders.append(
            Order(f"{request.job}.{number + 1}", request.job, op, needed, timeout_s=request.step_timeout_s or 300)
        )
    return orders


def _steps(request: SkillRequest) -> tuple[tuple[str, Json], ...] | None:
    value = request.skill.extra.get("steps")
    return STEPS.get(request.skill.id) if value is None else _own(value)


def _blanks(value: object) -> list[str]:
    """The parameters that a step's value names: `{object_id}`."""
    return re.findall(r"\{(\w{1,80})\}", value) if isinstance(value, str) else []


def _still_wanted(orders: Sequence[Order], target: TargetAdapter) -> list[Order]:
    """Without the picking up of what the gripper holds already: a session may begin where another ended."""
    held = {robot.holding for robot in target.scene().robots if robot.holding}
    return [
        order for order in orders
        if not (len(orders) > 1 and order.op == "pick_up" and order.params.get("object_id") in held)
    ]  # fmt: skip


def _own(value: object) -> tuple[tuple[str, Json], ...] | None:
    if not isinstance(value, list) or not value:
        return None
    steps = []
    for item in value:
        step = {item: {}} if isinstance(item, str) else item
        if not isinstance(step, dict) or len(step) != 1:
            return None
        ((op, params),) = step.items()
        if not isinstance(op, str) or not (params is None or isinstance(params, dict)):
            return None
        steps.append((op, params or {}))
    return tuple(steps)


def _filled(value: object, params: Json) -> object:
    """`{name}` alone is the parameter itself, of whatever type; within a text it is put in."""
    if not isinstance(value, str) or "{" not in value:
        return value
    if value.startswith("{") and value.endswith("}") and value.count("{") == 1:
        name = value[1:-1]
        return next((params[key] for key in _ALIASES.get(name, (name,)) if params.get(key) is not None), None)
    for key, param in params.items():
        value = value.replace("{" + key + "}", str(param))
    return value


def _bodiless(request: SkillRequest, target: TargetAdapter) -> Finding:
    field = f"TARGETS.md {target.target.id} adapter"
    expected, fix = coded("session.own_ops"), coded("session.policy_or_simulated")
    return Finding("ACTION_BRIDGE_MISSING", field, expected, target.target.adapter, fix, request.job)
