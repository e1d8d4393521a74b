"""One instruction for two tables and no carrier. With one it is carried out: `tests/acceptance/test_fleet_demo.py`."""

import json
import threading

import pytest

pytest.importorskip("mujoco", reason="the simulation extra is not installed: pip install 'worldfs[sim]'")

from worldfs.formats import config
from worldfs.robots.driver_registry import BodyCatalogue
from worldfs.world.world import World

ARMS = ("arm_1", "arm_2")


def piece(id, at, size, shape):
    kind = "container" if shape == "basket" else "furniture"
    return {"id": id, "name": id.replace("_", " "), "type": kind, "position": at, "size": size, "shape": shape}


def cube(id, *at):
    return {"id": id, "name": id.replace("_", " "), "category": "cube", "position": [*at, 0.0255],
            "size": [0.05] * 3, "shape": "box", "mass": 0.1}  # fmt: skip


PAGE = {
    "schema_version": "v2.0",
    "robots": [
        {"robot_id": "arm_1", "pose": [-1.4, 0.0, 0.0]},
        {"robot_id": "arm_2", "pose": [1.4, 0.0, 0.0, 0.0, 0.0, 3.1416]},
    ],
    "objects": [cube("blue_cube", -0.98, 0.10), cube("green_cube", 0.90, -0.10)],
    "scene_graph": {"nodes": [
        piece("left_table", [-0.95, 0.0, 0.0], [0.9, 1.0, 0.75], "table"),
        piece("right_table", [0.95, 0.0, 0.0], [0.9, 1.0, 0.75], "table"),
        piece("basket_01", [0.95, 0.28, 0.045], [0.3, 0.3, 0.09], "basket"),
    ], "edges": []},
}  # fmt: skip


def test_what_nobody_can_hand_over_waits_with_the_reason_and_nothing_moves(tmp_path):
    instances = [{"robotId": id, "profileName": "franka_panda", "driver": "simulation"} for id in ARMS]
    settings = config.read(json.dumps({"embodiments": {"mode": "single", "instances": instances}}).encode())
    (tmp_path / "ENVIRONMENT.md").write_text(json.dumps(PAGE))
    with World.open(tmp_path, config=settings, serve=True, drivers=BodyCatalogue(seed=4, cameras=False)) as world:
        said = json.dumps({"text": "clear both tables into the basket"}).encode()
        world.namespace("operator").write("/projects/main/mission", said)
        world.run(stop=threading.Event(), until_idle=True)
        missions = json.loads(world.namespace("operator").read("/projects/main/missions.json").data)["missions"]
        assert [mission["state"] for mission in missions] == ["queued"]
        assert "no carrier brings blue_cube" in world.content("ORCHESTRATOR.md").decode()
        assert world.jobs.done_ids() == []
