"""Checks of a TARGETS.md entry without opening the target: backend, driver, library, names of its limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from worldfs.base.extras import install_command
from worldfs.base.messages import CodedText, coded
from worldfs.base.messages.message_rendering import either
from worldfs.base.model import Finding, Target
from worldfs.base.model.profile import PERCEPTIONS
from worldfs.base.plugin_registry import PluginGroup
from worldfs.robots.vehicles.vehicle_declaration import is_vehicle, review_vehicle

if TYPE_CHECKING:
    from .robots.robot_interface import RobotFactory

_HERE: Final = "worldfs.robots.targets.robots"
ROBOTS: Final[PluginGroup[RobotFactory]] = PluginGroup(
    "worldfs.robots",
    {
        "lerobot": f"{_HERE}.lerobot_arm:robot",
        "franka": f"{_HERE}.franka:robot",
        "unitree_go2": f"{_HERE}.unitree:robot",
        "rosbridge": "worldfs.robots.vehicles.rosbridge.rosbridge_base:robot",
    },
)
# driver → what it imports, what installs that
LIBRARIES: Final = {
    "lerobot": ("lerobot", install_command("lerobot")),
    "franka": ("franky", install_command("franka") + " (the build of franky-control for your robot's version)"),
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
OWN_PYTHON: Final = ("libero", "maniskill", "isaac_sim")  # each in a process and a Python of its own
BACKENDS: Final = (MUJOCO, "gymnasium", *OWN_PYTHON)
FieldLocator = Callable[[str, str, str], str]


TABLE_CAMERAS: Final = ("front", "wrist")
TABLE_PICTURE: Final = (640, 480)
TABLE_MODES: Final = ("ee_delta", "joint_position", "joint_velocity", "ee_pose")
# Backend or robot's driver → values of adapter.obs_format, and of config.control_mode, that are served
OBSERVATIONS: Final[Mapping[str, tuple[str, ...]]] = {
    MUJOCO: ("mujoco_standard",), **dict.fromkeys(("gymnasium", *OWN_PYTHON, *ROBOTS.built_in), ()),
}  # fmt: skip
MODES: Final[Mapping[str, tuple[str, ...]]] = {
    MUJOCO: TABLE_MODES, **dict.fromkeys(("gymnasium", *OWN_PYTHON), ()), "franka": ("joint_position",),
    "lerobot": ("joint_position",), "unitree_go2": ("base_velocity",), "rosbridge": ("base_velocity",),
}  # fmt: skip


def unsupported(target: Target, place: FieldLocator, job: str = "") -> Iterator[Finding]:
    """Settings of a built-in target that are not supported: refused by name, never replaced silently."""
    if target.adapter not in (ADAPTER, SIMULATION):
        return  # of another package: it judges its own entries
    real = target.adapter == ADAPTER
    kind = (target.driver if real else target.backend or MUJOCO).strip().lower()

    def refused(member: str, expected: str, found: object, fix: str) -> Finding:
        return Finding(
            "TARGET_BUILD",
            place("TARGETS.md", target.id, member),
            expected,
            found if isinstance(found, CodedText) else str(found)[:200],
            fix,
            job,
        )

    for member, value, table in (
        ("adapter.obs_format", target.obs_format, OBSERVATIONS),
        ("config.control_mode", target.config.get("control_mode"), MODES),
    ):
        if value and kind in table and value not in table[kind]:
            words = either(table[kind]) or coded("target.has_own", kind=kind)
            yield refused(member, words, value, coded("target.name_served"))
    if real or kind != MUJOCO:
        return
    source = target.config.get("perception")
    if source and source not in PERCEPTIONS:
        yield refused("config.perception", either(PERCEPTIONS), source, coded("target.name_served"))
    for number, camera in enumerate(target.cameras):
        at = f"perception.cameras[{number}]"
        if camera.name not in TABLE_CAMERAS:
            fix = coded("target.call_it", names=either(TABLE_CAMERAS))
            yield refused(f"{at}.name", either(TABLE_CAMERAS), camera.name, fix)
        if any(side > most for side, most in zip(camera.resolution, TABLE_PICTURE, strict=True)):
            most = coded("common.at_most", n=str(list(TABLE_PICTURE)))
            yield refused(f"{at}.resolution", most, list(camera.resolution), coded("target.leave_size"))
        if camera.device:
            yield refused(f"{at}.device", coded("target.simulated_camera"), camera.device, coded("target.leave_out"))
    xml = target.config.get("scene_xml")
    if xml is not None:
        found = (
            xml
            if isinstance(xml, str) and os.path.exists(xml)
            else coded("file.at", where=xml, found=coded("tree.no_file"))
        )
        fix = coded("target.leave_xml")
        yield refused("config.scene_xml", coded("target.built_in_table"), found, fix)


def review(target: Target, place: FieldLocator) -> Iterator[Finding]:
    """Findings that would refuse the target when it is opened, or at the preflight of its sessions."""
    if target.adapter == SIMULATION and (why := no_backend(target)):
        field, expected = place("TARGETS.md", target.id, "backend"), coded("common.either_of", names=[*BACKENDS])
        yield Finding("TARGET_BUILD", field, expected, why, coded("common.name_one"), warning=True)
    yield from unsupported(target, place)
    if target.adapter != ADAPTER:
        return
    if is_vehicle(target):
        yield from review_vehicle(target, place)
        return
    name = target.driver.strip().lower()
    field = place("TARGETS.md", target.id, "adapter.driver")
    if name not in ROBOTS and target.driver not in ROBOTS:
        fix = coded("session.name_or_install")
        yield Finding(
            "TARGET_BUILD",
            field,
            coded("common.either_of", names=sorted(ROBOTS)),
            target.driver or coded("common.none"),
            fix,
            warning=True,
        )
    elif name in LIBRARIES:
        library, install = LIBRARIES[name]
        if find_spec(library) is None:
            yield Finding("TARGET_BUILD", field, library, coded("file.not_installed"), install, warning=True)
    safety = target.config.get("safety")
    field = place("TARGETS.md", target.id, "config.safety")
    if safety is not None and not isinstance(safety, Mapping):
        yield Finding("TARGET_BUILD", field, coded("target.limits"), repr(safety), coded("target.name_number"))
    elif unknown := [str(word) for word in safety or () if word not in WORDS]:
        fix = coded("target.correct_limit")
        yield Finding("TARGET_BUILD", field, coded("common.some_of", names=[*WORDS]), ", ".join(unknown), fix)


def no_backend(target: Target) -> str:
    """Why the backend of a simulation is not available; "" where it is."""
    name = target.backend.strip().lower() or BACKENDS[0]
    if name in BACKENDS:
        return ""
    return coded("target.no_backend", name=target.backend)
