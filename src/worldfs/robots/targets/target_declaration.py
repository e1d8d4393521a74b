"""Checks of a TARGETS.md entry without opening the target: backend, driver, library, names of its limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from worldfs.base.model import Finding, Target
from worldfs.base.plugin_registry import PluginGroup

if TYPE_CHECKING:
    from .robots.robot_interface import RobotFactory

_HERE: Final = "worldfs.robots.targets.robots"
ROBOTS: Final[PluginGroup[RobotFactory]] = PluginGroup(
    "worldfs.robots",
    {
        "lerobot": f"{_HERE}.lerobot_arm:robot",
        "franka": f"{_HERE}.franka:robot",
        "unitree_go2": f"{_HERE}.unitree:robot",
    },
)
# driver → what it imports, what installs that
LIBRARIES: Final = {
    "lerobot": ("lerobot", "pip install lerobot (with its extra for the motors)"),
    "franka": ("franky", "pip install franky-control (the build for your robot's version)"),
    "unitree_go2": (
        "unitree_sdk2py",
        "install unitree_sdk2py from github.com/unitreerobotics/unitree_sdk2_python (pip install -e .)",
    ),
}
ADAPTER: Final = "RealRobotTargetAdapter"
WORDS: Final = (
    "joint_low", "joint_high", "joint_speed", "joint_step", "workspace", "ee_speed", "ee_turn", "ee_step",
    "gripper_low", "gripper_high", "gripper_speed", "gripper_force", "force", "torque", "base_low", "base_high",
    "base_speed", "base_acceleration", "follow", "watchdog_s", "stale_s",
)  # fmt: skip
SIMULATION: Final = "SimTargetAdapter"
MUJOCO: Final = "mujoco"
BACKENDS: Final = (MUJOCO, "gymnasium")
# Backends that the specification names and nothing here serves → why. They are refused by name, not tried.
UNSERVED: Final = {
    "maniskill": "its environments step batches of tensors on a GPU, which no adapter here does",
    "isaac_sim": "it runs only inside its own application launcher, which no adapter here starts",
}
FieldLocator = Callable[[str, str, str], str]


TABLE_CAMERAS: Final = ("front", "wrist")
TABLE_PICTURE: Final = (640, 480)
TABLE_MODES: Final = ("ee_delta", "joint_position", "joint_velocity", "ee_pose")
# Backend or robot's driver → values of adapter.obs_format, and of config.control_mode, that are served
OBSERVATIONS: Final[Mapping[str, tuple[str, ...]]] = {
    MUJOCO: ("mujoco_standard",), "gymnasium": (), **dict.fromkeys(ROBOTS.built_in, ()),
}  # fmt: skip
MODES: Final[Mapping[str, tuple[str, ...]]] = {
    MUJOCO: TABLE_MODES, "gymnasium": (), "franka": ("joint_position",),
    "lerobot": ("joint_position",), "unitree_go2": ("base_velocity",),
}  # fmt: skip


def unsupported(target: Target, place: FieldLocator, job: str = "") -> Iterator[Finding]:
    """Settings of a built-in target that are not supported: refused by name, never replaced silently."""
    if target.adapter not in (ADAPTER, SIMULATION):
        return  # of another package: it judges its own entries
    real = target.adapter == ADAPTER
    kind = (target.driver if real else target.backend or MUJOCO).strip().lower()

    def refused(member: str, expected: str, found: object, fix: str) -> Finding:
        return Finding("TARGET_BUILD", place("TARGETS.md", target.id, member), expected, str(found)[:200], fix, job)

    for member, value, table in (
        ("adapter.obs_format", target.obs_format, OBSERVATIONS),
        ("config.control_mode", target.config.get("control_mode"), MODES),
    ):
        if value and kind in table and value not in table[kind]:
            words = " or ".join(table[kind]) or f"nothing: {kind} has one of its own"
            yield refused(member, words, value, "name what is served, or leave it out")
    if real or kind != MUJOCO:
        return
    for number, camera in enumerate(target.cameras):
        at = f"perception.cameras[{number}]"
        if camera.name not in TABLE_CAMERAS:
            fix = f"call it {TABLE_CAMERAS[0]} or {TABLE_CAMERAS[1]}"
            yield refused(f"{at}.name", " or ".join(TABLE_CAMERAS), camera.name, fix)
        if camera.resolution != TABLE_PICTURE:
            fix = "leave it out; a policy's own size is made from it (policy_client.observations)"
            yield refused(f"{at}.resolution", str(list(TABLE_PICTURE)), list(camera.resolution), fix)
        if camera.device:
            yield refused(f"{at}.device", "nothing: a simulated camera", camera.device, "leave it out")
    xml = target.config.get("scene_xml")
    if xml is not None:
        found = xml if isinstance(xml, str) and os.path.exists(xml) else f"{xml}: no such file"
        fix = "leave scene_xml out, and describe the things in ENVIRONMENT.md"
        yield refused("config.scene_xml", "the built-in table", found, fix)


def review(target: Target, place: FieldLocator) -> Iterator[Finding]:
    """Findings that would refuse the target when it is opened, or at the preflight of its sessions."""
    if target.adapter == SIMULATION and (why := no_backend(target)):
        field, expected = place("TARGETS.md", target.id, "backend"), "one of " + ", ".join(BACKENDS)
        yield Finding("TARGET_BUILD", field, expected, why, "name one of them", warning=True)
    yield from unsupported(target, place)
    if target.adapter != ADAPTER:
        return
    name = target.driver.strip().lower()
    field = place("TARGETS.md", target.id, "adapter.driver")
    if name not in ROBOTS and target.driver not in ROBOTS:
        fix = "name one of them, or install the package that brings it"
        yield Finding("TARGET_BUILD", field, "one of " + ", ".join(sorted(ROBOTS)), target.driver or "none", fix,
                      warning=True)  # fmt: skip
    elif name in LIBRARIES:
        library, install = LIBRARIES[name]
        if find_spec(library) is None:
            yield Finding("TARGET_BUILD", field, library, "not installed here", install, warning=True)
    safety = target.config.get("safety")
    field = place("TARGETS.md", target.id, "config.safety")
    if safety is not None and not isinstance(safety, Mapping):
        yield Finding("TARGET_BUILD", field, "a mapping of limits", repr(safety), "write name: number", warning=True)
    elif unknown := [str(word) for word in safety or () if word not in WORDS]:
        fix = "correct the name: an unknown limit limits nothing"
        yield Finding("TARGET_BUILD", field, "some of " + ", ".join(WORDS), ", ".join(unknown), fix, warning=True)


def no_backend(target: Target) -> str:
    """Why the backend of a simulation is not available; "" where it is."""
    name = target.backend.strip().lower() or BACKENDS[0]
    if name in BACKENDS:
        return ""
    if name in UNSERVED:
        return f"the backend {name} is not served: {UNSERVED[name]}"
    return f"no backend is called {target.backend!r}"
