"""What cannot be done is refused by its reason, and nothing moves."""

import math
from dataclasses import replace

import numpy as np
import pytest

from worldfs.base.model import Operation, Profile, Thing
from worldfs.base.order_parameters import OBJECT
from worldfs.planning.critic import Critic

CUBE = Thing("cube_01", position=(0.5, 0.1, 0.025))


def refusal(hand, op, **params):
    before = hand.rig.simulation.data.qpos.copy()
    findings = hand.review(op, **params)
    assert np.array_equal(before, hand.rig.simulation.data.qpos), "a review moved something"
    assert len(findings) == 1
    return findings[0]


def test_an_apple_out_of_reach(opened):
    hand = opened(Thing("apple_01", position=(0.88, 0.50, 0.033)))
    finding = refusal(hand, "pick_up", object_id="apple_01")
    assert finding.code == "CRITIC_REFUSED"
    assert "Max Reach" in finding.field
    assert "1.01" in finding.found
    assert "0.855" in finding.expected
    done = hand.do("pick_up", object_id="apple_01")
    assert not done.ok
    assert done.evidence["steps"] == 0


def test_the_specifications_own_apple(opened, page):
    hand = opened(scene=page((1.2, 0.75, 0.8)))
    assert "1.32" in refusal(hand, "pick_up", object_id="apple_01").found


def test_a_box_of_ten_centimetres(opened):
    hand = opened(Thing("box_01", size=(0.1, 0.1, 0.1), shape="box", position=(0.5, 0.1, 0.05)))
    finding = refusal(hand, "pick_up", object_id="box_01")
    assert "Max Grip Width" in finding.field
    assert "0.1000 m" in finding.found


def test_an_unknown_thing_and_furniture(opened):
    hand = opened(CUBE)
    unknown = refusal(hand, "pick_up", object_id="pear_09")
    assert (unknown.code, unknown.found) == ("UNKNOWN_OBJECT", "pear_09")
    assert "cube_01" in unknown.expected
    assert "furniture" in refusal(hand, "pick_up", object_id="table_01").fix


@pytest.mark.parametrize("first", ["object", "target_object", "target", "target_id"])
def test_critic_and_driver_refuse_an_order_whose_names_disagree(opened, first):
    hand = opened(CUBE)
    second = OBJECT[OBJECT.index(first) + 1]
    order = hand.order("pick_up", **{second: "plum_01", first: "cube_01"})
    by_files = Critic().review(order, hand.body.observe(), Profile("Any", ops=(Operation("pick_up"),)))
    for (refused,) in (by_files, hand.body.review(order)):
        assert (refused.code, refused.found) == ("UNKNOWN_PARAMETER", f"{second}, which nothing reads")
    agreed = replace(order, params={first: "pear_09", second: "pear_09"})
    by_files = Critic().review(agreed, hand.body.observe(), Profile("Any", ops=(Operation("pick_up"),)))
    assert [one.found for one in (*by_files, *hand.body.review(agreed))] == ["pear_09"] * 2


def test_what_an_order_names_is_what_is_put_down(opened):
    """The gripper holds another thing than `place` names: nothing moves, whoever holds the order against the files."""
    hand = opened(CUBE, Thing("cube_02", size=(0.04,) * 3, shape="box", position=(0.45, -0.15, 0.02)))
    assert hand.do("pick_up", object_id="cube_01").ok
    by_files = Critic().review(
        hand.order("place", object_id="cube_02", target_position=[0.4, 0.0, 0.0]),
        hand.body.observe(),
        Profile("Any", ops=(Operation("place"),)),
    )
    assert [one.code for one in by_files] == ["HOLDING"]
    before = hand.body.observe().thing("cube_01").position
    outcome = hand.do("place", object_id="cube_02", target_position=[0.4, 0.0, 0.0])
    assert not outcome.ok and hand.body.observe().robots[0].holding == "cube_01"
    assert math.dist(before, hand.body.observe().thing("cube_01").position) < 0.005
    assert hand.do("place", object_id="cube_01", target_position=[0.4, 0.0, 0.0]).ok


@pytest.mark.parametrize(
    ("op", "params", "unread"),
    [
        ("pick_up", {"objectid": "cube_01", "object_id": "cube_01"}, "objectid"),
        ("pick_up", {"object_id": "cube_01", "instruction": "the green can"}, "instruction"),
        ("move_to", {"x": 0.4, "y": 0.1, "z": 0.4, "speeed": 0.1}, "speeed"),
        ("strategy", {"name": "home", "objekt": "cube_01"}, "objekt"),
        ("strategy", {"name": "steps", "steps": [{"op": "pick_up", "object_id": "cube_01", "gently": True}]}, "gently"),
    ],
)  # fmt: skip
def test_what_nothing_reads_refuses_a_moving_order(opened, op, params, unread):
    (finding,) = opened(CUBE).body.review(opened(CUBE).order(op, **params))
    assert (finding.code, finding.found) == ("UNKNOWN_PARAMETER", f"{unread}, which nothing reads")


def test_placing_with_an_empty_hand_and_picking_with_a_full_one(opened):
    hand = opened(CUBE)
    assert refusal(hand, "place", target_position=[0.4, 0.0, 0.0]).code == "NOT_HOLDING"
    assert hand.do("pick_up", object_id="cube_01").ok
    finding = refusal(hand, "pick_up", object_id="cube_01")
    assert (finding.code, finding.fix) == ("HOLDING", "place cube_01 first")


