"""What missions and robots have reserved: granted before an order is handed over, kept while its end is not known.

    .paos/reservations/<robot>   what a robot keeps whose last order has no known end

What a mission has stands in its own file, in the line that names the order that it is for.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from worldfs.base.errors import NotFound
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object, as_objects, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Finding, Job
from worldfs.base.unknown_effect import unknown_effect

from .bids import RobotOffer
from .mission import Mission
from .mission_port import MissionExecutor
from .open_missions import Holdup, OpenMissions
from .reservations import Reservation, ReservationTable, ReservedKind, named, read_reservation

KEPT: Final = ".paos/reservations"


class KeptReservations(NamedTuple):
    """Of a robot whose last order, `job` of `mission`, has no known end."""

    mission: str
    job: str
    held: tuple[Reservation, ...]


class MissionReservations:
    """Called with the orchestrator's lock held. A robot without a mission holds the floor that it stands on."""

    def __init__(
        self,
        missions: OpenMissions,
        executor: MissionExecutor,
        lock: threading.RLock,
        give_up: Callable[[Mission, str], None],
        on_wait: Callable[[], None],
    ) -> None:
        """`give_up`: ends a mission that is in a circle of waits that no mission can open. `on_wait`: called when a
        mission begins to wait, or waits for others."""
        self.table = ReservationTable()
        self._missions, self._executor, self._give_up, self._on_wait = missions, executor, give_up, on_wait
        self._store = missions.files.store
        self._granted = threading.Condition(lock)
        self._stands: dict[str, Collection[Reservation]] = {}  # by robot, as it was last seen
        self._own: dict[str, str] = {}  # robot → its mission, which holds what it stands on
        self._kept: dict[str, KeptReservations] = {}
        self._hands: dict[
            str, set[Reservation]
        ] = {}  # mission → things that its robot held, and that it did not ask for

    def load(self) -> None:
        """What robots keep since before the start."""
        for robot in self._store.list(KEPT):
            stored = self._store.get(f"{KEPT}/{robot}")
            if stored is not None:
                self._kept[robot] = _read_kept(stored.data)
                self._place(robot)

    # -- a mission at work ----------------------------------------------------------------------------------------

    def reserve(
        self,
        mission: Mission,
        at_work: Callable[[], bool],
        wanted: Sequence[Reservation],
        pinned: Sequence[Reservation] = (),
        asides: Sequence[Sequence[Reservation]] = (),
    ) -> int | None:
        """Wait for all that is wanted: 0. n: for the nth of `asides` instead. None: it is not to go on.

        `pinned`: what it has in its gripper, and where it stands.
        """
        id, robot = mission.id, mission.status.robot
        stands = [item for item in pinned if item.kind is not ReservedKind.OBJECT]
        hand = {item for item in pinned if item.kind is ReservedKind.OBJECT}
        self._own[robot] = id
        self._place(robot)
        self.table.stand(id, stands)
        self.table.add(id, hand)  # what it holds since an earlier mission stays its own
        self._hands[id] = (self._hands.get(id, set()) | hand) - set(wanted)
        if robot in self._kept:
            self.table.add(id, self._kept[robot].held)
        self.table.request(id, mission.rank, wanted, asides)
        self.table.pin(id, pinned)
        self.decide()
        while at_work() and not set(wanted) <= self.table.held(id) and self.table.aside(id) is None:
            self._granted.wait()
        if not at_work():
            return None
        self._missions.note_holdup(id, Holdup.RESERVATION, "")
        number = self.table.aside(id)
        return 0 if number is None else number + 1

    def hold_again(self, mission: Mission) -> None:
        """What was reserved before a restart for an order that is still at work."""
        self._own[mission.status.robot] = mission.id
        self._place(mission.status.robot)
        self.table.add(mission.id, mission.status.held)

    def held(self, id: str) -> tuple[Reservation, ...]:
        return tuple(sorted(self.table.held(id), key=lambda item: (item.kind.value, item[1:])))

    def settle(self, id: str, stands: Iterable[Reservation]) -> None:
        """An order has an end that was measured: beside its things the mission keeps what its robot stands on now."""
        if (mission := self._missions.table.get(id)) is not None:
            if mission.status.robot in self._kept:
                self._free(mission.status.robot, coded("mission.later_order"))
            stands = set(stands)
            self.table.stand(id, [item for item in stands if item.kind is not ReservedKind.OBJECT])
            hand = self._hands.get(id, set())
            if put_down := hand - stands:
                self.table.release(id, put_down)
                self._hands[id] = hand & stands
        self.decide()

    def wake(self) -> None:
        """Missions that wait look whether they are still to go on."""
        self._granted.notify_all()

    def release(self, mission: str, robot: str) -> None:
        """The mission goes on no more with that robot, which keeps what it stands on."""
        self.table.release(mission)
        self._hands.pop(mission, None)
        if self._own.get(robot) == mission:
            del self._own[robot]
            self._stands[robot] = self._now(robot)
            self._place(robot)
        self.decide()

    def decide(self) -> None:
        for decision in self.table.decide():
            mission = self._missions.table.get(decision.holder)
            if mission is None:
                continue
            if decision.verdict in ("wait", "yield"):
                self._missions.note_holdup(mission.id, Holdup.RESERVATION, decision.reason)
            elif decision.verdict != "granted" or decision.over:
                self._missions.note(mission, decision.reason)
            if decision.verdict == "wait":
                self._on_wait()
            if decision.verdict == "blocked":
                self._give_up(mission, coded("mission.no_way_out", why=decision.reason))
        self._granted.notify_all()

    # -- robots ---------------------------------------------------------------------------------------------------

    def look(self, offers: Iterable[RobotOffer]) -> None:
        """Where the robots stand that have no mission; those that are heard of again may let go of what they kept.
        Those that are no robots any more hold no thing, and the floor on which ENVIRONMENT.md has them."""
        offers = list(offers)
        there = {offer.id: offer.stands for offer in offers}
        left = {id: tuple(stands) for id, stands in self._executor.left_behind().items() if id not in there}
        for id, stands in left.items():
            there[id] = tuple(item for item in stands if item.kind is not ReservedKind.OBJECT)
        changed = self._let_go(self._stands.keys() - there.keys())
        for id, stands in there.items():
            if self._stands.get(id, ()) != stands:
                if id in left:
                    self._tell_left(id)
                self._stands[id] = stands
                changed |= id not in self._own
                self._place(id)
        for offer in offers:
            if offer.id in self._kept and offer.state != "offline" and self._known(self._kept[offer.id]):
                self._free(offer.id, coded("mission.heard_again"))
                changed = True
        if changed:
            self.decide()

    def _tell_left(self, robot: str) -> None:
        """It holds nothing any more but the floor."""
        before = self._stands.get(robot, ())
        if things := named(item for item in before if item.kind is ReservedKind.OBJECT):
            self._missions.tell(coded("mission.robot_left", robot=robot, names=things))

    def _let_go(self, gone: Collection[str]) -> bool:
        """Whether anything of these robots is free now. What one keeps after an unknown end is a person's to free."""
        for robot in gone:
            things = named(item for item in self._stands.pop(robot) if item.kind is ReservedKind.OBJECT)
            if things:
                self._missions.tell(coded("mission.robot_left", robot=robot, names=things))
            self._place(robot)
        return bool(gone)

    def keeps(self, robot: str) -> bool:
        """Whether what its last order did is not known."""
        return robot in self._kept

    def keep(self, mission: Mission, job: Job, *, things: bool) -> None:
        """How that order of the mission ended is not known: what it held is kept, durable, for the order's robot.

        `things`: also those; without them another robot goes on with the mission.
        """
        robot, status = job.order.node, mission.status
        hand = self._hands.get(mission.id, set())
        held = tuple(item for item in status.held if things or item.kind is not ReservedKind.OBJECT or item in hand)
        if not held:
            return
        kept = KeptReservations(mission.id, job.id, held)
        self._store.put(f"{KEPT}/{robot}", _kept_line(kept))
        self._kept[robot] = kept
        names = [*named(held), *self._executor.zones_in(held)]  # also those on the way
        said, fix = (
            coded("mission.kept_for", robot=robot, names=names),
            coded("mission.kept_until", id=mission.id),
        )
        expected = coded("mission.known_end")
        self._missions.note(mission, said)
        self._missions.alert(_alert(robot), Finding("RESERVATIONS_KEPT", robot, expected, said, fix))
        self._place(robot)

    def free(self, mission: str, by: str) -> None:
        """A person has looked what the robot of that mission did."""
        for robot in [robot for robot, kept in self._kept.items() if kept.mission == mission]:
            self._free(robot, coded("mission.freed_by", by=by))
        self.decide()

    def _free(self, robot: str, why: str) -> None:
        del self._kept[robot]
        with suppress(NotFound):
            self._store.delete(f"{KEPT}/{robot}")
        self._missions.tell(coded("mission.freed", robot=robot, why=why))
        self._missions.alert(_alert(robot), None)
        self._stands[robot] = self._now(robot)
        self._place(robot)

    def _now(self, robot: str) -> Collection[Reservation]:
        return self._executor.left_behind().get(robot) or self._executor.stands(robot)

    def _known(self, kept: KeptReservations) -> bool:
        """Whether its order has ended by now, as it was measured."""
        job = self._executor.job(kept.job)
        if job is None or not job.status.state.terminal or job.status.outcome is None:
            return False
        return not unknown_effect(job.status.outcome) or self._executor.has_ended(job)

    def _place(self, robot: str) -> None:
        """The robot's own reservations: what it keeps, and what it stands on while no mission holds that."""
        id, keeper = holder_of(robot), coded("mission.robot_keeps", robot=robot)
        stands = () if robot in self._own else self._stands.get(robot, ())
        kept = self._kept[robot].held if robot in self._kept and robot not in self._own else ()
        for holder, items in ((id, stands), (keeper, kept)):
            self.table.release(holder)
            if items:
                self.table.add(holder, items)


def holder_of(robot: str) -> str:
    """The robot's name as a holder, which is no mission's id."""
    return coded("mission.robot_there", robot=robot)


def _alert(robot: str) -> str:
    return f"reservations/{robot}"


def _kept_line(kept: KeptReservations) -> bytes:
    value = {"mission": kept.mission, "job": kept.job, "held": [item.as_json() for item in kept.held]}
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _read_kept(data: bytes) -> KeptReservations:
    try:
        said = as_object(parse_json(data))
    except ValueError:
        said = {}
    held = tuple(item for one in as_objects(said.get("held")) if (item := read_reservation(one)) is not None)
    return KeptReservations(as_text(said.get("mission")), as_text(said.get("job")), held)
