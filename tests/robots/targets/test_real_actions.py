"""ACTION.md on robots: named as drivers, led through the safety layer, refused by name, stopped, written down."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the table of the runtime's other half")

from worldfs.base.errors import BadInput
from worldfs.base.model import Cause, JobState, Outcome
from worldfs.formats import config as configs
from worldfs.robots.targets.kinematics import from_dh
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.check import check
from worldfs.world.world import World

from .conftest import FRANKA_HOME, TRUSTED

ME = "franka_001"
PROFILE = """# EMBODIED

## Supported Actions
- `move_to`: goes
- `pick_up`: takes
- `place`: puts
- `real_execute`: does what is said
- `target_navigation`: looks
- `strategy`: waves

## Sensors
- [x] RGB-D Camera
- [x] Joint Encoders
"""
PAGE = {
    "schema_version": "v2.0",
    "robots": [
        {"robot_id": ME, "pose": [0.1, 0.0, 0.0], "firmware": "5.2"},
        {"robot_id": "go2_edu_001", "pose": [3.0, 1.0, 0.0], "joint_state": {"FL_hip": 0.1}},
    ],
    "objects": [
        {"id": "apple_01", "name": "apple", "position": [0.58, 0.0, 0.35], "size": [0.066, 0.066, 0.066],
         "shape": "sphere", "mass": 0.1, "source": ME},
        {"id": "cup_01", "name": "cup", "position": [0.5, 0.3, 0.05], "ripeness": 0.5, "source": ME},
    ],
    "scene_graph": {
        "nodes": [{"id": "table_01", "type": "table", "position": [0.55, 0.0, 0.317], "size": [0.5, 0.8, 0.3]}],
        "edges": [{"from": "apple_01", "to": "cup_01", "relation": "near", "confidence": 0.4}],
    },
}  # fmt: skip
KINDS = {"franka": ("fci", FRANKA_HOME), "lerobot": ("servo", (0.0,) * 5)}


def settings(address: str, driver: str = "franka", **more: Any) -> dict[str, Any]:
    own = {"franka": {"ip": address}, "lerobot": {"robot": {"type": "so101_follower", "port": address, "id": "arm"}}}
    return own[driver] | more


def lab(
    root: Path, config: dict[str, Any], *orders: tuple[str, dict[str, Any]], driver: str = "franka", **more: Any
) -> None:
    adapter = {"class": "RealRobotTargetAdapter", "driver": driver}
    target = {"id": ME, "type": "real_robot", "adapter": adapter, "config": config} | more
    (root / "TARGETS.md").write_text(json.dumps({"targets": [target]}))
    (root / "EMBODIED.md").write_text(PROFILE)
    (root / "ENVIRONMENT.md").write_text(json.dumps(PAGE))
    queue = [
        {"action_id": f"act_{number}", "action_type": op, "params": params, "status": "pending"}
        for number, (op, params) in enumerate(orders)
    ]
    (root / "ACTION.md").write_text(json.dumps({"queue": queue}))


def opened(root: Path, driver: str = "franka", **more: Any) -> World:
    """On the robots' clock, which passes while it is led."""
    more.setdefault("clock", getattr(sys.modules.get("plant"), "CLOCK", None))
    return World.open(root, config=TRUSTED._replace(instances=(configs.Instance(ME, driver),)), serve=True, **more)


def ended(root: Path, driver: str = "franka") -> list[Outcome]:
    with opened(root, driver) as world:
        world.run(stop=threading.Event(), until_idle=True)
        ids = {*world.jobs.done_ids(), *world.jobs.open_ids()}  # open: it has failed, and its robot may still move
        return [world.jobs.load(id).status.outcome for id in sorted(ids)]


def page(root: Path) -> Any:
    return json.loads((root / "ENVIRONMENT.md").read_text())