@pytest.mark.parametrize("target", [[math.nan, 0, 0], [0.4, "x", 0], [0.4], "here"])
def test_a_target_that_is_no_point(opened, target):
    hand = opened(CUBE)
    assert refusal(hand, "move_to", target_pose=target).code == "SCHEMA_VALIDATION"


def test_a_pose_inside_the_table_and_one_out_of_reach(opened):
    hand = opened(CUBE)
    assert "robot-table_01" in refusal(hand, "move_to", target_pose=[0.5, 0.3, -0.1]).found
    assert "Max Reach" in refusal(hand, "move_to", target_pose=[1.5, 0.0, 0.3]).field


def test_a_place_with_nothing_beneath(opened):
    hand = opened(CUBE)
    assert hand.do("pick_up", object_id="cube_01").ok
    finding = refusal(hand, "place", target_position=[0.5, 0.2, 0.5])
    assert "nearest surface there is table_01 at z = 0.000" in finding.found
    assert "0.025" in finding.fix


@pytest.mark.parametrize(("above", "done"), [(0.02, True), (0.045, False), (0.15, False)])
def test_a_place_in_the_air_is_no_place_on_the_surface_below(opened, above, done):
    """A point up to 3 cm above the object's centre at rest is that place; a higher one has nothing beneath."""
    hand = opened(CUBE)
    assert hand.do("pick_up", object_id="cube_01").ok
    found = hand.review("place", target_position=[0.5, 0.2, 0.025 + above])
    assert [one.code for one in found] == ([] if done else ["CRITIC_REFUSED"])
    assert done or "nearest surface there is table_01" in found[0].found


def test_a_place_that_is_taken(opened):
    hand = opened(CUBE, Thing("brick_01", position=(0.45, -0.03, 0.05)))
    assert hand.do("pick_up", object_id="cube_01").ok
    finding = refusal(hand, "place", target_position=[0.45, 0.012, 0.025])
    assert "brick_01" in finding.found


def test_a_thing_hemmed_in(opened):
    walls = [
        Thing(f"block_{i}", size=(0.06, 0.06, 0.12), shape="box", mass=1.0, position=(0.5 + dx, 0.1 + dy, 0.06))
        for i, (dx, dy) in enumerate([(0.057, 0), (-0.057, 0), (0, 0.057), (0, -0.057)])
    ]
    hand = opened(Thing("cube_01", position=(0.5, 0.1, 0.025)), *walls)
    finding = refusal(hand, "pick_up", object_id="cube_01")
    assert "collision" in finding.field
    assert "block_" in finding.found


def test_an_op_that_is_none(opened):
    hand = opened(CUBE)
    done = hand.do("fly")
    assert (done.ok, done.code) == (False, "UNKNOWN_OP")
    assert "pick_up" in done.message


BALL = Thing("ball_01", "Ball", "toy", (0.6, 0.0, 0.04), size=(0.08,) * 3, shape="sphere", mass=0.1)
LOG = Thing(
    "log_01", "Log", "toy", (0.5, 0.3, 0.03), (0.7071068, 0.7071068, 0.0, 0.0), (0.06, 0.06, 0.2), "cylinder", 0.1
)


PEG = Thing("peg_01", "Peg", "peg", (0.45, 0.25, 0.04), size=(0.012, 0.012, 0.08), shape="box", mass=0.02)


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ({"target": "peg_01"}, "peg_01"),
        ({"target_position": [0.45, 0.25, 0.105]}, "peg_01"),
        ({"target": "basket_01", "target_position": [0.45, 0.0, 0.025]}, "basket_01"),
        ({"target": "table_01", "target_position": [0.4, -0.4, 0.03]}, "table_01"),
        ({"target": "nope", "target_position": [0.45, 0.0, 0.025]}, "nope"),
        ({"target": "ball_01"}, "ball_01"),
        ({"target_position": [0.6, 0.0, 0.105]}, "ball_01"),
        ({"target": "log_01"}, "log_01"),
    ],
)
def test_a_place_that_is_none_or_two_is_refused_alone_and_within_a_sequence(opened, where, named):
    hand = opened(CUBE, BALL, LOG, PEG)
    assert hand.do("pick_up", object_id="cube_01").ok
    found = refusal(hand, "place", **where)
    assert named in f"{found.expected} {found.found}" and found.fix


@pytest.mark.parametrize("op", ["strategy", "steps"])
def test_a_sequence_does_not_lift_a_thing_for_a_place_that_is_none(opened, op):
    hand = opened(CUBE, BALL, PEG)
    for where in ({"target": "basket_01", "target_position": [0.45, 0.0, 0.025]}, {"target": "ball_01"},
                  {"target": "peg_01"}, {"target_position": [0.45, 0.0, 0.025], "target": "nope"}):  # fmt: skip
        steps = [{"op": "pick_up", "object_id": "cube_01"}, {"op": "place", **where}]
        params = {"name": "pick_and_place", "object_id": "cube_01", **where} if op == "strategy" else {"steps": steps}
        refusal(hand, "strategy", **params)
