"""What carries what is measured: no stack is picked up from below, all that moved is told, full is refused."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import worldfs
from worldfs.base.driver import Run
from worldfs.base.model import Scene, Thing
from worldfs.robots.displacements import displacement_text, displacements, object_poses
from worldfs.robots.mujoco import panda, support

from . import lies
from .conftest import BASKET, TABLE

CUBE = Thing("cube", shape="box", size=(0.05,) * 3, mass=0.1, position=(0.5, 0.15, 0.0252))
SMALL = replace(BASKET, size=(0.12, 0.17, 0.09))


def stack(count):
    return [replace(CUBE, id=f"cube_{i}", position=(0.5, 0.15, 0.0252 + 0.0502 * i)) for i in range(count)]


def test_the_weight_of_a_thing_is_what_its_supports_bear_together(opened):
    rig = opened(*stack(3)).rig
    for i in range(3):
        under = f"cube_{i - 1}" if i else "table_01"
        borne = support.loads(rig, f"cube_{i}")
        assert borne.keys() == {under} and borne[under] == pytest.approx((3 - i) * 0.1 * 9.81, rel=0.02)
        assert support.carried(rig, f"cube_{i}", under) and not support.carried(rig, f"cube_{i}", "robot")
    assert support.riders(rig, "cube_0") == ["cube_1", "cube_2"] and support.riders(rig, "cube_2") == []


@pytest.mark.parametrize(("sunk", "tilt"), [(0.003, 0.0), (0.002, -0.02), (0.002, 0.1), (0.002, 0.02)])
def test_how_deep_two_things_are_in_each_other_is_said_once_at_the_deepest_of_their_points(opened, sunk, tilt):
    rig = opened(CUBE).rig
    lowest = (math.cos(tilt) + math.sin(abs(tilt))) * 0.025  # of the corners, below the centre
    lies.put(rig, "cube", (0.5, 0.15, lowest - sunk), lies.tipped(tilt))
    (contact,) = [one for one in rig.contacts() if "cube" in (one.one, one.other)]
    assert (contact.one, contact.other) == ("cube", "table_01")
    assert contact.depth == pytest.approx(sunk, abs=2e-4)
    lies.put(rig, "cube", (0.5, 0.15, lowest + 0.002), lies.tipped(tilt))
    assert rig.touching("cube") == set()


def test_a_thing_under_others_is_not_picked_up_and_nothing_is_dumped(opened):
    hand = opened(*stack(3))
    before = hand.rig.simulation.data.qpos.copy()
    (finding,) = hand.review("pick_up", object_id="cube_0")
    assert finding.code == "CRITIC_REFUSED" and "cube_1, cube_2" in finding.found and "off it" in finding.fix
    done = hand.do("pick_up", object_id="cube_0")
    assert not done.ok and done.evidence["steps"] == 0 and np.array_equal(before, hand.rig.simulation.data.qpos)
    assert hand.do("pick_up", object_id="cube_2").ok


def test_everything_that_moved_is_in_the_evidence_and_in_the_words(opened):
    hand = opened(CUBE, replace(CUBE, id="near", position=(0.35, 0.3, 0.0252)))
    picked = hand.do("pick_up", object_id="cube")
    assert picked.ok and "also_moved" not in picked.evidence and "also" not in picked.message
    lies.after("cube", lambda rig: lies.put(rig, "near", (0.35, 0.35, 0.0252)))(hand)
    done = hand.do("place", target_position=[0.45, -0.05, 0.0])
    assert not done.ok and done.code == "MOVED_OTHERS" and "also moved: near by 50 mm" in done.message, done
    assert [(line["id"], line["moved_m"]) for line in done.evidence["also_moved"]] == [("near", 0.05)]
    both = hand.do("strategy", name="pick_and_place", object_id="cube", target="basket_01")
    assert both.ok and "also" not in both.message, both  # what a sequence is about is not told as an accident


def test_what_is_turned_or_gone_from_its_place_is_moved_and_what_is_not_is_not():
    ball = replace(CUBE, id="ball", shape="sphere")
    before = object_poses([CUBE, replace(CUBE, id="other"), ball])
    turned = replace(CUBE, orientation=lies.tipped(0.3, 2))
    after = object_poses(
        [turned, replace(CUBE, id="other", position=(0.504, 0.15, 0.0252)), replace(ball, orientation=(0, 1, 0, 0))]
    )
    assert [line["id"] for line in displacements(before, after)] == ["cube"]
    assert displacements(before, after, {"cube"}) == [] and displacement_text([]) == ""


# --- one figure of the grip ---


@pytest.mark.slice(3)
@pytest.mark.parametrize("shape", ["box", "sphere", "cylinder"])
def test_the_widest_thing_of_the_profile_is_taken_and_set_down(opened, shape):
    size = panda.MAX_GRIP - 0.0002
    hand = opened(replace(CUBE, shape=shape, size=(size,) * 3, position=(0.5, 0.15, size / 2)))
    assert hand.review("pick_up", object_id="cube") == []
    assert hand.do("pick_up", object_id="cube").ok
    assert hand.do("place", target_position=[0.45, -0.05, 0.0]).ok


def test_a_thing_that_is_wider_is_refused_with_both_figures(opened):
    size = panda.MAX_GRIP + 0.0005
    (finding,) = opened(replace(CUBE, size=(size,) * 3)).review("pick_up", object_id="cube")
    assert "Max Grip Width" in finding.field and str(panda.MAX_GRIP) in finding.expected and "0.0765" in finding.found


def test_the_profiles_say_the_figure_of_the_hand():
    for path in (Path(worldfs.__file__).parent / "profiles").glob("franka_panda*.md"):
        figure = re.search(r"Max Grip Width\*\*: ([\d.]+) m", path.read_text("utf-8"))
        assert figure is not None and float(figure[1]) == pytest.approx(panda.MAX_GRIP), path.name


# --- a full basket ---


def test_a_full_basket_is_refused_and_there_is_always_a_place_to_put_down(opened):
    cubes = [
        replace(CUBE, id=f"cube_{i}", position=(0.4 + 0.11 * (i % 2), 0.1 + 0.11 * (i // 2), 0.0252)) for i in range(4)
    ]
    hand = opened(scene=Scene((), tuple(cubes), (TABLE, SMALL)))
    full = 0
    for cube in cubes:
        assert hand.do("pick_up", object_id=cube.id).ok
        done = hand.do("place", target="basket_01")
        if done.ok:
            continue
        full += 1
        assert done.code == "CRITIC_REFUSED" and done.evidence["steps"] == 0 and "basket_01" in done.findings[0].found
        (again,) = hand.review("place", target="basket_01", target_position=[0.4, -0.4, 0.1])  # as a planner says it
        assert again.field == done.findings[0].field
        assert hand.do("place", target="table_01").ok and hand.rig.held() is None
    assert full >= 1
    assert {t.id for t in hand.body.observe().objects if t.status == "in_basket"} and hand.do(
        "strategy", name="home"
    ).ok


def test_a_crowded_table_still_has_room_for_one(opened):
    rows = [(x, y) for x in (0.32, 0.43, 0.54) for y in (-0.24, -0.12, 0.0, 0.12, 0.24, 0.36, 0.48)]
    cubes = [replace(CUBE, id=f"cube_{i}", position=(x, y, 0.0252)) for i, (x, y) in enumerate(rows)]
    table = replace(TABLE, size=(0.6, 1.2, 0.75))
    hand = opened(scene=Scene((), tuple(cubes), (table, SMALL)))
    assert hand.do("pick_up", object_id="cube_9").ok
    assert hand.do("place", target="table_01").ok


def test_a_hand_that_lost_a_thing_low_over_a_basket_comes_out_of_it(opened):
    hand = opened(CUBE)
    rig = hand.rig
    assert hand.do("pick_up", object_id="cube").ok

    def act():
        tcp = rig.view.tcp_pose()[0]
        if tcp[1] < -0.2 and tcp[2] < 0.12 and rig.fingers_on("cube") == 2:
            lies.put(rig, "cube", (0.2, 0.5, -0.5))  # out of reach: there is no second attempt

    lies.always(hand, act, 5)
    done = hand.do("place", target="basket_01")
    assert (done.ok, done.code) == (False, "OBJECT_LOST")
    assert "lowering" in done.message and rig.view.tcp_pose()[0][2] > 0.14 and hand.do("strategy", name="home").ok


def test_a_hand_that_lost_a_thing_on_the_way_does_not_go_down_without_it(opened):
    hand = opened(CUBE)
    rig = hand.rig
    assert hand.do("pick_up", object_id="cube").ok
    heights = []

    def act():
        tcp = rig.view.tcp_pose()[0]
        if tcp[1] < -0.1 and rig.fingers_on("cube") == 2:
            lies.put(rig, "cube", (0.2, 0.5, -0.5))
        if rig.fingers_on("cube") == 0:
            heights.append(tcp[2])

    lies.always(hand, act, 5)
    done = hand.do("place", target="basket_01")
    assert (done.ok, done.code) == (False, "OBJECT_LOST") and "on the way" in done.message
    assert heights and min(heights) > 0.12


@pytest.mark.slice(2)
@pytest.mark.parametrize("then", ["table", "home"])
def test_a_hand_that_was_stopped_in_a_basket_comes_out_of_it(opened, then):
    from worldfs.base.clock import SystemClock

    hand, clock = opened(CUBE), SystemClock()
    assert hand.do("pick_up", object_id="cube").ok
    run = Run(clock, clock.monotonic() + 60)
    lies.always(hand, lambda: run.cancel.set() if hand.rig.view.tcp_pose()[0][2] < 0.12 else None, 5)
    assert hand.do("place", run=run, target="basket_01").code == "CANCELLED"
    hand.body.arm.mover.watch = None
    done = hand.do("place", target="table_01") if then == "table" else hand.do("strategy", name="home")
    assert done.ok, done
