"""A sequence is reviewed whole: each order where the ones before it leave the world, before the first motion."""

from dataclasses import replace

import numpy as np
import pytest

from worldfs.base.model import RobotState, Scene, Thing

from .conftest import BASKET, TABLE, on_table

CUBE = Thing("cube_01", shape="box", position=(0.4, 0.0, 0.025), size=(0.05,) * 3, mass=0.1)
OTHER = replace(CUBE, id="cube_02", position=(0.5, 0.15, 0.025))
BALL = Thing("ball_01", shape="sphere", position=(0.62, -0.15, 0.03), size=(0.06,) * 3, mass=0.1)
BOTTLE = Thing("bottle_01", shape="cylinder", position=(0.3, 0.27, 0.12), size=(0.06, 0.06, 0.24), mass=0.4)
DRAWER = Thing("drawer_01", category="furniture", shape="drawer", position=(0.55, 0.3, 0.08))
SCENE = Scene((RobotState("franka_001"),), (CUBE, OTHER, BALL, BOTTLE), (TABLE, BASKET, DRAWER))


def steps(*given):
    return {"name": "steps", "steps": [{"action_type": op, "params": params} for op, params in given]}


def placed(**where):
    return [{"name": "pick_and_place", "object_id": "cube_01", **where}, steps(PICK, ("place", where))]


PICK = ("pick_up", {"object_id": "cube_01"})
IMPOSSIBLE = [
    *placed(target="drawer_01"),
    *placed(target="ball_01"),
    *placed(target="nothing_01"),
    *placed(target_position=[0.9, 0.9, 0.1]),
    *placed(target_position=[0.5, 0.0, 0.4]),
    *placed(target_position=[0.5, 0.0, -0.2]),
    *placed(target_position=[0.3, 0.27, 0.025]),
    steps(PICK, ("place_beside", {"target": "cube_02", "side": "sideways", "distance": 0.05})),
    steps(PICK, ("place_beside", {"target": "nothing_01", "side": "left", "distance": 0.05})),
    steps(PICK, ("move_to", {"target_pose": [0.5, 0.0, 5.0]})),
    steps(PICK, ("home", {}), ("pick_up", {"object_id": "cube_02"})),
    steps(PICK, ("place", {"target": "cube_02"}), ("pick_up", {"object_id": "cube_02"})),
    steps(PICK, ("place", {"target": "basket_01"}), ("place", {"target": "basket_01"})),
    steps(PICK, ("strategy", {"name": "home"})),
    steps(("stack", {"object_ids": ["cube_02", "cube_01"]}), ("pick_up", {"object_id": "cube_02"})),
    steps(("stack", {"object_ids": ["cube_02", "cube_01"]}), ("move_to", {"target_pose": [0.5, 0.15, 0.06]})),
    steps(
        ("push", {"object_id": "cube_01", "direction": "right", "distance": 0.1}), ("push", {"object_id": "ball_01"})
    ),
]


@pytest.mark.slice(2)
@pytest.mark.parametrize("params", IMPOSSIBLE, ids=str)
def test_nothing_moves_where_a_later_step_is_known_to_be_impossible(opened, params):
    hand = opened(scene=SCENE)
    before = hand.rig.simulation.data.qpos.copy()
    (finding,) = hand.review("strategy", **params)
    assert not finding.warning and finding.condition == ()
    assert np.array_equal(hand.rig.simulation.data.qpos, before)


def test_a_tower_is_reviewed_to_its_top(opened):
    hand = opened(scene=on_table(CUBE, OTHER, replace(BALL, size=(0.15,) * 3, position=(0.3, -0.2, 0.075))))
    (finding,) = hand.review("stack", object_ids=["cube_02", "cube_01", "ball_01"])
    assert "level 3" in finding.found
    assert hand.review("stack", object_ids=["cube_02", "cube_01"]) == []


TOWER = ("stack", {"object_ids": ["cube_02", "cube_01"]})
POSSIBLE = [
    steps(TOWER),
    steps(TOWER, ("pick_up", {"object_id": "cube_01"}), ("place", {"target": "basket_01"})),
    *placed(target="basket_01"),
    *placed(target="cube_02"),
    *placed(target="table_01"),
    *placed(target_position=[0.45, -0.1, 0.025]),
    steps(PICK, ("place_beside", {"target": "cube_02", "side": "right", "distance": 0.05})),
    steps(
        PICK,
        ("home", {}),
        ("place", {"target": "cube_02"}),
        ("pick_up", {"object_id": "cube_01"}),
        ("move_to", {"target_pose": [0.5, 0.0, 0.4]}),
        ("place", {"target": "basket_01"}),
    ),
    steps(
        ("push", {"object_id": "cube_01", "direction": "right", "distance": 0.1}),
        PICK,
        ("place", {"target": "cube_02"}),
    ),
    steps(
        ("pick_up", {"object_id": "ball_01"}),
        ("place", {"target": "basket_01"}),
        PICK,
        ("place", {"target": "basket_01"}),
    ),
    steps(("pick_up", {"object_id": "bottle_01"}), ("place", {"target_position": [0.4, -0.15, 0.12]})),
]


@pytest.mark.slice(4)
@pytest.mark.parametrize("params", POSSIBLE, ids=str)
def test_what_is_let_through_is_done(opened, params):
    hand = opened(scene=SCENE)
    assert hand.review("strategy", **params) == []
    done = hand.do("strategy", **params)
    assert done.ok and "also_moved" not in done.evidence, done.message
