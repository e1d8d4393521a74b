"""A base that is led by velocities, as a vehicle: turned towards its goal, driven straight there, turned to its yaw.

Each step passes the safety layer and the watchdog of targets. It sees no obstacle: `safety.workspace` is its fence.
"""

from __future__ import annotations

import math
import threading
from typing import Final

import numpy as np

from worldfs.base.driver import PluginContext, Standstill
from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Target
from worldfs.robots.targets.real_target import RealTarget, control_hz, driver
from worldfs.robots.targets.target_adapter import TargetStopped

from .vehicle_interface import DriveGoal, DriveState, Pose, Taken, VehicleReading, VehicleSettings

GAIN: Final = 1.5  # 1/s: how fast an error is taken back
AIMED: Final = 0.3  # rad: turned farther away from its goal, it turns on the spot
STILL_M_S: Final = 0.03


class VelocityVehicle:
    def __init__(self, target: Target, context: PluginContext, settings: VehicleSettings) -> None:
        self.settings, self.changed = settings, threading.Event()
        self._clock, self._period = context.clock, 1 / control_hz(target)
        self._robot = driver(target)(target, context)
        self._target = RealTarget(target, context, self._robot)
        self._goal: DriveGoal | None = None
        self._drive = DriveState()
        self._stepped_at = -math.inf
        self._opened = False

    def connect(self) -> None:
        if self._opened and not self._robot.read().trouble:
            return
        self.close()
        self._target.open()
        self._opened = True

    def read(self) -> VehicleReading:
        if not self._opened:
            raise ConnectionError(coded("vehicle.never_reported"))
        reading = self._robot.read()
        speed = float(np.hypot(*reading.velocity[:2])) if reading.velocity is not None else None
        turning = abs(float(reading.velocity[2])) if reading.velocity is not None else math.inf
        pose = tuple(float(part) for part in reading.place) if reading.place is not None else None
        return VehicleReading(
            reading.at, reading.at, (pose[0], pose[1], pose[2]) if pose is not None else None, "",
            speed is not None and speed < STILL_M_S and turning < 2 * STILL_M_S, speed, None,
            reading.trouble or ("" if pose is not None else coded("vehicle.lost_position")), reading.trouble,
        )  # fmt: skip

    def refresh(self) -> None:
        """It reports by itself, all the time."""

    def way(self, start: Pose, goal: DriveGoal) -> list[DriveGoal]:
        return [DriveGoal(start[0], start[1]), goal]

    def begin(self, order_id: str, goal: DriveGoal, taken: Taken) -> None:
        self._goal, self._drive = goal, DriveState()
        self._target.reset()

    def progress(self) -> DriveState:
        """One control period's velocity, once it is due."""
        goal, now = self._goal, self._clock.monotonic()
        if goal is None or self._drive.code or self._drive.finished_at is not None:
            return self._drive
        if now - self._stepped_at < self._period:
            return self._drive
        self._stepped_at = now
        pose = self.read().pose
        try:
            if pose is None:
                raise TargetStopped(coded("vehicle.lost_position"))
            velocity = self._velocity(pose, goal)
            if velocity is None:
                self._target.stop()
                self._drive = DriveState(now)
            else:
                self._target.observe()
                self._target.step(np.array(velocity), "base_velocity")
        except UserError as error:
            self._drive = DriveState(None, error.code, error_message(error))
        except (ConnectionError, TimeoutError) as error:
            self._drive = DriveState(None, "TARGET_CONNECTION", str(error) or type(error).__name__)
        return self._drive

    def halt(self) -> None:
        if not self._opened:
            raise ConnectionError(coded("vehicle.never_reported"))
        self._target.stop()

    def standstill(self, since: float) -> Standstill:
        return self._target.standstill(since)

    def end(self) -> None:
        self._goal = None
        self._target.stop()

    def close(self) -> None:
        self._opened = False
        self._target.close()

    def _velocity(self, pose: tuple[float, float, float], goal: DriveGoal) -> tuple[float, float, float] | None:
        """m/s, m/s, rad/s in the base's frame; None at the goal. The safety layer bounds it."""
        away = math.dist(pose[:2], goal.at)
        if away > self.settings.tolerance / 2:
            turn = math.remainder(math.atan2(goal.y - pose[1], goal.x - pose[0]) - pose[2], 2 * math.pi)
            return (GAIN * away * math.cos(turn) if abs(turn) < AIMED else 0.0, 0.0, GAIN * turn)
        turn = math.remainder(goal.yaw - pose[2], 2 * math.pi) if goal.yaw is not None else 0.0
        return (0.0, 0.0, GAIN * turn) if abs(turn) > self.settings.turn_tolerance / 2 else None
