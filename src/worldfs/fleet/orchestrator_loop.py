"""The orchestrator of one root: takes missions in, gives them to robots, and renders ORCHESTRATOR.md."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Final, NamedTuple

from worldfs.base.clock import Clock
from worldfs.base.messages import coded
from worldfs.base.messages.coded_text import language_of
from worldfs.base.model import Finding, Job, Order
from worldfs.base.unknown_effect import bars_repeat, unknown_effect
from worldfs.runtime.approvals import APPROVALS
from worldfs.runtime.job_store import is_ended
from worldfs.runtime.stop_log import STOPS
from worldfs.storage.lease import NODE_LEASES
from worldfs.storage.store_interface import Store, StoreChange, StoreChangeKind

from .assignment import LOOKED_AT, Assignment, assign, failed_dependency, handover, progress_after, recorded, stop_of
from .bids import MissionNeeds, RobotOffer, ranked
from .dashboard_file import DashboardFile
from .heartbeats import lost_robot, offers_now
from .mission import NO_PROGRESS, Mission, MissionProgress, MissionState
from .mission_port import MissionEnd, MissionEndKind, MissionExecutor, MissionHold
from .mission_reservations import MissionReservations
from .mission_store import OPEN, REQUESTS, MissionFiles, MissionRequest
from .open_missions import Holdup, OpenMissions
from .relay import leg_orders
from .reservations import Reservation
from .room_making import is_idle, room_orders, waits_for_room

LEASE: Final = ".paos/orchestrator.lock"
ENVIRONMENT: Final = "ENVIRONMENT.md"


class _Run(NamedTuple):
    """A mission at work. `attempt`: an end of another one is late, and counts for nothing."""

    attempt: int
    stop: Callable[[], None]


class Orchestrator:
    """Keeps the open missions in memory; their files are the truth. `step` may be called from one thread at a time."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        executor: MissionExecutor,
        *,
        language: Callable[[], str],
        alert: Callable[[str, Finding | None], None],
        always_shown: bool = False,
    ) -> None:
        """`always_shown`: ORCHESTRATOR.md is rendered also before the first mission. Raises `Busy` where another
        orchestrator has the root, and names it."""
        self.files = MissionFiles(store, clock)
        self.clock, self.executor, self.language, self.alert = clock, executor, language, alert
        self._lease = store.lease(LEASE, "orchestrator", clock=clock).acquire()
        self.missions = OpenMissions(self.files, clock, alert, executor.holds_something, self._release)
        self.open = self.missions.table
        self._idle: set[str] = set()  # robots that could be sent aside when they were looked at last
        self._lost: set[str] = set()  # robots that no process serves, as an alert says of each
        self.broken: BaseException | None = None
        self._lock = threading.RLock()
        self.reservations = MissionReservations(
            self.missions,
            executor,
            self._lock,
            self._give_up,
            self._seek_room,
        )
        self.seeks_room = False  # a mission waits, maybe for an idle robot that stands in its way
        self._runs: dict[str, _Run] = {}
        self._ends: deque[tuple[str, int, MissionEnd]] = deque()
        # what a running mission is to become once it has stopped, why, and which robots do not get it then
        self._asked: dict[str, tuple[MissionState, str, tuple[str, ...]]] = {}
        self._set_aside: set[str] = set()  # missions that waited and gave their robot to another one, until one ends
        self._gives_way: set[str] = set()  # of those, the ones that have just ended their wait
        self._closing = False
        self._approvals: Mapping[str, str] | None = None  # robot → the approval that it waits for; None: read again
        self._page = DashboardFile(store, clock, self.files, alert, shown=always_shown)
        self._again = False  # the watch was opened anew: what changed meanwhile is looked at once more
        self._watched = self._keys()
        self._watch = store.watch(*self._watched, arrivals=(OPEN,))
        self.heard: Callable[[], None] = lambda: None  # called after each step: for a process that waits for rest

    # -- life ---------------------------------------------------------------------------------------------------

    def recover(self) -> None:
        """Once, before the first step, while no job begins: missions that ran are queued again where that is safe."""
        with self._lock:
            self.reservations.load()
            self.files.count_ended()
            for id in self.files.open_ids():
                mission = self.missions.read_in(id)
                if (
                    mission is not None
                    and mission.status.state is MissionState.RUNNING
                    and not self._go_on_with(mission)
                ):
                    self._without_robot(mission, coded("mission.restarted"), barred=False)

    def _go_on_with(self, mission: Mission) -> bool:
        """Whether its last order is still at work at a robot that another process serves: then wait for its end."""
        status = mission.status
        job = self.executor.job(status.job) if status.job else None
        if job is None or job.status.state.terminal or not self.executor.at_work(job):
            return False
        self._follow(mission, job)
        return True

    def _follow(self, mission: Mission, job: Job, reason: str = "") -> None:
        """Wait for the end of its last order. `reason`: why it is not its own thread that does."""
        attempt = -mission.status.attempt  # what carried it out before may still report an end: it is late

        def ended(end: MissionEnd) -> None:
            self._ended(mission.id, attempt, end._replace(reason=reason or end.reason))

        self._runs[mission.id] = _Run(attempt, lambda: None)
        self.reservations.hold_again(mission)
        stop = self.executor.follow(job, ended)
        if mission.id in self._runs:
            self._runs[mission.id] = _Run(attempt, stop)

    def run(self, stop: threading.Event) -> None:
        """Work until `stop` is set (call `wake` then), blocked in the change feed between."""
        try:
            changes = self._watch.read(0.0)
            while not stop.is_set():
                self.step(changes)
                changes = self._watch.read(self._patience())
            with self._lock:
                self._show(self._offers(), over=True)
        except BaseException as error:
            self.broken = error
            found, fix = coded("mission.loop_broken", why=repr(error)), coded("mission.restart_kernel")
            self.alert("orchestrator", Finding("ORCHESTRATOR_ENDED", LEASE, coded("mission.loop_runs"), found, fix))
            raise

    def wake(self) -> None:
        with self._lock:
            self._watch.wake()

    def _keys(self) -> tuple[str, ...]:
        """What is to be watched. An idle workspace is not woken by each job: its documents are not."""
        waiting = any(mission.status.state is MissionState.QUEUED for mission in self.open.values())
        waiting |= self.reservations.table.waiting
        page = (self._page.key,) if self._page.wanted else ()
        return OPEN, REQUESTS, STOPS, NODE_LEASES, APPROVALS, *page, *((ENVIRONMENT,) if waiting else ())

    def _listen(self) -> None:
        wanted = self._keys()
        if wanted != self._watched:
            before = self._watch
            self._watch, self._watched = self.files.store.watch(*wanted, arrivals=(OPEN,)), wanted
            before.close()
            self._page.changed = self._again = True

    @property
    def working(self) -> bool:
        """Whether a mission is at work, or a step may begin one."""
        with self._lock:
            return bool(self._runs or self._ends)

    @property
    def waits_for_persons(self) -> bool:
        """Whether every mission at work waits for a person: nothing goes on by itself."""
        with self._lock:
            moving = bool(self._ends) or self.seeks_room
            return not moving and self.missions.waits_for_persons(self.reservations.table.waits)

    def request_stop(self) -> None:
        """Ask what runs to stop; its missions stay `running` in their files, and the next start goes on with them."""
        with self._lock:
            self._closing = True
            for run in self._runs.values():
                run.stop()
            self.reservations.wake()

    def close(self) -> None:
        self._watch.close()
        self._lease.release()

    # -- a step -------------------------------------------------------------------------------------------------

    def step(self, changes: Sequence[StoreChange] | None = None) -> bool:
        """Do what is due and return; True when something changed."""
        with self._lock:
            if changes is None:
                changes = self._watch.read(0.0)
            forward = self._take_changes(changes)
            forward |= self._again and self.missions.discover()
            forward |= self._page.take_in(list(self.open.values())) and self.missions.discover()
            forward |= self._take_requests()
            while self._ends:
                id, attempt, end = self._ends.popleft()
                forward |= self._end(id, attempt, end)
            forward |= self._take_requests()
            offers = self._offers()
            self._note_idle(offers)
            self.reservations.look(offers)
            forward |= self._watch_robots(offers)
            self._note_holdups(offers)
            forward |= self._make_room(offers)
            while self._end_room() | self._assign(offers):
                forward, offers = True, self._offers()
            forward |= self._set_waiting_aside(offers)
            offers = self._offers() if forward else offers
            self._page.wanted |= bool(self.missions.log)
            self._show(offers)
            self._again = False
            self._listen()
        self.heard()
        return forward

    def _show(self, offers: Sequence[RobotOffer], *, over: bool = False) -> None:
        language, offers = self.language(), [*offers, *self.executor.gone()]
        self._page.show(self.open.values(), offers, self.missions.log_lines(language), language, over=over)

    def _take_changes(self, changes: Sequence[StoreChange]) -> bool:
        forward = False
        for change in changes:
            if change.kind is StoreChangeKind.RESYNC or change.key.startswith(f"{OPEN}/"):
                forward = True
            if change.kind is StoreChangeKind.RESYNC or change.key.startswith(APPROVALS):
                self._approvals = None
            if change.kind is StoreChangeKind.RESYNC or change.key == self._page.key:
                self._page.changed = True
                self._page.displaced |= change.kind is StoreChangeKind.DISPLACED
        return forward and self.missions.discover()

    def _take_requests(self) -> bool:
        """A request is removed once what it asks for is durable: of a mission at work, when its robot has stopped."""
        forward = False
        for request in list(self.files.requests()):
            if request.mission in self._asked:
                continue  # one that came later waits, too
            self._apply(request)
            if request.mission not in self._asked:
                self.files.remove(request)
                forward = True
        return forward

    def _apply(self, request: MissionRequest) -> None:
        if request.what == "release":
            self.reservations.free(request.mission, request.by or "?")
            return
        mission = self.missions.find(request.mission)
        if mission is None:
            return
        for leg in mission.status.legs:
            self._apply(request._replace(mission=leg))
        state, by = mission.status.state, request.by or "?"
        if request.what == "cancel":
            self._leave(mission, MissionState.CANCELLED, coded("mission.cancelled_by", by=by))
        elif request.what == "pause" and state is not MissionState.PAUSED:
            self._leave(mission, MissionState.PAUSED, coded("mission.paused_by", by=by))
        elif request.what == "resume" and state is MissionState.PAUSED:
            self.missions.write(mission, MissionState.QUEUED, coded("mission.resumed_by", by=by))
        elif request.what == "priority":
            self.missions.write(
                mission, state, coded("mission.priority_by", by=by, value=request.value), priority=request.value
            )

    def _leave(self, mission: Mission, state: MissionState, reason: str, barred: tuple[str, ...] = ()) -> None:
        """Cancel or pause, at once or as soon as its robot has stopped safely. `barred`: robots that do not get it any
        more."""
        if mission.id in self._runs:
            self._asked[mission.id] = state, reason, (*mission.status.barred, *barred)
            self._runs[mission.id].stop()
            self.reservations.wake()
        else:
            self.missions.write(mission, state, reason)

    # -- ends ---------------------------------------------------------------------------------------------------

    def _ended(self, id: str, attempt: int, end: MissionEnd) -> None:
        """From the mission's thread."""
        self._ends.append((id, attempt, end))
        self.wake()

    def _end(self, id: str, attempt: int, end: MissionEnd) -> bool:
        run = self._runs.get(id)
        if run is None or run.attempt != attempt:
            return False
        del self._runs[id]
        if id in self._gives_way and id in self._asked:
            self._set_aside.add(id)
        else:
            self._set_aside.clear()
        mission = self.open[id]
        known = end.kind in (MissionEndKind.DONE, MissionEndKind.LOST) or self._closing  # or decided on below
        job = None if known else self._last_order(mission)
        if job is not None and _is_unknown(job):  # whatever its thread has made of it
            end = MissionEnd(MissionEndKind.LOST, end.reason)
        if end.kind in (MissionEndKind.LEFT, MissionEndKind.LOST):
            job = None
        if end.kind is not MissionEndKind.LOST:
            if end.kind is MissionEndKind.STOPPED and job is not None and job.status.attempt and not is_ended(job):
                self.reservations.keep(mission, job, things=True)  # until it has ended
            self._release(mission)
        asked = self._asked.pop(id, None)
        if job is not None and not is_ended(job):
            self.executor.cancel(job)  # its thread did not hear of it, and it may be carried out
        if asked is not None and end.kind not in (MissionEndKind.DONE, MissionEndKind.LOST):
            state, reason, barred = asked
            self.missions.write(mission, state, reason, barred=barred)
            return True
        match end.kind:
            case MissionEndKind.DONE:
                # Its own plan finds nothing to do where its legs have done it.
                by_legs = bool(mission.status.legs) and not mission.status.jobs
                said = coded("mission.by_legs", n=len(mission.status.legs)) if by_legs else end.reason
                self.missions.write(mission, MissionState.SUCCEEDED, said)
            case MissionEndKind.REFUSED:
                self.missions.write(mission, MissionState.FAILED, end.reason)
            case MissionEndKind.LOST:
                self._without_robot(mission, end.reason, barred=True, unknown=end.job)
            case MissionEndKind.FAILED if job is not None and not is_ended(job):
                self._follow(mission, job, end.reason)  # first it ends
            case MissionEndKind.FAILED if job is not None and _is_barred(job):
                self.missions.write(mission, MissionState.FAILED, end.reason)  # no other robot does it, either
            case MissionEndKind.FAILED if (job is None or job.status.attempt == 0) and (
                why := self._unreached(mission)
            ):
                self._without_robot(mission, why, barred=False)  # nothing was sent: it waits, as one of before would
            case MissionEndKind.FAILED:
                self._try_another(mission, end.reason)
            case MissionEndKind.LEFT if not self._closing:
                self._without_robot(mission, end.reason, barred=False)
            case MissionEndKind.STOPPED if not self._closing:
                self.missions.write(mission, MissionState.PAUSED, end.reason)
        return True

    def _unreached(self, mission: Mission) -> str:
        """Why its robot cannot be reached now; "": it can."""
        robots = {offer.id: offer for offer in self._offers()}
        robot = robots.get(mission.status.robot)
        return robot.unable if robot is not None and robot.state == "unreachable" else ""

    def _try_another(self, mission: Mission, reason: str) -> None:
        """Queue it again for a robot that has not tried, if one could; else it has failed."""
        if self._other_could(mission):
            said = coded("mission.next_robot", robot=mission.status.robot, why=reason)
            barred = (*mission.status.barred, mission.status.robot)
            self.missions.write(mission, MissionState.QUEUED, said, barred=barred)
        else:
            self.missions.write(mission, MissionState.FAILED, reason)

    def _other_could(self, mission: Mission) -> bool:
        """Whether a robot that has not tried could do it, now or later."""
        barred = (*mission.status.barred, mission.status.robot)
        needs = self._needs(mission)
        offers = [offer._replace(unable="") for offer in self._offers() if offer.id not in barred]
        held = self.executor.holds_something(mission.status.robot)
        return not isinstance(needs, str) and not held and any(not bid.refusal for bid in ranked(needs, offers))

    def _give_up(self, mission: Mission, reason: str) -> None:
        """A circle of waits that none of them can open: another robot does the mission, else it fails."""
        status = mission.status
        if not (status.job or status.jobs) and status.progress == NO_PROGRESS and self._other_could(mission):
            said = coded("mission.next_robot", robot=status.robot, why=reason)
            self._leave(mission, MissionState.QUEUED, said, barred=(status.robot,))
        else:
            self._leave(mission, MissionState.FAILED, reason)

    def _without_robot(self, mission: Mission, reason: str, *, barred: bool, unknown: str = "") -> None:
        """Its robot does not go on with it: another one may where that is safe, else a person must look.

        `unknown`: the order that decides, "" for the mission's last one; another robot's, to which it handed over.
        """
        status = mission.status
        job = self._last_order(mission, unknown)
        while job is not None and not is_ended(job) and not handover(job, self.executor.repeatable):
            self.executor.cancel(job)  # durable first: a process that serves the robot from now on does not begin it
            if self._go_on_with(mission):  # another host has its robot meanwhile, and may have begun the order
                return
            seen, job = job, self._last_order(mission, unknown)
            if job is not None and job.status == seen.status:
                break  # else one that had the robot in between, and is gone, has begun or ended it
        why = handover(job, self.executor.repeatable)
        if job is not None and job.status.attempt > 0 and (why or not is_ended(job)):
            self.reservations.keep(mission, job, things=bool(why))
        self._release(mission)
        if why:
            said = coded("mission.lost", reason=reason, why=why)
            self.missions.write(mission, MissionState.FAILED, said)
            fix = coded("mission.look_and_add")
            self.alert(
                f"missions/{mission.id}", Finding("MISSION_LOST", mission.id, coded("mission.known_end"), said, fix)
            )
            return
        if stopped := stop_of(job):  # a person's: the mission does not go on by itself once the robot is resumed
            self.missions.write(mission, MissionState.PAUSED, stopped)
            return
        tried = barred and job is not None and job.status.attempt > 0
        robots = (*status.barred, status.robot) if tried else status.barred
        if tried and all(offer.id in robots for offer in self._offers()):
            robots = ()  # each has had its turn: whichever comes back may go on
        progress = progress_after(mission, job)
        needs = self._needs(replace(mission, status=replace(status, progress=progress)))
        if not isinstance(needs, str) and needs.met:
            self.missions.write(mission, MissionState.SUCCEEDED, coded("mission.was_reached", job=status.job))
            return
        kept = not barred and self.executor.holds_something(status.robot)
        if not isinstance(needs, str) and needs.own:  # another one would do it once more
            kept, robots = True, tuple(id for id in robots if id != status.robot)
        said = coded("mission.queued_again", reason=reason)
        self.missions.write(mission, MissionState.QUEUED, said, barred=robots, kept=kept, progress=progress)

    def _last_order(self, mission: Mission, id: str = "") -> Job | None:
        """`id`: of another order than its last one. One that was noted and never submitted is closed: a late message
        of an orchestrator that was replaced, or of a thread that has given up, begins nothing."""
        status = mission.status
        id = id or status.job
        if not id:
            return None
        job = self.executor.job(id)
        if job is None:
            self.executor.close_order(id, status.robot)
            job = self.executor.job(id)
        return job

    # -- decisions ----------------------------------------------------------------------------------------------

    def _offers(self) -> list[RobotOffer]:
        busy = {self.open[id].status.robot: self.open[id].order for id in self._runs}
        return offers_now(self.executor.offers(), busy)

    def _watch_robots(self, offers: Sequence[RobotOffer]) -> bool:
        """Missions whose robot was stopped stop with it; those whose robot is gone are given to others, or reported."""
        states = {offer.id: offer for offer in offers}
        self._report_lost({id: offer for id, offer in states.items() if not offer.served})
        forward = False
        for id in list(self._runs):
            mission = self.open[id]
            offer = states.get(mission.status.robot)
            if offer is not None and offer.state == "stopped" and id not in self._asked:
                self._leave(mission, MissionState.PAUSED, offer.unable)
            elif offer is None or offer.state == "offline":
                run = self._runs.pop(id)
                run.stop()
                self._asked.pop(id, None)
                robot = mission.status.robot
                gone = self.executor.not_served(robot) or coded("mission.robot_gone", robot=robot)
                reason = offer.unable if offer is not None else gone
                self._without_robot(mission, reason, barred=True)
                forward = True
        return forward

    def _note_holdups(self, offers: Sequence[RobotOffer]) -> None:
        """Say of missions at work that they wait for a person, or for a robot that is cut off."""
        if self._closing:  # what they waited for when they were interrupted stays said
            return
        if self._approvals is None or self._again:
            self._approvals = self.executor.approvals()
        waiting = self._approvals
        gone = {offer.id: offer.unable for offer in offers if offer.cut_off}
        for id in self._runs:
            robot = self.open[id].status.robot
            self.missions.note_holdup(id, Holdup.PERSON, waiting.get(robot, ""))
            self.missions.note_holdup(id, Holdup.ROBOT, gone.get(robot, ""))

    def _seek_room(self) -> None:
        self.seeks_room = True
        self._watch.wake()

    def _note_idle(self, offers: Sequence[RobotOffer]) -> None:
        """A robot that can be sent again may stand in the way of a mission that waits."""
        idle = {offer.id for offer in offers if is_idle(offer)}
        self.seeks_room |= bool(idle - self._idle) and self.reservations.table.waiting
        self._idle = idle

    def _make_room(self, offers: Sequence[RobotOffer]) -> bool:
        """Send idle robots that stand in a mission's way aside; not one of which it is not known what it does."""
        if not self.seeks_room or self._closing:
            return False
        self.seeks_room = False
        there = [offer for offer in offers if not self.reservations.keeps(offer.id)]
        made = room_orders(self.open, there, self.reservations.table, self.executor.ways_out, self._note_no_way)
        return sum(self.files.add(order) for order in list(made)) > 0 and self.missions.discover()

    def _note_no_way(self, id: str, robot: str) -> None:
        """Only a person sends that robot elsewhere: no place was named to which it may be sent."""
        self.missions.note_holdup(id, Holdup.RESERVATION, coded("mission.no_way", robot=robot))

    def _end_room(self) -> bool:
        """Missions that make room for one that has ended end with it, and what is under way stops; only where that one
        has succeeded, the robot goes on to where it was sent."""
        forward = False
        for room in [mission for mission in self.open.values() if mission.order.serves]:
            if room.id in self._asked:
                continue
            id, state = room.order.serves, self.missions.state_of(room.order.serves)
            sent = room.id in self._runs and bool(room.status.job)
            if state is None or (state.ended and not (sent and state is MissionState.SUCCEEDED)):
                word = "unknown" if state is None else state.value
                self._leave(room, MissionState.CANCELLED, coded("mission.room_over", mission=id, state=word))
                forward = True
            elif room.id in self._runs and not sent and not self._needs_room(room):
                self._leave(room, MissionState.QUEUED, coded("mission.room_not_needed", mission=id))
                forward = True
        return forward

    def _needs_room(self, room: Mission) -> bool:
        """Whether the mission that it serves is at work, and waits for its robot to go."""
        id = room.order.serves
        return id in self._runs and id not in self._asked and waits_for_room(room, self.reservations.table)

    def _report_lost(self, lost: Mapping[str, RobotOffer]) -> None:
        for id in self._lost ^ lost.keys():
            self.alert(f"robots/{id}", lost_robot(lost[id]) if id in lost else None)
        self._lost = set(lost)

    def _assign(self, offers: Sequence[RobotOffer]) -> bool:
        if self._closing:
            return False
        queued: list[Mission] = []
        needs: dict[str, MissionNeeds] = {}
        forward = False
        has_left = cache(self.executor.has_left)
        behind, self._gives_way = self._gives_way - self._runs.keys(), self._gives_way & self._runs.keys()
        for mission in list(self.open.values()):
            if mission.status.state is MissionState.QUEUED and mission.id not in behind:
                why = failed_dependency(mission, self.missions.state_of)
                if mission.order.robot and has_left(mission.order.robot):
                    why = coded("mission.robot_gone", robot=mission.order.robot)
                if why:
                    self.missions.write(mission, MissionState.FAILED, why)
                    forward = True
                elif mission.order.serves and not self._needs_room(mission):
                    self.missions.note_wait(mission, coded("mission.room_not_needed", mission=mission.order.serves))
                else:
                    queued.append(mission)

        def needs_of(mission: Mission) -> MissionNeeds:
            if mission.id not in needs:
                found = self._needs(mission)
                refused = MissionNeeds(robot="\0")  # no robot has that id
                needs[mission.id] = refused if isinstance(found, str) else found
                if isinstance(found, str):
                    refusals[mission.id] = found
            return needs[mission.id]

        refusals: dict[str, str] = {}
        decisions = assign(queued, offers, needs_of, self.missions.state_of, self.executor.not_served)
        decided = {decision.mission.id for decision in decisions}
        for mission in queued:
            if mission.status.waits and mission.id not in decided:
                self.missions.note_wait(mission, "")
        for decision in decisions:
            id = decision.mission.id
            if id in refusals:
                self.missions.write(decision.mission, MissionState.FAILED, refusals[id])
                forward = True
            elif decision.robot:
                self._begin(decision)
                forward = True
            else:
                no_legs = self._split(decision.mission, needs.get(id), offers) if decision.bids else ""
                if no_legs is None:
                    forward = True
                else:
                    self.missions.note_wait(decision.mission, no_legs or decision.reason)
        return forward

    def _set_waiting_aside(self, offers: Sequence[RobotOffer]) -> bool:
        """A mission that waits, and of which nothing was sent, gives its idle robot to another one: of a higher
        priority, or where it waits for what no mission at work holds. Each only once until a mission has ended."""
        forward, waits = False, self.reservations.table.waits_for()
        robots = {offer.id: offer for offer in offers}
        for id in self._runs.keys() & waits.keys() - self._asked.keys() - self._set_aside:
            mission = self.open[id]
            status, robot = mission.status, robots.get(mission.status.robot)
            begun = status.job or status.jobs or status.progress != NO_PROGRESS or mission.after
            if begun or self._closing or robot is None or robot.state != "busy":
                continue
            if self.executor.holds_something(robot.id):
                continue
            stuck = any(holder not in self.open for holder in waits[id])
            if (other := self._instead(mission, robot._replace(unable="", state="idle"), stuck=stuck)) is not None:
                self._gives_way.add(id)
                title = other.order.title or other.order.text
                self._leave(mission, MissionState.QUEUED, coded("mission.robot_lent", robot=robot.id, title=title))
                forward = True
        return forward

    def _instead(self, mission: Mission, robot: RobotOffer, *, stuck: bool) -> Mission | None:
        """The next mission that the robot could begin now and that goes elsewhere. `stuck`: also one that is no more
        urgent."""
        mine = self._needs(mission)
        queued = [
            one
            for one in self.open.values()
            if one.status.state is MissionState.QUEUED
            and one.id not in self._set_aside
            and one.order.robot in ("", robot.id)
            and (stuck or one.rank[0] < mission.rank[0])
        ]
        for other in sorted(queued, key=lambda one: one.rank)[:LOOKED_AT]:
            needs = self._needs(other)
            if isinstance(needs, str) or isinstance(mine, str) or (needs.places and needs.places == mine.places):
                continue
            asked = assign([other], [robot], partial(_same, needs), self.missions.state_of)
            if asked and asked[0].robot:
                return other
        return None

    def _split(self, mission: Mission, needs: MissionNeeds | None, offers: Sequence[RobotOffer]) -> str | None:
        """Make missions of its legs, where no robot alone could do it, at work or not. None: it was split; else why it
        cannot be, "" where nothing of it could ever be handed over."""
        if needs is None or needs.waits or mission.status.legs or mission.order.robot:
            return ""
        if any(not bid.refusal for bid in ranked(needs, [offer._replace(unable="") for offer in offers])):
            return ""
        legs = self.executor.split(mission)
        if isinstance(legs, str):
            return legs
        self.missions.split(mission, leg_orders(mission, legs, language_of(mission.order.text)))
        self.missions.discover()
        return None

    def _needs(self, mission: Mission) -> MissionNeeds | str:
        found = self.executor.needs(mission)
        if isinstance(found, str):
            return found
        return found._replace(abilities=(*found.abilities, *mission.order.requires), robot=mission.order.robot)

    def _begin(self, decision: Assignment) -> None:
        """`running` is durable before anything moves."""
        mission, before = decision.mission, decision.mission.status
        attempt, progress = before.attempt + 1, NO_PROGRESS
        if decision.robot == before.robot:
            progress = progress_after(mission, self.executor.job(before.job) if before.job else None)
        mission = self.missions.write(
            mission, MissionState.RUNNING, decision.reason, progress=progress,
            robot=decision.robot, attempt=attempt, bids=recorded(decision.bids), job="", kept=False,
        )  # fmt: skip
        hold = MissionHold(
            partial(self._note_job, mission.id, attempt),
            partial(self._reserve, mission.id, attempt),
            partial(self._settle, mission.id, attempt),
            partial(self._note_turn, mission.id, attempt),
        )
        self._runs[mission.id] = _Run(attempt, lambda: None)  # it may end before `begin` returns
        stop = self.executor.begin(mission, hold, partial(self._ended, mission.id, attempt))
        if mission.id in self._runs:
            self._runs[mission.id] = _Run(attempt, stop)

    def _patience(self) -> float | None:
        """Seconds to wait for the change feed; None: until something changes."""
        with self._lock:
            return 0.0 if self._ends or self._again else self._page.patience()

    # -- a mission at work: called from its own thread ------------------------------------------------------------

    def _note_job(self, id: str, attempt: int, order: Order, progress: MissionProgress = NO_PROGRESS, /) -> bool:
        with self._lock:
            if not self._at_work(id, attempt):
                return False
            mission = self.open[id]
            if mission.order.serves and not mission.status.job and not self._needs_room(mission):
                self._leave(
                    mission, MissionState.QUEUED, coded("mission.room_not_needed", mission=mission.order.serves)
                )
                return False
            self.missions.note_job(id, order.id, self.reservations.held(id), progress)
            return True

    def _reserve(
        self,
        id: str,
        attempt: int,
        wanted: Sequence[Reservation],
        pinned: Sequence[Reservation] = (),
        asides: Sequence[Sequence[Reservation]] = (),
        /,
    ) -> int | None:
        with self._lock:
            at_work = partial(self._at_work, id, attempt)
            return self.reservations.reserve(self.open[id], at_work, wanted, pinned, asides) if at_work() else None

    def _note_turn(self, id: str, attempt: int, why: str) -> None:
        with self._lock:
            if self._at_work(id, attempt):
                self.missions.note_holdup(id, Holdup.TURN, why)

    def _at_work(self, id: str, attempt: int) -> bool:
        run = self._runs.get(id)
        return run is not None and run.attempt == attempt and id not in self._asked and not self._closing

    def _settle(self, id: str, attempt: int, stands: Sequence[Reservation]) -> None:
        with self._lock:
            run = self._runs.get(id)
            if run is not None and run.attempt == attempt:
                self.reservations.settle(id, stands)

    def _release(self, mission: Mission) -> None:
        self.reservations.release(mission.id, mission.status.robot)


def _same(needs: MissionNeeds, _: Mission) -> MissionNeeds:
    return needs


def _is_barred(job: Job) -> bool:
    """Whether a person must look before anything follows it."""
    outcome = job.status.outcome
    return job.status.attempt > 0 and outcome is not None and bars_repeat(outcome)


def _is_unknown(job: Job) -> bool:
    """Whether it was begun, and has ended with an effect that is not known."""
    outcome = job.status.outcome
    return is_ended(job) and job.status.attempt > 0 and outcome is not None and unknown_effect(outcome)
