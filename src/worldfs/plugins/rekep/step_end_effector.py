"""The end effector of any target that takes poses: led by `step(action, "ee_pose")`, straight lines over obstacles.

It knows no joints: reach is a distance, collisions are avoided by height, and a motion's result is observed afterwards.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Protocol, runtime_checkable

import numpy as np

from worldfs.base.clock import Clock
from worldfs.base.messages import coded
from worldfs.base.model import Profile, RobotState, Scene, Thing
from worldfs.base.workspace_bounds import beyond, bounds_finding
from worldfs.robots.rotations import Array, Pose, angle_between, axis_rotation, interpolate, matrix, quaternion
from worldfs.robots.targets.target_adapter import TargetAdapter, TargetStopped

from . import placement_space
from .end_effector import ExecutionHalted, MotionRequest, ObjectMeasurement, PoseCheck, SceneSnapshot
from .grasp_sampling import grip_widths
from .keypoints import pose_of

REPRESENTATION: Final = "ee_pose"
REACH = 0.95  # m from the base; a goal beyond is refused before the target is called
SPEED = 0.15  # m/s
TURN = 0.8  # rad/s
CLEAR = 0.10  # m above everything, on the way
OPENING = 0.04  # m a finger
SETTLE = 6  # steps that the target has to arrive
THIN = 0.002  # m between the fingers: less is nothing
FITS = 0.008  # m that they may be apart otherwise than what they hold is wide
CLOSED = 0.002  # m by which fingers close on a thing at the least
SHARE = 0.2  # more than any fingers open in metres: such a reading is a share
BESIDE = 0.07  # m from the tool to the middle of the held object
GRAIN = 0.02  # m between checks of path constraints


@runtime_checkable
class HeartbeatTarget(Protocol):
    """A target with a watchdog that needs heartbeats."""

    def heartbeat(self) -> None: ...


@dataclass(frozen=True, slots=True)
class LinearPath:
    """Straight lines through poses; `last`: the part that was the approach, to be gone back."""

    poses: tuple[Pose, ...]
    last: tuple[Pose, ...] = ()


class StepEndEffector:
    """See `EndEffector`. The target's scene has the objects' positions, as far as it detects them."""

    stroke = OPENING

    def __init__(
        self,
        target: TargetAdapter,
        page: Scene | None = None,
        clock: Clock | None = None,
        profile: Profile | None = None,
    ) -> None:
        """`page`: where things are, for a target that sees none. `clock`: a real robot is led at its own pace.
        `profile`: of the robot; its tool, and the middle of what that holds, stay within the bounds."""
        self._profile = profile or Profile()
        self._target = target
        self._page = page or Scene()
        self._put: dict[str, Thing] = {}  # where things of the page were brought
        self._carried: tuple[str, Pose] | None = None  # an object of ENVIRONMENT.md, in the tool's frame
        spec = next(spec for spec in target.actions() if spec.representation == REPRESENTATION)
        self._hz = spec.control_hz or 20.0
        self._steps = 0
        self._stop: Callable[[], str] = lambda: ""
        self._open = 1.0
        self._widest = 0.0  # that the fingers were observed apart
        self._stuck = False  # closed, and they did not move
        self._clamped: dict[str, int] = {}
        self._seen: tuple[Scene, int] | None = None
        self._clock, self._due = clock, 0.0
        self._over = threading.Event()  # of a wait: nothing ends one before its period is over
        self._last: dict[str, tuple[Array, float, float]] = {}  # position, when, speed

    def begin(self, stop: Callable[[], str]) -> None:
        self._stop, self._steps = stop, 0
        self._target.observe()
        self._open = 0.0 if self.now().held else 1.0

    def done(self) -> dict[str, object]:
        self._stop = lambda: ""
        found: dict[str, object] = {
            "steps": self._steps, "sim_seconds": round(self.seconds(), 3), "hand": "ee_pose steps",
            "source": "truth" if self._scene().objects else "page",
        }  # fmt: skip
        return found | ({"clamped": dict(self._clamped)} if self._clamped else {})

    def update_scene(self) -> None:
        self._seen = None

    def come_free(self) -> str:
        return ""  # it knows of no shapes between its fingers

    def alive(self) -> None:
        if isinstance(self._target, HeartbeatTarget):
            self._target.heartbeat()

    def seconds(self) -> float:
        return self._steps / self._hz

    def now(self) -> SceneSnapshot:
        scene, observation = self._scene(), self._target.observe()
        base = self._base()
        local = _pose(np.asarray(observation["ee_pose"], dtype=float))
        tool_pose = Pose(base.point(local.position), base.rotation @ local.rotation)
        blind = not scene.objects
        objects = [self._put.get(t.id, t) for t in self._page.objects if t.position] if blind else scene.objects
        furniture = scene.furniture or self._page.furniture
        things = {thing.id: thing for thing in (*objects, *furniture)}
        robot = scene.robot(self._target.target.id)
        held = robot.holding if robot is not None else None
        if held is None and (blind or robot is None or not robot.gripper):  # else it would name what it holds
            held = self._felt(tool_pose, objects)
        if blind:
            self._carry(things, tool_pose, held)
        return SceneSnapshot.of(things, tool_pose, held, base.position)

    def _width(self) -> float:
        """Between the fingers, as the target reports (m, or the open share where it knows no metres)."""
        width = float(np.ravel(self._target.observe().get("gripper", [0.0]))[0])
        self._widest = max(self._widest, width)
        return width

    def _felt(self, tool_pose: Pose, things: Sequence[Thing]) -> str | None:
        """The object between closed fingers: the one carried, else the one that fits the gap."""
        width = self._width()
        if self._open >= 0.5 or self._stuck or width <= THIN:
            return None
        carried = self._carried[0] if self._carried is not None else ""
        near = sorted(
            (float(np.linalg.norm(pose_of(t).position - tool_pose.position)) * (t.id != carried), t.id, t)
            for t in things
        )
        if not near or near[0][0] >= BESIDE:
            return None
        _, id, thing = near[0]
        if self._widest > SHARE or len(thing.size) != 3:
            return id
        return id if any(abs(width - one) <= FITS for one, _, _ in grip_widths(thing)) else None

    def _carry(self, things: dict[str, Thing], tool_pose: Pose, held: str | None) -> None:
        """An undetected object moves with the gripper that holds it, and stays where it is released."""
        if held is None:
            self._carried = None
            return
        if self._carried is None or self._carried[0] != held:
            was = pose_of(things[held])
            self._carried = held, Pose(tool_pose.inverse(was.position), tool_pose.rotation.T @ was.rotation)
        local = self._carried[1]
        position, turn = tool_pose.point(local.position), quaternion(tool_pose.rotation @ local.rotation)
        things[held] = self._put[held] = replace(things[held], position=tuple(map(float, position)), orientation=turn)

    def _base(self) -> Pose:
        """The robot's base: its poses are in this frame."""
        id = self._target.target.id
        robots = [r for r in (self._scene().robot(id), self._page.robot(id)) if r is not None and any(r.pose)]
        x, y, z, roll, pitch, yaw = (*(float(v) for v in (robots[0].pose if robots else ())), *(0.0,) * 6)[:6]
        turn = axis_rotation((0, 0, 1), yaw) @ axis_rotation((0, 1, 0), pitch) @ axis_rotation((1, 0, 0), roll)
        return Pose(np.array([x, y, z]), turn)

    def effort(self, pose: Pose) -> float | None:
        state = self.now()
        if float(np.linalg.norm(pose.position - state.base)) > REACH:
            return None
        return float(np.linalg.norm(pose.position - state.tool_pose.position)) + 0.3 * angle_between(
            pose.rotation, state.tool_pose.rotation
        )

    def plan(self, move: MotionRequest) -> LinearPath | str:
        state = self.now()
        start, before = state.tool_pose, move.goal
        if move.approach is not None:
            before = Pose(move.goal.position - move.approach, move.goal.rotation)
        held = state.things.get(move.held) if move.held else None
        low = 2 * float(np.max(placement_space.extents(held))) if held is not None else 0.0
        tops = [placement_space.top_of(t) for t in state.things.values() if t.id != move.held and t.shape != "region"]
        above = max([*tops, *(float(t.position[2] + placement_space.extents(t)[2]) for t in state.things.values()
                              if t.shape == "basket")], default=0.0)  # fmt: skip
        travel = max(above + low + CLEAR, start.position[2], before.position[2])
        broken = ""
        for height in (travel, travel + 0.12, 0.0):
            middle = [start, before]
            if height and float(np.linalg.norm((before.position - start.position)[:2])) > 0.02:
                middle = [start, _lifted(start, height), _lifted(before, height), before]
            line = [*middle, *([move.goal] if move.approach is not None else [])]
            if outside := self._outside(line, held):
                return outside
            broken = _broken(line, move.check)
            if not broken:
                return LinearPath(tuple(line), (before, move.goal) if move.approach is not None else ())
        return f"every way there breaks {broken}"

    def _outside(self, line: Sequence[Pose], held: Thing | None) -> str:
        """Which bound of the profile a way would leave; "" for none. Straight lines between points within the bounds
        are within them. A way that begins beyond them may come back."""
        base = self._base()
        turn = math.atan2(float(base.rotation[1, 0]), float(base.rotation[0, 0]))
        robot = RobotState(self._target.target.id, (*map(float, base.position), 0.0, 0.0, turn))
        middle = None if held is None else line[0].inverse(pose_of(held).position)
        for pose in line[1:]:
            points: dict[str, Array] = {coded("robot.tool_point"): pose.position}
            if held is not None and middle is not None:
                points[held.id] = pose.point(middle)
            for what, point in points.items():
                at = tuple(round(float(v), 4) for v in point)
                for found in beyond(self._profile, robot, at):
                    refused = bounds_finding(self._profile, robot, found, what, at)
                    return coded("robot.steps_wrong", found=refused.found, expected=refused.expected)
        return ""

    def go(self, way: LinearPath, pace: float = 1.0) -> None:
        for one, other in pairwise(way.poses):
            gap = float(np.linalg.norm(other.position - one.position))
            seconds = max(gap / SPEED, angle_between(one.rotation, other.rotation) / TURN) / pace
            n = max(1, round(seconds * self._hz))
            for i in range(1, n + 1):
                s = i / n
                self._step(interpolate(one, other, 3 * s * s - 2 * s**3))
        if way.poses:
            self._settle(way.poses[-1])

    def wait(self, seconds: float) -> None:
        pose = self.now().tool_pose
        for _ in range(max(1, math.ceil(seconds * self._hz))):
            self._step(pose)

    def open(self, opening: float) -> None:
        self._open, self._stuck = max(0.5, min(1.0, opening / OPENING)), False
        self.wait(0.3)

    def close(self, id: str) -> bool:
        before = self._width()
        self._open, self._stuck = 0.0, False
        self.wait(0.8)
        self._stuck = before - self._width() < CLOSED * max(1.0, self._widest / SHARE)
        return self.now().held == id

    def let_go(self, way: LinearPath, id: str) -> None:
        self.back_off(way)
        for _ in range(10):
            self.wait(0.1)
            if self.measure(id).speed < 0.015:
                return

    def back_off(self, way: LinearPath) -> None:
        self._open, self._stuck = 1.0, False
        self.wait(0.5)
        back = way.last[::-1] if isinstance(way, LinearPath) else ()
        if not back:
            here = self.now().tool_pose
            back = (here, _lifted(here, float(here.position[2]) + CLEAR))
        self.go(LinearPath(tuple(back)))

    def measure(self, id: str) -> ObjectMeasurement:
        """Speed between this observation of the object and the last one; what it touches is not known."""
        scene = self._scene()
        thing = scene.thing(id)
        if thing is None and id in self.now().things:
            thing = self.now().things[id]
            observed = self.now().held == id
            return ObjectMeasurement(np.array(thing.position[:3]), 0.0, None, matrix(thing.orientation), observed)
        if thing is None:
            return ObjectMeasurement(np.full(3, np.nan), math.inf, None, np.eye(3))
        position, now = np.array(thing.position[:3], dtype=float), self.seconds()
        before = self._last.get(id)
        if before is None:
            speed = math.inf  # one observation has no speed
        elif now > before[1]:
            speed = float(np.linalg.norm(position - before[0])) / (now - before[1])
        else:
            speed = before[2]
        self._last[id] = position, now, speed
        return ObjectMeasurement(position, speed, None, matrix(thing.orientation))

    def share(self, id: str, place: str) -> float | None:
        """Whole or none, by the relations that the target's scene states of the thing."""
        stated = {edge.object for edge in self._scene().relations if edge.subject == id and edge.relation != "held_by"}
        alone = {
            edge.object for edge in self._scene().relations if edge.subject == id and edge.relation in ("on", "in")
        }
        return None if not stated or place == "robot" else float(place in alone)

    def riders(self, id: str) -> list[str]:
        on = ("on", "leans_on")
        return [edge.subject for edge in self._scene().relations if edge.object == id and edge.relation in on]

    def touches(self, id: str) -> bool:
        return True  # not known: straight up first is always right

    # -- inside ------------------------------------------------------------------------------------------------------

    def _scene(self) -> Scene:
        if self._seen is None or self._seen[1] != self._steps:
            self._seen = self._target.scene(), self._steps
        return self._seen[0]

    def _step(self, pose: Pose) -> None:
        if why := self._stop():
            here = self.now().tool_pose
            with suppress(TargetStopped):  # it is there already
                for _ in range(3):
                    self._send(here)
            raise ExecutionHalted(why)
        self._send(pose)

    def _send(self, pose: Pose) -> None:
        if self._clock is not None:
            left = self._due - self._clock.monotonic()
            if left > 0:
                self._clock.wait(self._over, left)
            elif left < -0.5:
                self._target.observe()  # a robot takes no action from an old observation
            self._due = max(self._due, self._clock.monotonic()) + 1 / self._hz
        base = self._base()
        local = base.rotation.T @ pose.rotation
        action = np.array([*base.inverse(pose.position), *quaternion(local), self._open])
        result = self._target.step(action, REPRESENTATION)
        self._steps += 1
        for word in result.clamped:
            self._clamped[word] = self._clamped.get(word, 0) + 1

    def _settle(self, goal: Pose) -> None:
        for _ in range(SETTLE):
            self._step(goal)
            if float(np.linalg.norm(self.now().tool_pose.position - goal.position)) < 0.002:
                return


def _lifted(pose: Pose, height: float) -> Pose:
    return Pose(np.array([pose.position[0], pose.position[1], height]), pose.rotation)


def _pose(numbers: Array) -> Pose:
    return Pose(numbers[:3].copy(), matrix(numbers[3:7]))


def _broken(line: Sequence[Pose], check: PoseCheck) -> str:
    for one, other in pairwise(line):
        n = max(1, math.ceil(float(np.linalg.norm(other.position - one.position)) / GRAIN))
        for i in range(1, n + 1):
            if broken := check(interpolate(one, other, i / n)):
                return broken
    return ""
