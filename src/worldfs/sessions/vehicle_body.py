"""A vehicle of TARGETS.md as the driver of a node: orders of ACTION.md to a robot that drives itself.

It ends as succeeded when the vehicle says that it has arrived *and* its own report, made after that, has it standing at
the goal. No order is driven twice. Any other end is a stop: sent at once, and reported where it is not confirmed.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Final

from worldfs.base.clock import Clock
from worldfs.base.driver import PluginContext, Run, Standstill
from worldfs.base.errors import BadInput, UserError
from worldfs.base.json_values import as_floats
from worldfs.base.map_zones import map_zones
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import (
    Cause,
    Finding,
    Json,
    Operation,
    Order,
    Outcome,
    Parameter,
    RobotState,
    Scene,
    Target,
    Thing,
)
from worldfs.base.order_parameters import LABEL
from worldfs.base.plugin_calls import plugin_name
from worldfs.base.standard_operations import MOVE_TO, NAVIGATE
from worldfs.base.straight_way import distance
from worldfs.base.unknown_effect import NO_REPEAT, STOP_CONFIRMED
from worldfs.robots.floor_footprint import Footprint, between, footprint, stands_on
from worldfs.robots.standing_robots import ROOM_M, standing_robots
from worldfs.robots.targets.safety_limits import SafetyLimits
from worldfs.robots.vehicles.vehicle_declaration import vehicle_factory
from worldfs.robots.vehicles.vehicle_interface import DriveGoal, DriveState, Pose, Taken, Vehicle, VehicleReading
from worldfs.skills.workspace_scene import read_environment

from .redial import Redial

LOOK_S: Final = 0.1  # real seconds until the next look when nothing was reported
CONFIRM_S: Final = 1.5  # for the vehicle to confirm a stop: the kernel names a driver that takes 2 s
SETTLE_S: Final = 10.0  # for a report that it stands, after it said that it had arrived
FASTEST: Final = 3.0  # m/s where neither its limits nor the operator say: what moves faster was not driven
TAKEN_S: Final = 1.0  # until ENVIRONMENT.md is asked again who stands on the way
BESIDE: Final = 4.0  # tolerances: what stands no farther from the goal was driven there, and may be sent once more
JUMP_M: Final = 1.0  # between two reports, beside what it can have driven
KEEP_OFF_M: Final = 1.0  # between the vehicle's middle and the nearest side of a thing that it drives to
DRIVE: Final = Operation(
    MOVE_TO.name, "Drive to a pose on the map and stand there", (Parameter("target_pose", "[x,y,z,r,p,y]"),),
    undoable=True,
)  # fmt: skip
DRIVE_TO: Final = Operation(
    NAVIGATE.name, "Drive to a named place, or in front of a thing", (Parameter("target_label", "string"),),
    undoable=True,
)  # fmt: skip


class VehicleBody:
    """One vehicle, connected when the world starts or, if it does not answer then, as soon as it does."""

    real = True

    def __init__(self, target: Target, context: PluginContext, clock: Clock) -> None:
        self._target, self._context, self._clock = target, context, clock
        self.calling = ""  # of the vehicle's library, while it has not returned
        self._vehicle: Vehicle | None = None
        self._scene = Scene()
        self._stopped = threading.Event()
        self._reached = False  # the last stop has reached the vehicle, as far as is known
        self._dialing = threading.Lock()  # of `connect`, which is called from one thread at a time
        self._redial = Redial(target.id, clock, self._dial)
        self._why = ""  # why it was not taken up when that was tried last

    @property
    def operations(self) -> Sequence[Operation]:
        return (DRIVE, DRIVE_TO)

    def open(self, scene: Scene) -> None:
        self._scene = scene
        self._redial = Redial(self._target.id, self._clock, self._dial)
        if not self._dial() and self._vehicle is not None:  # other robots of this world go on
            self._redial.begin(self._vehicle.changed)

    def observe(self) -> Scene:
        """The vehicle alone."""
        robot = self.reported()
        return Scene((robot,)) if robot is not None else Scene()

    def reported(self) -> RobotState | None:
        """Where it says that it is, its battery, and why it cannot drive."""
        vehicle = self._vehicle
        try:
            reading = vehicle.read() if vehicle is not None else None
        except ConnectionError:
            reading = None
        why = self.unreachable()
        if why and vehicle is not None:
            self._redial.begin(vehicle.changed)
        if reading is None:
            return None
        extra: Json = {"driver": self._target.driver, "map": reading.map, "driving": not reading.still}
        extra |= {
            "standing": why or reading.refusal,
            "errors": [*reading.notes],
        }  # empty too: the page keeps what is left out
        for name, value in (("battery", reading.battery), ("speed", reading.speed)):
            if value is not None:
                extra[name] = round(value, 2)
        if reading.pose is None:
            return RobotState(self._target.id, (), extra=extra)
        x, y, yaw = (round(part, 3) for part in reading.pose)
        return RobotState(self._target.id, (x, y, 0.0, 0.0, 0.0, yaw), extra=extra)

    def unreachable(self) -> str:
        """Why nothing is heard of it now; "": it is there."""
        vehicle = self._vehicle
        try:
            reading = vehicle.read() if vehicle is not None else None
        except ConnectionError as error:
            return self._why or str(error)
        if vehicle is None or reading is None:
            return self._why or coded("target.not_connected")
        if not reading.cut_off and self._clock.monotonic() - reading.at > vehicle.settings.limits.stale_s:
            return coded("vehicle.silent", s=vehicle.settings.limits.stale_s)
        return reading.cut_off

    def review(self, order: Order) -> Sequence[Finding]:
        """Whether it can be given the order now: reachable, ready, charged, the goal known and inside its limits."""
        at, switch_on = f"TARGETS.md {self._target.id}", coded("vehicle.switch_on")
        try:
            vehicle = self._take_up()
            reading = self._fresh(vehicle)
            goal = self._reachable(vehicle, reading, self._goal(order, vehicle, reading))
        except UserError as error:
            code = error.code if error.code == "MISSING" else "TARGET_BUILD"
            return [Finding(code, error.path or at, error.expected, error.found, error.fix, order.id)]
        except ConnectionError as error:
            return [Finding("VEHICLE_SILENT", at, coded("vehicle.reports"), str(error), switch_on, order.id)]
        limits, low = vehicle.settings.limits, vehicle.settings.least_battery
        if self._clock.monotonic() - reading.at > limits.stale_s:
            why = coded("vehicle.old_report", s=self._clock.monotonic() - reading.at)
            return [Finding("VEHICLE_SILENT", at, coded("vehicle.reports"), why, switch_on, order.id)]
        if reading.refusal or reading.pose is None:
            ready, fix = coded("vehicle.ready"), coded("vehicle.see_vehicle")
            return [Finding("VEHICLE_NOT_READY", at, ready, reading.refusal, fix, order.id)]
        if reading.battery is not None and reading.battery < low:
            found, expected = coded("vehicle.percent", n=reading.battery), coded("vehicle.least_percent", n=low)
            return [
                Finding("BATTERY_LOW", f"{at} config.battery_min", expected, found, coded("vehicle.charge"), order.id)
            ]
        if outside(limits, goal.at):
            found = coded("vehicle.point", x=goal.x, y=goal.y)
            expected, fix = coded("vehicle.inside"), coded("vehicle.other_goal")
            return [Finding("OUT_OF_BOUNDS", f"{at} config.safety.workspace", expected, found, fix, order.id)]
        if who := self._who_stands_on(self._points(vehicle, reading.pose, goal), reading):
            expected, fix = coded("vehicle.free_way"), coded("vehicle.clear_way", robot=who.robot_id)
            found = coded("vehicle.way_taken", robot=who.robot_id, x=who.pose[0], y=who.pose[1])
            return [Finding("WAY_TAKEN", "ENVIRONMENT.md robots", expected, found, fix, order.id)]
        return ()

    def execute(self, order: Order, run: Run) -> Outcome:
        self._stopped.clear()
        try:
            vehicle = self._take_up()
            reading = self._fresh(vehicle)
            goal = self._reachable(vehicle, reading, self._goal(order, vehicle, reading))
            if run.stop or self._stopped.is_set():
                return _over(run.stop or "cancelled", coded("vehicle.before_start"), {})
            drive = _Drive(self._clock, vehicle, goal, reading)
        except UserError as error:
            return Outcome.failure(Cause.ERROR, "TARGET_BUILD", error_message(error))
        except ConnectionError as error:
            return _failed("TARGET_CONNECTION", str(error), repeatable=True)
        try:
            vehicle.begin(order_id(order, run.attempt), goal, self._taken_now(reading))
            return self._drive(drive, run)
        except (UserError, ConnectionError) as error:  # the vehicle may have heard some of it
            said = error_message(error) if isinstance(error, UserError) else str(error)
            return self._halt(drive, run, _failed("TARGET_CONNECTION", said))
        finally:
            vehicle.end()

    def way(self, order: Order) -> Sequence[tuple[float, float]]:
        """From where it reports to be to the goal of the order; empty where it cannot say."""
        vehicle = self._vehicle
        try:
            reading = vehicle.read() if vehicle is not None else None
            if vehicle is None or reading is None or reading.pose is None:
                return ()
            return [place.at for place in vehicle.way(reading.pose, self._goal(order, vehicle, reading))]
        except (UserError, ConnectionError):
            return ()  # its review says why

    def take_up(self) -> None:
        if not self._dialing.locked():  # else it is being connected
            self._take_up()

    def stop(self) -> None:
        """From any thread: the stop is sent before this returns. Raises `ConnectionError` when it cannot be."""
        vehicle = self._vehicle
        try:
            if vehicle is None:
                raise ConnectionError(self.unreachable())
            self._send_stop(vehicle)
        finally:
            self._stopped.set()
            if vehicle is not None:
                vehicle.changed.set()

    def _send_stop(self, vehicle: Vehicle) -> None:
        self._reached = False
        vehicle.halt()
        self._reached = True

    def standstill(self, since: float) -> Standstill:
        """By the vehicle's own report."""
        vehicle = self._vehicle
        return vehicle.standstill(since) if vehicle is not None else Standstill(False, coded("target.not_connected"))

    def close(self) -> None:
        self._redial.close()
        vehicle, self._vehicle = self._vehicle, None
        if vehicle is not None:
            vehicle.close()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _take_up(self) -> Vehicle:
        """Raises `UserError` where it is not connected, or has never reported."""
        with self._dialing:
            try:
                vehicle = self._vehicle
                if vehicle is None:
                    self.calling = f"{self._target.id}: {self._target.driver}"
                    vehicle = vehicle_factory(self._target)(self._target, self._context)
                    self._vehicle = vehicle
                if self.unreachable():
                    self.calling = f"{plugin_name(vehicle)} connect"
                    vehicle.connect()
            except UserError as error:
                self._why = error.found
                raise
            finally:
                self.calling = ""
            self._why = ""
            return vehicle

    def _dial(self) -> bool:
        """Whether it is there, after another try."""
        with suppress(UserError, ConnectionError):
            self._take_up()
            return not self.unreachable()
        return False

    def _fresh(self, vehicle: Vehicle) -> VehicleReading:
        reading = vehicle.read()
        if reading.refusal or self._clock.monotonic() - reading.at > vehicle.settings.limits.stale_s:
            vehicle.refresh()
            reading = vehicle.read()
        return reading

    def _drive(self, drive: _Drive, run: Run) -> Outcome:
        """Until it has arrived, or must stop."""
        vehicle = drive.vehicle
        while True:
            vehicle.changed.clear()
            if why := (run.stop or ("cancelled" if self._stopped.is_set() else "")):
                return self._halt(drive, run, _over(why, "", {}))
            try:
                outcome = drive.look()
            except ConnectionError as error:  # of what was sent; its own silence ends by the limit
                outcome = None if vehicle.read().refusal else _failed("TARGET_CONNECTION", str(error))
            if outcome is not None:
                if outcome.code == "ORDER_REPLACED":  # it follows another controller: not ours to stop
                    return drive.told(replace(outcome, evidence={**outcome.evidence, STOP_CONFIRMED: False}))
                return drive.told(outcome) if outcome.ok else self._halt(drive, run, outcome)
            self._clock.wait(vehicle.changed, LOOK_S)

    def _halt(self, drive: _Drive, run: Run, outcome: Outcome) -> Outcome:
        """The stop is sent, and waited for a little: the outcome says whether the vehicle has confirmed it, and one
        without a message what is known of the stop."""
        vehicle, now = drive.vehicle, self._clock.monotonic()
        end = now + CONFIRM_S
        try:
            if not self._stopped.is_set():
                self._send_stop(vehicle)
            while not (confirmed := vehicle.standstill(now).stands) and (left := end - self._clock.monotonic()) > 0:
                vehicle.changed.clear()
                self._clock.wait(vehicle.changed, min(LOOK_S, left))
        except ConnectionError:
            confirmed = False
        known = "vehicle.stopped" if confirmed else "vehicle.told" if self._reached else "vehicle.unreached"
        why = outcome.message or coded(known)
        message = why if confirmed else coded("vehicle.unconfirmed", why=why)
        made = Outcome.failure(
            outcome.cause or Cause.ERROR,
            outcome.code,
            message,
            evidence={**outcome.evidence, STOP_CONFIRMED: confirmed},
        )
        return drive.told(made)

    def _goal(self, order: Order, vehicle: Vehicle, reading: VehicleReading) -> DriveGoal:
        """Raises `BadInput` for a goal that is none, or is not known."""
        if order.op == DRIVE.name:
            numbers = as_floats(order.params.get("target_pose"))
            given = order.params.get("target_pose")
            if isinstance(given, list) and len(given) == len(numbers) and all(map(math.isfinite, numbers)):
                if len(numbers) in (2, 3):  # x, y [, z]: any direction
                    return DriveGoal(numbers[0], numbers[1])
                if len(numbers) == 6:
                    return DriveGoal(numbers[0], numbers[1], numbers[5])
            raise BadInput(repr(given)[:200], path="ACTION.md params.target_pose", expected=coded("vehicle.a_pose"))
        label = next((order.params[name] for name in LABEL if order.params.get(name)), None)
        if isinstance(label, str):
            if (place := vehicle.settings.places.get(label)) is not None:
                self._demand_same_place(place, vehicle.settings.tolerance)
                return place
            if (place := self._in_front(label, reading)) is not None:
                return place
        raise BadInput(
            repr(label)[:200], path="ACTION.md params.target_label",
            expected=coded("vehicle.known_place", names=sorted(vehicle.settings.places) or coded("common.none")),
            fix=coded("vehicle.name_place", id=self._target.id),
        )  # fmt: skip

    def _demand_same_place(self, place: DriveGoal, tolerance: float) -> None:
        """Raises `BadInput` where ENVIRONMENT.md has the place of that name elsewhere: what was meant is not known."""
        for zone in map_zones(self._scene_now()):
            if zone.name == place.name and zone.at and math.dist(zone.at, place.at) > tolerance:
                raise BadInput(
                    coded("vehicle.two_places", place=place.name, x=place.x, y=place.y, zx=zone.at[0], zy=zone.at[1]),
                    path=f"TARGETS.md {self._target.id} config.places {place.name}",
                    expected=coded("vehicle.same_place"), fix=coded("vehicle.correct_place"),
                )  # fmt: skip

    @staticmethod
    def _reachable(vehicle: Vehicle, reading: VehicleReading, goal: DriveGoal) -> DriveGoal:
        """The goal as the last place of the way. Raises `BadInput` where there is no way."""
        return goal if reading.pose is None else [goal, *vehicle.way(reading.pose, goal)][-1]

    @staticmethod
    def _points(vehicle: Vehicle, start: Pose, goal: DriveGoal) -> list[tuple[float, float]]:
        """The way as far as it is known, from where it stands; the goal alone where the vehicle finds its own."""
        try:
            return [place.at for place in vehicle.way(start, goal)] or [goal.at]
        except UserError:
            return [goal.at]  # the review says why there is none

    def _who_stands_on(self, points: Sequence[tuple[float, float]], reading: VehicleReading) -> RobotState | None:
        """A robot that stands, by ENVIRONMENT.md, on a way (points x y, m); not one from beside which it drives off."""
        near = standing_robots(self._scene_now(), self._target.id, reading.map)
        here = reading.pose[:2] if reading.pose is not None else points[0]
        others = [one for one in near if math.dist(one.pose[:2], here) >= ROOM_M]
        pieces = [*pairwise(points)] or [(point, point) for point in points]
        on = (one for one in others if any(distance(one.pose[:2], *piece) < ROOM_M for piece in pieces))
        return next(on, None)

    def _taken_now(self, start: VehicleReading) -> Taken:
        """Asks who stands on a part of the way, at most once in `TAKEN_S`."""
        asked: dict[tuple[tuple[float, float], ...], tuple[float, str]] = {}

        def taken(points: Sequence[tuple[float, float]]) -> str:
            key, now = tuple(points), self._clock.monotonic()
            if key not in asked or now - asked[key][0] >= TAKEN_S:
                who = self._who_stands_on(points, start)
                asked[key] = now, who.robot_id if who is not None else ""
            return asked[key][1]

        return taken

    def _scene_now(self) -> Scene:
        home = self._context.artifacts.parent if self._context.artifacts is not None else None
        return read_environment(home) or self._scene

    def _in_front(self, label: str, reading: VehicleReading) -> DriveGoal | None:
        """A zone of the map; of a thing, the point before it on the straight line from here."""
        scene = self._scene_now()
        for zone in map_zones(scene):
            if zone.name == label and zone.at:
                return DriveGoal(zone.at[0], zone.at[1], zone.yaw, label)
        thing = scene.thing(label)
        if thing is None or len(thing.position) < 2 or reading.pose is None:
            return None
        (x, y), (ox, oy, _) = thing.position[:2], reading.pose
        far = KEEP_OFF_M + (max(thing.size[:2]) / 2 if len(thing.size) >= 2 else 0.0)
        away = math.dist((x, y), (ox, oy))
        yaw = math.atan2(y - oy, x - ox)
        share = max(0.0, 1 - far / away) if away > 0 else 0.0
        goal = DriveGoal(ox + (x - ox) * share, oy + (y - oy) * share, yaw, label, f"{label}-front")
        if closing := _between(scene, goal, thing):
            raise BadInput(
                coded("vehicle.stands_between", thing=label, ids=closing), path="ACTION.md params.target_label",
                expected=coded("vehicle.open_front"), fix=coded("vehicle.other_goal"),
            )  # fmt: skip
        return goal


