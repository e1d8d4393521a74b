"""A relation or a status word that the positions of the same document clearly contradict: the positions count."""

import json
import math
import random

import pytest

from worldfs.formats import environment
from worldfs.planning.planner import Planner, QuestionIntent, interpret

from .conftest import ROBOT, World

TABLE = {"id": "table_01", "type": "furniture", "name": "table", "position": [0.45, 0, 0], "size": [0.9, 1.2, 0.75],
         "shape": "table"}  # fmt: skip
SAID = "ENVIRONMENT.md also said that the apple is "
HOLDERS = {
    "basket": ("in", {"type": "container", "shape": "basket", "size": [0.3, 0.4, 0.09]}),
    "crate": ("in", {"type": "container", "shape": "basket", "size": [0.2, 0.2, 0.2]}),
    "board": ("on", {"type": "furniture", "shape": "box", "size": [0.2, 0.2, 0.02]}),
    "stool": ("on", {"type": "furniture", "shape": "box", "size": [0.2, 0.2, 0.2]}),
}
LABELS = ("edge", "status", "both", "held", "")
PLACES = ("there", "beside", "no position", "no size", "no place")


def page(holder, label, place, away=0.3, turn=0.0, centre=(0.45, -0.1)):
    """An apple in, on or beside a holder on the table, a cup farther away, and a label about the apple."""
    side, body = HOLDERS[holder]
    box = {"id": f"{holder}_01", "name": holder, "position": [*centre, body["size"][2] / 2], **body}
    box["orientation"] = [math.cos(turn / 2), 0, 0, math.sin(turn / 2)]
    x, y = (
        centre if place == "there" else (centre[0] + away * math.cos(turn / 3), centre[1] + away * math.sin(turn / 3))
    )
    low = {"there": {"stool": 0.2, "board": 0.02}.get(holder, 0.008)}.get(place, 0.0)
    apple = {"id": "a", "name": "apple", "position": [x, y, low + 0.03], "size": [0.06] * 3, "shape": "sphere"}
    for thing, key, lacks in (
        (apple, "position", "no position"),
        (box, "size", "no size"),
        (box, "position", "no place"),
    ):
        if place == lacks:
            del thing[key]
    edges = [{"from": "a", "to": box["id"], "relation": side}] if label in ("edge", "both") else []
    edges += [{"from": "a", "to": ROBOT, "relation": "held_by"}] if label == "held" else []
    apple |= {"status": f"{side}_{holder}"} if label in ("status", "both") else {}
    cup = {"id": "c", "name": "cup", "position": [0.8, 0.5, 0.04], "size": [0.05, 0.05, 0.08], "shape": "cylinder"}
    graph, robots = {"nodes": [TABLE, box], "edges": edges}, [{"robot_id": ROBOT, "pose": [0, 0, 0]}]
    value = {"schema_version": "v2.0", "scene_graph": graph, "robots": robots, "objects": [apple, cup]}
    return json.dumps(value).encode()


def asked(text, scene):
    found = interpret(text, scene, robot_id=ROBOT)
    assert isinstance(found, QuestionIntent), found
    return found.answer


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("holder", HOLDERS)
def test_questions_and_orders_believe_a_label_only_as_far_as_the_positions_leave_room(holder, label, place):
    r = random.Random(f"{holder} {label} {place}")
    for _ in range(2):
        away, turn = r.uniform(0.29, 0.33), r.uniform(-math.pi, math.pi)
        read = environment.read(page(holder, label, place, away, turn))
        scene, side = read.scene, HOLDERS[holder][0]
        stated = label in ("edge", "status", "both")
        denied = stated and place == "beside"
        is_there = label != "held" and (place == "there" or (stated and not denied))
        where, what = asked("where is the apple?", scene), asked(f"what is {side} the {holder}?", scene)
        assert (f"the apple is {side} the {holder}" in where.partition(SAID)[0]) == is_there, where
        assert ("apple" in what.partition(SAID)[0]) == is_there or "does not tell" in what, what
        assert (SAID in where, SAID in what, bool(read.findings)) == (denied,) * 3
        assert [finding.code for finding in read.findings] == ["LABEL_CONTRADICTED"] * denied
        assert all(finding.warning for finding in read.findings)
        if label == "held":
            assert "in the gripper" in where
        elif place == "beside":
            assert "apple" in asked("what is on the table?", scene)
        if label != "held" and (stated or place in ("there", "beside")):
            report = Planner(World(scene)).run(f"put the apple {side} the {holder}")
            assert report.moved == (not is_there and place != "no position"), report.reason
            assert (SAID in report.reason) == denied
        if denied and side == "in":
            report = Planner(World(scene)).run(f"empty the {holder}")
            assert report.ok and not report.moved and SAID in report.reason


@pytest.mark.parametrize(("away", "denied"), [(0.0, False), (0.12, False), (0.16, False), (0.2, True), (0.4, True)])
def test_positions_contradict_a_basket_beyond_the_difference_of_two_sensors(away, denied):
    assert bool(environment.read(page("basket", "edge", "beside", away)).findings) == denied


def test_what_is_far_above_a_basket_is_not_in_it_and_a_tower_in_it_is():
    value = json.loads(page("basket", "edge", "there"))
    value["objects"][0]["position"][2] = 0.4
    assert environment.read(json.dumps(value).encode()).scene.contradicted
    tower = {"id": "t", "name": "tower", "position": [0.45, -0.1, 0.19], "size": [0.05, 0.05, 0.36], "shape": "box"}
    value["objects"].append(tower)
    assert not environment.read(json.dumps(value).encode()).scene.contradicted


@pytest.mark.parametrize("opening", [None, 0.0, 0.12])
def test_what_is_in_a_drawer_that_is_drawn_out_is_not_beside_it(opening):
    drawer = {"id": "drawer_01", "type": "furniture", "name": "drawer", "shape": "drawer", "status": "open",
              "position": [0.6, 0, 0.06], "size": [0.22, 0.24, 0.12]}  # fmt: skip
    drawer |= {} if opening is None else {"opening": opening}
    block = {"id": "b", "name": "block", "position": [0.6 - (opening or 0.1), 0, 0.045], "size": [0.04] * 3}
    edges = [{"from": "b", "to": "drawer_01", "relation": "in"}]
    value = {"scene_graph": {"nodes": [TABLE, drawer], "edges": edges}, "robots": [], "objects": [block]}
    assert not environment.read(json.dumps(value).encode()).scene.contradicted
    block["position"][1] = 0.4
    assert environment.read(json.dumps(value).encode()).scene.contradicted


def test_centimetres_of_a_foreign_dialect_contradict_nothing():
    """Positions of objects there are in the driver's own unit, unless the graph has a centre in metres."""
    nodes = [
        {"id": "n1", "class": "cup", "object_key": "cup"},
        {
            "id": "n2",
            "class": "container",
            "center": {"x": 0.4, "y": 0.1, "z": 0.05},
            "size": {"x": 0.3, "y": 0.3, "z": 0.1},
        },
    ]
    edges = [{"source": "n1", "target": "n2", "relation": "IN"}]
    value = {"objects": {"cup": {"position": {"x": 40, "y": 10, "z": 4}}}, "robots": {},
             "scene_graph": {"nodes": nodes, "edges": edges}}  # fmt: skip
    read = environment.read(json.dumps(value).encode())
    assert read.dialect == "q1" and read.scene.relations and not read.findings
    nodes[0]["center"] = {"x": 0.9, "y": 0.1, "z": 0.04}
    assert environment.read(json.dumps(value).encode()).findings
