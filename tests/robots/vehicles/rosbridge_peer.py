"""A ROS 2 base with Nav2 behind rosbridge, as rosbridge's protocol document and its own source have it.

Of the real server it has what matters here: goals are known by their ids to every client and go on when their client is
gone; what is published on a topic that was not advertised is dropped with an error; no password is asked for.
"""

from __future__ import annotations

import json
import math
import threading
import time
from contextlib import suppress
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

STEP_S = 0.02
SUCCEEDED, CANCELLED, ABORTED, UNKNOWN = 4, 5, 6, 0


class Ros:
    """`faults`: names of what it does wrong. Its odometry began at another place than its map."""

    def __init__(self, *faults: str, speed: float = 1.5, at: tuple[float, float, float] = (0.0, 0.0, 0.0),
                 share: float = 0.8, clock_off_s: float = 0.0) -> None:  # fmt: skip
        self.faults, self.speed, self.share, self.off = set(faults), speed, share, clock_off_s
        self.x, self.y, self.yaw = at
        self.command = (0.0, 0.0, 0.0)  # what cmd_vel said last; it goes on for ever
        self.goal: dict[str, Any] | None = None
        self.goals: list[dict[str, Any]] = []  # each goal that came
        self.heard: list[dict[str, Any]] = []
        self.clients: dict[ServerConnection, dict[str, set[str]]] = {}
        self.lock = threading.RLock()
        self.over = threading.Event()
        self.hidden = False  # its pose is reported no more

    def __enter__(self) -> Ros:
        self.server = serve(self._client, "127.0.0.1", 0, compression=None)
        self.port = self.server.socket.getsockname()[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.thread = threading.Thread(target=self._live, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *about: object) -> None:
        self.over.set()
        self.thread.join(60)
        self.cut()
        self.server.shutdown()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    @property
    def moving(self) -> bool:
        return self.goal is not None or any(self.command)

    def cut(self) -> None:
        """Every connection ends without a word."""
        with self.lock:
            clients, self.clients = list(self.clients), {}
        for client in clients:
            client.socket.close() if self.over.is_set() else client.socket.shutdown(2)

    def ops(self, kind: str) -> list[dict[str, Any]]:
        with self.lock:
            return [item for item in self.heard if item["op"] == kind]

    # -- the server --------------------------------------------------------------------------------------------------

    def _client(self, connection: ServerConnection) -> None:
        with self.lock:
            self.clients[connection] = {"subscribe": set(), "advertise": set()}
        with suppress(ConnectionClosed):
            for message in connection:
                with self.lock:
                    found = json.loads(message)
                    self.heard.append(found)
                    self._operate(connection, found)

    def _operate(self, connection: ServerConnection, found: dict[str, Any]) -> None:
        kind, mine = found["op"], self.clients.get(connection, {"subscribe": set(), "advertise": set()})
        if kind in ("subscribe", "advertise"):
            mine[kind].add(found["topic"])
        elif kind == "publish":
            if found["topic"] not in mine["advertise"]:
                self._say(connection, op="status", level="error", msg=f"{found['topic']} is not advertised")
            elif found["topic"] == "/cmd_vel":
                linear, angular = found["msg"]["linear"], found["msg"]["angular"]
                self.command = (linear["x"], linear["y"], angular["z"])
        elif kind == "send_action_goal":
            self._take(connection, found)
        elif kind == "cancel_action_goal":
            if self.goal is not None and self.goal["id"] == found["id"]:
                self._end(CANCELLED)
        elif kind == "call_service" and found["service"] == "/navigate_to_pose/_action/cancel_goal":
            if self.goal is not None:
                self._end(CANCELLED)
            self._say(
                connection, op="service_response", service=found["service"], values={"return_code": 0}, result=True
            )

    def _take(self, connection: ServerConnection, found: dict[str, Any]) -> None:
        self.goals.append(found)
        assert found["action_type"] == "nav2_msgs/action/NavigateToPose"
        pose = found["args"]["pose"]
        goal = {"id": found["id"], "client": connection, "frame": pose["header"]["frame_id"],
                "x": pose["pose"]["position"]["x"], "y": pose["pose"]["position"]["y"],
                "yaw": 2 * math.atan2(pose["pose"]["orientation"]["z"], pose["pose"]["orientation"]["w"]),
                "from": (self.x, self.y)}  # fmt: skip
        if "refuses" in self.faults:
            self._say(connection, op="action_result", id=goal["id"], action=found["action"], values="Goal was rejected",
                      status=UNKNOWN, result=False)  # fmt: skip
            return
        self.goal = goal

    def _end(self, status: int, **values: Any) -> None:
        goal, self.goal = self.goal, None
        assert goal is not None
        self._say(goal["client"], op="action_result", id=goal["id"], action="/navigate_to_pose", values=values,
                  status=status, result=True)  # fmt: skip

    def _say(self, connection: ServerConnection, **operation: Any) -> None:
        try:
            connection.send(json.dumps(operation))
        except Exception:  # it is gone
            self.clients.pop(connection, None)

    # -- the robot ---------------------------------------------------------------------------------------------------

    def _live(self) -> None:
        count = 0
        while not self.over.wait(STEP_S):
            with self.lock:
                before = (self.x, self.y, self.yaw)
                self._step()
                moved = (math.dist(before[:2], (self.x, self.y)) / STEP_S, (self.yaw - before[2]) / STEP_S)
                if "never stands" in self.faults and self.goals and self.goal is None:
                    moved = (0.5, 0.0)
                if self.hidden:
                    continue
                self._publish("/odom", self._odometry(*moved))
                if count % 10 == 0:
                    self._publish("/amcl_pose", self._pose())
                    self._publish("/battery_state", {"percentage": self.share})
                count += 1

    def _publish(self, topic: str, message: dict[str, Any]) -> None:
        for client, has in list(self.clients.items()):
            if topic in has["subscribe"]:
                self._say(client, op="publish", topic=topic, msg=message)

    def _header(self, frame: str) -> dict[str, Any]:
        now = time.time() + self.off
        return {"frame_id": frame, "stamp": {"sec": int(now), "nanosec": int(now % 1 * 1e9)}}

    @staticmethod
    def _posed(x: float, y: float, yaw: float) -> dict[str, Any]:
        turn = {"x": 0.0, "y": 0.0, "z": math.sin(yaw / 2), "w": math.cos(yaw / 2)}
        return {"pose": {"position": {"x": x, "y": y, "z": 0.0}, "orientation": turn}, "covariance": [0.0] * 36}

    def _odometry(self, speed: float, turn: float) -> dict[str, Any]:
        # the frame of odometry is turned by a right angle, and elsewhere
        pose = self._posed(-self.y + 7.0, self.x - 3.0, self.yaw + math.pi / 2)
        twist = {"twist": {"linear": {"x": speed, "y": 0.0, "z": 0.0}, "angular": {"x": 0.0, "y": 0.0, "z": turn}}}
        return {"header": self._header("odom"), "child_frame_id": "base_link", "pose": pose, "twist": twist}

    def _pose(self) -> dict[str, Any]:
        return {"header": self._header("map"), "pose": self._posed(self.x, self.y, self.yaw)}

    def _step(self) -> None:
        vx, vy, wz = self.command
        self.yaw += wz * STEP_S
        self.x += (vx * math.cos(self.yaw) - vy * math.sin(self.yaw)) * STEP_S
        self.y += (vx * math.sin(self.yaw) + vy * math.cos(self.yaw)) * STEP_S
        goal = self.goal
        if goal is None:
            return
        away, whole = (
            math.dist((self.x, self.y), (goal["x"], goal["y"])),
            math.dist(goal["from"], (goal["x"], goal["y"])),
        )
        if away < 0.6 * whole and self._faulty(goal):
            return
        step = min(away, self.speed * STEP_S)
        if away > 1e-9:
            self.x += (goal["x"] - self.x) * step / away
            self.y += (goal["y"] - self.y) * step / away
        if away - step < 1e-9:
            self.yaw = goal["yaw"]
            self._end(SUCCEEDED)

    def _faulty(self, goal: dict[str, Any]) -> bool:
        if "says it is there" in self.faults:
            self._end(SUCCEEDED)
        elif "echoes the goal" in self.faults:
            self.x, self.y = goal["x"], goal["y"]
            self._end(SUCCEEDED)
        elif "says so with an error" in self.faults:
            self._end(SUCCEEDED, error_code=101, error_msg="no path")
        elif "gives up" in self.faults:
            self._end(ABORTED)
        elif "is cancelled by another" in self.faults:
            self._end(CANCELLED)
        elif "stops reporting" in self.faults:
            self.hidden = True
            return False
        else:
            return False
        return True
