"""Where a plan puts a thing, by the arm that carries it out."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from worldfs.base.messages import render
from worldfs.base.model import Operation, Profile, RobotState, Scene
from worldfs.planning.planner import build_plan
from worldfs.planning.planner.goals import PlacedGoal
from worldfs.planning.planner.placement import PlacementScene, in_container
from worldfs.planning.planner.scene_facts import ThingLocation

from .conftest import ROBOT, TABLE, basket, cube, scene_of

PROFILE = Profile("Panda", ops=(Operation("place"),), max_reach=0.855)
ABLE = Profile("Panda", ops=(Operation("pick_up"), Operation("place")), max_reach=0.855)


@pytest.mark.parametrize("x", [0.0, 0.9])
def test_the_place_in_a_box_is_one_that_this_arm_reaches_best(x):
    robot, thing, box = RobotState("arm", (x, 0.0, 0.0)), cube("cube", 0.45, 0.2, "red"), basket(x=0.45, y=-0.4)
    scene = Scene((robot,), (thing,), (TABLE, box))
    bench = PlacementScene(scene, robot, PROFILE, {"cube": thing}, {"cube": ThingLocation("on", "table_01")})
    spot = in_container(thing, box, bench)
    other = (0.9 - spot[0], spot[1])
    assert bench.effort(*spot[:2]) <= bench.effort(*other), spot
    assert math.dist(spot[:2], (x, 0.0)) <= 0.67


@pytest.mark.parametrize(
    ("x", "y", "lost"),
    [
        (0.59, -0.35, ""),  # 0.686 m away, where an arm points down less easily
        (0.7, 0.45, "can cannot be put at (0.7, 0.45): it is out of reach"),
        (0.5, 0.1, "can cannot be put at (0.5, 0.1): there is red apple"),
        (0.3, 0.62, "can cannot be put at (0.3, 0.62): no table or other furniture is there"),
    ],
)
def test_a_named_point_is_refused_for_what_holds_of_it(scene, x, y, lost):
    plan = build_plan([(PlacedGoal("can_01", (x, y)),)], scene, profile=ABLE, robot_id=ROBOT)
    assert [render(why, "en") for _, why in plan.unmet] == ([lost] if lost else [])
    assert [one.op for one in plan.actions] == ([] if lost else ["pick_up", "place"])


def test_beside_a_table_of_no_known_size_a_point_may_be_on_it(scene):
    unsized = replace(scene, furniture=tuple(replace(t, size=()) for t in scene.furniture))
    plan = build_plan([(PlacedGoal("can_01", (0.3, 0.62)),)], unsized, profile=ABLE, robot_id=ROBOT)
    assert [one.op for one in plan.actions] == ["pick_up", "place"]


def test_a_place_that_is_hard_to_reach_is_taken_where_no_easy_one_is_free():
    bench = PlacementScene(scene_of(), scene_of().robots[0], PROFILE, {}, {})
    easy, hard, far = (bench.reach_cost(x, 0.0) for x in (0.5, 0.72, 0.8))
    assert far is None and easy is not None and hard is not None and easy < 1.0 < hard
