"""The carrier's body: a simulated wheeled platform with a tray as a `Driver`."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from worldfs.base.driver import Run, Standstill
from worldfs.base.errors import BadInput
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.base.model import Cause, Finding, Operation, Order, Outcome, Parameter, Profile, Scene
from worldfs.robots import displacements
from worldfs.robots.floor_footprint import Spot

from . import carrier_actions
from .action_evidence import stop_failure
from .carrier import Carrier
from .carrier_actions import DriveEvidence
from .floor_map import with_map
from .motion_loop import STILL, MotionStopped, measured
from .scene_observation import observe_carrier
from .shared_world import SharedWorld
from .touch_log import judged

DRIVE_TO: Final = Operation(
    "move_to", "Drive over the floor to a point, with what is on the tray", (Parameter("target_pose", "[x,y,z]"),),
    undoable=True,
)  # fmt: skip
DOCK_AT: Final = Operation(
    "target_navigation", "Drive beside a thing, or to where an arm reaches the tray",
    (Parameter("target_label", "string"),), undoable=True,
)  # fmt: skip


class CarrierDriver:
    """Driver of one carrier in a world that it may share. Called from one thread at a time, any thread.

    `profile`: the robot's profile as it is now, whose bounds hold on its way, too; None: no limits.
    """

    operations = (DRIVE_TO, DOCK_AT)

    def __init__(
        self, robot_id: str, *, world: SharedWorld | None = None, profile: Callable[[], Profile | None] = lambda: None
    ) -> None:
        self.robot_id, self._profile = robot_id, profile
        self.world = world or SharedWorld()
        self.world.join_carrier(robot_id)
        self._carrier: Carrier | None = None
        self._assumed = Scene()
        self._mapped = False  # it keeps a map of its floor: of one that it made up, or once it has driven

    @property
    def carrier(self) -> Carrier:
        if self._carrier is None:
            raise BadInput(coded("robot.not_open"), op="open", fix=coded("robot.open_first"))
        return self._carrier

    def open(self, scene: Scene) -> None:
        """Builds the world, unless another body has it open. Errors: `BadInput` for numbers that no world can have."""
        self.close()
        self._carrier = self.world.open(self.robot_id, scene).carrier(self.robot_id)
        self._mapped = self.world.made_up or self.robot_id in as_object(scene.extra.get("map"))
        self._assumed = self.world.assumed(scene, self.observe())

    def assumed(self) -> Scene:
        return self._assumed

    def observe(self) -> Scene:
        carrier = self.carrier
        with carrier.view.working():
            seen = observe_carrier(carrier)
            return with_map(seen, self.robot_id, carrier.floor.ground()) if self._mapped else seen

    def review(self, order: Order) -> Sequence[Finding]:
        with self.carrier.view.working():
            self._hold_limits()
            found = carrier_actions.plan(self.carrier, order, minding=False)
        return (found,) if isinstance(found, Finding) else ()

    def way(self, order: Order) -> Sequence[Spot]:
        """The way that an order would take now, for an orchestrator; empty: there is none. Moves nothing."""
        carrier = self.carrier
        with carrier.simulation.working(f"{carrier.prefix}way"):  # it may be at work itself
            found = carrier_actions.drive_plan(carrier, order, minding=False)
        return () if isinstance(found, Finding) else [(float(x), float(y)) for x, y in found.route]

    def execute(self, order: Order, run: Run) -> Outcome:
        carrier = self.carrier
        with carrier.view.working(order=True):
            self._mapped = True
            try:
                return self._execute(order, run)
            finally:
                carrier.reserved.finish(self.robot_id, float(carrier.simulation.data.time))

    def _execute(self, order: Order, run: Run) -> Outcome:
        carrier = self.carrier
        self._hold_limits()
        carrier.mover.begin(lambda: run.stop)
        evidence, start = DriveEvidence(carrier), float(carrier.simulation.data.time)
        began = run.clock.monotonic()
        try:
            if order.op not in ("move_to", "target_navigation"):
                unknown = coded("robot.unknown_op", op=order.op, known=sorted(op.name for op in self.operations))
                return Outcome.failure(Cause.ERROR, "UNKNOWN_OP", unknown, evidence=evidence.close())
            outcome = carrier_actions.drive(carrier, order, evidence)
        except MotionStopped as stopped:
            outcome = stop_failure(order.op, stopped, carrier.mover, evidence.close())
        except FloatingPointError:
            diverged = coded("robot.diverged")
            return Outcome.failure(Cause.ERROR, "SIMULATION_DIVERGED", diverged, traceback=traceback.format_exc())
        if (touches := carrier.simulation.touches) is not None:
            outcome = judged(outcome, touches.since(start, (self.robot_id, carrier.tray.id)))
        if others := evidence.also_moved():
            outcome = displacements.with_displacements(outcome, others)
        wall_s = round(run.clock.monotonic() - began, 3)
        return replace(outcome, evidence={**outcome.evidence, "wall_s": wall_s})

    def _hold_limits(self) -> None:
        self.carrier.hold_limits(self._profile() or Profile(), *self.carrier.view.position())

    def standstill(self, since: float) -> Standstill:
        carrier = self._carrier
        return Standstill(True) if carrier is None else measured(carrier.simulation, carrier.mover.speed, STILL)

    def close(self) -> None:
        self._carrier = None
        self.world.close(self.robot_id)

    def leave(self) -> bool:
        return self.world.leave(self.robot_id)
