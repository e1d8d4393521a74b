"""ORCHESTRATOR.md of a root: what people wrote into it is taken in, then it is rendered, always in that order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Final

from worldfs.base.clock import Clock, stamp
from worldfs.base.errors import Conflict, Exists, Unsafe, UserError
from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.formats import orchestrator
from worldfs.formats.orchestrator import Dashboard, ParsedDashboard, PoolRobot
from worldfs.storage.foreign_edits import ForeignEdits
from worldfs.storage.store_interface import ABSENT, Store

from .bids import RobotOffer
from .mission import Mission, MissionState
from .mission_sheet import clock_time, dashboard, queue_row, row_digest, take_in
from .mission_store import MissionFiles

OWN: Final = 10_000  # rows that are remembered
REST: Final = 10  # a render that takes t is followed by one at the earliest 10 t later


class DashboardFile:
    """State never lives in it: it can be rendered again from the missions at any time."""

    key: Final = orchestrator.PATH

    def __init__(
        self,
        store: Store,
        clock: Clock,
        files: MissionFiles,
        alert: Callable[[str, Finding | None], None],
        *,
        shown: bool,
    ) -> None:
        self._store, self._clock, self._files, self._alert = store, clock, files, alert
        self.wanted = shown  # rendered at all
        self.changed = True  # the change feed reports a write
        self.displaced = False  # of it, to a copy that was replaced
        self._revision: str | None = None
        self._data = b""
        self._readable = True
        self._torn = False  # it ends inside of a row: what its writer adds must find that row at the end
        self._shown: object = None
        self._noted: set[str] = set()  # rows that are known to be missions
        self._named: set[str] = set()  # places of the alerts that this file gave
        self._due: float | None = None  # a render that was put off
        self._rests_until = 0.0
        self._foreign = False  # the text is another program's, or of an earlier process
        self._own: dict[str, None] = {}  # rows that were shown: an old copy of them is nobody else's

    def take_in(self, missions: Collection[Mission]) -> bool:
        """Read what other programs wrote since the last call; whether they wrote anything. Costs nothing unless a
        change was reported."""
        if not self.changed:
            return False
        self.changed, displaced = False, self.displaced
        self.displaced = False
        edits = self._store if displaced and isinstance(self._store, ForeignEdits) else None
        for data in edits.displaced(self.key, keep=True) if edits is not None else ():
            self._read(data, missions, self._data)
        if edits is not None:
            edits.forget(self.key)
        try:
            stored = self._store.get(self.key)
        except UserError as error:  # a link or a directory has its name: left alone
            self._refuse(error)
            return False
        revision = stored.revision if stored is not None else None
        if revision == self._revision and self._readable:
            return displaced
        before, self._revision, self._shown = self._data, revision, None
        self._data = stored.data if stored is not None else b""
        if stored is not None:
            self.wanted |= bool(stored.data.strip())
            self._foreign = True
            found = self._read(stored.data, missions, before)
            self._readable, self._torn = found is not None, found is not None and found.torn
        return True

    def show(
        self,
        missions: Iterable[Mission],
        robots: Sequence[RobotOffer],
        decisions: Sequence[str],
        language: str,
        *,
        over: bool = False,
    ) -> None:
        """Write it where it differs: a projection, so its name need not be durable. `over`: the orchestrator ends, so
        nothing is put off, and nothing is called at work."""
        if not self.wanted or not self._readable or self._torn:
            return
        missions = list(missions)
        known = [robot._replace(heard=None) if robot.served else robot for robot in robots]  # no renewal is a change
        facts = [(m.id, m.status.state, m.status.robot, m.priority, m.status.waits) for m in missions]
        state = facts, known, list(decisions), over
        began = self._clock.monotonic()
        if state == self._shown:
            self._due = None
            return
        if began < self._rests_until and not over:
            self._due = self._rests_until
            return
        now = clock_time(stamp(self._clock.now()))
        work = {m.status.robot: m for m in missions if m.status.state is MissionState.RUNNING}
        pool = [
            PoolRobot(r.id, _state(r, work.get(r.id), over), _heard(r, now), _title(work.get(r.id))) for r in robots
        ]
        board = dashboard(missions, pool, decisions, language, over=over)
        self._name_foreign(board)
        queued = {row_digest(queue_row(m)): m.id for m in missions if m.status.state is MissionState.QUEUED}
        digests = {row_digest(row): row.mission for row in board.queue}
        shown = digests.keys() - self._noted
        had = {title for digest, title in digests.items() if digest not in shown or self._files.row_known(digest)}
        self._files.note_rows(
            [(digest, queued[digest]) for digest in sorted(shown)]
        )  # before anybody can write them back
        self._noted = (self._noted & set(queued)) | shown
        data = orchestrator.write(self._data, board, language=language, had=had)
        if data != self._data:
            expect = ABSENT if self._revision is None else self._revision
            try:
                self._revision = self._store.put(self.key, data, expect, durable=False)
            except (Conflict, Exists, Unsafe):  # another program wrote first, or put a link there
                self.changed, self._due = True, began
                return
            self._data = data
        self._shown, self._due = state, None
        self._rests_until = began + REST * (self._clock.monotonic() - began)

    def _name_foreign(self, board: Dashboard) -> None:
        """Name the rows of missions and robots that are not this orchestrator's: they leave the board, which shows what
        is so, and stay in the version before."""
        here = [row.mission for row in board.active] + [row.robot for row in board.robots]
        if self._foreign:
            self._foreign = False
            found = orchestrator.read(self._data).dashboard
            rows = [row.mission for row in found.active] + [row.robot for row in found.robots]
            queued = {row.mission for row in board.queue}
            others = [row for row in rows if row not in here and row not in queued and row not in self._own]
            ended = self._ended_titles() if others else ()  # shown by the orchestrator before this one
            if others := [row for row in others if row not in ended]:
                place = f"{self.key}#rows"
                said = coded("mission.foreign_rows", rows=[row[:80] for row in others[:5]], n=len(others))
                expected, fix = coded("mission.own_rows"), coded("mission.version_before", file=self.key)
                self._alert(place, Finding("ROWS_OF_OTHERS", self.key, expected, said, fix, warning=True))
                self._named.add(place)
        self._own.update(dict.fromkeys(here))
        while len(self._own) > OWN:
            del self._own[next(iter(self._own))]

    def _ended_titles(self) -> set[str]:
        titles = set[str]()
        for id in self._files.latest_ids():
            with suppress(UserError):  # an alert names it
                mission = self._files.load(id)
                titles.add(mission.order.title or mission.order.text)
        return titles

    def patience(self) -> float | None:
        """Seconds until a render that was put off; None: there is none."""
        return None if self._due is None else max(0.0, self._due - self._clock.monotonic())

    def _read(self, data: bytes, missions: Collection[Mission], before: bytes) -> ParsedDashboard | None:
        """None: it cannot be read."""
        try:
            found = orchestrator.read(data)
            findings = take_in(found, self._files, missions, "operator", before if self._readable else b"")
        except UserError as error:
            self._refuse(error)
            return None
        self._alert(self.key, None)
        places = {f"{self.key}#{finding.field}": finding for finding in findings}
        for place in self._named - places.keys():
            self._alert(place, None)
        for place, finding in places.items():
            self._alert(place, finding)
        self._named = set(places)
        return found

    def _refuse(self, error: UserError) -> None:
        self._readable = False
        expected, fix = error.expected or coded("mission.readable"), error.fix or coded("mission.repair")
        self._alert(self.key, Finding(error.code, self.key, expected, error.found, fix))


def _heard(robot: RobotOffer, now: str) -> str:
    """Of a robot of this process: now."""
    if robot.heard is not None:
        return clock_time(stamp(robot.heard))
    return now if robot.served and robot.state != "unreachable" else ""


def _state(robot: RobotOffer, mission: Mission | None, over: bool) -> str:
    if over and robot.heard is None and robot.served:  # it was this process that served it
        return "offline"
    if robot.may_move:
        return "may still move" if robot.state == "idle" else f"{robot.state}, may still move"
    return mission.word if mission is not None and mission.status.waits and robot.state == "busy" else robot.state


def _title(mission: Mission | None) -> str:
    return "" if mission is None else mission.order.title or mission.order.text
