"""One order of VDA 5050: its route, its messages, and what a state says of it. Pure."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from worldfs.base.json_values import as_object, as_objects, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json

from ..vehicle_interface import DriveGoal, DriveState, Pose

REJECTIONS: Final = frozenset(
    ("orderError", "orderUpdateError", "validationError", "noRouteError", "unsupportedParameter")
)
START_M: Final = 1.0  # how far from its first node the vehicle may stand
ON_NODE_M: Final = 0.5  # a place nearer than this is where the vehicle stands


def route(
    start: Pose, goal: DriveGoal, places: Mapping[str, DriveGoal], edges: Iterable[tuple[str, str]], near_m: float = 0.0
) -> list[DriveGoal]:
    """The places to pass, from the vehicle's own pose to the goal; over `edges` (driven both ways) where there are any.

    A goal that is told by its coordinates is the nearest place of the edges, at most `near_m` from it. Raises
    `LookupError` where the edges do not lead there.
    """
    here = DriveGoal(start[0], start[1], None, "here")
    neighbours: dict[str, set[str]] = {}
    for a, b in edges:
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)
    if not neighbours:
        return [here, goal]
    if goal.name not in neighbours:
        near = min(neighbours, key=lambda name: math.dist(places[name].at, goal.at))
        if math.dist(places[near].at, goal.at) > near_m:
            raise LookupError(goal.name)
        goal = replace(places[near], yaw=goal.yaw, actions=goal.actions)
    first = min(neighbours, key=lambda name: math.dist(places[name].at, here.at))
    queue: list[tuple[float, list[str]]] = [(0.0, [first])]
    seen: set[str] = set()
    while queue:
        far, way = heapq.heappop(queue)
        at = way[-1]
        if at == goal.name:
            passed = [places[name] for name in way[:-1]] + [goal]
            on_it = math.dist(places[first].at, here.at) <= ON_NODE_M
            return passed if on_it and len(passed) > 1 else [here, *passed]
        if at not in seen:
            seen.add(at)
            for other in sorted(neighbours[at] - seen):
                heapq.heappush(queue, (far + math.dist(places[at].at, places[other].at), [*way, other]))
    raise LookupError(goal.name)


@dataclass(slots=True)
class Vda5050Order:
    """`way[0]` is where the vehicle stands. `update` and `released` grow as more of the way is released."""

    id: str
    way: Sequence[DriveGoal]
    map: str
    tolerance: float  # m at the goal
    turn_tolerance: float  # rad
    max_speed: float | None = None
    ahead: int = 0  # edges released at a time; 0: all
    named: bool = False  # each action has a name
    update: int = 0
    base: int = 0  # the node that the last message began with
    released: int = 0  # the last node that is released
    taken: bool = False  # the vehicle has shown this order as its own

    def __post_init__(self) -> None:
        self.released = self._next_release()

    def node(self, index: int) -> str:
        place = self.way[index]
        return place.node or (f"{self.id}-{index}")

    def message(self) -> Json:
        """Nodes and edges from `base` on: as the order, and as its last update, which begins at the stitching node."""
        nodes = [self._node(index) for index in range(self.base, len(self.way))]
        edges = [self._edge(index) for index in range(self.base, len(self.way) - 1)]
        return {"orderId": self.id, "orderUpdateId": self.update, "nodes": nodes, "edges": edges}

    def due(self, reached_sequence: int) -> list[tuple[float, float]]:
        """The points of the way (x y, m) that `extend` would release next; empty: none yet, or no more."""
        if self.released == len(self.way) - 1 or reached_sequence < 2 * (self.released - 1):
            return []
        return [place.at for place in self.way[self.released : self._next_release() + 1]]

    def extend(self, reached_sequence: int) -> bool:
        """Release more, once the vehicle enters the last edge that is released: whether there is a new update."""
        if not self.due(reached_sequence):
            return False
        self.base, self.update = self.released, self.update + 1
        self.released = self._next_release()
        return True

    def judge(self, state: Json, now: float) -> DriveState:
        """What a state that is newer than the order says of it. `now`: when the state arrived."""
        if as_text(state.get("orderId")) != self.id:
            return self._other(state)
        if rejected := self._rejection(state):
            return DriveState(None, "ORDER_REJECTED", coded("vehicle.rejected", why=rejected), not self.taken)
        update = state.get("orderUpdateId")
        self.taken = self.taken or isinstance(update, int)
        if fault := fatal(state):
            return DriveState(None, "VEHICLE_FAULT", coded("vehicle.fatal", why=fault))
        actions = as_objects(state.get("actionStates"))
        if failed := [item for item in actions if item.get("actionStatus") == "FAILED" and self._mine(item)]:
            why = as_text(failed[0].get("resultDescription")) or as_text(failed[0].get("actionType"))
            return DriveState(None, "ACTION_FAILED", coded("vehicle.action_failed", why=why))
        if update != self.update or state.get("nodeStates") or state.get("edgeStates"):
            return DriveState()
        last, goal = as_text(state.get("lastNodeId")), len(self.way) - 1
        if (last, state.get("lastNodeSequenceId")) != (self.node(goal), 2 * goal):
            early = coded("vehicle.ended_early", node=last or coded("common.none"))
            return DriveState() if state.get("driving") else DriveState(None, "ORDER_ENDED", early)
        ended = {as_text(item.get("actionId")) for item in actions if item.get("actionStatus") == "FINISHED"}
        return DriveState(now) if ended >= {item["actionId"] for item in self._actions(goal)} else DriveState()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _other(self, state: Json) -> DriveState:
        """The vehicle shows another order, or none."""
        if rejected := self._rejection(state):
            return DriveState(None, "ORDER_REJECTED", coded("vehicle.rejected", why=rejected), not self.taken)
        if not self.taken:
            return DriveState()  # it has not taken this one in yet
        other = as_text(state.get("orderId"))
        if not other:
            return DriveState(None, "ORDER_FORGOTTEN", coded("vehicle.forgotten"))
        return DriveState(None, "ORDER_REPLACED", coded("vehicle.replaced", order=other), foreign=True)

    def _rejection(self, state: Json) -> str:
        """The vehicle's words for refusing this order: an error of an order's kind that refers to it."""
        for error in as_objects(state.get("errors")):
            refers = {as_text(item.get("referenceKey")): as_text(item.get("referenceValue"))
                      for item in as_objects(error.get("errorReferences"))}  # fmt: skip
            if refers.get("orderId") == self.id and (as_text(error.get("errorType")) in REJECTIONS or not self.taken):
                return error_text(error)
        return ""

    def _next_release(self) -> int:
        last = len(self.way) - 1
        return min(last, self.released + self.ahead) if self.ahead else last

    def _mine(self, action: Json) -> bool:
        return as_text(action.get("actionId")).startswith(f"{self.id}-")

    def _actions(self, index: int) -> list[Json]:
        if index != len(self.way) - 1:
            return []
        usual: Json = {"blockingType": "HARD", "actionParameters": []}
        return [
            usual
            | ({"actionName": action.get("actionType")} if self.named else {})
            | dict(action)
            | {"actionId": f"{self.id}-action-{number}"}
            for number, action in enumerate(self.way[index].actions)
        ]

    def _node(self, index: int) -> Json:
        place, goal = self.way[index], index == len(self.way) - 1
        position: Json = {"x": place.x, "y": place.y, "mapId": self.map}
        if goal:
            position["allowedDeviationXY"] = self.tolerance
            if place.yaw is not None:
                position |= {"theta": wrapped(place.yaw), "allowedDeviationTheta": min(self.turn_tolerance, math.pi)}
        else:
            position["allowedDeviationXY"] = START_M
        return {
            "nodeId": self.node(index), "sequenceId": 2 * index, "released": index <= self.released,
            "nodePosition": position, "actions": self._actions(index),
        }  # fmt: skip

    def _edge(self, index: int) -> Json:
        start, end = self.node(index), self.node(index + 1)
        edge: Json = {
            "edgeId": f"{start}_{end}", "sequenceId": 2 * index + 1, "released": index + 1 <= self.released,
            "startNodeId": start, "endNodeId": end, "actions": [],
        }  # fmt: skip
        return edge | ({"maxSpeed": self.max_speed} if self.max_speed is not None else {})


def fatal(state: Json) -> str:
    """The vehicle's words for an error that it cannot go on with, or for a pressed emergency stop."""
    for error in as_objects(state.get("errors")):
        if error.get("errorLevel") == "FATAL":
            return error_text(error)
    stop = as_text(as_object(state.get("safetyState")).get("eStop"))
    return coded("vehicle.emergency_stop", kind=stop) if stop not in ("", "NONE") else ""


def refusal(state: Json) -> str:
    """Why the vehicle can be given no order now."""
    if why := fatal(state):
        return why
    mode = as_text(state.get("operatingMode"))
    if mode not in ("", "AUTOMATIC", "SEMIAUTOMATIC"):
        return coded("vehicle.mode", mode=mode)
    if state.get("paused") is True:
        return coded("vehicle.paused")
    if active(state):
        return coded("vehicle.busy", order=as_text(state.get("orderId")))
    return ""


def active(state: Json) -> bool:
    """Whether the vehicle has an order that it has not finished."""
    return bool(state.get("nodeStates") or state.get("edgeStates"))


def error_text(error: Json) -> str:
    words = (as_text(error.get("errorType")), as_text(error.get("errorDescription")))
    return ": ".join(word for word in words if word)[:300]


def wrapped(angle: float) -> float:
    """The same direction within −π … π."""
    return math.remainder(angle, 2 * math.pi)
