"""Kinematic chains: the tool's pose at joint angles, and angles for a pose near a start. Numpy alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

Array = NDArray[np.float64]
ROUNDS = 60
CLOSE_M, CLOSE_RAD = 2e-4, 2e-3
STEP = 0.2  # rad, the largest change of a joint in one round


@dataclass(frozen=True, slots=True)
class Chain:
    """Joints one after the other from the base (4×4 before each, axis of each), then the tool (4×4)."""

    before: tuple[Array, ...]
    axes: tuple[Array, ...]
    tool: Array = field(default_factory=lambda: np.eye(4))

    def forward(self, q: Array) -> Array:
        """The tool's frame (4×4) in the base frame at joint angles `q` (n,) rad."""
        frame = np.eye(4)
        for before, axis, angle in zip(self.before, self.axes, q, strict=True):
            frame = frame @ before
            frame[:3, :3] = frame[:3, :3] @ turn(axis, float(angle))
        return frame @ self.tool

    def jacobian(self, q: Array) -> tuple[Array, Array]:
        """Tool frame (4×4), and how its place (m) and turn (rad) change with each joint (6×n), in the base frame."""
        frame, axes, points = np.eye(4), [], []
        for before, axis, angle in zip(self.before, self.axes, q, strict=True):
            frame = frame @ before
            axes.append(frame[:3, :3] @ axis)
            points.append(frame[:3, 3])
            frame[:3, :3] = frame[:3, :3] @ turn(axis, float(angle))
        tool = frame @ self.tool
        turns = np.array(axes)
        return tool, np.hstack([np.cross(turns, tool[:3, 3] - np.array(points)), turns]).T

    def near(self, start: Array, wanted: Array, low: Array, high: Array) -> Array | None:
        """Angles for the tool frame `wanted` (4×4), searched from `start`, within the limits. None: not found."""
        q = np.clip(start, low, high)
        for _ in range(ROUNDS):
            tool, J = self.jacobian(q)
            error = np.append(wanted[:3, 3] - tool[:3, 3], rotation_vector(wanted[:3, :3] @ tool[:3, :3].T))
            if np.linalg.norm(error[:3]) < CLOSE_M and np.linalg.norm(error[3:]) < CLOSE_RAD:
                return q
            damping = 1e-6 + 0.01 * min(1.0, float(error @ error))
            change = J.T @ np.linalg.solve(J @ J.T + damping * np.eye(6), error)
            largest = float(np.max(np.abs(change)))
            q = np.clip(q + change * min(1.0, STEP / max(largest, 1e-12)), low, high)
        return None


def from_dh(rows: Sequence[Sequence[float]], tool: Array | None = None) -> Chain:
    """Modified Denavit-Hartenberg after Craig: a (m), d (m), alpha (rad), and an offset of theta (rad) a joint."""
    before = []
    for a, d, alpha, *offset in rows:
        ca, sa = math.cos(alpha), math.sin(alpha)
        frame = np.array([[1, 0, 0, a], [0, ca, -sa, -d * sa], [0, sa, ca, d * ca], [0, 0, 0, 1.0]])
        if offset:
            frame[:3, :3] = frame[:3, :3] @ turn(_Z, float(offset[0]))
        before.append(frame)
    return Chain(tuple(before), (_Z,) * len(before), np.eye(4) if tool is None else np.asarray(tool, float))