@pytest.mark.slice(2)
@pytest.mark.parametrize("named", ["franka", "Franka", "rekep_real"])
def test_an_action_moves_the_arm_and_the_page_says_what_it_measured(tmp_path, timed, named) -> None:
    with timed.Plant(*KINDS["franka"]) as plant:
        lab(tmp_path, settings(plant.address), ("move_to", {"target_pose": [0.6, 0.05, 0.4]}))
        (outcome,) = ended(tmp_path, named)
        assert outcome.ok, outcome
        assert outcome.evidence["evidence_class"] == "real" and outcome.evidence["distance_to_goal"] < 0.01
        assert outcome.evidence["tool_moved"] > 0.02 and plant.still
    mine, other = page(tmp_path)["robots"]
    assert mine["pose"] == [0.1, 0.0, 0.0] and mine["firmware"] == "5.2"  # an arm does not measure where it stands
    assert mine["joint_state"]["joint1"] == pytest.approx(float(plant.q[0]), abs=0.01)
    assert other == PAGE["robots"][1]
    assert {key: page(tmp_path)[key] for key in ("objects", "scene_graph")} == {
        key: PAGE[key] for key in ("objects", "scene_graph")
    }


def test_the_safety_layer_stands_between(tmp_path, timed) -> None:
    safety = {"joint_speed": 0.3, "workspace": {"low": [0.2, -0.2, 0.1], "high": [0.7, 0.2, 0.6]}}
    with timed.Plant(*KINDS["franka"]) as plant:
        away = ("move_to", {"target_pose": [0.6, 0.5, 0.4]})
        lab(tmp_path, settings(plant.address, safety=safety), away, ("move_to", {"x": 0.55, "y": 0.05, "z": 0.42}))
        outside, inside = ended(tmp_path)
        assert outside.cause is Cause.REJECTED and "safety.workspace" in outside.findings[0].field
        assert inside.ok, inside
        goals = np.array([told for told in plant.told if len(told) == 7])
        assert len(goals) > 10
        assert np.abs(np.diff(goals, axis=0)).max() <= 0.3 / 20 + 1e-6  # rad in a control period


@pytest.mark.parametrize("highest", [0.5, 0.7])
def test_a_way_over_things_stays_within_the_bounds_of_the_profile(tmp_path, timed, highest) -> None:
    """The table is 0.467 m high: the way over it goes at 0.567 m."""
    bounds = f"x ∈ [-1, 1], y ∈ [-1, 1], z ∈ [0, {highest}] (metres, world frame)"
    with timed.Plant(*KINDS["franka"]) as plant:
        lab(tmp_path, settings(plant.address), ("move_to", {"target_pose": [0.6, 0.05, 0.4]}))
        (tmp_path / "EMBODIED.md").write_text(f"{PROFILE}\n## Physical Constraints\n- **Workspace Bounds**: {bounds}\n")
        (outcome,) = ended(tmp_path)
        assert outcome.ok is (highest > 0.567), outcome
        if not outcome.ok:
            assert outcome.cause is Cause.REJECTED and "z in [0, 0.5] m" in outcome.findings[0].found, outcome
            assert [told for told in plant.told if len(told) == 7] == [] and plant.still


@pytest.mark.parametrize(
    ("op", "params", "code"),
    [
        ("target_navigation", {"target_label": "apple"}, "OP_NOT_IN_PROFILE"),
        ("strategy", {"name": "wave"}, "OP_NOT_IN_PROFILE"),
        ("move_to", {"target_pose": [5.0, 0.0, 0.4]}, "CRITIC_REFUSED"),
        ("move_to", {"target_pose": "home"}, "SCHEMA_VALIDATION"),
        ("pick_up", {"object_id": "moon"}, "UNKNOWN_OBJECT"),
    ],
)
def test_what_the_body_cannot_do_is_refused_before_anything_moves(tmp_path, timed, op, params, code) -> None:
    with timed.Plant(*KINDS["franka"]) as plant:
        lab(tmp_path, settings(plant.address), (op, params))
        (outcome,) = ended(tmp_path)
        assert outcome.cause is Cause.REJECTED and code in {item.code for item in outcome.findings}, outcome
        assert plant.told == []


