"""The port of skill runtimes: a skill carried out on a target, step by step, with measured evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from worldfs.base.chat_model import ConfiguredModel
from worldfs.base.driver import Run
from worldfs.base.model import Finding, Json, Outcome, Skill
from worldfs.policies.policy_client import PolicyClient
from worldfs.robots.targets.target_adapter import Array, Observation, StepResult, TargetAdapter

Watcher = Callable[[Observation, Array | None, StepResult | None], None]  # observation, action, what came of it


@dataclass(frozen=True, slots=True)
class SkillRequest:
    """One session's request for a skill. Times in seconds."""

    job: str
    skill: Skill
    params: Json
    words: str = ""  # task_description: what a policy is prompted with
    step_timeout_s: float = 0.0  # of one step of the skill, and of one answer of its policy; 0: none
    control_hz: float = 0.0  # 0: the target's own
    max_steps: int = 600
    replan_every: int = 8  # actions of a chunk that are used before the next inference
    chunk_mode: str = "chunk_buffer"  # chunk_buffer | open_loop | single_step
    seed: int | None = None  # of the new episode, for targets that take one
    real_time: bool = False  # a simulation runs at the pace of the clock
    home: Path | None = None  # the workspace on disk: files that params name are below it
    model: Callable[[str], ConfiguredModel | None] = lambda name: None  # of config.json, by its name there


@runtime_checkable
class CallWatcher(Protocol):
    """Optional interface of a watcher: it is told how long each answer of the policy took."""

    def __call__(self, observation: Observation, action: Array | None, result: StepResult | None) -> None: ...
    def policy_answered(self, seconds: float) -> None: ...


@dataclass(frozen=True, slots=True)
class SkillContext:
    """A runtime's context: the target, the policy if the skill names one, the run, the watchers, and what resets."""

    target: TargetAdapter
    policy: PolicyClient | None
    run: Run
    watch: Sequence[Watcher] = ()
    begin: Callable[[Callable[[], object]], object] = lambda reset: reset()  # makes a runtime of ours' resets


class SkillParameters(NamedTuple):
    """What a runtime reads of a request's `params`.

    `objects`: names of those that say what is handled, the usual first. `words`: it reads the session's words itself.
    `tasks`: values of `task` that are no words.
    """

    names: frozenset[str]
    objects: tuple[str, ...] = ()
    words: bool = False
    tasks: frozenset[str] = frozenset()


@runtime_checkable
class ParameterReader(Protocol):
    """Optional interface of a runtime: it says which parameters it reads, so that any other refuses the session."""

    def parameters(self, request: SkillRequest) -> SkillParameters: ...


class SkillRuntime(Protocol):
    """Carries out skills of its kind. `perform` returns the outcome with evidence; it never raises for failed work."""

    name: str

    def review(self, request: SkillRequest, target: TargetAdapter) -> Sequence[Finding]:
        """The runtime's own checks: parameters, constraint files, mismatched spaces. Moves nothing."""
        ...

    def perform(self, request: SkillRequest, context: SkillContext) -> Outcome:
        """Until success, failure, `context.run.stop`, or the limits of the request."""
        ...


@runtime_checkable
class SourcedSkill(Protocol):
    """Optional interface of a runtime: files decide what a skill does."""

    def sources(self, request: SkillRequest) -> Json:
        """As `worldfs.base.driver.Sourced`: name of each file or folder → the hash of its present content."""
        ...
