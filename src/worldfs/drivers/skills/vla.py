"""Skills by a learned policy: look, ask for a chunk of actions, carry some of it out, ask again.

While an answer is awaited a guard watches, so that the target can be stopped at once.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from worldfs.drivers import moved
from worldfs.drivers.policies import contract
from worldfs.drivers.policies.client import Chunk, PolicyClient, PolicyError, PolicyInfo
from worldfs.drivers.policies.endpoint import endpoint_text
from worldfs.drivers.targets.adapter import Array, Attended, Observation, StepResult, TargetAdapter
from worldfs.ground.clock import Clock
from worldfs.ground.driver import Run
from worldfs.ground.errors import UserError
from worldfs.ground.model import Cause, Finding, Json, Outcome
from worldfs.ground.model.runtime import REAL

from .bridge import Bridge, NoBridge, bridge
from .guard import Guard
from .pace import Pace
from .runtime import Errand, Stage
from .shown import Shown

ANSWER_S = 10.0  # for an answer of the policy, if the session says nothing
MODES = ("chunk_buffer", "open_loop", "single_step")
# parameters that say what an episode is about → what targets call them
_ABOUT = {"object_id": "thing", "thing": "thing", "place": "place", "task": "task", "position": "position"}
_STOPPED = {"timeout": (Cause.TIMEOUT, "EXECUTION_TIMEOUT"), "cancelled": (Cause.CANCELLED, "CANCELLED")}


class Ended(Exception):
    """The loop is over: why, as an outcome without evidence."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


class VLAPolicyRuntime:
    """`chunk_buffer`: `replan_every` actions of each chunk; `open_loop`: all of it; `single_step`: the first."""

    name = "VLAPolicyRuntime"

    def review(self, errand: Errand, target: TargetAdapter) -> Sequence[Finding]:
        """What no other floor knows: a skill without policy, names that nobody shows, actions without a bridge."""
        spec, job = errand.skill.policy, errand.job
        if spec is None:
            return [
                Finding(
                    "POLICY_ENDPOINT_UNREACHABLE", f"SKILLS.md {errand.skill.id} policy_client", "a policy", "none",
                    "say where it is: policy_client: {type: http, endpoint: http://localhost:8765/predict}", job,
                )
            ]  # fmt: skip
        place, found = f"SKILLS.md {errand.skill.id} policy_client", []
        have = target.observations()
        if missing := Shown(spec).missing(have):
            found.append(
                Finding(
                    "POLICY_INPUT_CONTRACT_UNSATISFIED", f"{place}.observations", ", ".join(sorted(have)) or "nothing",
                    ", ".join(missing), "name observations that the target has", job, not errand.skill.strict,
                )
            )  # fmt: skip
        said = contract.action(spec)
        if said.get("representation"):
            try:
                bridge(str(said["representation"]), 0, target.actions(), have, said)
            except NoBridge as error:
                found.append(
                    Finding(
                        "ACTION_CONTRACT_UNSATISFIED", f"{place}.action", "what the target accepts", str(error),
                        "use a policy whose actions this target accepts", job, not errand.skill.strict,
                    )
                )  # fmt: skip
        if errand.chunk_mode not in MODES:
            found.append(
                Finding(
                    "SCHEMA_VALIDATION", f"SESSIONS.md {job} execution.action_chunk_mode", ", ".join(MODES),
                    errand.chunk_mode, f"write {MODES[0]}", job,
                )
            )  # fmt: skip
        return found

    def perform(self, errand: Errand, stage: Stage) -> Outcome:
        if stage.policy is None or errand.skill.policy is None:
            return Outcome.failure(Cause.REJECTED, "POLICY_CLIENT", "the skill names no policy")
        loop = _Loop(errand, stage, stage.policy)
        try:
            outcome = loop.run()
        except Ended as end:
            outcome = end.outcome
        except PolicyError as error:
            cause = Cause.TIMEOUT if error.code == "POLICY_TIMEOUT" else Cause.ERROR
            outcome = Outcome.failure(cause, error.code, str(error))
        except UserError as error:
            outcome = Outcome.failure(Cause.ERROR, "TARGET_STEP", str(error))
        finally:
            loop.close()  # also where a bug ends it: nothing moves on
        evidence = {**loop.evidence(), **outcome.evidence}
        return Outcome(outcome.ok, outcome.message, outcome.cause, outcome.code, outcome.traceback, evidence)


