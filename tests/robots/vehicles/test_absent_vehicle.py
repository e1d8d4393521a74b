"""A vehicle or a broker that is away when the kernel starts is taken up as soon as it is there, and stopped then."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("paho.mqtt.client", reason="the extra vda5050")

from worldfs.base.json_values import as_objects
from worldfs.fleet.mission import MissionOrder, MissionStatus
from worldfs.formats import environment
from worldfs.formats.config import Config, Instance
from worldfs.runtime.stop_log import StopLog
from worldfs.testing.waiting import until
from worldfs.world.status_report import status_report
from worldfs.world.world import World

from .conftest import ME, TRUSTED, lab, settings
from .vda5050_peer import Agv

OTHER = "amr_002"


class Served:
    """Two vehicles of a workspace that serves; `two` is somewhere else and there, `one` is not there yet."""

    def __init__(self, world: World, two: Agv) -> None:
        self.world, self.two = world, two

    def add(self, id: str, text: str, robot: str) -> None:
        assert self.world.missions.add(MissionOrder(id, text, robot=robot))

    def mission(self, id: str) -> MissionStatus:
        return self.world.missions.load(id).status

    def state(self, robot: str = ME) -> str:
        return next(str(one["state"]) for one in as_objects(status_report(self.world)["nodes"]) if one["id"] == robot)

    def alerts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.world.content(".paos/alerts.json") or b"{}")
        return found

    def at(self, robot: str = ME) -> tuple[float, ...]:
        found = environment.read(self.world.content("ENVIRONMENT.md")).scene.robot(robot)
        return tuple(found.pose[:2]) if found is not None else ()


@contextmanager
def serving(
    root: Path,
    port: int,
    at: tuple[float, ...] = (),
    *,
    more: Any = (),
    zones: Any = (),
    rules: Config = TRUSTED,
    **config: Any,
) -> Iterator[Served]:
    """`at`: where ENVIRONMENT.md has the absent one from before. `more`: further robots that it has. `rules`: when
    they ask. `config`: of both vehicles."""
    lab(root, {})
    adapter = {"class": "RealRobotTargetAdapter", "driver": "vda5050"}
    serials = {ME: "amr-7", OTHER: "amr-8"}
    targets = [
        {"id": id, "type": "real_robot", "adapter": adapter, "config": settings(port, serial=serial, **config)}
        for id, serial in serials.items()
    ]
    (root / "TARGETS.md").write_text(json.dumps({"targets": targets}))
    known = {"pose": [*at, 0.0, 0.0, 0.0, 0.0]} if at else {}
    robots = [{"robot_id": ME, **known}, {"robot_id": OTHER}, *more]
    page = {"schema_version": "v2.0", "robots": robots, "objects": [], "map": {"zones": [*zones]}}
    (root / "ENVIRONMENT.md").write_text(json.dumps(page))
    both = rules._replace(instances=tuple(Instance(id, "vda5050") for id in serials))
    stop = threading.Event()
    with Agv(port, serial="amr-8", at=(0, 8, 0), speed=4) as two, World.open(root, config=both, serve=True) as world:
        thread = threading.Thread(target=world.run, kwargs={"stop": stop})
        thread.start()
        try:
            yield Served(world, two)
        finally:
            stop.set()
            world.wake()
            thread.join()


def test_a_vehicle_that_is_switched_on_later_is_seen_and_its_place_is_taken(tmp_path: Path, broker: Any) -> None:
    with serving(tmp_path / "lab", broker.port) as served:
        until(lambda: f"reach {ME}" in served.alerts())
        assert served.state() == "unreachable" and served.state(OTHER) == "idle"
        with Agv(broker.port, at=(5, 0, 0)):
            until(lambda: served.at() == (5.0, 0.0))
            until(lambda: f"reach {ME}" not in served.alerts() and served.state() == "idle")
            served.add("m1", "go to (5, 0)", OTHER)
            until(lambda: served.mission("m1").waits)
            assert ME in served.mission("m1").waits and served.two.driven == []


def test_where_an_absent_vehicle_was_last_no_other_is_sent(tmp_path: Path, broker: Any) -> None:
    with serving(tmp_path / "lab", broker.port, at=(5.0, 0.0)) as served:
        until(lambda: f"reach {ME}" in served.alerts())
        served.add("m1", "go to (5, 0)", OTHER)
        until(lambda: served.mission("m1").waits)
        assert served.two.driven == []


def test_a_mission_waits_for_a_broker_that_is_away(tmp_path: Path, broker_of: Any) -> None:
    broker = broker_of()
    broker.stop()
    root = tmp_path / "lab"
    lab(root, settings(broker.port))
    config = TRUSTED
    stop = threading.Event()
    with World.open(root, config=config, serve=True) as world:
        thread = threading.Thread(target=world.run, kwargs={"stop": stop})
        assert world.missions.add(MissionOrder("m1", "go to (2, 0)", robot=ME))
        thread.start()
        try:
            until(lambda: f"reach {ME}" in json.loads(world.content(".paos/alerts.json") or b"{}"))
            assert world.missions.load("m1").status.state.value == "queued"
            until(lambda: "not reachable" in world.content("ORCHESTRATOR.md").decode())
            broker.start()
            with Agv(broker.port):
                until(lambda: world.missions.load("m1").status.state.value == "succeeded")
        finally:
            stop.set()
            world.wake()
            thread.join()


@pytest.mark.slice(2)
@pytest.mark.parametrize("broker_is_there", [True, False])
def test_a_stop_reaches_a_vehicle_that_was_away_when_it_was_given(
    tmp_path: Path, broker_of: Any, broker_is_there: bool
) -> None:
    broker = broker_of()
    if not broker_is_there:
        broker.stop()
    stop = threading.Event()
    with World.open(lab(tmp_path / "lab", settings(broker.port)), config=TRUSTED, serve=True) as world:
        thread = threading.Thread(target=world.run, kwargs={"stop": stop})
        thread.start()
        try:
            StopLog(world.store, world.clock).stop([ME], "operator")
            until(lambda: "stop NOT delivered" in (world.content(".paos/alerts.json") or b"").decode())
            if not broker_is_there:
                broker.start()
            with Agv(broker.port, speed=0.0) as agv:
                until(lambda: any(one["actionType"] == "cancelOrder" for _, m in agv.instant for one in m["actions"]))
                until(lambda: world.stops.state(ME).confirmed)
        finally:
            stop.set()
            world.wake()
            thread.join()


@pytest.mark.proof
def test_an_order_of_ours_is_cancelled_on_a_vehicle_that_comes_later(tmp_path: Path, broker_of: Any) -> None:
    broker = broker_of()
    broker.stop()
    with World.open(lab(tmp_path / "lab", settings(broker.port)), config=TRUSTED, serve=True) as world:
        broker.start()
        with Agv(broker.port, speed=0.001) as agv:
            with agv.lock:  # of a kernel that was killed while the broker was off
                node = {"nodeId": "n", "sequenceId": 2, "released": True, "nodePosition": {"x": 9.0, "y": 0.0}}
                agv.order = {"orderId": "worldfs-act_0-1-abc", "orderUpdateId": 0, "nodes": [node], "edges": []}
                agv.nodes = [node]
            until(lambda: not agv.nodes)
        assert world.kernel is not None
