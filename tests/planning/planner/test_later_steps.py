"""Each step of an instruction is read in the scene as it is once the steps before it are done."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from worldfs.base.model import Relation, RobotState, Scene, Thing
from worldfs.planning.planner import CommandIntent, PlanConstraints, RefusedIntent, build_plan, interpret
from worldfs.planning.planner.goal_stages import lasting_goals, stages
from worldfs.planning.planner.goals import InGoal, OnGoal

PEARS, MUGS = ("green", "yellow"), ("red", "blue")
THINGS = {**dict.fromkeys(PEARS, "pear"), **dict.fromkeys(MUGS, "mug"), "key": "key"}
ZH = {"pear": "梨", "mug": "水杯", "key": "钥匙", "table": "桌子", "basket": "篮子", "crate": "纸箱"}
BOXES = ("basket", "crate")
State = dict[str, str]  # thing → table | basket | crate


def scene_of(at: State, language: str = "en") -> Scene:
    def said(word: str) -> str:
        return ZH[word] if language == "zh" else word

    table = Thing("table", said("table"), "furniture", (0.45, 0.0, 0.0), size=(0.9, 1.3, 0.75), shape="table")
    boxes = {
        id: Thing(id, said(id), "container", (0.45, y, 0.045), size=(0.3, 0.3, 0.09), shape="basket")
        for id, y in (("basket", -0.45), ("crate", 0.45))
    }
    things, relations = [], [Relation(box, "on", "table") for box in boxes]
    for n, (id, place) in enumerate(at.items()):
        box = boxes.get(place)
        x, y = (box.position[0] - 0.1 + 0.04 * n, box.position[1]) if box else (0.35 + 0.03 * n, -0.2 + 0.1 * n)
        colour, kind = "" if id == "key" else id, said(THINGS[id])
        things.append(Thing(id, kind, kind, (x, y, 0.03), size=(0.03, 0.03, 0.04), shape="box", color=colour, mass=0.1))
        relations.append(Relation(id, "in" if box else "on", place))
    robot = RobotState("r", (0.0, 0.0, 0.0), {}, "open", None)
    return Scene((robot,), tuple(things), (table, *boxes.values()), tuple(relations))


def after(text: str, at: State, language: str = "en") -> State | None:
    """Where each thing is after the plan; None where it is asked."""
    scene = scene_of(at, language)
    intent = interpret(text, scene, robot_id="r")
    if not isinstance(intent, CommandIntent):
        assert isinstance(intent, RefusedIntent), text
        return None
    plan = build_plan(
        stages(intent.goals, intent.later), scene, robot_id="r", limits=PlanConstraints(protected=intent.protected)
    )
    assert not plan.unmet, text
    found = dict(at)
    for action in plan.actions:
        found[action.object] = action.to.of
    return found


AT: State = {"red": "table", "blue": "table", "key": "table", "green": "table", "yellow": "basket"}


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("put the green pear into the basket, then empty the basket", {"yellow": "table"}),
        ("after putting the green pear in the basket, empty the basket", {"yellow": "table"}),
        ("before emptying the basket, put the green pear in the basket", {"yellow": "table"}),
        ("1. put the green pear in the basket 2. empty the basket into the crate",
         {"green": "crate", "yellow": "crate"}),
        ("put the red mug in the crate; put all mugs on the table in the basket", {"red": "crate", "blue": "basket"}),
        ("put the red mug in the crate, then put the mug on the table in the basket",
         {"red": "crate", "blue": "basket"}),
        ("put the red mug in the crate, then clear the table into the basket",
         {"red": "crate", "blue": "basket", "key": "basket", "green": "basket"}),
        ("put the red mug in the crate. Put everything on the table in the basket.",
         {"red": "crate", "blue": "basket", "key": "basket", "green": "basket"}),
        ("put the key in the basket, then empty the crate", {"key": "basket"}),
        ("move the yellow pear onto the table, then put the pears on the table in the crate",
         {"green": "crate", "yellow": "crate"}),
        ("put the key in the crate, then put the mug on the table that is red in the crate", None),
        # a place of what was moved is not known
        ("put the red mug to the left of the blue mug, then put the leftmost mug in the basket", None),
        ("put the red mug in the basket, then put the leftmost mug in the crate", None),
        ("put the red mug in the crate, then put the mug to the left of the key in the basket", None),
        ("put the red mug in the crate, then put the thing nearest to the red mug in the basket", None),
        ("put the red mug beside the key, then move it 10 cm to the left", None),
        ("empty the basket, then put the leftmost thing on the table in the crate", None),
        ("put the yellow pear in the crate, then put the things in the basket on the table", None),
        # of these it is certain
        ("put the green pear in the crate, then put the leftmost thing on the table in the basket",
         {"green": "crate", "key": "basket"}),
        ("put the blue mug in the crate, then put the leftmost mug on the table in the basket",
         {"blue": "crate", "red": "basket"}),
        # joined by "and": as things are, or one after the other?
        ("put the green pear in the basket and empty the basket", None),
        ("put the leftmost mug in the basket and the leftmost mug in the crate", None),
        ("empty the basket and put all the pears on the table in the crate", None),
        ("put the red mug in the crate and the pears in the basket", {"red": "crate", "green": "basket"}),
        ("先把绿色的梨放进篮子，再把篮子里的东西都放进纸箱", {"green": "crate", "yellow": "crate"}),
        ("清空篮子，再把桌上的梨都放进纸箱", {"green": "crate", "yellow": "crate"}),
        ("把红水杯放进纸箱，再把桌上的水杯都放进篮子", {"red": "crate", "blue": "basket"}),
        ("把红水杯放进纸箱，再把最左边的水杯放进篮子", None),
    ],
)  # fmt: skip
def test_a_later_step_is_read_in_the_scene_as_it_is_then(text: str, ends: State | None) -> None:
    language = "zh" if "，" in text else "en"
    assert after(text, AT, language) == (None if ends is None else {**AT, **ends})


def test_a_distance_is_counted_from_where_the_step_before_brought_the_thing() -> None:
    intent = interpret("move the key 10 cm to the left, then move it 10 cm to the left", scene_of(AT), robot_id="r")
    assert isinstance(intent, CommandIntent)
    first, second = (goal.position for goal in intent.goals)
    assert second[1] - first[1] == pytest.approx(0.1)


def test_what_was_picked_up_is_moved_from_where_it_lay() -> None:
    intent = interpret("pick up the key, move it 10 cm to the left", scene_of(AT), robot_id="r")
    alone = interpret("move the key 10 cm to the left", scene_of(AT), robot_id="r")
    assert isinstance(intent, CommandIntent)
    assert isinstance(alone, CommandIntent)
    assert intent.goals[-1:] == alone.goals


def test_what_a_later_step_undoes_need_only_have_held() -> None:
    goals = (OnGoal("green", "red"), InGoal("red", "crate"))
    assert lasting_goals(goals, (0, 1)) == [False, True]
    assert lasting_goals(goals, (0, 0)) == [True, True]


class Step(NamedTuple):
    english: str
    chinese: str
    then: Callable[[State], State | None]  # None: a question is right
    asks: bool = False  # a question is right in any case, too


def _to(place: str, which: Callable[[State], list[str]]) -> Callable[[State], State | None]:
    def then(at: State) -> State | None:
        ids = which(at)
        return {**at, **dict.fromkeys(ids, place)} if ids else None

    return then


def _leftmost(at: State) -> list[str]:
    """By the first positions: where a thing that was moved may count, it is asked."""
    return [id for id in [*AT][::-1] if at[id] == "table"][:1]


def steps() -> Iterator[Step]:
    for box, other in itertools.permutations(BOXES):
        b, o = ZH[box], ZH[other]
        for id in ("green", "red"):
            kind, colour = THINGS[id], {"green": "绿色的", "red": "红色的"}[id]
            yield Step(
                f"put the {id} {kind} in the {box}", f"把{colour}{ZH[kind]}放进{b}", _to(box, lambda at, id=id: [id])
            )
        yield Step("put the key on the table", "把钥匙放到桌子上", _to("table", lambda at: ["key"]))
        yield Step(
            f"empty the {box}", f"清空{b}", lambda at, box=box: {i: "table" if p == box else p for i, p in at.items()}
        )
        inside = lambda at, box=box: [id for id in at if at[id] == box]  # noqa: E731
        yield Step(f"put everything in the {box} into the {other}", f"把{b}里的东西都放进{o}", _to(other, inside), True)
        yield Step(f"take everything out of the {box}", f"把{b}里的东西都拿出来", _to("table", inside))
        yield Step(f"empty the {box} into the {other}", f"把{b}里的东西都放进{o}", _to(other, inside))
        on = lambda at: [id for id in at if at[id] == "table"]  # noqa: E731
        yield Step(f"put everything on the table in the {box}", f"把桌上的东西都放进{b}", _to(box, on))
        yield Step(f"clear the table into the {box}", f"把桌上的东西都放进{b}", _to(box, on))
        fruit = lambda at: [id for id in PEARS if at[id] == "table"]  # noqa: E731
        yield Step(f"put all the pears on the table in the {box}", f"把桌上的梨都放进{b}", _to(box, fruit))
        mugs = lambda at: [*MUGS] if all(at[id] == "table" for id in MUGS) else []  # noqa: E731
        yield Step(f"put the two mugs on the table in the {box}", f"把桌上的两个水杯放进{b}", _to(box, mugs), True)
        ends = lambda at, box=box: {**at, **dict.fromkeys(PEARS, box)}  # noqa: E731
        yield Step(f"make sure two pears are in the {box}", f"确保{b}里有两个梨", ends, True)
        yield Step(
            f"put the leftmost thing on the table in the {box}", f"把桌上最左边的东西放进{b}", _to(box, _leftmost), True
        )


STEPS = [*steps()]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("seed", range(6))
def test_steps_end_as_when_each_is_done_before_the_next_is_read(seed: int, language: str) -> None:
    random_, done = random.Random(seed), 0
    for _ in range(20):
        at = {id: random_.choice(("table", "table", *BOXES)) for id in THINGS}
        at = {id: at[id] for id in AT}
        chosen, end = random_.sample(STEPS, random_.choice((2, 2, 3))), dict(at)
        asked = any(step.asks for step in chosen)
        for step in chosen:
            then = step.then(end)
            if then is None:
                asked = True
                break
            end = then
        if language == "zh":
            text = "，然后".join(step.chinese for step in chosen)
        else:
            text = random_.choice((", then ", ". ", "; then ")).join(step.english for step in chosen)
        found = after(text, at, language)
        if found is None:
            assert asked, (text, at)
        elif then is not None:
            assert found == end, (text, at)
            done += 1
    assert done >= 4
