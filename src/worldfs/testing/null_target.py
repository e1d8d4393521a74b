"""A target, a skill runtime and a policy that do nothing, and record their calls."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from worldfs.base.driver import PluginContext, Run
from worldfs.base.errors import MissingRequirement
from worldfs.base.json_values import as_float, as_int, as_list
from worldfs.base.model import Cause, Finding, Json, Outcome, PolicySpec, RobotState, Scene, Target, Thing
from worldfs.policies.policy_client import ActionChunk, PolicyError, PolicyInfo
from worldfs.robots.targets.target_adapter import ActionSpec, Observation, StepResult
from worldfs.sessions.plugins import Plugins
from worldfs.skills.skill_runtime import SkillContext, SkillRequest

from .manual_clock import ManualClock

POLL_S = 0.05  # s between two checks of a slow runtime for a stop
ALL_SENSORS = frozenset({"rgb_camera", "depth_camera", "joint_states"})


class NullAdapter:
    """Two joints that follow their commands. `target.config` may hold: sensors [words], missing "why not"."""

    def __init__(self, target: Target, context: PluginContext) -> None:
        self.target, self.context = target, context
        self.q = np.zeros(3)
        self.is_open = False
        self.stopped = 0

    def open(self) -> None:
        if why := self.target.config.get("missing"):
            raise MissingRequirement(str(why), fix="install it")
        self.is_open = True

    def sensors(self) -> frozenset[str]:
        given = self.target.config.get("sensors")
        return ALL_SENSORS if given is None else frozenset(map(str, as_list(given)))

    def actions(self) -> Sequence[ActionSpec]:
        return (ActionSpec("joint_position", (3,), np.full(3, -1.0), np.full(3, 1.0), 20.0),)

    def observations(self) -> Mapping[str, tuple[tuple[int, ...], str]]:
        return {"joint_states": ((2,), "float64"), "rgb.front": ((4, 4, 3), "uint8")}

    def reset(self, *, seed: int | None = None, options: Json | None = None) -> Observation:
        self.q[:] = 0
        return self.observe()

    def step(self, action: object, representation: str) -> StepResult:
        self.q = np.asarray(action, dtype=float)
        return StepResult(self.observe())

    def observe(self) -> Observation:
        return {"joint_states": self.q[:2].copy(), "rgb.front": np.zeros((4, 4, 3), np.uint8)}

    def scene(self) -> Scene:
        thing = Thing("apple_01", "apple", "fruit", (0.4, 0.1, 0.03), status="on_table")
        robot = RobotState(self.target.id, joint_state={"a": float(self.q[0]), "b": float(self.q[1])})
        return Scene((robot,), (thing,), perception={"camera_rgb": "artifacts/front.png"})

    def stop(self) -> None:
        self.stopped += 1

    def close(self) -> None:
        self.is_open = False


class NullRuntime:
    """Ends at once. `params`: fail "why", raise "why", refuse "why", takes seconds, steps N, hang true, ask true."""

    name = "NullRuntime"

    def __init__(self, performed: list[str] | None = None) -> None:
        self.performed = [] if performed is None else performed

    def review(self, request: SkillRequest, target: object) -> Sequence[Finding]:
        why = request.params.get("refuse")
        field = f"SESSIONS.md {request.job} execution.params"
        if not why:
            return []
        return [Finding("CRITIC_REFUSED", field, "what it can do", str(why), "ask for less", request.job)]

    def perform(self, request: SkillRequest, context: SkillContext) -> Outcome:
        self.performed.append(request.job)
        params, run = request.params, context.run
        if "raise" in params:
            raise RuntimeError(str(params["raise"]))
        until = run.clock.monotonic() + as_float(params.get("takes"))
        while (params.get("hang") or run.clock.monotonic() < until) and not run.stop:
            _pass(run, min(POLL_S, max(0.0, until - run.clock.monotonic())) or POLL_S)
        if run.stop:
            timed = run.stop == "timeout"
            cause, code = (Cause.TIMEOUT, "EXECUTION_TIMEOUT") if timed else (Cause.CANCELLED, "CANCELLED")
            return Outcome.failure(cause, code, f"stopped: {run.stop}")
        for _ in range(as_int(params.get("steps"))):
            action = np.zeros(3)
            if context.policy is not None:
                seen = context.target.observe()
                action = context.policy.infer(seen, request.words, request.step_timeout_s or 5).actions[0]
            result = context.target.step(action, "joint_position")
            for watch in context.watch:
                watch(result.observation, action, result)
        if "fail" in params:
            return Outcome.failure(Cause.ERROR, "RUNTIME_ERROR", str(params["fail"]))
        return Outcome.success("done", steps=params.get("steps", 0))


def _pass(run: Run, seconds: float) -> None:
    """Let time pass: on a manual clock, else really."""
    if isinstance(run.clock, ManualClock):
        run.clock.advance(seconds)
    else:
        time.sleep(seconds)


@dataclass(slots=True)
class NullPolicy:
    """Answers zeros of `dim`; `trouble`: what `connect` raises."""

    spec: PolicySpec
    dim: int = 3
    trouble: str = ""
    info: PolicyInfo = field(default_factory=lambda: PolicyInfo("null"))
    resets: int = 0

    def connect(self, timeout_s: float) -> PolicyInfo:
        if self.trouble:
            raise PolicyError(self.trouble, code="POLICY_CONNECTION")
        return self.info

    def reset(self) -> None:
        self.resets += 1

    def infer(self, observation: Mapping[str, object], words: str, timeout_s: float) -> ActionChunk:
        return ActionChunk(np.zeros((1, self.dim), np.float32))

    def close(self) -> None:
        return


def null_parts(performed: list[str] | None = None, *, trouble: str = "") -> Plugins:
    """Parts under the names of the specification's documents, all of them doing nothing."""
    runtimes = ("NullRuntime", "ReKepPolicyRuntime", "VLAPolicyRuntime", "BuiltinSkillRuntime")
    adapters = ("SimTargetAdapter", "RealRobotTargetAdapter")
    return Plugins(
        dict.fromkeys(adapters, NullAdapter),
        dict.fromkeys(runtimes, lambda: NullRuntime(performed)),
        dict.fromkeys(("http", "local"), lambda spec, clock: NullPolicy(spec, trouble=trouble)),
    )
