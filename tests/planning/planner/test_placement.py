"""Where a plan puts a thing, by the arm that carries it out."""

from __future__ import annotations

import math

import pytest

from worldfs.base.model import Operation, Profile, RobotState, Scene
from worldfs.planning.planner.placement import PlacementScene, in_container
from worldfs.planning.planner.scene_facts import ThingLocation

from .conftest import TABLE, basket, cube

PROFILE = Profile("Panda", ops=(Operation("place"),), max_reach=0.855)


@pytest.mark.parametrize("x", [0.0, 0.9])
def test_the_place_in_a_box_is_one_that_this_arm_reaches_best(x):
    robot, thing, box = RobotState("arm", (x, 0.0, 0.0)), cube("cube", 0.45, 0.2, "red"), basket(x=0.45, y=-0.4)
    scene = Scene((robot,), (thing,), (TABLE, box))
    bench = PlacementScene(scene, robot, PROFILE, {"cube": thing}, {"cube": ThingLocation("on", "table_01")})
    spot = in_container(thing, box, bench)
    other = (0.9 - spot[0], spot[1])
    assert bench.effort(*spot[:2]) <= bench.effort(*other), spot
    assert math.dist(spot[:2], (x, 0.0)) <= 0.67
