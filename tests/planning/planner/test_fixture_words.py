"""Opening and closing: what is said in English and Chinese, what it comes to, and how it is undone."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from worldfs.base.already_so import ALREADY_SO
from worldfs.base.drawers import sized
from worldfs.base.messages import render
from worldfs.base.model import Cause, Finding, Operation, Outcome, Profile, Relation, Thing
from worldfs.planning.planner import Planner, QuestionIntent, RefusedIntent, holds, interpret
from worldfs.planning.planner.goals import GripperGoal, InGoal, OnGoal, OpenedGoal

from .conftest import OPS, ROBOT

ABLE = (*OPS, "open_fixture", "close_fixture")
PROFILE = Profile("Panda", ops=tuple(Operation(op) for op in ABLE))
DRAWER = Thing(
    "drawer_01", "Drawer", "drawer", (0.6, 0.2, 0.06), size=(0.22, 0.24, 0.12), shape="drawer", status="closed"
)
CHEST = Thing("chest_01", "Chest", "chest", (0.6, -0.4, 0.05), size=(0.2, 0.24, 0.1), shape="chest", status="open")


@pytest.fixture
def room(scene):
    return replace(scene, furniture=(*scene.furniture, DRAWER, CHEST))


@pytest.mark.parametrize(
    ("said", "goal"),
    [
        ("open the drawer", OpenedGoal("drawer_01", "open")),
        ("please pull the drawer open", OpenedGoal("drawer_01", "open")),
        ("could you open up the drawer?", OpenedGoal("drawer_01", "open")),
        ("shut the chest", OpenedGoal("chest_01", "closed")),
        ("close the lid", OpenedGoal("chest_01", "closed")),
        ("push the drawer shut", OpenedGoal("drawer_01", "closed")),
        ("打开抽屉", OpenedGoal("drawer_01", "open")),
        ("请把抽屉拉开", OpenedGoal("drawer_01", "open")),
        ("把盖子关上", OpenedGoal("chest_01", "closed")),
        ("關上抽屜", OpenedGoal("drawer_01", "closed")),
        ("open the gripper", GripperGoal("open")),
        ("打开夹爪", GripperGoal("open")),
    ],
)
def test_what_is_to_open_or_close(room, said, goal):
    found = interpret(said, room, profile=PROFILE, robot_id=ROBOT)
    assert getattr(found, "goals", found) == (goal,)


@pytest.mark.parametrize("said", ["open the can", "close the table", "打开苹果", "open", "do not open the drawer"])
def test_what_cannot_be_opened_moves_nothing(room, said):
    assert isinstance(interpret(said, room, profile=PROFILE, robot_id=ROBOT), RefusedIntent)


def test_a_drawer_is_opened_then_something_else_done_and_closed_again(world, room):
    world.now_scene, world.ops = room, ABLE

    def obey(world, order):
        state = {"open_fixture": "open", "close_fixture": "closed"}.get(order.op)
        if state:
            furniture = tuple(
                replace(t, status=state) if t.id == order.params["object_id"] else t for t in world.now_scene.furniture
            )
            world.now_scene = replace(world.now_scene, furniture=furniture)

    world.before = obey
    report = Planner(world).run("open the drawer, put the can in the basket and then close the drawer")
    assert report.ok, report
    assert [order.op for order in world.log] == ["open_fixture", "pick_up", "place", "close_fixture"]
    world.was = replace(world.now_scene, furniture=(*room.furniture[:2], replace(DRAWER, status="open"), CHEST))
    assert interpret("undo", world.now_scene, profile=PROFILE, robot_id=ROBOT, before=world.earlier).goals == (
        OpenedGoal("drawer_01", "open"),
    )


def test_only_the_status_that_was_measured_counts(room):
    assert not holds(OpenedGoal("drawer_01", "open"), room) and holds(OpenedGoal("chest_01", "open"), room)
    ajar = replace(room, furniture=(replace(DRAWER, status="ajar"),))
    assert not holds(OpenedGoal("drawer_01", "open"), ajar) and not holds(OpenedGoal("drawer_01", "closed"), ajar)


SO_ALREADY = Outcome.failure(
    Cause.REJECTED,
    ALREADY_SO,
    "closed already",
    findings=(Finding(ALREADY_SO, "ACTION.md params", "open", "it is", ""),),
)


def test_what_the_robot_measures_to_be_so_already_is_nothing_to_do(world, room):
    world.ops = ABLE
    world.now_scene = replace(room, furniture=(*room.furniture[:2], replace(DRAWER, status="")))
    world.fail = {("close_fixture", "drawer_01"): [SO_ALREADY]}
    report = Planner(world).run("close the drawer")
    assert report.ok and report.reason == "Nothing to do: the drawer is already closed." and not report.lessons
    assert [order.op for order in world.log] == ["close_fixture"]
    assert [step.status for step in world.tasks[-1].steps] == ["skipped"]


def test_after_what_is_so_already_the_next_is_done(world, room):
    world.ops = ABLE
    world.now_scene = replace(room, furniture=(*room.furniture[:2], replace(DRAWER, status="")))
    world.fail = {("close_fixture", "drawer_01"): [SO_ALREADY]}
    report = Planner(world).run("close the drawer, then put the can in the basket")
    assert report.ok and report.reason == "done" and world.where("can_01") == ("in", "basket_01")


def test_another_reason_beside_it_is_a_refusal(world, room):
    world.ops = ABLE
    world.now_scene = replace(room, furniture=(*room.furniture[:2], replace(DRAWER, status="")))
    other = replace(SO_ALREADY.findings[0], code="HOLDING")
    world.fail = {("close_fixture", "drawer_01"): [replace(SO_ALREADY, findings=(*SO_ALREADY.findings, other))]}
    assert not Planner(world).run("close the drawer").ok


def test_a_robot_without_the_operation_says_so(world, room):
    world.now_scene = room
    report = Planner(world).run("open the drawer")
    assert not report.ok and "open_fixture" in report.reason and not world.log


@pytest.mark.parametrize(
    "said",
    ["put the can in the drawer", "please put the can into the drawer", "place the can inside the drawer",
     "把罐子放进抽屉", "把罐子放到抽屉里", "请将罐子放入抽屉中"],
)  # fmt: skip
def test_what_is_to_lie_in_a_drawer(room, said):
    found = interpret(said, room, profile=PROFILE, robot_id=ROBOT)
    assert [(type(goal), getattr(goal, "container", "")) for goal in getattr(found, "goals", ())] == [
        (InGoal, "drawer_01")
    ], found


def obeying(world):
    """A body that opens, closes and puts things where it is told."""

    def obey(world, order):
        state = {"open_fixture": "open", "close_fixture": "closed"}.get(order.op)
        if state:
            furniture = tuple(
                replace(t, status=state) if t.id == order.params["object_id"] else t for t in world.now_scene.furniture
            )
            world.now_scene = replace(world.now_scene, furniture=furniture)

    world.before = obey


def test_a_thing_is_put_into_an_opened_drawer_which_is_closed_again(world, room):
    world.now_scene, world.ops = room, ABLE
    obeying(world)
    report = Planner(world).run("open the drawer, put the blue cube into the drawer and then close the drawer")
    assert [order.op for order in world.log] == ["open_fixture", "pick_up", "place", "close_fixture"], report
    assert world.log[2].params["target"] == "drawer_01" and report.ok, report


OPENED_AND_PUT = ["open_fixture", "pick_up", "place"]


@pytest.mark.parametrize(
    ("said", "done"),
    [
        ("open the drawer, then put the blue cube into it", OPENED_AND_PUT),
        ("open the drawer and put the blue cube in it", OPENED_AND_PUT),
        ("open the drawer, then put the blue cube inside", OPENED_AND_PUT),
        ("open the drawer and put the blue cube in", OPENED_AND_PUT),
        ("open the drawer, take the can and put it in it", OPENED_AND_PUT),
        ("open the drawer and put the blue cube and the can into it", [*OPENED_AND_PUT, "pick_up", "place"]),
        ("open the drawer, put the blue cube in it and close it again", [*OPENED_AND_PUT, "close_fixture"]),
        ("打开抽屉，把蓝色方块放进去", OPENED_AND_PUT),
        ("把抽屉打开，然后把罐子放到里面", OPENED_AND_PUT),
        ("打开抽屉，再把罐子装进去，最后把它关上", [*OPENED_AND_PUT, "close_fixture"]),
    ],
)
def test_a_drawer_that_is_to_be_opened_is_what_a_thing_is_put_into_afterwards(world, room, said, done):
    world.now_scene, world.ops = room, ABLE
    obeying(world)
    report = Planner(world).run(said)
    assert report.ok and [order.op for order in world.log] == done, report
    assert {order.params["target"] for order in world.log if order.op == "place"} == {"drawer_01"}
    assert world.log[0].params["object_id"] == "drawer_01"


@pytest.mark.parametrize(
    "said",
    [
        "put the blue cube into it",
        "put the blue cube inside",
        "open the drawer and put the can on it",
        "open the drawer and the chest and put the can in it",  # in which of the two?
        "open the drawer and the chest and put the can inside",
        "把罐子放进去",
        "打开抽屉，放进去",
    ],
)
def test_it_is_no_drawer_that_was_not_named_alone(room, said):
    room = replace(
        room, furniture=tuple(replace(t, status="closed") if t.id == "chest_01" else t for t in room.furniture)
    )
    assert isinstance(interpret(said, room, profile=PROFILE, robot_id=ROBOT), RefusedIntent)


def test_into_a_shut_drawer_nothing_is_put_and_the_reason_said(world, room):
    world.now_scene, world.ops = room, ABLE
    for said, why in (("put the blue cube into the drawer", "open it first"), ("把蓝色方块放进抽屉", "请先打开")):
        report = Planner(world).run(said)
        assert not report.ok and why in render(report.reason, "en" if said.isascii() else "zh") and not world.log


@pytest.mark.parametrize(("more", "x"), [({}, 0.435), ({"opening": 0.12}, 0.43)])
def test_the_point_in_an_opened_drawer_is_over_what_is_drawn_out(world, room, more, x):
    drawer = replace(DRAWER, status="open", extra=more)
    world.now_scene, world.ops = replace(room, furniture=(*room.furniture[:-2], drawer)), ABLE
    obeying(world)
    assert Planner(world).run("put the can into the drawer").ok
    assert world.log[-1].params["target_position"][0] == pytest.approx(x, abs=1e-3)


# --- on what is shut, and out of it ---


def test_a_thing_is_put_on_a_shut_chest_within_its_top_and_on_no_open_one(world, room):
    shut = replace(CHEST, position=(0.5, -0.3, 0.05), status="closed")
    bare = sized(replace(shut, size=()))
    assert bare.size == shut.size and sized(DRAWER) is DRAWER
    by_name = replace(shut, name="Wooden drawer", category="furniture", shape="")
    assert sized(by_name).shape == "drawer" and sized(replace(by_name, id="t", name="Table")).shape == ""
    world.now_scene, world.ops = replace(room, furniture=(*room.furniture[:2], bare)), ABLE
    Planner(world).run("put the can on the chest")
    assert [order.op for order in world.log[:2]] == ["pick_up", "place"]
    x, y, z = world.log[1].params["target_position"]
    assert abs(x - 0.5) < 0.1 and abs(y + 0.3) < 0.12
    assert z == pytest.approx(0.1 + world.now_scene.thing("can_01").size[2] / 2)
    del world.log[:]
    world.now_scene = replace(room, furniture=(*room.furniture[:2], replace(shut, status="open")))
    report = Planner(world).run("put the can on the chest")
    assert not report.ok and not world.log and "lid" in report.reason, report


def test_what_lies_on_a_shut_chest_is_brought_back_there(world, room):
    shut = replace(CHEST, position=(0.5, -0.3, 0.05), status="closed")
    others = tuple(t for t in room.objects if t.id != "cube_02")
    now = replace(room, objects=others, furniture=(*room.furniture[:2], shut))
    can = now.thing("can_01")
    there = replace(can, position=(0.5, -0.3, 0.1 + can.size[2] / 2), status="")
    was = replace(now, objects=tuple(there if t.id == "can_01" else t for t in now.objects), relations=())
    found = interpret("undo", now, profile=PROFILE, robot_id=ROBOT, before=lambda: was)
    assert OnGoal("can_01", "chest_01", there.position) in found.goals
    world.now_scene, world.was, world.ops = now, was, ABLE
    place = world.place

    def by_its_place(order):
        """The fake states it on the table."""
        done = place(order)
        world.now_scene = replace(world.now_scene, relations=())
        return done

    world.place = by_its_place
    report = Planner(world).run("put the can back")
    assert report.ok and world.log[-1].params["target_position"] == pytest.approx(there.position), report


@pytest.mark.parametrize("status", ["closed", "ajar"])
def test_what_is_in_a_shut_drawer_is_not_reached_for(world, room, status):
    drawer = replace(DRAWER, status=status)
    room = replace(room, furniture=tuple(drawer if t.id == drawer.id else t for t in room.furniture))
    moved = tuple(r for r in room.relations if r.subject != "can_01")
    world.now_scene = replace(room, relations=(*moved, Relation("can_01", "in", "drawer_01")))
    world.ops = ABLE
    for said in ("pick up the can", "put the can in the basket"):
        report = Planner(world).run(said)
        assert not report.ok and not world.log and "shut" in report.reason and "drawer" in report.reason, report


def test_nothing_is_put_on_what_leans(room):
    half = math.radians(20)
    plank = Thing("plank_01", "Plank", "plank", (0.4, 0.2, 0.09), (math.cos(half), 0.0, math.sin(half), 0.0),
                  size=(0.02, 0.08, 0.22), shape="box")  # fmt: skip
    tilted = replace(room, objects=(*room.objects, plank))
    for said in ("put the can on the plank", "stack the can on the plank"):
        assert isinstance(interpret(said, tilted, profile=PROFILE, robot_id=ROBOT), RefusedIntent), said


RING = Thing("ring_01", "Gold ring", "ring", (0.6, -0.4, 0.019), size=(0.03, 0.03, 0.022), shape="cylinder", mass=0.05)


def lying(scene, *things, **fixture):
    """The scene, with no edge, and these things in a room with a drawer and a chest."""
    pieces = (replace(DRAWER, **fixture), replace(CHEST, **fixture))
    return replace(scene, objects=things, furniture=(*scene.furniture, *pieces), relations=())


@pytest.mark.parametrize("place", ["drawer", "chest"])
def test_what_lies_in_it_is_told_without_an_edge_and_what_lies_on_it_or_beside_it_is_not_in_it(scene, place):
    at = (0.6, 0.2, 0.03) if place == "drawer" else (0.6, -0.4, 0.019)
    room = lying(scene, replace(RING, position=at), status="closed")
    asked = (f"what is in the {place}?", f"how many things are in the {place}?", f"is the ring in the {place}?")
    found = [interpret(text, room).answer for text in asked]
    assert found == [f"in the {place}: gold ring", "1: the gold ring", f"yes, the gold ring is in the {place}"]
    top = (*at[:2], 0.12 + 0.011 if place == "drawer" else 0.1 + 0.011)
    for other in (top, (at[0] - 0.2, at[1], 0.011)):
        room = lying(scene, replace(RING, position=other), status="closed")
        assert interpret(asked[2], room).answer.startswith("no, "), other
        assert interpret(asked[0], room).answer == f"in the {place}: nothing"
    room = lying(scene, replace(RING, position=top), status="closed")
    assert interpret(f"what is on the {place}?", room).answer == f"on the {place}: gold ring"


def test_where_the_page_does_not_say_how_far_a_drawer_is_open_the_answer_says_so(scene):
    perhaps = replace(RING, position=(0.45, 0.2, 0.03))
    found = interpret("what is in the drawer?", lying(scene, perhaps, status="open"))
    unknown = "the gold ring is somewhere that the scene does not tell"
    assert found.answer == f"the scene does not tell what is in the drawer; {unknown}"
    apple = replace(RING, id="apple_01", name="Apple", position=(0.3, 0.5, 0.011))
    assert interpret("what is in the drawer?", lying(scene, apple, status="open")).answer == "in the drawer: nothing"


def test_what_lies_in_a_shut_drawer_is_not_cleared_from_the_table(scene):
    apple = replace(RING, id="apple_01", name="Apple", category="fruit", position=(0.3, 0.2, 0.011))
    room = lying(scene, apple, replace(RING, position=(0.6, 0.2, 0.03)), status="closed")
    assert {goal.object for goal in interpret("clear the table", room).goals if isinstance(goal, InGoal)} == {
        "apple_01"
    }


@pytest.mark.parametrize("status", ["closed", "ajar", ""])
def test_what_is_in_a_shut_chest_is_not_taken_before_it_is_opened(world, scene, status):
    world.now_scene, world.ops = lying(scene, RING, status=status), ABLE
    report = Planner(world).run("take the gold ring out of the chest")
    assert not report.ok and "shut; open it first" in render(report.reason, "en") and not world.log


@pytest.mark.parametrize(
    "said",
    [
        "open the chest, then take the gold ring out of it",
        "open the chest and take the gold ring out",
        "open the chest and take out the gold ring",
        "打开箱子，然后把戒指拿出来",
    ],
)
def test_what_is_in_a_chest_is_taken_out_of_it_once_it_is_opened(scene, said):
    room = lying(scene, RING, status="closed")
    if not said.isascii():
        chest = tuple(replace(t, name="箱子") if t.id == "chest_01" else t for t in room.furniture)
        room = replace(room, furniture=chest, objects=(replace(RING, name="戒指"),))
    found = interpret(said, room, profile=PROFILE, robot_id=ROBOT)
    assert getattr(found, "goals", found)[0] == OpenedGoal("chest_01", "open"), found
    assert getattr(found.goals[1], "object", "") == "ring_01", found


@pytest.mark.parametrize(
    ("said", "status", "told"),
    [
        ("is the drawer open?", "open", "yes, the drawer is open"),
        ("is the drawer still open?", "closed", "no, the drawer is closed"),
        ("is the drawer closed?", "open", "no, the drawer is open"),
        ("is the drawer shut?", "closed", "yes, the drawer is closed"),
        ("is the drawer open or closed?", "open", "the drawer is open"),
        ("is the drawer closed?", "ajar", "no, the drawer is ajar"),
        ("is the drawer open?", "ajar", "the drawer is ajar"),
        ("are the drawer and the chest open?", "closed", "no, the drawer is closed; yes, the chest is open"),
        (
            "are the drawer and the chest open?",
            "",
            "the scene does not tell whether the drawer is open; yes",
        ),
        ("is the drawer open?", "", "the scene does not tell"),
        ("is the drawer closed?", "", "the scene does not tell"),
        ("is the drawer not open?", "open", "the scene does not tell"),
        ("is the apple open?", "open", "the scene does not tell"),
        ("抽屉开着吗", "open", "是的，抽屉开着"),
        ("抽屉打开了吗？", "closed", "不，抽屉关着"),
        ("抽屉关上了吗", "open", "不，抽屉开着"),
        ("抽屉是不是关着", "closed", "是的，抽屉关着"),
        ("抽屉是开着的还是关着的？", "ajar", "抽屉半开着"),
        ("抽屉关上了吗", "", "场景里看不出来"),
    ],
)
def test_whether_it_is_open_is_answered_by_the_status_alone(room, said, status, told):
    furniture = tuple(replace(t, status=status) if t.id == "drawer_01" else t for t in room.furniture)
    found = interpret(said, replace(room, furniture=furniture), profile=PROFILE, robot_id=ROBOT)
    assert isinstance(found, QuestionIntent) and found.answer.startswith(told), found
    assert found.answered is not told.startswith(("the scene does not tell", "场景")) or "whether" in told
