"""What a thing holds up: nothing is taken away from under another, or from where another leans, without a word."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from worldfs.base.messages import render
from worldfs.base.model import Scene, Thing
from worldfs.robots.displacements import SHIFTED, TURNED, displacements
from worldfs.robots.mujoco import removal_trial
from worldfs.robots.mujoco.action_evidence import object_poses

from . import lies
from .conftest import BASKET, TABLE

BLOCK = Thing("block", shape="box", size=(0.05, 0.05, 0.06), mass=0.15, position=(0.45, 0.1, 0.0302))
BOARD = Thing("board", shape="box", size=(0.06, 0.20, 0.01), mass=0.1, position=(0.45, 0.17, 0.0656))
WALL = Thing("wall", category="furniture", shape="box", size=(0.16, 0.05, 0.06), position=(0.45, 0.24, 0.03))
ACROSS = [(x, y) for x in (0.0, 0.005) for y in (-0.01, 0.0, 0.01)]


def settled(hand):
    """The hand once everything has come to rest."""
    hand.body.arm.mover.begin(lambda: "")
    for _ in range(20):
        before = object_poses(hand.rig)
        hand.body.arm.mover.wait(0.5)
        if all(math.dist(before[id][0], pose[0]) < 1e-4 for id, pose in object_poses(hand.rig).items()):
            break
    return hand


def blocks(*places):
    return [replace(BLOCK, id=f"block_{n}", position=(x, y, 0.0302)) for n, (x, y) in enumerate(places, 1)]


def refuses(hand, id, op="pick_up", **params):
    """The order names what would fall, and moves nothing."""
    before = hand.rig.simulation.data.qpos.copy()
    (found,) = hand.review(op, object_id=id, **params)
    done = hand.do(op, object_id=id, **params)
    assert not done.ok and done.evidence["steps"] == 0 and np.array_equal(before, hand.rig.simulation.data.qpos)
    assert "board" in found.found and "board" in found.fix and "board" in done.message, (found, done)
    assert "board" in render(found.found, "zh")
    return found


@pytest.mark.slice(5)
@pytest.mark.parametrize(("x", "y"), ACROSS)
def test_neither_support_of_a_bridge_is_taken_wherever_the_weight_lies(opened, x, y):
    board = replace(BOARD, position=(0.45 + x, 0.17 + y, 0.0656))
    hand = opened(*blocks((0.45, 0.1), (0.45, 0.24)), board)
    for id in ("block_1", "block_2"):
        refuses(hand, id)
        refuses(hand, id, "push", direction=[1, 0], distance=0.08)
    assert hand.do("pick_up", object_id="board").ok and hand.do("place", target="table_01").ok
    assert hand.do("pick_up", object_id="block_1").ok


def test_the_only_movable_support_of_a_bridge_to_a_wall_is_not_taken(opened):
    hand = opened(scene=Scene((), (*blocks((0.45, 0.1)), BOARD), (TABLE, BASKET, WALL)))
    found = refuses(hand, "block_1")
    assert all(" position = " in one for one in found.condition) and len(found.condition) == 2


def test_of_three_supports_those_are_taken_without_which_the_thing_stands_as_it_did(opened):
    wide = replace(BOARD, size=(0.06, 0.24, 0.01), position=(0.45, 0.17, 0.0656))
    hand = opened(*blocks((0.45, 0.08), (0.45, 0.17), (0.45, 0.26)), wide)
    rig = hand.rig
    assert removal_trial.held_up(rig, "block_2") == []
    assert removal_trial.held_up(rig, "board") == []
    flat = replace(BOARD, size=(0.17, 0.22, 0.01), position=(0.44, 0.17, 0.0656))
    corner = opened(*blocks((0.40, 0.08), (0.40, 0.26), (0.52, 0.17)), flat)
    for id in ("block_1", "block_2", "block_3"):
        refuses(corner, id)


@pytest.mark.parametrize("on", ["block", "wall"])
def test_what_another_thing_leans_on_is_not_taken(opened, on):
    """The board stands on the table, or on a wall, and leans against the block."""
    tilt = 0.45
    up = Thing("board", shape="box", size=(0.04, 0.01, 0.14), mass=0.1, position=(0.45, 0.15, 0.072))
    fixed = (replace(WALL, size=(0.16, 0.12, 0.02), position=(0.45, 0.22, 0.01)),) if on == "wall" else ()
    low = 0.02 if fixed else 0.0
    hand = opened(scene=Scene((), (*blocks((0.45, 0.1)), up), (TABLE, BASKET, *fixed)))
    at = (0.45, 0.125 + 0.005 + 0.09 * math.sin(tilt), low + 0.07 * math.cos(tilt) + 0.004)
    lies.put(hand.rig, "board", at, lies.tipped(tilt))
    settled(hand)
    assert "block_1" in hand.rig.touching("board")
    refuses(hand, "block_1")


def test_what_merely_stands_against_a_thing_keeps_nothing_from_being_taken(opened):
    near = replace(BLOCK, id="near", position=(0.45, 0.1502, 0.0302))
    hand = opened(*blocks((0.45, 0.1)), near)
    assert removal_trial.held_up(hand.rig, "block_1") == []


def test_a_thing_is_not_lifted_into_what_hangs_over_its_end(opened):
    bar = Thing("bar", shape="box", size=(0.04, 0.26, 0.03), mass=0.1, position=(0.45, 0.1, 0.0152))
    post = replace(BLOCK, id="post", position=(0.45, 0.26, 0.0302))
    roof = replace(BOARD, size=(0.06, 0.10, 0.01), position=(0.45, 0.25, 0.0654))
    hand = opened(bar, post, roof)
    before = object_poses(hand.rig)
    done = hand.do("pick_up", object_id="bar")
    assert not done.ok and "as it is lifted bar-board" in done.message, done
    assert displacements(before, object_poses(hand.rig)) == []


def test_what_falls_at_the_end_of_an_order_is_measured_where_it_comes_to_rest(opened):
    tall = Thing("board", shape="box", size=(0.02, 0.02, 0.14), mass=0.05, position=(0.35, 0.3, 0.0702))
    hand = opened(*blocks((0.45, 0.1)), tall)
    start, pushed = hand.rig.position("board"), []

    def push():
        if hand.rig.position("block_1")[2] > 0.226 and not pushed:
            pushed.append(True)
            lies.put(hand.rig, "board", hand.rig.position("board"), lies.tipped(-0.2))

    lies.always(hand, push, 5)
    done = hand.do("pick_up", object_id="block_1")
    settled(hand)
    (line,) = done.evidence["also_moved"]
    assert done.code == "MOVED_OTHERS" and pushed and "also moved: board" in done.message
    assert line["moved_m"] == pytest.approx(math.dist(start, hand.rig.position("board")), abs=0.004)
    assert line["turned_rad"] > 1.4


def random_world(opened, seed):
    """One to three blocks, perhaps a wall, and a board let fall across them or beside them."""
    draw = random.Random(seed)
    height = draw.choice((0.05, 0.06, 0.08))
    places = [(0.45, 0.08), (0.45, 0.24), (0.53, 0.16)][: draw.randint(1, 3)]
    supports = [
        replace(BLOCK, id=f"block_{n}", size=(0.05, 0.05, height),
                position=(x + draw.uniform(-0.01, 0.01), y + draw.uniform(-0.01, 0.01), height / 2 + 0.0002))
        for n, (x, y) in enumerate(places, 1)
    ]  # fmt: skip
    wall = replace(WALL, size=(0.16, 0.04, height), position=(0.45, 0.34, height / 2))
    furniture = (TABLE, BASKET, wall) if draw.random() < 0.5 else (TABLE, BASKET)
    size = (draw.uniform(0.03, 0.12), draw.uniform(0.14, 0.26), 0.012)
    board = replace(BOARD, size=size, position=(0.2, 0.5, 0.0062))
    hand = opened(scene=Scene((), (*supports, board), furniture))
    over = (0.45 + draw.uniform(-0.03, 0.05), 0.16 + draw.uniform(-0.08, 0.1), height + 0.03)
    lies.put(hand.rig, "board", over, lies.tipped(draw.uniform(-0.7, 0.7)))
    return settled(hand), [one.id for one in supports], draw


@pytest.mark.slice(4)
@pytest.mark.parametrize("seed", range(24))
def test_whatever_moved_unasked_is_named_or_the_order_was_refused(opened, seed):
    hand, supports, draw = random_world(opened, seed)
    for id in draw.sample(supports, len(supports)):
        before = object_poses(hand.rig)
        op = draw.choice((("pick_up", {}), ("pick_up", {}), ("push", {"direction": [1, 0], "distance": 0.06})))
        done = hand.do(op[0], object_id=id, **op[1])
        if not done.ok and done.evidence["steps"] == 0:
            assert displacements(before, object_poses(hand.rig)) == []
            continue
        settled(hand)
        for line in displacements(before, object_poses(hand.rig), {id}):
            crept = line["moved_m"] < 2 * SHIFTED and line["turned_rad"] < 2 * TURNED  # the contacts are soft
            assert crept or line["id"] in done.message, (seed, id, line, done)
            assert line["moved_m"] < 4 * SHIFTED, (seed, id, line, done)
        if hand.rig.held():
            hand.do("place", target_position=[0.35, -0.05, 0.0])


# --- on what is tilted ---

LEANING = (math.cos(math.radians(20)), 0.0, math.sin(math.radians(20)), 0.0)
HEAVY = Thing("heavy", shape="box", size=(0.1, 0.1, 0.1), mass=2.0, position=(0.5, 0.2, 0.0502))
PLANK = Thing("plank", shape="box", size=(0.02, 0.08, 0.22), mass=0.2, position=(0.429, 0.2, 0.09), orientation=LEANING)
CUBE = Thing("cube", shape="box", size=(0.05,) * 3, mass=0.1, position=(0.6, -0.2, 0.0252))
NAIL = Thing("nail", shape="cylinder", size=(0.006, 0.006, 0.1), mass=0.02, position=(0.33, 0.2, 0.05))


def moves_nothing(hand, op, **params):
    """What an order is refused with; the body is asked to carry it out all the same."""
    before = object_poses(hand.rig)
    (found,) = hand.review(op, **params)
    done = hand.do(op, **params)
    assert not done.ok and not displacements(before, object_poses(hand.rig)), done
    return found


def test_nothing_is_set_on_a_plank_that_leans(opened):
    hand = settled(opened(HEAVY, PLANK, CUBE, NAIL))
    tilt = math.degrees(math.acos(np.abs(hand.rig.rotation("plank")[2]).max()))
    assert tilt > 30
    found = moves_nothing(hand, "stack", object_ids=["plank", "cube"])
    assert found.code == "CRITIC_REFUSED" and "is tilted by" in render(found.found, "en")
    assert hand.do("pick_up", object_id="cube").ok
    for where in ({"target": "plank"}, {"target_position": [*hand.rig.position("plank")[:2], 0.2]}):
        found = moves_nothing(hand, "place", **where)
        assert found.code == "CRITIC_REFUSED" and "is tilted by" in render(found.found, "en"), found
        assert hand.rig.held() == "cube"


@pytest.mark.parametrize("shape", ["box", "sphere"])
def test_on_a_slight_slope_a_cube_stays_and_a_ball_is_refused(opened, shape):
    slope, half = math.radians(5), 0.10 * math.sin(math.radians(5))
    turn = (math.cos(slope / 2), 0.0, math.sin(slope / 2), 0.0)
    ramp = Thing("ramp", shape="box", size=(0.2, 0.16, 0.02), mass=2.0, position=(0.5, 0.1, 0.012 + half),
                 orientation=turn)  # fmt: skip
    under = Thing("under", shape="box", size=(0.02, 0.16, 2 * half), mass=1.0, position=(0.41, 0.1, half))
    hand = settled(opened(ramp, under, replace(CUBE, shape=shape)))
    assert hand.do("pick_up", object_id="cube").ok
    if shape == "sphere":
        assert moves_nothing(hand, "place", target="ramp").code == "CRITIC_REFUSED"
    else:
        done = hand.do("place", target="ramp")
        assert done.ok and np.linalg.norm(hand.rig.position("cube")[:2] - [0.5, 0.1]) < 0.02, done
