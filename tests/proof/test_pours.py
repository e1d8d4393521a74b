"""Pouring as it is done: by the simulated arm, by a person's words, and in worlds that lie."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")

from tests.acceptance.conftest import onboarded  # noqa: F401  # a fixture
from tests.robots import lies
from tests.robots.conftest import opened  # noqa: F401  # a fixture
from tests.robots.test_handling import refusal
from tests.robots.test_handling_that_lies import once
from tests.robots.test_pour import BOWL, CUP

pytestmark = pytest.mark.proof


def test_what_is_in_the_cup_is_poured_into_the_bowl_and_counted(opened):  # noqa: F811
    hand = opened(CUP, BOWL)
    done = hand.do("pour", object_id="cup", target="bowl")
    assert done.ok, done
    grains = done.evidence["grains"]
    assert grains["asked"] == 6 and grains["poured"] == hand.seen("bowl").extra["grains"] == 6 - grains["spilled"]
    assert hand.seen("cup").extra == {"grains": 0} and hand.seen("cup").status == "on_table"
    assert "empty" in refusal(hand, "pour", object_id="cup", target="bowl").found
    assert np.allclose(hand.seen("cup").position, CUP.position, atol=0.01)


def carried(hand):
    return hand.rig.held() == "cup" and hand.rig.position("cup")[2] > 0.12


def tipped(hand):
    return carried(hand) and hand.rig.rotation("cup")[2, 2] < 0.9


def emptied(hand):
    """Somebody takes the grains out while the cup is carried."""
    data, model = hand.rig.simulation.data, hand.rig.simulation.model
    for n in range(6):
        at = int(model.joint(f"grain{n}").qposadr[0])
        data.qpos[at : at + 3] = (0.25, -0.3 - 0.02 * n, 0.008)


def glued(hand):
    """The grains stick to the cup: each goes where it goes."""
    rig = hand.rig
    model, data = rig.simulation.model, rig.simulation.data
    start, turn = rig.position("cup"), rig.rotation("cup")
    addresses = [int(model.joint(f"grain{n}").qposadr[0]) for n in range(6)]
    own = [turn.T @ (np.array(data.qpos[at : at + 3]) - start) for at in addresses]

    def stick():
        for at, place in zip(addresses, own, strict=True):
            data.qpos[at : at + 3] = rig.position("cup") + rig.rotation("cup") @ place

    lies.always(hand, stick)


LIES = {
    "the cup was emptied on the way": (once(carried, emptied), {"SPILLED"}),
    "the grains stick": (glued, {"NOT_POURED"}),
    "the bowl is taken away": (
        once(tipped, lambda hand: lies.put(hand.rig, "bowl", (0.25, -0.4, 0.025))), {"SPILLED", "MOVED_OTHERS"},
    ),
    "the arm does not move": (lies.deaf, {"GRASP_MISSED"}),
    "the gripper does not close": (lies.jammed_open, {"GRASP_MISSED", "OBJECT_LOST"}),
    "the gripper does not let go": (lies.jammed_shut, {"GRASP_MISSED", "NOT_RELEASED"}),
}  # fmt: skip


@pytest.mark.parametrize("name", LIES)
def test_nothing_is_called_poured_that_is_not(opened, name):  # noqa: F811
    lie, codes = LIES[name]
    hand = opened(CUP, BOWL)
    lie(hand)
    done = hand.do("pour", object_id="cup", target="bowl")
    assert not done.ok and done.code in codes, done


def test_a_person_has_the_cup_poured_into_the_bowl(onboarded):  # noqa: F811
    place = onboarded()
    place.up("--seed", "7")
    world = place.value("ENVIRONMENT.md")

    def entry(thing, name):
        return {"id": thing.id, "name": name, "category": name.split()[1], "shape": "cylinder", "mass": thing.mass,
                "size": thing.size, "color": thing.color, "position": thing.position, **thing.extra}  # fmt: skip

    world["objects"] = [entry(CUP, "white cup"), entry(BOWL, "blue bowl")]
    world["scene_graph"]["nodes"] = [n for n in world["scene_graph"]["nodes"] if n["id"] == "table_01"]
    world["scene_graph"]["edges"] = []
    place.put("ENVIRONMENT.md", json.dumps(world))
    said = place.do("把杯子倒进碗里")
    assert said.code == 0, said
    assert (place.thing("cup")["grains"], place.thing("bowl")["grains"]) == (0, 6)
    assert place.do("pour the cup into the bowl").code != 0  # it is empty
