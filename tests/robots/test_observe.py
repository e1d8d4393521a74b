"""An observation is the world's state, and stays the same while nothing happens."""

import json

import pytest

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.formats import environment
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

TABLE = Thing("table_01", category="furniture", position=(0.45, 0.0, 0.0), size=(0.9, 1.2, 0.75), shape="table")

APPLE = Thing("apple_01", "Red Apple", "fruit", (0.5, 0.1, 0.033))


def test_it_is_equal_twice(opened):
    hand = opened(APPLE)
    first = hand.body.observe()
    assert hand.body.observe() == first
    hand.review("pick_up", object_id="apple_01")
    assert hand.body.observe() == first


def test_it_says_the_guesses(opened):
    apple = opened(APPLE).seen("apple_01")
    assert (apple.shape, apple.size, apple.mass, apple.color) == ("sphere", (0.066, 0.066, 0.066), 0.15, "red")
    assert (apple.name, apple.category) == ("Red Apple", "fruit")


def test_it_follows_the_thing_from_table_to_hand_to_basket(opened):
    hand = opened(APPLE)
    scene = hand.body.observe()
    assert Relation("apple_01", "on", "table_01") in scene.relations
    assert Relation("basket_01", "on", "table_01") in scene.relations
    assert (scene.robots[0].gripper, scene.robots[0].holding) == ("open", None)
    hand.do("pick_up", object_id="apple_01")
    scene = hand.body.observe()
    assert (scene.robots[0].gripper, scene.robots[0].holding) == ("holding", "apple_01")
    assert Relation("apple_01", "held_by", "franka_001") in scene.relations
    assert hand.seen("apple_01").status == "held"
    hand.do("place", target="basket_01")
    assert hand.seen("apple_01").status == "in_basket"
    assert Relation("apple_01", "in", "basket_01") in hand.body.observe().relations


def test_joints_are_named_and_rounded(opened):
    joints = opened().body.observe().robots[0].joint_state
    assert list(joints) == [*(f"joint_{i}" for i in range(1, 8)), "finger"]
    assert all(value == round(value, 4) for value in joints.values())
    assert joints["joint_4"] == pytest.approx(-1.5708, abs=0.01)


def test_an_observed_scene_opens_as_the_same_scene(opened):
    first = opened(APPLE)
    first.do("pick_up", object_id="apple_01")
    first.do("place", target="basket_01")
    scene = first.body.observe()
    again = opened(scene=scene).body.observe()
    assert [t.id for t in again.furniture] == [t.id for t in scene.furniture]
    for one, other in zip(scene.objects, again.objects, strict=True):
        assert one.position == pytest.approx(other.position, abs=0.004)
        assert one.status == other.status


def test_without_cameras_there_is_no_picture(opened, tmp_path):
    hand = opened(APPLE, artifacts=tmp_path)
    assert hand.body.observe().perception == {}
    assert list(tmp_path.iterdir()) == []


def test_a_thing_in_a_marked_region_is_said_to_be_there(opened):
    zone = Thing("zone_01", "red zone", "region", (0.5, 0.1, 0.001), size=(0.2, 0.2, 0.002), shape="region")
    hand = opened(scene=Scene((), (APPLE,), (TABLE, zone)))
    relations = hand.body.observe().relations
    assert Relation("apple_01", "on", "zone_01") in relations
    assert Relation("apple_01", "on", "table_01") in relations
    assert hand.seen("apple_01").status == "on_table"


def test_a_thing_on_the_floor_is_said_to_be_there(opened):
    hand = opened(scene=Scene((), (Thing("cube_01", position=(0.5, 0.2, 0.02)),)))
    assert hand.seen("cube_01").status == "on_floor"
    assert hand.do("pick_up", object_id="cube_01").ok


def test_what_a_body_took_from_the_page_is_no_measurement_and_what_it_made_up_is() -> None:
    body = TabletopDriver("franka_001", cameras=False)
    body.open(Scene())
    assert body.assumed() == Scene()  # all of it is its own
    page = Scene(objects=(Thing("cup", category="cup", position=(0.45, 0.1, 0.9), status="empty", extra={"n": 1}),))
    body.open(page)
    assert body.assumed() == body.observe()
    assert body.observe().objects[0].extra == {}
    body.close()


def test_a_page_of_other_robots_is_not_filled_with_things_and_their_state_is_not_taken_over() -> None:
    other = RobotState("desktop_pet_001", (1.0, 0.5, 0.0), {"head": 0.1}, "closed", "pen", {"mood": "curious"})
    body = TabletopDriver("franka_001", cameras=False)
    body.open(Scene(robots=(other,)))
    seen = body.observe()
    assert (seen.objects, [robot.robot_id for robot in seen.robots]) == ((), ["franka_001"])
    assert (seen.robots[0].holding, seen.robots[0].extra, seen.robots[0].pose) == (None, {}, (1.0, 0.5, 0.0))
    body.close()


def test_what_is_measured_names_its_source(opened):
    hand = opened(APPLE)
    assert hand.do("pick_up", object_id="apple_01").evidence["source"] == "truth"


@pytest.mark.parametrize("form", ["page", "v1", "q1", "r"])
@pytest.mark.parametrize("case", ["a thing that lies elsewhere", "a thing that is gone", "nothing, and an edge"])
def test_of_its_own_hand_the_page_says_what_is_measured(form, case) -> None:
    """A person has taken the thing out of the hand, or only out of the robot's entry."""
    holding = None if case.startswith("nothing") else "apple_01"
    apple = {"id": "apple_01", "name": "apple", "position": [0.5, 0.1, 0.033]}
    things = [] if case.endswith("gone") else [apple]
    hand = {"gripper": "holding", "holding": holding}
    edges = [{"from": "apple_01", "to": "franka_001", "relation": "held_by"}]
    value = {
        "page": {"robots": [{"robot_id": "franka_001", **hand}], "objects": things, "scene_graph": {"edges": edges}},
        "v1": {"robot": {"robot_id": "franka_001", **hand}, "objects": things},
        "q1": {"robots": {"franka_001": hand}, "objects": {one["id"]: one for one in things}},
        "r": {
            "robots": {"franka_001": hand},
            "objects": {one["id"]: one for one in things},
            "scene_graph": {"edges": [{"source": "apple_01", "target": "franka_001", "relation": "HELD_BY"}]},
        },
    }[form]
    data = f"# World\n\n```json\n{json.dumps(value)}\n```\n".encode()
    body = TabletopDriver("franka_001", cameras=False)
    body.open(environment.read(data).scene)
    seen = body.observe()
    after = environment.merge(data, seen, robot_id="franka_001", now="2026-11-29T00:00:00Z", before=body.assumed())
    said = environment.read(after).scene
    truly = seen.robots[0].holding
    assert said.robot("franka_001").holding == truly
    assert [one.subject for one in said.relations if one.relation == "held_by"] == ([truly] if truly else [])
    body.close()
