"""From a policy's actions to a target's: the same representation, or one that follows from it.

    source           accepted         how
    ee_delta         ee_pose          added up from the tool's pose when the chunk was planned
    ee_pose          ee_delta         the way there, cut to what one step may be
    joint_velocity   joint_position   a step's time of it, from the last position commanded
    joint_position   joint_velocity   what brings it there in a step

Between joints and the tool there is no conversion: that needs the arm's kinematics, in the target or the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from worldfs.base.messages import coded
from worldfs.policies.policy_contract import GRIPPERS
from worldfs.robots.targets.target_adapter import ACTIONS, ActionSpec, Array, Observation

from .quaternions import axis_angle, inverse, multiply, quaternion

_NEEDS = {
    ("ee_delta", "ee_pose"): "ee_pose",
    ("ee_pose", "ee_delta"): "ee_pose",
    ("joint_velocity", "joint_position"): "joint_states",
    ("joint_position", "joint_velocity"): "joint_states",
}
_DIMS = {"ee_delta": 7, "ee_pose": 8}


class NoConversion(ValueError):
    """The policy's actions cannot be converted to an action of the target; `found` says why."""

    def __init__(self, found: str) -> None:
        super().__init__(found)
        self.found = found


class ActionConversion:
    """Chosen once for a policy and a target. `begin` at each new chunk, then an action at a time."""

    def __init__(self, source: str, spec: ActionSpec, overrides: Mapping[str, object], control_hz: float) -> None:
        """`overrides`: `policy_client.action` {gripper {closed, open}, binary_gripper, clip} over the server's."""
        self.source, self.spec = source, spec
        self._dt = 1.0 / control_hz
        self._gripped = source in GRIPPERS  # a base has none: its last number is a turn
        if self._gripped:
            self._scale, self._shift = _grip(source, spec.representation, overrides.get("gripper"))
        self._binary = overrides.get("binary_gripper") is True
        self._clip = overrides.get("clip") is True
        self._now: Array | None = None
        self._turn: Callable[[Array, Observation], Array] = {
            ("ee_delta", "ee_pose"): self._add,
            ("ee_pose", "ee_delta"): self._way,
            ("joint_velocity", "joint_position"): self._integrate,
            ("joint_position", "joint_velocity"): self._differ,
        }.get((source, spec.representation), _same)

    @property
    def dim(self) -> int:
        """Numbers of one action of the policy."""
        return _DIMS.get(self.source, self.spec.shape[0])

    def begin(self) -> None:
        self._now = None

    def __call__(self, action: Array, observation: Observation) -> Array:
        """Raises `NoConversion` if the action has another number of components."""
        if action.shape != (self.dim,):
            raise NoConversion(coded("session.wrong_size", source=self.source, n=action.size, dim=self.dim))
        mine = np.asarray(action, float).copy()
        if self._clip:
            mine = np.clip(mine, -1.0, 1.0)
        if self._gripped:
            mine[-1] = self._scale * mine[-1] + self._shift
        if self._gripped and self._binary:
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
    source: str,
    dim: int,
    specs: Sequence[ActionSpec],
    observations: Mapping[str, object],
    overrides: Mapping[str, object],
    *,
    control_hz: float = 0.0,
) -> ActionConversion:
    """The best that there is. `source` "": the only representation of `dim` numbers (0: any). Raises `NoConversion`."""
    accepted = {spec.representation: spec for spec in specs}
    names = [coded("session.n_of", name=name, n=spec.shape[0]) for name, spec in accepted.items()]
    words: object = names or coded("common.nothing")
    if not source:
        fitting = [name for name, spec in accepted.items() if dim in (0, spec.shape[0])]
        if len(fitting) != 1:
            some = coded("session.some_numbers", names=words)
            raise NoConversion(coded("session.no_representation", n=dim, names=words) if dim else some)
        source = fitting[0]
    if source not in ACTIONS:
        raise NoConversion(coded("session.unknown_action", source=source, names=list(ACTIONS)))
    choices = [source, *(to for of, to in _NEEDS if of == source)]
    for name in choices:
        need = _NEEDS.get((source, name), "")
        if name in accepted and (not need or need in observations):
            spec = accepted[name]
            found = ActionConversion(source, spec, overrides, control_hz or spec.control_hz)
            if dim in (0, found.dim):
                return found
            size, meaning = found.dim, ACTIONS[source]
            raise NoConversion(
                coded("session.other_size", source=source, n=dim, size=size, meaning=meaning, names=words)
            )
    raise NoConversion(coded("session.no_conversion", source=source, names=words))


def _same(mine: Array, observation: Observation) -> Array:
    return mine


def _grip(source: str, taken: str, overrides: object) -> tuple[float, float]:
    """Scale and shift from the policy's figures for closed and open to those of what is taken."""
    closed, wide = GRIPPERS[source]
    if isinstance(overrides, Mapping):
        closed, wide = float(overrides.get("closed", closed)), float(overrides.get("open", wide))
    if closed == wide:
        raise NoConversion(coded("session.same_gripper", at=closed))
    low, high = GRIPPERS[taken]
    scale = (high - low) / (wide - closed)
    return scale, low - scale * closed
