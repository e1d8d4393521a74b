"""Simulated carriers, and a dog, on missions through one gap: the orchestrator goes by the ways of their bodies."""

import json
import threading

import pytest

pytest.importorskip("mujoco", reason="the simulation extra is not installed: pip install 'worldfs[sim]'")

from worldfs.formats import config
from worldfs.robots.driver_registry import BodyCatalogue
from worldfs.robots.mujoco.carrier_driver import CarrierDriver
from worldfs.testing.waiting import PATIENCE_S
from worldfs.world.world import World

WEST, EAST = "cart_1", "cart_2"
FLOOR = -0.75
PAGE = {
    "schema_version": "v2.0",
    "robots": [{"robot_id": WEST, "pose": [-1.2, 1.0, FLOOR]}, {"robot_id": EAST, "pose": [1.0, -0.4, FLOOR]}],
    "objects": [],
    "scene_graph": {"nodes": [
        {"id": "wall", "name": "wall", "type": "furniture", "shape": "box", "position": [0.0, -1.0, FLOOR + 0.5],
         "size": [0.1, 4.0, 1.0]},
        {"id": "far_wall", "name": "far wall", "type": "furniture", "shape": "box", "position": [0.0, 4.0, FLOOR + 0.5],
         "size": [0.1, 4.0, 1.0]},
    ], "edges": []},
    "map": {"lanes": [{"name": "gap", "from": [-0.4, 1.5], "to": [0.4, 1.5], "width": 1.0}],
            "zones": [{"name": "east bay", "pose": [1.5, 0.9]}, {"name": "west bay", "pose": [-1.5, -0.4]}]},
}  # fmt: skip


@pytest.fixture
def driven(tmp_path, monkeypatch):
    """Carries out a mission for each robot; how many robots drove at once at most, and the missions as they ended.

    `together`: each waits until both have set out, since one could arrive before a busy machine begins the other.
    """
    at_once, most, lock, execute = set(), [], threading.Lock(), CarrierDriver.execute
    begun, awaited = {WEST: threading.Event(), EAST: threading.Event()}, []

    def counted(self, order, run):
        with lock:
            at_once.add(self.robot_id)
            most.append(len(at_once))
        begun[self.robot_id].set()
        try:
            for other in awaited:
                begun[other].wait(PATIENCE_S)
            return execute(self, order, run)
        finally:
            with lock:
                at_once.discard(self.robot_id)

    monkeypatch.setattr(CarrierDriver, "execute", counted)

    def drive(missions, east="wheeled_carrier", together=False):
        awaited.extend(missions if together else ())
        kinds = {WEST: "wheeled_carrier", EAST: east}
        instances = [{"robotId": id, "profileName": kinds[id], "driver": kinds[id]} for id in missions]
        settings = config.read(json.dumps({"embodiments": {"mode": "single", "instances": instances}}).encode())
        (tmp_path / "ENVIRONMENT.md").write_text(json.dumps(PAGE))
        with World.open(tmp_path, config=settings, serve=True, drivers=BodyCatalogue(cameras=False)) as world:
            operator = world.namespace("operator")
            for robot, text in missions.items():
                operator.write("/projects/main/mission", json.dumps({"text": text, "robot": robot}).encode())
            world.run(stop=threading.Event(), until_idle=True)
            ended = json.loads(operator.read("/projects/main/missions.json").data)["missions"]
            at = {robot.robot_id: robot.pose[:2] for robot in world.kernel.nodes[WEST].driver.observe().robots}
            at |= {robot.robot_id: robot.pose[:2] for robot in world.kernel.nodes[EAST].driver.observe().robots}
            for id in world.jobs.done_ids():
                assert not world.jobs.load(id).status.outcome.evidence.get("touched_things")
            return max(most), ended, at, world.content("ORCHESTRATOR.md").decode()

    return drive


MISSIONS = {WEST: "go to the east bay", EAST: "go to the west bay"}


@pytest.mark.proof
def test_head_on_in_a_gap_that_is_no_straight_way_one_waits_until_the_other_is_through(driven):
    most, ended, at, page = driven(MISSIONS)
    assert [mission["state"] for mission in ended] == ["succeeded", "succeeded"], ended
    assert most == 1, page
    assert at[WEST] == pytest.approx((1.5, 0.9), abs=0.02) and at[EAST] == pytest.approx((-1.5, -0.4), abs=0.02)


def test_two_that_do_not_meet_drive_at_once(driven):
    most, ended, *_ = driven({WEST: "go to the west bay", EAST: "go to the east bay"}, together=True)
    assert [mission["state"] for mission in ended] == ["succeeded", "succeeded"], ended
    assert most == 2


@pytest.mark.proof
@pytest.mark.parametrize("first", [WEST, EAST])
def test_a_carrier_and_a_dog_head_on_in_a_gap_both_arrive(driven, first):
    missions = {id: MISSIONS[id] for id in (first, *(MISSIONS.keys() - {first}))}
    _, ended, at, page = driven(missions, east="go2_edu")
    assert [mission["state"] for mission in ended] == ["succeeded", "succeeded"], page
    assert at[WEST] == pytest.approx((1.5, 0.9), abs=0.02) and at[EAST] == pytest.approx((-1.5, -0.4), abs=0.1)
