"""BuiltinSkillRuntime: a skill as a short list of the body's own ops, with the session's parameters put in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, runtime_checkable

from worldfs.drivers.skills.skill_runtime import SkillContext, SkillRequest
from worldfs.drivers.targets.target_adapter import TargetAdapter
from worldfs.ground.driver import Run
from worldfs.ground.model import Cause, Finding, Json, Order, Outcome


@runtime_checkable
class NativeOperations(Protocol):
    """What a target may offer beside its port: ops that it plans, carries out and measures itself."""

    @property
    def ops(self) -> frozenset[str]: ...

    def judge(self, order: Order) -> Sequence[Finding]: ...

    def carry_out(self, order: Order, run: Run) -> Outcome: ...


# Skills by id; `{name}` is a parameter of the session, a parameter that is not given leaves its key out.
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

    def review(self, errand: SkillRequest, target: TargetAdapter) -> Sequence[Finding]:
        orders = steps_of(errand)
        if isinstance(orders, Finding):
            return [orders]
        if not isinstance(target, NativeOperations):
            return [_bodiless(errand, target)]
        unknown = [order for order in orders if order.op not in target.ops]
        if unknown:
            field, there = f"SKILLS.md {errand.skill.id} steps", ", ".join(sorted(target.ops))
            fix = "write steps of these ops, or give the skill another runtime"
            return [Finding("OP_NOT_IN_PROFILE", field, f"one of {there}", unknown[0].op, fix, errand.job)]
        # Only the first can be judged now: what comes after begins in another world.
        wanted = _still_wanted(orders, target)
        return target.judge(wanted[0]) if wanted else []

    def perform(self, errand: SkillRequest, stage: SkillContext) -> Outcome:
        orders, target = steps_of(errand), stage.target
        if isinstance(orders, Finding) or not isinstance(target, NativeOperations):
            finding = orders if isinstance(orders, Finding) else _bodiless(errand, target)
            return Outcome.failure(Cause.REJECTED, finding.code, str(finding), findings=(finding,))
        done: list[Json] = []
        outcome = Outcome.success("nothing to do")
        for order in _still_wanted(orders, target):
            began = stage.run.clock.monotonic()
            limit = stage.run.deadline
            if errand.step_timeout_s:
                limit = min(limit, began + errand.step_timeout_s)
            outcome = target.carry_out(order, replace(stage.run, deadline=limit))
            seconds = round(stage.run.clock.monotonic() - began, 3)
            attempts = outcome.evidence.get("attempts", 1)
            if outcome.code == "EXECUTION_TIMEOUT" and limit < stage.run.deadline and not stage.run.stop:
                why = f"{order.op} took longer than the {errand.step_timeout_s:g} s of a step (timeouts.skill)"
                outcome = replace(outcome, code="SKILL_TIMEOUT", message=why)
            done.append({"op": order.op, "ok": outcome.ok, "seconds": seconds, "attempts": attempts})
            for watch in stage.watch:
                watch(target.observe(), None, None)
            if not outcome.ok:
                break
        return replace(outcome, evidence={**outcome.evidence, "steps_done": done})


def steps_of(errand: SkillRequest) -> list[Order] | Finding:
    """The orders of a skill with its parameters in; a finding when one that they need is not given."""
    given = errand.skill.extra.get("steps")
    steps = STEPS.get(errand.skill.id) if given is None else _own(given)
    if steps is None and given is not None:
        field, expected = f"SKILLS.md {errand.skill.id} steps", "a list of {op: {parameter: value}}"
        return Finding("SCHEMA_VALIDATION", field, expected, str(given)[:200], "correct the steps", errand.job)
    orders = []
    for number, (op, params) in enumerate(steps or ((errand.skill.id, dict(errand.params)),)):
        filled = {key: _filled(value, errand.params) for key, value in params.items()}
        needed = {key: value for key, value in filled.items() if value is not None}
        if params and not needed:
            field, expected = f"SESSIONS.md {errand.job} execution.params", " or ".join(sorted(params))
            found = ", ".join(sorted(errand.params)) or "nothing"
            return Finding("SCHEMA_VALIDATION", field, expected, found, "give the parameter", errand.job)
        orders.append(
            Order(f"{errand.job}.{number + 1}", errand.job, op, needed, timeout_s=errand.step_timeout_s or 300)
        )
    return orders


def _still_wanted(orders: Sequence[Order], target: TargetAdapter) -> list[Order]:
    """Without the picking up of what the gripper holds already: a session may begin where another ended."""
    held = {robot.holding for robot in target.scene().robots if robot.holding}
    return [
        order for order in orders
        if not (len(orders) > 1 and order.op == "pick_up" and order.params.get("object_id") in held)
    ]  # fmt: skip


def _own(given: Any) -> tuple[tuple[str, Json], ...] | None:
    if not isinstance(given, list) or not given:
        return None
    steps = []
    for item in given:
        step = {item: {}} if isinstance(item, str) else item
        if not isinstance(step, dict) or len(step) != 1:
            return None
        ((op, params),) = step.items()
        if not isinstance(op, str) or not (params is None or isinstance(params, dict)):
            return None
        steps.append((op, params or {}))
    return tuple(steps)


def _filled(value: Any, params: Json) -> Any:
    """`{name}` alone is the parameter itself, of whatever type; within a text it is put in."""
    if not isinstance(value, str) or "{" not in value:
        return value
    if value.startswith("{") and value.endswith("}") and value.count("{") == 1:
        name = value[1:-1]
        return next((params[key] for key in _ALIASES.get(name, (name,)) if params.get(key) is not None), None)
    for key, given in params.items():
        value = value.replace("{" + key + "}", str(given))
    return value


def _bodiless(errand: SkillRequest, target: TargetAdapter) -> Finding:
    field = f"TARGETS.md {target.target.id} adapter"
    fix = "use a skill with a policy on this target, or a target with a body of ours (backend: mujoco)"
    return Finding(
        "ACTION_BRIDGE_MISSING", field, "a target that has ops of its own", target.target.adapter, fix, errand.job
    )
