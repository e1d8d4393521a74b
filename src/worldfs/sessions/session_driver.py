"""The driver of a target: carries out sessions of skills on it, each with its runtime and its policy."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from worldfs.base.chat_model import ConfiguredModel
from worldfs.base.clock import Clock
from worldfs.base.driver import MeasuresStandstill, PluginContext, Run, Simulated, Standstill
from worldfs.base.driver_memory import DriverMemory
from worldfs.base.errors import BadInput, MissingRequirement, UserError, WorldError
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message, finding_message
from worldfs.base.model import (
    Cause,
    Finding,
    Job,
    Json,
    Operation,
    Order,
    Outcome,
    PolicySpec,
    Scene,
    Skill,
    Target,
    execution_of,
    routing_of,
)
from worldfs.base.model.skill import SIM
from worldfs.base.plugin_calls import CheckedPlugin, plugin_name
from worldfs.base.plugin_faults import PluginFault, contained, error_text
from worldfs.base.plugin_nouns import plugin_failure
from worldfs.base.plugin_registry import PluginGroup
from worldfs.base.plugin_values import WrongValue
from worldfs.formats import environment
from worldfs.policies.policy_client import PolicyClient, PolicyError
from worldfs.robots.targets.real_target import RealTarget
from worldfs.robots.targets.target_adapter import (
    TargetAdapter,
    nothing_wrong,
)
from worldfs.skills.skill_runtime import ParameterReader, SkillContext, SkillRequest, SkillRuntime, SourcedSkill

from . import preflight
from .bounded_call import BoundedCall, PluginLate, bounded
from .episode_trace import EpisodeTrace
from .lent_target import target_to_read
from .plugins import Plugins, is_simulation
from .policy_calls import PolicyCalls
from .session_witness import SessionWitness
from .session_words import (
    undeclared_restrictions,
    unknown_parameters,
    unnamed_things,
    with_named_thing,
    with_words,
)
from .shadow_run import SceneCopy, copied, is_rehearsal, missing_shadow, not_built, perceived_scene, with_copy
from .skill_records import SkillState
from .skill_run import policy_failed, run_skill
from .unread_fields import review_skill, review_target

T = TypeVar("T")
U = TypeVar("U")
SOURCES_S = 10.0  # for a runtime to say what its files are
LATE_S = 1.0  # after a session's limit, for its skill to return
CONNECT_S = 3.0  # for a policy to answer at preflight, if the session allows no less


ConnectionKey = tuple[str, str, str]  # type, endpoint, checkpoint


@dataclass(frozen=True, slots=True)
class SessionDocuments:
    """The documents' present contents; read before each session, since the operator may have edited them."""

    target: Callable[[], Target | None]
    skills: Callable[[], Mapping[str, Skill]]
    environment: Callable[[], Json]  # the present ENVIRONMENT.md
    place: preflight.FieldLocator
    skill_state: Callable[[Skill, Target], SkillState]  # whether a skill file is allowed on a body
    model: Callable[[str], ConfiguredModel | None]  # of config.json, by its name there
    real: Callable[[], str] = lambda: ""  # whose shadow runs this target carries out
    memory: DriverMemory = field(default_factory=DriverMemory)


