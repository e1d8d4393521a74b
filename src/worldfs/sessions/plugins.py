"""The plug-ins of sessions, by the names that documents use: adapters of targets, skill runtimes, policy clients.

Those of `worldfs.plugins` join by entry points of this package's own pyproject.toml, as any package's do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from worldfs.base.plugin_registry import PluginGroup
from worldfs.policies.policy_client import ClientFactory
from worldfs.robots.targets.target_adapter import AdapterFactory
from worldfs.skills.skill_runtime import SkillRuntime

TARGETS: Final = PluginGroup[AdapterFactory](
    "worldfs.targets",
    {
        "SimTargetAdapter": "worldfs.robots.targets.sim_target:adapter",
        "RealRobotTargetAdapter": "worldfs.robots.targets.real_target:adapter",
    },
)
SKILLS: Final = PluginGroup[Callable[[], SkillRuntime]](
    "worldfs.skills",
    {
        "BuiltinSkillRuntime": "worldfs.skills.builtin_runtime:BuiltinSkillRuntime",
        "VLAPolicyRuntime": "worldfs.skills.vla:VLAPolicyRuntime",
    },
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
)


class Plugins(NamedTuple):
    """Built-in ones and those of installed packages, or others in their place."""

    targets: Mapping[str, AdapterFactory] = TARGETS
    skills: Mapping[str, Callable[[], SkillRuntime]] = SKILLS
    policies: Mapping[str, ClientFactory] = POLICIES
