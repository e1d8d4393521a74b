"""Lanes of the map: which of them a way goes through, and which way."""

import json

import pytest

from worldfs.fleet.lanes import lanes_at, lanes_on, passing_places, read_lanes, zone_pose
from worldfs.formats import environment

MAP = {
    "lanes": [
        {"name": "aisle", "from": [0, 0], "to": [8, 0], "width": 1.0},
        {"name": "cross", "from": [4, -5], "to": [4, 5]},
        {"name": "", "from": [0, 0], "to": [1, 0]},
        {"name": "point", "from": [0, 0], "to": [0, 0]},
        {"name": "nowhere"}, "text", {"name": "wide", "from": [0, 0], "to": [1, 0], "width": -1},
    ],
    "zones": [{"name": "bay", "pose": [2, 2], "passing": True}, {"name": "dock", "pose": [9, 1, 1.57]}, {"name": "x"}],
}  # fmt: skip


@pytest.fixture
def scene():
    page = {"schema_version": "v2.0", "robots": [], "objects": [], "map": MAP}
    return environment.read(json.dumps(page).encode()).scene


def test_lanes_and_passing_places_are_read_and_what_is_none_is_left_out(scene):
    assert [lane.name for lane in read_lanes(scene)] == ["aisle", "cross"]
    assert passing_places(scene) == (("bay", (2.0, 2.0)),)
    assert zone_pose(scene, "dock") == (9.0, 1.0, 1.57)
    assert zone_pose(scene, "x") is None


@pytest.mark.parametrize(
    ("way", "found"),
    [
        ([(-1, 0), (9, 0)], [("aisle", 1), ("cross", 0)]),
        ([(9, 0.2), (-1, -0.2)], [("aisle", -1), ("cross", 0)]),
        ([(-1, 3), (3, 3)], []),
        ([(2, -3), (2, 3)], [("aisle", 0)]),  # across it
        ([(-1, 0), (3, 0), (-1, 0)], [("aisle", 0)]),  # in and out
        ([(4, -6), (4, 6)], [("aisle", 0), ("cross", 1)]),
        ([(-1, 0.75), (9, 0.75)], [("aisle", 1), ("cross", 0)]),  # its side is in the lane
        ([(-1, 0.9), (3, 0.9)], []),
    ],
)
def test_a_way_goes_through_lanes_in_a_direction(scene, way, found):
    assert lanes_on(way, read_lanes(scene), 0.35) == found


def test_who_stands_in_a_lane_is_in_it(scene):
    lanes = read_lanes(scene)
    assert lanes_at((1, 0.1), lanes, 0.35) == ["aisle"]
    assert lanes_at((-0.2, 0.0), lanes, 0.35) == ["aisle"]  # its front is
    assert lanes_at((-0.5, 0.0), lanes, 0.35) == []
    assert lanes_at((4.0, 0.0), lanes, 0.35) == ["aisle", "cross"]
