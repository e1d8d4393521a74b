"""A robot of a fleet that has a workspace of its own: its orders are jobs there, which its own kernel carries out.

It goes on alone while it is cut off: the order in hand, and whatever else its workspace has. The order stays running
in the fleet, and ends with what the robot measured as soon as that can be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from worldfs.base.driver import Run, Standstill
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, Finding, Operation, Order, Outcome, Scene
from worldfs.storage.open_store import open_store

from .handed_orders import HandedOrder
from .robot_drivers import workspace_address
from .workspace_link import WorkspaceLink

if TYPE_CHECKING:
    from worldfs.runtime.kernel import Kernel
    from worldfs.storage.store_interface import Store

    from .node_specs import NodeSpec
    from .world import World

LOOK_S: Final = 0.1  # between two looks at a stop
END_S: Final = 1.5  # after the order's limit, for its cancel to come back; less than the kernel's grace


class WorkspaceRobot:
    """A `Driver`. It asks for no approval of its own: the robot's workspace asks where its body is real."""

    def __init__(self, robot: str, operations: Sequence[Operation], link: WorkspaceLink) -> None:
        self.operations = tuple(operations)
        self._robot, self._link = robot, link

    def open(self, scene: Scene) -> None:
        """A robot that cannot be reached is no error: it is named, and asked again and again."""
        self._link.start()

    def observe(self) -> Scene:
        """What the robot's own ENVIRONMENT.md said last."""
        return self._link.scene

    def review(self, order: Order) -> Sequence[Finding]:
        """No order is begun at a robot that is cut off."""
        gone = self._link.cut_off
        if gone is None:
            return ()
        found = coded("fleet.cut_off", robot=self._robot, since=gone.since, why=gone.why)
        place, expected, fix = f"/nodes/{self._robot}", coded("fleet.reachable"), coded("fleet.reconnect")
        return [Finding("ROBOT_CUT_OFF", place, expected, found, fix, order.id)]

    def execute(self, order: Order, run: Run) -> Outcome:
        handed = self._link.hand_over(order)
        try:
            return self._follow(handed, run)
        finally:
            self._link.release(order.id)

    def stop(self) -> None:
        """Raises `StopUndelivered` where the robot is cut off: it is told as soon as it is back."""
        self._link.stop()

    def standstill(self, since: float) -> Standstill:
        """As its own kernel has confirmed it, for the stop that was told there last."""
        return self._link.standstill()

    def close(self) -> None:
        self._link.close()

    @property
    def cut_off_since(self) -> str:
        gone = self._link.cut_off
        return gone.since if gone is not None else ""

    def follows(self, order: str) -> bool:
        return self._link.orders.noted(order)

    def has_ended(self, order: str) -> bool:
        return self._link.has_ended(order)

    def _follow(self, handed: HandedOrder, run: Run) -> Outcome:
        while True:
            self._link.tell()
            late = run.clock.monotonic() - run.deadline
            if handed.refused is not None:
                error = handed.refused
                return Outcome.failure(Cause.REJECTED, error.code, error_message(error))
            status = handed.status
            if status is not None and status.state.terminal and status.outcome is not None:
                return self._end(handed, status.outcome, late=late >= 0 and not run.cancel.is_set())
            if late >= END_S or self._link.is_closed:
                return self._unknown(handed)
            if run.stop:
                self._link.cancel(handed)
            self._link.wait(handed, LOOK_S)

    def _end(self, handed: HandedOrder, outcome: Outcome, *, late: bool) -> Outcome:
        outcome = replace(outcome, evidence={**outcome.evidence, "robot_job": handed.order.id})
        if late and outcome.cause is Cause.CANCELLED:
            said = coded("fleet.took_too_long", robot=self._robot, s=handed.order.timeout_s)
            return replace(outcome, cause=Cause.TIMEOUT, code="EXECUTION_TIMEOUT", message=said)
        return outcome

    def _unknown(self, handed: HandedOrder) -> Outcome:
        """The order's time is up, and its end was not read."""
        gone = self._link.cut_off
        if self._link.withdraw(handed):
            why = coded("fleet.not_handed_over", robot=self._robot, since=gone.since if gone is not None else "?")
            return Outcome.failure(Cause.REJECTED, "ROBOT_CUT_OFF", why)
        evidence = {"robot_job": handed.order.id, "cancel_told": handed.told}
        if gone is None:
            why = coded("fleet.end_unread", robot=self._robot, job=handed.order.id)
        else:
            why = coded("fleet.end_unknown", robot=self._robot, job=handed.order.id, since=gone.since)
        return Outcome.failure(Cause.LOST, "LOST", why, evidence=evidence)


def workspace_robot(fleet: World, spec: NodeSpec, operations: Sequence[Operation]) -> WorkspaceRobot:
    """The driver of such a robot; its workspace is not opened yet. Raises `BadInput` for an entry without address."""
    robot, address = spec.id, workspace_address(spec.id, spec.store)

    def connect() -> Store:
        return open_store("nats", address)

    def alert(place: str, finding: Finding | None) -> bool:
        kernel = fleet.kernel
        if kernel is not None:
            kernel.alert(place, finding)
            kernel.wake()
        return kernel is not None

    def observed() -> None:
        kernel = fleet.kernel
        if kernel is not None and robot in kernel.lanes:
            kernel.lanes[robot].submit(partial(_observe, kernel, robot))

    def ended() -> None:
        if fleet.orchestration is not None:
            fleet.orchestration.loop.wake()

    return WorkspaceRobot(
        robot, operations, WorkspaceLink(fleet, robot, connect, alert=alert, observed=observed, ended=ended)
    )


def _observe(kernel: Kernel, robot: str) -> None:
    with suppress(Exception):  # the lane goes on; the observation after the next job reports what is wrong
        kernel.hooks.observe(robot)
