"""TARGETS.md and SKILLS.md in every dialect; a bad entry costs only itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.messages import render
from worldfs.formats.runtime import skills, targets

FIXTURES = Path(__file__).parents[2] / "fixtures" / "runtime"


def block(value):
    return json.dumps(value).encode()


def test_the_specifications_targets():
    found = targets.read((FIXTURES / "TARGETS.md").read_bytes())
    sim, real = found.entries["sim_franka_tabletop"], found.entries["real_franka_lab"]
    assert found.findings == () and found.dialect == "page"
    assert (sim.kind, sim.backend, sim.adapter, sim.obs_format) == (
        "sim",
        "mujoco",
        "SimTargetAdapter",
        "mujoco_standard",
    )
    assert [(camera.name, camera.resolution, camera.fps) for camera in sim.cameras] == [
        ("front", (640, 480), 30), ("wrist", (640, 480), 30),
    ]  # fmt: skip
    assert (real.kind, real.driver, real.cameras[0].device) == ("real_robot", "franka", "/dev/video0")
    assert real.config == {"ip": "192.168.1.100", "control_mode": "joint_position"}


def test_the_specifications_skills():
    found = skills.read((FIXTURES / "SKILLS.md").read_bytes()).entries
    pick = found["rekep_pick"]
    assert (pick.runtime, pick.policy.type, pick.policy.endpoint) == (
        "ReKepPolicyRuntime", "http", "http://localhost:8765/predict",
    )  # fmt: skip
    assert pick.sensors == ("rgb_camera", "depth_camera", "joint_states") and pick.strict
    assert found["openvla_manipulation"].policy.checkpoint == "/models/openvla-7b"


def test_upstreams_words():
    only = {"id": "a", "target_class": "local", "target_kind": "simulation"}
    only |= {"supported_skillruntimes": ["skillruntime://vla"], "runtime": {"target_adapter": "SimTargetAdapter"}}
    found = targets.read(block({"version": "x", "targets": [only]}))
    assert found.dialect == "r2" and found.entries["a"].skills == ("vla",)
    assert found.entries["a"].adapter == "SimTargetAdapter"
    earliest = targets.read(block({"targets": [{"id": "a", "type": "sim", "adapter": "SimTargetAdapter"}]}))
    assert earliest.entries["a"].adapter == "SimTargetAdapter"
    r1 = skills.read(block({"version": "x", "skills": [{"id": "s", "runtime": "R", "policy_client": "openpi"}]}))
    assert r1.dialect == "r1" and r1.entries["s"].policy.type == "openpi"
    kinds = [{"id": kind, "runtime": "R", "category": kind} for kind in ("vla", "builtin", "hybrid", "debug")]
    assert list(skills.read(block({"version": "x", "skills": kinds})).entries) == [item["id"] for item in kinds]
    assert not skills.read(block({"skills": kinds})).entries  # the page knows none of these words
    entry = {"id": "s", "runtime": "R", "policy": {"policy_client": "http"}}
    runtimes = skills.read(block({"skillruntimes": [entry]}))
    assert runtimes.dialect == "r2" and runtimes.entries["s"].policy.type == "http"


@pytest.mark.parametrize(
    ("entry", "where"),
    [
        ({"id": "b/c", "type": "sim"}, "/targets/1/id"),
        ({"id": 7, "type": "sim"}, "/targets/1/id"),
        ({"type": "sim"}, "/targets/1/id"),
        ({"id": "b"}, "/targets/1/type"),
        ({"id": "b", "type": "dream"}, "/targets/1/type"),
        ({"id": "b", "type": "sim", "enabled": "yes"}, "/targets/1/enabled"),
        ({"id": "b", "type": "sim", "supported_skills": 3}, "/targets/1/supported_skills"),
        ({"id": "b", "type": "sim", "adapter": []}, "/targets/1/adapter"),
        ({"id": "b", "type": "sim", "perception": {"cameras": {}}}, "/targets/1/perception/cameras"),
        ({"id": "b", "type": "sim", "perception": {"cameras": [{"resolution": [0, 1]}]}}, "/cameras/0/resolution"),
        ({"id": "b", "type": "sim", "perception": {"cameras": [{"fps": 0}]}}, "/cameras/0/fps"),
        ({"id": "a", "type": "sim"}, "/targets/1/id"),
        ("words", "/targets/1"),
    ],
)
def test_a_bad_target_is_named_and_the_others_are_there(entry, where):
    found = targets.read(block({"targets": [{"id": "a", "type": "sim"}, entry, {"id": "z", "type": "real"}]}))
    assert set(found.entries) == {"a", "z"} and len(found.findings) == 1
    assert where in found.findings[0].field and found.findings[0].fix


def test_a_registry_that_is_no_list_is_refused_whole():
    with pytest.raises(BadInput, match="a list"):
        skills.read(block({"skills": "all of them"}))


def test_a_mapping_of_ids_says_the_same_as_a_list():
    found = targets.read(block({"targets": {"a": {"type": "sim"}, "b": {"type": "real"}}}))
    assert list(found.entries) == ["a", "b"]


def test_prose_is_no_registry():
    assert skills.read("# 技能\n\n尚无。\n".encode()).entries == {}


VDA = {"manufacturer": "acme", "serial": "0007"}
ROS = {"url": "ws://10.0.0.7:9090"}


@pytest.mark.parametrize(
    ("driver", "one", "two", "twice"),
    [
        ("vda5050", VDA, VDA, True),
        ("VDA5050", VDA, {**VDA, "interface": "uagv", "places": {"dock": [0, 0]}}, True),
        ("vda5050", VDA, {**VDA, "serial": "0008"}, False),
        ("vda5050", VDA, {**VDA, "interface": "other"}, False),
        ("vda5050", {"manufacturer": "acme"}, {"manufacturer": "acme"}, False),  # the driver says what is missing
        ("rosbridge", ROS, ROS, True),
        ("rosbridge", ROS, {**ROS, "action": "/two/navigate_to_pose", "cmd_vel": "/two/cmd_vel"}, False),
        ("franka", {"ip": "10.0.0.7"}, {"ip": "10.0.0.7"}, False),  # an arm may be declared for two uses
    ],
)
@pytest.mark.parametrize("enabled", [True, False])
def test_two_robots_that_are_one_vehicle_are_named(driver, one, two, twice, enabled):
    adapter = {"class": "RealRobotTargetAdapter", "driver": driver}
    entries = [{"id": id, "type": "real_robot", "adapter": adapter, "config": config}
               for id, config in (("amr_1", one), ("amr_2", two))]  # fmt: skip
    entries[1]["enabled"] = enabled
    found = targets.read(json.dumps({"targets": entries}).encode())
    assert [*found.entries] == ["amr_1", "amr_2"]
    assert [item.code for item in found.findings] == ["VEHICLE_TWICE"] * (twice and enabled), found.findings
    for item in found.findings:
        assert item.field == "TARGETS.md /targets/1/config" and not item.warning
        assert "amr_1" in render(item.found, "en") and "enabled: false" in render(item.fix, "en")


@pytest.mark.parametrize("member", ["safety", "workspace", "config", "type"])
def test_an_entry_with_a_key_that_is_written_twice_is_left_out_and_named(member):
    text = f'''{{"targets": [
      {{"id": "a", "type": "real_robot", "{member}": {{"x": 1}}, "{member}": "sim"}},
      {{"id": "b", "type": "real_robot", "config": {{"safety": {{"speed": 1, "speed": 9}}}}}},
      {{"id": "c", "type": "real_robot"}}]}}'''
    found = targets.read(text.encode())
    assert list(found.entries) == ["c"]
    assert [render(item.found, "en") for item in found.findings] == [
        f"{member} is written twice",
        "speed is written twice",
    ]
    lines = f"targets:\n  a:\n    type: real_robot\n    {member}: sim\n    {member}: sim\n"
    assert not targets.read(lines.encode()).entries
    skill = json.dumps({"skills": [{"id": "s"}]}).replace('"id": "s"', f'"id": "s", "{member}": 1, "{member}": 2')
    assert not skills.read(skill.encode()).entries


@pytest.mark.parametrize(
    "text",
    ['{"targets": [], "targets": [{"id": "a", "type": "sim"}]}', "targets: {a: {type: sim}, a: {type: real_robot}}",
     "version: 1\nversion: 2\ntargets: []\n"],
)  # fmt: skip
def test_a_list_of_targets_that_is_written_twice_is_refused_whole(text):
    with pytest.raises(BadInput, match="written twice"):
        targets.read(text.encode())
