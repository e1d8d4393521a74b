"""A vehicle that speaks VDA 5050 over a real broker, and every way in which one may lie, forget or break."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import paho.mqtt.client as mqtt

MAKER, SERIAL = "acme", "amr-7"
STEP_S = 0.02
DRIVES_ON_M_S = 0.3


class Agv:
    """It drives straight from node to node at `speed`. `faults`: names of what it does wrong (see `_faulty`)."""

    def __init__(
        self, port: int, *faults: str, at: tuple[float, float, float] = (0, 0, 0), speed: float = 4,
        clock_off_h: float = 0.0, battery: float = 80.0, username: str = "", password: str = "", serial: str = SERIAL,
    ) -> None:  # fmt: skip
        self.serial = serial
        self.port, self.faults, self.speed, self.battery = port, set(faults), speed, battery
        self.off, self.credentials = timedelta(hours=clock_off_h), (username, password)
        self.clock: Callable[[], datetime] = lambda: datetime.now(UTC)
        self.x, self.y, self.theta = at
        self.orders: list[dict[str, Any]] = []  # each order message that came
        self.driven: list[str] = []  # ids of orders that it began, in their order
        self.instant: list[tuple[float, dict[str, Any]]] = []  # when, and what
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.lock = threading.RLock()
        self.over = threading.Event()
        self.headers: dict[str, int] = {}
        self.mode, self.estop, self.position_known, self.map = "AUTOMATIC", "NONE", True, "hall"
        self._forget()

    def _forget(self) -> None:
        self.order: dict[str, Any] = {"orderId": "", "orderUpdateId": 0}
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, Any]] = []
        self.last_node, self.last_sequence = "", 0
        self.actions: dict[str, dict[str, Any]] = {}
        self.errors: list[dict[str, Any]] = []
        self.paused = self.driving = self.mute = False

    def topic(self, name: str) -> str:
        return f"uagv/v2/{MAKER}/{self.serial}/{name}"

    # -- its life ----------------------------------------------------------------------------------------------------

    def __enter__(self) -> Agv:
        self.start()
        return self

    def __exit__(self, *about: object) -> None:
        self.stop()

    def start(self) -> None:
        self.over = threading.Event()
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, f"agv-{id(self)}-{time.monotonic_ns()}")
        if self.credentials[0]:
            self.client.username_pw_set(*self.credentials)
        self.client.will_set(
            self.topic("connection"), self._json("connection", connectionState="CONNECTIONBROKEN"), 1, True
        )
        ready = threading.Event()

        def up(*about: object) -> None:
            self.client.subscribe([(self.topic("order"), 0), (self.topic("instantActions"), 0)])

        self.client.on_connect = up
        self.client.on_subscribe = lambda *about: ready.set()
        self.client.on_message = self._heard
        self.client.connect("127.0.0.1", self.port)
        self.client.loop_start()
        assert ready.wait(60)
        self.publish("connection", retain=True, connectionState="ONLINE")
        self.publish("factsheet", retain=True, **FACTSHEET)
        self.publish("state", **self.state())
        self.thread = threading.Thread(target=self._live, daemon=True)
        self.thread.start()

    def stop(self, *, crash: bool = False) -> None:
        self.over.set()
        self.thread.join(60)
        if crash:  # the connection ends without a word: the broker publishes its last will
            self.client._sock_close()
        else:
            self.publish("connection", retain=True, connectionState="OFFLINE")
            self.client.disconnect()
        self.client.loop_stop()

    def restart(self) -> None:
        """Power off and on: it knows where it is, and no order."""
        self.stop(crash=True)
        self._forget()
        self.headers.clear()
        self.start()

    # -- what it says ------------------------------------------------------------------------------------------------

    def _json(self, topic: str, **body: Any) -> bytes:
        number = self.headers[topic] = (self.headers.get(topic, -1) + 1) % 2**32
        now = (self.clock() + self.off).isoformat(timespec="microseconds").replace("+00:00", "Z")
        found = {
            "headerId": number,
            "timestamp": now,
            "version": "2.0.0",
            "manufacturer": MAKER,
            "serialNumber": self.serial,
        }
        return json.dumps(found | body).encode()

    def publish(self, topic: str, retain: bool = False, **body: Any) -> None:
        with self.lock:
            if "cut off" in self.faults:  # mute and deaf: it drives on
                return
            data = self._json(topic, **body)
            self.sent.append((topic, json.loads(data)))
            self.client.publish(self.topic(topic), data, 1 if topic == "connection" else 0, retain)

    def position(self) -> dict[str, Any]:
        x, y = self.x, self.y
        return {"x": x, "y": y, "theta": self.theta, "mapId": self.map, "positionInitialized": self.position_known}

    def told(self) -> dict[str, Any]:
        """Its position as it tells that in a state."""
        position = self.position()
        if "tells no x" in self.faults:
            position["x"] = math.nan
        return {} if "tells no position" in self.faults else {"agvPosition": position}

    def state(self) -> dict[str, Any]:
        node = [{key: item[key] for key in ("nodeId", "sequenceId", "released")} for item in self.nodes]
        edge = [{key: item[key] for key in ("edgeId", "sequenceId", "released")} for item in self.edges]
        return {
            "orderId": self.order["orderId"], "orderUpdateId": self.order["orderUpdateId"],
            "lastNodeId": self.last_node, "lastNodeSequenceId": self.last_sequence,
            "nodeStates": node, "edgeStates": edge, "driving": self.driving,
            "paused": self.paused, "newBaseRequest": bool(self.nodes) and not self.nodes[0]["released"],
            **self.told(), "velocity": {"vx": self.speed * self.driving, "vy": 0.0, "omega": 0.0},
            "actionStates": list(self.actions.values()), "operatingMode": self.mode, "errors": self.errors,
            "batteryState": {"batteryCharge": self.battery, "charging": False}, "loads": [], "information": [],
            "safetyState": {"eStop": self.estop, "fieldViolation": False},
        }  # fmt: skip

    # -- what it hears -----------------------------------------------------------------------------------------------

    def _heard(self, client: object, data: object, message: Any) -> None:
        found = json.loads(message.payload)
        with self.lock:
            if "cut off" in self.faults:
                return
            if message.topic.endswith("/order"):
                self.orders.append(found)
                self._take(found)
            else:
                self.instant.append((time.monotonic(), found))
                for action in found["actions"]:
                    self._instant(action)
            if not self.mute:
                self.publish("state", **self.state())

    def _take(self, order: dict[str, Any]) -> None:
        if "deaf" in self.faults or ("misses one" in self.faults and len(self.orders) == 1):
            return
        refer = [{"referenceKey": "orderId", "referenceValue": order["orderId"]}]
        if "rejects" in self.faults:
            self.errors = [{"errorType": "noRouteError", "errorLevel": "WARNING", "errorDescription": "no way there",
                            "errorReferences": refer}]  # fmt: skip
            return
        if order["orderId"] == self.order["orderId"]:
            if order["orderUpdateId"] <= self.order["orderUpdateId"]:
                return  # it has this one already (VDA 5050, order update)
            base = order["nodes"][0]["sequenceId"]
            self.nodes = [item for item in self.nodes if item["sequenceId"] < base and item["released"]]
            self.edges = [item for item in self.edges if item["sequenceId"] < base and item["released"]]
            self.nodes += [item for item in order["nodes"] if item["sequenceId"] > self.last_sequence]
            self.edges += order["edges"]
            self.order = order
            return
        if self.nodes:
            self.errors = [{"errorType": "orderUpdateError", "errorLevel": "WARNING", "errorReferences": refer}]
            return
        self.driven.append(order["orderId"])
        self.order, self.errors = order, []
        self.actions = {}
        self.nodes, self.edges = order["nodes"][1:], list(order["edges"])
        self.last_node, self.last_sequence = order["nodes"][0]["nodeId"], 0
        for node in order["nodes"]:
            for action in node["actions"]:
                self.actions[action["actionId"]] = {
                    "actionId": action["actionId"], "actionType": action["actionType"], "actionStatus": "WAITING"
                }  # fmt: skip

    def _instant(self, action: dict[str, Any]) -> None:
        kind, done = action["actionType"], "FINISHED"
        if kind == "startPause":
            self.paused, self.driving = True, False
        elif kind == "stopPause":
            self.paused = False
        elif kind == "cancelOrder":
            if "will not stop" in self.faults:
                done = "FAILED"
            elif self.nodes:
                self.nodes, self.edges, self.driving = [], [], False
            else:
                self.errors = [{"errorType": "noOrderToCancel", "errorLevel": "WARNING"}]
                done = "FAILED"
        elif kind == "factsheetRequest":
            self.publish("factsheet", retain=True, **FACTSHEET)
        self.actions[action["actionId"]] = {"actionId": action["actionId"], "actionType": kind, "actionStatus": done}

    # -- driving -----------------------------------------------------------------------------------------------------

    def _live(self) -> None:
        said = time.monotonic()
        while not self.over.wait(STEP_S):
            with self.lock:
                changed = self._step()
                if "stops reporting" in self.faults and (self.mute or (self._done() > 0.4 and self.driving)):
                    self.mute = True
                    continue
                if changed or time.monotonic() - said > 0.1:
                    said = time.monotonic()
                    self.publish("state", **self.state())
                    self._repeat()
                elif self.driving:
                    self.publish("visualization", agvPosition=self.position())

    def _repeat(self) -> None:
        """An old message once more, byte for byte."""
        states = [body for topic, body in self.sent if topic == "state"]
        if "repeats old states" in self.faults and len(states) > 8:
            for old in (states[len(states) // 2], states[1]):
                self.client.publish(self.topic("state"), json.dumps(old).encode())

    def _done(self) -> float:
        goal = self.order["nodes"][-1]["nodePosition"] if self.order.get("nodes") else {"x": self.x, "y": self.y}
        start = self.order["nodes"][0]["nodePosition"] if self.order.get("nodes") else goal
        whole = math.dist((start["x"], start["y"]), (goal["x"], goal["y"])) or 1.0
        return 1 - math.dist((self.x, self.y), (goal["x"], goal["y"])) / whole

    def _step(self) -> bool:
        stopped = any(action.get("actionType") in ("startPause", "cancelOrder") for action in self.actions.values())
        if "drives on" in self.faults and stopped and (self.paused or not self.nodes):  # and says that it stands
            self.x += DRIVES_ON_M_S * STEP_S
        if not self.nodes and "never stands" in self.faults:
            return False
        if not self.nodes or self.paused or not self.nodes[0]["released"]:
            changed, self.driving = self.driving, False
            return changed
        goal = self.nodes[0]["nodePosition"]
        if self._faulty():
            return True
        away = math.dist((self.x, self.y), (goal["x"], goal["y"]))
        step = min(away, self.speed * STEP_S)
        self.driving = True
        if away > 1e-9:
            self.x += (goal["x"] - self.x) * step / away
            self.y += (goal["y"] - self.y) * step / away
        if away - step > 1e-9:
            return False
        if "theta" in goal:
            self.theta = goal["theta"]
        self._reach()
        return True

    def _reach(self) -> None:
        node = self.nodes.pop(0)
        self.edges = self.edges[1:]
        self.last_node, self.last_sequence = node["nodeId"], node["sequenceId"]
        self.driving = "never stands" in self.faults or bool(self.nodes and self.nodes[0]["released"])
        for action in node["actions"]:
            failed = "action fails" in self.faults
            self.actions[action["actionId"]]["actionStatus"] = "FAILED" if failed else "FINISHED"

    def _claim_all(self) -> None:
        while self.nodes:
            self._reach()

    def _appear(self, place: dict[str, Any]) -> None:
        self.x, self.y = place["x"], place["y"]

    def _faulty(self) -> bool:
        """What it does instead of driving on; whether it said something new."""
        done, goal = self._done(), self.order["nodes"][-1]["nodePosition"]
        faults: dict[str, Callable[[], None]] = {
            "says it is there": self._claim_all,
            "echoes the goal": lambda: (self._appear(goal), self._claim_all())[-1],
            "on another map": lambda: (setattr(self, "map", "cellar"), self._appear(goal), self._claim_all())[-1],
            "forgets": lambda: (self._forget(), self.headers.clear())[0],
            "fatal": lambda: self.errors.append({"errorType": "motor", "errorLevel": "FATAL"}),
            "loses itself": lambda: (setattr(self, "position_known", False), self._claim_all())[-1],
            "another order": lambda: self.order.__setitem__("orderId", "of-another-master"),
            "ends early": lambda: (self.nodes.clear(), self.edges.clear(), setattr(self, "driving", False))[0],
            "emergency stop": lambda: setattr(self, "estop", "MANUAL"),
        }  # fmt: skip
        for name, act in faults.items():
            if name in self.faults and done > 0.4:
                self.faults.discard(name)
                act()
                return True
        return False


FACTSHEET: dict[str, Any] = {
    "typeSpecification": {"seriesName": "carrier", "agvKinematic": "DIFF", "agvClass": "CARRIER", "maxLoadMass": 100,
                          "localizationTypes": ["NATURAL"], "navigationTypes": ["AUTONOMOUS"]},
    "physicalParameters": {"speedMin": 0.1, "speedMax": 5.0, "accelerationMax": 1, "decelerationMax": 1,
                           "heightMax": 1.0, "width": 0.6, "length": 1.0},
    "protocolLimits": {"maxStringLens": {}, "maxArrayLens": {},
                       "timing": {"minOrderInterval": 0.1, "minStateInterval": 0.1}},
    "protocolFeatures": {"optionalParameters": [], "agvActions": [
        {"actionType": kind, "actionScopes": ["INSTANT"]}
        for kind in ("startPause", "stopPause", "cancelOrder", "stateRequest", "factsheetRequest")]},
    "agvGeometry": {}, "loadSpecification": {},
}  # fmt: skip
