"""Skills by a learned policy: observe, request a chunk of actions, carry some of it out, request again.

During inference a watchdog runs, so that the target can be stopped at once.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

import numpy as np

from worldfs.base.clock import Clock
from worldfs.base.driver import Run
from worldfs.base.errors import UserError
from worldfs.base.json_values import as_objects
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, Finding, Json, Outcome
from worldfs.base.model.session import CHUNK_MODES
from worldfs.base.model.skill import REAL
from worldfs.base.order_parameters import given_parameter
from worldfs.base.plugin_faults import PluginFault
from worldfs.base.plugin_nouns import plugin_failure
from worldfs.base.plugin_values import WrongValue, is_true
from worldfs.policies import policy_contract
from worldfs.policies.endpoint import endpoint_text
from worldfs.policies.policy_client import ActionChunk, PolicyClient, PolicyError, PolicyInfo, held_back
from worldfs.robots import displacements
from worldfs.robots.targets.target_adapter import Array, Observation, SessionAware, StepResult, TargetAdapter

from .action_conversion import ActionConversion, NoConversion, choose_conversion
from .control_rate import ControlRate
from .inference_watchdog import InferenceWatchdog
from .observation_mapping import ObservationMapping
from .skill_runtime import CallWatcher, SkillContext, SkillParameters, SkillRequest

ANSWER_S = 10.0  # for an answer of the policy, if the session sets none
# parameters that describe an episode → the target's names for them
_ABOUT = {"object_id": "thing", "thing": "thing", "place": "place", "task": "task", "position": "position"}
_THINGS = ("object_id", "thing")
_TASKS = frozenset(("reach", "pick", "place", "stack"))  # of our own table
_STOPPED = {
    "timeout": (Cause.TIMEOUT, "EXECUTION_TIMEOUT", "session.stopped_timeout"),
    "cancelled": (Cause.CANCELLED, "CANCELLED", "session.stopped_cancelled"),
}


class PolicyLoopEnded(Exception):
    """The loop is over: why, as an outcome without evidence."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


class VLAPolicyRuntime:
    """`chunk_buffer`: `replan_every` actions of each chunk; `open_loop`: all of it; `single_step`: the first."""

    name = "VLAPolicyRuntime"

    def review(self, request: SkillRequest, target: TargetAdapter) -> Sequence[Finding]:
        """Checks of this runtime alone: a skill without policy, missing observations, actions without a conversion."""
        spec, job = request.skill.policy, request.job
        if spec is None:
            return [
                Finding(
                    "POLICY_ENDPOINT_UNREACHABLE", f"SKILLS.md {request.skill.id} policy_client",
                    coded("session.a_policy"), coded("common.none"), coded("session.add_policy"), job,
                )
            ]  # fmt: skip
        place, found = f"SKILLS.md {request.skill.id} policy_client", []
        have = target.observations()
        if missing := ObservationMapping(spec).missing(have):
            found.append(
                Finding(
                    "POLICY_INPUT_CONTRACT_UNSATISFIED", f"{place}.observations", 
                    ", ".join(sorted(have)) or coded("common.nothing"), ", ".join(missing),
                    coded("session.name_observations"), job, not request.skill.strict,
                )
            )  # fmt: skip
        overrides = policy_contract.action_overrides(spec)
        if overrides.get("representation"):
            try:
                choose_conversion(str(overrides["representation"]), 0, target.actions(), have, overrides)
            except NoConversion as error:
                found.append(
                    Finding(
                        "ACTION_CONTRACT_UNSATISFIED", f"{place}.action", coded("session.accepted"), error.found,
                        coded("session.accepted_policy"), job, not request.skill.strict,
                    )
                )  # fmt: skip
        if request.chunk_mode not in CHUNK_MODES:
            found.append(
                Finding(
                    "SCHEMA_VALIDATION", f"SESSIONS.md {job} execution.action_chunk_mode", ", ".join(CHUNK_MODES),
                    request.chunk_mode, coded("session.write_mode", mode=CHUNK_MODES[0]), job,
                )
            )  # fmt: skip
        return found

    def parameters(self, request: SkillRequest) -> SkillParameters:
        """The words are the policy's prompt; the thing is what the target judges by."""
        return SkillParameters(frozenset((*_ABOUT, "instruction")), _THINGS, tasks=_TASKS)

    def perform(self, request: SkillRequest, context: SkillContext) -> Outcome:
        if context.policy is None or request.skill.policy is None:
            return Outcome.failure(Cause.REJECTED, "POLICY_CLIENT", coded("session.no_policy"))
        loop = _PolicyLoop(request, context, context.policy)
        try:
            outcome = loop.run()
        except PolicyLoopEnded as end:
            outcome = end.outcome
        except PolicyError as error:
            cause = Cause.TIMEOUT if error.code == "POLICY_TIMEOUT" else Cause.ERROR
            outcome = Outcome.failure(cause, error.code, error_message(error))
        except (WrongValue, PluginFault) as error:
            outcome = plugin_failure(error)
        except UserError as error:
            outcome = Outcome.failure(Cause.ERROR, "TARGET_STEP", error_message(error))
        finally:
            loop.close()  # also where a bug ends it: nothing moves on
        outcome = replace(outcome, evidence={**loop.evidence(), **outcome.evidence})
        moved, named = as_objects(outcome.evidence.get("moved")), given_parameter(request.params, _THINGS)[1]
        unasked = [line for line in moved if line.get("id") != named]
        return displacements.with_displacements(outcome, unasked) if unasked else outcome


