"""The interfaces of drivers and reviewers. Every body that moves implements these."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from .clock import Clock
from .driver_memory import DriverMemory
from .model import Finding, Job, Json, Operation, Order, Outcome, Profile, RobotState, Scene

if TYPE_CHECKING:
    from .chat_model import ConfiguredModel


@dataclass(slots=True)
class Run:
    """One attempt, or the review before it, as a driver or a reviewer sees it: how long, and whether to stop."""

    clock: Clock
    deadline: float  # clock.monotonic() value after which the driver must stop and return
    attempt: int = 1
    artifacts: Path | None = None  # directory for pictures and traces, exists; None: keep none
    cancel: threading.Event = field(default_factory=threading.Event)
    evidence: Json = field(default_factory=dict)  # what a review leaves for the job's record
    epoch: int = 0  # of the kernel's lease: a body that several kernels reach refuses lower ones than it has seen
    approval: Json = field(default_factory=dict)  # plan, by, at, and the sources it holds for; empty: none was needed

    @property
    def stop(self) -> str:
        """ "" to go on, else why to stop safely now: "cancelled" or "timeout"."""
        if self.cancel.is_set():
            return "cancelled"
        return "timeout" if self.clock.monotonic() >= self.deadline else ""


Interpreter = Callable[[str, Scene], Sequence[Order]]
"""Natural language to orders on this body (for `real_execute`): none where the scene is already as it is asked. Raises
`BadInput` when it cannot, and for words that ask for nothing."""


class Driver(Protocol):
    """Code that carries out jobs of one node. Called from one thread at a time."""

    @property
    def operations(self) -> Sequence[Operation]:
        """What it can be asked to do; of a target, the skills that there are now."""
        ...

    def open(self, scene: Scene) -> None:
        """Connect to the body; a simulation builds its world from `scene` (which may be empty)."""
        ...

    def observe(self) -> Scene:
        """What the body and its sensors see now; own robot entry, objects, furniture, relations, perception."""
        ...

    def review(self, order: Order) -> Sequence[Finding]:
        """What only the body knows: inverse kinematics, collisions, what is held. Moves nothing. Empty: go."""
        ...

    def execute(self, order: Order, run: Run) -> Outcome:
        """Do it, and measure. Success only from a predicate on the world."""
        ...

    def close(self) -> None:
        """Let go of threads, windows and devices; idempotent."""
        ...


@runtime_checkable
class Stoppable(Protocol):
    """Optional interface of a driver: it receives a stop directly, whether or not a job runs.

    Every driver ends a job when `Run.stop` says so. A driver whose robot may go on moving implements this too: it is
    also called where an order ends early, or without an answer, and nothing says whether the robot stands. That `stop`
    has returned confirms nothing: only `MeasuresStandstill` does.
    """

    def stop(self) -> None:
        """Stand still and hold, now. From any thread, at any time, also beside `open` and `execute`."""
        ...


class StopUndelivered(ConnectionError):
    """Raised by the `stop` of what stands in for a driver: no driver hears it. `why`: the whole reason, for people."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@runtime_checkable
class TakesUp(Protocol):
    """Optional interface of a `Stoppable`: its robot is connected by the first order, or later than `open`."""

    def take_up(self) -> None:
        """Connect the robot if it is not connected, so that it can be stopped and measured; move nothing.

        Called while no order runs, from any thread. Raises `UserError`, `ConnectionError` or `TimeoutError` where the
        robot does not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Standstill:
    """What a body's own measurements say of its motion. `why`: what was measured, or why nothing is known."""

    stands: bool
    why: str = ""


@runtime_checkable
class MeasuresStandstill(Protocol):
    """Optional interface of a driver: its robot's standstill is measured. Without it no stop is ever confirmed."""

    def standstill(self, since: float) -> Standstill:
        """Whether a measurement that was made after `since` (`Clock.monotonic`) shows that the robot stands.

        From any thread, at any time, also beside `open` and `execute`. It moves nothing and waits for nothing: what is
        not known now is not known.
        """
        ...


@runtime_checkable
class RemoteKernel(Protocol):
    """Optional interface of a driver: another kernel carries out its orders, each as one job of its own.

    The id of that job is made from the order's. So an order that a lost kernel had begun is executed again: it is
    followed to its end, and nothing is done twice.
    """

    @property
    def cut_off_since(self) -> str:
        """Since when that kernel does not answer (ISO 8601); "": it answers."""
        ...

    def follows(self, order: str) -> bool:
        """Whether that kernel has, or may have, this order since before: it is followed to its end."""
        ...

    def has_ended(self, order: str) -> bool:
        """Whether an order that was given up here as lost has a measured end there. False: it is not known yet."""
        ...


RECORD_FPS = 10  # frames for each simulated second


@runtime_checkable
class VideoRecorder(Protocol):
    """Optional interface of a driver: a video of the body's motion."""

    def record(self, path: Path, fps: int) -> None:
        """Record from now until `stop_recording`. Raises `MissingRequirement` without camera or encoder."""
        ...

    def stop_recording(self) -> int:
        """The file is whole when this returns; how many frames it has (0: no file)."""
        ...


@runtime_checkable
class Simulated(Protocol):
    """Optional interface of a simulation: what it took from the document is no measurement of its own."""

    def assumed(self) -> Scene | None:
        """What it observed when it was opened on a given scene, but what came to rest elsewhere as that scene has it.
        Empty: it made its world up. None: a real world."""
        ...


