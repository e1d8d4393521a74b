"""Inverse kinematics: damped least squares on position and turn, with restarts (reference "Embodied" §4.2)."""

from __future__ import annotations

import mujoco
import numpy as np

from . import geometry, panda
from .array_types import Array

LOW = np.array([lo for lo, _ in panda.LIMITS]) + 0.01
HIGH = np.array([hi for _, hi in panda.LIMITS]) - 0.01
HOME = np.array(panda.HOME)
_ONES = np.eye(6)
POSITION_DONE = 0.0005  # m
TURN_DONE = 0.005  # rad
STEP = 0.25  # rad, largest joint change of one iteration
ROUNDS = 120
RESTARTS = 4  # random starts after the present pose and home


class IKSolver:
    """The arm alone, on a model of its own: other objects cost nothing here."""

    def __init__(self, base: tuple[float, ...]) -> None:
        spec = mujoco.MjSpec()
        panda.add(spec, base[:3], geometry.quat_of(geometry.from_rpy(*base[3:6])))
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.tcp = self.model.site(panda.TOOL_POINT).id
        self._jacobian = np.zeros((6, self.model.nv))
        self._turn = np.zeros(3)
        self._quat = np.zeros(4)
        self._shoulder = np.array(base[:3]) + geometry.from_rpy(*base[3:6]) @ np.array([0, 0, panda.DH_D[0]])

    def pose(self, q: Array) -> tuple[Array, Array]:
        """TCP position (3) and rotation (3×3) at joint angles `q` (7)."""
        self.data.qpos[: panda.ARM] = q
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.site_xpos[self.tcp].copy(), self.data.site_xmat[self.tcp].reshape(3, 3).copy()

    def near(self, q: Array, position: Array, rotation: Array) -> Array | None:
        """Joint angles for the pose, searched from `q`; None when the search ends elsewhere."""
        model, data, jacobian = self.model, self.data, self._jacobian
        # flange and gripper add 0.21 m beyond the wrist: farther from the shoulder than this no arm gets
        if np.linalg.norm(position - self._shoulder) > panda.MAX_REACH + 0.22:
            return None
        q = np.clip(np.asarray(q, dtype=float), LOW, HIGH)
        error = np.zeros(6)
        best, stale = np.inf, 0
        for _ in range(ROUNDS):
            data.qpos[: panda.ARM] = q
            mujoco.mj_kinematics(model, data)
            error[:3] = position - data.site_xpos[self.tcp]
            mujoco.mju_mat2Quat(self._quat, (rotation @ data.site_xmat[self.tcp].reshape(3, 3).T).ravel())
            mujoco.mju_quat2Vel(self._turn, self._quat, 1.0)
            error[3:] = self._turn
            off, turned = float(np.sqrt(error[:3] @ error[:3])), float(np.sqrt(error[3:] @ error[3:]))
            if off < POSITION_DONE and turned < TURN_DONE:
                return q
            size = off + 0.3 * turned
            best, stale = (size, 0) if size < 0.98 * best else (best, stale + 1)
            if stale > 25:
                return None
            mujoco.mj_comPos(model, data)
            mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], self.tcp)
            J = jacobian[:, : panda.ARM]
            damping = 0.05 * min(1.0, 5.0 * float(np.sqrt(error @ error)))
            inverse = J.T @ np.linalg.inv(J @ J.T + (damping**2 + 1e-8) * _ONES)
            drift = 0.1 * (HOME - q)
            change = inverse @ error + drift - inverse @ (J @ drift)
            largest = float(np.abs(change).max())
            if largest > STEP:
                change *= STEP / largest
            q = np.minimum(np.maximum(q + change, LOW), HIGH)  # np.clip takes four times as long
        return None

    def solve(self, present: Array, position: Array, rotation: Array) -> Array | None:
        """`near` from the present pose, from home, then from fixed random poses (the same every time)."""
        rng = np.random.default_rng(7)
        starts = [present, HOME, *(rng.uniform(LOW, HIGH) for _ in range(RESTARTS))]
        for start in starts:
            found = self.near(start, position, rotation)
            if found is not None:
                return found
        return None

    def line(self, start: Array, positions: Array, rotation: Array) -> list[Array] | int:
        """Joint angles along TCP `positions` (N×3), each from the last; the number of the first that fails."""
        q, path = start, []
        for i, position in enumerate(positions):
            found = self.near(q, position, rotation)
            if found is None or float(np.max(np.abs(found - q))) > 0.6:  # a jump of the elbow is no line
                return i
            q = found
            path.append(q)
        return path