@dataclass(slots=True)
class _Figures:
    latencies: list[float] = field(default_factory=list)  # seconds, as the loop waited
    server_ms: list[float] = field(default_factory=list)
    steps: int = 0
    clamped: int = 0
    reward: float = 0.0


class _Loop:
    """One errand, from the first look to the end."""

    def __init__(self, errand: Errand, stage: Stage, policy: PolicyClient) -> None:
        assert errand.skill.policy is not None
        self._errand, self._stage, self._policy = errand, stage, policy
        self._run: Run = stage.run
        self._clock: Clock = stage.run.clock
        self._target = stage.target
        self._spec = errand.skill.policy
        beat = stage.target.heartbeat if isinstance(stage.target, Attended) else lambda: None
        self._guard = Guard(stage.run, self._end_question, beat)
        self._figures = _Figures()
        self._bridge: Bridge | None = None
        self._info = PolicyInfo()
        self._answer_s = errand.step_timeout_s or ANSWER_S
        self._moved = False
        self._stood: dict[str, moved.Pose] = {}
        self._source = ""  # of what the policy is shown
        specs = self._target.actions()
        hz = errand.control_hz or (specs[0].control_hz if specs else 20.0)
        self._hz = hz
        self._pace = Pace(hz, self._clock, self._waiter())

    def run(self) -> Outcome:
        errand, target = self._errand, self._target
        self._info = self._policy.connect(self._left(self._answer_s))
        shown = Shown(self._spec, self._info.observations)
        observation = self._first()
        self._source = shown.source(observation, real=target.target.kind == REAL)
        self._stood = self._things()
        ready: deque[Array] = deque()
        while self._figures.steps < errand.max_steps:
            self._look_up()
            if not ready:
                ready.extend(self._plan(shown(observation)))
            assert self._bridge is not None
            try:
                action = self._bridge(ready.popleft(), observation)
            except NoBridge as error:
                raise self._unfit(str(error)) from None
            self._pace()
            self._look_up()
            result = self._step(action, self._bridge.spec.representation)
            observation = result.observation
            for watch in self._stage.watch:
                watch(observation, action, result)
            if result.success:
                target.stop()
                return Outcome.success(f"done in {self._figures.steps} steps")
            if result.terminated or result.truncated:
                word = "terminated" if result.terminated else "truncated"
                return Outcome.failure(
                    Cause.ERROR, "RUNTIME_ERROR", f"the target ended the episode ({word}) unfinished"
                )
        return Outcome.failure(
            Cause.ERROR, "MAX_STEPS_EXCEEDED",
            f"not done after {errand.max_steps} steps; expected the target's own measure of success",
        )  # fmt: skip

    def close(self) -> None:
        """Stand still; nobody asks any more."""
        if self._moved:
            self._target.stop()
        self._guard.close()

    def evidence(self) -> Json:
        """What was measured."""
        figures = self._figures
        waited = 1000 * np.array(figures.latencies) if figures.latencies else np.zeros(0)
        said: Json = {
            "evidence_class": "real" if self._target.target.kind == REAL else "sim",
            "steps": figures.steps,
            "policy_calls": len(figures.latencies),
            "policy": self._info.name or self._spec.type,
            "control_hz": self._hz,
            "clamped_steps": figures.clamped,
            "reward": round(figures.reward, 6),
        }
        if self._source:
            said["source"] = self._source
        if self._stood and (found := moved.moved(self._stood, self._things())):
            said["moved"] = found
        if waited.size:
            said |= {
                "mean_policy_latency_ms": round(float(waited.mean()), 3),
                "p99_policy_latency_ms": round(float(np.percentile(waited, 99)), 3),
            }
        if figures.server_ms:
            said["mean_server_ms"] = round(float(np.mean(figures.server_ms)), 3)
        if self._bridge is not None:
            said["action"] = self._bridge.given
            if self._bridge.given != self._bridge.spec.representation:
                said["action_as"] = self._bridge.spec.representation
        if self._pace.late:
            said |= {
                "jitter_p99_ms": round(1000 * float(np.percentile(self._pace.late, 99)), 3),
                "missed_beats": self._pace.missed,
            }
        return said

    def _things(self) -> dict[str, moved.Pose]:
        """Where the things of a simulation are; a real robot sees none."""
        return {} if self._target.target.kind == REAL else moved.poses(self._target.scene().objects)

    # -- its steps -----------------------------------------------------------------------------------------------

    def _first(self) -> Observation:
        """A new episode: what it is about comes from the parameters, `execution.seed` for targets that take one.

        A target that was stopped moves again only after this.
        """
        execution, params = self._errand.extra.get("execution"), self._errand.params
        seed = execution.get("seed") if isinstance(execution, Mapping) else None
        about = {word: params[name] for name, word in _ABOUT.items() if name in params}
        return self._target.reset(seed=seed if type(seed) is int else None, options=about or None)

    def _plan(self, shown: dict[str, Array]) -> Sequence[Array]:
        """The actions to carry out before the policy is asked again."""
        began = self._clock.monotonic()
        chunk = self._ask(shown)
        self._figures.latencies.append(self._clock.monotonic() - began)
        if math.isfinite(chunk.server_ms):
            self._figures.server_ms.append(chunk.server_ms)
        if self._bridge is None:
            self._bridge = self._fit(chunk)
        self._bridge.begin()
        if self._clock.monotonic() - began > self._pace.period:
            self._pace.again()
        mode, errand = self._errand.chunk_mode, self._errand
        count = {"open_loop": len(chunk.actions), "single_step": 1}.get(mode, max(1, errand.replan_every))
        return [*chunk.actions[:count]]

    def _ask(self, shown: dict[str, Array]) -> Chunk:
        timeout_s = self._left(self._answer_s)
        try:
            with self._guard.asked(timeout_s + 1.0):  # the client keeps the time; the guard insists
                return self._policy.infer(shown, self._errand.words, timeout_s)
        except PolicyError as error:
            self._look_up()
            if not self._guard.ended:
                raise
            raise PolicyError(
                f"no answer within {timeout_s:.3g} s", path=endpoint_text(self._spec), code="POLICY_TIMEOUT",
                expected="an answer in time", fix="give it more time (timeouts.skill of the session)",
            ) from error  # fmt: skip

    def _end_question(self) -> None:
        """From the guard's thread: nothing moves on, and what waits ends."""
        self._target.stop()
        self._policy.close()

    def _fit(self, chunk: Chunk) -> Bridge:
        """By what the skill says, else the answer, else the server."""
        said = {**{key: chunk.extra[key] for key in ("gripper",) if key in chunk.extra}, **contract.action(self._spec)}
        given = said.get("representation") or chunk.extra.get("representation") or self._info.representation
        try:
            return bridge(
                str(given or ""), chunk.actions.shape[1], self._target.actions(), self._target.observations(), said,
                control_hz=self._errand.control_hz,
            )  # fmt: skip
        except NoBridge as error:
            raise self._unfit(str(error)) from None

    def _step(self, action: Array, representation: str) -> StepResult:
        self._moved = True
        began = self._clock.monotonic()
        result = self._target.step(action, representation)
        took = self._clock.monotonic() - began
        figures = self._figures
        figures.steps += 1
        figures.clamped += bool(result.clamped)
        figures.reward += result.reward
        limit = self._errand.step_timeout_s
        if limit and took > limit and not result.success:
            raise Ended(
                Outcome.failure(
                    Cause.TIMEOUT,
                    "SKILL_TIMEOUT",
                    f"a step of the target took {took:.3g} s; expected {limit:g} s (timeouts.skill)",
                )
            )
        return result

    def _look_up(self) -> None:
        if why := self._run.stop:
            self._stand()
            raise Ended(Outcome.failure(*_STOPPED[why], f"stopped: {why}"))

    def _stand(self) -> None:
        self._moved = False
        self._target.stop()

    def _unfit(self, found: str) -> Ended:
        return Ended(
            Outcome.failure(
                Cause.REJECTED, "ACTION_CONTRACT_UNSATISFIED",
                f"the policy gives {found} — say what it gives with policy_client.action of the skill, "
                "or use a policy for this target",
            )
        )  # fmt: skip

    def _left(self, most: float) -> float:
        """Of the attempt's time, at most so many seconds."""
        return max(0.001, min(most, self._run.deadline - self._clock.monotonic()))

    def _waiter(self) -> Any:
        """Time passes for a real robot, or where the session asks; a simulation runs freely."""
        execution = self._errand.extra.get("execution")
        asked = isinstance(execution, Mapping) and execution.get("real_time") is True
        paced = asked or self._target.target.kind == REAL
        return partial(self._clock.wait, self._run.cancel) if paced else None