@runtime_checkable
class SharesWorld(Protocol):
    """Optional interface of a driver: its body stands in a world that the bodies of other robots share."""

    def leave(self) -> bool:
        """Its robot was removed, and it is closed: the next world is built without it. True: others still have the one
        open in which it stands."""
        ...


@runtime_checkable
class FeelsItsHand(Protocol):
    """Optional interface of a driver: between its orders, too, it measures whether its gripper still holds a thing."""

    def lost(self) -> tuple[str, RobotState] | None:
        """What it held when its last order ended and holds no more, with the robot's entry as it is now. None: nothing,
        or an order of it is at work, which reports that itself. From any thread; it moves nothing."""
        ...


@runtime_checkable
class RealBody(Protocol):
    """Optional interface of a driver: a body that is no simulation asks for approval unless config.json says not to."""

    @property
    def real(self) -> bool: ...


@runtime_checkable
class NamesItsCall(Protocol):
    """Optional interface of a driver of ours that calls a package: messages name the call that does not return."""

    @property
    def calling(self) -> str:
        """ "their_package.Arm connect" while it has not returned; "": no such call is under way."""
        ...


@runtime_checkable
class Sourced(Protocol):
    """Optional interface of a driver: documents and files decide, beside the order, what it does."""

    def sources(self, order: Order) -> Json:
        """Name of each such document, entry or file → the hash of its present content. An approval holds for these."""
        ...


@runtime_checkable
class Demanding(Protocol):
    """Optional interface of a driver: it demands other jobs before one of its own, and before anybody is asked."""

    def demands(self, job: Job, dependencies: Sequence[Job]) -> Sequence[Finding]:
        """What stands against a new job, given the jobs that it depends on, ended or not. Needs no open driver."""
        ...


@runtime_checkable
class KnowsItsWay(Protocol):
    """Optional interface of a driver: the way that an order would take over the floor."""

    def way(self, order: Order) -> Sequence[tuple[float, float]]:
        """Points (x y, m) from where it stands to where it would stand; empty: it cannot say. Moves nothing."""
        ...


@runtime_checkable
class ReportsItself(Protocol):
    """Optional interface of a driver: its robot reports also without an order, so that others who move it are seen."""

    def reported(self) -> RobotState | None:
        """The robot's entry as `observe` has it, of its last report, without pictures; None: it has reported nothing.
        Asked each second while no job of it runs: it moves nothing and waits for nothing."""
        ...


@runtime_checkable
class SaysReachable(Protocol):
    """Optional interface of a driver: it says whether its robot can be heard, and goes on trying where it cannot."""

    def unreachable(self) -> str:
        """Why nothing is heard of the robot now; "": it is there. From any thread; it waits for nothing."""
        ...


# The optional interfaces of a package's body. `RemoteKernel`, `SaysReachable` and `FeelsItsHand` are our own.
OPTIONAL: Final = (
    Stoppable, TakesUp, MeasuresStandstill, VideoRecorder, Simulated, SharesWorld, RealBody, Sourced, Demanding,
    KnowsItsWay, ReportsItself,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PluginContext:
    """What a body, a robot, a target's adapter, a reviewer or a chat backend is made with; it takes what it needs.

    `seed`, `objects`: the random scene of a simulation that is opened on an empty one.
    """

    clock: Clock
    artifacts: Path | None = None  # directory for pictures, below the workspace; None: keep none
    scene: Scene | None = None  # ENVIRONMENT.md at the start, for a target
    language: str = "en"  # en | zh: of the names that a body gives to things it makes up
    robot_id: str = ""  # the node that a body is made for
    interpreter: Interpreter | None = None  # language to orders, for real_execute
    seed: int | None = None
    objects: int | None = None
    cameras: bool = True
    perception: str = ""  # of the robot's profile: what it plans from, "": truth
    max_frame_age: float | None = None  # s; of the same: the oldest picture that anything moves on, None: it says none
    profile: Callable[[], Profile | None] = lambda: None  # the robot's as it is now: what holds on its way, too
    real_time: float = 0.0  # seconds of a simulation in a second; 0: as fast as it can
    shared: dict[str, object] = field(default_factory=dict)  # what bodies of one workspace have in common
    agent: Path | None = None  # the directory of the agent whose messages a chat backend answers
    model: Callable[[str], ConfiguredModel | None] = lambda name: None  # of config.json, by its name there
    epoch: int = 0  # of the kernel, as `Run.epoch`: a body that several reach is told of it when it is opened
    memory: DriverMemory = field(default_factory=DriverMemory)  # of the robot: what its next driver must know too


DriverFactory = Callable[[PluginContext], Driver]


class Reviewer(Protocol):
    """The critic's interface: all findings at once, empty = go (warnings refuse nothing)."""

    def review(self, order: Order, scene: Scene, profile: Profile | None) -> Sequence[Finding]: ...


@runtime_checkable
class SlowReviewer(Protocol):
    """What a reviewer that takes long is in place of a `Reviewer`: it ends when `run.stop` says so.

    `run.evidence` takes what belongs into the job's record. Raises `ModelUnavailable` where it must be asked and
    cannot: the order is refused, without a lesson.
    """

    def review_during(self, order: Order, scene: Scene, profile: Profile | None, run: Run) -> Sequence[Finding]: ...
