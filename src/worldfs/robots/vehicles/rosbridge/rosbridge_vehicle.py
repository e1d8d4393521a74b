"""A ROS 2 robot with Nav2: goals of its action NavigateToPose, through rosbridge.

A goal is sent once. rosbridge lets a goal go on when its client is gone; so a second process with a connection of its
own cancels it when this process is gone or silent (watchdog_process.py).
"""

from __future__ import annotations

import json
import math
import threading
from contextlib import suppress
from typing import Final

from worldfs.base.driver import PluginContext, Standstill
from worldfs.base.errors import MissingRequirement
from worldfs.base.json_values import as_object, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json, Target
from worldfs.robots.targets.robots.watchdog_process import WatchdogProcess

from ..vehicle_interface import DriveGoal, DriveState, Pose, Taken, Vehicle, VehicleReading
from ..velocity_vehicle import VelocityVehicle
from .ros_state import RosState, goal_pose
from .rosbridge_client import RosbridgeClient
from .rosbridge_settings import VELOCITY, RosbridgeSettings, guard_settings, read_settings, silent_topics
from .rosbridge_stop import stop_operations

FIRST_S: Final = 3.0  # real seconds for the first odometry and pose
GUARD_S: Final = 1.0  # of silence before the second process cancels
SUCCEEDED, CANCELLED, ABORTED = 4, 5, 6  # action_msgs/msg/GoalStatus
ENDED: Final = (SUCCEEDED, CANCELLED, ABORTED)
UNENDED: Final = "goal"  # a fact of its memory
KIND: Final = "nav2_msgs/action/NavigateToPose"


def vehicle(target: Target, context: PluginContext) -> Vehicle:
    settings = read_settings(target)
    if settings.drive == VELOCITY:
        return VelocityVehicle(target, context, settings.common)
    return Nav2Vehicle(target, context, settings)


