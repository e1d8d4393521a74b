"""Several robots at one table: every question, pronoun and direction is about the robot that is asked."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.base.model import Operation, Profile, Relation, RobotState, Scene
from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, build_plan, interpret, stages
from worldfs.planning.planner.goals import ClearedGoal, DownGoal, GripperGoal, InGoal, TowardGoal, holds, subject
from worldfs.planning.planner.model_prompt import scene_json
from worldfs.planning.planner.scene_facts import seen_by

from .conftest import OPS, TABLE, ball, basket, can, cube

PROFILE = Profile("Panda", ops=tuple(Operation(op) for op in OPS), max_grip_width=0.08)
NAMES = {
    "apple_01": ("red apple", "苹果"),
    "can_01": ("can", "罐"),
    "cube_01": ("blue cube", "蓝"),
    "cube_02": ("red cube", "红"),
}
THINGS = (
    ball("apple_01", 0.5, 0.1),
    can("can_01", 0.6, -0.1),
    cube("cube_01", 0.4, -0.2, "blue"),
    cube("cube_02", 0.5, -0.3, "red"),
)


@st.composite
def rooms(draw):
    """A scene, the robot that is asked, and who holds what; a page says it of the robot, by a relation, or both."""
    ids = draw(st.permutations(["arm_1", "arm_2", "arm_3", "zebra"]))[: draw(st.integers(1, 4))]
    taken = draw(st.permutations([*NAMES, *[None] * 4]))
    holding = dict(zip(ids, taken, strict=False))
    robots, relations = [], []
    for id, thing in holding.items():
        said = draw(st.sampled_from(["robot", "relation", "both"]))
        pose = (draw(st.floats(-1, 1)), draw(st.floats(-1, 1)), 0.0, 0.0, 0.0, draw(st.floats(-3, 3)))
        robots.append(RobotState(id, pose, {}, "closed" if thing else "open", thing if said != "relation" else None))
        relations += [Relation(thing, "held_by", id)] if thing and said != "robot" else []
    held = {thing for thing in holding.values() if thing}
    relations += [Relation(t.id, "on", "table_01") for t in (*THINGS, basket()) if t.id not in held]
    relations = draw(st.permutations(relations))
    objects = draw(st.permutations(THINGS))
    return (
        Scene(tuple(robots), tuple(objects), (TABLE, basket()), tuple(relations)),
        draw(st.sampled_from(ids)),
        holding,
    )


def said(text: str, scene: Scene, robot: str) -> object:
    return interpret(text, scene, profile=PROFILE, robot_id=robot)


def answered(text: str, scene: Scene, robot: str) -> str:
    found = said(text, scene, robot)
    assert isinstance(found, QuestionIntent) and found.answered, found
    return found.answer


@settings(max_examples=300, deadline=None)
@given(rooms())
def test_what_is_held_is_told_by_the_robot_that_is_asked(room):
    scene, robot, holding = room
    own = holding[robot]
    for text, language, empty in (("what are you holding?", 0, "nothing"), ("你拿着什么？", 1, "没有")):
        answer = answered(text, scene, robot)
        assert (NAMES[own][language] in answer) if own else (empty in answer), answer
        assert not any(NAMES[thing][0] in answer for thing in NAMES if thing != own), answer
    gripper = answered("what is in your gripper?", scene, robot)
    assert (NAMES[own][0] in gripper) if own else ("nothing" in gripper), gripper
    empty = answered("is your gripper empty?", scene, robot)
    assert (NAMES[own][0] in empty) if own else ("nothing" in empty), empty
    for other, thing in holding.items():
        if thing is None:
            continue
        where = answered(f"where is the {NAMES[thing][0]}?", scene, robot)
        assert ("in the gripper" in where) and (other in where) is (other != robot), where
        mine = answered(f"are you holding the {NAMES[thing][0]}?", scene, robot)
        assert mine.startswith("yes") is (other == robot), mine
        assert other == robot or other in mine, mine
    assert scene_json(seen_by(scene, robot))["holding"] == own


@settings(max_examples=300, deadline=None)
@given(rooms())
def test_it_is_the_thing_in_the_own_gripper_or_nothing(room):
    scene, robot, holding = room
    own = holding[robot]
    wanted = {"drop it": DownGoal, "put it down": DownGoal, "put it in the basket": InGoal, "把它放进篮子里": InGoal,
              "把它放下": DownGoal}  # fmt: skip
    for text, kind in wanted.items():
        found = said(text, scene, robot)
        if own is None:
            assert isinstance(found, RefusedIntent), (text, found)
        else:
            assert isinstance(found, CommandIntent), (text, found)
            assert [(type(goal), subject(goal)) for goal in found.goals] == [(kind, own)], text
    found = said("open the gripper", scene, robot)
    assert isinstance(found, RefusedIntent) if own else getattr(found, "goals", None) == (GripperGoal("open"),)


@settings(max_examples=200, deadline=None)
@given(rooms())
def test_nothing_is_taken_out_of_another_robots_gripper(room):
    scene, robot, holding = room
    others = {thing: other for other, thing in holding.items() if thing and other != robot}
    for text in ("clear the table", *(f"put the {NAMES[thing][0]} in the basket" for thing in NAMES)):
        intent = said(text, scene, robot)
        if isinstance(intent, RefusedIntent):
            assert holding[robot] is not None  # its hand is full
            continue
        assert isinstance(intent, CommandIntent)
        plan = build_plan(stages(intent.goals), scene, profile=PROFILE, robot_id=robot)
        assert not {action.object for action in plan.actions} & set(others), text
        for goal, why in plan.unmet:
            assert subject(goal) in others, (text, goal, why)
            assert others[subject(goal)] in str(why), (text, why)
        unmet = {subject(goal) for goal, _ in plan.unmet}
        assert unmet == {subject(goal) for goal in intent.goals} & set(others), text
    cleared = replace(scene, objects=tuple(t for t in scene.objects if t.id in holding.values()))
    assert holds(ClearedGoal("table_01"), cleared, robot) is (holding[robot] is None)


@settings(max_examples=200, deadline=None)
@given(rooms())
def test_left_and_near_are_the_robots_own(room):
    scene, robot, _ = room
    scene = replace(scene, robots=tuple(replace(r, holding=None) for r in scene.robots),
                    relations=tuple(r for r in scene.relations if r.relation != "held_by"))  # fmt: skip
    own = scene.robot(robot)
    assert own is not None
    turn = own.pose[5]
    intent = said("put the can to the left of the apple", scene, robot)
    assert isinstance(intent, CommandIntent), intent
    goal = intent.goals[0]
    assert isinstance(goal, TowardGoal)
    assert math.dist(goal.direction, (-math.sin(turn), math.cos(turn))) < 1e-6
    far = {t.id: math.dist(t.position[:2], own.pose[:2]) for t in scene.objects}
    first, second = sorted(far.values())[:2]
    if second - first > 0.01:
        intent = said("put the nearest thing in the basket", scene, robot)
        assert isinstance(intent, CommandIntent), intent
        assert subject(intent.goals[0]) == min(far, key=far.__getitem__)
    metres = float(answered("how far is the apple?", scene, robot).split(" is ")[1].split(" m")[0])
    assert metres == pytest.approx(far["apple_01"], abs=0.006)


def test_who_holds_what_is_said_where_no_robot_is_asked():
    robots = (RobotState("arm_1", holding="apple_01"), RobotState("arm_2", holding="can_01"), RobotState("arm_3"))
    scene = Scene(robots, THINGS, (TABLE, basket()))
    answer = answered("what are you holding?", scene, "")
    assert "red apple is in the gripper of arm_1" in answer and "can is in the gripper of arm_2" in answer, answer
    assert isinstance(said("drop it", scene, ""), RefusedIntent)
