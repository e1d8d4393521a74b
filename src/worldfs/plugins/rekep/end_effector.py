"""The port of end effectors: scene state, reachability, motion planning, motion, gripping; for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from worldfs.base.model import Thing
from worldfs.robots.rotations import Array, Pose

from .keypoints import pose_of

PoseCheck = Callable[[Pose], str]  # a tool pose on the way → the path constraint that it breaks, "" for none


class ExecutionHalted(Exception):  # not an error: cancelled, out of time, or a constraint broke
    """The end effector has stopped. `why`: cancelled | timeout | broken."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class SceneSnapshot:
    """One moment. `held`: the id of the object between the fingers; `base`: the robot's position (3, m)."""

    things: Mapping[str, Thing]
    tool_pose: Pose
    held: str | None
    base: Array
    poses: Mapping[str, Pose] = field(default_factory=dict)

    @staticmethod
    def of(things: Mapping[str, Thing], tool_pose: Pose, held: str | None, base: Array) -> SceneSnapshot:
        return SceneSnapshot(things, tool_pose, held, base, {id: pose_of(thing) for id, thing in things.items()})


@dataclass(frozen=True, slots=True)
class MotionRequest:
    """Where to: `approach` is the straight way (3, m) that ends at the goal, None for none; `opening` m a finger, None
    to leave the fingers; `touching`: ids that the gripper may touch; `depart`: first straight up, off the support.
    """

    goal: Pose
    check: PoseCheck
    approach: Array | None = None
    opening: float | None = None
    held: str | None = None
    touching: tuple[str, ...] = ()
    depart: bool = False


@dataclass(frozen=True, slots=True)
class ObjectMeasurement:
    """Of one object: position (m), speed (m/s), ids that it touches ("robot" for the arm); None: cannot be measured."""

    position: Array
    speed: float
    touching: frozenset[str] | None
    rotation: Array
    observed: bool = True  # False: not observed since it was released, this is its expected position


PlannedMotion = Any  # an end effector's own plan, for `go`


class EndEffector(Protocol):
    """Every motion raises `ExecutionHalted` when the `stop` of `begin` returns a reason."""

    stroke: float  # m a finger, fully open

    def begin(self, stop: Callable[[], str]) -> None: ...

    def now(self) -> SceneSnapshot: ...

    def come_free(self) -> str:
        """Before a grasp: an empty hand leaves what stands between its fingers. Why it cannot; "" where it is free."""
        ...

    def update_scene(self) -> None:
        """Updates the objects from a camera, where they are detected and not simply known."""
        ...

    def alive(self) -> None:
        """Called during long computation: a watchdog stops a robot that gets no step and no heartbeat."""
        ...

    def seconds(self) -> float:
        """Of the world's time since `begin`."""
        ...

    def effort(self, pose: Pose) -> float | None:
        """The distance to a pose (rad of the joint that moves farthest, or m); None: it cannot be reached."""
        ...

    def plan(self, move: MotionRequest) -> PlannedMotion | str:
        """A way that is free of collision and breaks no path constraint, or why there is none. Moves nothing."""
        ...

    def go(self, way: PlannedMotion, pace: float = 1.0) -> None: ...

    def close(self, id: str) -> bool:
        """The fingers, until they hold; whether both touch the thing."""
        ...

    def let_go(self, way: PlannedMotion, id: str) -> None:
        """Open as far as there is space, retreat the way it came, wait until the object is still."""
        ...

    def open(self, opening: float) -> None: ...

    def back_off(self, way: PlannedMotion) -> None:
        """Open, and back the way of the approach."""
        ...

    def wait(self, seconds: float) -> None: ...

    def measure(self, id: str) -> ObjectMeasurement: ...

    def share(self, id: str, place: str) -> float | None:
        """The part of an object's weight that `place` ("robot" for the arm) carries, 0…1; None: cannot be measured."""
        ...

    def riders(self, id: str) -> list[str]:
        """What rests or leans on an object, as far as it can be measured."""
        ...

    def touches(self, id: str) -> bool:
        """Whether the held object touches something else than the gripper."""
        ...

    def done(self) -> dict[str, object]:
        """Ends what `begin` began; what is known of the motion: simulated seconds, steps."""
        ...