class Nav2Vehicle:
    def __init__(self, target: Target, context: PluginContext, settings: RosbridgeSettings) -> None:
        self._target, self._clock, self._own = target, context.clock, settings
        self.settings = settings.common
        self.changed = threading.Event()
        self._lock = threading.Lock()
        self._state = RosState(context.clock, settings, context.memory)
        self._client = RosbridgeClient(target, settings.url, settings.headers, self._hear)
        for operation in self._state.subscriptions():
            self._client.stand(operation)
        if settings.cmd_vel:
            self._client.stand({"op": "advertise", "topic": settings.cmd_vel, "type": settings.cmd_vel_type})
        self._guard: WatchdogProcess | None = None
        self._goal = ""  # the id of the goal under way
        self._memory, unended = context.memory, context.memory.recall(UNENDED)
        # the id of the goal that was sent last, also by an earlier driver, until the robot says how it ended
        self._unended = as_text(unended, "?" if unended is not None else "")
        self._orphaned = bool(self._unended)  # the connection was lost since
        self._drive = DriveState()
        self._halted_at = -math.inf

    def connect(self) -> None:
        if self._guard is not None and not self._cut_off():
            return
        self.close()
        try:
            self._client.connect()
            self._await()
            settings = guard_settings(self._own, action=self._own.action)
            self._guard = WatchdogProcess("rosbridge", settings, GUARD_S)
            self._guard.start()
        except BaseException:
            self.close()
            raise

    def read(self) -> VehicleReading:
        state = self._state
        if state.at == 0.0:
            raise ConnectionError(coded("vehicle.never_reported"))
        pose, why = state.pose, self._cut_off()
        if not why and pose is None:
            why = coded("vehicle.lost_position")
        elif not why and not self._goal and not state.still:
            why = coded("vehicle.moving")
        speed = math.hypot(*state.velocity[:2]) if state.velocity is not None else None
        return VehicleReading(
            state.at, state.stamp, pose, self._own.frame, state.still, speed, state.battery, why, self._cut_off()
        )

    def _cut_off(self) -> str:
        """Why nothing is heard of it now, or nothing would stop it; "" if all is well."""
        if not self._client.up:
            return coded("vehicle.link_down", address=self._own.url)
        return coded("target.guard_ended") if self._guard is not None and not self._guard.alive else ""

    def refresh(self) -> None:
        with suppress(MissingRequirement):  # its reading says that it is not connected
            self._client.connect()
            self._await()

    def way(self, start: Pose, goal: DriveGoal) -> list[DriveGoal]:
        return []  # Nav2 finds it as it goes

    def begin(self, order_id: str, goal: DriveGoal, taken: Taken) -> None:
        pose = self._state.pose
        if pose is None:
            raise ConnectionError(coded("vehicle.lost_position"))
        yaw = goal.yaw if goal.yaw is not None else math.atan2(goal.y - pose[1], goal.x - pose[0])
        arguments = {"pose": goal_pose(goal.x, goal.y, yaw, self._own.frame), "behavior_tree": ""}
        with self._lock:
            self._goal = self._unended = order_id
            self._drive, self._orphaned = DriveState(), False
        self._memory.keep(UNENDED, order_id)
        self._feed(moving=True)
        about = {"action": self._own.action, "action_type": KIND, "args": arguments, "feedback": True}
        self._client.send({"op": "send_action_goal", "id": order_id, **about})

    def progress(self) -> DriveState:
        self._feed(moving=True)
        with self._lock:
            return self._drive

    def halt(self) -> None:
        with self._lock:
            self._halted_at, goal = self._clock.monotonic(), self._goal
        if not self._client.up:
            with suppress(MissingRequirement):
                self._client.connect(1.0)
        for operation in stop_operations(self._own.action, self._own.cmd_vel, self._own.cmd_vel_type, goal):
            self._client.send(operation)

    def standstill(self, since: float) -> Standstill:
        """The goal that was sent last has an end, and odometry made after that has it standing."""
        with self._lock:
            if self._unended:
                return Standstill(False, coded("vehicle.goal_goes_on"))
            halted_at = self._halted_at
        if self._state.at <= max(since, halted_at):
            return Standstill(False, coded("vehicle.no_later_report"))
        if why := self._cut_off():
            return Standstill(False, why)
        if (age := self._clock.monotonic() - self._state.at) > self.settings.limits.stale_s:
            return Standstill(False, coded("vehicle.old_report", s=age))
        if not self._state.still:
            return Standstill(False, coded("vehicle.drives"))
        stood = self._state.stands(max(since, halted_at))
        return Standstill(stood, "" if stood else coded("stop.not_long"))

    def end(self) -> None:
        with self._lock:
            self._goal = ""
        self._feed(moving=False)

    def close(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.close()
        self._client.close()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _feed(self, *, moving: bool) -> None:
        if self._guard is not None:
            self._guard.feed(moving=moving)

    def _await(self) -> None:
        """Until odometry has come and the pose is known. Raises `MissingRequirement`."""
        before, end = self._state.at, self._clock.monotonic() + FIRST_S
        while (left := end - self._clock.monotonic()) > 0:
            self.changed.clear()
            if self._state.at > before and self._state.pose is not None:
                return
            self._clock.wait(self.changed, left)
        raise silent_topics(self._target, self._own, FIRST_S)

    def _hear(self, operation: Json) -> None:
        kind = as_text(operation.get("op"))
        if kind == "publish":
            self._state.hear(as_text(operation.get("topic")), as_object(operation.get("msg")))
        elif kind == "action_result":
            self._hear_result(operation)
        elif kind == "service_response":
            self._hear_cancelled(operation)
        elif kind == "status" and operation.get("level") == "error" and self._mine(operation):
            self._fail("ORDER_REJECTED", coded("vehicle.rejected", why=as_text(operation.get("msg"))[:300]), True)
        elif kind == "closed":
            self._orphaned = True
            self._fail("CONNECTION_LOST", coded("vehicle.link_down", address=self._own.url))
        self.changed.set()

    def _hear_result(self, operation: Json) -> None:
        status, values = goal_result(operation)
        with self._lock:
            if operation.get("id") == self._unended and (status in ENDED or operation.get("result") is not True):
                self._end_goal()
        if not self._mine(operation):
            return
        why = as_text(values.get("error_msg")) or as_text(operation.get("values")) or f"GoalStatus {status}"
        if operation.get("result") is not True:
            self._fail("ORDER_REJECTED", coded("vehicle.rejected", why=why[:300]), True)
        elif status is None:
            found = json.dumps(operation.get("values"))[:200]
            self._fail("VEHICLE_FAULT", coded("vehicle.result_without_status", found=found))
        elif status == CANCELLED:
            self._fail("ORDER_ENDED", coded("vehicle.goal_cancelled"))
        elif status != SUCCEEDED or values.get("error_code"):
            self._fail("VEHICLE_FAULT", coded("vehicle.fatal", why=why[:300]), True)
        else:
            with self._lock:
                if not self._drive.code:
                    self._drive = DriveState(self._clock.monotonic())

    def _hear_cancelled(self, operation: Json) -> None:
        """The action server takes the cancellation of all its goals. The result of a goal whose connection was lost is
        told to nobody: this is what is known of its end."""
        taken = as_object(operation.get("values")).get("return_code") == 0 and operation.get("result") is True
        if operation.get("service") == f"{self._own.action}/_action/cancel_goal" and taken:
            with self._lock:
                if self._orphaned:
                    self._end_goal()
                    self._orphaned = False

    def _end_goal(self) -> None:
        self._unended = ""
        self._memory.note(UNENDED, None)

    def _mine(self, operation: Json) -> bool:
        return bool(self._goal) and operation.get("id") == self._goal

    def _fail(self, code: str, message: str, repeatable: bool = False) -> None:
        with self._lock:
            if self._goal and not self._drive.code and self._drive.finished_at is None:
                self._drive = DriveState(None, code, message, repeatable)


def goal_result(operation: Json) -> tuple[int | None, Json]:
    """The GoalStatus and the values of an `action_result`; None: it has no status.

    A rosbridge_server of 2023 gives the whole answer of the action as `values`: {"status": …, "result": {…}}.
    """
    values, status = as_object(operation.get("values")), operation.get("status")
    if type(status) is not int and type(values.get("status")) is int:
        status, values = values["status"], as_object(values.get("result"))
    return (status if type(status) is int else None), values
