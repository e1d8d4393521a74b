"""A relay as orders: who takes what, what waits for what, and what no arm reaches."""

from __future__ import annotations

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.model import RobotState, Scene, Thing
from worldfs.fleet.relay import LOAD, relay

A, B, CART = "arm_1", "arm_2", "cart_1"
FACING = (3.2, 0.0, 0.0, 0.0, 0.0, 3.14)
ROBOTS = (RobotState(A, (0.0, 0.0, 0.0)), RobotState(B, FACING), RobotState(CART, (1.6, 0.0, -0.75)))
BASKET = Thing("basket", category="container", position=(2.75, 0.3, 0.04))


def scene(*here: str, there: tuple[str, ...] = ()) -> Scene:
    things = [Thing(id, position=(0.4, 0.1 * k, 0.0)) for k, id in enumerate(here)]
    things += [Thing(id, position=(2.7, -0.1 * k, 0.0)) for k, id in enumerate(there)]
    return Scene(ROBOTS, tuple(things), (BASKET,))


def test_what_one_arm_reaches_it_moves_itself_while_the_other_loads_the_tray():
    goals = [("a", "basket"), ("b", "basket"), ("c", "basket")]
    orders = relay(scene("a", "b", there=("c",)), goals, (A, B), CART, "run")
    assert [(o.node, o.op, *o.params.values()) for o in orders] == [
        (B, "pick_up", "c"), (B, "place", "basket"), (B, "strategy", "home"),
        (CART, "target_navigation", A),
        (A, "pick_up", "a"), (A, "place", "cart_1_tray"), (A, "pick_up", "b"), (A, "place", "cart_1_tray"),
        (A, "strategy", "home"),
        (CART, "target_navigation", B),
        (B, "pick_up", "a"), (B, "place", "basket"), (B, "pick_up", "b"), (B, "place", "basket"),
        (B, "strategy", "home"),
    ]  # fmt: skip
    after = {order.id: set(order.depends_on) for order in orders}
    by_number = [order.id for order in orders]
    assert after[by_number[0]] == after[by_number[3]] == set()  # both begin at once
    assert after[by_number[4]] == {by_number[3]}  # no thing is taken before the tray is there
    assert after[by_number[9]] == {by_number[3], by_number[8]}  # it does not leave while a hand is above the tray
    assert after[by_number[10]] == {by_number[2], by_number[9]}


def test_the_carrier_comes_back_for_what_one_trip_does_not_hold():
    ids = tuple("abcdefg"[: LOAD + 1])
    orders = relay(scene(*ids), [(id, "basket") for id in ids], (A, B), CART, "run")
    docks = [order for order in orders if order.node == CART]
    assert [order.params["target_label"] for order in docks] == [A, B, A, B]
    last_of_unloading = orders[orders.index(docks[2]) - 1]
    assert last_of_unloading.node == B and last_of_unloading.id in docks[2].depends_on


@pytest.mark.parametrize(("thing", "container"), [("a", "nowhere"), ("far", "basket")])
def test_what_no_arm_reaches_or_nobody_knows_is_refused_by_name(thing, container):
    far = Thing("far", position=(1.6, 2.0, 0.0))
    known = scene("a")
    with pytest.raises(BadInput, match="nowhere" if container == "nowhere" else "far"):
        relay(Scene(known.robots, (*known.objects, far), known.furniture), [(thing, container)], (A, B), CART, "run")
