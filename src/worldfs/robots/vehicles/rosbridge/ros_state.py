"""What a ROS 2 robot's topics say of it: odometry, its pose on the map, its battery."""

from __future__ import annotations

import math
import threading
from typing import Final

from worldfs.base.clock import Clock
from worldfs.base.driver_memory import DriverMemory
from worldfs.base.json_values import as_float, as_object, as_text
from worldfs.base.model import Json

from ..standing_reports import StandingReports
from ..vehicle_interface import Pose
from .rosbridge_settings import RosbridgeSettings

STILL_M_S, STILL_RAD_S = 0.02, 0.05  # slower than this it stands
APART_S: Final = 0.2  # between two odometries that are compared
OVERTAKEN_S: Final = 10.0  # an odometry that is so much older was overtaken; an older one is of a clock that began anew
ODOMETRY: Final = "nav_msgs/msg/Odometry"
POSE: Final = "geometry_msgs/msg/PoseWithCovarianceStamped"
FARTHEST: Final = 1e6  # m, m/s, rad/s: no base is there, nor as fast; also no number is
BATTERY: Final = "sensor_msgs/msg/BatteryState"


class RosState:
    """Fed by one thread, read by others. The pose on the map is kept between two of its messages by odometry."""

    def __init__(self, clock: Clock, settings: RosbridgeSettings, memory: DriverMemory) -> None:
        self._clock, self._settings = clock, settings
        self._lock = threading.Lock()
        self.at = 0.0  # when the last odometry arrived
        self.stamp = 0.0  # when it was made, by the robot's clock
        self.velocity: Pose | None = None  # m/s, m/s, rad/s in its own frame
        self.battery: float | None = None  # percent
        self._odometry: Pose | None = None
        self._earlier: tuple[float, Pose] | None = None  # when it arrived; the next ones are compared with it
        self._travels = False  # by where two odometries have it, whatever their twist says
        self._standing = StandingReports(memory)
        self._anchor: tuple[Pose, Pose] | None = None  # a pose on the map, and the odometry of that moment

    def subscriptions(self) -> list[Json]:
        named = ((self._settings.odometry, ODOMETRY), (self._settings.pose, POSE), (self._settings.battery, BATTERY))
        return [{"op": "subscribe", "topic": topic, "type": kind} for topic, kind in named if topic]

    def hear(self, topic: str, message: Json) -> bool:
        """Whether the message was one of these topics, and could be read."""
        with self._lock:
            if topic == self._settings.odometry:
                return self._hear_odometry(message)
            if topic == self._settings.pose:
                pose = _pose(as_object(as_object(message.get("pose")).get("pose")))
                if pose is None or as_text(as_object(message.get("header")).get("frame_id")) != self._settings.frame:
                    return False
                self._anchor = (pose, self._odometry or (0.0, 0.0, 0.0))
                return True
            if topic == self._settings.battery:
                share = message.get("percentage")
                if isinstance(share, int | float) and abs(share) <= FARTHEST:
                    self.battery = round(100 * share, 1)  # sensor_msgs/BatteryState: 0 to 1
                return True
            return False

    @property
    def pose(self) -> Pose | None:
        """On the map; of odometry's own frame where no topic says where it is on a map."""
        with self._lock:
            if not self._settings.pose:
                return self._odometry
            if self._anchor is None or self._odometry is None:
                return None
            (x, y, yaw), (ox, oy, oyaw) = self._anchor
            dx, dy = self._odometry[0] - ox, self._odometry[1] - oy
            turn = yaw - oyaw
            return (
                x + dx * math.cos(turn) - dy * math.sin(turn), y + dx * math.sin(turn) + dy * math.cos(turn),
                math.remainder(self._odometry[2] + turn, 2 * math.pi),
            )  # fmt: skip

    @property
    def still(self) -> bool:
        return self._slow and not self._travels

    def stands(self, since: float) -> bool:
        """By odometry that arrived after `since`: by its twist, and by where it has the robot for half a second."""
        with self._lock:
            return self.still and self._standing.stands(since)

    @property
    def _slow(self) -> bool:
        velocity = self.velocity
        return velocity is not None and math.hypot(*velocity[:2]) < STILL_M_S and abs(velocity[2]) < STILL_RAD_S

    def _hear_odometry(self, message: Json) -> bool:
        pose = _pose(as_object(as_object(message.get("pose")).get("pose")))
        twist = as_object(as_object(message.get("twist")).get("twist"))
        linear, angular = as_object(twist.get("linear")), as_object(twist.get("angular"))
        velocity = _finite(linear.get("x"), linear.get("y"), angular.get("z"))
        stamp = as_object(as_object(message.get("header")).get("stamp"))
        made, now = as_float(stamp.get("sec")) + as_float(stamp.get("nanosec")) / 1e9, self._clock.monotonic()
        if pose is None or velocity is None:
            self._standing.hear(now, None, slow=True)
            return False
        if 0 < self.stamp - made < OVERTAKEN_S:
            return False
        if self._earlier is None:
            self._earlier = (now, pose)
        elif (apart := now - self._earlier[0]) >= APART_S:
            x, y, yaw = self._earlier[1]
            turned = abs(math.remainder(pose[2] - yaw, 2 * math.pi))
            far = math.hypot(pose[0] - x, pose[1] - y)
            self._travels = far > 2 * STILL_M_S * apart or turned > 2 * STILL_RAD_S * apart
            self._earlier = (now, pose)
        self._odometry, self.velocity = pose, velocity
        self.at, self.stamp = now, made
        self._standing.hear(now, pose, slow=self._slow)
        return True


def goal_pose(x: float, y: float, yaw: float, frame: str) -> Json:
    """geometry_msgs/PoseStamped. The server fills in the time."""
    orientation = {"x": 0.0, "y": 0.0, "z": math.sin(yaw / 2), "w": math.cos(yaw / 2)}
    return {"header": {"frame_id": frame}, "pose": {"position": {"x": x, "y": y, "z": 0.0}, "orientation": orientation}}


def twist(vx: float, vy: float, wz: float, kind: str) -> Json:
    """geometry_msgs/Twist, or the stamped one."""
    bare: Json = {"linear": {"x": vx, "y": vy, "z": 0.0}, "angular": {"x": 0.0, "y": 0.0, "z": wz}}
    return {"header": {"frame_id": "base_link"}, "twist": bare} if kind.endswith("Stamped") else bare


def _pose(found: Json) -> Pose | None:
    """geometry_msgs/Pose in the plane."""
    position, turn = as_object(found.get("position")), as_object(found.get("orientation"))
    numbers = _finite(position.get("x"), position.get("y"), 0.0)
    z, w = turn.get("z"), turn.get("w")
    x, y = turn.get("x", 0.0), turn.get("y", 0.0)
    parts = [float(part) for part in (x, y, z, w) if isinstance(part, int | float) and abs(part) <= FARTHEST]
    if numbers is None or len(parts) != 4 or not any(parts):
        return None
    x, y, z, w = parts
    return (numbers[0], numbers[1], math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def _finite(*values: object) -> Pose | None:
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    found = [float(value) for value in numbers if abs(value) <= FARTHEST]
    if len(found) != 3:
        return None
    return (found[0], found[1], found[2])
