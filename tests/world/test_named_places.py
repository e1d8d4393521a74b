"""What the names in an order mean, as a person is shown it, and whose place is the robot's own work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worldfs.base.model import Order, Relation, RobotState, Scene, Thing
from worldfs.formats import environment
from worldfs.world.named_places import NamedPlaces

ZONES = [{"name": "annex", "pose": [12, 9.004, 1.571]}, {"name": "hall"}, {"name": "bin", "center": [5, 5]}]
SCENE = Scene(
    robots=(RobotState("arm"), RobotState("cart", (3.0, 1.0, 0.0))),
    objects=(
        Thing("cup", "red cup", position=(0.4, 0.1, 0.05)), Thing("can", position=(0.4, 0.2, 0.05)),
        Thing("spoon", position=(1.0, 0.0, 0.1)), Thing("pea", position=(0.4, 0.1, 0.06)),
    ),
    furniture=(Thing("drawer"), Thing("bin", position=(2.0, 0.0, 0.0)), Thing("arm_tray")),
    relations=(Relation("spoon", "in", "drawer"), Relation("pea", "in", "cup")),
    extra={"map": {"zones": ZONES}},
)  # fmt: skip


class Page:
    def __init__(self, *more, holding=None):
        arm = replace(SCENE.robots[0], holding=holding)
        self.scene = replace(SCENE, robots=(arm, SCENE.robots[1]), relations=(*SCENE.relations, *more))

    def get(self):
        return self


def places(params, op="move", node="arm", own=None):
    return NamedPlaces(Page(), lambda robot: own or {}).places(Order("one", node, op, params))


@pytest.mark.parametrize(
    ("params", "meant"),
    [
        ({"target_label": "annex"}, {"annex": {"x": 12.0, "y": 9.0, "theta": 1.57}}),
        ({"target_label": "hall"}, {}),  # only the robot's own map knows it
        ({"object_id": "cup"}, {"cup": {"x": 0.4, "y": 0.1, "z": 0.05}}),
        ({"object": "red cup"}, {"red cup": {"x": 0.4, "y": 0.1, "z": 0.05}}),
        ({"location": "bin"}, {"bin": [{"x": 5.0, "y": 5.0}, {"x": 2.0, "y": 0.0, "z": 0.0}]}),
        ({"robot_id": "arm", "to": "cart"}, {"cart": {"x": 3.0, "y": 1.0}}),
        ({"steps": [{"op": "place", "params": {"on": ["can"]}}]}, {"can": {"x": 0.4, "y": 0.2, "z": 0.05}}),
        ({"side": "left", "distance": 0.2}, {}),
    ],
)
def test_each_name_is_shown_with_where_it_is(params, meant):
    assert places(params) == meant


def test_the_places_of_a_robot_s_own_entry_count_too():
    assert places({"target_label": "press"}, own={"press": [1, 2]}) == {"press": [1, 2]}
    assert places({"target_label": "annex"}, own={"annex": [12, 9]})["annex"][0] == [12, 9]


@pytest.mark.parametrize(
    ("steps", "moved"),
    [
        ([], set()),
        ([("target_navigation", {"target_label": "cup"})], set()),
        ([("target_navigation", {"object_id": "cup"})], set()),
        ([("pick_up", {"object_id": "cup"})], {"cup", "red cup", "pea"}),
        ([("place", {"target": "can"})], set()),
        ([("open_fixture", {"object_id": "drawer"})], {"spoon"}),
        ([("stack", {"object_ids": ["can", "cup"]})], {"cup", "red cup", "pea"}),
        ([("strategy", {"name": "pick_and_place", "object_id": "can", "on": "cup"})], {"can"}),
        ([("strategy", {"steps": [{"op": "pick_up", "params": {"object_id": "can"}}]})], {"can"}),
    ],
)
def test_what_the_robot_has_moved_by_earlier_steps_is_its_own_work(steps, moved):
    found = {*NamedPlaces(Page(), lambda robot: {}).moved("arm", [{"op": op, "params": given} for op, given in steps])}
    assert found - {"arm_tray", ""} == moved


@pytest.mark.parametrize(("holding", "more"), [(None, (Relation("cup", "held_by", "arm"),)), ("cup", ())])
def test_what_a_robot_carries_is_where_the_robot_is(holding, more):
    held = Page(*more, Relation("can", "on", "arm_tray"), holding=holding)
    found = NamedPlaces(held, lambda robot: {})
    assert {"cup", "pea", "can", "arm_tray"} <= {*found.moved("arm", [])}
    assert not {"cup", "pea", "can", "arm_tray"} & {*found.moved("cart", [])}


def test_an_unreadable_page_means_nothing():
    class Broken:
        def get(self):
            return environment.read(b"\xff")

    names = NamedPlaces(Broken(), lambda robot: {})
    assert names.places(Order("one", "arm", "move", {"object_id": "cup"})) == {} and not {*names.moved("arm", [])}
