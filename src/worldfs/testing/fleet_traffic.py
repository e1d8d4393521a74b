"""Cases of traffic, each carried out by the missions of a world that serves: its kernel, orchestrator and files."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from worldfs.base.driver import PluginContext
from worldfs.base.json_values import as_object, as_objects
from worldfs.base.messages import render
from worldfs.base.model import Json
from worldfs.fleet.orchestrator_loop import Orchestrator
from worldfs.formats import config
from worldfs.world.world import World

from .traffic_floor import FloorBody, FloorBodyWithWay, FloorViolation, Point, TrafficFloor
from .waiting import until

LENGTH: Final = 6.0  # m, of the lane
DOCK_X, ROAD_X, BAY_X = 2.2, 0.9, 3.6  # m: docks, roads and passing places are this far from the ends of the lane
OPEN: Final = ("queued", "running", "paused")


class TrafficCase:
    """One world on one floor, with a mission for each robot. `deadlock`: those that cannot go on."""

    def __init__(
        self, place: Path, floor: TrafficFloor, profile: str, page: Json, texts: Sequence[tuple[str, str]]
    ) -> None:
        self.floor, self.texts = floor, texts
        self.missions: list[Json] = []
        self.log: list[str] = []
        instances = [{"robotId": id, "driver": "floor", "profileName": profile} for id in floor.starts]
        settings = config.read(json.dumps({"embodiments": {"mode": "single", "instances": instances}}).encode())
        place.mkdir(parents=True, exist_ok=True)
        (place / "ENVIRONMENT.md").write_text(json.dumps(page))
        self.world = World.open(place, config=settings, serve=True, drivers={"floor": self._body})

    def run(self, language: str = "en") -> None:
        """Until every mission has ended, or none can go on."""
        stop, operator = threading.Event(), self.world.namespace("operator")
        for robot, text in self.texts:
            operator.write("/projects/main/mission", json.dumps({"text": text, "robot": robot}).encode())
        kernel = threading.Thread(target=self.world.run, kwargs={"stop": stop})
        kernel.start()
        try:
            assert self.world.orchestration is not None
            loop = self.world.orchestration.loop
            while until(lambda: self._settled(loop)) and self.floor.going:
                self.floor.go_on()
            said = json.loads(operator.read("/projects/main/missions.json").data)
            self.missions = as_objects(as_object(said).get("missions"))
            self.log = [render(text, language) for _, text in loop.missions.log]
        finally:
            stop.set()
            self.world.wake()
            kernel.join()
            self.world.close()

    @property
    def deadlock(self) -> list[str]:
        return [str(mission["text"]) for mission in self.missions if mission["state"] in OPEN]

    @property
    def failed(self) -> list[str]:
        return [f"{m['text']}: {m['reason']}" for m in self.missions if m["state"] not in (*OPEN, "succeeded")]

    def judge(self) -> list[FloorViolation]:
        return self.floor.judge()

    def _body(self, context: PluginContext) -> FloorBody:
        return (FloorBody if self.floor.silent else FloorBodyWithWay)(self.floor, context.robot_id)

    def _settled(self, loop: Orchestrator) -> bool:
        """Every mission that has a robot moves or waits; the others wait for a robot that has one."""
        with loop._lock:
            graph, moving = loop.reservations.table.waits_for(), set(self.floor.going)
            missions = list(loop.open.values())
            busy = {m.status.robot: m.id for m in missions if m.status.state.value == "running"}
            if (
                loop._ends
                or loop._asked
                or loop.seeks_room
                or any(robot not in moving and id not in graph for robot, id in busy.items())
            ):
                return False
            queued = [mission.order.robot for mission in missions if mission.status.state.value == "queued"]
            unread = set(self.world.missions.open_ids()) - set(loop.open)
            return not unread and all(robot in busy for robot in queued)


def in_the_way(place: Path, *, bays: bool = True) -> TrafficCase:
    """A vehicle stands idle at the dock to which another one is sent through the lane."""
    floor = TrafficFloor({"cart_1": (-DOCK_X, 1.0), "cart_2": (LENGTH + DOCK_X, 1.0)}, road=road)
    texts = [("cart_1", f"go to ({LENGTH + DOCK_X}, 1.0)")]
    return TrafficCase(place, floor, "wheeled_carrier", _page(floor) | {"map": _map(bays=bays)}, texts)


def passed_by(place: Path, *, bays: bool = True) -> TrafficCase:
    """A vehicle stands idle on the straight way of another one, which cannot say its way."""
    floor = TrafficFloor({"cart_1": (-8.9, 1.0), "cart_2": (6.0, 0.95)}, silent=True)
    zones = [{"name": "bay", "pose": [6.0, 4.0], "passing": bays}]
    return TrafficCase(
        place, floor, "wheeled_carrier", _page(floor) | {"map": {"zones": zones}}, [("cart_1", "go to (12, 1)")]
    )


def road(start: Point, end: Point) -> list[Point]:
    """From dock to dock: over the road along the docks and, to the other side, through the lane."""
    if start == end:
        return [start, end]
    one, other = (-ROAD_X if x < LENGTH / 2 else LENGTH + ROAD_X for x in (start[0], end[0]))
    middle = [] if one == other else [(one, 0.0), (other, 0.0)]
    return [start, (one, start[1]), *middle, (other, end[1]), end]


def head_on(place: Path, seed: int, *, bays: bool = True) -> TrafficCase:
    """Vehicles on both sides of one lane, two of which meet; some are sent to docks where others stand."""
    rng = random.Random(f"head-on {seed}")  # noqa: S311 - the same cases at every run
    rows = [-1.0, 1.0, -2.4, 2.4][: rng.randint(2, 4)]
    left, right = [(-DOCK_X, y) for y in rows], [(LENGTH + DOCK_X, y) for y in rows]
    count = rng.randint(2, 4)

    def pick(first: Sequence[Point], second: Sequence[Point]) -> list[Point]:
        found = [rng.choice(first), rng.choice(second)]
        return found + rng.sample([dock for dock in left + right if dock not in found], count - 2)

    starts = pick(left, right)
    goals = starts[1:] + starts[:1] if rng.random() < 0.4 else pick(right, left)
    ids = [f"cart_{n}" for n in range(1, count + 1)]
    floor = TrafficFloor(dict(zip(ids, starts, strict=True)), road=road)
    texts = [(id, f"go to ({x}, {y})") for id, (x, y) in zip(ids, goals, strict=True)]
    return TrafficCase(place, floor, "wheeled_carrier", _page(floor) | {"map": _map(bays=bays)}, texts)


def _map(*, bays: bool) -> Json:
    zones = [{"name": f"bay_{n}", "pose": [x, 0.0], "passing": bays} for n, x in enumerate((-BAY_X, LENGTH + BAY_X), 1)]
    return {"lanes": [{"name": "aisle", "from": [0.0, 0.0], "to": [LENGTH, 0.0], "width": 1.0}], "zones": zones}


BASES: Final = ((0.0, 0.0), (0.9, 0.0), (0.45, 0.42))
BOXES: Final = {"white_box": (0.45, -0.28), "black_box": (0.45, 0.25)}
SPOTS: Final = [(0.15, -0.02), (0.3, -0.02), (0.6, -0.02), (0.75, -0.02)]


def shared_objects(place: Path, seed: int) -> TrafficCase:
    """Arms at one table; each is to put cubes into a box that others are to put there, too, or elsewhere."""
    rng = random.Random(f"shared objects {seed}")  # noqa: S311 - the same cases at every run
    arms = {f"arm_{n}": at for n, at in enumerate(BASES[: rng.randint(2, 3)], 1)}
    cubes = [f"{colour}_cube" for colour in ("red", "blue", "green", "yellow")[: rng.randint(2, 4)]]
    things = dict(zip(cubes, rng.sample(SPOTS, len(cubes)), strict=True))
    shared = rng.choice(cubes)
    texts = []
    for id in arms:
        wanted = {shared, *rng.sample(cubes, rng.randint(0, min(2, len(cubes))))}
        names = " and ".join(f"the {cube.replace('_', ' ')}" for cube in sorted(wanted))
        texts.append((id, f"put {names} into the {rng.choice(sorted(BOXES)).replace('_', ' ')}"))
    floor = TrafficFloor(arms, frozenset(arms), things, dict(BOXES))
    return TrafficCase(place, floor, "franka_panda", _page(floor), texts)


def _page(floor: TrafficFloor) -> Json:
    robots = [{"robot_id": id, "pose": [*at, 0.0]} for id, at in floor.starts.items()]
    return {"schema_version": "v2.0", "robots": robots, "objects": []}
