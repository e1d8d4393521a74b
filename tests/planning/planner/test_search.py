"""Plans on random tables, carried out step by step by the page's own rules."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.base import packing
from worldfs.base.errors import BadInput
from worldfs.base.model import Operation, Profile, Scene
from worldfs.planning.planner import PlanConstraints, build_plan, holds, interpret, orders, stages
from worldfs.planning.planner.goals import InGoal, OnGoal
from worldfs.planning.planner.plan_search import PlacementProblem, search_moves
from worldfs.planning.planner.scene_facts import ThingLocation

from .conftest import TABLE, basket, cube, scene_of

PANDA = Profile("Panda", ops=tuple(Operation(o) for o in ("pick_up", "place")), max_reach=0.855)


def simulate(places: dict[str, ThingLocation], actions) -> dict[str, ThingLocation]:
    """One arm: picks need a free hand and a free top, places need the thing in the hand and a free support."""
    places = dict(places)
    hand = next((id for id, w in places.items() if w.relation == "held"), None)
    for action in actions:
        covered = {w.of for w in places.values() if w.relation == "on"}
        if action.op == "pick_up":
            assert hand is None and action.object not in covered
            places[action.object], hand = ThingLocation("held", "arm"), action.object
        else:
            assert hand == action.object
            assert action.to.of not in places or action.to.of not in covered
            places[action.object], hand = action.to, None
    return places


@st.composite
def blocks(draw):
    """Stacks on a table, wanted stacks, and some blocks in a box."""
    ids = [f"b{n}" for n in range(draw(st.integers(2, 7)))]
    rng = random.Random(draw(st.integers(0, 10**6)))

    def towers() -> dict[str, ThingLocation]:
        found: dict[str, ThingLocation] = {}
        tops: list[str] = []
        for id in rng.sample(ids, len(ids)):
            under = rng.choice([*tops, "", ""])
            found[id] = ThingLocation("on", under or "table")
            if under:
                tops.remove(under)
            tops.append(id)
        return found

    places, want = towers(), towers()
    want = {id: spot for id, spot in want.items() if rng.random() < 0.7}
    for id in list(want):
        if want[id].of == "table" or (want[id].of not in want and rng.random() < 0.5):
            want[id] = ThingLocation("in", "box")
    return places, want


@settings(max_examples=300, deadline=None)
@given(blocks())
def test_every_goal_that_can_be_reached_is_reached_by_legal_moves(drawn):
    places, want = drawn
    met = frozenset(id for id, spot in want.items() if places[id] == spot and settled(id, places, want))
    moves = search_moves(PlacementProblem(places, want, met, aside="table"))
    now = dict(places)
    for move in moves:
        assert not [id for id, spot in now.items() if spot == ThingLocation("on", move.object)], "its top is free"
        assert move.to.of not in now or not [i for i, s in now.items() if s == move.to and i != move.object]
        now[move.object] = move.to
    assert all(now[id] == spot for id, spot in want.items())
    assert len(moves) <= 2 * len(places)


def settled(id: str, places: dict[str, ThingLocation], want: dict[str, ThingLocation]) -> bool:
    return (
        True
        if places[id].of not in places
        else places[id].of not in want or places[places[id].of] == want[places[id].of]
    )


def table_of(make, count: int, seed: int = 1) -> Scene:
    rng = random.Random(seed)
    spots = [(0.30 + 0.08 * i, -0.42 + 0.09 * j) for i in range(5) for j in range(7)]
    colours = ("red", "green", "blue")
    things = [
        make["cube"](f"cube_{n:02d}", x, y, rng.choice(colours), 0.03)
        for n, (x, y) in enumerate(rng.sample(spots, count))
    ]
    table = make["scene"]().furniture[0]
    boxes = tuple(make["basket"](f"{c}_box", 0.35 + 0.0 * n, 0.42 + 0.32 * n) for n, c in enumerate(colours))
    return make["scene"](*things, furniture=(table, *boxes))


@pytest.mark.parametrize("text", ["clear the table", "sort the cubes by colour", "stack the red cubes"])
def test_thirty_things_are_planned(make, text):
    scene = table_of(make, 30)
    intent = interpret(text, scene)
    plan = build_plan(stages(intent.goals), scene, profile=replace(PANDA, max_reach=None), robot_id="franka_001")
    assert not plan.unmet and plan.actions
    places = {r.subject: ThingLocation(r.relation, r.object) for r in scene.relations if r.subject.startswith("cube")}
    now = simulate(places, plan.actions)
    for goal in intent.goals:
        if isinstance(goal, InGoal):
            assert now[goal.object] == ThingLocation("in", goal.container)
        if isinstance(goal, OnGoal):
            assert now[goal.object] == ThingLocation("on", goal.support)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 12))
def test_a_protected_thing_is_never_touched(seed, count):
    rng = random.Random(seed)
    ids = [f"b{n}" for n in range(count)]
    places: dict[str, ThingLocation] = {}
    for n, id in enumerate(ids):
        free = [i for i in ids[:n] if ThingLocation("on", i) not in places.values()]
        places[id] = ThingLocation("on", rng.choice([*free, "table", "table"]))
    from worldfs.base.model import Relation, Thing
    from worldfs.planning.planner.plan import Plan

    things = tuple(
        Thing(id, id, "block", (0.4, 0.05 * n - 0.3, 0.015), size=(0.03,) * 3, shape="box") for n, id in enumerate(ids)
    )
    table = Thing("table", "Table", "furniture", (0.45, 0, 0), size=(0.9, 1.2, 0.05), shape="table")
    box = Thing("box", "Basket", "container", (0.4, 0.45, 0.06), size=(0.3, 0.3, 0.12), shape="basket")
    scene = Scene((), things, (table, box), tuple(Relation(i, w.relation, w.of) for i, w in places.items()))
    spared = tuple(rng.sample(ids, rng.randint(1, count // 2)))
    goals = tuple(InGoal(id, "box") for id in ids if id not in spared)
    plan: Plan = build_plan(stages(goals), scene, limits=PlanConstraints(protected=spared))
    assert not {a.object for a in plan.actions} & set(spared)
    now = simulate(places, plan.actions)
    lost = {g.object for g, _ in plan.unmet}
    assert all((now[g.object] == ThingLocation("in", "box")) is (g.object not in lost) for g in goals)


def test_what_lies_on_top_is_moved_first_and_what_is_wanted_stays_wanted(make):
    scene = make["scene"](
        make["cube"]("cube_01", 0.4, 0.0, "blue"), make["can"]("can_01", 0.4, 0.0), on={"can_01": "cube_01"}
    )
    plan = build_plan(stages((InGoal("cube_01", "basket_01"),)), scene, profile=PANDA, robot_id="franka_001")
    assert [(a.op, a.object, a.final) for a in plan.actions] == [
        ("pick_up", "can_01", True),
        ("place", "can_01", False),
        ("pick_up", "cube_01", True),
        ("place", "cube_01", True),
    ]
    assert "target" not in plan.actions[1].params and plan.actions[3].params["target"] == "basket_01"


def test_two_things_wanted_on_each_other_are_a_contradiction(make):
    scene = make["scene"](make["cube"]("a", 0.4, 0.0, "red"), make["cube"]("b", 0.5, 0.0, "blue"))
    plan = build_plan(stages((OnGoal("a", "b"), OnGoal("b", "a"))), scene)
    assert not plan.actions and len(plan.unmet) == 2 and "contradict" in plan.unmet[0][1]


def test_a_full_or_too_small_container_is_said(make):
    small = make["basket"]("basket_01")
    from dataclasses import replace

    small = replace(small, size=(0.05, 0.05, 0.05))
    table = make["scene"]().furniture[0]
    scene = make["scene"](make["cube"]("a", 0.4, 0.0, "red", 0.08), furniture=(table, small))
    plan = build_plan(stages((InGoal("a", "basket_01"),)), scene)
    assert not plan.actions and "too large" in plan.unmet[0][1]
    cubes = [make["cube"](f"c{n}", 0.3 + 0.06 * n, 0.0, "red", 0.049) for n in range(3)]
    narrow = replace(small, size=(0.14, 0.08, 0.03))
    plan = build_plan(
        stages(tuple(InGoal(c.id, "basket_01") for c in cubes)), make["scene"](*cubes, furniture=(table, narrow))
    )
    assert len(plan.actions) == 2 and "no room" in plan.unmet[0][1]


def test_orders_for_real_execute_are_the_same_plan_at_once(scene):
    found = orders("put the apple in the basket", scene)
    assert [(o.op, o.node) for o in found] == [("pick_up", "franka_001"), ("place", "franka_001")]
    for text in ("put all bananas in the basket", "don't clear the table", "what is on the table?", "flurbish"):
        with pytest.raises(BadInput):
            orders(text, scene)


def test_the_specifications_own_scene_is_understood():
    """000: positions only, no sizes, a table at the height of what stands on it."""
    from worldfs.base.model import Relation, RobotState, Thing

    scene = Scene(
        (RobotState("franka_001", (0.5, 0.0, 0.0), {}, "open", None),),
        (Thing("apple_01", "红苹果", "fruit", (1.2, 0.75, 0.8)),),
        (Thing("table_01", "", "furniture", (1.2, 0.0, 0.8)),),
        (Relation("apple_01", "on", "table_01"),),
    )
    intent = interpret("拿起苹果", scene)
    plan = build_plan(stages(intent.goals), scene, robot_id="franka_001")
    assert [a.params for a in plan.actions] == [{"object_id": "apple_01"}]
    assert not holds(intent.goals[0], scene)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.08, 0.2), st.floats(0.08, 0.2), st.floats(0.04, 0.12), st.booleans())
def test_one_thing_or_several_go_into_a_box_by_the_same_reckoning(along, across, high, cleared):
    """What is not placed for "clear the table" is not lifted for "put it in the basket" either."""
    box = replace(basket(), size=(along, across, high), position=(0.4, 0.3, high / 2))
    scene = scene_of(cube("cube_01", 0.45, 0.1, "blue"), furniture=(TABLE, box))
    intent = interpret("clear the table" if cleared else "put the cube in the basket", scene, profile=PANDA)
    plan = build_plan(stages(intent.goals), scene, profile=PANDA, robot_id="franka_001")
    room = next(packing.spots(scene.objects[0], box, ()), None) is not None
    assert bool(plan.actions) is room, (plan, room)
    assert bool(plan.unmet) is not room
