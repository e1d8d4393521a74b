"""What lies beside its support, or below it, is neither on nor in it; what is not known contradicts nothing."""

import math

import pytest

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.base.resting import can_rest
from worldfs.base.stated_places import contradicted

TABLE = Thing("table_01", category="furniture", position=(0.5, 0, 0), size=(0.9, 1.2, 0.75), shape="table")
TRAY = Thing("tray", category="container", position=(0.5, 0.2, 0.03), size=(0.3, 0.2, 0.06), shape="basket")


def cube(*at, side=0.05):
    return Thing("cube_01", position=at, size=(side,) * 3, shape="box")


@pytest.mark.parametrize(
    ("thing", "other", "relation", "can"),
    [
        (cube(0.5, 0.1, 0.025), TABLE, "on", True),
        (cube(0.94, 0.59, 0.025), TABLE, "on", True),
        (cube(0.5, 0.1, -0.73), TABLE, "on", False),
        (cube(1.2, 0.1, 0.025), TABLE, "on", False),
        (cube(0.5, 0.2, 0.03), TRAY, "on", True),
        (cube(0.5, 0.2, 0.03), TRAY, "in", True),
        (cube(0.5, 0.5, 0.03), TRAY, "inside", False),
        (cube(0.5, 0.2, -0.5), TRAY, "in", False),
        (cube(0.5, 0.5, 0.03), TRAY, "near", True),
        (cube(math.nan, 0.1, 0.025), TABLE, "on", True),
        (cube(1.2, 0.1, 0.025), Thing("table_02", position=(0.5, 0, 0)), "on", True),
        (Thing("cube_01", position=(0.5, 0.1, -0.7)), TABLE, "on", False),
    ],
)
def test_what_places_leave_room_for(thing, other, relation, can):
    assert can_rest(thing, other, relation) is can
    scene = Scene((), (thing,), (other,), (Relation(thing.id, relation, other.id),))
    assert list(contradicted(scene)) == ([] if can else [*scene.relations])


def test_what_is_held_is_where_its_robot_says():
    scene = Scene((RobotState("arm", holding="cube_01"),), (cube(9, 9, 9),), (TABLE,),
                  (Relation("cube_01", "held_by", "arm"),))  # fmt: skip
    assert not [*contradicted(scene)]
