"""All six action types through ACTION.md, carried out by the simulated Panda, with evidence that was measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("mujoco")

ROBOT = {"robot_id": "franka_001"}


@pytest.fixture(scope="module")
def table(onboarded: Callable):
    place = onboarded()
    assert place.up("--seed", "11").code == 0
    return place


def carried_out(place, op: str, params: dict[str, Any], *words: str) -> tuple[Any, Any]:
    """The sheet's entry and the job's evidence, after one more kernel has lived."""
    id = f"t{len(place.ended())}_{op}"
    place.queue({"action_id": id, "action_type": op, "params": params, **ROBOT})
    said = place.paos("up", "--until-idle", "--driver", "simulation", *(words or ("--no-cameras",)))
    assert said.code == 0, said
    entry = place.entry(id)
    if entry["status"] == "completed":
        evidence = entry["result"]["evidence"]
        assert evidence["evidence_class"] == "sim"
        assert evidence["steps"] > 0
        for when in ("before", "after"):
            assert all(math.isfinite(v) for v in evidence[when]["tcp"]["position"])
        assert isinstance(evidence["contacts"], list)
        return entry, evidence
    return entry, None


def test_move_to(table) -> None:
    entry, evidence = carried_out(table, "move_to", {"target_pose": [0.45, 0.1, 0.4, 3.1416, 0.0, 0.0]})
    assert entry["status"] == "completed", entry
    assert evidence["after"]["tcp"]["position"] == pytest.approx([0.45, 0.1, 0.4], abs=0.005)
    assert evidence["distance_to_goal"] < 0.005


def test_move_to_somewhere_that_no_arm_reaches_is_refused(table) -> None:
    entry, _ = carried_out(table, "move_to", {"target_pose": [0.45, 0.1, 1.9, 3.1416, 0.0, 0.0]})
    assert (entry["status"], entry["error"]["cause"]) == ("failed", "rejected")


def test_pick_up_then_place(table) -> None:
    entry, evidence = carried_out(table, "pick_up", {"object_id": "apple_01"})
    assert entry["status"] == "completed", entry
    assert ["apple_01", "robot"] in evidence["contacts"]
    assert evidence["object_moved"] > 0.1
    entry, _ = carried_out(table, "pick_up", {"object_id": "cube_01"})  # one hand holds one thing, also after a restart
    assert (entry["status"], entry["error"]["code"]) == ("failed", "HOLDING")
    entry, evidence = carried_out(table, "place", {"target_position": [0.40, -0.40, 0.045]})
    assert entry["status"] == "completed", entry
    assert evidence["before"]["object"]["id"] == evidence["after"]["object"]["id"] == "apple_01"
    assert table.where("apple_01") == {("in", "basket_01")}
    assert table.value("ENVIRONMENT.md")["robots"][0]["holding"] is None
    entry, _ = carried_out(table, "place", {"target_position": [0.5, 0.0, 0.03]})
    assert (entry["status"], entry["error"]["code"]) == ("failed", "NOT_HOLDING")


def test_strategy(table) -> None:
    assert carried_out(table, "strategy", {"name": "home"})[0]["status"] == "completed"
    params = {"name": "pick_and_place", "object_id": "cube_01", "target": "basket_01"}
    entry, evidence = carried_out(table, "strategy", params)
    assert entry["status"] == "completed", entry
    assert [step["op"] for step in evidence["sequence"]] == ["pick_up", "place"]
    assert table.where("cube_01") == {("in", "basket_01")}
    entry, _ = carried_out(table, "strategy", {"name": "juggle"})
    assert entry["status"] == "failed"
    assert "pick_and_place" in entry["error"]["message"]


def test_real_execute(table) -> None:
    entry, evidence = carried_out(table, "real_execute", {"nl_task": "put the can in the basket"})
    assert entry["status"] == "completed", entry
    assert [step["op"] for step in evidence["sequence"]] == ["pick_up", "place"]
    assert table.where("can_01") == {("in", "basket_01")}
    entry, _ = carried_out(table, "real_execute", {"nl_task": "do not touch the brick"})
    assert entry["status"] == "failed"
    assert ("on", "table_01") in table.where("brick_01")


def test_real_execute_is_accepted_only_where_the_profile_lists_it(table, onboarded: Callable) -> None:
    place = onboarded()
    place.up()
    profile = place.text("EMBODIED.md")
    place.put("EMBODIED.md", "".join(line for line in profile.splitlines(True) if "real_execute" not in line))
    entry, _ = carried_out(place, "real_execute", {"nl_task": "put the can in the basket"})
    assert (entry["status"], entry["error"]["code"]) == ("failed", "OP_NOT_IN_PROFILE")


def test_target_navigation_sees_what_it_looked_for(table, gl) -> None:
    entry, evidence = carried_out(table, "target_navigation", {"target_label": "brick_01"}, "--seed", "11")
    assert entry["status"] == "completed", entry
    real = table.thing("brick_01")["position"]
    assert evidence["target"] == "brick_01"
    assert math.dist(evidence["estimated_position"], real) < 0.03  # from pictures, not from the simulator's book
    assert evidence["estimated_position"] != real
    assert evidence["pixels"] > 100
    pictures = table.value("ENVIRONMENT.md")["perception"]
    assert (table.root / pictures["camera_rgb"]).stat().st_size > 1000
    assert (table.root / pictures["depth"]).stat().st_size > 1000


def test_target_navigation_without_cameras_says_what_is_missing(table) -> None:
    entry, _ = carried_out(table, "target_navigation", {"target_label": "brick_01"})
    assert (entry["status"], entry["error"]["code"]) == ("failed", "CAMERA_UNAVAILABLE")


def test_an_action_that_is_none_of_the_six_is_refused_by_name(table) -> None:
    entry, _ = carried_out(table, "teleport", {"target_pose": [0, 0, 0, 0, 0, 0]})
    assert (entry["status"], entry["error"]["code"]) == ("failed", "OP_NOT_IN_PROFILE")
    assert "pick_up" in entry["error"]["message"]
