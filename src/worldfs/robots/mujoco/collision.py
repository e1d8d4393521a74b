"""The collision checker: a copy of the state in which poses are tried, so that planning and review move nothing."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import mujoco
import numpy as np

from worldfs.base.messages import CodedText, coded

from .array_types import Array, Native
from .body_cover import BodyCover
from .body_limits import OUTSIDE, REACH, TOOL, BodyLimits
from .neighbours import Neighbours
from .rig import TOUCH_DEPTH, Rig
from .vessel_model import GRAINS

CLEAR_OF_VESSEL = 0.010  # m
RESOLUTION = 0.06  # rad between checked poses of a joint path, at most
MARGIN = 0.012  # m that a motion through the room keeps from things that could be knocked over
OFF_PATH = 0.002  # m that servos leave a path in free motion: what is nearer to a pose is touched there
FINE = 0.004  # m between checked poses beside a thing, at least
SEEN = 0.06  # m around a thing in which its distance is measured
LEVER = np.array((1.05, 1.05, 0.8, 0.75, 0.35, 0.3, 0.12))  # m from each joint's axis to what it moves, at most
Pair = tuple[str, str]
Allowed = dict[Pair, float] | frozenset[Pair] | set[Pair]  # pairs that may touch, or so deep (m)


class CollisionChecker:
    """Tries arm poses against a snapshot of the live state; a held object moves with the gripper.

    `opening` is the half opening of the fingers (m) in every pose tried.
    """

    def __init__(
        self,
        rig: Rig,
        *,
        opening: float | None = None,
        held: str | None = None,
        neighbours: Neighbours | None = None,
        limits: BodyLimits | None = None,
    ) -> None:
        self.rig = rig
        self._limits = limits
        self.model = _with_seen_things(rig)
        self.data = mujoco.MjData(self.model)
        self.nearest = SEEN  # m from the arm, or what it holds, to a thing, in the pose that was tried last
        self._lever = LEVER
        self.data.qpos[:] = rig.simulation.data.qpos
        self.held = held
        if opening is not None:
            self.opened(opening)
        if held is not None:
            position, rotation = rig.view.tcp_pose()
            self.offset = rotation.T @ (rig.position(held) - position)
            self.turn = rotation.T @ rig.rotation(held)
            self._lever = LEVER + float(np.linalg.norm(self.offset) + np.linalg.norm(rig.half(held)))
        self._owner = rig.geom_owner
        self._neighbours = neighbours
        self._quat = np.zeros(4)
        self._margins = neighbours.margins(self.spheres_at(rig.view.joints())) if neighbours else {}

    def opened(self, opening: float) -> CollisionChecker:
        """This one, with the fingers so from now on."""
        self.data.qpos[self.rig.view.finger_qpos] = opening
        return self

    def hits(self, q: Array, *, allowed: Allowed = frozenset(), margin: float = 0.0) -> dict[Pair, float]:
        """Pairs that involve the arm or what it holds and collide at arm angles `q` (7): pair → depth (m).

        Furniture is met where it is more than 2 mm deep, a loose thing where it would give way by more than that.
        `margin`: what distance to keep from loose things instead (m); a pair that is nearer has a depth below 0.
        """
        data = self.data
        self.nearest = SEEN
        least = allowed if isinstance(allowed, dict) else dict.fromkeys(allowed, math.inf)
        self._pose(q)
        mujoco.mj_collision(self.model, data)
        found: dict[Pair, float] = {}
        if self._neighbours:
            near = self._neighbours.near(self._cover().spheres(data), self._margins)
            found |= {pair("robot", id): depth for id, depth in near.items()}
        if hulls := self.rig.hulls:
            found |= self._in_hulls(hulls)
        found = {met: depth for met, depth in found.items() if depth > least.get(met, -1.0)}
        found |= self.outside(least)
        if data.ncon == 0:
            return found
        near = data.contact
        rows = zip(near.geom.tolist(), near.dist.tolist(), depth_limits(near.frame).tolist(), strict=True)
        for (first, second), distance, shoved in rows:
            one, other = sorted((self._owner[first], self._owner[second]))
            if GRAINS in (one, other) or ("robot" not in (one, other) and self.held not in (one, other)):
                continue  # grains give way
            met = (one, other)
            if self.held is not None and set(met) == {"robot", self.held}:
                continue
            if self._neighbours and self._neighbours.passing(met):
                continue
            limit, loose = least.get(met), self._loose(met)
            if loose and limit != math.inf:
                self.nearest = min(self.nearest, distance)
            kept = -TOUCH_DEPTH if not loose else margin or -shoved
            if distance < kept and (limit is None or -distance > limit):
                found[met] = max(found.get(met, -math.inf), -distance)
        return found

    def _loose(self, met: Pair) -> bool:
        """Whether one of a pair is a thing that the other could knock over."""
        return any(id in self.rig.body and id != self.held for id in met)

    def outside(self, least: Mapping[Pair, float]) -> dict[Pair, float]:
        """How far beyond the limits of the arm its tool point and the middle of what it holds are, in the pose that was
        tried last: a pair for each bound → depth (m), those that are deeper than `least`."""
        found: dict[Pair, float] = {}
        if self._limits is None or not self._limits.bounded:
            return found
        points = {TOOL: self.rig.view.tcp_pose_in(self.data)[0]}
        if self.held is not None:
            at = self.rig.qpos[self.held]
            points[self.held] = self.data.qpos[at : at + 3]
        for id, point in points.items():
            for bound, depth in self._limits.outside(point):
                side = "-" if bound.value < bound.low else "+"
                met = pair(id or "robot", f"{OUTSIDE}{bound.axis}{side}")
                if depth > least.get(met, -1.0):
                    self._limits.note(id, point, bound)
                    found[met] = depth
        return found

    def _in_hulls(self, hulls: Mapping[str, int]) -> dict[Pair, float]:
        """How far too near (m) the arm, or what it holds, is to vessels: a pose could be inside, past their thin walls,
        and what grazes them spills."""
        model, data, found = self.model, self.data, dict[Pair, float]()
        own = np.array([g for g, owner in enumerate(self._owner) if owner in ("robot", self.held)])
        own = own[(model.geom_contype[own] > 0) | np.isin(own, list(hulls.values()))]
        for id, hull in hulls.items():
            if id == self.held:
                continue
            apart = np.linalg.norm(data.geom_xpos[own] - data.geom_xpos[hull], axis=1)
            for geom in own[apart < model.geom_rbound[own] + model.geom_rbound[hull] + CLEAR_OF_VESSEL].tolist():
                room = CLEAR_OF_VESSEL - mujoco.mj_geomDistance(model, data, geom, hull, 2 * CLEAR_OF_VESSEL, None)
                if room > TOUCH_DEPTH:
                    met = pair(self._owner[geom], id)
                    found[met] = max(found.get(met, 0.0), room)
        return found

    def spheres_at(self, q: Array) -> Array:
        """The arm and what it holds at these angles, as spheres (n × 4: centre, radius)."""
        self._pose(q)
        return self._cover().spheres(self.data)

    def _cover(self) -> BodyCover:
        rig = self.rig
        return rig.cover(rig.view.bodies if self.held is None else rig.view.bodies | {rig.body[self.held]})

    def _pose(self, q: Array) -> None:
        rig, data = self.rig, self.data
        data.qpos[rig.view.joint_qpos] = q
        mujoco.mj_kinematics(self.model, data)
        if self.held is not None:
            position, rotation = rig.view.tcp_pose_in(data)
            at = rig.qpos[self.held]
            data.qpos[at : at + 3] = position + rotation @ self.offset
            mujoco.mju_mat2Quat(self._quat, (rotation @ self.turn).ravel())
            data.qpos[at + 3 : at + 7] = self._quat
            mujoco.mj_kinematics(self.model, data)

    def free(self, q: Array, *, allowed: Allowed = frozenset()) -> bool:
        return not self.hits(q, allowed=allowed)

    def along(self, path: Sequence[Array], *, allowed: Allowed = frozenset(), margin: float = 0.0) -> dict[Pair, float]:
        """The first collision along straight joint segments through `path`; empty: none.

        Between two checked poses no point of the arm moves farther than to the margin of the nearest thing, or `FINE`:
        nothing is so thin that it stands between them.
        """
        for start, end in pairwise(path):
            change = np.abs(end - start)
            farthest = RESOLUTION / max(float(np.max(change)), 1e-9)
            way = max(float(change @ self._lever), 1e-9)
            done, self.nearest = 0.0, 0.0
            while done < 1.0:
                done = min(1.0, done + min(farthest, max(FINE, self.nearest - max(margin, 0.0)) / way))
                found = self.hits(start + (end - start) * done, allowed=allowed, margin=margin)
                if found:
                    return found
        return {}


def _with_seen_things(rig: Rig) -> Native:
    """The model, with a distance to loose things that is measured before they touch."""
    model = copy.copy(rig.simulation.model)
    model.geom_margin[[g for g, owner in enumerate(rig.geom_owner) if owner in rig.body]] = SEEN
    model.body_margin[list(rig.body.values())] = SEEN
    return model


def depth_limits(frames: Array) -> Array:
    """How deep each contact (n × 9: normal first) may be (m): a loose thing that is met from the side may give way by
    2 mm. One that is met from above or below may not be touched: it would be dragged along, however thin it is."""
    return np.asarray(TOUCH_DEPTH * np.hypot(frames[:, 0], frames[:, 1]))


def pair(one: str, other: str) -> Pair:
    return (one, other) if one <= other else (other, one)


def persisting(hits: dict[Pair, float]) -> dict[Pair, float]:
    """What a motion that begins with these contacts may keep of them: no deeper, so that nothing is taken along."""
    return {met: depth + TOUCH_DEPTH / 2 for met, depth in hits.items()}


def contacts(hits: dict[Pair, float]) -> list[CodedText]:
    """`robot-table_01 (12 mm deep)` or `robot-cup (3 mm apart)` for each pair, the deepest first."""
    ranked = sorted(hits.items(), key=lambda item: -item[1])
    return [
        coded("robot.near" if d < 0 else "robot.contact", one=thing_name(a), other=thing_name(b), mm=abs(d) * 1000)
        for (a, b), d in ranked
    ]


def thing_name(id: str) -> str:
    """The robot, the floor and the workspace, which are no things of the scene, by name; any thing by its id."""
    if id.startswith(OUTSIDE):
        axis = id[len(OUTSIDE) :]
        return coded("robot.max_reach") if axis.startswith(REACH) else coded("robot.bound", axis=axis)
    return coded("robot.body") if id == "robot" else coded("robot.floor") if id == "floor" else id
