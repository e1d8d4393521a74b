"""Pushing and setting upright: what is said in English and Chinese, what it comes to, and when it counts as done."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from worldfs.base.model import Cause, Operation, Outcome, Profile, Thing
from worldfs.base.pushing import tolerance
from worldfs.planning.planner import Planner, RefusedIntent, build_plan, holds, interpret
from worldfs.planning.planner.goals import PlacedGoal, SlidGoal, UprightGoal
from worldfs.planning.planner.scene_facts import ThingLocation, layout

from .conftest import OPS, ROBOT

ABLE = Profile("Panda", ops=tuple(Operation(op) for op in (*OPS, "push", "upright")))
LYING = (math.cos(math.pi / 4), math.sin(math.pi / 4), 0.0, 0.0)


def _with_the_can_over(scene):
    objects = tuple(replace(t, orientation=LYING) if t.id == "can_01" else t for t in scene.objects)
    return replace(scene, objects=objects)


@pytest.fixture
def fallen(scene):
    """The can lies along the robot's left and right."""
    return replace(
        scene, objects=tuple(replace(t, orientation=LYING) if t.id == "can_01" else t for t in scene.objects)
    )


@pytest.mark.parametrize(
    ("said", "id", "spot"),
    [
        ("push the red cube 10 cm to the left", "cube_02", (0.5, -0.15)),
        ("slide the blue cube to the right by 5 centimetres", "cube_01", (0.4, -0.15)),
        ("shove the can 8 cm forward", "can_01", (0.68, 0.0)),
        ("向左推红色方块10厘米", "cube_02", (0.5, -0.15)),
        ("把红色方块往前推7厘米", "cube_02", (0.57, -0.25)),
        ("把蓝色方块推远3厘米", "cube_01", (0.43, -0.1)),
    ],
)
def test_what_is_to_be_pushed_is_slid_by_a_robot_that_can(scene, said, id, spot):
    (goal,) = interpret(said, scene, profile=ABLE, robot_id=ROBOT).goals
    assert isinstance(goal, SlidGoal) and goal.object == id and goal.position == pytest.approx(spot)
    assert not holds(goal, scene)
    unable = interpret(said, scene, profile=Profile("Panda", ops=tuple(Operation(op) for op in OPS)), robot_id=ROBOT)
    assert isinstance(unable.goals[0], PlacedGoal)  # without the operation it is carried there


def test_what_would_roll_is_carried_and_the_reply_says_so(scene, fallen):
    found = interpret("push the apple 8 cm forward", scene, profile=ABLE, robot_id=ROBOT)
    assert isinstance(found.goals[0], PlacedGoal) and "would roll" in found.note
    assert isinstance(interpret("push the can 8 cm forward", fallen, profile=ABLE, robot_id=ROBOT).goals[0], PlacedGoal)
    assert isinstance(interpret("push the can 8 cm left", fallen, profile=ABLE, robot_id=ROBOT).goals[0], SlidGoal)
    assert isinstance(interpret("move the can 8 cm left", scene, profile=ABLE, robot_id=ROBOT).goals[0], PlacedGoal)


@pytest.mark.parametrize(
    "said",
    ["turn the can upright", "stand the can up", "stand up the can", "set the can upright again", "put the can upright",
     "would you mind turning the can upright?", "把可乐罐扶正", "扶正罐子", "把罐子立起来"],
)  # fmt: skip
def test_what_lies_is_to_stand(fallen, scene, said):
    found = interpret(said, fallen, profile=ABLE, robot_id=ROBOT)
    assert found.goals == (UprightGoal("can_01"),)
    assert not holds(found.goals[0], fallen) and holds(found.goals[0], scene)


@pytest.mark.parametrize("said", ["turn the can", "turn the apple upright", "把苹果扶正", "push the can", "stand back"])
def test_what_is_not_said_whole_moves_nothing(scene, said):
    assert isinstance(interpret(said, scene, profile=ABLE, robot_id=ROBOT), RefusedIntent)


def test_a_push_that_fell_short_is_followed_by_one_of_the_rest(world):
    world.ops = (*OPS, "push")
    ways = iter([0.6, 1.0])

    def slide(world, order):
        if order.op != "push":
            return
        share, (x, y), metres = next(ways), order.params["direction"], order.params["distance"]
        objects = tuple(
            replace(t, position=(t.position[0] + share * metres * x, t.position[1] + share * metres * y, t.position[2]))
            if t.id == order.params["object_id"] else t
            for t in world.now_scene.objects
        )  # fmt: skip
        world.now_scene = replace(world.now_scene, objects=objects)

    world.before = slide
    report = Planner(world).run("push the red cube 10 cm to the left and then look at the can")
    assert report.ok, report
    pushes = [o.params for o in world.log if o.op == "push"]
    assert [p["distance"] for p in pushes] == pytest.approx([0.1, 0.04]) and pushes[0]["direction"] == [0.0, 1.0]


@pytest.mark.parametrize("metres", [0.01, 0.02, 0.05, 0.1, 0.24, 0.4])
def test_an_instruction_and_its_order_hold_a_push_to_one_tolerance(scene, metres):
    said = interpret(f"push the can {100 * metres:g} cm left", scene, profile=ABLE, robot_id=ROBOT)
    (goal,) = said.goals
    assert isinstance(goal, SlidGoal) and goal.within == tolerance(metres) < metres


