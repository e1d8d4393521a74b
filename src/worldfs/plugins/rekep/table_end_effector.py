"""The end effector of the simulated table: planned on a copy, moved by the motion controller, measured by contact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.base.standard_operations import PICK_UP
from worldfs.robots.mujoco import panda, removal_trial, support, withdrawal
from worldfs.robots.mujoco.arm import Arm
from worldfs.robots.mujoco.collision import CollisionChecker, contacts, pair, persisting
from worldfs.robots.mujoco.model_builder import TIMESTEP
from worldfs.robots.mujoco.motion_control import CLOSE
from worldfs.robots.mujoco.motion_loop import MotionStopped
from worldfs.robots.mujoco.path_planner import plan_path
from worldfs.robots.rotations import Array, Pose, angle_between, interpolate, quaternion

from .detections import FittedDetection, RgbdImage, detect_objects
from .end_effector import ExecutionHalted, MotionRequest, ObjectMeasurement, SceneSnapshot
from .keypoints import pose_of
from .path_checker import ConstrainedPathChecker

HEIGHTS = (0.25, 0.15, 0.35)  # m above the higher end, of a way over things
DEPARTS = (0.12, 0.08, 0.05, 0.03)  # m straight up, off the held object's support
CLEARANCE = 0.008  # m to objects that are passed, where there is space for it
GRAIN = 0.02  # m between the points of a straight line
TURN = 0.12  # rad between them
_LOOKED = {"masks": "the simulator's segmentation"}
TALL = 0.09  # m: higher things are carried slower


@runtime_checkable
class ArmTarget(Protocol):
    """A target whose arm the caller may plan and move; `moved` is called when that is over."""

    @property
    def arm(self) -> Arm: ...

    @property
    def stopped(self) -> bool: ...

    def moved(self) -> None: ...

    def capture_frame(self, camera: str, *, rgb: bool = False) -> RgbdImage:
        """Depth and segments as a camera sees them now. Raises `MissingRequirement` where nothing can be drawn."""
        ...


@dataclass(frozen=True, slots=True)
class PathSegment:
    """A part of a way: joint poses, led straight in joint space, or along a line of `length` m."""

    path: list[Array]
    length: float = 0.0
    speed: float = 0.16


class TableEndEffector:
    """See `EndEffector`."""

    stroke = panda.STROKE

    def __init__(self, target: ArmTarget, *, camera: str = "") -> None:
        """`camera`: the camera for detection; "": positions are the simulation's."""
        self._target = target
        self.arm = target.arm
        self._steps = 0
        self._camera = camera
        self._seen: dict[str, FittedDetection] = {}
        self._carried: tuple[str, Pose] | None = None  # a held object, and its pose in the tool's frame
        self._detection_errors: Json = {}
        self._withdrawn: Json = {}
        self.update_scene()

    def begin(self, stop: Callable[[], str]) -> None:
        target = self._target
        self.arm.mover.begin(lambda: stop() or ("cancelled" if target.stopped else ""))
        self._steps = self.arm.mover.steps

    def done(self) -> dict[str, object]:
        steps = self.arm.mover.steps - self._steps
        self.arm.mover.stop = lambda: ""
        self._target.moved()
        return {
            "evidence_class": "sim",
            "engine": "mujoco",
            "steps": steps,
            "sim_seconds": round(steps * TIMESTEP, 3),
            "gripper_opening": round(self.arm.view.opening(), 4),
            **self._withdrawn,
            "source": "truth",  # also through a camera: the segmentation is the simulation's
            **(
                _LOOKED | {"keypoints_from": f"rgbd {self._camera}", "seen": self._detection_errors}
                if self._camera
                else {}
            ),
        }

    def update_scene(self) -> None:
        if not self._camera:
            return
        rig = self.arm.rig
        frame = self._target.capture_frame(self._camera)
        held = rig.held()
        known = {id: one.thing for id, one in self._seen.items()}
        pages = {id: known.get(id, rig.things[id]) for id in rig.objects if id != held or id not in known}
        self._seen = {**self._seen, **detect_objects(frame, rig.geom_owner, pages)}
        for id, one in self._seen.items():
            off = float(np.linalg.norm(np.array(one.thing.position) - rig.position(id)))
            if id not in self._detection_errors:  # the error of detection, which only a simulation can measure
                self._detection_errors[id] = {
                    "pixels": one.pixels,
                    "residual_m": round(one.residual, 5),
                    "error_m": round(off, 4),
                }

    def alive(self) -> None:
        return

    def seconds(self) -> float:
        return float((self.arm.mover.steps - self._steps) * TIMESTEP)

    def now(self) -> SceneSnapshot:
        rig = self.arm.rig
        if self._camera:
            return self._as_seen()
        things = {
            id: replace(
                thing,
                position=tuple(float(v) for v in rig.position(id)),
                orientation=tuple(float(v) for v in rig.quat(id)),
            )
            if id in rig.body
            else thing
            for id, thing in rig.things.items()
        }
        return SceneSnapshot.of(things, Pose(*rig.view.tcp_pose()), rig.held(), rig.view.base)

    def _as_seen(self) -> SceneSnapshot:
        """Furniture as in ENVIRONMENT.md, objects where they were last detected; a held one moves with the tool."""
        rig = self.arm.rig
        things = {piece.id: piece for piece in rig.furniture}
        things |= {id: one.thing for id, one in self._seen.items()}
        tool_pose, held = Pose(*rig.view.tcp_pose()), rig.held()
        if held is None or held not in things:
            self._carried = None
        else:
            if self._carried is None or self._carried[0] != held:
                was = pose_of(things[held])
                self._carried = held, Pose(tool_pose.inverse(was.position), tool_pose.rotation.T @ was.rotation)
            local = self._carried[1]
            position, rotation = tool_pose.point(local.position), tool_pose.rotation @ local.rotation
            moved = replace(things[held], position=tuple(map(float, position)), orientation=quaternion(rotation))
            things[held] = moved
            self._seen[held] = replace(self._seen[held], thing=moved)  # let go of, it is about there
        return SceneSnapshot.of(things, tool_pose, held, rig.view.base)

    def effort(self, pose: Pose) -> float | None:
        q = self._joints(pose, wide=False)
        return None if q is None else float(np.max(np.abs(q - self.arm.view.joints())))

    # -- plans -------------------------------------------------------------------------------------------------------

    def plan(self, move: MotionRequest) -> list[PathSegment] | str:
        arm, rig = self.arm, self.arm.rig
        checker = ConstrainedPathChecker(arm, move.check, opening=move.opening, held=move.held)
        touching = {pair("robot", id) for id in move.touching}
        if move.held is not None:
            touching |= {pair(move.held, id) for id in move.touching}
        start = rig.view.joints()
        legs: list[PathSegment] = []
        if move.depart:
            leg = self._depart(checker, start)
            if leg is not None:
                legs.append(leg)
                start = leg.path[-1]
        before = move.goal if move.approach is None else Pose(move.goal.position - move.approach, move.goal.rotation)
        why: str = coded("robot.no_joints")
        for begin in self._starts(before, start):
            goal = begin if move.approach is None else arm.solver.near(begin, *move.goal)
            if goal is None:
                continue
            hits = checker.hits(goal, allowed=touching) or checker.hits(begin)
            if hits:
                why = coded("robot.at_goal", hits=contacts(hits))
                continue
            line: list[Array] = []
            if move.approach is not None:
                points = np.linspace(before.position, move.goal.position, 11)[1:]
                found = arm.solver.line(begin, points, move.goal.rotation)
                if isinstance(found, int):
                    why = coded("robot.way_to_it", n=found + 1)
                    continue
                line = found
                hits = checker.along([begin, *line], allowed=touching)
                if hits:
                    why = coded("robot.on_the_way", hits=contacts(hits))
                    continue
            way = self._between(checker, start, begin, before)
            if way is None:
                why = coded("robot.no_constrained_way")
                continue
            legs += way
            if line:
                length = float(np.linalg.norm(move.approach)) if move.approach is not None else 0.0
                legs.append(PathSegment([begin, *line], length, 0.11 if move.held else 0.16))
            return legs
        return why

    def _starts(self, pose: Pose, start: Array) -> list[Array]:
        """Joint angles for a pose, from where the arm is, from its ready pose, and from anywhere, each once."""
        found: list[Array] = []
        for begin in (start, self.arm.ready):
            q = self.arm.solver.near(begin, *pose)
            if q is not None and all(float(np.max(np.abs(q - other))) > 0.05 for other in found):
                found.append(q)
        if not found:
            q = self.arm.solver.solve(start, *pose)
            found = [] if q is None else [q]
        return found

    def _depart(self, checker: CollisionChecker, start: Array) -> PathSegment | None:
        position, rotation = self.arm.solver.pose(start)
        allowed = persisting(checker.hits(start))
        for height in DEPARTS:
            points = np.linspace(position, position + np.array([0.0, 0.0, height]), 7)[1:]
            up = self.arm.solver.line(start, points, rotation)
            if not isinstance(up, int) and not checker.along([start, *up], allowed=allowed):
                return PathSegment([start, *up], height)
        return None

    def _between(
        self, checker: ConstrainedPathChecker, start: Array, goal: Array, pose: Pose
    ) -> list[PathSegment] | None:
        """Straight in joint space, straight in space, over obstacles, or found by search."""
        if float(np.max(np.abs(goal - start))) < 1e-6:
            return []
        for checker.clearance in (CLEARANCE, 0.0):
            found = self._clear_way(checker, start, goal, pose)
            if found is not None:
                break
        checker.clearance = 0.0
        return found

    def _clear_way(
        self, checker: ConstrainedPathChecker, start: Array, goal: Array, pose: Pose
    ) -> list[PathSegment] | None:
        direct = plan_path(checker, start, goal, via=(self.arm.ready,), search=False)
        if direct is not None:
            return [PathSegment(direct)]
        here = Pose(*self.arm.solver.pose(start))
        for height in (0.0, *HEIGHTS):
            over = self._over(here, pose, height)
            leg = self._line(checker, start, over)
            if leg is None:
                continue
            last = leg.path[-1]
            if float(np.max(np.abs(last - goal))) < 0.02:
                return [leg]
            rest = plan_path(checker, last, goal, search=False)
            if rest is not None:
                return [leg, PathSegment(rest)]
        searched = plan_path(checker, start, goal)
        return None if searched is None else [PathSegment(searched)]

    def _over(self, here: Pose, there: Pose, height: float) -> list[Pose]:
        if height == 0.0:
            return [here, there]
        top = max(here.position[2], there.position[2]) + height
        lifted = Pose(np.array([*here.position[:2], top]), here.rotation)
        above = Pose(np.array([*there.position[:2], top]), there.rotation)
        return [here, lifted, above, there]

    def _line(self, checker: CollisionChecker, start: Array, poses: Sequence[Pose]) -> PathSegment | None:
        """Joint poses along straight lines of the tool, or None where they cannot be followed."""
        allowed = persisting(checker.hits(start))
        path, length = [start], 0.0
        for one, other in pairwise(poses):
            gap = float(np.linalg.norm(other.position - one.position))
            turned = angle_between(one.rotation, other.rotation)
            n = max(1, round(max(gap / GRAIN, turned / TURN)))
            for i in range(1, n + 1):
                at = interpolate(one, other, i / n)
                q = self.arm.solver.near(path[-1], *at)
                if q is None or float(np.max(np.abs(q - path[-1]))) > 0.6:
                    return None
                if checker.along([path[-1], q], allowed=allowed):
                    return None
                path.append(q)
            length += max(gap, 0.12 * turned)
        return PathSegment(path, max(length, 0.01), 0.2 if checker.held is None else 0.13)

    def _joints(self, pose: Pose, *, wide: bool) -> Array | None:
        solver, present = self.arm.solver, self.arm.view.joints()
        found = solver.near(present, *pose)
        if found is None:
            found = solver.near(self.arm.ready, *pose)
        return solver.solve(present, *pose) if found is None and wide else found

    # -- motions -----------------------------------------------------------------------------------------------------

    def go(self, way: Sequence[PathSegment], pace: float = 1.0) -> None:
        mover = self.arm.mover
        held = self.arm.rig.held()
        tall = held is not None and 2 * float(self.arm.rig.half(held)[2]) > TALL
        mover.pace = pace * (0.7 if tall else 1.0)
        try:
            for leg in way:
                if leg.length:
                    mover.line(leg.path, leg.length, speed=leg.speed)
                else:
                    mover.follow(leg.path)
        except MotionStopped as stopped:
            raise ExecutionHalted(stopped.why) from None
        finally:
            mover.pace = 1.0

    def wait(self, seconds: float) -> None:
        try:
            self.arm.mover.wait(seconds)
        except MotionStopped as stopped:
            raise ExecutionHalted(stopped.why) from None

    def come_free(self) -> str:
        try:
            stuck = withdrawal.begin(self.arm, PICK_UP.name, "", self._withdrawn)
        except MotionStopped as stopped:
            raise ExecutionHalted(stopped.why) from None
        return "" if stuck is None else stuck.found

    def open(self, opening: float) -> None:
        self.arm.mover.grip(opening)
        self.wait(0.1)

    def close(self, id: str) -> bool:
        rig = self.arm.rig
        self.arm.mover.grip(CLOSE)
        last = rig.view.opening()
        for _ in range(12):
            self.wait(0.05)
            now = rig.view.opening()
            if abs(now - last) < 2e-5 and rig.fingers_on(id) == 2:
                self.wait(0.05)
                break
            last = now
        return rig.fingers_on(id) == 2

    def let_go(self, way: Sequence[PathSegment], id: str) -> None:
        self.arm.mover.grip(self._room(id))
        self.wait(0.3)
        self._back(way)
        try:
            self.arm.mover.quiet(id)
        except MotionStopped as stopped:
            raise ExecutionHalted(stopped.why) from None

    def back_off(self, way: Sequence[PathSegment]) -> None:
        self.arm.mover.grip(panda.STROKE)
        self.wait(0.3)
        self._back(way)

    def _back(self, way: Sequence[PathSegment]) -> None:
        last = way[-1] if way else None
        if last is not None and last.length and float(np.max(np.abs(last.path[-1] - self.arm.view.joints()))) < 0.1:
            self.go([PathSegment(last.path[::-1], last.length, 0.16)])

    def _room(self, held: str) -> float:
        """As far as the fingers can open here without hitting a neighbour (m a finger)."""
        q, now = self.arm.view.joints(), self.arm.view.opening() / 2
        for opening in (panda.STROKE, now + 0.012):
            checker = self.arm.collision_checker(opening=min(opening, panda.STROKE), held=held)
            if checker.free(q):
                return min(opening, panda.STROKE)
        return min(now + 0.005, panda.STROKE)

    # -- what is measured --------------------------------------------------------------------------------------------

    def measure(self, id: str) -> ObjectMeasurement:
        rig = self.arm.rig
        return ObjectMeasurement(rig.position(id), rig.speed(id), frozenset(rig.touching(id)), rig.rotation(id))

    def share(self, id: str, place: str) -> float | None:
        return support.share(self.arm.rig, id, place)

    def riders(self, id: str) -> list[str]:
        return removal_trial.held_up(self.arm.rig, id)

    def touches(self, id: str) -> bool:
        return bool(support.touched_from_outside(self.arm.rig, id))
