"""Wiping in worlds that are otherwise than the body was told: what was not touched is not called wiped."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")

from tests.robots import lies
from tests.robots.conftest import on_table, opened  # noqa: F401  # a fixture
from tests.robots.test_handling import CUBE
from tests.robots.test_handling_that_lies import once
from tests.robots.test_wipe import AREA, SPONGE

pytestmark = pytest.mark.proof


def wiping(hand):
    return (
        hand.rig.held() == "sponge"
        and "table_01" in hand.rig.touching("sponge")
        and hand.rig.position("sponge")[1] < 0.1
    )


def thinner(hand):
    """The sponge is thinner than the file says: pressed that low it touches nothing."""
    rig = hand.rig
    geom = rig.simulation.model.body_geomadr[rig.body["sponge"]]
    once(lambda hand: rig.held() == "sponge" and rig.position("sponge")[2] > 0.1,
         lambda hand: rig.simulation.model.geom_size.__setitem__((geom, 2), 0.010))(hand)  # fmt: skip


LIES = {
    "the sponge is lifted off": (thinner, {"NOT_WIPED"}),
    "the sponge is lost on the way": (
        once(wiping, lambda hand: lies.put(hand.rig, "sponge", (0.3, -0.3, 0.02))), {"NOT_WIPED"},
    ),
    "the arm does not move": (lies.deaf, {"GRASP_MISSED"}),
    "the gripper does not close": (lies.jammed_open, {"GRASP_MISSED", "OBJECT_LOST"}),
    "another thing was moved": (
        once(wiping, lambda hand: lies.put(hand.rig, "other", (0.35, -0.27, 0.025))), {"MOVED_OTHERS"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LIES)
def test_nothing_is_called_wiped_that_is_not(opened, name):  # noqa: F811
    lie, codes = LIES[name]
    scene = on_table(SPONGE, replace(CUBE, id="other", position=(0.35, -0.3, 0.0255)))
    kept = tuple(piece for piece in scene.furniture if piece.id != "basket_01")
    hand = opened(scene=replace(scene, furniture=(*kept, AREA)))
    lie(hand)
    done = hand.do("wipe", object_id="sponge", target="area")
    assert not done.ok and done.code in codes, done
