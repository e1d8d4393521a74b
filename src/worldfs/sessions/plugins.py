"""The parts a session is made of, by the names that documents use: adapters, skill runtimes, policy clients.

Each is a word for "module:name", loaded when it is first wanted; packages add theirs by the entry points groups
`worldfs.targets`, `worldfs.skills` and `worldfs.policies`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Final, NamedTuple

from worldfs.policies.policy_client import ClientFactory
from worldfs.robots.targets.target_adapter import AdapterFactory
from worldfs.skills.skill_runtime import SkillRuntime

ADAPTERS: Final = {
    "SimTargetAdapter": "worldfs.robots.targets.sim_target:adapter",
    "RealRobotTargetAdapter": "worldfs.robots.targets.real_target:adapter",
}
RUNTIMES: Final = {
    "BuiltinSkillRuntime": "worldfs.skills.builtin_runtime:BuiltinSkillRuntime",
    "ReKepPolicyRuntime": "worldfs.skills.rekep.rekep_runtime:ReKepPolicyRuntime",
    "VLAPolicyRuntime": "worldfs.skills.vla:VLAPolicyRuntime",
}
CLIENTS: Final = {
    "http": "worldfs.policies.http_policy:client",
    "openvla": "worldfs.policies.openvla:client",
    "openpi": "worldfs.policies.openpi:client",
    "gr00t": "worldfs.policies.gr00t:client",
    "lerobot": "worldfs.policies.lerobot_policy:client",
    "local": "worldfs.policies.local:client",
}


class Plugins(NamedTuple):
    """Plugins by name. `None` for an unknown name."""

    adapter: Callable[[str], AdapterFactory | None]
    runtime: Callable[[str], Callable[[], SkillRuntime] | None]
    client: Callable[[str], ClientFactory | None]
    names: Callable[[str], list[str]]  # "targets" | "skills" | "policies" → the names


def load_plugins() -> Plugins:
    """Built-in ones and those of installed packages."""
    return Plugins(
        lambda name: _load("targets", ADAPTERS, name),
        lambda name: _load("skills", RUNTIMES, name),
        lambda name: _load("policies", CLIENTS, name),
        lambda group: sorted({*_OURS[group], *_foreign(group)}),
    )


_OURS: Final[Mapping[str, Mapping[str, str]]] = {"targets": ADAPTERS, "skills": RUNTIMES, "policies": CLIENTS}


@cache
def _foreign(group: str) -> Mapping[str, str]:
    return {point.name: point.value for point in entry_points(group=f"worldfs.{group}")}


def _load(group: str, ours: Mapping[str, str], name: str) -> Any:
    where = ours.get(name) or _foreign(group).get(name)
    if where is None:
        return None
    module, _, attribute = where.partition(":")
    return getattr(import_module(module), attribute)
