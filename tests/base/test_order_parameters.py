"""Which parameters of an order are read: names of its row and others for the same, once each."""

import pytest

from worldfs.base.model import Operation, Parameter, Profile
from worldfs.base.order_parameters import profile_with_declared, unread_parameters
from worldfs.base.standard_operations import HANDLING, MOVE_TO, PICK_UP, PLACE_DOWN, STANDARD

Q1_PLACE = Operation("place", "", (Parameter("target", "string"), Parameter("location", "string")))
OWN = Operation("polish", "", (Parameter("part", "string"),))


@pytest.mark.parametrize(
    ("op", "params", "unread"),
    [
        (PICK_UP, {"object_id": "c1", "robot_id": "arm", "note": "for the guests", "objectid": None}, []),
        (PICK_UP, {"object": "c1", "target": "c1"}, []),
        (PICK_UP, {"object_id": "c1", "target": "c2"}, ["target"]),
        (PICK_UP, {"objectid": "c2"}, ["objectid"]),
        (PICK_UP, {"object_id": "c1", "instruction": "the green can"}, ["instruction"]),
        (PLACE_DOWN, {"target_position": [0, 0, 0], "target": "tray", "object_id": "c1"}, []),
        (PLACE_DOWN, {"target_position": [0, 0, 0], "position": [1, 1, 1]}, ["position"]),
        (PLACE_DOWN, {"target": "tray", "on": "table"}, ["target"]),
        (PLACE_DOWN, {"x": 0.1, "y": 0.2, "z": 0.3, "yaw": 0.0}, []),
        (PLACE_DOWN, {"target_position": [0, 0, 0], "x": 0.5}, ["x"]),
        (Q1_PLACE, {"target": "c1", "location": "tray"}, []),
        (Q1_PLACE, {"target": "c1", "object_id": "c2", "location": "tray"}, ["object_id"]),
        (MOVE_TO, {"position": [0, 0, 0], "speeed": 0.1}, ["speeed"]),
        (Operation("strategy"), {"script": "home", "loudly": True}, ["loudly"]),
        (Operation("push"), {"object_id": "c1", "direction": "left", "distance": 0.1, "hard": True}, ["hard"]),
        (OWN, {"part": "lid", "force": 3}, ["force"]),
        (Operation("polish"), {"whatever": 1, "trace_id": "t", "dry_run": False, "robot_id": "arm"}, ["whatever"]),
    ],
)
def test_what_nothing_reads(op, params, unread):
    assert unread_parameters(op, params) == unread


def test_each_row_of_ours_reads_its_own_names_also_where_a_document_lists_none():
    for op in (*STANDARD.values(), *HANDLING):
        given = {parameter.name: 1 for parameter in op.parameters}
        assert unread_parameters(op, given) == unread_parameters(Operation(op.name), given) == []


def test_what_a_driver_declares_is_read_beside_the_row_of_a_profile():
    row, declared = (
        Operation("polish", "", (Parameter("part", "string"),)),
        Operation("polish", "", (Parameter("force"),)),
    )
    profile = Profile(ops=(MOVE_TO, row))
    whole = profile_with_declared(profile, declared).op("polish")
    assert whole is not None and unread_parameters(whole, {"part": "lid", "force": 3, "speed": 1}) == ["speed"]
    assert all(parameter.optional for parameter in whole.parameters[1:])
    bare = profile_with_declared(Profile(ops=(Operation("polish"), MOVE_TO)), declared).op("polish")
    assert bare is not None and unread_parameters(bare, {"force": 3, "speed": 1}) == ["speed"]
    for other in (None, Operation("wave", "", (Parameter("force"),)), Operation("polish")):
        assert profile_with_declared(profile, other) is profile
