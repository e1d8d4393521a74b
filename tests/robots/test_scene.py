"""A page's scene becomes a world where everything rests on something."""

import json
import math
from dataclasses import replace

import pytest

from worldfs.base.model import RobotState, Scene, Thing
from worldfs.formats import environment
from worldfs.robots.mujoco.object_kinds import completed, kind_of
from worldfs.robots.mujoco.perception import matching_ids
from worldfs.robots.mujoco.random_scene import random_scene
from worldfs.robots.mujoco.scene_layout import layout
from worldfs.robots.mujoco.shared_world import SharedWorld
from worldfs.robots.mujoco.wipe import wipes


@pytest.mark.parametrize(
    ("id", "name", "shape"),
    [
        ("apple_01", "", "sphere"),
        ("obj_7", "红苹果", "sphere"),
        ("can_02", "", "cylinder"),
        ("x", "水杯", "cylinder"),
        ("brick", "", "box"),
        ("candle", "", "box"),  # not a can: whole words only
        ("can_opener_02", "", "box"),  # not a can: its head is opener
        ("x", "apple peeler", "box"),
        ("x", "杯垫", "box"),
        ("???", "", "box"),
    ],
)
def test_a_thing_is_guessed_by_its_words(id, name, shape):
    assert kind_of(Thing(id, name)).shape == shape


def test_a_label_means_things_by_their_heads(opened):
    named = [("a1", "can opener", 0.0), ("a2", "red coffee mug", 0.15), ("a3", "杯垫", -0.15)]
    rig = opened(*(Thing(id, name, position=(0.5, y, 0.03)) for id, name, y in named)).rig
    found = {said: matching_ids(rig, said) for said in ("can", "opener", "the red mug", "red", "coffee", "杯子")}
    assert found == {"can": [], "opener": ["a1"], "the red mug": ["a2"], "red": [], "coffee": [], "杯子": []}


def test_only_a_sponge_wipes():
    assert wipes(Thing("x", "kitchen sponge", shape="box")) and not wipes(Thing("x", "sponge holder", shape="box"))


def test_what_the_file_says_is_never_guessed_over():
    thing = completed(Thing("apple_01", size=(0.1, 0.1, 0.1), mass=0.4, color="green"))
    assert (thing.size, thing.mass, thing.color) == ((0.1, 0.1, 0.1), 0.4, "green")


def test_the_name_says_the_colour():
    assert completed(Thing("a", "绿苹果")).color == "green"
    assert completed(Thing("a", "green apple")).color == "green"
    assert completed(Thing("apple_01")).color == "red"


def test_the_specifications_scene_opens_and_its_apple_rests_on_the_table(opened, page):
    hand = opened(scene=page((1.2, 0.75, 0.8)))
    apple = hand.seen("apple_01")
    assert apple.position == pytest.approx((1.2, 0.75, 0.8 + 0.033), abs=0.002)
    assert apple.status == "on_table"
    table = hand.seen("table_01")
    assert table.position == (1.2, 0.0, 0.8)
    assert 1.2 - table.size[0] / 2 > 0.5 + 0.15  # clear of the robot's base
    assert not [c for c in hand.rig.contacts() if "robot" in (c.one, c.other)]


@pytest.mark.slice(3)
@pytest.mark.parametrize("apple", [(0.95, 0.2, 0.3), (0.9, 0.15, 0.5), (1.0, -0.2, 0.05)])
def test_an_apple_moved_within_reach_can_be_picked(opened, page, apple):
    hand = opened(scene=page(apple))
    placed = hand.seen("apple_01")
    assert placed.position[:2] == pytest.approx(apple[:2], abs=0.003)
    assert hand.review("pick_up", object_id="apple_01") == []
    done = hand.do("pick_up", object_id="apple_01")
    assert done.ok, done.message
    assert hand.seen("apple_01").position[2] > placed.position[2] + 0.04


def test_a_thing_in_the_air_gets_a_stand_that_the_file_then_says(opened, page):
    hand = opened(scene=page((0.95, 0.2, 0.3)))
    stand = hand.seen("stand_apple_01")
    assert stand.category == "stand"
    assert stand.position[2] == pytest.approx(0.3 - 0.033, abs=0.002)
    reopened = opened(scene=hand.body.observe())
    assert {f.id for f in reopened.body.observe().furniture} == {"table_01", "stand_apple_01"}


