"""Handing over in worlds that are otherwise than the bodies were told: nobody is said to hold what it does not."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")

from tests.acceptance.conftest import Place
from tests.robots import lies
from tests.robots.test_hand_over import FAR, GIVE, NEAR, measured, pair_with

from worldfs.robots.mujoco import hand_over, panda
from worldfs.robots.mujoco.motion_control import CLOSE

pytestmark = pytest.mark.proof


def hand(pair, id):
    return SimpleNamespace(rig=pair.rig(id), body=pair.drivers[id])


def when(pair, so, act):
    """`act` once, the first time that it is so."""
    done = []

    def look():
        if not done and so():
            done.append(True)
            act()

    lies.always(hand(pair, FAR), look, 5)


def dropped(pair):
    """It falls as soon as only the receiver has it."""
    near, far = pair.rig(NEAR), pair.rig(FAR)
    when(pair, lambda: far.fingers_on("cube") == 2 and near.fingers_on("cube") == 0,
         lambda: lies.put(far, "cube", (0.45, 0.55, 0.3)))  # fmt: skip


def knocked(pair):
    """It falls while it is held out."""
    near = pair.rig(NEAR)
    when(pair, lambda: near.position("cube")[2] > 0.35, lambda: lies.put(near, "cube", (0.45, 0.55, 0.3)))


def clinging(pair):
    """The giver's fingers do not open once they have closed on it."""
    rig = pair.rig(NEAR)

    def cling():
        if rig.position("cube")[2] > 0.3:
            rig.simulation.data.ctrl[rig.view.gripper] = CLOSE

    lies.always(hand(pair, NEAR), cling)


def gaping(pair):
    """The receiver's fingers do not close."""
    rig = pair.rig(FAR)
    lies.always(hand(pair, FAR), lambda: rig.simulation.data.ctrl.__setitem__(rig.view.gripper, panda.STROKE))


LIES = {
    "it is dropped between": (dropped, {"OBJECT_LOST"}, {"OBJECT_LOST", "GRASP_MISSED"}),
    "it falls while it is held out": (knocked, {"OBJECT_LOST"}, {"NOT_OFFERED"}),
    "the giver does not let go": (clinging, {"NOT_RELEASED"}, {"NOT_GIVEN"}),
    "the receiver does not close": (gaping, {"NOT_TAKEN"}, {"GRASP_MISSED"}),
}


@pytest.mark.parametrize("name", LIES)
def test_nothing_is_called_handed_over_that_is_not(monkeypatch, name):
    monkeypatch.setattr(hand_over, "PATIENCE", 12.0)
    lie, given, taken = LIES[name]
    pair = pair_with()
    lie(pair)
    done = pair.together(GIVE)
    assert not done[NEAR][1].ok and done[NEAR][1].code in given, measured(done)
    assert not done[FAR][0].ok and done[FAR][0].code in taken, measured(done)


def test_a_person_has_the_apple_handed_over_and_back(tmp_path):
    place = Place(tmp_path / "shared_workspace", ("--home", str(tmp_path)))
    assert place.paos("onboard", "--fleet").code == 0
    place.up("--seed", "3")
    for giver, receiver, said in (
        ("franka_001", "franka_002", "hand the apple over to franka_002"),
        ("franka_002", "franka_001", "把苹果递给 franka_001"),
    ):
        done = place.do(said, "--node", giver)
        assert done.code == 0, done
        assert place.where("apple_01") == {("held_by", receiver)}