def test_a_push_whose_orders_fail_and_whose_goal_is_not_measured_is_not_done(world):
    world.ops = (*OPS, "push")
    gone, short = iter([0.084]), Outcome.failure(Cause.ERROR, "NOT_AT_GOAL", "went 84 mm of 100 mm (limit 15 mm)")
    world.fail = {("push", "cube_02"): [short] * 9}

    def slide(world, order):
        moved = next(gone, 0.0) if order.op == "push" else 0.0
        objects = tuple(
            replace(t, position=(t.position[0], t.position[1] + moved, t.position[2]))
            if t.id == order.params.get("object_id") else t
            for t in world.now_scene.objects
        )  # fmt: skip
        world.now_scene = replace(world.now_scene, objects=objects)

    world.before = slide
    report = Planner(world).run("push the red cube 10 cm to the left")
    assert not report.ok, report
    assert len([o for o in world.log if o.op == "push"]) > 1


@pytest.mark.parametrize("fails", [True, False])
def test_a_push_that_moved_nothing_is_not_made_again(world, fails):
    world.ops = (*OPS, "push")
    failed = Outcome.failure(Cause.ERROR, "NOT_AT_GOAL", "went 0 mm of 100 mm")
    world.fail = {("push", "cube_02"): [failed] * 9} if fails else {}
    report = Planner(world).run("push the red cube 10 cm to the left")
    assert not report.ok and [o.op for o in world.log] == ["push"], report


def test_a_robot_without_the_operation_says_so(world, scene):
    world.now_scene = _with_the_can_over(scene)
    report = Planner(world).run("turn the can upright")
    assert not report.ok and "upright" in report.reason and not world.log


def _measured(scene, **changes):
    """The scene of a page that states no relations, with the can changed so."""
    objects = tuple(replace(t, **changes) if t.id == "can_01" else t for t in scene.objects)
    return replace(scene, objects=objects, relations=())


ACROSS = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)


@pytest.mark.parametrize("turned", [LYING, ACROSS, (0.5, 0.5, 0.5, 0.5)])
@pytest.mark.parametrize(
    "said", ["push the can 10 cm to the left", "move the can 10 cm to the left", "把罐子往左移10厘米"]
)
def test_what_lies_on_the_table_is_there_by_its_place_and_is_moved_by_a_distance(make, scene, said, turned):
    lying = _measured(scene, orientation=turned, position=(0.6, 0.0, 0.03))
    assert layout(lying)["can_01"] == ThingLocation("on", "table_01")
    found = interpret(said, lying, profile=ABLE, robot_id=ROBOT)
    assert found.goals[0].object == "can_01" and found.goals[0].position == pytest.approx((0.6, 0.1))
    plan = build_plan((found.goals,), lying, profile=ABLE, robot_id=ROBOT)
    last = plan.actions[-1]
    assert last.op == "push" or last.params["target_position"] == pytest.approx([0.6, 0.1, 0.03])


def test_what_is_set_upright_first_stands_higher_when_the_next_is_planned(scene):
    lying = _measured(scene, orientation=ACROSS, position=(0.6, 0.0, 0.03))
    goals = ((UprightGoal("can_01"),), (SlidGoal("can_01", (0.6, 0.1)),))
    plan = build_plan(goals, lying, profile=ABLE, robot_id=ROBOT)
    assert [a.op for a in plan.actions] == ["upright", "push"] and not plan.unmet


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("move the red cube 10 cm to the left", "red cube is in basket"),
        ("push the red cube 10 cm to the left", "red cube is in basket"),
        ("put the can to the left of the red cube", "red cube is not on a table"),
        ("把红色方块往左移10厘米", "红色方块在棕色篮子里"),
    ],
)
def test_why_what_lies_in_a_container_is_not_moved_by_a_distance_is_said_and_nothing_is_asked(scene, said, why):
    cubes = tuple(replace(t, position=(0.4, 0.4, 0.04)) if t.id == "cube_02" else t for t in scene.objects)
    found = interpret(said, replace(scene, objects=cubes, relations=()), profile=ABLE, robot_id=ROBOT)
    assert isinstance(found, RefusedIntent) and found.kind == "impossible" and found.reason.startswith(why)


def test_a_lying_thing_in_the_hand_is_put_down_and_then_set_upright(world, fallen):
    robots = tuple(replace(r, holding="can_01") for r in fallen.robots)
    relations = tuple(r for r in fallen.relations if r.subject != "can_01")
    held = replace(fallen, robots=robots, relations=relations)
    plan = build_plan([(UprightGoal("can_01"),)], held, profile=ABLE, robot_id=ROBOT)
    assert [(one.op, one.object) for one in plan.actions] == [("place", "can_01"), ("upright", "can_01")]
    assert plan.unmet == ()
    other = replace(held, robots=tuple(replace(r, holding="apple_01") for r in held.robots), relations=fallen.relations)
    assert build_plan([(UprightGoal("can_01"),)], other, profile=ABLE, robot_id=ROBOT).unmet  # the apple is kept


@pytest.mark.parametrize(
    ("size", "says"), [((0.14, 0.02, 0.02), "size"), ((0.02, 0.02, 0.14), ""), ((0.05, 0.05, 0.04), "")]
)
def test_a_box_whose_height_is_written_as_a_short_side_is_not_said_to_stand(scene, size, says):
    rod = Thing("rod_01", "rod", "tool", (0.4, 0.2, size[2] / 2), size=size, shape="box", mass=0.05)
    for text in ("stand the rod up", "把rod扶正"):
        found = interpret(text, replace(scene, objects=(*scene.objects, rod)))
        assert isinstance(found, RefusedIntent) == bool(says), found
        assert not says or "ENVIRONMENT.md" in found.reason
