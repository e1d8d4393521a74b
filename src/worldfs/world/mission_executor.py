"""Missions on the robots of a workspace: each is planned and carried out as an instruction at the robot that has it."""

from __future__ import annotations

import os
import shlex
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from functools import partial
from typing import TYPE_CHECKING

from worldfs.access.roles import CRITIC, ORCHESTRATOR
from worldfs.base.driver import KnowsItsWay, RemoteKernel, SaysReachable, Simulated
from worldfs.base.errors import BadInput, UserError, WorldError
from worldfs.base.json_values import as_float
from worldfs.base.map_zones import map_zones
from worldfs.base.messages import coded, render
from worldfs.base.messages.coded_text import language_of
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, Job, Json, Order, Profile, Scene
from worldfs.base.standard_operations import PICK_UP
from worldfs.base.stop_signal import StopSignal
from worldfs.base.unknown_effect import unknown_effect
from worldfs.fleet.bids import MissionNeeds, RobotOffer, carries, is_mobile
from worldfs.fleet.lanes import Lane, read_lanes
from worldfs.fleet.mission import Mission
from worldfs.fleet.mission_port import MissionEnd, MissionEndKind, MissionHold
from worldfs.fleet.relay import RelayLeg, relay
from worldfs.fleet.reservations import Reservation, ReservedKind
from worldfs.fleet.room_making import WayOut
from worldfs.formats import embodied, environment
from worldfs.namespace.cached_document import CachedDocument
from worldfs.planning.planner import (
    CommandIntent,
    Goal,
    GoalNeeds,
    Planner,
    PlannerModel,
    PlanProgress,
    PlanReport,
    QuestionIntent,
    RefusedIntent,
    about_robot,
    goal_needs,
    holds,
    interpret,
    unmet_goals,
)
from worldfs.planning.planner.goals import ClearedGoal, InGoal, VisitGoal
from worldfs.robots.standing_robots import stands_on_floor
from worldfs.runtime.stop_log import STOPS, StopState, stop_key
from worldfs.runtime.worker_threads import WorkerThreads
from worldfs.storage.lease import NODE_LEASES, node_lease

from .bringup import UnavailableDriver
from .instruction import Instruction
from .instruction_model import planner_model
from .mission_planner_port import MissionPlannerPort, PartnerGone, RobotSilent, unknown_end
from .order_reservations import OrderNeeds, stands_on, steps_aside
from .profiles import profile_text
from .rest_places import RestPlaces

if TYPE_CHECKING:
    from worldfs.formats.config import Instance
    from worldfs.runtime.kernel import Kernel
    from worldfs.storage.store_interface import StoreWatch

    from .world import World


