"""What can be said of a target in TARGETS.md without taking it up: backend, driver, library, words of its limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Final

from worldfs.ground.model import Finding, Target

GROUP: Final = "worldfs.robots"  # entry points of packages that bring a robot of their own
_HERE: Final = "worldfs.drivers.targets.robots"
# driver → module:factory, what it imports, what installs that
DRIVERS: Final = {
    "lerobot": (f"{_HERE}.lerobot:robot", "lerobot", "pip install lerobot (with its extra for the motors)"),
    "franka": (f"{_HERE}.franka:robot", "franky", "pip install franky-control (the build for your robot's version)"),
    "unitree_go2": (
        f"{_HERE}.unitree:robot", "unitree_sdk2py",
        "install unitree_sdk2py from github.com/unitreerobotics/unitree_sdk2_python (pip install -e .)",
    ),
}  # fmt: skip
ADAPTER: Final = "RealRobotTargetAdapter"
WORDS: Final = (
    "joint_low", "joint_high", "joint_speed", "joint_step", "workspace", "ee_speed", "ee_turn", "ee_step",
    "gripper_low", "gripper_high", "gripper_speed", "gripper_force", "force", "torque", "base_low", "base_high",
    "base_speed", "base_acceleration", "follow", "watchdog_s", "stale_s",
)  # fmt: skip
SIMULATION: Final = "SimTargetAdapter"
BACKENDS: Final = ("mujoco", "gymnasium")
# Backends that the specification names and nothing here serves → why. They are refused by name, not tried.
UNSERVED: Final = {
    "maniskill": "its environments step batches of tensors on a GPU, which no adapter here does",
    "isaac_sim": "it runs only inside its own application launcher, which no adapter here starts",
}
Place = Callable[[str, str, str], str]


def known() -> dict[str, str]:
    """Drivers there are: name → "module:factory". Nobody else's takes the name of one of ours."""
    foreign = {point.name: point.value for point in entry_points(group=GROUP)}
    return {**foreign, **{name: where for name, (where, _, _) in DRIVERS.items()}}


def review(target: Target, place: Place) -> Iterator[Finding]:
    """Warnings for a target that would be refused when it is taken up."""
    if target.adapter == SIMULATION and (why := unserved(target)):
        field, expected = place("TARGETS.md", target.id, "backend"), "one of " + ", ".join(BACKENDS)
        yield Finding("TARGET_BUILD", field, expected, why, "name one of them", warning=True)
    if target.adapter != ADAPTER:
        return
    name, there = target.driver.strip().lower(), known()
    field = place("TARGETS.md", target.id, "adapter.driver")
    if name not in there and target.driver not in there:
        fix = "name one of them, or install the package that brings it"
        yield Finding("TARGET_BUILD", field, "one of " + ", ".join(sorted(there)), target.driver or "none", fix,
                      warning=True)  # fmt: skip
    elif name in DRIVERS:
        _, library, install = DRIVERS[name]
        if find_spec(library) is None:
            yield Finding("TARGET_BUILD", field, library, "not installed here", install, warning=True)
    safety = target.config.get("safety")
    field = place("TARGETS.md", target.id, "config.safety")
    if safety is not None and not isinstance(safety, Mapping):
        yield Finding("TARGET_BUILD", field, "a mapping of limits", repr(safety), "write name: number", warning=True)
    elif unknown := [str(word) for word in safety or () if word not in WORDS]:
        fix = "correct the name: a limit that nobody knows limits nothing"
        yield Finding("TARGET_BUILD", field, "some of " + ", ".join(WORDS), ", ".join(unknown), fix, warning=True)


def unserved(target: Target) -> str:
    """Why the backend of a simulation cannot be had; "" where it can."""
    name = target.backend.strip().lower() or BACKENDS[0]
    if name in BACKENDS:
        return ""
    if name in UNSERVED:
        return f"the backend {name} is not served: {UNSERVED[name]}"
    return f"no backend is called {target.backend!r}"
