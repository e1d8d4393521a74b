"""The quadruped as a body: a simulated Go2 that walks to labels and places on a floor, as a `Driver`."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from worldfs.base.driver import RECORD_FPS, Run, Standstill
from worldfs.base.errors import BadInput
from worldfs.base.json_values import as_float, as_list, as_object
from worldfs.base.messages import CodedText, coded
from worldfs.base.model import Cause, Finding, Json, Operation, Order, Outcome, Parameter, Profile, Scene
from worldfs.base.model.profile import TRUTH
from worldfs.base.order_parameters import LABEL
from worldfs.base.workspace_bounds import LIMIT
from worldfs.robots import displacements
from worldfs.robots.floor_footprint import Footprint, Spot
from worldfs.robots.mujoco import params
from worldfs.robots.mujoco.action_evidence import rounded
from worldfs.robots.mujoco.floor_map import with_map
from worldfs.robots.mujoco.motion_loop import MotionStopped, measured
from worldfs.robots.mujoco.scene_observation import observe_quadruped
from worldfs.robots.mujoco.shared_world import SharedWorld
from worldfs.robots.mujoco.touch_log import judged

from .floor_world import FloorTarget, FloorWorld
from .gait import TICK
from .navigation import LOW_BATTERY, TRIES, Navigator, Trip, shortest_way, verdict, way_to
from .quadruped import Quadruped
from .quadruped_camera import QuadrupedCamera
from .walker import AT_REST, STEPS, UPRIGHT, QuadrupedFallen, Walker

NAVIGATE: Final = Operation(
    "target_navigation", "Walk to the labelled thing or zone, round what is in the way",
    (Parameter("target_label", "string"),), undoable=True,
)  # fmt: skip
MOVE: Final = Operation(
    "move_to", "Walk to a place on the floor, round what is in the way",
    (Parameter("target_pose", "[x,y,z,r,p,y]"),), undoable=True,
)  # fmt: skip
STOP: Final = Operation("stop", "Stand still and hold", undoable=True)
OPERATIONS: Final = (NAVIGATE, MOVE, STOP)


class QuadrupedDriver:
    """Driver of one quadruped in a world that it may share. Called from one thread at a time, any thread.

    `profile`: the robot's profile as it is now, whose bounds hold on its way, too; None: no limits.
    """

    operations = OPERATIONS

    def __init__(
        self,
        robot_id: str,
        *,
        world: SharedWorld | None = None,
        cameras: bool = True,
        profile: Callable[[], Profile | None] = lambda: None,
    ) -> None:
        self.robot_id, self._profile = robot_id, profile
        self.world = world or SharedWorld()
        self.world.join_quadruped(robot_id)
        self._quadruped: Quadruped | None = None
        self._state: Json = {}  # nav_state of ENVIRONMENT.md
        self._assumed = Scene()
        self._mapped = False  # it keeps a map of its floor: of a house that it made up, or once it has walked
        self._camera = QuadrupedCamera(off=not cameras)

    @property
    def quadruped(self) -> Quadruped:
        if self._quadruped is None:
            raise BadInput(coded("robot.not_open"), op="open", fix=coded("robot.open_first"))
        return self._quadruped

    # --- Driver ---

    def open(self, scene: Scene) -> None:
        """Builds the world, unless another body has it open. Errors: `BadInput` for numbers that no world can have."""
        self._let_go()
        self._quadruped = self.world.open(self.robot_id, scene).quadruped(self.robot_id)
        self._camera.point_at(self.walker)
        robot = scene.robot(self.robot_id)
        told = as_object(robot.extra.get("nav_state")) if robot else {}
        self._state = told or {"mode": "idle", "status": "idle"}
        self._mapped = self.world.made_up or self.robot_id in as_object(scene.extra.get("map"))
        self._assumed = self.world.assumed(scene, self.observe())

    def assumed(self) -> Scene:
        return self._assumed

    def observe(self) -> Scene:
        with self.floor.view.working():
            seen = observe_quadruped(self.quadruped, self._state)
            return with_map(seen, self.robot_id, self.floor.ground()) if self._mapped else seen

    def review(self, order: Order) -> Sequence[Finding]:
        with self.floor.view.working():
            if order.op == STOP.name:
                return ()
            self._hold_limits()
            if trouble := self._unfit(order):
                return (trouble,)
            target = self._target(order)
            if isinstance(target, Finding):
                return (target,)
            found = way_to(self.quadruped, target, minding=False)
            if isinstance(found, Finding):
                field = found.field if found.code == LIMIT else f"ACTION.md params / {order.op}"
                return (replace(found, field=field, job=order.id),)
            return ()

    def way(self, order: Order) -> Sequence[Spot]:
        """The way that an order would take now, for an orchestrator; empty: there is none. Moves nothing."""
        quadruped = self.quadruped
        with quadruped.simulation.working(f"{quadruped.prefix}way"):  # it may be at work itself
            target = None if order.op == STOP.name else self._target(order)
            if target is None or isinstance(target, Finding):
                return ()
            found = shortest_way(quadruped, target, minding=False)
            return () if isinstance(found, Finding) else found.corners

    def execute(self, order: Order, run: Run) -> Outcome:
        quadruped = self.quadruped
        with self.floor.view.working(order=True):
            began, start = run.clock.monotonic(), float(quadruped.simulation.data.time)
            self._mapped = True
            try:
                outcome = self._execute(order, run)
            finally:
                quadruped.reserved.finish(self.robot_id, float(quadruped.simulation.data.time))
            if (touches := quadruped.simulation.touches) is not None:
                outcome = judged(outcome, touches.since(start, (self.robot_id,)))
            wall_s = round(run.clock.monotonic() - began, 3)
            trouble = self._camera.photograph(run.artifacts)
            # what was done is done: a full disk must not turn it into a failure
            more: Json = {"wall_s": wall_s, **({"pictures": trouble} if trouble else {})}
            return replace(outcome, evidence={**outcome.evidence, **more})

    def standstill(self, since: float) -> Standstill:
        body = self._quadruped
        if body is None:
            return Standstill(True)
        fastest = float(np.max(np.abs(self.walker.view.velocity(self.walker.view.pose()))))  # NaN stays NaN
        return measured(body.simulation, fastest, AT_REST)

    def close(self) -> None:
        self.stop_recording()
        self._let_go()

    def leave(self) -> bool:
        return self.world.leave(self.robot_id)

    def _let_go(self) -> None:
        self._camera.point_at(None)
        self._quadruped = None
        self.world.close(self.robot_id)

    # --- VideoRecorder ---

    def record(self, path: Path, fps: int = RECORD_FPS) -> None:
        self._camera.record(path, fps)

    def stop_recording(self) -> int:
        return self._camera.stop_recording()

    # --- inside ---

    @property
    def floor(self) -> FloorWorld:
        return self.quadruped.floor

    @property
    def walker(self) -> Walker:
        return self.quadruped.walker

    def _hold_limits(self) -> None:
        pose = self.floor.view.pose()
        at = pose.x, pose.y, pose.z, pose.roll, pose.pitch, pose.yaw
        self.quadruped.hold_limits(self._profile() or Profile(), *at)

    def _unfit(self, order: Order) -> Finding | None:
        """What keeps it from walking at all."""
        if self.floor.view.pose().up < UPRIGHT:
            said, fix = coded("robot.walk_expect_upright"), coded("robot.walk_fix_upright")
            return Finding("FALLEN", f"robots / {self.robot_id}", said, coded("robot.walk_fallen"), fix, order.id)
        if self.walker.charge < LOW_BATTERY:
            said = coded("robot.walk_expect_battery", percent=100 * LOW_BATTERY)
            found = coded("robot.walk_battery", percent=100 * self.walker.charge)
            fix = coded("robot.walk_fix_battery")
            return Finding("BATTERY_LOW", f"robots / {self.robot_id} / battery_percent", said, found, fix, order.id)
        return None

    def _target(self, order: Order) -> FloorTarget | Finding:
        if order.op == MOVE.name:
            place = params.point(order, ("target_pose", "target_position", "position", "pose"))
            if place is None:
                given = dict(order.params)
                expected, fix = coded("robot.param_point"), coded("robot.give_pose")
                return params.invalid_param(order, "target_pose", expected, given, fix)
            if isinstance(place, Finding):
                return place
            if leaning := params.turned(order, place, yaw=True):
                return leaning
            yaw = float(place[5]) if len(place) == 6 else None
            return FloorTarget("", Footprint(float(place[0]), float(place[1]), (0.0, 0.0)), True, yaw)
        key, label = params.word(order.params, LABEL) or (LABEL[0], "")
        found = self.floor.named(label) if label else []
        if len(found) == 1:
            return found[0]
        expected = coded("robot.walk_expect_label", known=self.floor.labels())
        said = coded("robot.walk_several", label=label, names=[t.name for t in found]) if found else label or None
        code = "AMBIGUOUS_TARGET" if found else "UNKNOWN_OBJECT" if label else "SCHEMA_VALIDATION"
        return params.invalid_param(order, key, expected, said, coded("robot.walk_fix_label"), code=code)

    def _execute(self, order: Order, run: Run) -> Outcome:
        walker, world = self.walker, self.floor
        if order.op != STOP.name:
            self._hold_limits()
        target = None if order.op == STOP.name else self._target(order)
        if isinstance(target, Finding):
            return Outcome.failure(Cause.ERROR, target.code, target.found, findings=(target,))
        walker.begin(lambda: run.stop)
        before, trip, start = self._snapshot(), Trip(), float(world.simulation.data.time)
        reserved = self.quadruped.reserved
        reserved.handle(self.robot_id, ())
        poses = displacements.object_poses(world.things())
        code, stopped = "", ""
        try:
            if target is None:
                code = "" if walker.stand() else "NOT_AT_REST"
            else:
                self._state = {"mode": "navigating", "status": "running", "target_label": target.name}
                navigator = Navigator(self.quadruped, target)
                trip = navigator.trip
                navigator.go()
                code = verdict(world, walker, target, trip)
        except MotionStopped as stop:
            stopped = stop.why
        except QuadrupedFallen:
            code = "FALLEN"
        except FloatingPointError:
            diverged = coded("robot.diverged")
            return Outcome.failure(Cause.ERROR, "SIMULATION_DIVERGED", diverged, traceback=traceback.format_exc())
        if target is not None and target.station and not code and not stopped:
            walker.charge = 1.0  # the station exchanges the battery
        evidence = self._evidence(before, trip, target)
        theirs = reserved.handled_by_others(self.robot_id, start)
        others = displacements.displacements(poses, displacements.object_poses(world.things()), theirs)
        self._state = {"mode": "idle", "status": _status(code, stopped, target), "target_label": self._label(target)}
        outcome = self._told(order, target, code, stopped, evidence)
        return displacements.with_displacements(outcome, others) if others else outcome

    def _told(self, order: Order, target: FloorTarget | None, code: str, stopped: str, evidence: Json) -> Outcome:
        if stopped:
            cause = Cause.CANCELLED if stopped == "cancelled" else Cause.TIMEOUT
            why = coded("robot.cancelled") if cause is Cause.CANCELLED else coded("robot.timeout")
            kind = "CANCELLED" if cause is Cause.CANCELLED else "EXECUTION_TIMEOUT"
            still = coded("robot.walk_stopped", op=order.op, why=why)
            return Outcome.failure(cause, kind, still, evidence=evidence)
        what = coded("robot.walk_stands") if target is None else _named(target)
        if code:
            said: str = coded("robot.walk_failed", what=what, why=self._why(code, evidence))
        elif target is None:
            said = what
        else:
            said = coded("robot.walk_reached", what=what, mm=1000 * as_float(evidence["distance_to_goal"]))
        return (
            Outcome.failure(Cause.ERROR, code, said, evidence=evidence) if code else Outcome.success(said, **evidence)
        )

    def _why(self, code: str, evidence: Json) -> CodedText:
        match code:
            case "STUCK":
                return coded("robot.walk_stuck", n=TRIES + 1)
            case "FALLEN":
                return coded("robot.walk_fallen")
            case "NOT_AT_REST":
                return coded("robot.walk_not_at_rest")
            case "NOT_AT_GOAL":
                return coded("robot.walk_not_at_goal", m=as_float(evidence["distance_to_goal"]))
            case "NOT_FACING":
                return coded("robot.walk_not_facing")
            case "POSE_DOUBTFUL":
                steps = math.hypot(*self.walker.stepped)
                return coded("robot.walk_doubtful", m=as_float(evidence["moved"]), steps=steps)
            case "BATTERY_LOW":
                return coded("robot.walk_battery", percent=100 * self.walker.charge)
        robots = as_list(evidence.get("blocked_by"))
        return coded("robot.way_blocked_by", robots=robots) if robots else coded("robot.walk_no_path")

    def _label(self, target: FloorTarget | None) -> str:
        return target.name if target is not None else str(self._state.get("target_label", ""))

    def _snapshot(self) -> Json:
        pose = self.floor.view.pose()
        return {"position": rounded([pose.x, pose.y, pose.z]), "rpy": rounded([pose.roll, pose.pitch, pose.yaw], 3)}

    def _evidence(self, before: Json, trip: Trip, target: FloorTarget | None) -> Json:
        """Positions in m, turns in rad, times in s; `stepped`: the way by the joints of its legs alone."""
        walker, here = self.walker, self.floor.spot()
        pose = self.floor.view.pose()
        evidence: Json = {
            "evidence_class": "sim",
            "engine": "mujoco",
            "source": TRUTH,
            "before": before,
            "after": self._snapshot(),
            "upright": round(pose.up, 4),
            "speed": round(walker.speed, 4),
            "held": walker.at_rest,
            "moved": round(math.dist(here, walker.began), 4),
            "stepped": rounded(walker.stepped),
            "walked": round(trip.walked, 3),
            "touched_things": sorted(trip.touched),
            "replanned": trip.replanned,
            "battery_percent": round(100 * walker.charge, 2),
            "steps": walker.ticks * STEPS,
            "sim_seconds": round(walker.ticks * TICK, 3),
        }
        if trip.blocked:
            evidence["blocked_by"] = trip.blocked
        if target is not None and trip.route is not None:
            evidence["way"] = [rounded(corner, 3) for corner in trip.route.corners]
            evidence["distance_to_goal"] = round(math.dist(here, trip.route.corners[-1]), 4)
            evidence["gap_to_target"] = round(target.box.gap(here), 4)
        return evidence


def _named(target: FloorTarget) -> str:
    return target.name or coded("robot.walk_place", at=[target.box.x, target.box.y])


def _status(code: str, stopped: str, target: FloorTarget | None) -> str:
    if stopped:
        return "cancelled"
    return "failed" if code else "idle" if target is None else "arrived"
