"""The orchestrator's port to robots: what they offer, what a mission needs of them, and how one is carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from worldfs.base.model import Job, Order

from .bids import MissionNeeds, RobotOffer
from .mission import Mission, MissionProgress
from .relay import RelayLeg
from .reservations import Reservation

if TYPE_CHECKING:
    from .room_making import WayOut


class MissionEndKind(Enum):
    DONE = "done"  # its goals hold, as they were measured
    FAILED = "failed"  # this robot could not: another one may
    REFUSED = "refused"  # not understood: no robot can
    STOPPED = "stopped"  # asked to stop, by the orchestrator or by a stop of the robot
    LOST = "lost"  # what the robot's last order did is not known
    LEFT = "left"  # an order of before this orchestrator's time has ended; the rest of the mission is to be planned


class MissionEnd(NamedTuple):
    """`job`: of LOST, the order whose effect is not known; "": the mission's last one."""

    kind: MissionEndKind
    reason: str = ""
    job: str = ""


class Reserve(Protocol):
    def __call__(
        self,
        wanted: Sequence[Reservation],
        pinned: Sequence[Reservation] = (),
        asides: Sequence[Sequence[Reservation]] = (),
        /,
    ) -> int | None:
        """Wait for all that an order needs: 0. n: for the nth of `asides` instead, which the robot does first, for
        others cannot go on before; then it asks again. None: asked to stop.

        `pinned`: what the robot cannot give up, as it holds it or stands there.
        """
        ...


class NoteJob(Protocol):
    def __call__(self, order: Order, progress: MissionProgress = ..., /) -> bool:
        """The next order, and how far the mission has come: durable before the order is submitted."""
        ...


class MissionHold(NamedTuple):
    """What a running mission asks the orchestrator for, from its own thread. False: it was asked to stop meanwhile."""

    note_job: NoteJob
    reserve: Reserve
    settle: Callable[[Sequence[Reservation]], None]  # the order has a measured end; what the robot stands on now
    note_turn: Callable[[str], None] = lambda why: None  # which instruction the mission waits for, "" for none


class MissionExecutor(Protocol):
    """Carries out missions, each on a thread of its own."""

    def gone(self) -> Sequence[RobotOffer]:
        """Robots that may still move and are no robots of the fleet any more: boards show them, and none bids."""
        ...

    def offers(self) -> Sequence[RobotOffer]:
        """Every robot as it is now."""
        ...

    def left_behind(self) -> Mapping[str, Sequence[Reservation]]:
        """Robots that no process of this fleet serves any more and that ENVIRONMENT.md still has somewhere on the
        floor, and what is taken by that."""
        ...

    def zones_in(self, held: Sequence[Reservation]) -> Sequence[str]:
        """The names of the map's places that lie on what is reserved."""
        ...

    def not_served(self, robot: str) -> str:
        """Why the kernel does not have a declared robot now; "": it has, or there is no such robot. Without a robot:
        of the first that it does not have."""
        ...

    def has_left(self, robot: str) -> bool:
        """Whether the robot was taken out of the fleet: nothing that is for it alone can be carried out."""
        ...

    def needs(self, mission: Mission) -> MissionNeeds | str:
        """What the mission asks of a robot; a text: why it can never be carried out."""
        ...

    def split(self, mission: Mission) -> Sequence[RelayLeg] | str:
        """What several robots do one after the other, where none alone can; a text: why not even that is possible, ""
        where nothing of it could ever be handed over."""
        ...

    def begin(self, mission: Mission, hold: MissionHold, ended: Callable[[MissionEnd], None]) -> Callable[[], None]:
        """Start it; returns a function that asks it to stop. `ended` is called once, from whichever thread."""
        ...

    def at_work(self, job: Job) -> bool:
        """Whether another process serves its robot now: the order goes on though this orchestrator has just begun."""
        ...

    def follow(self, job: Job, ended: Callable[[MissionEnd], None]) -> Callable[[], None]:
        """Wait for the end of such an order, as `begin` does for a mission; asked to stop, it cancels the order,
        and still waits for its end."""
        ...

    def job(self, id: str) -> Job | None:
        """An order of a mission; None where it was never accepted."""
        ...

    def close_order(self, id: str, robot: str) -> None:
        """End an order that was never accepted as cancelled: it cannot be accepted any more. One that was is left."""
        ...

    def cancel(self, job: Job) -> None:
        """Before another plan of its mission begins; durable when it returns."""
        ...

    def repeatable(self, job: Job) -> bool:
        """Whether its operation has no effect on the world."""
        ...

    def has_ended(self, job: Job) -> bool:
        """Whether an order that ended with an unknown effect is over after all, by what its robot was heard to say."""
        ...

    def approvals(self) -> Mapping[str, str]:
        """Robots whose plan or order waits for a person, and whose approval that is."""
        ...

    def stands(self, robot: str) -> Sequence[Reservation]:
        """What it is in, as it was last measured: the floor that it stands on, the lanes, the thing in its gripper."""
        ...

    def ways_out(self, robot: str) -> Sequence[WayOut]:
        """The passing places where it is not, the nearest first."""
        ...

    def holds_something(self, robot: str) -> bool:
        """Whether a thing is in its gripper."""
        ...
