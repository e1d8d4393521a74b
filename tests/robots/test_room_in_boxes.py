"""Room in a box: what a plan claims, an independent judge in physics confirms, and the arm does."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

from worldfs.base.model import Profile, Relation, Scene, Thing
from worldfs.base.packing import fits, spots
from worldfs.base.standard_operations import PICK_UP, PLACE_DOWN
from worldfs.planning.planner import CommandIntent, QuestionIntent, build_plan, interpret, stages
from worldfs.planning.planner.scene_facts import ThingLocation, layout

from .conftest import TABLE, on_table
from .room_judge import RoomJudge, random_case

PROFILE = Profile("Panda", ops=(PICK_UP, PLACE_DOWN), max_reach=0.855, max_payload=3.0, max_grip_width=0.076)
TRAY = Thing("tray", "tray", "container", (0.45, -0.35, 0.02), size=(0.2, 0.2, 0.04), shape="basket")


def judged(seed: int) -> str:
    """What is claimed of a random box, and whether the judge agrees: "" or what is wrong."""
    thing, box, there = random_case(Random(seed))
    spot = next(spots(thing, box, there, widest=0.076), None) if fits(thing, box) else None
    if spot is not None:
        judge = RoomJudge(box, there, thing, swollen=-0.001)
        free = any(not judge.touches(spot.x, spot.y, spot.turn - turn, way) for way, (turn, _) in enumerate(judge.ways))
        return "room" if free else f"no room at {spot}: {thing} {box} {there}"
    found = RoomJudge(box, there, thing, swollen=0.003).room()
    return "none" if found is None else f"room at {found}: {thing} {box} {there}"


def test_claims_of_room_agree_with_a_judge_that_tries_every_place():
    told = Counter(judged(seed) for seed in range(24))
    assert set(told) <= {"room", "none"} and told["room"] > 5 and told["none"] > 5, told


class Table:
    """An instruction, planned and carried out step by step by the simulated arm, each step planned anew."""

    def __init__(self, opened, *things: Thing) -> None:
        scene = on_table(*things)
        self.hand = opened(scene=replace(scene, furniture=(TABLE, TRAY)))
        self.names = {thing.id: thing for thing in (*things, TABLE, TRAY)}

    def scene(self) -> Scene:
        seen = self.hand.body.observe()
        named = tuple(replace(t, name=self.names[t.id].name, category=self.names[t.id].category) for t in seen.objects)
        return replace(seen, objects=named)

    def plan(self, text: str):
        scene = self.scene()
        intent = interpret(text, scene, profile=PROFILE, robot_id="franka_001")
        assert isinstance(intent, CommandIntent), intent
        return build_plan(stages(intent.goals), scene, profile=PROFILE, robot_id="franka_001")

    def run(self, text: str) -> None:
        for _ in range(40):
            plan = self.plan(text)
            assert not plan.unmet, plan.unmet
            if not plan.actions:
                return
            done = self.hand.do(plan.actions[0].op, **plan.actions[0].params)
            assert done.ok, done

    def inside(self) -> set[str]:
        places = layout(self.scene())
        return {id for id, place in places.items() if place == ThingLocation("in", "tray")}


def cubes(count: int, side: float = 0.04) -> list[Thing]:
    at = [(0.35 + 0.09 * (n % 4), 0.02 + 0.1 * (n // 4), side / 2 + 0.0005) for n in range(count)]
    return [
        Thing(f"cube_{n}", f"cube {n}", "block", place, size=(side,) * 3, shape="box", mass=0.06)
        for n, place in enumerate(at)
    ]


def test_a_tray_takes_what_the_plan_says(opened):
    table = Table(opened, *cubes(4))
    table.run("put everything in the tray")
    assert table.inside() == {"cube_0", "cube_1", "cube_2", "cube_3"}


def test_nothing_is_lifted_for_a_plan_that_cannot_end(opened):
    plank = Thing("plank", "plank", "wood", (0.5, 0.1, 0.016), size=(0.5, 0.04, 0.03), shape="box", mass=0.1)
    plan = Table(opened, plank).plan("put the plank in the tray")
    assert not plan.actions and [why.code for _, why in plan.unmet] == ["planner.too_large"]


def test_a_bottle_stands_in_a_tray(opened):
    table = Table(
        opened, Thing("bottle", "bottle", "", (0.5, 0.1, 0.091), size=(0.06, 0.06, 0.18), shape="cylinder", mass=0.3)
    )
    table.run("put the bottle in the tray")
    assert table.inside() == {"bottle"}


def test_a_full_tray_is_full_before_the_first_motion(opened):
    lying = [
        replace(
            t, id=f"lying_{n}", name=f"lying {n}", position=(0.39 + 0.06 * (n % 3), -0.41 + 0.06 * (n // 3), 0.0358)
        )
        for n, t in enumerate(cubes(9, 0.055))
    ]
    table = Table(opened, *lying, *cubes(1))
    plan = table.plan("put the cube 0 in the tray")
    assert not plan.actions and plan.unmet[0][1].code == "planner.full", plan


def test_one_thing_that_does_not_fit_is_known_before_the_others_are_moved():
    bar = Thing("bar", "bar", "bar", (0.5, 0.3, 0.02), size=(0.3, 0.03, 0.03), shape="box", mass=0.1)
    scene = on_table(*cubes(2), bar)
    scene = replace(
        scene, furniture=(TABLE, TRAY), relations=tuple(Relation(t.id, "on", "table_01") for t in scene.objects)
    )
    intent = interpret("put everything in the tray", scene, profile=PROFILE, robot_id="franka_001")
    assert isinstance(intent, CommandIntent)
    plan = build_plan(stages(intent.goals), scene, profile=PROFILE, robot_id="franka_001")
    assert [(goal.object, why.code) for goal, why in plan.unmet] == [("bar", "planner.too_large")]


def test_what_lies_on_a_board_in_a_tray_is_told_so_and_comes_out_before_the_board(opened):
    board = Thing("board", "board", "wood", (0.45, -0.35, 0.018), size=(0.1, 0.06, 0.02), shape="box", mass=0.1)
    cube = Thing("cube", "cube", "block", (0.45, -0.35, 0.049), size=(0.04,) * 3, shape="box", mass=0.06)
    table = Table(opened, board, cube)
    told = interpret("what is on the board?", table.scene())
    assert isinstance(told, QuestionIntent) and told.answer == "on the board: cube"
    assert {relation.relation for relation in table.scene().relations if relation.subject == "cube"} == {"in"}
    intent = interpret("empty the tray", table.scene(), profile=PROFILE, robot_id="franka_001")
    assert isinstance(intent, CommandIntent)
    for _ in range(4):
        action = build_plan(stages(intent.goals), table.scene(), profile=PROFILE, robot_id="franka_001").actions[0]
        done = table.hand.do(action.op, **action.params)
        assert done.ok, done
    assert set(layout(table.scene()).values()) == {ThingLocation("on", "table_01")}
