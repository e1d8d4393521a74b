"""A thing in a robot's hand, or on its tray, moves in the document with that robot, whichever robot sees it."""

from __future__ import annotations

import pytest

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.world.carried_things import left_to_their_carriers

OLD, NEW = (0.4, 0.0, 0.2), (0.4, 0.3, 0.4)


def scene(position, *edges, robot="arm_2", tray=(1.0, 0.0, 0.3)):
    relations = tuple(Relation(*edge) for edge in edges)
    pieces = tuple(Thing(f"{id}_tray", shape="box", position=tray) for id in ("cart_1", "cart_2"))
    return Scene((RobotState(robot),), (Thing("bar", position=position),), pieces, relations)


HELD, TABLE, TRAY = ("bar", "held_by", "arm_1"), ("bar", "on", "table_01"), ("bar", "on", "cart_1_tray")


@pytest.mark.parametrize(
    ("before", "now", "robot", "position", "edges"),
    [
        ([HELD], [HELD], "arm_2", OLD, [HELD]),  # carried on meanwhile
        ([], [HELD], "arm_2", OLD, []),  # grasped meanwhile: the grasp's own observation says so
        ([TABLE], [HELD], "arm_2", OLD, [TABLE]),
        ([TRAY], [HELD], "arm_2", OLD, [TRAY]),
        ([TRAY], [HELD], "cart_1", NEW, [HELD]),
        ([TRAY], [TRAY], "arm_2", OLD, [TRAY]),
        ([TABLE], [TRAY], "arm_2", NEW, [TRAY]),  # put there by the one that looks
        ([HELD], [HELD], "arm_1", NEW, [HELD]),  # its own
        ([TRAY], [TRAY], "cart_1", NEW, [TRAY]),
        ([HELD], [("bar", "held_by", "arm_2")], "arm_1", NEW, [("bar", "held_by", "arm_2")]),  # given away
        ([HELD], [TABLE], "arm_2", NEW, [TABLE]),  # it fell
    ],
)
def test_what_another_robot_carries_stays_as_the_document_has_it(before, now, robot, position, edges):
    found = left_to_their_carriers(scene(NEW, *now, robot=robot), lambda: scene(OLD, *before), robot)
    assert found.objects[0].position == position
    assert found.relations == tuple(Relation(*edge) for edge in edges)


def test_the_tray_of_another_robot_stays_and_ones_own_is_told():
    seen = scene(NEW, robot="cart_2", tray=(2.0, 0.0, 0.3))
    found = left_to_their_carriers(seen, lambda: scene(OLD), "cart_2")
    assert {piece.id: piece.position[0] for piece in found.furniture} == {"cart_1_tray": 1.0, "cart_2_tray": 2.0}


def test_the_document_is_not_read_where_no_other_robot_carries_anything():
    def read():
        raise AssertionError

    seen = Scene((RobotState("arm_2"),), (Thing("bar", position=NEW),), (), (Relation(*HELD[:2], "arm_2"),))
    assert left_to_their_carriers(seen, read, "arm_2") is seen
