"""The hand of any target that takes poses: led by `step(action, "ee_pose")`, straight lines over what stands about.

It knows no joints: reach is a distance, collisions are avoided by height, and what came of a motion is seen afterwards.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np

from worldfs.drivers.targets.adapter import Stopped, TargetAdapter
from worldfs.ground.clock import Clock
from worldfs.ground.model import Scene, Thing

from . import spots
from .grip import across
from .hands import Check, Halt, Measured, Move, State
from .keypoints import pose_of
from .turns import Array, Pose, about, apart, between, matrix, quaternion

REPRESENTATION: Final = "ee_pose"
REACH = 0.95  # m from the base; what lies beyond is refused before the target is asked
SPEED = 0.15  # m/s
TURN = 0.8  # rad/s
CLEAR = 0.10  # m above everything, on the way
OPENING = 0.04  # m a finger
SETTLE = 6  # steps that the target is given to arrive
THIN = 0.002  # m between the fingers: less is nothing
FITS = 0.008  # m that they may be apart otherwise than what they hold is wide
CLOSED = 0.002  # m by which fingers close on a thing at the least
SHARE = 0.2  # more than any fingers open in metres: such a reading is a share
BESIDE = 0.07  # m from the hand to the middle of what it holds
GRAIN = 0.02  # m between checks of path constraints


@runtime_checkable
class Beating(Protocol):
    """A target that stops when nobody leads it: it is told that somebody still does."""

    def heartbeat(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Lines:
    """Straight lines through poses; `last`: the part that was the approach, to be gone back."""

    poses: tuple[Pose, ...]
    last: tuple[Pose, ...] = ()


class StepHand:
    """See `hands.Hand`. The target's scene says where things are, as far as it sees."""

    stroke = OPENING

    def __init__(self, target: TargetAdapter, page: Scene | None = None, clock: Clock | None = None) -> None:
        """`page`: where things are, for a target that sees none. `clock`: a real robot is led at its own pace."""
        self._target = target
        self._page = page or Scene()
        self._put: dict[str, Thing] = {}  # where things of the page were brought
        self._carried: tuple[str, Pose] | None = None  # a thing of the page, in the hand's frame
        spec = next(spec for spec in target.actions() if spec.representation == REPRESENTATION)
        self._hz = spec.control_hz or 20.0
        self._steps = 0
        self._stop: Callable[[], str] = lambda: ""
        self._open = 1.0
        self._widest = 0.0  # that the fingers were seen apart
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

    def done(self) -> dict[str, Any]:
        self._stop = lambda: ""
        found: dict[str, Any] = {"steps": self._steps, "sim_seconds": round(self.seconds(), 3), "hand": "ee_pose steps",
                                 "source": "truth" if self._scene().objects else "page"}  # fmt: skip
        return found | ({"clamped": dict(self._clamped)} if self._clamped else {})

    def look(self) -> None:
        self._seen = None

    def alive(self) -> None:
        if isinstance(self._target, Beating):
            self._target.heartbeat()

    def seconds(self) -> float:
        return self._steps / self._hz

    def now(self) -> State:
        scene, seen = self._scene(), self._target.observe()
        base = self._base()
        local = _pose(np.asarray(seen["ee_pose"], dtype=float))
        hand = Pose(base.point(local.position), base.rotation @ local.rotation)
        blind = not scene.objects
        objects = [self._put.get(t.id, t) for t in self._page.objects if t.position] if blind else scene.objects
        furniture = scene.furniture or self._page.furniture
        things = {thing.id: thing for thing in (*objects, *furniture)}
        robot = scene.robot(self._target.target.id)
        held = robot.holding if robot is not None else None
        if held is None and (blind or robot is None or not robot.gripper):  # else it would say what it holds
            held = self._felt(hand, objects)
        if blind:
            self._carry(things, hand, held)
        return State.of(things, hand, held, base.position)

    def _width(self) -> float:
        """Between the fingers, as the target says (m, or the share that is open where it knows no metres)."""
        width = float(np.ravel(self._target.observe().get("gripper", [0.0]))[0])
        self._widest = max(self._widest, width)
        return width

    def _felt(self, hand: Pose, things: Sequence[Thing]) -> str | None:
        """What keeps closed fingers apart: the thing carried, else the one between them, if the gap fits it."""
        width = self._width()
        if self._open >= 0.5 or self._stuck or width <= THIN:
            return None
        carried = self._carried[0] if self._carried is not None else ""
        near = sorted(
            (float(np.linalg.norm(pose_of(t).position - hand.position)) * (t.id != carried), t.id, t) for t in things
        )
        if not near or near[0][0] >= BESIDE:
            return None
        _, id, thing = near[0]
        if self._widest > SHARE or len(thing.size) != 3:
            return id
        return id if any(abs(width - one) <= FITS for one, _, _ in across(thing)) else None

    def _carry(self, things: dict[str, Thing], hand: Pose, held: str | None) -> None:
        """A thing that nobody sees goes with the hand that holds it, and stays where that let go of it."""
        if held is None:
            self._carried = None
            return
        if self._carried is None or self._carried[0] != held:
            was = pose_of(things[held])
            self._carried = held, Pose(hand.inverse(was.position), hand.rotation.T @ was.rotation)
        local = self._carried[1]
        position, turn = hand.point(local.position), quaternion(hand.rotation @ local.rotation)
        things[held] = self._put[held] = replace(things[held], position=tuple(map(float, position)), orientation=turn)

    def _base(self) -> Pose:
        """Where the robot stands: its poses are told and taken in this frame."""
        id = self._target.target.id
        robots = [r for r in (self._scene().robot(id), self._page.robot(id)) if r is not None and any(r.pose)]
        x, y, z, roll, pitch, yaw = (*(float(v) for v in (robots[0].pose if robots else ())), *(0.0,) * 6)[:6]
        turn = about((0, 0, 1), yaw) @ about((0, 1, 0), pitch) @ about((1, 0, 0), roll)
        return Pose(np.array([x, y, z]), turn)

    def effort(self, pose: Pose) -> float | None:
        state = self.now()
        if float(np.linalg.norm(pose.position - state.base)) > REACH:
            return None
        return float(np.linalg.norm(pose.position - state.hand.position)) + 0.3 * apart(
            pose.rotation, state.hand.rotation
        )

    def plan(self, move: Move) -> Lines | str:
        state = self.now()
        start, before = state.hand, move.goal
        if move.approach is not None:
            before = Pose(move.goal.position - move.approach, move.goal.rotation)
        held = state.things.get(move.held) if move.held else None
        low = 2 * float(np.max(spots.extents(held))) if held is not None else 0.0
        tops = [spots.top_of(t) for t in state.things.values() if t.id != move.held and t.shape != "region"]
        above = max([*tops, *(float(t.position[2] + spots.extents(t)[2]) for t in state.things.values()
                              if t.shape == "basket")], default=0.0)  # fmt: skip
        travel = max(above + low + CLEAR, start.position[2], before.position[2])
        broken = ""
        for height in (travel, travel + 0.12, 0.0):
            middle = [start, before]
            if height and float(np.linalg.norm((before.position - start.position)[:2])) > 0.02:
                middle = [start, _lifted(start, height), _lifted(before, height), before]
            line = [*middle, *([move.goal] if move.approach is not None else [])]
            broken = _broken(line, move.check)
            if not broken:
                return Lines(tuple(line), (before, move.goal) if move.approach is not None else ())
        return f"every way there breaks {broken}"

    def go(self, way: Lines, pace: float = 1.0) -> None:
        for one, other in pairwise(way.poses):
            gap = float(np.linalg.norm(other.position - one.position))
            seconds = max(gap / SPEED, apart(one.rotation, other.rotation) / TURN) / pace
            n = max(1, round(seconds * self._hz))
            for i in range(1, n + 1):
                s = i / n
                self._step(between(one, other, 3 * s * s - 2 * s**3))
        if way.poses:
            self._settle(way.poses[-1])

    def wait(self, seconds: float) -> None:
        pose = self.now().hand
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

    def let_go(self, way: Lines, id: str) -> None:
        self.back_off(way)
        for _ in range(10):
            self.wait(0.1)
            if self.measure(id).speed < 0.015:
                return

    def back_off(self, way: Lines) -> None:
        self._open, self._stuck = 1.0, False
        self.wait(0.5)
        back = way.last[::-1] if isinstance(way, Lines) else ()
        if not back:
            here = self.now().hand
            back = (here, _lifted(here, float(here.position[2]) + CLEAR))
        self.go(Lines(tuple(back)))

    def measure(self, id: str) -> Measured:
        """Speed between this look and the last one at the thing; what it touches nobody says."""
        scene = self._scene()
        thing = scene.thing(id)
        if thing is None and id in self.now().things:
            thing = self.now().things[id]
            seen = self.now().held == id
            return Measured(np.array(thing.position[:3]), 0.0, None, matrix(thing.orientation), seen)
        if thing is None:
            return Measured(np.full(3, np.nan), math.inf, None, np.eye(3))
        position, now = np.array(thing.position[:3], dtype=float), self.seconds()
        before = self._last.get(id)
        if before is None:
            speed = math.inf  # one look tells no speed
        elif now > before[1]:
            speed = float(np.linalg.norm(position - before[0])) / (now - before[1])
        else:
            speed = before[2]
        self._last[id] = position, now, speed
        return Measured(position, speed, None, matrix(thing.orientation))

    def share(self, id: str, place: str) -> float | None:
        """Whole or none, by the relations that the target's scene states of the thing."""
        stated = {edge.object for edge in self._scene().relations if edge.subject == id and edge.relation != "held_by"}
        alone = {
            edge.object for edge in self._scene().relations if edge.subject == id and edge.relation in ("on", "in")
        }
        return None if not stated or place == "robot" else float(place in alone)

    def riders(self, id: str) -> list[str]:
        return [edge.subject for edge in self._scene().relations if edge.object == id and edge.relation == "on"]

    def touches(self, id: str) -> bool:
        return True  # nobody says: straight up first is always right

    # -- inside ------------------------------------------------------------------------------------------------------

    def _scene(self) -> Scene:
        if self._seen is None or self._seen[1] != self._steps:
            self._seen = self._target.scene(), self._steps
        return self._seen[0]

    def _step(self, pose: Pose) -> None:
        if why := self._stop():
            here = self.now().hand
            with suppress(Stopped):  # it stands already
                for _ in range(3):
                    self._send(here)
            raise Halt(why)
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
            if float(np.linalg.norm(self.now().hand.position - goal.position)) < 0.002:
                return


def _lifted(pose: Pose, height: float) -> Pose:
    return Pose(np.array([pose.position[0], pose.position[1], height]), pose.rotation)


def _pose(numbers: Array) -> Pose:
    return Pose(numbers[:3].copy(), matrix(numbers[3:7]))


def _broken(line: Sequence[Pose], check: Check) -> str:
    for one, other in pairwise(line):
        n = max(1, math.ceil(float(np.linalg.norm(other.position - one.position)) / GRAIN))
        for i in range(1, n + 1):
            if broken := check(between(one, other, i / n)):
                return broken
    return ""
