"""Strategies and tasks in words are orders in turn, each judged as on its own."""

import numpy as np
import pytest

from worldfs.base.errors import BadInput
from worldfs.base.model import Order, Thing
from worldfs.planning.planner import interpreter

from . import lies

CUBE = Thing("cube_01", position=(0.5, 0.1, 0.025))


def test_pick_and_place_is_one_strategy(opened):
    hand = opened(CUBE)
    assert hand.review("strategy", name="pick_and_place", object_id="cube_01", target="basket_01") == []
    done = hand.do("strategy", name="pick_and_place", object_id="cube_01", target="basket_01")
    assert done.ok, done.message
    assert [step["op"] for step in done.evidence["sequence"]] == ["pick_up", "place"]
    assert hand.seen("cube_01").status == "in_basket"


def test_steps_run_until_the_first_that_fails(opened):
    hand = opened(CUBE)
    steps = [
        {"action_type": "pick_up", "params": {"object_id": "cube_01"}},
        {"action_type": "pick_up", "params": {"object_id": "cube_01"}},
        {"action_type": "home"},
    ]
    done = hand.do("strategy", steps=steps)
    assert (done.ok, done.code) == (False, "HOLDING")
    assert done.message.startswith("step 2 of 3")
    assert len(done.evidence["sequence"]) == 2


def test_home_is_home(opened):
    hand = opened()
    assert hand.do("move_to", target_pose=[0.5, 0.2, 0.3]).ok
    assert hand.do("strategy", name="home").ok
    assert hand.rig.view.joints() == pytest.approx(hand.body.arm.ready, abs=0.02)
    assert hand.do("strategy", strategy="wave").ok


def test_the_gripper_opens_and_closes(opened):
    hand = opened()
    assert hand.do("strategy", name="close_gripper").ok
    assert hand.rig.view.opening() < 0.004
    assert hand.body.observe().robots[0].gripper == "closed"
    assert hand.do("strategy", name="open_gripper").ok
    assert hand.rig.view.opening() > 0.076


def test_an_unknown_strategy_is_told_which_there_are(opened):
    (finding,) = opened().review("strategy", name="dance")
    assert "pick_and_place" in finding.expected
    assert finding.found == "dance"


def test_a_task_in_words_is_done_as_the_interpreter_reads_it(opened):
    def read(text, scene):
        assert text == "把方块放进篮子"
        assert scene.thing("cube_01") is not None
        return [
            Order("a", "franka_001", "pick_up", {"object_id": "cube_01"}),
            Order("b", "franka_001", "place", {"target": "basket_01"}),
        ]

    hand = opened(CUBE, interpreter=read)
    assert hand.do("real_execute", nl_task="把方块放进篮子").ok
    assert hand.seen("cube_01").status == "in_basket"


def test_what_nobody_understands_moves_nothing(opened):
    def read(text, scene):
        raise BadInput("no verb that I know", expected="pick, place")

    hand = opened(CUBE, interpreter=read)
    done = hand.do("real_execute", nl_task="frobnicate")
    assert (done.ok, done.code, done.evidence["steps"]) == (False, "NOT_UNDERSTOOD", 0)
    assert "no verb" in done.message


def test_words_that_ask_for_nothing_have_not_succeeded(opened):
    hand = opened(CUBE, interpreter=interpreter("franka_001"))
    for words in ("thank you", "where is the cube?", "hello"):
        done = hand.do("real_execute", nl_task=words)
        assert (done.ok, done.code, done.evidence["steps"]) == (False, "NOT_UNDERSTOOD", 0), words


def test_what_is_already_so_has_succeeded_and_moves_nothing(opened):
    hand = opened(CUBE, interpreter=interpreter("franka_001"))
    assert hand.do("real_execute", nl_task="put it in the basket").code == "NOT_UNDERSTOOD"
    for n, words in enumerate(("put the cube in the basket", "put the cube in the basket", "把方块放进篮子")):
        done = hand.do("real_execute", nl_task=words)
        assert done.ok and (done.evidence["steps"] == 0) is (n > 0), (words, done)
    assert hand.seen("cube_01").status == "in_basket"


def test_without_an_interpreter_it_says_so(opened):
    hand = opened(CUBE)
    (finding,) = hand.review("real_execute", nl_task="tidy up")
    assert finding.code == "NO_INTERPRETER"
    assert hand.do("real_execute", nl_task="tidy up").code == "NO_INTERPRETER"


def test_what_is_held_in_the_air_is_not_let_go_by_opening_the_gripper(opened):
    hand = opened(CUBE)
    assert hand.do("pick_up", object_id="cube_01").ok
    before, joints = hand.rig.position("cube_01"), hand.rig.view.joints()
    (finding,) = hand.review("strategy", name="open_gripper")
    assert finding.code == "HOLDING" and "cube_01" in finding.found and "cube_01" in finding.fix
    steps = [{"op": "wave"}, {"op": "open_gripper"}]
    (finding,) = hand.review("strategy", name="steps", steps=steps)
    assert finding.code == "HOLDING" and finding.found.startswith("step 2 of 2")
    done = hand.do("strategy", name="open_gripper")
    assert done.code == "HOLDING" and hand.rig.held() == "cube_01"
    assert np.abs(hand.rig.view.joints() - joints).max() < 0.01
    assert np.linalg.norm(hand.rig.position("cube_01") - before) < 0.002


def test_a_pick_in_a_sequence_is_followed_by_no_opening_in_the_air(opened):
    hand = opened(CUBE)
    before = hand.rig.position("cube_01")
    steps = [{"op": "pick_up", "object_id": "cube_01"}, {"op": "open_gripper"}]
    (finding,) = hand.review("strategy", name="steps", steps=steps)
    assert finding.code == "HOLDING" and np.array_equal(before, hand.rig.position("cube_01"))


def test_what_rests_on_something_is_let_go_by_opening_the_gripper(opened):
    hand = opened(CUBE)
    assert hand.do("pick_up", object_id="cube_01").ok
    arm = hand.body.arm
    with arm.view.working():
        arm.mover.begin(lambda: "")
        position, rotation = arm.view.tcp_pose()
        low = float(hand.rig.position("cube_01")[2] - hand.rig.half("cube_01")[2])
        ahead = [position - [0, 0, low * k / 10] for k in range(1, 11)]
        line = arm.solver.line(arm.view.joints(), np.array(ahead), rotation)
        assert not isinstance(line, int)
        arm.mover.line([arm.view.joints(), *line], low)
    assert hand.rig.held() == "cube_01" and not hand.review("strategy", name="open_gripper")
    before = hand.rig.position("cube_01")
    assert hand.do("strategy", name="open_gripper").ok
    assert np.linalg.norm(hand.rig.position("cube_01") - before) < 0.005


@pytest.mark.parametrize("name", ["home", "wave", "close_gripper"])
def test_a_movement_that_loses_what_it_held_says_so_and_where_that_is(opened, name):
    hand = opened(CUBE)
    assert hand.do("pick_up", object_id="cube_01").ok
    lies.gone("cube_01")(hand)
    done = hand.do("strategy", name=name)
    assert not done.ok and hand.rig.held() is None
    assert done.code == "OBJECT_LOST" and "cube_01" in done.message, done
