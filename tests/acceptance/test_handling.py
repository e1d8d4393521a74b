"""Pushing, setting upright and freeing what is walled in: said in English or Chinese, done by the simulated arm."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import pytest

pytest.importorskip("mujoco")

from worldfs.base.model.job import JobState

SIDE = 0.05


def cube(id: str, color: str, x: float, y: float):
    return {"id": id, "name": f"{color} cube", "category": "block", "shape": "box", "color": color, "mass": 0.1,
            "size": [SIDE] * 3, "position": [x, y, SIDE / 2]}  # fmt: skip


@pytest.fixture
def table(onboarded: Callable):
    """A cube with two at its sides, and a can that lies."""
    place = onboarded()
    place.up("--seed", "7")
    turn = math.sqrt(0.5)
    can = {"id": "can_01", "name": "green can", "category": "can", "shape": "cylinder", "size": [0.06, 0.06, 0.11],
           "mass": 0.3, "position": [0.45, -0.05, 0.031], "orientation": [turn, turn, 0, 0]}  # fmt: skip
    walls = [cube("cube_02", "blue", 0.553, 0.2), cube("cube_03", "white", 0.5, 0.253)]
    place.furnish([cube("cube_01", "red", 0.5, 0.2), *walls, can])
    return place


@pytest.mark.proof
def test_what_lies_is_set_upright_then_pushed_and_undone(table) -> None:
    said = table.do("把罐子扶正")
    assert said.code == 0, said
    assert table.thing("can_01")["position"][2] == pytest.approx(0.055, abs=0.001)
    stood = table.thing("can_01")["position"]
    said = table.do("push the can 8 cm to the right")
    assert said.code == 0 and "as the robot sees them" in said.out, said
    assert table.thing("can_01")["position"][1] == pytest.approx(stood[1] - 0.08, abs=0.012)
    assert table.do("undo").code == 0
    assert table.thing("can_01")["position"][:2] == pytest.approx(stood[:2], abs=0.03)


@pytest.mark.proof
def test_a_walled_in_cube_is_freed_without_touching_what_is_to_be_left_alone(table) -> None:
    said = table.do("put the red cube in the basket, but do not touch the white cube")
    assert said.code == 0 and "walled in" in said.out, said
    assert table.where("cube_01") == {("in", "basket_01")}
    assert table.thing("cube_03")["position"][:2] == pytest.approx([0.5, 0.253], abs=0.005)
    assert table.thing("cube_02")["position"][:2] != pytest.approx([0.553, 0.2], abs=0.02)


def test_a_drawer_is_opened_and_undone_and_the_file_says_how_far(table) -> None:
    world = table.value("ENVIRONMENT.md")
    drawer = {"id": "drawer_01", "type": "furniture", "category": "drawer", "shape": "drawer", "name": "wooden drawer",
              "position": [0.62, -0.3, 0.06], "size": [0.22, 0.24, 0.12]}  # fmt: skip
    world["objects"] = []
    world["scene_graph"]["nodes"] = [n for n in world["scene_graph"]["nodes"] if n["id"] != "basket_01"] + [drawer]
    world["scene_graph"]["edges"] = []
    table.put("ENVIRONMENT.md", json.dumps(world))

    def node():
        return next(n for n in table.value("ENVIRONMENT.md")["scene_graph"]["nodes"] if n["id"] == "drawer_01")

    said = table.do("open the drawer")
    assert said.code == 0, said
    assert node()["status"] == "open" and node()["opening"] > 0.1
    assert table.do("打开抽屉").code == 0 and len(table.ended()) == 1  # nothing to do
    assert table.do("undo").code == 0
    assert node()["status"] == "closed" and node()["opening"] < 0.01


@pytest.mark.proof
def test_what_is_put_into_an_opened_drawer_is_recorded_as_done(table) -> None:
    world = table.value("ENVIRONMENT.md")
    drawer = {
        "id": "drawer_01",
        "type": "furniture",
        "shape": "drawer",
        "name": "drawer",
        "position": [0.55, 0.3, 0.08],
    }
    world["objects"] = [cube("cube_01", "red", 0.35, -0.05)]
    world["scene_graph"]["nodes"] = [n for n in world["scene_graph"]["nodes"] if n["id"] != "basket_01"] + [drawer]
    world["scene_graph"]["edges"] = []
    table.put("ENVIRONMENT.md", json.dumps(world))
    said = table.do("open the drawer and put the cube into it")
    assert said.code == 0 and "CONTRADICTED" not in said.out, said
    assert [job.status.state for job in table.ended().values()] == [JobState.SUCCEEDED] * 3
    assert table.where("cube_01") == {("in", "drawer_01")}


def test_what_lies_in_a_drawer_is_in_it_though_no_edge_says_so(table) -> None:
    world = table.value("ENVIRONMENT.md")
    drawer = {
        "id": "drawer_01",
        "type": "furniture",
        "name": "drawer",  # by name alone
        "position": [0.6, 0.3, 0.08],
    }
    key = {"id": "key_01", "name": "brass key", "shape": "box", "size": [0.05, 0.03, 0.045], "mass": 0.05,
           "position": [0.6, 0.3, 0.0615]}  # fmt: skip
    world["objects"] = [key]
    world["scene_graph"]["nodes"] = [n for n in world["scene_graph"]["nodes"] if n["id"] != "basket_01"] + [drawer]
    world["scene_graph"]["edges"] = []
    table.put("ENVIRONMENT.md", json.dumps(world))
    said = table.do("what is in the drawer?")
    assert said.code == 0 and "brass key" in said.out, said
    assert "1" in table.do("how many things are in the drawer?").out
    said = table.do("take the key out of the drawer")
    assert said.code != 0 and "open it first" in said.out + said.err, said
    said = table.do("open the drawer")
    assert said.code == 0 and table.where("key_01") == {("in", "drawer_01")}, said
    said = table.do("take the key out of the drawer")
    assert said.code == 0 and table.where("key_01") == {("held_by", "franka_001")}, said
