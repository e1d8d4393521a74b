"""A ROS 2 base led by velocities: `cmd_vel` through rosbridge, as a robot behind the safety layer and the watchdog.

Whether the base stops by itself when commands end depends on its own software; so a second process with a connection of
its own publishes a velocity of nothing when this one is gone or silent (watchdog_process.py).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

import numpy as np

from worldfs.base.driver import PluginContext
from worldfs.base.json_values import as_object, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json, Target
from worldfs.robots.targets.kinematics import Chain
from worldfs.robots.targets.robots.robot_interface import RobotCommand, RobotInterface, RobotReading
from worldfs.robots.targets.robots.watchdog_process import WatchdogProcess

from .ros_state import RosState, twist
from .rosbridge_client import RosbridgeClient
from .rosbridge_settings import MAKER, USUAL, RosbridgeSettings, guard_settings, read_settings, silent_topics

FIRST_S: Final = 3.0  # real seconds for the first odometry
GUARD_S: Final = 0.5  # of silence before the second process stops it


def robot(target: Target, context: PluginContext) -> RobotInterface:
    return RosbridgeBase(target, context, read_settings(target))


class RosbridgeBase:
    joints: tuple[str, ...] = ()
    chain: Chain | None = None
    serial = False
    maker, usual = MAKER, USUAL

    def __init__(self, target: Target, context: PluginContext, settings: RosbridgeSettings) -> None:
        self._target, self._clock, self._own = target, context.clock, settings
        self._state = RosState(context.clock, settings, context.memory)
        self._heard = threading.Event()
        self._client = RosbridgeClient(target, settings.url, settings.headers, self._hear)
        for operation in self._state.subscriptions():
            self._client.stand(operation)
        self._client.stand({"op": "advertise", "topic": settings.cmd_vel, "type": settings.cmd_vel_type})
        self._guard: WatchdogProcess | None = None

    def connect(self) -> None:
        self._client.connect()
        end = self._clock.monotonic() + FIRST_S
        while self._state.pose is None:
            left = end - self._clock.monotonic()
            if left <= 0:
                self.close()
                raise silent_topics(self._target, self._own, FIRST_S)
            self._heard.clear()
            self._clock.wait(self._heard, left)
        settings = guard_settings(self._own, action="")
        self._guard = WatchdogProcess("rosbridge", settings, GUARD_S)
        self._guard.start()

    def sensors(self) -> frozenset[str]:
        return frozenset({"odometry"})

    def pictures(self) -> Mapping[str, tuple[int, int]]:
        return {}

    def read(self) -> RobotReading:
        pose, velocity, trouble = self._state.pose, self._state.velocity, ""
        if not self._client.up:
            trouble = coded("vehicle.link_down", address=self._own.url)
        elif self._guard is not None and not self._guard.alive:
            trouble = coded("target.guard_ended")
        return RobotReading(
            self._state.at, place=np.array(pose) if pose is not None else None,
            velocity=np.array(velocity) if velocity is not None else None, trouble=trouble,
        )  # fmt: skip

    def prepare(self) -> None:
        """There is nothing to prepare."""

    def send(self, command: RobotCommand) -> None:
        vx, vy, wz = (float(part) for part in command.velocity)
        if self._guard is not None:
            self._guard.feed(moving=bool(command.velocity.any()))
        self._publish(vx, vy, wz)

    def halt(self) -> None:
        self._publish(0.0, 0.0, 0.0)
        if self._guard is not None:
            self._guard.feed(moving=False)

    def close(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.close()
        self._client.close()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _publish(self, vx: float, vy: float, wz: float) -> None:
        message = twist(vx, vy, wz, self._own.cmd_vel_type)
        self._client.send({"op": "publish", "topic": self._own.cmd_vel, "msg": message})

    def _hear(self, operation: Json) -> None:
        if operation.get("op") == "publish":
            self._state.hear(as_text(operation.get("topic")), as_object(operation.get("msg")))
        self._heard.set()
