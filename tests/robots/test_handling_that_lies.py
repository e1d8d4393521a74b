"""The measures of handling say no to a body whose world is otherwise than it was told to be."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from worldfs.robots.mujoco import imagined_arm, nudge, place_beside, push_goal, stack

from . import lies
from .test_handling import CAN, CUBE, lying

OTHER = replace(CUBE, id="other", position=(0.35, 0.35, 0.0255))


def once(when: Callable[[Any], bool], act: Callable[[Any], None]) -> lies.Lie:
    """`act` on the hand the first time that it is so."""

    def lie(hand: Any) -> None:
        done: list[bool] = []

        def look() -> None:
            if not done and when(hand):
                done.append(True)
                act(hand)

        lies.always(hand, look, 5)

    return lie


def gone_by(metres: float) -> Callable[[Any], bool]:
    return lambda hand: float(np.linalg.norm(hand.rig.position("cube")[:2] - CUBE.position[:2])) > metres


def risen(hand: Any) -> bool:
    return gone_by(0.05)(hand) and "robot" not in hand.rig.touching("cube") and hand.rig.view.tcp_pose()[0][2] > 0.08


def lowered(hand: Any) -> bool:
    return bool(hand.rig.view.tcp_pose()[0][2] < 0.05)


def put(id: str, way: tuple[float, float, float], quat: Any = None) -> Callable[[Any], None]:
    return lambda hand: lies.put(hand.rig, id, hand.rig.position(id) + way, quat)


def spun(hand: Any) -> None:
    data, dof = hand.rig.simulation.data, hand.rig.dof["cube"]
    lies.always(hand, lambda: data.qvel.__setitem__(dof + 5, 2.0))


PUSHES: dict[str, tuple[lies.Lie, str]] = {
    "the arm does not move": (lies.deaf, "NOT_AT_GOAL"),
    "the thing is nailed down": (once(lowered, lies.nailed("cube")), "NOT_AT_GOAL"),
    "it went too far": (once(risen, put("cube", (0.0, 0.03, 0.0))), "NOT_AT_GOAL"),
    "it went aside": (once(risen, put("cube", (0.03, 0.0, 0.0))), "NOT_AT_GOAL"),
    "it was tipped over": (once(risen, put("cube", (0.0, 0.0, 0.0), lies.tipped(math.pi / 2))), "NOT_UPRIGHT"),
    "another thing was moved": (once(risen, put("other", (0.0, 0.02, 0.0))), "MOVED_OTHERS"),
    "it is still touched": (once(gone_by(0.095), lies.deaf), "NOT_RELEASED"),
    "it still turns": (once(risen, spun), "NOT_AT_REST"),
}


@pytest.mark.slice(3)
@pytest.mark.parametrize("name", PUSHES)
def test_no_push_of_a_body_that_lies_succeeds(opened, name):
    lie, code = PUSHES[name]
    hand = opened(CUBE, OTHER)
    lie(hand)
    done = hand.do("push", object_id="cube", direction="left", distance=0.1)
    assert not done.ok and done.code == code, done


def test_a_nudge_after_which_the_thing_cannot_be_taken_has_failed(opened):
    walls = [replace(CUBE, id=id, position=(x, y, 0.0255)) for id, x, y in (("wx", 0.553, 0.1), ("wy", 0.5, 0.153))]
    hand = opened(CUBE, *walls)
    planned = nudge.plan_nudge(hand.body.arm, hand.order("nudge", object_id="cube"))
    found = nudge.freed(hand.body.arm, "cube", planned.push.goal)  # asked of the world in which nothing was pushed
    assert not found.ok and found.code == "NOT_GRASPABLE"


FALLEN: dict[str, tuple[lies.Lie, tuple[str, ...]]] = {
    "it fell over again": (
        lies.after("can", lambda rig: lies.put(rig, "can", quat=lies.tipped(math.pi / 2))),
        ("NOT_UPRIGHT", "NOT_AT_GOAL"),
    ),
    "the gripper does not let go": (lies.jammed_shut, ("OBJECT_LOST", "NOT_RELEASED", "GRASP_MISSED")),
    "it is nailed down": (lies.nailed("can"), ("OBJECT_LOST",)),
}  # fmt: skip


@pytest.mark.slice(3)
@pytest.mark.parametrize("name", FALLEN)
def test_nothing_is_called_upright_that_is_not(opened, name):
    lie, codes = FALLEN[name]
    hand = opened(lying(CAN, 0.0, math.pi / 2, 0.3))
    lie(hand)
    done = hand.do("upright", object_id="can")
    assert not done.ok and done.code in codes, done


CUBES = [replace(CUBE, id=f"c{n}", position=(0.5, 0.1, 0.0252 + 0.05 * n)) for n in range(3)]


def test_a_tower_is_measured_level_by_level(opened):
    hand = opened(*CUBES)
    arm, ids = hand.body.arm, ["c0", "c1", "c2"]
    arm.mover.begin(lambda: "")
    assert stack.tower(arm, ids).ok
    assert stack.tower(arm, ["c0", "c2"]).code == "NOT_SUPPORTED"
    assert stack.tower(arm, ["c1", "c0"]).code == "NOT_SUPPORTED"
    lies.put(hand.rig, "c2", hand.rig.position("c2") + np.array([0.0, 0.0, 0.1]))
    assert stack.tower(arm, ids).code == "NOT_AT_REST"  # it falls
    lies.put(hand.rig, "c2", (0.5, 0.3, 0.025))
    arm.mover.wait(0.3)
    assert stack.tower(arm, ids).code == "NOT_SUPPORTED"


BESIDE: dict[str, tuple[lies.Lie, str]] = {
    "too near": (
        lies.after("can", lambda rig: lies.put(rig, "can", rig.position("can") - np.array([0.0, 0.016, 0.0]))),
        "NOT_AT_GOAL",
    ),
    "the other was moved": (
        lies.after("can", lambda rig: lies.put(rig, "cube", (0.51, 0.1, 0.025))), "MOVED_OTHERS",
    ),
    "still held": (lies.jammed_shut, "NOT_RELEASED"),
}  # fmt: skip


@pytest.mark.slice(3)
@pytest.mark.parametrize("name", BESIDE)
def test_nothing_is_called_beside_that_is_not(opened, name):
    lie, code = BESIDE[name]
    hand = opened(CUBE, CAN)
    assert hand.do("pick_up", object_id="can").ok
    lie(hand)
    done = hand.do("place_beside", target="cube", side="left", distance=0.05)
    assert not done.ok and done.code == code, done


def test_an_imagined_world_leaves_the_real_one_as_it_is(opened):
    hand = opened(CUBE)
    arm = hand.body.arm
    before = arm.simulation.data.qpos.copy()
    other = imagined_arm.imagined(arm, {"cube": np.array([0.6, -0.2, 0.025])})
    assert other.rig.position("cube")[0] == 0.6 and arm.rig.position("cube")[0] != 0.6
    assert np.array_equal(before, arm.simulation.data.qpos)
    assert other.rig.view.simulation is other.simulation is not arm.simulation


def test_words_of_direction_are_the_robot_s_own(opened):
    hand = opened(CUBE)
    ways = {word: push_goal.direction(hand.body.arm, hand.order("push", direction=word)) for word in push_goal.WAYS}
    assert np.allclose(ways["left"], [0, 1]) and np.allclose(ways["forward"], [1, 0])
    assert place_beside.SIDES["behind"] == push_goal.WAYS["forward"]
