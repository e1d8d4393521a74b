"""Missions of a robot that is disabled while the kernel runs: they wait and say so, and go on once it is enabled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worldfs.base.driver import PluginContext, Run
from worldfs.base.errors import BadInput
from worldfs.base.messages import render
from worldfs.base.model import Cause, JobState, Order, Outcome
from worldfs.fleet.mission import MissionOrder, MissionState
from worldfs.testing.waiting import until
from worldfs.testing.workspace_fixture import order
from worldfs.world.robot_registry import add_robot, remove_robot
from worldfs.world.status_report import status_report

from .test_fleet_changes import FIRST, SECOND, ClosingDriver, RunningFleet
from .test_random_fleet_changes import declare, enable

MAP = {"map": {"zones": [{"name": "w1", "pose": [5.0, 0.0, 0.0]}]}}


class Held(ClosingDriver):
    """It drives until it is stopped."""

    drives = False

    def execute(self, order: Order, run: Run) -> Outcome:
        if self.drives:
            order = Order(order.id, order.node, order.op, {**order.params, "hang": True})
        return super().execute(order, run)


class VehicleFleet(RunningFleet):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        document = json.loads(self.home.config_path.read_bytes())
        document["embodiments"]["instances"][1]["profileName"] = "generic_amr"
        self.home.config_path.write_text(json.dumps(document))
        page = {"schema_version": "v2.0", "robots": [], "objects": [], "scene_graph": {"nodes": [], "edges": []}}
        (self.home.path / "shared_workspace/ENVIRONMENT.md").write_text(json.dumps(page | MAP))
        declare(self, SECOND)

    def body(self, context: PluginContext) -> ClosingDriver:
        self.bodies[context.robot_id] = made = Held()
        return made


@pytest.fixture
def fleet(tmp_path: Path) -> VehicleFleet:
    return VehicleFleet(tmp_path / "home")


def test_missions_wait_for_a_disabled_robot_and_go_on_when_it_is_enabled(fleet: VehicleFleet) -> None:
    with fleet.up() as world:
        enable(fleet, SECOND, False)
        world.missions.add(MissionOrder("named", "go to w1", robot=SECOND))
        world.missions.add(MissionOrder("any", "go to w1"))
        for id in ("named", "any"):
            until(lambda id=id: world.missions.load(id).status.waits or world.missions.load(id).status.state.ended)  # type: ignore[misc]  # the loop's value
            status = world.missions.load(id).status
            assert status.state is MissionState.QUEUED and f"{SECOND} is disabled" in status.waits
        until(lambda: world.node_ids() == [FIRST])
        assert SECOND not in {node["id"] for node in status_report(world)["nodes"]}  # type: ignore[attr-defined]  # JSON
        enable(fleet, SECOND, True)
        until(lambda: all(world.missions.load(id).status.state.ended for id in ("named", "any")))
        found = [world.missions.load(id).status for id in ("named", "any")]
        assert [(one.state, one.robot) for one in found] == [(MissionState.SUCCEEDED, SECOND)] * 2


def test_the_mission_of_a_robot_that_is_disabled_ends_with_that(fleet: VehicleFleet) -> None:
    with fleet.up() as world:
        body = fleet.bodies[SECOND]
        assert isinstance(body, Held)
        body.drives = True
        world.missions.add(MissionOrder("m1", "go to w1", robot=SECOND))
        until(lambda: world.missions.load("m1").status.job)
        until(lambda: world.kernel is not None and world.kernel.busy)
        enable(fleet, SECOND, False)
        world.missions.add(MissionOrder("m2", "wave", robot=FIRST))
        until(lambda: SECOND not in world.node_ids())
        until(lambda: world.missions.load("m1").status.state is not MissionState.RUNNING)
        status = world.missions.load("m1").status
        assert "disabled" in status.reason and "somebody" not in status.reason


def test_the_order_of_a_robot_that_is_disabled_ends_though_no_other_comes(fleet: VehicleFleet) -> None:
    with fleet.up() as world:
        world.submit(order("long", SECOND, params={"hang": True}))
        until(lambda: world.jobs.load("long").status.state is JobState.RUNNING)
        enable(fleet, SECOND, False)
        until(lambda: world.jobs.load("long").status.state.terminal)
        outcome = world.jobs.load("long").status.outcome
        assert outcome is not None and outcome.cause is Cause.CANCELLED
        until(lambda: SECOND not in world.node_ids())


def test_a_vehicle_that_targets_md_declares_is_removed_and_added_again(fleet: VehicleFleet) -> None:
    page = fleet.home.path / "shared_workspace/TARGETS.md"
    config = {"broker": "mqtt://127.0.0.1:1", "manufacturer": "acme", "serial": "7"}
    entry = {"id": "amr_2", "type": "real_robot", "adapter": {"class": "RealRobotTargetAdapter", "driver": "vda5050"}}
    with pytest.raises(BadInput, match=r"TARGETS\.md has no such robot") as refused:
        add_robot(fleet.home, "amr_2", "generic_amr")
    assert refused.value.path.startswith(str(page))
    page.write_text(json.dumps({"targets": [{**entry, "config": config}]}))
    for _ in range(2):
        add_robot(fleet.home, "amr_2", "generic_amr")
        remove_robot(fleet.home, "amr_2")


def test_the_second_mission_of_a_robot_says_why_it_waits(fleet: VehicleFleet) -> None:
    with fleet.up() as world:
        body = fleet.bodies[SECOND]
        assert isinstance(body, Held)
        body.drives = True
        for id in ("m1", "m2"):
            world.missions.add(MissionOrder(id, "go to w1", robot=SECOND))
        until(lambda: world.missions.load("m2").status.waits)
        assert SECOND in world.missions.load("m2").status.waits
        assert world.missions.load("m2").status.state is MissionState.QUEUED


def test_the_missions_of_a_robot_that_is_removed_say_so(fleet: VehicleFleet) -> None:
    with fleet.up() as world:
        body = fleet.bodies[SECOND]
        assert isinstance(body, Held)
        body.drives = True
        for id in ("m1", "m2"):
            world.missions.add(MissionOrder(id, "go to w1", robot=SECOND))
        until(lambda: world.missions.load("m2").status.waits)
        remove_robot(fleet.home, SECOND, cancel=True)
        until(lambda: all(world.missions.load(id).status.state.ended for id in ("m1", "m2")))
        for id in ("m1", "m2"):
            assert "is no robot of this fleet any more" in render(world.missions.load(id).status.reason, "en")
