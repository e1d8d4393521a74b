"""The port of targets: a Gymnasium environment that can be observed, kept safe and stopped.

Observations are flat mappings of names to arrays, in SI units: `rgb.<camera>` uint8 (H, W, 3), `depth.<camera>` float32
(H, W) metres, `joint_states` float64 (n,) radians, `joint_velocities` (n,) rad/s, `gripper` (1,) metres of opening,
`ee_pose` (7,) metres and a quaternion (w, x, y, z), `state` what a policy calls so. An action is one of `ACTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from worldfs.base.driver import PluginContext, Run
from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Json, Scene, Target
from worldfs.base.plugin_values import UNBOUNDED, UNKNOWN, UNREAD, Flag, WrongField, rule

Array = NDArray[Any]
Bounds = Annotated[Array, UNBOUNDED]


def only_depth_is_unknown(observation: Mapping[str, Array]) -> WrongField | None:
    """A depth has no number where nothing came back; everything else is finite."""
    odd = next((name for name, value in observation.items() if "depth" not in name and not _finite(value)), None)
    return None if odd is None else WrongField(odd, coded("plugin.not_finite_array"), coded("plugin.finite_number"))


def _finite(value: Array) -> bool:
    return value.dtype.kind != "f" or bool(np.isfinite(value).all())


Observation = Annotated[Mapping[str, Annotated[Array, UNKNOWN]], only_depth_is_unknown]

# representation → (shape of one action, meaning); a target accepts some, a policy gives one
ACTIONS: Final = {
    "joint_position": "(n + 1,) radians of each joint, then gripper opening 0…1",
    "joint_velocity": "(n + 1,) rad/s of each joint, then gripper opening 0…1",
    "ee_delta": "(7,) metres dx dy dz, radians of rotation vector, gripper −1 close … 1 open; a step's change",
    "base_velocity": "(3,) m/s forward, m/s to the left, rad/s turning left, in the base's own frame",
    "ee_pose": "(8,) metres and quaternion (w, x, y, z) in the base frame, then gripper opening 0…1",
}


class TargetStopped(UserError):
    """The target has stopped and refuses to move: a limit was passed, it reports an error, or its watchdog expired."""

    code = "TARGET_STOPPED"


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """What a target accepts or a policy gives: representation, bounds a component, steps a second."""

    representation: str  # a key of ACTIONS
    shape: tuple[int, ...]
    low: Bounds = field(default_factory=lambda: np.full(7, -1.0))
    high: Bounds = field(default_factory=lambda: np.full(7, 1.0))
    control_hz: float = 20.0


@dataclass(frozen=True, slots=True)
class StepResult:
    """After one action: the observation, whether the episode is over, and what the safety layer changed."""

    observation: Observation
    reward: float = 0.0
    terminated: Flag = False
    truncated: Flag = False
    success: Flag | None = None  # measured by a predicate of the target; None: not measurable
    clamped: Sequence[str] = ()  # names of the limits that applied
    info: Annotated[Mapping[str, object], UNREAD] = field(default_factory=dict)


@rule(ActionSpec)
def spec_is_usable(spec: ActionSpec) -> WrongField | None:
    """A shape of whole numbers above 0, bounds of that shape, a rate above 0."""
    if not spec.shape or min(spec.shape) < 1:
        return WrongField("shape", str(spec.shape), coded("plugin.above_0"))
    for name, bound in (("low", spec.low), ("high", spec.high)):
        if bound.shape != spec.shape:
            return WrongField(name, str(bound.shape), str(spec.shape))
    return None if spec.control_hz > 0 else WrongField("control_hz", f"{spec.control_hz:g}", coded("plugin.above_0"))


class TargetAdapter(Protocol):
    """One target, taken up by `open`, used from one thread at a time, let go by `close`."""

    target: Target

    def open(self) -> None:
        """Raises `MissingRequirement` where its library or device is not here, saying what to install or connect."""
        ...

    def sensors(self) -> frozenset[str]:
        """The specification's words: rgb_camera, depth_camera, joint_states …"""
        ...

    def actions(self) -> Sequence[ActionSpec]: ...

    def observations(self) -> Mapping[str, tuple[tuple[int, ...], str]]:
        """Name → (shape, dtype) of what `reset` and `step` give."""
        ...

    def reset(self, *, seed: int | None = None, options: Json | None = None) -> Observation: ...

    def step(self, action: Array, representation: str) -> StepResult: ...

    def observe(self) -> Observation: ...

    def scene(self) -> Scene:
        """For ENVIRONMENT.md: objects, relations, the robot, perception."""
        ...

    def stop(self) -> None:
        """Stop now; from any thread."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class SessionAware(Protocol):
    """An optional addition to the port: the adapter learns of sessions, and stops when one is over."""

    def set_run(self, run: Run | None) -> None:
        """A session begins: from here on the end of `run` (cancelled, out of time) is a stop. None: it is over."""
        ...

    def heartbeat(self) -> None:
        """The session is waiting for an answer, and does not hang; from any thread."""
        ...


AdapterFactory = Callable[[Target, PluginContext], TargetAdapter]


def nothing_wrong(findings: Sequence[Finding]) -> bool:
    """No finding, or only warnings."""
    return all(finding.warning for finding in findings)
