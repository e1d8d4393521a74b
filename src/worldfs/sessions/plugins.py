"""The plug-ins of sessions, by the names that documents use: adapters of targets, skill runtimes, policy clients.

Those of `worldfs.plugins` join by entry points of this package's own pyproject.toml, as any package's do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from worldfs.base.clock import Clock
from worldfs.base.driver import MeasuresStandstill, PluginContext, Simulated
from worldfs.base.model import PolicySpec, Target
from worldfs.base.model.skill import SIM
from worldfs.base.plugin_calls import called, checked, plugin_name
from worldfs.base.plugin_faults import is_ours
from worldfs.base.plugin_registry import PluginGroup, callable_object
from worldfs.policies.policy_client import ClientFactory, PolicyClient
from worldfs.robots.targets.target_adapter import AdapterFactory, SessionAware, TargetAdapter
from worldfs.skills.builtin_runtime import NativeOperations
from worldfs.skills.skill_runtime import ParameterReader, SkillRuntime, SourcedSkill

from .policy_calls import PolicyCalls

RuntimeFactory = Callable[[], SkillRuntime]


def checked_targets(make: AdapterFactory) -> AdapterFactory:
    """Makes adapters whose every answer is parsed; ours as it is. So do the two below, of runtimes and of clients."""
    if is_ours(callable_object(make)):
        return make

    def made(target: Target, context: PluginContext) -> TargetAdapter:
        adapter = called(lambda: make(target, context), plugin_name(make))
        return checked(adapter, TargetAdapter, SessionAware, NativeOperations, Simulated, MeasuresStandstill)

    return made


def checked_runtimes(make: RuntimeFactory) -> RuntimeFactory:
    if is_ours(callable_object(make)):
        return make
    return lambda: checked(called(make, plugin_name(make)), SkillRuntime, SourcedSkill, ParameterReader)


def checked_clients(make: ClientFactory) -> ClientFactory:
    if is_ours(callable_object(make)):
        return make

    def made(spec: PolicySpec, clock: Clock) -> PolicyClient:
        name = plugin_name(make)
        return PolicyCalls(lambda: checked(called(lambda: make(spec, clock), name), PolicyClient), name, spec, clock)

    return made


TARGETS: Final = PluginGroup[AdapterFactory](
    "worldfs.targets",
    {
        "SimTargetAdapter": "worldfs.robots.targets.sim_target:adapter",
        "RealRobotTargetAdapter": "worldfs.robots.targets.real_target:adapter",
    },
    checked_targets,
)
SKILLS: Final = PluginGroup[RuntimeFactory](
    "worldfs.skills",
    {
        "BuiltinSkillRuntime": "worldfs.skills.builtin_runtime:BuiltinSkillRuntime",
        "VLAPolicyRuntime": "worldfs.skills.vla:VLAPolicyRuntime",
    },
    checked_runtimes,
)
POLICIES: Final = PluginGroup[ClientFactory](
    "worldfs.policies",
    {
        "http": "worldfs.policies.http_policy:client",
        "openvla": "worldfs.policies.openvla:client",
        "openpi": "worldfs.policies.openpi:client",
        "gr00t": "worldfs.policies.gr00t:client",
        "lerobot": "worldfs.policies.lerobot_policy:client",
        "local": "worldfs.policies.local:client",
    },
    checked_clients,
)


def is_simulation(target: Target) -> bool:
    """Whether our sessions step it, and nothing else moves it. A package may move what it calls a simulation."""
    return target.kind == SIM and not TARGETS.is_foreign(target.adapter)


class Plugins(NamedTuple):
    """Built-in ones and those of installed packages, or others in their place."""

    targets: Mapping[str, AdapterFactory] = TARGETS
    skills: Mapping[str, RuntimeFactory] = SKILLS
    policies: Mapping[str, ClientFactory] = POLICIES
