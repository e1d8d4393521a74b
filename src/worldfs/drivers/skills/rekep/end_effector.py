"""The hand that a program is carried out with: what is where, which poses it can take, how it moves and grips."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from worldfs.ground.model import Thing

from .keypoints import pose_of
from .rotations import Array, Pose

PoseCheck = Callable[[Pose], str]  # a pose of the hand on its way → the path constraint that it breaks, "" for none


class ExecutionHalted(Exception):  # not an error: somebody asked, time is up, or a constraint broke
    """The hand stands still. `why`: cancelled | timeout | broken."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class SceneSnapshot:
    """One moment. `held`: the id of what is between the fingers; `base`: where the robot stands (3, m)."""

    things: Mapping[str, Thing]
    hand: Pose
    held: str | None
    base: Array
    poses: Mapping[str, Pose] = field(default_factory=dict)

    @staticmethod
    def of(things: Mapping[str, Thing], hand: Pose, held: str | None, base: Array) -> SceneSnapshot:
        return SceneSnapshot(things, hand, held, base, {id: pose_of(thing) for id, thing in things.items()})


@dataclass(frozen=True, slots=True)
class MotionRequest:
    """Where to: `approach` is the straight way (3, m) that ends at the goal, None for none; `opening` m a finger, None
    to leave the fingers; `touching`: ids that the hand may touch; `depart`: first straight up, off what it stands on.
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
    """Of one thing: position (m), speed (m/s), what it touches by id ("robot" for the arm); None: nobody can tell."""

    position: Array
    speed: float
    touching: frozenset[str] | None
    rotation: Array
    seen: bool = True  # False: nobody saw it since it was let go of, this is where it should be


PlannedMotion = Any  # what a hand plans for itself to carry out


class EndEffector(Protocol):
    """Raises `ExecutionHalted` from whatever moves when the `stop` of `begin` says a word."""

    stroke: float  # m a finger, fully open

    def begin(self, stop: Callable[[], str]) -> None: ...

    def now(self) -> SceneSnapshot: ...

    def look(self) -> None:
        """Looks again at what a camera shows, where things are seen and not simply known."""
        ...

    def alive(self) -> None:
        """Said while there is nothing to move but much to think: a robot that is not led stands and stays so."""
        ...

    def seconds(self) -> float:
        """Of the world's time since `begin`."""
        ...

    def effort(self, pose: Pose) -> float | None:
        """How far it is to a pose (rad of the joint that goes farthest, or m); None: it cannot be taken."""
        ...

    def plan(self, move: MotionRequest) -> PlannedMotion | str:
        """A way that is free of collision and breaks no path constraint, or why there is none. Moves nothing."""
        ...

    def go(self, way: PlannedMotion, pace: float = 1.0) -> None: ...

    def close(self, id: str) -> bool:
        """The fingers, until they hold; whether both touch the thing."""
        ...

    def let_go(self, way: PlannedMotion, id: str) -> None:
        """Open as far as there is room, back off the way it came, wait until the thing is still."""
        ...

    def open(self, opening: float) -> None: ...

    def back_off(self, way: PlannedMotion) -> None:
        """Open, and back the way of the approach."""
        ...

    def wait(self, seconds: float) -> None: ...

    def measure(self, id: str) -> ObjectMeasurement: ...

    def share(self, id: str, place: str) -> float | None:
        """The part of a thing's weight that `place` ("robot" for the arm) carries, 0…1; None: nobody can tell."""
        ...

    def riders(self, id: str) -> list[str]:
        """What rests on a thing, as far as anybody can tell."""
        ...

    def touches(self, id: str) -> bool:
        """Whether what is held touches something else than the hand."""
        ...

    def done(self) -> dict[str, Any]:
        """Ends what `begin` began; what is known of the motion: simulated seconds, steps."""
        ...