class SessionDriver:
    """One target. `open` takes up a simulation; a real robot is taken up by its first session."""

    def __init__(
        self, registries: SessionDocuments, parts: Plugins, clock: Clock, artifacts: Path | None, language: str = "en"
    ) -> None:
        self._registries = registries
        self._parts = parts
        self._clock = clock
        self._artifacts = artifacts
        self._language = language
        self.calling = ""  # of a package's target or robot, while it has not returned
        self._adapter: TargetAdapter | None = None
        self._opening: TargetAdapter | None = None  # one whose `open` has not returned
        self._named = ""  # what that adapter is called
        self._taking = threading.Lock()  # one thread opens it
        self._scene = Scene()
        self._copy = SceneCopy()
        self._policies: dict[ConnectionKey, PolicyClient] = {}
        self._skill_runtimes: dict[str, SkillRuntime] = {}

    @property
    def operations(self) -> Sequence[Operation]:
        skills = self._registries.skills().values()
        return [Operation(skill.id, skill.description, sensors=skill.sensors) for skill in skills]

    # -- the driver's port ---------------------------------------------------------------------------------------

    def open(self, scene: Scene) -> None:
        self._scene = scene
        target = self._registries.target()
        if target is not None and target.enabled and target.kind == SIM:
            try:
                self._take_up(target)
            except UserError:
                return  # reported by the preflight of sessions that use it; other targets go on

    def observe(self) -> Scene:
        """Nothing of a rehearsal: what is done there is no observation of the world."""
        adapter = self._adapter
        return Scene() if adapter is None or is_rehearsal(adapter.target) else adapter.scene()

    def assumed(self) -> Scene | None:
        return self._adapter.assumed() if isinstance(self._adapter, Simulated) else None

    def take_up(self) -> None:
        """A real robot, which else its next session takes up."""
        target = self._registries.target()
        real = target is not None and target.enabled and target.kind != SIM
        if target is not None and real and self._adapter is None and not self._taking.locked():
            self._take_up(target)

    def stop(self) -> None:
        """The target itself, by the path of its watchdog and its limits; beside any session."""
        adapter = self._adapter or self._opening
        if adapter is not None:
            adapter.stop()

    @property
    def measures(self) -> bool:
        """Whether its standstill is known or can be asked for. A package's target that it calls a simulation goes on
        without, as any body that measures nothing."""
        adapter: object = self._adapter or self._opening
        return not isinstance(adapter, CheckedPlugin) or isinstance(adapter, MeasuresStandstill) or not self._is_sim

    @property
    def _is_sim(self) -> bool:
        target = self._adapter.target if self._adapter is not None else self._registries.target()
        return target is not None and target.kind == SIM

    def standstill(self, since: float) -> Standstill:
        """A simulation of ours is stepped by the session alone; of everything else, its adapter measures."""
        adapter: object = self._adapter or self._opening
        target = self._adapter.target if self._adapter is not None else self._registries.target()
        if target is not None and is_simulation(target) and not isinstance(adapter, CheckedPlugin):
            return Standstill(True)
        if isinstance(adapter, MeasuresStandstill):
            return adapter.standstill(since)
        return Standstill(False, coded("target.not_connected" if adapter is None else "stop.no_measure"))

    def close(self) -> None:
        adapter, self._adapter = self._adapter, None
        with ExitStack() as stack:  # each is closed, whatever the others raise
            if adapter is not None:
                stack.callback(adapter.close)
            for policy in self._policies.values():
                stack.callback(policy.close)
            self._policies.clear()

    def review(self, order: Order) -> list[Finding]:
        """Preflight: all that is wrong, as findings; warnings refuse nothing."""
        place, target = self._registries.place, self._registries.target()
        skill = self._registries.skills().get(order.op)
        if target is None or skill is None:
            return [self._unknown(order, target)]
        found = [*preflight.check_documents(order, skill, target, place), *self._draft(order, skill, target)]
        found += [*review_target(target, place, order.id), *review_skill(skill, place, order.id)]
        runtime = self._runtime(order, skill, found, order.review_limit_s)
        if runtime is None or not nothing_wrong(found):
            return found
        named = routing_of(order).target_adapter
        if named and named not in self._parts.targets:
            expected, fix = coded("common.either_of", names=sorted(self._parts.targets)), coded("session.name_or_leave")
            field = f"SESSIONS.md {order.id} routing.target_adapter"
            return [*found, Finding("TARGET_BUILD", field, expected, named, fix, order.id)]
        try:
            adapter = self._take_up(target, order)
        except UserError as error:
            code = "TARGET_BUILD" if error.code in ("USER", "SCHEMA_VALIDATION", "MISSING") else error.code
            return [*found, _finding(code, place("TARGETS.md", target.id, "adapter"), error, order)]
        given = self._given(adapter, order, skill)
        found += not_built(order, self._copy)
        found += preflight.check_contract(order, skill, given, self._registries.environment(), place)
        until = self._clock.monotonic() + order.review_limit_s  # of the runtime: a simulator may load for minutes
        request = self._read(self._skill_request(order, skill), runtime, adapter, until)
        return [*found, *(request if isinstance(request, list) else self._judged(request, runtime, adapter, until))]

    def _judged(
        self, request: SkillRequest, runtime: SkillRuntime, adapter: TargetAdapter, until: float
    ) -> Sequence[Finding]:
        if not isinstance(runtime, CheckedPlugin):
            return runtime.review(request, adapter)
        call = BoundedCall[Sequence[Finding]](f"{plugin_name(runtime)} review", self._clock)
        seen = target_to_read(adapter, call.ask)
        return self._or_another(runtime, lambda: call.run(lambda: runtime.review(request, seen), until))

    def _in_time(self, runtime: object, field: str, call: Callable[[], T], until: float) -> T:
        """The call's answer; a package's in time, or `PluginFault`."""
        if not isinstance(runtime, CheckedPlugin):
            return call()
        return self._or_another(runtime, lambda: bounded(f"{plugin_name(runtime)} {field}", self._clock, call, until))

    def _or_another(self, runtime: object, call: Callable[[], T]) -> T:
        """The call's answer. A runtime that failed is not asked again: the next session has another."""
        try:
            return call()
        except PluginFault:
            self._skill_runtimes = {name: made for name, made in self._skill_runtimes.items() if made is not runtime}
            raise

    def demands(self, job: Job, dependencies: Sequence[Job]) -> list[Finding]:
        return missing_shadow(job, self._registries.target(), dependencies)

    def sources(self, order: Order) -> Json:
        """The entries of target and skill, and what the skill's runtime reads beside them."""
        return self._sources(order, self._registries.target(), self._registries.skills().get(order.op))

    def _sources(self, order: Order, target: Target | None, skill: Skill | None) -> Json:
        found: Json = {f"target {order.node}": _digest(target), f"skill {order.op}": _digest(skill)}
        if skill is None:
            return found
        try:
            limit = min(SOURCES_S, order.review_limit_s)
            runtime: object = self._runtime(order, skill, [], limit)
            if isinstance(runtime, SourcedSkill):
                asked = self._skill_request(order, skill)
                call = partial(runtime.sources, asked)
                found |= self._in_time(runtime, "sources", call, self._clock.monotonic() + limit)
            return found
        except Exception as error:  # whatever a package raises; the review of the session says it
            return {**found, "runtime": type(error).__name__}

    def execute(self, order: Order, run: Run) -> Outcome:
        target, skill = self._registries.target(), self._registries.skills().get(order.op)
        if target is None or skill is None:
            return Outcome.failure(Cause.REJECTED, "SKILL_RUNTIME_MISSING", self._unknown(order, target).found)
        if draft := self._draft(order, skill, target):  # edited since preflight: this very text is carried out
            return Outcome.failure(Cause.REJECTED, draft[0].code, finding_message(draft[0]), findings=tuple(draft))
        if run.approval and run.approval.get("sources") != self._sources(order, target, skill):
            return Outcome.failure(Cause.REJECTED, "APPROVAL_EXPIRED", coded("approval.edited"))
        runtime = self._runtime(order, skill, [], order.review_limit_s)
        if runtime is None:
            missing = coded("session.no_runtime", name=skill.runtime)
            return Outcome.failure(Cause.REJECTED, "SKILL_RUNTIME_MISSING", missing)
        trace = EpisodeTrace(run.artifacts if run.artifacts is not None else self._artifacts, order, self._clock)
        request = self._skill_request(order, skill)
        try:
            adapter = self._take_up(target, order)
            policy = self._policy(skill.policy, order) if skill.policy is not None else None
            read = self._read(request, runtime, adapter, self._clock.monotonic() + order.review_limit_s)
            if isinstance(read, list):  # the world is another one than at preflight
                return Outcome.failure(Cause.REJECTED, read[0].code, finding_message(read[0]), findings=tuple(read))
            request = read
            call = BoundedCall[Outcome](f"{plugin_name(runtime)} perform", self._clock)
            ask = call.ask if isinstance(runtime, CheckedPlugin) else lambda asked: asked()
            witness = SessionWitness(request, adapter, runtime, run, ask)
            context = SkillContext(
                witness.target, policy, replace(run, artifacts=trace.folder), (trace,), witness.begin
            )
            self.calling = f"{target.id}: {plugin_name(runtime)} perform"
            perform = partial(self._performed, runtime, request, context, call)
            outcome = witness.settled(run_skill(perform, run, adapter, witness.end))
        except PolicyError as error:
            self._drop(skill.policy)
            outcome = policy_failed(error)
        except (WrongValue, PluginFault) as error:
            outcome = plugin_failure(error)
        except UserError as error:
            outcome = Outcome.failure(Cause.ERROR, "TARGET_BUILD", error_message(error))
        except BaseException:
            trace.drop()  # a bug here or in a package: it ends this job, reported by the dispatcher
            raise
        finally:
            self.calling = ""
        if not outcome.ok and outcome.code.startswith("POLICY_"):
            self._drop(skill.policy)
        outcome = with_copy(outcome, self._copy)
        return replace(outcome, evidence={**outcome.evidence, **trace.close(order, outcome)})

    def _performed(
        self, runtime: SkillRuntime, request: SkillRequest, context: SkillContext, call: BoundedCall[Outcome]
    ) -> Outcome:
        """A package's skill works in a thread of its own, and is left there if it does not end in time."""
        if not isinstance(runtime, CheckedPlugin):
            return runtime.perform(request, context)
        until = context.run.deadline + LATE_S
        try:
            return self._or_another(runtime, lambda: call.run(lambda: runtime.perform(request, context), until))
        except PluginLate as error:
            said = coded("plugin.failed", where=error.path, found=error.found)
            return Outcome.failure(Cause.TIMEOUT, "EXECUTION_TIMEOUT", said)

    # -- its steps -----------------------------------------------------------------------------------------------

    def _draft(self, order: Order, skill: Skill, target: Target) -> list[Finding]:
        return preflight.check_draft(order, skill, target, self._registries.skill_state, self._registries.place)

    def _take_up(self, target: Target, order: Order | None = None) -> TargetAdapter:
        """The adapter, open. A target whose declaration has changed is closed and opened as it is now."""
        with self._taking:
            return self._taken_up(target, order)

    def _taken_up(self, target: Target, order: Order | None) -> TargetAdapter:
        name = (routing_of(order).target_adapter if order is not None else "") or target.adapter
        rehearsed = order is not None and is_rehearsal(target)
        if self._adapter is not None and name == self._named and _same(self._adapter.target, target) and not rehearsed:
            return self._adapter
        if self._adapter is not None:
            self._adapter.close()
            self._adapter = None
        self._copy = SceneCopy()
        factory = self._parts.targets.get(name)
        if factory is None:
            raise MissingRequirement(
                coded("session.no_adapter", name=name) if name else coded("session.adapter_unnamed"),
                expected=coded("common.either_of", names=sorted(self._parts.targets)),
                fix=coded("session.name_adapter"),
            )
        try:
            scene = self._perceived(target) if rehearsed else self._present() if order is not None else self._scene
            context = PluginContext(self._clock, self._artifacts, scene, self._language)
            context = replace(context, memory=self._registries.memory)
            self.calling = f"{target.id}: {name}"
            self._opening = adapter = contained(lambda: factory(target, context), self.calling)
            self.calling = opening_call(adapter)
            contained(adapter.open, self.calling)
        except (WorldError, ConnectionError, TimeoutError):
            raise
        except Exception as error:  # whatever a simulator or a robot's library raises over what was declared
            raise BadInput(
                coded("session.no_start", name=name, **_raised(error)),
                path=f"TARGETS.md {target.id}", expected=coded("session.usable_target"),
                fix=coded("session.correct_entry"), code="TARGET_BUILD",
            ) from error  # fmt: skip
        finally:
            self.calling, self._opening = "", None
        self._adapter, self._named = adapter, name
        self._copy = copied(scene, adapter.scene()) if rehearsed else SceneCopy()
        return adapter

    def _present(self) -> Scene:
        """What the document says by now: it may have changed since the kernel began."""
        scene = environment.read(json.dumps(self._registries.environment()).encode()).scene
        return self._scene if scene == Scene() else scene

    def _perceived(self, target: Target) -> Scene:
        return perceived_scene(self._registries.environment(), target.id, self._registries.real())

    def _skill_request(self, order: Order, skill: Skill) -> SkillRequest:
        home = self._artifacts.parent if self._artifacts is not None else None
        request = replace(skill_request(order, skill), home=home, model=self._registries.model)
        return replace(request, params=deepcopy(request.params))  # a package's runtime must not change the order

    def _read(
        self, request: SkillRequest, runtime: SkillRuntime, adapter: TargetAdapter, until: float
    ) -> SkillRequest | list[Finding]:
        """The request with what its words name; refusals for what nothing reads."""
        if not isinstance(runtime, ParameterReader):
            return [*undeclared_restrictions(request), *unnamed_things(request, ())] or request
        reads = self._in_time(runtime, "parameters", partial(runtime.parameters, request), until)
        if unread := [*unknown_parameters(request, reads), *unnamed_things(request, reads.objects)]:
            return unread
        scene = adapter.scene()
        named = with_named_thing(request, reads, scene)
        if isinstance(named, Finding):
            return [named]
        request = named
        if not scene.objects:
            scene = self._present()
        found = with_words(request, reads, scene)
        return [found] if isinstance(found, Finding) else found

    def _loaded(self, group: Mapping[str, T], name: str, made: Callable[[T], U], limit_s: float) -> U | None:
        """What is made of a plug-in of that name: of a package's in time, or `PluginFault`. None: there is none."""

        def load() -> U | None:
            plugin = group.get(name)
            return None if plugin is None else made(plugin)

        if not (isinstance(group, PluginGroup) and group.is_foreign(name)):
            return load()
        return bounded(f"{group.group} {name}", self._clock, load, self._clock.monotonic() + limit_s)

    def _runtime(self, order: Order, skill: Skill, found: list[Finding], limit_s: float) -> SkillRuntime | None:
        """The session's own choice, else the skill's. None, and a finding, if no plugin provides it."""
        named = routing_of(order).skill_runtime
        name = named or skill.runtime
        if name not in self._skill_runtimes:
            field = f"SESSIONS.md {order.id} routing.skill_runtime" if named else ""
            field = field or self._registries.place("SKILLS.md", skill.id, "runtime")
            try:
                made = self._loaded(self._parts.skills, name, lambda make: make(), limit_s)
            except PluginLate:
                raise
            except BadInput as error:  # a package's, that cannot be used
                found.append(Finding(error.code, field, error.expected, error.found, error.fix, order.id))
                return None
            except Exception as error:  # whatever a package raises
                said, fix = coded("session.no_start", name=name, **_raised(error)), coded("plugin.correct")
                found.append(Finding("PLUGIN_PORT", field, coded("plugin.port_object"), said, fix, order.id))
                return None
            if made is None:
                found.append(
                    Finding(
                        "SKILL_RUNTIME_MISSING", field,
                        coded("common.either_of", names=sorted(self._parts.skills)), name,
                        coded("session.name_or_install"), order.id,
                    )
                )  # fmt: skip
                return None
            self._skill_runtimes[name] = made
        return self._skill_runtimes[name]

    def _given(self, adapter: TargetAdapter, order: Order, skill: Skill) -> preflight.TargetCapabilities:
        given = preflight.TargetCapabilities(
            adapter.sensors(),
            adapter.observations(),
            {spec.representation: spec.shape for spec in adapter.actions()},
            preflight.outputs(adapter.scene()),
        )
        if skill.policy is None:
            return given
        start = start_command(skill.policy)
        try:
            info = self._client(skill.policy, order).connect(min(CONNECT_S, order.preflight_timeout_s or CONNECT_S))
        except (PolicyError, UserError) as error:
            self._drop(skill.policy)
            return replace(given, policy_trouble=_said(error), policy_start=error.fix or start)
        return replace(given, policy=info, policy_start=start)

    def _client(self, spec: PolicySpec, order: Order) -> PolicyClient:
        key, limit_s = connection_key(spec), order.review_limit_s
        if key not in self._policies:
            try:
                made = self._loaded(self._parts.policies, spec.type, lambda make: make(spec, self._clock), limit_s)
            except UserError:
                raise
            except Exception as error:  # whatever a package raises
                raise BadInput(
                    coded("session.no_start", name=spec.type, **_raised(error)), path=spec.type,
                    expected=coded("plugin.port_object"), fix=coded("plugin.correct"), code="PLUGIN_PORT",
                ) from error  # fmt: skip
            if made is None:
                raise MissingRequirement(
                    coded("session.no_policy_client", name=spec.type),
                    expected=coded("common.either_of", names=sorted(self._parts.policies)),
                    fix=coded("common.name_one"),
                )
            self._policies[key] = made
        client = self._policies[key]
        if isinstance(client, PolicyCalls):
            client.prepare(limit_s)
        return client

    def _policy(self, spec: PolicySpec, order: Order) -> PolicyClient:
        client = self._client(spec, order)
        client.connect(order.step_timeout_s or CONNECT_S)
        client.reset()
        return client

    def _drop(self, spec: PolicySpec | None) -> None:
        """A client that failed is replaced: some connections are stuck after a missed answer."""
        if spec is not None and (client := self._policies.pop(connection_key(spec), None)) is not None:
            with suppress(Exception):  # the reason that it is dropped for counts
                client.close()

    def _unknown(self, order: Order, target: Target | None) -> Finding:
        if target is None:
            return Finding(
                "TARGET_DISABLED", "TARGETS.md", coded("session.a_target", id=order.node), coded("session.undeclared"),
                coded("session.declare_again"), order.id,
            )  # fmt: skip
        names = sorted(self._registries.skills()) or coded("common.none")
        return Finding(
            "SKILL_RUNTIME_MISSING", f"SESSIONS.md {order.id} skill_ref", coded("session.a_skill", names=names),
            order.op, coded("session.declare_skill"), order.id,
        )  # fmt: skip