def test_ids_are_only_names(opened):
    wild = 'a/../b"<x y="1"/>&'
    hand = opened(
        Thing(wild, shape="box", size=(0.05, 0.05, 0.05), position=(0.5, 0.1, 0.0)),
        Thing("苹果 一号", position=(0.4, 0.3, 0.0)),
    )
    assert hand.do("pick_up", object_id=wild).ok
    assert hand.body.observe().robots[0].holding == wild
    assert hand.seen("苹果 一号").shape == "sphere"


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e9])
def test_a_thing_with_a_number_that_no_world_has_is_left_out_and_the_rest_is_built(bad):
    things = (Thing("apple_01", position=(0.5, bad, 0.0)), Thing("can_01", position=(0.5, 0.1, 0.0)))
    assert [thing.id for thing in layout(Scene((), things), "r").objects] == ["can_01"]


def test_a_seed_is_a_scene():
    assert random_scene(3) == random_scene(3)
    assert random_scene(3) != random_scene(4)
    scene = random_scene(3)
    assert {t.id for t in scene.objects} == {"apple_01", "cube_01", "can_01", "bar_01", "brick_01"}
    for thing in scene.objects:
        assert math.hypot(*thing.position[:2]) < 0.63


def test_an_empty_scene_becomes_the_seeds_scene(opened):
    hand = opened(scene=Scene(), world=SharedWorld(seed=3, objects=2))
    assert [t.id for t in hand.body.observe().objects] == ["apple_01", "cube_01"]
    assert hand.seen("apple_01").status == "on_table"


def test_what_was_held_is_held_again_after_a_restart(opened):
    before = opened(Thing("cube_01", position=(0.5, 0.1, 0.025)))
    assert before.do("pick_up", object_id="cube_01").ok
    after = opened(scene=before.body.observe())
    robot = after.body.observe().robots[0]
    assert (robot.gripper, robot.holding) == ("holding", "cube_01")
    assert after.do("place", target="basket_01").ok


def test_a_robot_elsewhere_and_turned_works_there(opened):
    base = (2.0, 1.0, 0.4, 0.0, 0.0, math.pi / 2)
    scene = Scene(
        (RobotState("franka_001", base),),
        (Thing("cube_01", position=(2.0, 1.5, 0.425)),),
        (Thing("desk", category="furniture", position=(2.0, 1.5, 0.4), size=(1.0, 0.6, 0.4), shape="table"),),
    )
    hand = opened(scene=scene)
    assert hand.body.observe().robots[0].pose == pytest.approx(base, abs=1e-4)
    assert hand.do("pick_up", object_id="cube_01").ok
    assert hand.do("place", target_position=[2.15, 1.45, 0.425]).ok


def test_a_chinese_random_scene_differs_in_names_only() -> None:
    english, chinese = random_scene(3, 9), random_scene(3, 9, language="zh")
    for one, other in zip((*english.objects, *english.furniture), (*chinese.objects, *chinese.furniture), strict=True):
        assert not other.name.isascii()
        assert replace(one, name="") == replace(other, name="")
    assert english.relations == chinese.relations


@pytest.mark.parametrize(
    ("field", "value"),
    [("mass", "heavy"), ("size", [0.06, 0.06, None]), ("size", [0, 0, 0]), ("shape", 3), ("orientation", "up"),
     ("color", ["red"]), ("name", {}), ("position", "here")],
)  # fmt: skip
@pytest.mark.parametrize("which", ["apple", "basket"])
def test_a_thing_with_a_field_that_cannot_be_read_is_built_with_the_others(which, field, value):
    apple = {"id": "apple", "name": "apple", "position": [0.45, 0.05, 0.03], "size": [0.06] * 3, "shape": "sphere"}
    basket = {
        "id": "basket",
        "type": "container",
        "position": [0.4, -0.4, 0.05],
        "size": [0.3, 0.4, 0.1],
        "shape": "basket",
    }
    {"apple": apple, "basket": basket}[which][field] = value
    page = {"robots": [{"robot_id": "r", "pose": "here"}], "objects": [apple], "scene_graph": {"nodes": [basket]}}
    built = layout(environment.read(json.dumps(page).encode()).scene, "r")
    ids = {thing.id for thing in (*built.objects, *built.furniture)}
    assert ids >= {"apple", "basket"} - ({which} if field == "position" else set())
