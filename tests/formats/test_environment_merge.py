"""An observation changes what its owner reported, in the dialect found, and no other byte."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.formats import block, environment

DOCUMENTS = Path(__file__).parent.parent / "fixtures" / "documents"
NOW = "2026-11-21T00:00:00Z"
ALL = sorted(path.name for path in DOCUMENTS.glob("*environment*"))
ROBOT = {"page": "franka_001", "v1": "franka_001", "q1": "franka_001", "r": "sim_franka", "v0": "sim", "notes": "sim"}


def document(name):
    return (DOCUMENTS / name).read_bytes()


def merge(data, scene, robot_id="franka_001"):
    return environment.merge(data, scene, robot_id=robot_id, now=NOW)


def spec():
    return document("page_environment_zh.json")


def moved(scene, id, position):
    objects = tuple(replace(t, position=position) if t.id == id else t for t in scene.objects)
    return replace(scene, objects=objects)


@pytest.mark.parametrize("wrap", [b"%s", b"# \xe7\x8e\xaf\xe5\xa2\x83\r\n\r\nprose\r\n```json\r\n%s```\r\nend"])
@pytest.mark.parametrize("name", ["page_environment_en.json", "page_environment_zh.json", "v1_environment.md"])
def test_seeing_what_stands_there_changes_no_byte(name, wrap):
    data = wrap % document(name) if name.endswith("json") else document(name)
    assert merge(data, environment.read(data).scene) is data
    nearly = moved(environment.read(data).scene, "apple_01", (1.20004, 0.74995, 0.8))
    assert merge(data, nearly) is data


def test_a_moved_object_is_the_only_difference():
    after = merge(spec(), moved(environment.read(spec()).scene, "apple_01", (1.1, 0.75, 0.83)))
    expected = spec().decode().replace("[1.2, 0.75, 0.8]", "[1.1, 0.75, 0.83]").replace("2025-04-01T12:00:00Z", NOW)
    assert after.decode() == expected


def test_an_empty_file_becomes_a_page_document():
    scene = Scene(
        robots=(RobotState("franka_001", (0.0, 0.0, 0.0), {"joint_1": 0.12345678}, "open"),),
        objects=(Thing("apple", "红苹果", "fruit", (0.5, -0.0, 0.02), size=(0.07,) * 3, shape="sphere", mass=0.15,
                       color="red", status="on_table"),),
        furniture=(Thing("basket", "basket", "container", (0.4, 0.4, 0.0), size=(0.3, 0.3, 0.1), shape="basket"),),
        relations=(Relation("apple", "on", "table"),),
        perception={"camera_rgb": "artifacts/a.png"},
    )  # fmt: skip
    after = merge(b"", scene)
    assert after.decode().startswith(
        "# ENVIRONMENT\n\n```json\n{\n"
        '  "schema_version": "v2.0",\n  "updated_at": "2026-11-21T00:00:00Z",\n'
        '  "scene_graph": {\n    "nodes": [\n      {\n        "id": "basket",\n        "type": "container",\n'
    )
    assert (
        '      {"id": "apple", "type": "object", "position": [0.5, 0.0, 0.02], "status": "on_table"}\n    ],\n'
        '    "edges": [\n      {"from": "apple", "to": "table", "relation": "on"}\n    ]\n  },\n'
        '  "robots": [\n    {\n      "robot_id": "franka_001",\n      "pose": [0.0, 0.0, 0.0],\n'
        '      "joint_state": {"joint_1": 0.1235},\n      "gripper": "open",\n      "holding": null\n    }\n  ],\n'
        '  "objects": [\n    {\n      "id": "apple",\n      "name": "红苹果",\n'
    ) in after.decode()
    assert after.endswith(b'  "perception": {\n    "camera_rgb": "artifacts/a.png"\n  }\n}\n```\n')
    assert merge(after, scene) is after
    read = environment.read(after)
    assert read.findings == ()
    apple = read.scene.thing("apple")
    assert (apple.size, apple.shape, apple.mass, apple.color) == ((0.07,) * 3, "sphere", 0.15, "red")
    assert read.scene.thing("basket").is_container
    assert read.scene.thing("basket").size == (0.3, 0.3, 0.1)


def test_nothing_seen_leaves_an_empty_file_empty():
    assert merge(b"", Scene()) == b""


def test_prose_gets_a_block_and_keeps_every_word():
    notes = document("notes_environment.md")
    after = merge(notes, Scene(objects=(Thing("a", position=(0.0, 0.0, 0.0)),)))
    assert after.startswith(notes + b"\n```json\n{\n")
    assert environment.read(after).scene.thing("a")


def test_only_what_this_robot_brought_is_removed_when_it_is_gone():
    things = [Thing(name, position=(0.1, 0.1, 0.1), category="cup") for name in ("mine", "also")]
    first = merge(spec(), Scene(objects=tuple(things), relations=(Relation("mine", "near", "also"),)))
    assert {t.id for t in environment.read(first).scene.objects} == {"apple_01", "mine", "also"}
    other = merge(first, Scene(), robot_id="go2")
    assert other is first
    second = merge(first, Scene(objects=(things[1],)))
    scene = environment.read(second).scene
    assert {t.id for t in scene.objects} == {"apple_01", "also"}
    assert scene.relations == (Relation("apple_01", "on", "table_01"),)
    assert b'"mine"' not in second


def test_edges_among_observed_things_are_replaced_and_others_stay():
    scene = environment.read(spec()).scene
    robots = (replace(scene.robots[0], gripper="holding", holding="apple_01"),)
    held = replace(scene, robots=robots, relations=(Relation("apple_01", "held_by", "franka_001"),))
    after = environment.read(merge(spec(), held)).scene
    assert after.relations == (Relation("apple_01", "held_by", "franka_001"),)
    apart = merge(spec(), Scene(objects=scene.objects))
    assert apart == spec()


PLACE = st.tuples(*[st.floats(-1, 1).map(lambda value: round(value, 3))] * 3)
KINDS = (("box", "block"), ("basket", "container"), ("table", "furniture"), ("sphere", "fruit"))
THINGS = st.lists(st.tuples(PLACE, st.floats(0.02, 0.6), st.sampled_from(KINDS)), min_size=2, max_size=5)


def placed(given):
    found = [
        Thing(f"thing_{n}", position=place, size=(side,) * 3, shape=shape, category=kind)
        for n, (place, side, (shape, kind)) in enumerate(given)
    ]
    furniture = tuple(thing for thing in found if thing.shape in ("basket", "table"))
    return tuple(thing for thing in found if thing not in furniture), furniture


@given(THINGS, st.lists(st.tuples(st.integers(0, 4), st.sampled_from(("on", "in", "ON", "near")), st.integers(0, 4))),
       st.lists(PLACE, min_size=5, max_size=5), st.booleans(), st.booleans())  # fmt: skip
def test_no_relation_outlives_an_observation_that_contradicts_it(given, claims, now, whole, empty):
    """A file claims any relations of any things; what a robot then measures of them is what the document says."""
    objects, furniture = placed(given)
    claimed = tuple(Relation(f"thing_{a}", word, f"thing_{b}") for a, word, b in claims if a != b)
    told = Scene((RobotState("arm"),), objects, furniture, claimed)
    data = environment.merge(b"", told, robot_id="person", now=NOW)
    seen = tuple(replace(thing, position=place) for thing, place in zip(objects, now, strict=False))
    before = Scene() if empty else replace(told, relations=())
    scene = Scene((RobotState("arm"),), seen, furniture if whole else ())
    after = environment.read(environment.merge(data, scene, robot_id="arm", now=NOW, before=before, whole=whole)).scene
    assert not [one for one in after.contradicted if one.subject in {thing.id for thing in seen}]


@pytest.mark.parametrize("word", ["on", "ON", "in"])
@pytest.mark.parametrize("known", [False, True])
def test_what_fell_off_a_table_is_no_longer_on_it(word, known):
    table = Thing("table_01", category="furniture", position=(0.5, 0, 0), size=(0.9, 1.2, 0.75), shape="table")
    cube = Thing("cube_01", position=(0.5, 0.1, 0.025), size=(0.05,) * 3, shape="box")
    told = Scene((RobotState("arm"),), (cube,), (table,), (Relation("cube_01", word, "table_01"),))
    data = environment.merge(b"", told, robot_id="person", now=NOW)
    fallen = Scene((RobotState("arm"),), (replace(cube, position=(1.1, 0.1, -0.73)),))
    before = replace(told, relations=()) if known else Scene()
    after = environment.merge(data, fallen, robot_id="arm", now=NOW, before=before, whole=False)
    found = environment.read(after).scene
    assert found.relations == found.contradicted == ()


LABELLED = """# Notes
```json
{
  "schema_version": "v2.0",
  "scene_graph": {
    "nodes": [{"id": "basket_01", "type": "container", "position": [0.4, -0.4, 0.05], "size": [0.3, 0.4, 0.1]}],
    "edges": [
      {"from": "apple", "to": "basket_01", "relation": "in", "by": "me"},
      {"from": "apple", "to": "basket_01", "relation": "near"},
      {"from": "pear", "to": "basket_01", "relation": "in"}
    ]
  },
  "objects": [
    {"id": "apple", "position": [0.45, 0.05, 0.03], "size": [0.06, 0.06, 0.06], "status": "in_basket", "note": "mine"},
    {"id": "pear", "position": [0.45, 0.25, 0.03], "size": [0.06, 0.06, 0.06], "status": "in_basket"}
  ]
}
```
"""


@pytest.mark.parametrize("status", ["on_table", "", "in_basket"])
@pytest.mark.parametrize("known", [False, True])
def test_a_label_does_not_outlive_a_look_at_its_thing_and_no_other_byte_changes(status, known):
    """`known`: the body took the thing from the document, and the thing has not moved since."""
    data = LABELLED.encode()
    apple = Thing("apple", position=(0.45, 0.05, 0.03), size=(0.06,) * 3, status=status)
    before = Scene(objects=(apple,)) if known else Scene()
    after = environment.merge(data, Scene(objects=(apple,)), robot_id="arm", now=NOW, before=before, whole=False)
    value, old = environment.read(after).value, environment.read(data).value
    objects, graph = old["objects"], old["scene_graph"]
    assert value["objects"] == [objects[0] | {"status": "" if status == "in_basket" else status}, objects[1]]
    assert value["scene_graph"]["edges"] == graph["edges"][1:]
    assert value["scene_graph"]["nodes"][:1] == graph["nodes"]
    assert [one.subject for one in environment.read(after).scene.contradicted] == ["pear"]
    assert after.startswith(b"# Notes") and b'"pear", "position": [0.45, 0.25, 0.03]' in after


@pytest.mark.parametrize("why", ["built from the document", "edited since", "agrees"])
def test_a_label_stays_where_nothing_measured_its_thing_against_it(why):
    at, text = (0.45, 0.05, 0.03), LABELLED
    if why != "built from the document":
        at = (0.3, 0.05, 0.03)  # where the body has it: what a person wrote since is not measured
    if why == "agrees":
        at = (0.4, -0.4, 0.04)
        text = text.replace("[0.45, 0.05, 0.03]", "[0.4, -0.4, 0.04]")
    apple = Scene(objects=(Thing("apple", position=at, size=(0.06,) * 3),))
    kept = {"measured": why != "built from the document"}
    after = environment.merge(text.encode(), apple, robot_id="arm", now=NOW, before=apple, whole=False, **kept)
    assert after == text.encode()


def test_two_robots_share_one_file_and_neither_is_lost():  # W10, as far as it is text
    data = b""
    for name in ("a", "b", "a", "b"):
        data = merge(data, Scene(robots=(RobotState(name, (1.0, 2.0, 0.0)),)), robot_id=name)
    assert [robot.robot_id for robot in environment.read(data).scene.robots] == ["a", "b"]
    assert merge(data, Scene(robots=(RobotState("a", (1.0, 2.0, 0.0)), RobotState("b", (9.0, 9.0, 9.0))))) == data


def test_a_human_s_keys_and_fields_survive():  # W9
    text = spec().decode().replace('"category": "fruit",', '"category": "fruit", "fragile": true, "源": [1.50],')
    text = text.replace('"perception"', '"note": {"by": "王", "n": 1.0},\n  "perception"')
    scene = moved(environment.read(text.encode()).scene, "apple_01", (0.0, 0.0, 0.5))
    after = merge(text.encode(), scene).decode()
    assert after == text.replace("[1.2, 0.75, 0.8]", "[0.0, 0.0, 0.5]").replace("2025-04-01T12:00:00Z", NOW)


def test_numbers_that_are_none_are_never_written():
    odd = Scene(objects=(Thing("apple_01", position=(float("nan"), 0.0, 0.0)),),
                robots=(RobotState("franka_001", (float("inf"), 0.0, 0.0)),))  # fmt: skip
    assert merge(spec(), odd) == spec()


def test_an_unreadable_file_is_never_replaced():  # W8
    with pytest.raises(BadInput):
        merge(spec()[:-20], Scene(objects=(Thing("a", position=(0.0, 0.0, 0.0)),)))


def test_bad_entries_stay_as_they_are():
    text = '{"robots": [7, {"pose": 1}], "objects": [{"id": ["x"]}, null], "scene_graph": {"nodes": "?", "edges": [1]}}'
    after = merge(text.encode(), Scene(objects=(Thing("a", position=(0.0, 0.0, 0.0)),))).decode()
    assert '"robots": [7, {"pose": 1}]' in after
    assert '{"id": ["x"]}, null, {"id": "a"' in after
    assert '"nodes": "?", "edges": [1]' in after


def test_what_moved_is_written_into_its_entry_whatever_of_that_cannot_be_read():
    given = {"robots": [], "objects": [
        {"id": 7, "name": "apple", "position": {"x": 0.1, "y": 0, "z": 0, "frame": "base"}, "size": "small"},
        {"name": "cup", "position": [0.2, 0, 0], "mass": "2 kg", "color": ["red"], "note": "mine"},
        {"id": "7", "name": "pear", "position": [0.3, 0, 0]}, "a word", {"id": "d", "position": "here", "shape": 4},
    ]}  # fmt: skip
    seen = Scene(objects=(Thing("7", position=(0.5, 0.1, 0.2)), Thing("cup", position=(0.6, 0.1, 0.2))))
    now = environment.read(merge(json.dumps(given).encode(), seen)).value["objects"]
    first, second, *rest = given["objects"]
    assert now[0] == first | {"position": {"x": 0.5, "y": 0.1, "z": 0.2, "frame": "base"}}
    assert now[1:] == [second | {"position": [0.6, 0.1, 0.2]}, *rest]


def test_a_turned_thing_is_written_and_turned_back():
    turned = Scene(objects=(Thing("apple_01", position=(1.2, 0.75, 0.8), orientation=(0.0, 1.0, 0.0, 0.0)),))
    after = merge(spec(), turned)
    assert environment.read(after).scene.thing("apple_01").orientation == (0.0, 1.0, 0.0, 0.0)
    back = merge(after, replace(turned, objects=(replace(turned.objects[0], orientation=(1.0, 0.0, 0.0, 0.0)),)))
    assert environment.read(back).scene.thing("apple_01").orientation == (1.0, 0.0, 0.0, 0.0)


def test_q1_is_written_in_its_own_form():
    data = document("q1_environment.md")
    scene = Scene(
        robots=(RobotState("franka_001", (0.5, 0.0, 0.0), {"joint_1": 0.25}, "closed", "red_apple"),),
        objects=(Thing("red_apple", category="fruit", position=(0.3, 0.125, 0.03), status="held"),
                 Thing("brick", category="block", position=(0.1, 0.2, 0.01), size=(0.05,) * 3)),
        relations=(Relation("red_apple", "held_by", "franka_001"), Relation("brick", "near", "red_apple")),
    )  # fmt: skip
    after = merge(data, scene).decode()
    assert merge(after.encode(), scene) == after.encode()
    value = block.find(after, ("robots",)).value
    assert list(value["robots"]) == ["go2_edu_001", "franka_001"]
    assert value["robots"]["franka_001"]["gripper_state"] == {"state": "closed", "width": 0.08}
    assert value["objects"]["red_apple"]["position"] == {"x": 30.0, "y": 12.5, "z": 3}
    assert '"y": 12.50, "z": 3}, "state": "fresh", "ripeness": 0.9}' in after
    assert value["objects"]["brick"]["position"] == {"x": 10.0, "y": 20.0, "z": 1.0}
    nodes = {node["id"]: node for node in value["scene_graph"]["nodes"]}
    assert nodes["n_apple"]["center"] == {"x": 0.3, "y": 0.125, "z": 0.03}
    assert nodes["brick"]["object_key"] == "brick"
    edges = [(edge["source"], edge["relation"], edge["target"]) for edge in value["scene_graph"]["edges"]]
    assert edges == [
        ("n_apple", "CLOSE_TO", "n_cup"),  # the cup was not observed, so its edge is somebody else's
        ("n_apple", "HELD_BY", "franka_001"),
        ("brick", "CLOSE_TO", "n_apple"),
    ]
    assert after.endswith("Notes below the block stay.\n")
    untouched = [
        line for line in data.decode().splitlines() if "go2_edu" in line or '  "map":' in line or "blue_cup" in line
    ]
    assert all(line.rstrip(",") in after for line in untouched)


def test_the_runtime_dialects_are_written_in_their_own_form():
    data = document("r_environment.md")
    scene = Scene(objects=(Thing("apple_0", position=(0.45, 0.2, 0.03)), Thing("cup_0", position=(0.1, 0.1, 0.0))),
                  relations=(Relation("cup_0", "near", "apple_0"),), perception={"camera_rgb": "a.png"})  # fmt: skip
    after = merge(data, scene, "sim_franka")
    assert merge(after, scene, "sim_franka") == after
    value = block.find(after.decode(), ("objects",)).value
    assert value["objects"]["apple_0"]["pose"] == {"position": [0.45, 0.2, 0.03], "orientation": [0, 0, 0, 1]}
    assert value["objects"]["cup_0"]["pose"] == {"position": [0.1, 0.1, 0.0]}
    assert value["scene_graph"]["relations"][1] == {"subject": "cup_0", "relation": "near", "object": "apple_0"}
    assert set(value["perception"]) == {"runs", "camera_rgb"}
    assert "robots" not in value and "updated_at" not in value


def test_what_a_robot_saw_is_written_again_after_a_restart_and_another_program_s_stays():
    """A kernel that begins knows nothing of what the one before it wrote; the block says whose it is."""

    def seen(at, fault=None, robot="franka_001"):
        told = {
            "source": "camera",
            "robot_id": robot,
            "objects": {"apple": {"position": [at, 0.0, 0.0]}},
            "fault": fault,
        }
        return Scene(robots=(RobotState(robot),), perception=told)

    def block_of(data):
        return json.loads(data)["perception"]

    first = merge(spec(), seen(0.1, {"code": "CAMERA_DARK"}))
    assert block_of(first)["objects"]["apple"]["position"][0] == 0.1
    again = block_of(merge(first, seen(0.4)))
    assert (again["objects"]["apple"]["position"][0], again["fault"]) == (0.4, None)
    assert (
        block_of(merge(first, seen(0.4, robot="franka_002"), robot_id="franka_002"))["objects"]
        == (block_of(first)["objects"])
    )
    foreign = first.replace(b'"source": "camera"', b'"source": "ceiling"')
    assert block_of(merge(foreign, seen(0.4)))["objects"] == block_of(first)["objects"]
    older = re.sub(rb'"robot_id": "franka_001",\s*"objects"', b'"objects"', first)  # of an older version
    assert older != first and block_of(merge(older, seen(0.4)))["objects"]["apple"]["position"][0] == 0.4


def test_what_had_no_name_goes_with_the_picture_that_showed_it():
    apple, box = Thing("apple_01"), Thing("unknown_1", category="unknown", position=(0.3, 0.3, 0.05))
    both = merge(spec(), Scene(objects=(box, replace(apple, position=(0.4, 0.0, 0.8)))))
    assert {one["id"] for one in json.loads(both)["objects"]} == {"apple_01", "unknown_1"}
    after = environment.merge(both, Scene(objects=()), robot_id="franka_001", now=NOW, whole=False)
    assert [one["id"] for one in json.loads(after)["objects"]] == ["apple_01"]  # a named thing stays
    other = environment.merge(both, Scene(objects=()), robot_id="franka_002", now=NOW, whole=False)
    assert len(json.loads(other)["objects"]) == 2


def test_the_oldest_dialect_is_written_in_its_own_form():
    data = document("v0_environment.md")
    after = merge(data, Scene(objects=(Thing("red_apple", position=(0.3, 0.05, 0.0)),), perception={"x": "y"}))
    assert after == data.replace(b'"x": 5, "y": 5', b'"x": 30.0, "y": 5')


def test_version_one_stays_one_until_a_second_robot_comes():
    data = document("v1_environment.md")
    after = merge(
        data, Scene(robots=(RobotState("franka_001", (0.5, 0.1, 0.0), gripper="open"),), perception={"a": "b"})
    )
    assert after.decode() == data.decode().replace("[0.50, 0.0", "[0.50, 0.1").replace("2025-01-01T00:00:00Z", NOW)
    both = environment.read(merge(data, Scene(robots=(RobotState("go2", (0.0, 0.0, 0.0)),)), robot_id="go2"))
    assert both.dialect == "page2"
    assert [robot.robot_id for robot in both.scene.robots] == ["franka_001", "go2"]


def test_the_step_from_one_to_two_loses_nothing():
    data = document("v1_environment.md")
    after = environment.upgrade(data)
    env = environment.read(after)
    assert (env.dialect, env.findings) == ("page2", ())
    assert env.scene == environment.read(data).scene.__class__(
        **{f: getattr(environment.read(data).scene, f) for f in ("robots", "objects", "furniture", "relations")},
        perception={},
        extra=env.scene.extra,
    )
    text = after.decode()
    assert '"robots": [{\n    "robot_id": "franka_001",\n    "pose": [0.50, 0.0, 0.0],' in text
    assert '"joint_2": -3e-1' in text and '"firmware": "4.2"' in text
    assert env.value["schema_version"] == "v2.0"
    assert env.value["scene_graph"]["edges"] == [] and env.value["perception"] == {}
    assert environment.upgrade(after) == after
    assert environment.upgrade(spec()) == spec()


@pytest.mark.parametrize("name", ALL)
def test_every_dialect_keeps_its_bytes_when_read_and_its_form_when_written(name):
    data = document(name)
    before = environment.read(data)
    robot = ROBOT[name.split("_")[0]]
    once = merge(data, Scene(objects=(Thing("new_thing", category="cup", position=(0.25, 0.5, 0.75)),)), robot)
    after = environment.read(once)
    assert after.dialect == (before.dialect if before.dialect != "empty" else "page2")
    assert {thing.id for thing in after.scene.objects} == {thing.id for thing in before.scene.objects} | {"new_thing"}
    gone = environment.read(merge(once, Scene(), robot))
    assert gone.scene.objects == before.scene.objects
    assert gone.scene.relations == before.scene.relations


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**400), 10**400) | st.floats() | st.text(max_size=5),
    lambda v: st.lists(v, max_size=3)
    | st.dictionaries(
        st.sampled_from(["id", "robot_id", "position", "pose", "x", "source", "from", "to", "relation", "center",
                         "type", "object_key", "a"]), v, max_size=4),
    max_leaves=10,
)  # fmt: skip
documents = st.dictionaries(
    st.sampled_from(["robots", "robot", "objects", "scene_graph", "perception", "targets", "map", "updated_at", "z"]),
    json_values
    | st.lists(json_values, max_size=3)
    | st.dictionaries(st.sampled_from(["nodes", "edges", "relations", "a"]), st.lists(json_values, max_size=3)),
    max_size=5,
)


@given(documents)
@settings(max_examples=40, deadline=None)
def test_no_document_crashes_the_reader_or_the_writer(value):
    data = json.dumps(value, indent=2).encode()
    seen = Scene(
        robots=(RobotState("a", (0.0, 0.0, 0.0)),),
        objects=(Thing("a", position=(1.0, 2.0, 3.0)),),
        relations=(Relation("a", "on", "b"),),
    )
    environment.read(data)
    after = merge(data, seen, "a")
    environment.read(after)
    again = merge(after, seen, "a")
    assert again == after


def test_a_robot_says_what_it_holds_and_one_without_a_gripper_says_nothing_of_it():
    edges = [{"from": "apple_01", "to": "franka_001", "relation": "held_by", "sure": 0.5},
             {"from": "apple_01", "to": "go2", "relation": "held_by"}]  # fmt: skip
    value = {"robots": [{"robot_id": "franka_001", "holding": "apple_01"}, {"robot_id": "go2", "holding": "parcel"}],
             "objects": [{"id": "apple_01", "position": [0, 0, 0]}], "scene_graph": {"edges": edges}}  # fmt: skip
    data = json.dumps(value).encode()
    open_hand = Scene(robots=(RobotState("franka_001", (), {}, "open"),))
    after = environment.read(merge(data, open_hand)).value
    assert after["robots"] == [{"robot_id": "franka_001", "holding": None, "gripper": "open"}, value["robots"][1]]
    assert after["scene_graph"]["edges"] == edges[1:]
    walking = Scene(robots=(RobotState("go2", (1.0, 0.0, 0.0)),))
    after = environment.read(merge(data, walking, "go2")).value
    assert after["robots"][1] == {"robot_id": "go2", "holding": "parcel", "pose": [1.0, 0.0, 0.0]}
    assert after["scene_graph"]["edges"] == edges


def test_a_body_that_does_not_see_a_thing_of_its_own_leaves_it():
    mine = merge(spec(), Scene(objects=(Thing("mine", position=(0.1, 0.1, 0.1)),)))
    blind = environment.merge(mine, Scene(robots=(RobotState("franka_001", (), {"a": 1.0}),)), robot_id="franka_001",
                              now=NOW, whole=False)  # fmt: skip
    assert environment.read(blind).scene.thing("mine")


def test_joints_of_another_body_in_ones_own_entry_stay():
    value = {"robots": {"pet": {"joint_state": {"head": 0.1, "joint_1": 0.5}, "mood": "curious"}}}
    data = json.dumps(value).encode()
    seen = Scene(robots=(RobotState("pet", (), {"joint_1": 0.7}),))
    after = environment.read(merge(data, seen, "pet")).value
    assert after["robots"]["pet"] == {"joint_state": {"head": 0.1, "joint_1": 0.7}, "mood": "curious"}


BAD_IDS = ([], {}, None, 3, True, "")


@pytest.mark.parametrize("bad", BAD_IDS, ids=map(json.dumps, BAD_IDS))
@pytest.mark.parametrize(
    "shape",
    [
        lambda bad: {"objects": [{"id": bad, "position": [0, 0, 0]}], "robots": [{"robot_id": bad}]},
        lambda bad: {"objects": {"a": {"id": bad}}, "robots": {"r": {"id": bad}}},
        lambda bad: {"scene_graph": {"nodes": [{"id": bad}], "edges": [{"from": bad, "to": bad, "relation": bad}]}},
        lambda bad: {"schema_version": "v1", "scene_graph": {"nodes": [{"id": bad}], "edges": [{"source": bad}]}},
        lambda bad: {"scene_graph": {"nodes": {"x": {"id": bad}}, "edges": []}},
    ],
    ids=["lists", "mappings", "graph", "v1", "keyed graph"],
)
def test_an_id_that_is_no_text_hinders_no_observation(shape, bad):
    data = json.dumps(shape(bad)).encode()
    seen = Scene(objects=(Thing("b_1", "", "object", (0.1, 0.2, 0.3)),))
    for scene in (environment.read(data).scene, seen):
        after = merge(data, scene)
        json.loads(after)
    assert b"b_1" in after
