"""A quadruped's own map of its floor: what it writes of it, and that no other writer's map changes."""

from __future__ import annotations

import json

from worldfs.base.model import Scene, Thing
from worldfs.formats import environment

OTHERS = {
    "zones": [{"name": "bay", "pose": [1.0, 1.0]}], "lanes": [{"name": "aisle", "from": [0, 0], "to": [8, 0]}],
    "amr_01": {"frame": "map", "rows": ["."]},
}  # fmt: skip
CRATE = Thing("crate_01", "crate", "crate", (1.0, 2.0, 0.2), size=(0.4, 0.4, 0.4), shape="box")
EMPTY = {"schema_version": "v2.0", "robots": [], "objects": []}


def written(body, document):
    return environment.merge(json.dumps(document).encode(), body.observe(), robot_id="dog", now="2026-01-01T00:00:00Z")


def taken(plan, x, y):
    column = int((x - plan["origin"][0]) // plan["resolution"])
    row = plan["height"] - 1 - int((y - plan["origin"][1]) // plan["resolution"])
    return plan["rows"][row][column] == "#"


def test_the_house_is_drawn_and_what_others_say_of_the_map_stays(dog):
    body = dog(cameras=False).body
    page = written(body, EMPTY | {"map": OTHERS})
    found = json.loads(page)["map"]
    own = found.pop("dog")
    assert found == OTHERS
    assert own["frame"] == "world" and own["width"] == len(own["rows"][0]) and own["height"] == len(own["rows"])
    assert taken(own, -2.2, -2.45) and taken(own, -4.05, 1.0)  # the sofa, a wall
    assert not taken(own, 0.0, 0.0) and not taken(own, 0.0, 2.4)  # where it stands itself, and the flat station
    assert environment.merge(page, body.observe(), robot_id="dog", now="2026-01-02T00:00:00Z") == page
    again = dog(environment.read(page).scene, cameras=False)
    assert again.body.observe().extra["map"]["dog"] == own  # after a restart, in the world of the file
    assert [target.middle for target in again.body.floor.named("bay")] == [(1.0, 1.0)]


def test_a_floor_that_it_was_told_of_is_drawn_once_it_has_stood_on_it(dog):
    one = dog(Scene(furniture=(CRATE,)), cameras=False)
    assert "map" not in one.body.observe().extra  # told, and not measured
    assert one.do("stop").ok
    plan = one.body.observe().extra["map"]["dog"]
    assert taken(plan, 1.0, 2.0) and not taken(plan, 0.5, 0.0)