def from_urdf(text: str, joints: Sequence[str], tip: str = "", *, path: str = "") -> Chain:
    """The chain of these revolute joints of a robot description, to the link `tip` ("": where the last one leads).

    Raises `BadInput` for a text that is no URDF, joints that are not one chain, or moving joints between that are not
    named.
    """
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 # same: the operator's own file
    except ElementTree.ParseError as error:
        raise BadInput(coded("target.no_xml", why=str(error)), path=path, expected=coded("target.urdf")) from error
    into = {_link(joint, "child"): joint for joint in root.findall("joint")}
    named = {str(joint.get("name")): joint for joint in into.values()}
    if missing := [name for name in joints if name not in named]:
        raise BadInput(
            coded("target.no_joint", names=[*missing]), path=path, expected=coded("target.its_joints", names=[*named])
        )
    way, link = [], tip or _link(named[joints[-1]], "child")
    while link in into:
        way.append(into[link])
        link = _link(into[link], "parent")
    before, axes, frame = [], [], np.eye(4)
    found = []
    for joint in reversed(way):
        frame = frame @ _origin(joint)
        kind, name = joint.get("type"), str(joint.get("name"))
        if kind == "fixed":
            continue
        if name not in joints or kind not in ("revolute", "continuous"):
            raise BadInput(
                coded("target.joint_on_way", kind=kind, name=name), path=path, expected=f"{', '.join(joints)}"
            )
        axis = joint.find("axis")
        direction = _numbers(axis.get("xyz") if axis is not None else None, "1 0 0")
        before.append(frame)
        axes.append(direction / np.linalg.norm(direction))
        found.append(name)
        frame = np.eye(4)
    if found != list(joints):
        raise BadInput(
            coded("target.chain", names=" → ".join(found) or coded("common.none")),
            path=path,
            expected=" → ".join(joints),
        )
    return Chain(tuple(before), tuple(axes), frame)


def turn(axis: Array, angle: float) -> Array:
    """Rotation (3×3) about a unit axis (Rodrigues)."""
    x, y, z = map(float, axis)
    c, s = math.cos(angle), math.sin(angle)
    u, v, w = x * (1 - c), y * (1 - c), z * (1 - c)
    return np.array(
        [
            [u * x + c, u * y - s * z, u * z + s * y],
            [u * y + s * z, v * y + c, v * z - s * x],
            [u * z - s * y, v * z + s * x, w * z + c],
        ]
    )


def rotation_vector(rotation: Array) -> Array:
    """Axis times angle (3,) rad of a rotation (3×3)."""
    w, x, y, z = quaternion(rotation)
    vector = np.array([x, y, z])
    size = float(np.linalg.norm(vector))
    return vector * (2 * math.atan2(size, w) / size) if size > 1e-12 else 2 * vector


def of_vector(vector: Array) -> Array:
    """Rotation (3×3) of a rotation vector (rad)."""
    angle = float(np.linalg.norm(vector))
    return turn(vector / angle, angle) if angle > 1e-12 else np.eye(3)


def quaternion(rotation: Array) -> tuple[float, float, float, float]:
    """Quaternion (w, x, y, z), w not negative, of a rotation (3×3) (Shepperd)."""
    m = rotation
    squares = np.array([np.trace(m), m[0, 0], m[1, 1], m[2, 2]])
    k = int(np.argmax(squares))
    if k == 0:
        q = np.array([1 + squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    else:
        a, b, c = k - 1, k % 3, (k + 1) % 3
        q = np.empty(4)
        q[0] = m[c, b] - m[b, c]
        q[1 + a] = 1 + m[a, a] - m[b, b] - m[c, c]
        q[1 + b] = m[b, a] + m[a, b]
        q[1 + c] = m[c, a] + m[a, c]
    q /= np.linalg.norm(q) * (1 if q[0] >= 0 else -1)
    return float(q[0]), float(q[1]), float(q[2]), float(q[3])


def of_quaternion(quat: Array) -> Array:
    """Rotation (3×3) of a quaternion (w, x, y, z) of any length but 0."""
    w, x, y, z = np.asarray(quat, float) / np.linalg.norm(quat)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


_Z: Array = np.array([0.0, 0.0, 1.0])


def _link(joint: ElementTree.Element, end: str) -> str:
    found = joint.find(end)
    return str(found.get("link")) if found is not None else ""


def _origin(joint: ElementTree.Element) -> Array:
    origin = joint.find("origin")
    frame = np.eye(4)
    if origin is not None:
        roll, pitch, yaw = _numbers(origin.get("rpy"), "0 0 0")
        x, y = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
        frame[:3, :3] = turn(_Z, yaw) @ turn(y, pitch) @ turn(x, roll)
        frame[:3, 3] = _numbers(origin.get("xyz"), "0 0 0")
    return frame


def _numbers(text: str | None, default: str) -> Array:
    return np.array([float(part) for part in (text or default).split()])
