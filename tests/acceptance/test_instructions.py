"""Instructions in plain words, on the real body: exit 0 exactly when the goal holds in the files afterwards.

A few of the kinds in `make test`, the others in `make proof`; every kind is read and planned in tests/planning.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable

import pytest

pytest.importorskip("mujoco")

ON_TABLE, IN_BASKET = ("on", "table_01"), ("in", "basket_01")
FIVE = ("apple_01", "cube_01", "can_01", "bar_01", "brick_01")


@pytest.mark.proof
def test_put_one_thing_into_another(table) -> None:
    assert table.do("put the apple in the basket").code == 0
    assert table.where("apple_01") == {IN_BASKET}
    assert {id for id in FIVE if ON_TABLE in table.where(id)} == set(FIVE) - {"apple_01"}
    again = table.do("put the apple in the basket")
    assert (again.code, len(table.ended())) == (0, 2)  # it is so already: nothing is submitted
    out = table.do("take the apple out of the basket and put it on the table")
    assert (out.code == 0) == (table.where("apple_01") == {ON_TABLE}), out


def test_put_one_thing_on_another(table) -> None:
    said = table.do("put the cube on the brick")
    assert said.code == 0, said
    assert ("on", "brick_01") in table.where("cube_01")
    cube, brick = table.thing("cube_01")["position"], table.thing("brick_01")["position"]
    assert math.dist(cube[:2], brick[:2]) < 0.03
    assert cube[2] > brick[2] + 0.04


def test_what_cannot_stand_is_not_called_reached(table) -> None:
    said = table.do("put the brick on the apple")
    assert said.code in (1, 2)
    assert "round" in said.out or "apple" in said.out
    assert ("on", "apple_01") not in table.where("brick_01")


@pytest.mark.proof  # one plan with "put … on", which is above
def test_stack(table) -> None:
    said = table.do("stack the cube on the brick")
    assert said.code == 0, said
    assert ("on", "brick_01") in table.where("cube_01")


@pytest.mark.proof
def test_everything_except(table) -> None:
    said = table.do("put everything in the basket except the apple")
    assert said.code == 0, said
    assert ON_TABLE in table.where("apple_01")
    assert all(table.where(id) == {IN_BASKET} for id in FIVE[1:])
    moved = {job.order.params.get("object_id") for job in table.ended().values()}
    assert "apple_01" not in moved


@pytest.mark.proof  # in `make test` test_chinese_workspace.py reads the same story, and the README clears the table
def test_clear_the_table_tells_its_story_in_the_files(table) -> None:
    said = table.do("clear the table")
    assert said.code == 0, said
    assert all(table.where(id) == {IN_BASKET} for id in FIVE)
    task = table.text("TASK.md")
    assert task.startswith("# Task: clear the table\n")
    assert "(100%)" in task
    assert task.count("✅ done") == 10
    assert all(entry["status"] == "completed" for entry in table.value("ACTION.md")["queue"])
    assert table.lessons() == []
    again = table.do("clear the table")
    assert again.code == 0
    assert len(table.ended()) == 10


@pytest.mark.proof
def test_bring_look_and_go_home(table, gl) -> None:
    assert table.do("bring me the can").code == 0
    assert table.value("ENVIRONMENT.md")["robots"][0]["holding"] == "can_01"
    assert table.do("put it on the table").code == 0
    assert table.where("can_01") == {ON_TABLE}
    assert table.do("go home").code == 0
    said = table.paos("do", "look at the brick", "--driver", "simulation")
    assert said.code == 0, said
    [look] = [job for job in table.ended().values() if job.order.op == "target_navigation"]
    assert look.status.outcome.ok


def test_exit_0_only_if_it_holds_and_the_files_say_the_same(table) -> None:
    """Many wishes on one table: whatever the code says, ENVIRONMENT.md says too."""
    wishes: dict[str, Callable[[], bool]] = {
        "put the bar in the basket and the cube on the brick": lambda: (
            IN_BASKET in table.where("bar_01") and ("on", "brick_01") in table.where("cube_01")
        ),
        "pick up the cube": lambda: table.value("ENVIRONMENT.md")["robots"][0]["holding"] == "cube_01",
        "put it down": lambda: table.value("ENVIRONMENT.md")["robots"][0]["holding"] is None,
        "把方块放进篮子": lambda: IN_BASKET in table.where("cube_01"),
    }
    for wish, holds in wishes.items():
        said = table.do(wish)
        assert (said.code == 0) == holds(), (wish, said)
        assert said.code == 0, (wish, said)


@pytest.mark.proof
def test_two_of_a_kind_are_asked_about_and_all_means_all(onboarded: Callable) -> None:
    place = onboarded()
    place.up("--seed", "7")
    world = place.value("ENVIRONMENT.md")
    twin = {"id": "cube_02", "name": "green cube", "category": "cube", "position": [0.62, -0.02, 0.025]}
    twin |= {"size": [0.05, 0.05, 0.05], "shape": "box", "mass": 0.1, "color": "green"}
    world["objects"].append(twin)
    place.put("ENVIRONMENT.md", json.dumps(world))
    asked = place.do("put the cube in the basket")
    assert asked.code == 2
    assert "cube_01" in asked.out
    assert "cube_02" in asked.out
    assert place.ended() == {}
    assert place.do("put the green cube in the basket").code == 0
    assert place.where("cube_02") == {IN_BASKET}
    assert place.where("cube_01") == {ON_TABLE}
    assert place.do("put all the cubes in the basket").code == 0
    assert place.where("cube_01") == place.where("cube_02") == {IN_BASKET}


@pytest.mark.proof
def test_sort_by_colour(onboarded: Callable) -> None:
    place = onboarded()
    place.up("--seed", "4")
    said = place.do("sort the objects by colour")
    assert said.code == 0, said
    things = [place.thing(id) for id in FIVE]
    assert len({thing["color"] for thing in things}) == len(FIVE)
    for one in things:
        for other in things:
            if one is not other:
                assert math.dist(one["position"][:2], other["position"][:2]) > 0.06


def test_what_is_not_here_is_said_with_what_is(table) -> None:
    said = table.do("put the banana in the basket")
    assert said.code in (1, 2)
    assert "apple_01" in said.out
    assert table.ended() == {}


def test_json_is_one_object_a_line_and_the_last_is_the_result(table) -> None:
    said = table.do("put the apple in the basket", "--json")
    events = said.values
    assert [event["event"] for event in events[:-1]] == ["progress"] * (len(events) - 1)
    assert events[-1] == {
        "event": "result", "verdict": "reached", "goal_holds": True, "message": events[-1]["message"],
        "source": "truth",  # of what was planned with: the simulation's own state, no picture
    }  # fmt: skip
    assert not re.search(r"\x1b\[", said.out)


def at(place, id: str) -> list[float]:
    return place.thing(id)["position"]


@pytest.mark.proof
def test_requests_sides_and_distances_on_the_real_body(table) -> None:
    """A slice of planning/planner/instructions.txt: what it is understood as is what the world shows afterwards."""
    assert table.do("would you mind grabbing the green can for me?").code == 0
    assert table.value("ENVIRONMENT.md")["robots"][0]["holding"] == "can_01"
    assert table.do("why don't you put it in the basket").code == 0
    assert table.where("can_01") == {IN_BASKET}
    before = at(table, "apple_01")
    said = table.do("move the aple 8 cm to the right")
    assert said.code == 0, said
    assert "read “aple” as “apple”" in said.out
    assert math.dist(at(table, "apple_01")[:2], (before[0], before[1] - 0.08)) < 0.03
    said = table.do("put the cube to the left of the apple")
    assert said.code == 0, said
    apple, cube = at(table, "apple_01"), at(table, "cube_01")
    assert cube[1] - apple[1] > abs(cube[0] - apple[0])  # the robot looks along x: its left is y
    said = table.do("move the cube away from the apple")
    assert said.code == 0, said
    assert math.dist(at(table, "cube_01")[:2], at(table, "apple_01")[:2]) > math.dist(cube[:2], apple[:2]) + 0.05
    assert table.do("wave").code == 0
    assert table.paos("check").code == 0


def test_undo_puts_back_what_the_last_instruction_moved(table) -> None:
    before = {id: at(table, id) for id in FIVE}
    assert table.do("undo").code == 1  # nothing came before
    said = table.do("put the cube on the brick")
    assert said.code == 0, said
    assert ("on", "brick_01") in table.where("cube_01")
    said = table.do("put everything back where it was")
    assert said.code == 0, said
    for id in FIVE:
        assert math.dist(at(table, id)[:2], before[id][:2]) < 0.03, id
    assert ON_TABLE in table.where("cube_01")
    said = table.do("撤销")  # undone again: as it was before the undoing
    assert said.code == 0, said
    assert ("on", "brick_01") in table.where("cube_01")


def test_what_cannot_all_be_done_is_refused_before_the_first_step(table) -> None:
    world = table.value("ENVIRONMENT.md")
    for thing in world["objects"]:
        if thing["id"] == "brick_01":
            thing["position"] = [0.85, 0.45, 0.05]
    table.put("ENVIRONMENT.md", json.dumps(world))
    said = table.do("clear the table")
    assert said.code == 1, said
    assert "Refused before the first step: nothing was ordered." in said.out
    assert "brick" in said.out and "out of reach" in said.out
    assert table.ended() == {}


@pytest.mark.proof
def test_each_class_of_what_was_learned_on_the_real_body(table) -> None:
    """One of each class of planning/planner/learned.txt: the files show afterwards what was said."""
    gripper = lambda: table.value("ENVIRONMENT.md")["robots"][0]["holding"]  # noqa: E731

    said = table.do("if you have a moment, put the cube to the can's right")  # manners, a side of a thing
    assert said.code == 0, said
    cube, can = at(table, "cube_01"), at(table, "can_01")
    assert can[1] - cube[1] > abs(can[0] - cube[0])
    said = table.do("the cube goes between the bar and the brick")  # the end that is wanted, between
    assert said.code == 0, said
    (ax, ay), (bx, by) = at(table, "bar_01")[:2], at(table, "brick_01")[:2]
    x, y = at(table, "cube_01")[:2]
    along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / math.dist((ax, ay), (bx, by)) ** 2
    assert 0.2 < along < 0.8
    before = at(table, "cube_01")
    said = table.do("move the cube two centimetres to its left")  # less than a place else may miss
    assert said.code == 0, said
    assert math.dist(at(table, "cube_01")[:2], (before[0], before[1] + 0.02)) < 0.01
    said = table.do("pick up whichever thing is heaviest")
    assert (said.code, gripper()) == (0, "brick_01"), said
    said = table.do("put it down")
    assert (said.code, gripper()) == (0, None), said
    said = table.do("拿起離罐頭最近的東西")  # traditional signs, the nearest
    nearest = min((id for id in FIVE if id != "can_01"), key=lambda id: math.dist(at(table, id)[:2], can[:2]))
    assert (said.code, gripper()) == (0, nearest), said
    said = table.do("1. put it in the basket 2. put the can in the basket")  # a list, a pronoun
    assert said.code == 0, said
    assert table.where(nearest) == table.where("can_01") == {IN_BASKET}
    said = table.do("put the thing that is red in the basket and leave the rest")  # which, other
    assert said.code == 0, said
    assert table.where("apple_01") == {IN_BASKET}
    ended = len(table.ended())
    for text, name in (
        ("抓住独角兽", "独角兽"),
        ("grab the unicorn", "unicorn"),
        ("put the oldest thing in the basket", "oldest"),
        ("plase put the bar in the basket", "please"),
    ):
        said = table.do(text)
        assert said.code in (1, 2) and name in said.out, said
    said = table.do("is the bar left of the brick?")
    assert said.code == 0 and said.out.startswith(("yes", "no")), said
    assert len(table.ended()) == ended


@pytest.mark.proof
def test_undo_says_beforehand_what_is_gone(table) -> None:
    before = at(table, "apple_01")
    said = table.do("put the apple in the basket and the cube on the brick")
    assert said.code == 0, said
    world = table.value("ENVIRONMENT.md")
    world["objects"] = [thing for thing in world["objects"] if thing["id"] != "cube_01"]
    world["scene_graph"]["edges"] = [e for e in world["scene_graph"]["edges"] if "cube_01" not in (e["from"], e["to"])]
    table.put("ENVIRONMENT.md", json.dumps(world))
    said = table.do("please put things back the way they were")
    assert "cube_01 cannot be put back" in said.out.splitlines()[0], said
    assert math.dist(at(table, "apple_01")[:2], before[:2]) < 0.03