class MissionThreads:
    """The `MissionExecutor` of a world that serves: a thread for each robot at work."""

    def __init__(self, world: World, kernel: Kernel, project: str) -> None:
        self.world, self.kernel, self.project = world, kernel, project
        self._scene = CachedDocument(world.namespace(CRITIC), f"/projects/{project}/ENVIRONMENT.md", environment.read)
        self._profiles: dict[str, tuple[str | None, Profile]] = {}  # by robot, at the store's token of EMBODIED.md
        self._threads: dict[str, WorkerThreads] = {}
        self._lock = threading.Lock()
        self.submitted: Callable[[], None] = lambda: None  # called when a mission has given the kernel an order
        self._ids: deque[str] = deque(maxlen=1000)  # the latest of all missions; the store knows them soon
        self._leases: StoreWatch | None = None  # from the first robot on that this kernel does not serve
        self._held: dict[str, bool] = {}  # robot → whether another process serves it; forgotten when a lease changes
        self._rest = RestPlaces(kernel, self.mobile, self._step)
        self._when_gone: list[tuple[str, Callable[[], None]]] = []  # robots that missions at work need

    def close(self) -> None:
        if self._leases is not None:
            self._leases.close()

    def offers(self) -> list[RobotOffer]:
        with self.kernel.stopping.lock:  # a stop that is being told is ahead of this
            pass
        scene = self._read_scene()
        lanes = read_lanes(scene)
        return [self._offer(id, scene, stop, lanes) for id, stop in self._read_stops().items()]

    def gone(self) -> list[RobotOffer]:
        there = {spec.id for spec in self.world.specs}
        left = [id for id in self.kernel.stopping.left() if id not in there]
        return [RobotOffer(id, state="offline", served=False, may_move=True) for id in left]

    def left_behind(self) -> Mapping[str, Sequence[Reservation]]:
        scene, served = self._read_scene(), {spec.id for spec in self.world.specs}
        gone = [robot for robot in scene.robots if robot.robot_id not in served and stands_on_floor(robot)]
        return {robot.robot_id: stands_on(scene, robot.robot_id, mobile=True) for robot in gone}

    def zones_in(self, held: Sequence[Reservation]) -> Sequence[str]:
        zones = [zone for zone in map_zones(self._read_scene()) if zone.at]
        spots = {zone.name: Reservation(ReservedKind.PLACE, box=(*zone.at, *zone.at)) for zone in zones}
        return [name for name, spot in spots.items() if any(spot.conflicts(item) for item in held if item.box)]

    def not_served(self, robot: str) -> str:
        if robot and self.has_left(robot):
            return coded("mission.robot_gone", robot=robot)
        config, off_now = self.world.config, self.kernel.off_now()
        served = {spec.id for spec in self.world.specs} - {*off_now, *self.kernel.off}
        disabled = {*off_now, *(item.robot_id for item in config.instances if not item.enabled)} if config else off_now
        refused = {item.robot_id for item in config.refused} if config is not None else set[str]()
        away = sorted({*self.world.robot_ids(), *self.kernel.off, *off_now} - served)
        id = robot or next(iter(away), "")
        if id not in away:
            return ""
        if id in disabled:
            return coded("mission.disabled", robot=id)
        return coded("mission.refused_robot" if id in refused else "mission.not_served_yet", robot=id)

    def needs(self, mission: Mission) -> MissionNeeds | str:
        """By the planner's reading of the instruction in the present scene."""
        found = self._needs(mission)
        if isinstance(found, str) and (why := self._awaited(mission.order.text)):
            return MissionNeeds(waits=why)
        if isinstance(found, str) and mission.order.robot and self.has_left(mission.order.robot):
            return coded("mission.robot_gone", robot=mission.order.robot)
        return found

    def has_left(self, robot: str) -> bool:
        """Whether config.json has the robot no more."""
        config = self.world.config
        if robot in self.world.leaving:
            return True
        if config is None or not config.instances:
            return False
        return robot not in {item.robot_id for item in (*config.instances, *config.refused)}

    def _awaited(self, text: str) -> str:
        """Why a robot is not served now that would understand the instruction; "": none would."""
        for robot in (*self.world.config.instances, *self.world.config.refused) if self.world.config else ():
            if why := self.not_served(robot.robot_id):
                profile = self._declared_profile(robot)
                if not isinstance(interpret(text, self._read_scene(), profile=profile, robot_id=robot.robot_id),
                                  RefusedIntent):  # fmt: skip
                    return why
        return ""

    def _declared_profile(self, robot: Instance) -> Profile | None:
        """Of a robot that is not served: the profile that config.json names for it."""
        try:
            text = profile_text(robot.profile_name or robot.driver, self.world.language(), self.world.profiles)
            return None if text is None else embodied.read(text)
        except UserError:
            return None

    def _needs(self, mission: Mission) -> MissionNeeds | str:
        robot = self._reader(mission)
        goals, scene = self._goals(mission.order.text, robot), self._read_scene()
        if isinstance(goals, str):
            return goals
        if mission.status.legs:
            unmet = [goal for goal in goals if not holds(goal, scene)]
            return MissionNeeds() if not unmet else coded("mission.legs_done", goals=[*map(str, unmet)])
        found, progress = goal_needs(goals, scene), PlanProgress(*mission.status.progress)
        own, met = about_robot(progress.reached), self._met(mission, progress)
        travels = ("mobile",) if any(isinstance(goal, VisitGoal) for goal in goals) else ()  # an arm looks at places
        steps = max(1, len(found.places))
        return MissionNeeds(
            found.ops,
            travels,
            found.places,
            found.mass,
            steps,
            own=own,
            met=met,
            named=self._named(mission, goals, scene),
        )

    def _named(self, mission: Mission, goals: Sequence[Goal], scene: Scene) -> frozenset[str]:
        """Robots that the goals name and whose own planner does not understand it, as no robot goes to itself."""
        words = {value for goal in goals for value in astuple(goal) if isinstance(value, str)}
        robots = words & {robot.robot_id for robot in scene.robots}
        return frozenset(robot for robot in robots if isinstance(self._goals(mission.order.text, robot), str))

    def _met(self, mission: Mission, progress: PlanProgress) -> bool:
        """Whether all goals were reached, of which some by orders of before: another execution would do nothing."""
        if not progress.reached:
            return False
        scene, robot = self._read_scene(), mission.status.robot
        intent = interpret(mission.order.text, scene, profile=self._profile(robot), robot_id=robot)
        return isinstance(intent, CommandIntent) and not unmet_goals(intent, progress, scene, robot)

    def split(self, mission: Mission) -> Sequence[RelayLeg] | str:
        scene, ids = self._read_scene(), [spec.id for spec in self.world.specs]
        goals = self._goals(mission.order.text, self._reader(mission))
        if isinstance(goals, str):
            return goals
        into = [(goal.object, goal.container) for goal in goals if isinstance(goal, InGoal)]
        if not into or not all(isinstance(goal, InGoal | ClearedGoal) for goal in goals):
            return ""
        able = {id: profile for id in ids if (profile := self._profile(id)) is not None}
        arms = [id for id in able if able[id].op(PICK_UP.name) is not None and not is_mobile(able[id])]
        carriers = [id for id in able if carries(able[id])]
        try:
            return relay(scene, [goal for goal in into if not holds(InGoal(*goal), scene)], arms, carriers)
        except BadInput as error:
            return error.found

    def _reader(self, mission: Mission) -> str:
        """The robot whose planner reads the instruction: the first that understands it."""
        robots = [mission.order.robot] if mission.order.robot else [spec.id for spec in self.world.specs]
        found = (robot for robot in robots if not isinstance(self._goals(mission.order.text, robot), str))
        return next(found, robots[0] if robots else "")

    def _goals(self, text: str, robot: str) -> Sequence[Goal] | str:
        """What it is to come to, none for a question; a text: why it is not understood."""
        intent = interpret(text, self._read_scene(), profile=self._profile(robot), robot_id=robot, suggest=True)
        if isinstance(intent, QuestionIntent):
            return ()
        if isinstance(intent, RefusedIntent) and intent.kind == "unknown" and self._model() is not None:
            return ()  # what it asks of a robot is known once the model has read it, for the robot that has it
        return render(intent.reason, language_of(text)) if isinstance(intent, RefusedIntent) else intent.goals

    def _goal_needs(self, text: str, robot: str) -> GoalNeeds | str:
        goals = self._goals(text, robot)
        return goals if isinstance(goals, str) else goal_needs(goals, self._read_scene())

    def begin(self, mission: Mission, hold: MissionHold, ended: Callable[[MissionEnd], None]) -> Callable[[], None]:
        stop, robot = StopSignal(), mission.status.robot
        threads = self._threads.setdefault(robot, WorkerThreads(f"mission {robot}"))
        threads.submit(partial(self._carry_out, mission, hold, stop, ended))
        return stop.set

    def at_work(self, job: Job) -> bool:
        if self._remote(job.order.node) is not None:
            return job.status.attempt > 0  # its own kernel goes on with it, and this one follows it
        self._held.pop(job.order.node, None)  # what decides over a second start is asked now
        return job.order.node not in self.kernel.nodes and self._is_served(job.order.node)

    def follow(self, job: Job, ended: Callable[[MissionEnd], None]) -> Callable[[], None]:
        stop, node = StopSignal(), job.order.node

        def wait() -> None:
            try:
                status = self.world.await_job(job.id, stop)
                if not status.state.terminal:
                    self.cancel(job)
                    status = self.world.await_job(job.id, StopSignal(), cancelled=True)
            except WorldError as error:
                kind = MissionEndKind.STOPPED if stop.is_set() else MissionEndKind.LOST
                return ended(MissionEnd(kind, error_message(error)))
            if (outcome := status.outcome) is not None and unknown_effect(outcome):
                return ended(MissionEnd(MissionEndKind.LOST, unknown_end(outcome, node)))
            ended(MissionEnd(MissionEndKind.LEFT, coded("mission.restarted")))

        self._threads.setdefault(node, WorkerThreads(f"mission {node}")).submit(wait)
        return stop.set

    def job(self, id: str) -> Job | None:
        try:
            return self.world.jobs.load(id)
        except UserError:
            return None

    def close_order(self, id: str, robot: str) -> None:
        self.world.jobs.close_id(Order(id, robot, ""))

    def cancel(self, job: Job) -> None:
        self.world.jobs.request_cancel(job.id, ORCHESTRATOR)

    def repeatable(self, job: Job) -> bool:
        node = self.kernel.nodes.get(job.order.node)
        operation = None if node is None else node.operation(job.order.op)
        return operation is not None and operation.repeatable

    def has_ended(self, job: Job) -> bool:
        node, outcome = job.order.node, job.status.outcome
        if outcome is not None and outcome.cause is Cause.LOST:
            remote = self._remote(node)
            return remote is not None and remote.has_ended(job.id)
        return node in self.kernel.nodes and self._rest.known(job)

    def approvals(self) -> Mapping[str, str]:
        waiting = [item for item in self.world.approvals.requests() if item.answer is None]
        persons = self.world.persons() if waiting else frozenset()
        found = {}
        for item in waiting:
            names = sorted(persons - {item.ordered_by} or persons)
            found[item.node] = coded("mission.waits_approval", names=names, plan=item.plan)
        return found

    def _step(self) -> None:
        if self.world.orchestration is not None:
            self.world.orchestration.loop.wake()

    def _remote(self, robot: str) -> RemoteKernel | None:
        node = self.kernel.nodes.get(robot)
        return node.driver if node is not None and isinstance(node.driver, RemoteKernel) else None

    def stands(self, robot: str) -> tuple[Reservation, ...]:
        return stands_on(self._read_scene(), robot, mobile=self.mobile(robot))

    def ways_out(self, robot: str) -> Sequence[WayOut]:
        sees = self.sees_others(robot)
        asides = steps_aside(self._read_scene(), robot, OrderNeeds(), partial(self.way, robot), sees=sees)
        return [WayOut(one.name, one.at, one.needs.goal) for one in asides] if self.mobile(robot) else []

    def way(self, robot: str, order: Order) -> Sequence[Sequence[float]]:
        """Over the floor, where its driver knows it."""
        node = self.kernel.nodes.get(robot)
        if node is None or not isinstance(node.driver, KnowsItsWay):
            return ()
        try:
            return node.driver.way(order)
        except Exception:  # whatever a package raises: it cannot say
            return ()

    def sees_others(self, robot: str) -> bool:
        """Whether it drives round other robots by itself, as one does that stands with them in a simulated world."""
        node = self.kernel.nodes.get(robot)
        return node is not None and isinstance(node.driver, Simulated)

    def mobile(self, robot: str) -> bool:
        profile = self._profile(robot)
        return profile is not None and is_mobile(profile)

    def holds_something(self, robot: str) -> bool:
        state = self._read_scene().robot(robot)
        return state is not None and bool(state.holding)

    def unused_id(self, id: str) -> str:
        """Two planners may make the same id in the same millisecond: the second gets that of a later one."""
        with self._lock:
            while id in self._ids or self.world.jobs.known(id):
                head, millisecond, step = id.rsplit("_", 2)
                id = f"{head}_{(int(millisecond) + 1) % 1000:03d}_{step}"
            self._ids.append(id)
            return id

    # -- one mission, on its thread -----------------------------------------------------------------------------

    def _carry_out(
        self, mission: Mission, hold: MissionHold, stop: StopSignal, ended: Callable[[MissionEnd], None]
    ) -> None:
        try:
            end = self._run(mission, hold, stop)
        except RobotSilent as error:
            end = MissionEnd(MissionEndKind.LOST, error.found)
        except PartnerGone as error:
            end = MissionEnd(MissionEndKind.LOST if error.job else MissionEndKind.FAILED, error.found, error.job)
        except WorldError as error:
            end = MissionEnd(MissionEndKind.STOPPED if stop.is_set() else MissionEndKind.FAILED, error_message(error))
        except Exception as error:  # a bug ends the mission, never the orchestrator
            end = MissionEnd(MissionEndKind.FAILED, f"{type(error).__name__}: {error}")
        if end.kind is MissionEndKind.FAILED and (why := self.not_served(mission.status.robot)):
            end = end._replace(reason=why)
        ended(end)

    def _run(self, mission: Mission, hold: MissionHold, stop: StopSignal) -> MissionEnd:
        text, robot = mission.order.text, mission.status.robot
        model = self._model(mission.order.confirm)
        turn = Instruction(
            self.world, robot, text, stop, hold.note_turn, mission=mission.id, by_model=model is not None
        )
        with turn as instruction:
            if refused := instruction.start():
                kind = MissionEndKind.STOPPED if instruction.understood else MissionEndKind.FAILED
                return MissionEnd(kind, refused)
            hold.note_turn("")
            port = MissionPlannerPort(self, instruction, mission, hold, stop)
            needs = self._goal_needs(text, robot)
            port.reserve_things(needs.things if isinstance(needs, GoalNeeds) else ())
            report = Planner(port, model).run(text, stop)
            if instruction.stopped:
                return MissionEnd(MissionEndKind.STOPPED, instruction.stop_text())
            reason = render(report.reason, instruction.language)
            if isinstance(report.intent, RefusedIntent) and (code := report.intent.reading):
                reason = coded("mission.confirm_with", why=reason, robot=robot, confirm=code, text=shlex.quote(text))
            return MissionEnd(_kind(report), reason)

    def _model(self, confirmed: str = "") -> PlannerModel | None:
        """What reads an instruction that the grammar does not understand; there is no person to ask."""
        world = self.world
        return planner_model(world.config, world.home, os.environ, world.clock, confirmed=confirmed)

    # -- what is known of a robot -------------------------------------------------------------------------------

    def _read_stops(self) -> dict[str, StopState]:
        """By robot. Those without a log of their own share one reading: a stop of all must not wait for a hundred."""
        ids, logs = [spec.id for spec in self.world.specs], set(self.world.store.list(STOPS))
        alike = [id for id in ids if stop_key(id).rsplit("/", 1)[1] not in logs]
        found = dict.fromkeys(alike, self.world.stops.state(alike[0])) if alike else {}
        return {id: found[id] if id in found else self.world.stops.state(id) for id in ids}

    def _offer(self, id: str, scene: Scene, stop: StopState, lanes: Sequence[Lane]) -> RobotOffer:
        profile, robot, remote = self._profile(id), scene.robot(id), self._remote(id)
        unable, state = self._unable(id, stop)
        moves = self.kernel.stopping.may_move(id)
        if moves and not stop.stopped:
            unable = coded("mission.not_given", robot=id, why=moves)
        mobile = profile is not None and is_mobile(profile)
        return RobotOffer(
            id,
            profile,
            robot.pose[:3] if robot is not None else None,
            mobile,
            sum(job.order.node == id for job in self.kernel.open_jobs()),
            _battery(robot.extra if robot is not None else {}),
            unable,
            state,
            state == "disabled" or self._is_served(id),  # one that is let go is not lost
            None if id in self.kernel.nodes else self.world.store.lease(node_lease(id)).heard(),
            stands_on(scene, id, mobile=mobile, lanes=lanes),
            cut_off=remote is not None and bool(remote.cut_off_since),
            may_move=bool(moves),
        )

    def _is_served(self, id: str) -> bool:
        """By this kernel, or by another process that holds the robot's lease: the server says so, and no clock."""
        if id in self.kernel.nodes:
            return True
        if self._leases is None:
            self._leases = self.world.store.watch(NODE_LEASES)
        if self._leases.read(0.0):
            self._held.clear()
        if id not in self._held:
            self._held[id] = self.world.store.lease(node_lease(id)).holder() is not None
            with self._lock:
                waiting = [call for robot, call in self._when_gone if robot == id and not self._held[id]]
            for call in waiting:
                call()
        return self._held[id]

    def is_served_now(self, id: str) -> bool:
        """The same without what is remembered of the last time. From any thread."""
        return id in self.kernel.nodes or self.world.store.lease(node_lease(id)).holder() is not None

    @contextmanager
    def calling_when_gone(self, id: str, call: Callable[[], None]) -> Iterator[None]:
        """Meanwhile `call` is called when no process serves the robot any more; at once where none does."""
        entry = id, call
        with self._lock:
            self._when_gone.append(entry)
        try:
            if not self.is_served_now(id):
                call()
            yield
        finally:
            with self._lock:
                self._when_gone.remove(entry)

    def _unable(self, id: str, stop: StopState) -> tuple[str, str]:
        """Why the robot takes no mission, and its state as dashboards have it."""
        node = self.kernel.nodes.get(id)
        if stop.stopped:
            return coded("mission.is_stopped", robot=id, by=stop.by, at=stop.at), "stopped"
        if (id in self.kernel.off or id in self.kernel.off_now()) and (why := self.not_served(id)):
            return why, "disabled"
        if node is not None and not node.enabled:
            return coded("mission.is_disabled", robot=id), "disabled"
        if node is not None and isinstance(node.driver, UnavailableDriver):
            return coded("mission.unavailable", robot=id), "offline"
        if (remote := self._remote(id)) is not None and (since := remote.cut_off_since):
            return coded("mission.cut_off", robot=id, since=since), "idle"
        attempt = self.kernel.open.running.get(id)
        if attempt is not None and attempt.over and attempt.settled:  # its job has ended without it
            return coded("mission.hangs", robot=id), "offline"
        if node is not None and node.outdated is not None:
            return node.outdated.found, "idle"
        if node is not None and isinstance(node.driver, SaysReachable) and (why := node.driver.unreachable()):
            return coded("mission.unreachable", robot=id, why=why), "unreachable"
        return "", "idle"

    def _profile(self, id: str) -> Profile | None:
        if not id:
            return None
        try:
            token = self.world.stores.robot(id).probe("EMBODIED.md")
            known = self._profiles.get(id)
            if known is None or known[0] != token:
                document = CachedDocument(self.world.namespace(CRITIC), f"/nodes/{id}/EMBODIED.md", embodied.read)
                known = self._profiles[id] = token, document.get()
        except UserError:
            return None
        return known[1]

    def _read_scene(self) -> Scene:
        try:
            return self._scene.get().scene
        except UserError:  # reported by the kernel
            return Scene()


def _battery(extra: Json) -> float | None:
    """0 to 1, as the robot's entry of ENVIRONMENT.md says it, also in percent; None where it says nothing."""
    said = extra.get("battery")
    value = as_float(said, -1.0)
    return None if value < 0 else min(1.0, value / 100.0 if value > 1.0 else value)


def _kind(report: PlanReport) -> MissionEndKind:
    last = report.jobs[-1].status if report.jobs else None
    if last is not None and last.outcome is not None and unknown_effect(last.outcome):
        return MissionEndKind.LOST
    match report.verdict:
        case "reached" | "answered":
            return MissionEndKind.DONE
        case "cancelled":
            return MissionEndKind.STOPPED
        case "not_understood" | "not_answered":
            return MissionEndKind.REFUSED
    return MissionEndKind.FAILED
