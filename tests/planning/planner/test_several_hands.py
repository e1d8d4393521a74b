"""Several robots at one table: every question, pronoun and direction is about the robot that is asked."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.model import Operation, Profile, Relation, RobotState, Scene
from worldfs.planning.planner import CommandIntent, QuestionIntent, RefusedIntent, build_plan, interpret, stages
from worldfs.planning.planner.addressed import addressed
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


BOTH = (PROFILE, replace(PROFILE, ops=(*PROFILE.ops, Operation("hand_over"))))
OF_ONE = (
    "what is {r} holding?", "is {r} holding anything?", "what is in the gripper of {r}?", "what is in {r}'s gripper?",
    "what is held by {r}?", "is {r}'s gripper empty?", "{r}拿着什么？", "{r}手里有什么？", "{r}的夹爪里有什么？",
    "how many things is {r} holding?",
)  # fmt: skip
OF_ALL = (
    "what is held?", "is anything held?", "how many things are held?", "who is holding something?",
    "which robot is holding something?", "谁拿着东西？", "哪个机器人拿着东西？", "有什么东西被拿着？",
)  # fmt: skip


def _names_told(answer: str) -> set[str]:
    """The things that an answer names."""
    chinese = {"apple_01": "苹果", "can_01": "罐", "cube_01": "蓝", "cube_02": "红色(?!苹果)"}
    return {id for id, names in NAMES.items() if names[0] in answer or re.search(chinese[id], answer)}


@given(rooms(), st.sampled_from(BOTH))
def test_a_question_is_about_the_robot_that_it_names(room, profile):
    scene, robot, holding = room
    for other, thing in holding.items():
        for text in OF_ONE:
            found = interpret(text.format(r=other), scene, profile=profile, robot_id=robot)
            assert isinstance(found, QuestionIntent) and found.answered, (text, found)
            assert _names_told(found.answer) == ({thing} if thing else set()), (text, found.answer)
        for one, names in NAMES.items():
            found = interpret(f"is {other} holding the {names[0]}?", scene, profile=profile, robot_id=robot)
            assert isinstance(found, QuestionIntent) and found.answered, found
            assert found.answer.startswith("yes" if one == thing else "no"), found.answer


@given(rooms(), st.sampled_from(BOTH))
def test_a_question_that_names_no_robot_is_about_all_of_them(room, profile):
    scene, robot, holding = room
    held = {thing: other for other, thing in holding.items() if thing}
    for text in OF_ALL:
        found = interpret(text, scene, profile=profile, robot_id=robot)
        assert isinstance(found, QuestionIntent) and found.answered, (text, found)
        assert _names_told(found.answer) == set(held), (text, found.answer)
    for one, names in NAMES.items():
        for text in (f"who holds the {names[0]}?", f"who has the {names[0]}?", f"is the {names[0]} held?"):
            found = interpret(text, scene, profile=profile, robot_id=robot)
            assert isinstance(found, QuestionIntent) and found.answered, (text, found)
            assert ("in the gripper" in found.answer) is (one in held), (text, found.answer)
            if one in held and held[one] != robot:
                assert held[one] in found.answer, (text, found.answer)


@pytest.mark.parametrize(
    "text",
    ["what am i holding?", "what is the person holding?", "what is the other robot holding?", "what is arm_9 holding?",
     "is she holding the can?", "what is in my hand?", "我拿着什么？", "他们拿着什么？", "另一个机器人拿着什么？",
     "arm_9拿着什么？", "那个人拿着什么？"],
)  # fmt: skip
def test_a_question_about_somebody_who_is_not_there_is_not_answered_about_the_robot(text):
    robots = (RobotState("arm_1", holding="apple_01"), RobotState("arm_2", holding=None, gripper="open"))
    found = interpret(text, Scene(robots, THINGS, (TABLE, basket())), profile=BOTH[1], robot_id="arm_2")
    assert isinstance(found, RefusedIntent) or not found.answered, found


def test_a_basket_that_holds_things_is_no_gripper():
    scene = Scene(
        (RobotState("arm_1", holding="apple_01"),), THINGS, (TABLE, basket()), (Relation("can_01", "in", "basket_01"),)
    )
    for text in ("what is the basket holding?", "is the basket holding the can?"):
        answer = answered(text, scene, "arm_1")
        assert "can" in answer and "apple" not in answer and not answer.startswith("no"), answer


@given(rooms(), st.sampled_from(["on", "next to", "to the left of"]))
def test_nothing_is_lifted_for_a_place_that_another_robot_holds(room, side):
    scene, robot, holding = room
    held = {thing: other for other, thing in holding.items() if thing}
    free = next(id for id in NAMES if id not in held) if len(held) < len(NAMES) else ""
    for thing, other in held.items():
        if other == robot or holding[robot] or not free:
            continue
        intent = said(f"put the {NAMES[free][0]} {side} the {NAMES[thing][0]}", scene, robot)
        if isinstance(intent, RefusedIntent):
            assert intent.kind in ("impossible", "ambiguous")  # the apple is round, and has no side that is measured
            continue
        assert isinstance(intent, CommandIntent)
        plan = build_plan(stages(intent.goals), scene, profile=PROFILE, robot_id=robot)
        assert not plan.actions and len(plan.unmet) == 1, (thing, side, plan)
        assert other in str(plan.unmet[0][1]), plan.unmet


@pytest.mark.parametrize(
    ("text", "robot", "rest"),
    [
        ("arm_2, put the cup in the basket", "arm_2", "put the cup in the basket"),
        ("Arm_2: where is the cup?", "arm_2", "where is the cup?"),
        ("tell arm_2 to put the cup in the basket", "arm_2", "put the cup in the basket"),
        ("arm_2，把杯子放进篮子", "arm_2", "把杯子放进篮子"),
        ("让arm_2把杯子放进篮子", "arm_2", "把杯子放进篮子"),
        ("arm_22, put the cup in the basket", "", "arm_22, put the cup in the basket"),
        ("give the cup to arm_2", "", "give the cup to arm_2"),
        ("put the cup near arm_2, then the bowl", "", "put the cup near arm_2, then the bowl"),
    ],
)
def test_an_instruction_is_said_to_the_robot_that_it_begins_with(text: str, robot: str, rest: str) -> None:
    assert addressed(text, ["arm_1", "arm_2"]) == (robot, rest)