def _said(error: PolicyError | UserError) -> str:
    """What was found; of a package's code, where."""
    return coded("file.at", where=error.path, found=error.found) if isinstance(error, PluginFault) else error.found


def _raised(error: Exception) -> dict[str, str]:
    if isinstance(error, PluginFault):
        return {"kind": error.path, "why": error.found}
    return {"kind": type(error).__name__, "why": error_text(error)}


def opening_call(adapter: TargetAdapter) -> str:
    """The call of a package's code that opens this target, as messages name it."""
    if isinstance(adapter, RealTarget):
        return f"{plugin_name(adapter.robot)} connect"
    return f"{plugin_name(adapter)} open"


def _digest(entry: Target | Skill | None) -> str:
    return hashlib.sha256(repr(entry).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _same(one: Target, other: Target) -> bool:
    """Declared alike, be it switched on or off?"""
    return replace(one, enabled=True) == replace(other, enabled=True)


def connection_key(spec: PolicySpec) -> ConnectionKey:
    """The key of a connection that two skills of one policy share."""
    return spec.type, spec.endpoint, spec.checkpoint


def skill_request(order: Order, skill: Skill) -> SkillRequest:
    """A session's request to its runtime; invalid figures of `execution` are left at their defaults."""
    asked = execution_of(order)
    request = SkillRequest(
        order.id, skill, order.params, asked.instruction, order.step_timeout_s, asked.control_hz,
        seed=asked.seed, real_time=asked.real_time,
    )  # fmt: skip
    return replace(
        request,
        max_steps=asked.max_steps or request.max_steps,
        replan_every=asked.replan_every or request.replan_every,
        chunk_mode=asked.chunk_mode or request.chunk_mode,
    )


def start_command(spec: PolicySpec) -> str:
    """The `paos` command that would serve a policy's endpoint on this machine; "" where none would."""

    try:
        url = urlsplit(spec.endpoint)
        port = url.port
    except ValueError:
        return ""
    if not port or url.hostname not in ("localhost", "127.0.0.1", "::1"):
        return ""
    return f"paos policy serve --port {port}"


def _finding(code: str, field: str, error: UserError, order: Order) -> Finding:
    return Finding(code, field, error.expected or coded("session.usable_target"), _said(error), error.fix, order.id)
