"""What runs sessions of skills: targets that the operator declares, skills of the catalogue, what a skill needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from .base import Json

SIM = "sim"
REAL = "real_robot"


@dataclass(frozen=True, slots=True)
class CameraSpec:
    """A camera of a target: pixels (width, height), frames a second, the device of a real one."""

    name: str
    resolution: tuple[int, int] = (640, 480)
    fps: float = 30.0
    device: str = ""
    extra: Json = field(default_factory=dict)
    stated: bool = False  # the resolution was written, so that no other one will do


@dataclass(frozen=True, slots=True)
class Target:
    """A simulation or a robot on which skills run (TARGETS.md). `adapter`: class name; `config`: what it is given."""

    id: str
    kind: str  # SIM | REAL
    enabled: bool = True
    backend: str = ""  # mujoco | maniskill | isaac_sim, for a simulation
    skills: tuple[str, ...] = ()  # ids of SKILLS.md that it supports
    adapter: str = ""  # SimTargetAdapter | RealRobotTargetAdapter | a registered name
    obs_format: str = ""
    driver: str = ""  # of a real robot: lerobot | franka | unitree_go2 | a registered name
    cameras: tuple[CameraSpec, ...] = ()
    sensors: tuple[str, ...] = ()  # beside the cameras: joint_states, force_torque …
    config: Json = field(default_factory=dict)
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """How a skill reaches its policy: a registered client type and where."""

    type: str  # http | openvla | openpi | gr00t | lerobot | local | leader
    endpoint: str = ""
    checkpoint: str = ""
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skill:
    """An entry of the catalogue (SKILLS.md): its runtime, its policy, and what it needs of a target and the world."""

    id: str
    runtime: str  # ReKepPolicyRuntime | VLAPolicyRuntime | BuiltinSkillRuntime | a registered name
    category: str = ""
    description: str = ""
    target_types: tuple[str, ...] = ()  # SIM, REAL; empty: any
    policy: PolicySpec | None = None
    sensors: tuple[str, ...] = ()
    environment_outputs: tuple[str, ...] = ()
    strict: bool = False  # strict_environment_contract: what is missing rejects, else it warns
    extra: Json = field(default_factory=dict)
    digest: str = ""  # sha256 of the skill file that it comes from; "": an entry of SKILLS.md
