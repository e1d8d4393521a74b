"""A session of a real arm (its client a stand-in) runs on the simulated table first, in the scene of ENVIRONMENT.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mujoco", reason="the twin is the simulated table")

from worldfs.base.model import JobState, Outcome
from worldfs.world.world import World

from .conftest import FRANKA_HOME

FAR = 3.0  # m, where this arm stands: from the origin nothing here can be reached
PAGE = {
    "schema_version": "v2.0",
    "robots": [{"robot_id": "arm", "pose": [FAR, 0.0, 0.0]}, {"robot_id": "go2_001", "pose": [0.0, 4.0, 0.3]}],
    "objects": [
        {"id": "apple_01", "name": "apple", "position": [FAR + 0.5, 0.05, 0.35], "size": [0.066, 0.066, 0.066],
         "shape": "sphere", "mass": 0.1},
        {"id": "cup_01", "name": "cup"},
        {"id": "can_01", "name": "can", "position": [FAR + 0.5, -0.2, 0.4], "size": [0.05, 0.05, 0.1],
         "shape": "cylinder"},
    ],
    "scene_graph": {
        "nodes": [{"id": "table_01", "type": "table", "position": [FAR + 0.55, 0.0, 0.317], "size": [0.5, 0.8, 0.3]}],
        "edges": [],
    },
}  # fmt: skip


def pair(number: int, thing: str) -> list[dict[str, Any]]:
    """A session on the twin, and the one on the arm that waits for it."""
    common = {"skill_ref": "rekep_pick", "status": "pending", "execution": {"params": {"object_id": thing}}}
    return [
        common | {"session_id": f"try_{number}", "target_ref": "twin"},
        common | {"session_id": f"real_{number}", "target_ref": "arm", "depends_on": [f"try_{number}"]},
    ]


def lab(root: Path, address: str) -> None:
    arm = {"class": "RealRobotTargetAdapter", "driver": "franka"}
    targets = [
        {"id": "arm", "type": "real_robot", "adapter": arm, "config": {"ip": address, "shadow": "twin"}},
        {"id": "twin", "type": "sim", "backend": "mujoco", "adapter": {"class": "SimTargetAdapter"},
         "config": {"scene": "environment"}},
    ]  # fmt: skip
    (root / "TARGETS.md").write_text(json.dumps({"targets": targets}))
    (root / "SKILLS.md").write_text(json.dumps({"skills": [{"id": "rekep_pick", "runtime": "ReKepPolicyRuntime"}]}))
    (root / "ENVIRONMENT.md").write_text(json.dumps(PAGE))
    sessions = [*pair(1, "apple_01"), *pair(2, "cup_01")]
    (root / "SESSIONS.md").write_text(json.dumps({"sessions": sessions}))


def ended(world: World, id: str) -> Outcome:
    outcome = world.jobs.load(id).status.outcome
    assert outcome is not None
    return outcome


def test_nobody_is_asked_before_the_simulated_twin_took_the_perceived_thing(timed: Any, tmp_path: Path) -> None:
    with timed.Plant("fci", FRANKA_HOME) as plant:
        lab(tmp_path, plant.address)
        with World.open(tmp_path, clock=timed.CLOCK, serve=True, threads=False) as world:
            while world.tick():
                pass
            tried = ended(world, "try_1")
            assert tried.ok and tried.evidence["object_before"][0] == pytest.approx(FAR + 0.5, abs=0.01), tried
            assert tried.evidence["twin"] == {"missing": ["cup_01"], "added": ["stand_can_01"]}  # nothing was below it
            assert "could not build cup_01" in tried.message and "stand_can_01" in tried.message
            (asked,) = world.approvals.requests()
            assert asked.job == "real_1" and world.jobs.load("real_1").status.state is JobState.PENDING
            assert ended(world, "try_2").code == "SHADOW_NOT_BUILT" and "cup_01" in ended(world, "try_2").message
            assert ended(world, "real_2").code == "DEPENDENCY_FAILED"
            assert plant.told == []  # nothing real moved
    page = json.loads((tmp_path / "ENVIRONMENT.md").read_text())
    assert page["objects"] == PAGE["objects"] and page["robots"][1:] == PAGE["robots"][1:]