def _succeeded(result: StepResult) -> bool:
    """By the target's own measure. Raises `WrongValue` for what is merely like a truth value."""
    return result.success is not None and is_true(result.success, "StepResult.success")


@dataclass(slots=True)
class _Figures:
    latencies: list[float] = field(default_factory=list)  # seconds, as the loop waited
    server_ms: list[float] = field(default_factory=list)
    steps: int = 0
    clamped: int = 0
    reward: float = 0.0


class _PolicyLoop:
    """One request, from the first observation to the end."""

    def __init__(self, request: SkillRequest, context: SkillContext, policy: PolicyClient) -> None:
        assert request.skill.policy is not None
        self._request, self._context, self._policy = request, context, policy
        self._run: Run = context.run
        self._clock: Clock = context.run.clock
        self._target = context.target
        self._spec = request.skill.policy
        beat = context.target.heartbeat if isinstance(context.target, SessionAware) else lambda: None
        self._watchdog = InferenceWatchdog(context.run, self._end_inference, beat)
        self._figures = _Figures()
        self._conversion: ActionConversion | None = None
        self._info = PolicyInfo()
        self._answer_s = request.step_timeout_s or ANSWER_S
        self._moved = False
        self._start_poses: dict[str, displacements.ObjectPose] = {}
        self._source = ""  # of the policy's observations
        specs = self._target.actions()
        hz = request.control_hz or (specs[0].control_hz if specs else 20.0)
        self._hz = hz
        self._rate = ControlRate(hz, self._clock, self._waiter())

    def run(self) -> Outcome:
        request, target = self._request, self._target
        self._info = self._policy.connect(self._left(self._answer_s))
        mapping = ObservationMapping(self._spec, self._info.observations, self._info.picture_sizes)
        observation = self._first()
        self._source = mapping.source(observation, real=target.target.kind == REAL)
        self._start_poses = self._things()
        ready: deque[Array] = deque()
        while self._figures.steps < request.max_steps:
            self._check_stop()
            if not ready:
                ready.extend(self._plan(mapping(observation)))
            assert self._conversion is not None
            try:
                action = self._conversion(ready.popleft(), observation)
            except NoConversion as error:
                raise self._unfit(error.found) from None
            self._rate()
            self._check_stop()
            result = self._step(action, self._conversion.spec.representation)
            observation = result.observation
            for watch in self._context.watch:
                watch(observation, action, result)
            if _succeeded(result):
                target.stop()
                return Outcome.success(coded("session.done", n=self._figures.steps))
            if result.terminated or result.truncated:
                why = coded("session.terminated") if result.terminated else coded("session.truncated")
                return Outcome.failure(Cause.ERROR, "RUNTIME_ERROR", why)
        return Outcome.failure(Cause.ERROR, "MAX_STEPS_EXCEEDED", coded("session.max_steps", n=request.max_steps))

    def close(self) -> None:
        """Stop the target and end the watchdog."""
        if self._moved:
            self._target.stop()
        self._watchdog.close()

    def evidence(self) -> Json:
        """The measurements."""
        figures = self._figures
        waited = 1000 * np.array(figures.latencies) if figures.latencies else np.zeros(0)
        measured: Json = {
            "evidence_class": "real" if self._target.target.kind == REAL else "sim",
            "steps": figures.steps,
            "policy_calls": len(figures.latencies),
            "policy": self._info.name or self._spec.type,
            "control_hz": self._hz,
            "clamped_steps": figures.clamped,
            "reward": round(figures.reward, 6),
        }
        if self._source:
            measured["source"] = self._source
        if self._start_poses and (found := displacements.displacements(self._start_poses, self._things())):
            measured["moved"] = found
        if waited.size:
            measured |= {
                "mean_policy_latency_ms": round(float(waited.mean()), 3),
                "p99_policy_latency_ms": round(float(np.percentile(waited, 99)), 3),
            }
        if figures.server_ms:
            measured["mean_server_ms"] = round(float(np.mean(figures.server_ms)), 3)
        if self._conversion is not None:
            measured["action"] = self._conversion.source
            if self._conversion.source != self._conversion.spec.representation:
                measured["action_as"] = self._conversion.spec.representation
        if self._rate.late:
            measured |= {
                "jitter_p99_ms": round(1000 * float(np.percentile(self._rate.late, 99)), 3),
                "missed_beats": self._rate.missed,
            }
        return measured

    def _things(self) -> dict[str, displacements.ObjectPose]:
        """The objects' poses in a simulation; none for a real robot."""
        return {} if self._target.target.kind == REAL else displacements.object_poses(self._target.scene().objects)

    # -- its steps -----------------------------------------------------------------------------------------------

    def _first(self) -> Observation:
        """A new episode: its goal comes from the parameters, `execution.seed` for targets that take one.

        A target that was stopped moves again only after this.
        """
        params = self._request.params
        about = {word: params[name] for name, word in _ABOUT.items() if name in params}
        reset = partial(self._target.reset, seed=self._request.seed, options=about or None)
        return cast("Observation", self._context.begin(reset))

    def _plan(self, mapped: dict[str, Array]) -> Sequence[Array]:
        """The actions to carry out before the next inference."""
        began = self._clock.monotonic()
        chunk = self._infer(mapped)
        self._figures.latencies.append(waited := self._clock.monotonic() - began)
        for watch in self._context.watch:
            if isinstance(watch, CallWatcher):
                watch.policy_answered(waited)
        if math.isfinite(chunk.server_ms):
            self._figures.server_ms.append(chunk.server_ms)
        if self._conversion is None:
            self._conversion = self._fit(chunk)
        self._conversion.begin()
        if self._clock.monotonic() - began > self._rate.period:
            self._rate.restart()
        mode, request = self._request.chunk_mode, self._request
        count = {"open_loop": len(chunk.actions), "single_step": 1}.get(mode, max(1, request.replan_every))
        return [*chunk.actions[:count]]

    def _infer(self, mapped: dict[str, Array]) -> ActionChunk:
        timeout_s = self._left(self._answer_s)
        try:
            with self._watchdog.waiting(timeout_s + 1.0):  # the client keeps the time; the watchdog insists
                chunk = self._policy.infer(mapped, self._request.words, timeout_s)
            if (wrong := held_back(chunk)) is not None:
                raise PolicyError(
                    wrong.found, path=endpoint_text(self._spec), code="POLICY_PROTOCOL", expected=wrong.expected,
                    fix=coded("session.see_protocol"),
                )  # fmt: skip
            return chunk
        except PolicyError as error:
            self._check_stop()
            if not self._watchdog.ended:
                raise
            raise PolicyError(
                coded("session.late_answer", s=timeout_s), path=endpoint_text(self._spec), code="POLICY_TIMEOUT",
                expected=coded("session.answer_in_time"), fix=coded("session.more_time"),
            ) from error  # fmt: skip

    def _end_inference(self) -> None:
        """From the guard's thread: nothing moves on, and what waits ends."""
        try:
            self._target.stop()
        finally:
            self._policy.close()

    def _fit(self, chunk: ActionChunk) -> ActionConversion:
        """By the skill's overrides, else the answer, else the server's description."""
        overrides = {
            **{key: chunk.extra[key] for key in ("gripper",) if key in chunk.extra},
            **policy_contract.action_overrides(self._spec),
        }
        given = overrides.get("representation") or chunk.extra.get("representation") or self._info.representation
        try:
            return choose_conversion(
                str(given or ""), chunk.actions.shape[1], self._target.actions(), self._target.observations(),
                overrides,
                control_hz=self._request.control_hz,
            )  # fmt: skip
        except NoConversion as error:
            raise self._unfit(error.found) from None

    def _step(self, action: Array, representation: str) -> StepResult:
        self._moved = True
        began = self._clock.monotonic()
        result = self._target.step(action, representation)
        took = self._clock.monotonic() - began
        figures = self._figures
        figures.steps += 1
        figures.clamped += bool(result.clamped)
        figures.reward += result.reward
        limit = self._request.step_timeout_s
        if limit and took > limit and not _succeeded(result):
            raise PolicyLoopEnded(
                Outcome.failure(
                    Cause.TIMEOUT,
                    "SKILL_TIMEOUT",
                    coded("session.slow_step", took=took, limit=limit),
                )
            )
        return result

    def _check_stop(self) -> None:
        if why := self._run.stop:
            self._halt()
            cause, code, said = _STOPPED[why]
            raise PolicyLoopEnded(Outcome.failure(cause, code, coded(said)))

    def _halt(self) -> None:
        self._moved = False
        self._target.stop()

    def _unfit(self, found: str) -> PolicyLoopEnded:
        said = coded("session.unfit", found=found)
        return PolicyLoopEnded(Outcome.failure(Cause.REJECTED, "ACTION_CONTRACT_UNSATISFIED", said))

    def _left(self, most: float) -> float:
        """Of the attempt's time, at most so many seconds."""
        return max(0.001, min(most, self._run.deadline - self._clock.monotonic()))

    def _waiter(self) -> Callable[[float], object] | None:
        """Time passes for a real robot, or on the session's request; a simulation runs freely."""
        paced = self._request.real_time or self._target.target.kind == REAL
        return partial(self._clock.wait, self._run.cancel) if paced else None