@pytest.mark.proof
def test_what_it_takes_is_held_on_the_page_and_lies_where_it_was_put(tmp_path, timed) -> None:
    with timed.Plant(*KINDS["franka"]) as plant:
        plant.between = 0.066 / 0.08  # the apple, of the hand's opening
        lab(tmp_path, settings(plant.address), ("pick_up", {"object_id": "apple_01"}))
        (outcome,) = ended(tmp_path)
        assert outcome.ok, outcome
        now = page(tmp_path)
        assert now["robots"][0]["holding"] == "apple_01"
        apple, cup = now["objects"]
        assert apple["position"][2] > 0.42 and (apple["name"], apple["mass"]) == ("apple", 0.1)
        assert {"from": "apple_01", "to": ME, "relation": "held_by"} in now["scene_graph"]["edges"]
        assert PAGE["scene_graph"]["edges"][0] in now["scene_graph"]["edges"]
        assert cup == PAGE["objects"][1]  # what it does not see is not gone
        queue = [{"action_id": "act_1", "action_type": "place", "params": {"target_position": [0.5, -0.2, 0.35]}}]
        (tmp_path / "ACTION.md").write_text(json.dumps({"queue": queue}))
        (tmp_path / "EMBODIED.md").write_text(PROFILE)
        _, placed = ended(tmp_path)
        # the fingers let go of it above its goal; whether it lies there, nobody who sees it says
        assert (placed.ok, placed.cause) == (False, Cause.ERROR) and "an observation of" in placed.message, placed
        now = page(tmp_path)
        assert now["robots"][0]["holding"] is None
        assert now["objects"][0]["position"][:2] == pytest.approx([0.5, -0.2], abs=0.02)
        assert [edge["relation"] for edge in now["scene_graph"]["edges"]] == ["near"]


def test_fingers_that_close_on_nothing_are_no_success(tmp_path, timed) -> None:
    with timed.Plant(*KINDS["franka"]) as plant:
        lab(tmp_path, settings(plant.address), ("pick_up", {"object_id": "apple_01"}))
        (outcome,) = ended(tmp_path)
        assert outcome.code == "GRASP_MISSED" and page(tmp_path)["robots"][0]["holding"] is None


def test_a_cancelled_order_leaves_the_arm_standing(tmp_path, timed, monkeypatch) -> None:
    heard, advance = threading.Event(), timed.CLOCK.advance
    with timed.Plant(*KINDS["franka"]) as plant:
        # No time passes between the arm's first command and the cancel.
        monkeypatch.setattr(timed.CLOCK, "advance", lambda s: (plant.told and heard.wait(PATIENCE_S), advance(s)))
        lab(tmp_path, settings(plant.address), ("move_to", {"target_pose": [0.4, 0.3, 0.5]}))
        with opened(tmp_path) as world:
            thread = threading.Thread(target=world.run, kwargs={"stop": threading.Event(), "until_idle": True})
            thread.start()
            until(lambda: plant.told or not thread.is_alive())
            world.cancel("act_0")
            until(lambda: all(attempt.cancel.is_set() for attempt in world.kernel.open.running.values()))
            heard.set()
            thread.join(PATIENCE_S)
            status = world.jobs.load("act_0").status
        assert status.state is JobState.FAILED and status.outcome.cause is Cause.CANCELLED
        assert plant.still


def test_a_robot_that_does_not_answer_lets_the_world_start_and_refuses_its_orders(tmp_path, timed) -> None:
    lab(tmp_path, {"ip": "127.0.0.1:9"}, ("move_to", {"target_pose": [0.6, 0.05, 0.4]}))
    (outcome,) = ended(tmp_path)
    assert outcome.cause is Cause.REJECTED and "activate FCI" in outcome.message
    assert page(tmp_path) == PAGE


