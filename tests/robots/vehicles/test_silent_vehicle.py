"""A vehicle that was to stand and has not confirmed it: no other is sent there and all are told, until it has."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.json_values import as_object, as_objects
from worldfs.fleet.mission import MissionOrder, MissionStatus
from worldfs.formats.config import Instance
from worldfs.testing.waiting import until
from worldfs.world.status_report import status_report
from worldfs.world.world import World

from .conftest import ME, TRUSTED, lab, settings
from .vda5050_peer import Agv

OTHER = "amr_002"
QUIET = {"stale_s": 1.0}


class Fleet:
    """Two vehicles of one workspace, which serves. `one` drives towards (5, 0) for a mission."""

    def __init__(self, world: World, one: Agv, two: Agv) -> None:
        self.world, self.one, self.two = world, one, two
        self.add("m1", "go to (5, 0)", ME)
        until(lambda: one.driving)

    def add(self, id: str, text: str, robot: str) -> None:
        assert self.world.missions.add(MissionOrder(id, text, robot=robot))

    def mission(self, id: str) -> MissionStatus:
        return self.world.missions.load(id).status

    def node(self) -> dict[str, Any]:
        (node,) = (one for one in as_objects(status_report(self.world)["nodes"]) if one["id"] == ME)
        return node

    def alert(self) -> dict[str, Any]:
        return as_object(json.loads(self.world.content(".paos/alerts.json") or b"{}").get(f"stop {ME}"))

    def page(self) -> str:
        return self.world.content("ORCHESTRATOR.md").decode()


@contextmanager
def fleet_of(root: Path, port: int, *faults: str) -> Iterator[Fleet]:
    lab(root, {})
    adapter = {"class": "RealRobotTargetAdapter", "driver": "vda5050"}
    serials = {ME: "amr-7", OTHER: "amr-8"}
    targets = [
        {"id": id, "type": "real_robot", "adapter": adapter, "config": settings(port, serial=serial, safety=QUIET)}
        for id, serial in serials.items()
    ]
    (root / "TARGETS.md").write_text(json.dumps({"targets": targets}))
    page = {"schema_version": "v2.0", "robots": [{"robot_id": id} for id in serials], "objects": []}
    (root / "ENVIRONMENT.md").write_text(json.dumps(page))
    config = TRUSTED._replace(instances=tuple(Instance(id, "vda5050") for id in serials))
    stop = threading.Event()
    with (
        Agv(port, *faults, serial="amr-7", speed=0.3) as one,
        Agv(port, serial="amr-8", at=(0, 8, 0), speed=4) as two,
        World.open(root, config=config, serve=True) as world,
    ):
        thread = threading.Thread(target=world.run, kwargs={"stop": stop})
        thread.start()
        try:
            yield Fleet(world, one, two)
        finally:
            stop.set()
            world.wake()
            thread.join()


def silent(fleet: Fleet) -> None:
    """The vehicle hears nothing and says nothing from now on, and drives."""
    fleet.one.faults.add("cut off")


def stopped_by_a_person(fleet: Fleet) -> None:
    silent(fleet)
    report = fleet.world.stop(ME, confirm_s=0.1)
    assert not report.confirmed


def taken_over(fleet: Fleet) -> None:
    """Another controller has it, which this one cannot stop."""
    with fleet.one.lock:
        fleet.one.order = {**fleet.one.order, "orderId": "of-another-master"}


@pytest.mark.slice(3)
@pytest.mark.parametrize("trouble", [silent, stopped_by_a_person, taken_over])
def test_where_a_vehicle_may_still_drive_no_other_is_sent_until_it_says_that_it_stands(
    tmp_path: Path, broker: Any, trouble: Callable[[Fleet], None]
) -> None:
    with fleet_of(tmp_path / "lab", broker.port) as fleet:
        trouble(fleet)
        until(lambda: fleet.mission("m1").state.value == "failed")
        assert "may still move" in fleet.mission("m1").reason, fleet.mission("m1")
        fleet.add("m2", "go to (5, 0.1)", OTHER)
        until(lambda: fleet.mission("m2").waits)
        until(lambda: fleet.node()["may_move"] is True and fleet.alert())
        assert fleet.alert()["code"] == "STOP_UNCONFIRMED" and "hardware stop" in fleet.alert()["fix"]
        until(lambda: "may still move" in fleet.page())
        assert fleet.two.orders == [] and fleet.mission("m2").waits

        fleet.one.faults.discard("cut off")  # it is heard of again, and ends what is cancelled
        with fleet.one.lock:
            if trouble is taken_over:
                fleet.one.order, fleet.one.nodes, fleet.one.edges = {"orderId": "", "orderUpdateId": 0}, [], []
        until(lambda: fleet.mission("m2").state.value == "succeeded")
        assert fleet.two.orders and not fleet.alert() and not fleet.node()["may_move"]
        until(lambda: "may still move" not in fleet.page().partition("Decision Log")[0])


def test_an_order_is_not_tried_again_beside_a_vehicle_that_may_still_drive(tmp_path: Path, broker: Any) -> None:
    root = lab(tmp_path / "lab", settings(broker.port, safety=QUIET))
    entry = {"action_id": "act_1", "action_type": "move_to", "params": {"target_pose": [5, 0, 0]}, "status": "pending"}
    (root / "ACTION.md").write_text(json.dumps({"queue": [entry | {"retry": {"max_attempts": 3}}]}))
    with Agv(broker.port, speed=0.3) as agv, World.open(root, config=TRUSTED, serve=True) as world:
        stop = threading.Event()
        thread = threading.Thread(target=world.run, kwargs={"stop": stop, "until_idle": True})
        thread.start()
        until(lambda: agv.driving)
        agv.faults.add("cut off")
        thread.join()
        status = world.jobs.load("act_1").status
    assert status.outcome is not None and status.outcome.code == "VEHICLE_SILENT" and status.attempt == 1, status