def _between(scene: Scene, goal: DriveGoal, thing: Thing) -> list[str]:
    """The furniture that stands between a goal on the floor and a thing; objects are moved, and its map has none."""
    box = footprint(thing) or Footprint(thing.position[0], thing.position[1], (0.0, 0.0))
    pieces = ((one.id, found) for one in scene.furniture if (found := footprint(one)) and stands_on(one, 0.0))
    return between(goal.at, box, pieces)


class _Drive:
    """One order under way: what the vehicle says of it, against what it reports of itself."""

    def __init__(self, clock: Clock, vehicle: Vehicle, goal: DriveGoal, start: VehicleReading) -> None:
        self.vehicle, self._goal, self._clock = vehicle, goal, clock
        self._start = self._last = start
        self._begun = clock.monotonic()

    def look(self) -> Outcome | None:
        """None: it is on its way."""
        vehicle, now = self.vehicle, self._clock.monotonic()
        state, reading = vehicle.progress(), vehicle.read()
        limits, last = vehicle.settings.limits, self._last
        if state.code:
            return _failed(state.code, state.message, repeatable=state.repeatable)
        if now - reading.at > limits.stale_s:
            return _failed("VEHICLE_SILENT", coded("vehicle.old_report", s=now - reading.at))
        if reading.pose is not None:
            if outside(limits, reading.pose[:2]):
                return _failed("TARGET_STOPPED", coded("vehicle.left_fence", x=reading.pose[0], y=reading.pose[1]))
            if last.pose is not None and (jump := self._jump(last, reading)) > 0:
                return _failed("VEHICLE_JUMPED", coded("vehicle.jumped", m=jump))
            self._last = reading
        return self._arrived(state, reading, now) if state.finished_at is not None else None

    def told(self, outcome: Outcome) -> Outcome:
        """With what was measured, whatever the end."""
        reading, start = self.vehicle.read(), self._start
        evidence: Json = {
            "evidence_class": "real", "duration_s": round(self._clock.monotonic() - self._begun, 3),
            "goal": [self._goal.x, self._goal.y, self._goal.yaw], "pose_before": list(start.pose or ()),
            "pose_after": list(reading.pose or ()), "map": reading.map, **outcome.evidence,
        }  # fmt: skip
        if reading.pose is not None:
            evidence["distance_to_goal"] = round(math.dist(reading.pose[:2], self._goal.at), 4)
        if reading.battery is not None:
            evidence["battery"] = reading.battery
        if reading.notes:
            evidence["vehicle_errors"] = [*reading.notes]
        return Outcome(outcome.ok, outcome.message, outcome.cause, outcome.code, outcome.traceback, evidence)

    def _arrived(self, state: DriveState, reading: VehicleReading, now: float) -> Outcome | None:
        """It says that it has arrived: its own report, not older than that, must have it standing there."""
        assert state.finished_at is not None
        if reading.at < state.finished_at or not reading.still:
            late = coded("vehicle.not_still", s=SETTLE_S)
            return _failed("NOT_AT_GOAL", late) if now - state.finished_at > SETTLE_S else None
        settings, pose, goal = self.vehicle.settings, reading.pose, self._goal
        if pose is None or reading.map != self._start.map:
            return _failed("NOT_AT_GOAL", coded("vehicle.lost_position"))
        away = math.dist(pose[:2], goal.at)
        turned = abs(math.remainder(pose[2] - goal.yaw, 2 * math.pi)) if goal.yaw is not None else 0.0
        if away > settings.tolerance or turned > settings.turn_tolerance:
            beside = away <= BESIDE * settings.tolerance
            return _failed("NOT_AT_GOAL", coded("vehicle.not_there", m=away, rad=turned), repeatable=beside)
        return Outcome.success(coded("vehicle.arrived", m=away))

    def _jump(self, last: VehicleReading, reading: VehicleReading) -> float:
        """Metres between two reports that no driving explains; 0 where it does."""
        if last.pose is None or reading.pose is None or last.map != reading.map:
            return 0.0
        high = self.vehicle.settings.limits.base_high
        passed = max(reading.stamp - last.stamp, reading.at - last.at, 0.0)
        fastest = float(high[0]) if high is not None else FASTEST
        far = math.dist(last.pose[:2], reading.pose[:2])
        return far if far > JUMP_M + 2 * fastest * passed else 0.0


def order_id(order: Order, attempt: int) -> str:
    """Of a job and its attempt: the same after a crash, and never that of another job, also of another workspace."""
    made = f"{order.id}|{order.node}|{order.created_at}|{order.seq}|{sorted(order.params.items())!r}"
    return f"{order.id[:40]}-{attempt}-{hashlib.sha256(made.encode()).hexdigest()[:12]}"


def outside(limits: SafetyLimits, point: Sequence[float]) -> bool:
    """Whether a point of the map lies outside `safety.workspace`."""
    if limits.low is None or limits.high is None:
        return False
    return any(not low <= value <= high for value, low, high in zip(point, limits.low, limits.high, strict=False))


def _failed(code: str, message: str, *, repeatable: bool = False) -> Outcome:
    """`repeatable`: the order was not driven, or its end was measured. After any other end a person must look first."""
    return Outcome.failure(Cause.ERROR, code, message, evidence={} if repeatable else {NO_REPEAT: True})


def _over(why: str, found: str, evidence: Json) -> Outcome:
    if why == "timeout":
        return Outcome.failure(Cause.TIMEOUT, "EXECUTION_TIMEOUT", found, evidence=evidence)
    return Outcome.failure(Cause.CANCELLED, "CANCELLED", found, evidence=evidence)
