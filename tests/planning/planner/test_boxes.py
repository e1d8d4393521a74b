"""What stands in a tray or a basket is in it, however tall it is; what lies across its rim or leans over it is not."""

from __future__ import annotations

import math

import pytest

from worldfs.base.model import RobotState, Scene, Thing
from worldfs.planning.planner.scene_facts import ThingLocation, layout

TABLE = Thing("table_01", shape="table", position=(0.6, 0.0, 0.0), size=(0.8, 1.2, 0.0), category="furniture")


def where(thing: Thing, rim: float) -> ThingLocation:
    box = Thing("box_01", category="container", shape="tray", position=(0.6, 0.0, rim / 2), size=(0.24, 0.24, rim))
    assert box.is_container
    return layout(Scene((RobotState("arm"),), (thing,), (TABLE, box)))[thing.id]


@pytest.mark.parametrize("rim", [0.03, 0.06, 0.09, 0.2])
@pytest.mark.parametrize("tall", [0.03, 0.09, 0.12, 0.25, 0.4])
def test_what_stands_on_its_floor_is_in_a_box(rim: float, tall: float) -> None:
    bottle = Thing("bottle", shape="cylinder", position=(0.6, 0.05, 0.008 + tall / 2), size=(0.06, 0.06, tall))
    assert where(bottle, rim) == ThingLocation("in", "box_01")


def test_what_stands_beside_it_leans_over_it_or_lies_high_above_is_not() -> None:
    beside = Thing("bottle", shape="cylinder", position=(0.6, 0.3, 0.125), size=(0.06, 0.06, 0.25))
    assert where(beside, 0.09) == ThingLocation("on", "table_01")
    lean = math.radians(40) / 2
    turned = (math.cos(lean), math.sin(lean), 0.0, 0.0)
    leans = Thing("pole", shape="box", position=(0.6, 0.11, 0.2), size=(0.03, 0.03, 0.5), orientation=turned)
    assert where(leans, 0.09).of != "box_01"
    across = Thing("case", shape="box", position=(0.6, 0.0, 0.09 + 0.06), size=(0.3, 0.05, 0.12))
    assert where(across, 0.09).relation != "in"
