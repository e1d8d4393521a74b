"""Words to a robot that goes to places itself: it is sent there by label, and an arm is not."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources

import pytest

from worldfs.base.model import Profile, RobotState, Scene, Thing
from worldfs.formats import embodied
from worldfs.planning.planner.goals import AtGoal, VisitGoal
from worldfs.planning.planner.instruction_parser import interpret
from worldfs.planning.planner.intent import CommandIntent, RefusedIntent
from worldfs.planning.planner.orders import interpreter
from worldfs.planning.planner.planned_actions import goes_to_places
from worldfs.planning.planner.proposed_steps import ProposedSteps
from worldfs.planning.planner.suggestions import suggestions

SCENE = Scene(
    (RobotState("dog"),),
    (Thing("ball_01", "red ball", "ball", (1.0, 1.0, 0.1), size=(0.2, 0.2, 0.2), shape="sphere", color="red"),),
    (
        Thing("kitchen_table", "kitchen table", "table", (2.7, -0.9, 0.75), size=(1.2, 0.8, 0.75), shape="table"),
        Thing("door", "door", "door", (-4.0, 0.0, 0.5), size=(0.1, 0.9, 1.0), shape="box"),
        Thing("charging_station", "charging station", "dock", (0.0, 2.4, 0.0), size=(0.9, 0.8, 0.0), shape="region"),
    ),
)


def shipped(name: str) -> Profile:
    return embodied.read(resources.files("worldfs").joinpath("profiles", f"{name}.md").read_bytes())


DOG, ARM = shipped("go2_edu"), shipped("franka_panda")
SAID = {
    "go to the door": "door",
    "walk to the kitchen table": "kitchen_table",
    "please head to the door": "door",
    "navigate to the red ball": "ball_01",
    "look at the table": "kitchen_table",
    "go home": "charging_station",
    "去门": "door",
    "去厨房的桌子": "kitchen_table",
    "走到门": "door",
    "回家": "charging_station",
}


@pytest.mark.parametrize("text", SAID)
def test_it_is_sent_to_the_thing_by_its_id(text: str) -> None:
    intent = interpret(text, SCENE, profile=DOG)
    assert isinstance(intent, CommandIntent) and intent.goals == (VisitGoal(SAID[text]),), intent
    orders = interpreter("dog", DOG)(text, SCENE)
    assert [(order.op, order.params) for order in orders] == [("target_navigation", {"target_label": SAID[text]})]


ZONES = [
    {"name": "dock"}, {"name": "kitchen", "center": [1, 2], "size": [1, 1]},
    {"name": "loading bay", "pose": [2, 2, 1.57]},
    {"name": "工位A", "pose": [3, 3]}, {"name": "odd", "pose": ["x"]}, {"pose": [1, 1]}, "text",
]  # fmt: skip
ZONES_SAID = {
    "go to the dock": "dock", "drive to the charger": "dock", "go home": "dock", "去充电站": "dock", "回家": "dock",
    "go to the kitchen": "kitchen", "去厨房": "kitchen", "go to the loading bay": "loading bay", "去工位A": "工位A",
    "go to odd": "odd",
}  # fmt: skip


@pytest.mark.parametrize("text", ZONES_SAID)
def test_a_zone_of_the_map_is_a_place_also_where_only_the_robots_own_map_knows_it(text: str) -> None:
    scene = Scene((RobotState("amr"),), extra={"map": {"zones": ZONES}})
    orders = interpreter("amr", shipped("generic_amr"))(text, scene)
    assert [(order.op, order.params) for order in orders] == [("target_navigation", {"target_label": ZONES_SAID[text]})]


@pytest.mark.parametrize(
    "text", ["go to the dock, then to the kitchen", "go to the dock and then the kitchen", "先去dock，再去kitchen"]
)
def test_after_then_the_way_goes_on_without_another_verb(text: str) -> None:
    scene = Scene((RobotState("amr"),), extra={"map": {"zones": ZONES}})
    orders = interpreter("amr", shipped("generic_amr"))(text, scene)
    assert [order.params for order in orders] == [{"target_label": "dock"}, {"target_label": "kitchen"}]


def test_of_two_docks_the_robot_asks_which_and_a_thing_of_the_same_name_comes_first() -> None:
    zones = [{"name": "dock 1", "pose": [0, 0]}, {"name": "dock 2", "pose": [1, 1]}, {"name": "door", "pose": [1, 1]}]
    scene = replace(SCENE, furniture=SCENE.furniture[1:2], extra={"map": {"zones": zones}})
    asked = interpret("go to the dock", scene, profile=DOG)
    assert isinstance(asked, RefusedIntent) and asked.kind == "ambiguous", asked
    intent = interpret("go to the door", scene, profile=DOG)
    assert isinstance(intent, CommandIntent) and intent.goals == (VisitGoal("door"),)
    assert isinstance(interpret("go to the dock", scene, profile=ARM), RefusedIntent)  # it does not go to places


def test_a_point_of_the_floor_has_two_numbers_or_three() -> None:
    for text in ("go to (1, 0.5)", "go to (1, 0.5, 0)"):
        orders = interpreter("dog", DOG)(text, SCENE)
        assert [(order.op, order.params) for order in orders] == [("move_to", {"target_pose": [1.0, 0.5, 0.0]})]


@pytest.mark.parametrize("name", ["generic_amr", "generic_amr.zh"])
@pytest.mark.parametrize("typed", [True, False])
def test_a_vehicle_is_sent_too_also_by_a_profile_without_a_type(name: str, typed: bool) -> None:
    profile = shipped(name) if typed else replace(shipped(name), type="")
    orders = interpreter("amr", profile)("go to the door", SCENE)
    assert [(order.op, order.params) for order in orders] == [("target_navigation", {"target_label": "door"})]
    orders = interpreter("amr", profile)("去 (1, 0.5)", SCENE)
    assert [(order.op, order.params) for order in orders] == [("move_to", {"target_pose": [1.0, 0.5, 0.0]})]


def test_an_arm_moves_its_gripper_there_instead() -> None:
    intent = interpret("go to the door", SCENE, profile=ARM)
    assert isinstance(intent, CommandIntent) and intent.goals == (AtGoal((-4.0, 0.0, 1.15), "door"),)
    assert isinstance(interpret("go to (1, 0.5)", SCENE, profile=ARM), RefusedIntent)
    assert goes_to_places(DOG) and not goes_to_places(ARM) and not goes_to_places(None)


@pytest.mark.parametrize("text", ["don't go to the door", "if you go to the door", "did you go to the door?"])
def test_what_is_no_order_sends_it_nowhere(text: str) -> None:
    assert not isinstance(interpret(text, SCENE, profile=DOG), CommandIntent)


def test_what_is_suggested_and_what_a_model_may_propose_is_what_it_can_do() -> None:
    for language, first in (("en", "go to the kitchen table"), ("zh", "去桌子")):
        said = suggestions(SCENE, language, DOG, "dog")
        assert said[0] == first
        assert all(isinstance(interpret(text, SCENE, profile=DOG), CommandIntent) for text in said)
    assert {"go_to"} == set(ProposedSteps(SCENE, DOG).steps)
    assert "go_to" not in ProposedSteps(SCENE, ARM).steps
