"""From what a policy gives to what a target accepts: the same representation, or one that follows from it.

    given            accepted         how
    ee_delta         ee_pose          added up from the hand's pose when the chunk was planned
    ee_pose          ee_delta         the way there, cut to what one step may be
    joint_velocity   joint_position   a step's time of it, from the last position commanded
    joint_position   joint_velocity   what brings it there in a step

Between joints and the hand there is no bridge: that needs the arm's kinematics, and belongs to target or policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from worldfs.drivers.policies.policy_contract import GRIPPERS
from worldfs.drivers.targets.target_adapter import ACTIONS, ActionSpec, Array, Observation

from .quaternions import axis_angle, inverse, multiply, quaternion

_NEEDS = {
    ("ee_delta", "ee_pose"): "ee_pose",
    ("ee_pose", "ee_delta"): "ee_pose",
    ("joint_velocity", "joint_position"): "joint_states",
    ("joint_position", "joint_velocity"): "joint_states",
}
_DIMS = {"ee_delta": 7, "ee_pose": 8}


class NoConversion(ValueError):
    """What the policy gives cannot become what the target accepts; the text says why."""


class ActionConversion:
    """Chosen once for a policy and a target. `begin` at each new chunk, then an action at a time."""

    def __init__(self, given: str, spec: ActionSpec, said: Mapping[str, Any], control_hz: float) -> None:
        """`said`: `policy_client.action` {gripper {closed, open}, binary_gripper, clip} over what the client says."""
        self.given, self.spec = given, spec
        self._dt = 1.0 / control_hz
        self._scale, self._shift = _grip(given, spec.representation, said.get("gripper"))
        self._binary = said.get("binary_gripper") is True
        self._clip = said.get("clip") is True
        self._now: Array | None = None
        self._turn: Callable[[Array, Observation], Array] = {
            ("ee_delta", "ee_pose"): self._add,
            ("ee_pose", "ee_delta"): self._way,
            ("joint_velocity", "joint_position"): self._integrate,
            ("joint_position", "joint_velocity"): self._differ,
        }.get((given, spec.representation), _same)

    @property
    def dim(self) -> int:
        """Numbers of one action as the policy gives it."""
        return _DIMS.get(self.given, self.spec.shape[0])

    def begin(self) -> None:
        self._now = None

    def __call__(self, action: Array, observation: Observation) -> Array:
        """Raises `NoConversion` if the action has another number of components."""
        if action.shape != (self.dim,):
            raise NoConversion(f"{self.given} of {action.size} numbers, and the target's has {self.dim}")
        mine = np.asarray(action, float).copy()
        if self._clip:
            mine = np.clip(mine, -1.0, 1.0)
        mine[-1] = self._scale * mine[-1] + self._shift
        if self._binary:
            low, high = GRIPPERS[self.spec.representation]
            mine[-1] = high if mine[-1] >= (low + high) / 2 else low
        return self._turn(mine, observation)

    def _add(self, mine: Array, observation: Observation) -> Array:
        pose = self._now if self._now is not None else np.asarray(observation["ee_pose"], float)
        turned = multiply(quaternion(mine[3:6]), pose[3:7])
        self._now = np.array((*(pose[:3] + mine[:3]), *(turned / np.linalg.norm(turned))))
        return np.append(self._now, mine[-1])

    def _way(self, mine: Array, observation: Observation) -> Array:
        pose = np.asarray(observation["ee_pose"], float)
        wanted = mine[3:7] / (np.linalg.norm(mine[3:7]) or 1.0)
        way = np.array((*(mine[:3] - pose[:3]), *axis_angle(multiply(wanted, inverse(pose[3:7])))))
        for part in (slice(0, 3), slice(3, 6)):  # cut as a whole: the direction stays
            most = np.where(way[part] > 0, self.spec.high[part], -np.asarray(self.spec.low[part]))
            ratio = float(np.max(np.abs(way[part]) / np.maximum(most, 1e-9)))
            way[part] /= max(1.0, ratio)
        return np.append(way, mine[-1])

    def _integrate(self, mine: Array, observation: Observation) -> Array:
        joints = self._now if self._now is not None else np.asarray(observation["joint_states"], float).ravel()
        self._now = joints + self._dt * mine[:-1]
        return np.append(self._now, mine[-1])

    def _differ(self, mine: Array, observation: Observation) -> Array:
        joints = np.asarray(observation["joint_states"], float).ravel()
        return np.append((mine[:-1] - joints) / self._dt, mine[-1])


def choose_conversion(
    given: str,
    dim: int,
    specs: Sequence[ActionSpec],
    observations: Mapping[str, object],
    said: Mapping[str, Any],
    *,
    control_hz: float = 0.0,
) -> ActionConversion:
    """The best that there is. `given` "": the only representation of `dim` numbers (0: any). Raises `NoConversion`."""
    accepted = {spec.representation: spec for spec in specs}
    words = ", ".join(f"{name} of {spec.shape[0]}" for name, spec in accepted.items()) or "nothing"
    if not given:
        fitting = [name for name, spec in accepted.items() if dim in (0, spec.shape[0])]
        if len(fitting) != 1:
            raise NoConversion(f"{dim or 'some'} numbers that it does not name; the target accepts {words}")
        given = fitting[0]
    if given not in ACTIONS:
        raise NoConversion(f"{given!r}; there are {', '.join(ACTIONS)}")
    choices = [given, *(to for of, to in _NEEDS if of == given)]
    for name in choices:
        need = _NEEDS.get((given, name), "")
        if name in accepted and (not need or need in observations):
            spec = accepted[name]
            found = ActionConversion(given, spec, said, control_hz or spec.control_hz)
            if dim in (0, found.dim):
                return found
            raise NoConversion(f"{given} of {dim} numbers; the target accepts {words}")
    raise NoConversion(f"{given}; the target accepts {words}, and between joints and the hand there is no bridge")


def _same(mine: Array, observation: Observation) -> Array:
    return mine


def _grip(given: str, taken: str, said: object) -> tuple[float, float]:
    """Scale and shift from the policy's figures for closed and open to those of what is taken."""
    closed, wide = GRIPPERS[given]
    if isinstance(said, Mapping):
        closed, wide = float(said.get("closed", closed)), float(said.get("open", wide))
    if closed == wide:
        raise NoConversion(f"a gripper that is closed and open at {closed:g}")
    low, high = GRIPPERS[taken]
    scale = (high - low) / (wide - closed)
    return scale, low - scale * closed
