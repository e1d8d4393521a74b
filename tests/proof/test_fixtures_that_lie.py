"""Drawers and lids of worlds that are otherwise than the body was told: none is called open that is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")

from tests.robots import lies
from tests.robots.conftest import opened  # noqa: F401  # a fixture
from tests.robots.test_fixtures import CHEST, DRAWER, SMALL, room
from tests.robots.test_handling import CUBE
from tests.robots.test_handling_that_lies import once

pytestmark = pytest.mark.proof


def stuck(hand):
    """The joint does not give way."""
    (joint,) = hand.rig.fixtures.values()
    hand.rig.simulation.model.dof_damping[joint.dof] = 1e6


def half_way(hand):
    joint = hand.rig.fixtures["drawer"]
    hand.rig.simulation.model.jnt_range[hand.rig.simulation.model.body_jntadr[joint.body]] = (0.0, 0.05)


def drifting(hand):
    joint = hand.rig.fixtures["drawer"]
    lies.always(hand, lambda: hand.rig.simulation.data.qvel.__setitem__(joint.dof, 0.3))


def drawn(hand):
    return hand.rig.opening("drawer") > 0.1


LIES = {
    "it is stuck": (stuck, {"NOT_OPEN"}),
    "it stops half way": (half_way, {"NOT_OPEN"}),
    "it does not come to rest": (drifting, {"NOT_AT_REST", "NOT_RELEASED"}),
    "the arm does not move": (lies.deaf, {"GRASP_MISSED"}),
    "the gripper does not close": (lies.jammed_open, {"GRASP_MISSED"}),
    "what was in it is gone": (
        once(drawn, lambda hand: lies.put(hand.rig, "small", (0.3, -0.2, 0.02))), {"CONTENTS_LOST"},
    ),
    "another thing was moved": (
        once(drawn, lambda hand: lies.put(hand.rig, "other", (0.4, -0.27, 0.025))),
        {"MOVED_OTHERS"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LIES)
def test_no_drawer_of_a_world_that_lies_is_called_open(opened, name):  # noqa: F811
    lie, codes = LIES[name]
    hand = opened(scene=room(DRAWER, SMALL, replace(CUBE, id="other", position=(0.4, -0.3, 0.0255))))
    lie(hand)
    done = hand.do("open_fixture", object_id="drawer")
    assert not done.ok and done.code in codes, done


@pytest.mark.parametrize("op", ["open_fixture", "close_fixture"])
def test_a_stuck_lid_is_not_called_open_or_closed(opened, op):  # noqa: F811
    hand = opened(scene=room(replace(CHEST, status="open" if op == "close_fixture" else "")))
    stuck(hand)
    done = hand.do(op, object_id="chest")
    assert not done.ok and done.code in {"NOT_OPEN", "NOT_CLOSED"}, done
    assert "degrees" in done.message
