"""The planner's port of a mission: each order is handed over once all that it needs is reserved, durable, for it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded, render
from worldfs.base.model import Cause, JobStatus, Order, Outcome, Task
from worldfs.base.stop_signal import StopSignal
from worldfs.base.unknown_effect import is_silent, unknown_effect
from worldfs.fleet.mission import Mission, MissionProgress
from worldfs.fleet.mission_port import MissionHold
from worldfs.fleet.reservations import Reservation, ReservedKind
from worldfs.planning.planner import PlanProgress

from .instruction import Instruction
from .order_reservations import StepAside, order_needs, stands_on, steps_aside
from .tree_planner_port import TreePlannerPort

if TYPE_CHECKING:
    from .mission_executor import MissionThreads


def unknown_end(outcome: Outcome, robot: str) -> str:
    """Of an order that ended with an unknown effect: what is said of its robot."""
    if is_silent(outcome):
        return coded("mission.hangs", robot=robot)
    return coded("mission.may_move", robot=robot, why=outcome.message)


class RobotSilent(WorldError):
    """An order ended without its driver: what the robot does is not known."""


class PartnerGone(WorldError):
    """No process serves the other robot of a hand-over any more. `job`: its order, if that had begun."""

    def __init__(self, robot: str, job: str) -> None:
        super().__init__(coded("mission.partner_gone", robot=robot), op="wait")
        self.job = job


class MissionPlannerPort(TreePlannerPort):
    """TASK.md stays as it is: several missions run at once, and it has one writer."""

    def __init__(
        self, threads: MissionThreads, instruction: Instruction, mission: Mission, hold: MissionHold, stop: StopSignal
    ) -> None:
        world, robot = threads.world, mission.status.robot
        super().__init__(world, threads.project, robot, instruction=instruction, orderer=mission.order.asker)
        self._threads, self._mission, self._hold, self._stop = threads, mission, hold, stop
        self._progress = self.earlier_progress()

    @property
    def _partners(self) -> dict[str, str]:
        """Open orders of other robots → those robots."""
        return {job: robot for job, robot in self.open_orders.items() if robot != self.robot_id}

    def check_robots(self) -> None:
        """No person reads the progress of a mission; the loss of a partner ends it."""

    def reserve_things(self, things: Sequence[str]) -> None:
        """Before the plan is made: what another mission has in hand now is nowhere where it could be planned for."""
        wanted = [Reservation(ReservedKind.OBJECT, thing) for thing in things]
        if wanted and self._hold.reserve(wanted, self._threads.stands(self.robot_id)) is None:
            self._raise_stopped()

    def earlier_progress(self) -> PlanProgress:
        return PlanProgress(*self._mission.status.progress)

    def note_progress(self, progress: PlanProgress) -> None:
        self._progress = progress

    def approve(self, orders: Sequence[Order], steps: Sequence[str], stop: StopSignal) -> str:
        """What is approved is what is submitted: the orders of this mission."""
        return super().approve([*map(self._marked, orders)], steps, stop)

    def _marked(self, order: Order) -> Order:
        return replace(order, extra={**asdict(order)["extra"], "mission": self._mission.id})

    def submit(self, order: Order) -> str:
        """Raises `WorldError` where the mission was asked to stop while it waited, and `PartnerGone`."""
        if order.node != self.robot_id and not self._threads.is_served_now(order.node):
            raise PartnerGone(order.node, "")
        while (aside := self._reserve(order)) is not None:
            self._step_aside(aside)
        return self._hand_over(order, self._progress)

    def wait(self, job_id: str, stop: StopSignal) -> JobStatus:
        """Raises `PartnerGone`, and `RobotSilent` where the robot has not returned from the order or may still move."""
        status = self._wait(job_id, stop)
        outcome, robot = status.outcome, self.robot_id
        if outcome is None or not unknown_effect(outcome):
            if status.state.terminal:
                self._hold.settle(self._threads.stands(robot))
        elif outcome.cause is not Cause.LOST or is_silent(outcome):
            raise RobotSilent(unknown_end(outcome, robot), op="wait")
        else:
            self._stop.set()  # what it did is not known: nothing is tried once more in its place
        return status

    def _wait(self, job_id: str, stop: StopSignal) -> JobStatus:
        """Until the end, a stop, or until a robot is gone that the mission needs beside its own. Then its own order is
        cancelled, because it may wait for that robot; the mission does not wait for the end of the other order."""
        partner = self._partners.get(job_id)
        while True:
            wake = StopSignal()
            with ExitStack() as stack:
                stack.enter_context(stop.calling(wake.set))
                for robot in {partner} if partner is not None else {*self._partners.values()}:
                    stack.enter_context(self._threads.calling_when_gone(robot, wake.set))
                status = super().wait(job_id, wake)
            if status.state.terminal:
                return status
            if partner is None and not stop.is_set() and any(map(self._is_left, self._partners)):
                self.cancel(job_id)
                return super().wait(job_id, StopSignal())
            if partner is not None and self._is_left(job_id):
                self.cancel(job_id)  # durable first: a process that serves the robot from now on does not begin it
                if self._is_left(job_id):
                    raise PartnerGone(partner, job_id if self._job(job_id).attempt else "")
            if stop.is_set():
                return status

    def _is_left(self, job_id: str) -> bool:
        """Whether that order of another robot is open, and no process serves the robot."""
        return not self._threads.is_served_now(self._partners[job_id]) and not self._job(job_id).state.terminal

    def _job(self, id: str) -> JobStatus:
        return self._threads.world.jobs.load(id).status

    def write_task(self, value: Task) -> None:
        pass

    def _reserve(self, order: Order) -> StepAside | None:
        """None: the order has all that it needs. Else the robot gets out of the others' way first."""
        scene, mobile = self.scene(), self._threads.mobile(self.robot_id)
        sees = self._threads.sees_others(self.robot_id)
        needs = order_needs(scene, order, mobile=mobile, way=self._way(order), sees=sees)
        asides = list(steps_aside(scene, self.robot_id, needs, self._way, sees=sees)) if mobile else []
        pinned = stands_on(scene, self.robot_id, mobile=mobile)
        number = self._hold.reserve(needs.all, pinned, [aside.needs.all for aside in asides])
        if number is None:
            self._raise_stopped()
        return asides[number - 1] if number else None

    def _way(self, order: Order) -> Sequence[Sequence[float]]:
        return self._threads.way(self.robot_id, order)

    def _step_aside(self, aside: StepAside) -> None:
        now = self.now()
        id = f"act_{now:%Y%m%d_%H%M%S}_{now.microsecond // 1000:03d}_00"
        progress = self._progress._replace(reaches=())
        status = self.wait(self._hand_over(replace(aside.order, id=id), progress), self._stop)
        if not status.state.terminal or status.outcome is None or not status.outcome.ok:
            why = status.outcome.message if status.outcome is not None else ""
            raise WorldError(coded("mission.not_aside", name=aside.name, why=why), op="submit")
        self.progress(render(coded("mission.stepped_aside", name=aside.name), self.language()))

    def _hand_over(self, order: Order, progress: PlanProgress) -> str:
        order = replace(self._marked(order), id=self._threads.unused_id(order.id))
        if not self._hold.note_job(order, MissionProgress(*progress)):
            self._raise_stopped()
        job = super().submit(order)
        self._threads.submitted()
        return job

    def _raise_stopped(self) -> None:
        self._stop.set()
        raise WorldError(coded("mission.asked_to_stop"), op="submit")
