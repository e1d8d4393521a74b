"""The open missions of one root in memory: each change of one is written before it counts, and logged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum

from worldfs.base.clock import Clock, stamp
from worldfs.base.errors import UserError
from worldfs.base.messages import coded, render
from worldfs.base.model import Finding
from worldfs.formats.orchestrator import SHOWN

from .assignment import circular
from .mission import Mission, MissionOrder, MissionProgress, MissionState, MissionStatus
from .mission_store import OPEN, MissionFiles
from .reservations import Reservation


class Holdup(Enum):
    """What holds up a mission that runs; of several, the first is shown."""

    PERSON = "a person's approval"
    ROBOT = "the robot, which is cut off"
    RESERVATION = "what another mission or robot holds"
    TURN = "another instruction of the robot"


class OpenMissions:
    """Not locked: the orchestrator makes one call at a time."""

    def __init__(
        self,
        files: MissionFiles,
        clock: Clock,
        alert: Callable[[str, Finding | None], None],
        holds_something: Callable[[str], bool],
        ended: Callable[[Mission], None],
    ) -> None:
        """`holds_something`: whether a robot has a thing in its gripper. `ended`: called with a mission that has."""
        self.files, self.clock, self.alert = files, clock, alert
        self.table: dict[str, Mission] = {}
        self.log: deque[tuple[str, str]] = deque(maxlen=SHOWN)  # (time, decision)
        self._holds_something, self._ended = holds_something, ended
        self._waits: dict[str, str] = {}  # why a queued mission waits, as it was last logged
        self._holdups: dict[str, dict[Holdup, str]] = {}  # what missions that run wait for

    def discover(self) -> bool:
        """Read the missions that are new; whether there were any."""
        new = [id for id in self.files.open_ids() if id not in self.table]
        return sum(self.read_in(id) is not None for id in new) > 0

    def read_in(self, id: str) -> Mission | None:
        """None: it has ended, or cannot be read, which is an alert."""
        where = f"{OPEN}/{id}"
        try:
            mission = self.files.load(id)
        except UserError as error:
            fix = error.fix or coded("mission.set_aside")
            self.alert(where, Finding(error.code, where, error.expected, error.found, fix))
            return None
        if mission.status.state.ended:
            self.files.archive(id)
            return None
        self.table[id] = mission
        after = mission.order.after
        if after and (circle := circular({one.id: one.order.after for one in self.table.values()}, id)):
            self.write(mission, MissionState.FAILED, coded("mission.circle", circle=circle))
            return None
        return mission

    def find(self, id: str) -> Mission | None:
        """The open mission of that id, also one that was not discovered yet."""
        return self.table.get(id) or (self.read_in(id) if id in self.files.open_ids() else None)

    def write(self, mission: Mission, state: MissionState, reason: str, **more: object) -> Mission:
        """The mission with a new status: durable when this returns."""
        before = self.table.get(mission.id, mission).status
        kept = state is MissionState.PAUSED and bool(before.robot) and self._holds_something(before.robot)
        kept |= state is MissionState.QUEUED and before.kept
        fields = {"at": stamp(self.clock.now()), "kept": kept, "held": (), "waits": "", **more}
        if state is before.state:  # its priority
            fields = {"at": fields["at"], **more}
        status: MissionStatus = replace(before, state=state, reason=reason, **fields)  # type: ignore[arg-type]  # the fields of a status
        mission = Mission(mission.order, status)
        self.files.write(mission)
        self._waits.pop(mission.id, None)
        if state is not before.state:
            self._holdups.pop(mission.id, None)
        if state.ended:
            self.table.pop(mission.id, None)
            self._ended(mission)
        else:
            self.table[mission.id] = mission
        self.note(mission, reason)
        return mission

    def split(self, mission: Mission, legs: Sequence[MissionOrder]) -> None:
        """It waits for its legs, which are missions of their own: first they are durable, then it says so."""
        for leg in legs:
            self.files.add(leg)
        names = [leg.text for leg in legs]
        self.write(mission, mission.status.state, coded("mission.split", n=len(legs), legs=names),
                   legs=tuple(leg.id for leg in legs))  # fmt: skip

    def note_job(self, id: str, job: str, held: tuple[Reservation, ...], progress: MissionProgress) -> None:
        """The order that a running mission submits next, and what is reserved for it: durable when this returns."""
        mission = self.table[id]
        status = replace(mission.status, job=job, jobs=mission.status.jobs + 1, held=held, progress=progress)
        self.table[id] = Mission(mission.order, status)
        self.files.write(self.table[id])

    def state_of(self, id: str) -> MissionState | None:
        """Of an open or ended mission; None: there is none."""
        if id in self.table:
            return self.table[id].status.state
        try:
            return self.files.load(id).status.state
        except UserError:
            return None

    def note(self, mission: Mission, reason: str) -> None:
        """Log a decision."""
        title = mission.order.title or mission.order.text
        said = coded("mission.logged", mission=title, state=mission.word, reason=reason)
        self.tell(said)

    def tell(self, said: str) -> None:
        """Log what is about no mission."""
        self.log.append((self.clock.now().strftime("%H:%M:%S"), said))

    def note_wait(self, mission: Mission, reason: str) -> None:
        """Log why a queued mission waits, once, and keep it with its status. "": for its turn, which is not logged."""
        if not reason:
            self._waits.pop(mission.id, None)
            if (now := self.table.get(mission.id)) is not None and now.status.waits:
                self._keep_waits(now, "")
        elif self._waits.get(mission.id) != reason:
            self._waits[mission.id] = reason
            if (now := self.table.get(mission.id)) is not None:
                self._keep_waits(now, reason)
            self.note(mission, reason)

    def _keep_waits(self, mission: Mission, why: str) -> None:
        self.table[mission.id] = Mission(mission.order, replace(mission.status, waits=why))
        self.files.write(self.table[mission.id], durable=False)  # it is seen again after a power cut

    def note_holdup(self, id: str, holdup: Holdup, why: str) -> None:
        """Say what holds up a mission that runs, "" for no longer: logged, and kept with its status."""
        mission = self.table.get(id)
        if mission is None or mission.status.state is not MissionState.RUNNING:
            return
        found = self._holdups.setdefault(id, {})
        before = found.get(holdup, "")
        found[holdup] = why
        waits = next((found[one] for one in Holdup if found.get(one)), "")
        if waits != mission.status.waits:
            self._keep_waits(mission, waits)
        if why and why != before:
            self.note(self.table[id], why)

    def waits_for_persons(self, held_up: Callable[[str], bool]) -> bool:
        """Whether all missions that run wait for a person, so that none goes on by itself. `held_up`: whether a mission
        waits for what others hold: where all wait, none of them gives it back."""
        running = [id for id, mission in self.table.items() if mission.status.state is MissionState.RUNNING]
        return bool(running) and all(self._holdups.get(id, {}).get(Holdup.PERSON) or held_up(id) for id in running)

    def log_lines(self, language: str) -> list[str]:
        return [f"[{at}] {render(said, language)}" for at, said in self.log]
