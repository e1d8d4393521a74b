"""Tall thin things beside the arm's way: whatever order succeeds, they stand where they stood.

Judged by the raw poses of the simulation, never by what the body says of itself.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from worldfs.base.model import Outcome, Thing
from worldfs.robots import rotations

from . import lies
from .conftest import Hand, on_table

MOVED, TILTED = 0.006, 0.1  # m, rad
ORDERS = 5  # of one world
TOWER = Thing("tower", shape="box", size=(0.03, 0.03, 0.3), mass=0.05, position=(0.5, 0.3, 0.15))
BOTTLE = Thing("bottle", shape="cylinder", size=(0.03, 0.03, 0.28), mass=0.04, position=(0.64, 0.27, 0.14))
CUBE = Thing("cube", shape="box", size=(0.05,) * 3, mass=0.1, position=(0.61, 0.402, 0.025))


class Witness:
    """What of the things of a hand was moved since it was made."""

    def __init__(self, hand: Hand) -> None:
        self.rig = hand.rig
        self.poses = {id: (self.rig.position(id), self.rig.rotation(id)) for id in self.rig.objects}

    def toppled(self, *own: str | None) -> dict[str, tuple[float, float]]:
        """Thing → how far it was moved (m) and tilted (rad), of those beyond the tolerance that are not `own`."""
        found = {}
        for id, (position, turn) in self.poses.items():
            moved = float(np.linalg.norm(self.rig.position(id) - position))
            tilt = math.acos(max(-1.0, min(1.0, float(turn[:, 2] @ self.rig.rotation(id)[:, 2]))))
            if id not in own and (moved > MOVED or tilt > TILTED):
                found[id] = (round(moved, 4), round(tilt, 3))
        return found


def random_world(draw: random.Random) -> Hand:
    """Two cubes and three to six tall thin things, apart from each other and from the basket."""
    places: list[tuple[float, float]] = []
    tall, things = draw.randint(3, 6), []
    while len(places) < tall + 2:
        x, y = draw.uniform(0.3, 0.68), draw.uniform(-0.12, 0.5)
        if all(math.dist((x, y), other) > 0.09 for other in places):
            places.append((x, y))
    for n, (x, y) in enumerate(places):
        if n < 2:
            size: tuple[float, ...] = (draw.uniform(0.03, 0.05),) * 3
        else:
            width = draw.uniform(0.025, 0.05)
            size = (width, width, draw.uniform(0.15, 0.3))
        name, shape = (f"cube_{n}", "box") if n < 2 else (f"tall_{n}", draw.choice(("box", "cylinder")))
        mass = draw.uniform(0.03, 0.2)
        things.append(Thing(name, shape=shape, size=size, mass=mass, position=(x, y, size[2] / 2)))
    return Hand(on_table(*things))


def random_order(draw: random.Random, hand: Hand) -> tuple[str, dict[str, Any]]:
    held = hand.rig.held()
    where = [draw.uniform(0.25, 0.7), draw.uniform(-0.3, 0.5)]
    kinds = ["move_to", "move_to", "strategy", *(["place", "place"] if held else ["pick_up", "pick_up", "push"])]
    kind = draw.choice(kinds)
    if kind == "move_to":
        return kind, {"target_pose": [*where, draw.uniform(0.04, 0.45)]}
    if kind == "strategy":
        return kind, {"name": "home"}
    if kind == "place":
        return kind, draw.choice(({"target": "basket_01"}, {"target": "table_01"}, {"target_position": [*where, 0.0]}))
    thing = draw.choice(hand.rig.objects)
    more = {"direction": draw.choice(("left", "right", "forward")), "distance": 0.06} if kind == "push" else {}
    return kind, {"object_id": thing, **more}


def witnessed(hand: Hand, op: str, params: dict[str, Any]) -> tuple[Outcome, dict[str, tuple[float, float]]]:
    before, held = Witness(hand), hand.rig.held()
    done = hand.do(op, **params)
    return done, before.toppled(held, hand.rig.held() if op == "pick_up" else None, params.get("object_id"))


def topples(seed: int) -> tuple[list[object], int, int]:
    """What completed orders of a random world knocked over, how many orders succeeded, and how many others moved."""
    draw, found, done, failed = random.Random(f"tall {seed}"), [], 0, 0
    hand = random_world(draw)
    try:
        for _ in range(ORDERS):
            op, params = random_order(draw, hand)
            outcome, moved = witnessed(hand, op, params)
            done += outcome.ok
            failed += bool(moved) and not outcome.ok
            if moved and outcome.ok:
                found.append((seed, op, params, moved, outcome.message))
            if moved:
                break
    finally:
        hand.body.close()
    return found, done, failed


@pytest.mark.slice(3)
@pytest.mark.parametrize("seed", [5, 24, 30])  # what a coarse check of the way lets topple
def test_what_stands_beside_the_way_of_a_random_order_stays(seed):
    found, _, failed = topples(seed)
    assert not found and not failed, found


def test_a_tower_beside_the_goal_of_a_move_stays_and_the_order_is_refused(opened):
    hand = opened(TOWER)
    assert hand.review("move_to", target_pose=[0.5, 0.38, 0.1])
    done, moved = witnessed(hand, "move_to", {"target_pose": [0.5, 0.38, 0.1]})
    assert done.code == "CRITIC_REFUSED" and not moved and not hand.body.arm.mover.moved, done


def test_a_bottle_beside_the_way_of_a_grasp_stays(opened):
    done, moved = witnessed(opened(CUBE, BOTTLE), "pick_up", {"object_id": "cube"})
    assert done.ok and not moved, (done, moved)


def test_the_hand_comes_round_a_cube_from_above_or_not_at_all(opened):
    hand = opened(replace(CUBE, position=(0.45, 0.1, 0.025)))
    assert hand.do("move_to", target_pose=[0.0, 0.3, 0.3]).ok
    _, moved = witnessed(hand, "move_to", {"target_pose": [0.45, 0.1, 0.03]})
    assert not moved


def test_a_goal_whose_hand_would_touch_a_thing_is_refused(opened):
    hand = opened(replace(CUBE, size=(0.078, 0.078, 0.05), position=(0.45, 0.1, 0.025)))
    done, moved = witnessed(hand, "move_to", {"target_pose": [0.45, 0.1, 0.03]})
    assert done.code == "CRITIC_REFUSED" and not moved, done


@pytest.mark.parametrize(("hand_at", "tower_at"), [((0.4, 0.3, 0.1), (0.448, 0.14, 0.15)),
                                                   ((0.6, 0.2, 0.1), (0.628, 0.01, 0.15))])  # fmt: skip
def test_the_way_home_goes_round_what_stands_in_it(opened, hand_at, tower_at):
    hand = opened(TOWER)
    arm = hand.body.arm
    joints = arm.solver.solve(arm.ready, np.array(hand_at), rotations.hand_rotation(0.0))
    hand.rig.simulation.data.qpos[arm.view.joint_qpos] = joints
    arm.view.hold()
    lies.put(hand.rig, "tower", tower_at)
    done, moved = witnessed(hand, "strategy", {"name": "home"})
    assert done.ok and not moved, done


@pytest.mark.parametrize("tilt", [0.0, 1.5])
def test_an_order_that_moved_a_bystander_is_not_completed(opened, tilt):
    hand = opened(TOWER, replace(CUBE, position=(0.45, -0.15, 0.025)))
    lies.after("cube", lambda rig: lies.put(rig, "tower", (0.3, 0.35, 0.16), lies.tipped(tilt)))(hand)
    assert hand.do("pick_up", object_id="cube").ok
    done = hand.do("place", target_position=[0.5, 0.0, 0.0])
    assert not done.ok and done.code == "MOVED_OTHERS" and "tower" in done.message, done


def test_a_bystander_that_rocks_within_the_tolerance_stays_unsaid(opened):
    hand = opened(TOWER, replace(CUBE, position=(0.45, -0.15, 0.025)))
    assert hand.do("pick_up", object_id="cube").ok
    lies.after("cube", lambda rig: lies.put(rig, "tower", (0.503, 0.3, 0.1502)))(hand)
    done = hand.do("place", target_position=[0.5, 0.0, 0.0])
    assert done.ok and "tower" not in done.message, done


@pytest.mark.proof
@pytest.mark.parametrize("part", range(10))
def test_what_stands_beside_the_way_of_many_random_orders_stays(part):
    found = [topples(seed) for seed in range(100 + 20 * part, 120 + 20 * part)]
    assert not [one for toppled, _, _ in found for one in toppled]
    assert sum(done for _, done, _ in found) > 40