def test_an_arm_whose_kinematics_nobody_gave_can_do_nothing_here(tmp_path, timed) -> None:
    with timed.Plant(*KINDS["lerobot"]) as plant:
        lab(tmp_path, settings(plant.address, "lerobot"), ("move_to", {"target_pose": [0.3, 0, 0.2]}), driver="lerobot")
        (outcome,) = ended(tmp_path, "lerobot")
        assert outcome.cause is Cause.REJECTED and "kinematics" in str(outcome.findings[0].field)
        assert plant.still and not np.any(plant.told)  # told nothing but to stay where it is


def test_an_arm_of_servos_is_led_by_its_kinematics(tmp_path, timed) -> None:
    dh = [
        [0.0, 0.1, 1.5708, 0.0],
        [0.2, 0.0, 0.0, 1.2],
        [0.2, 0.0, 0.0, -1.4],
        [0.05, 0.0, 1.5708, 0.0],
        [0.0, 0.05, 0.0, 0.0],
    ]
    tool = from_dh(dh).forward(np.zeros(5))[:3, 3]
    with timed.Plant(*KINDS["lerobot"]) as plant:
        arm = settings(plant.address, "lerobot", kinematics={"dh": dh})
        lab(tmp_path, arm, ("move_to", {"target_pose": [0.1 + tool[0], *tool[1:]]}), driver="lerobot")
        (outcome,) = ended(tmp_path, "lerobot")
        assert outcome.ok, outcome
        assert plant.told


@pytest.mark.parametrize("driver", ["go2_edu", "unitree_go2"])
def test_a_body_that_walks_is_refused_by_name(tmp_path, driver) -> None:
    lab(tmp_path, {}, driver="unitree_go2")
    with pytest.raises(BadInput, match="Go2") as caught:
        opened(tmp_path, driver)
    for word in ("franka", "lerobot", "rekep_real", "simulation"):
        assert word in caught.value.expected
    assert "adapter.driver unitree_go2" in caught.value.fix


@pytest.mark.parametrize(
    ("driver", "more", "words"),
    [
        ("lerobot", {}, "declare it there"),
        ("rekep_real", {"type": "sim"}, "declare it there"),
        ("rekep_real", {"adapter": {"class": "Own", "driver": "franka"}}, "declare it there"),
        ("franka", {"id": "lab_arm"}, "robotId lab_arm"),
        ("franka", {"enabled": False}, "enable it there"),
        ("frnka", {}, "--driver simulation"),
    ],
)
def test_what_is_missing_is_named(tmp_path, driver, more, words) -> None:
    lab(tmp_path, {"ip": "127.0.0.1:9"}, **more)
    try:
        world = opened(tmp_path, driver)
    except BadInput as error:  # nothing here can run
        assert words in error.fix and ME in str(error)
        return
    with world:  # the other target goes on
        finding = world.kernel.alert.now()[f"/nodes/{ME}"]
        assert finding.code == "DRIVER_MISSING" and words in finding.fix and ME in str(finding)


def test_a_profile_s_driver_line_names_the_robot_and_check_says_what_is_missing(tmp_path, timed) -> None:
    with timed.Plant(*KINDS["franka"]) as plant:
        lab(tmp_path, settings(plant.address), ("move_to", {"target_pose": [0.6, 0.0, 0.4]}))
        (tmp_path / "EMBODIED.md").write_text(PROFILE.replace("# EMBODIED", "# EMBODIED\n\n> Driver: rekep_real"))
        value = PAGE | {"robots": PAGE["robots"][:1]}
        (tmp_path / "ENVIRONMENT.md").write_text(json.dumps(value))
        assert "DRIVER_MISSING" not in {item.code for item in check(tmp_path)}
        with World.open(tmp_path, config=TRUSTED, serve=True, clock=timed.CLOCK) as world:
            assert world.node_ids() == [ME]
            world.run(stop=threading.Event(), until_idle=True)
            assert world.jobs.load("act_0").status.state is JobState.SUCCEEDED
        assert plant.still
    (tmp_path / "TARGETS.md").unlink()
    (found,) = [item for item in check(tmp_path) if item.code == "DRIVER_MISSING"]
    assert "TARGETS.md" in found.found
