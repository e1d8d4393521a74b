"""Every dialect of ENVIRONMENT.md is read into one Scene, and what cannot be read is named."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from worldfs.base.errors import BadInput, Unsafe
from worldfs.base.messages.message_rendering import render_finding
from worldfs.base.model import Relation
from worldfs.formats import environment

DOCUMENTS = Path(__file__).parent.parent / "fixtures" / "documents"


def document(name):
    return (DOCUMENTS / name).read_bytes()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_specification_s_example_is_read(language):
    env = environment.read(document(f"page_environment_{language}.json"))
    assert (env.dialect, env.findings) == ("page2", ())
    apple = env.scene.thing("apple_01")
    assert apple.name == {"en": "Red Apple", "zh": "红苹果"}[language]
    assert (apple.position, apple.status, apple.category) == ((1.2, 0.75, 0.8), "on_table", "fruit")
    assert [thing.id for thing in env.scene.objects] == ["apple_01"]
    assert [(thing.id, thing.category) for thing in env.scene.furniture] == [("table_01", "furniture")]
    assert env.scene.relations == (Relation("apple_01", "on", "table_01"),)
    robot = env.scene.robot("franka_001")
    assert (robot.pose, robot.gripper, robot.holding) == ((0.5, 0.0, 0.0), "open", None)
    assert robot.joint_state == {"joint_1": 0.0, "joint_2": -0.3}
    assert env.scene.perception["camera_rgb"] == "artifacts/camera/front_001.jpg"


def test_version_one_is_told_by_its_single_robot():
    env = environment.read(document("v1_environment.md"))
    assert (env.dialect, env.findings) == ("page1", ())
    assert env.scene.robot("franka_001").extra == {"firmware": "4.2"}
    assert env.scene.relations == ()


def test_q1_gives_metres_from_the_graph_and_raw_numbers_otherwise():
    env = environment.read(document("q1_environment.md"))
    assert (env.dialect, env.findings) == ("q1", ())
    apple, cup = env.scene.thing("red_apple"), env.scene.thing("blue_cup")
    assert (apple.position, apple.size, apple.category) == ((0.05, 0.125, 0.03), (0.07, 0.07, 0.07), "fruit")
    assert apple.extra["position"] == {"x": 5, "y": 12.5, "z": 3}
    assert apple.extra["ripeness"] == 0.9
    assert cup.position == (-8.0, 4.0, 2.0)
    assert env.scene.thing("n_table") in env.scene.furniture
    assert env.scene.relations == (Relation("red_apple", "on", "n_table"), Relation("red_apple", "near", "n_cup"))
    go2, franka = env.scene.robots
    assert go2.pose == (1.5, -0.25, 0.0, 0.0, 0.0, 1.57)
    assert go2.extra["connection_state"]["port"] == 9000
    assert (franka.gripper, franka.pose, franka.joint_state) == ("open", (), {"joint_1": 0.0})
    assert env.scene.extra["map"]["zones"][0]["name"] == "kitchen"
    assert "map_to_base" in env.scene.extra["tf"]


def test_the_runtime_dialect_is_read():
    env = environment.read(document("r_environment.md"))
    assert (env.dialect, env.findings) == ("r", ())
    assert env.scene.thing("apple_0").position == (0.45, 0.1, 0.03)
    assert env.scene.thing("cup_0").position == ()
    assert env.scene.relations == (Relation("apple_0", "on", "table_0"),)
    assert env.scene.extra["targets"]["sim_franka"]["enabled"] is True


def test_the_oldest_dialect_is_the_objects_alone():
    env = environment.read(document("v0_environment.md"))
    assert env.dialect == "v0"
    assert env.scene.thing("red_apple").position == (5.0, 5.0, 0.0)
    assert env.scene.thing("basket").is_container


@pytest.mark.parametrize("data", [b"", b"\n", document("notes_environment.md"), b"{}", b"```json\n{}\n```\n"])
def test_nothing_and_prose_are_an_empty_scene(data):
    env = environment.read(data)
    assert (env.dialect, env.scene.objects, env.findings) == ("empty", (), ())


def test_yaml_is_read_too():
    env = environment.read(b"# scene\nobjects:\n  - {id: a, position: [1, 2, 3]}\nrobots: []\n")
    assert (env.dialect, env.scene.thing("a").position) == ("page2", (1.0, 2.0, 3.0))


def test_what_cannot_be_read_is_named_and_the_rest_goes_on():
    data = b"""{"robots": [{"robot_id": "r", "pose": [0, NaN, 0]}, {"pose": [0, 0, 0]}, 7],
      "objects": [{"id": "a", "position": [0, 0, 0]}, {"shape": "x"}, {"id": "b", "position": ["0", 0, 0]},
                  {"id": "c", "position": [1, 2]}, {"id": "a", "position": [9, 9, 9]},
                  {"id": "d", "position": [1e999, 0, 0]}],
      "scene_graph": {"nodes": [{"type": "furniture"}, {"id": 3}], "edges": [{"from": "a"}, "on"]}, "perception": []}"""
    env = environment.read(data)
    assert {thing.id: thing.position for thing in env.scene.objects} == {
        "a": (0.0, 0.0, 0.0), "b": (), "c": (), "d": (), "3": ()
    }  # fmt: skip
    assert [(robot.robot_id, robot.pose) for robot in env.scene.robots] == [("r", ())]
    unread = [(one.where, one.what) for one in env.scene.unread]
    assert unread == [
        ("robots/1/robot_id", "name"), ("robots/2", "name"), ("objects/1/id", "entry"),
        ("objects/2/position/0", "place"),
        ("objects/3/position", "place"), ("objects/4/id", "entry"), ("objects/5/position/0", "place"),
        ("scene_graph/nodes/0/id", "entry"),
    ]  # fmt: skip
    fields = {finding.field.removeprefix("ENVIRONMENT.md "): finding for finding in env.findings}
    assert set(fields) == {
        "/robots/0/pose/1", "/robots/1/robot_id", "/robots/2",
        "/objects/1/id", "/objects/2/position/0", "/objects/3/position", "/objects/4/id", "/objects/5/position/0",
        "/scene_graph/nodes/0/id",
        "/scene_graph/edges/0/relation", "/scene_graph/edges/1", "/perception",
    }  # fmt: skip
    assert fields["/robots/0/pose/1"].expected == "a finite number"
    assert fields["/objects/4/id"].code == "ID_DUPLICATE"
    assert all(finding.fix and finding.found for finding in env.findings)


@pytest.mark.parametrize(
    "value",
    [{"objects": 3, "robots": []}, {"robots": {"a": 1}}, {"robot": {"robot_id": []}}, {"scene_graph": [], "map": 0},
     {"objects": {"a": {"position": {"x": "1"}}}}, {"scene_graph": {"nodes": {}, "edges": [{"source": 1}]}},
     {"scene_graph": {"nodes": [{"id": "n", "object_key": ["x"], "center": 4}]}, "objects": {"": {}}},
     {"robots": [], "objects": [{"id": "a", "mass": "heavy"}, {"id": "b", "size": [1, True, 2]}]},
     {"robots": {"a": {"robot_pose": {"x": None}}}}, {"targets": {}, "objects": {"a": {"pose": [1]}}}],
)  # fmt: skip
def test_wrong_types_anywhere_are_findings_never_crashes(value):
    assert environment.read(json.dumps(value).encode()).findings


@pytest.mark.parametrize(
    "data", [b'{"robots": [', b"# E\n```json\n{\n", b"\xff\xfe{}", b'{"objects": {"a": {"position"']
)
def test_the_unreadable_is_refused(data):
    with pytest.raises(BadInput):
        environment.read(data)


def test_an_id_with_a_path_in_it_is_refused():
    for data in (
        b'{"robots": [], "objects": [{"id": "../../etc", "position": [0, 0, 0]}]}',
        b'{"robots": {}, "objects": {"a/b": {"position": {"x": 0}}}}',
        b'{"robots": [{"robot_id": "a/.."}]}',
    ):
        env = environment.read(data)
        assert (env.scene.objects, env.scene.robots) == ((), ())
        assert "holds a path" in env.findings[0].found


def test_reading_json_loads_no_yaml_library():
    code = "import sys, worldfs.formats.environment, worldfs.formats.action_write as w; w.write(w.TEMPLATE, {});"
    code += "sys.exit('ruamel' in str(sys.modules.keys()) or 'numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": os.pathsep.join(sys.path)}, check=True)


def test_artifact_paths_stay_beside_the_file(tmp_path):
    root = tmp_path / "workspace"
    (root / "artifacts").mkdir(parents=True)
    (tmp_path / "secret").write_text("x")
    (root / "artifacts" / "out").symlink_to(tmp_path)
    assert environment.artifact_path(root, "artifacts/camera/front.jpg") == root / "artifacts/camera/front.jpg"
    for bad in ("../secret", "artifacts/../../secret", "/etc/passwd", "artifacts/out/secret", "", "a\x00b",
                "..\\secret", "C:\\x", "~/x"):  # fmt: skip
        with pytest.raises(Unsafe):
            environment.artifact_path(root, bad)


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ({"size": [0, 0, 0]}, True),
        ({"size": [0.05, 0.05, 0]}, True),
        ({"size": [0.05, -0.05, 0.05]}, True),
        ({"size": [0.05, 0.05, 0.05]}, False),
        ({}, False),
        ({"size": [0.2, 0.2, 0], "shape": "region"}, False),
    ],
)
def test_a_body_without_an_extent_is_named_and_not_guessed(more, wrong):
    value = {"schema_version": "v2.0", "robots": [], "objects": [{"id": "c", "position": [0.4, 0, 0.03], **more}]}
    found = environment.read(json.dumps(value).encode())
    assert [one.code for one in found.findings] == (["SCHEMA_VALIDATION"] if wrong else [])
    assert [one.size for one in found.scene.objects] == [() if wrong else tuple(more.get("size", ()))]
    assert not wrong or "leave size out" in render_finding(found.findings[0], "en").expected
