"""Undo brings a thing to the place where it was measured before, or says before the first motion why it cannot."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import pytest

from worldfs.base.model import Relation, Scene, Thing
from worldfs.planning.planner import Planner
from worldfs.planning.planner.goals import PLACED_M
from worldfs.planning.planner.scene_facts import layout

from .conftest import TABLE, World, scene_of

BASKET = Thing("basket_01", "basket", "container", (0.4, 0.35, 0.06), size=(0.36, 0.3, 0.12), shape="basket")
BOX = Thing("box_01", "box", "container", (0.32, 0.35, 0.033), size=(0.12, 0.12, 0.05), shape="basket")
TRAY = Thing("tray_01", "tray", "container", (0.4, -0.35, 0.015), size=(0.3, 0.3, 0.03), shape="basket")
FURNITURE = (TABLE, BASKET, BOX, TRAY)
WALL = 0.008
SIZES = {
    "saucer": (0.07, 0.07, 0.012), "plate": (0.14, 0.14, 0.012), "board": (0.18, 0.18, 0.02), "cube": (0.05,) * 3,
    "dice": (0.02,) * 3, "cork": (0.02, 0.02, 0.03), "bead": (0.02,) * 3,
}  # fmt: skip
FLOORS = {  # (left lower corner, right upper corner, height)
    "basket_01": ((0.42, 0.25), (0.52, 0.45), WALL), "box_01": ((0.29, 0.32), (0.35, 0.38), 0.008 + WALL),
    "tray_01": ((0.3, -0.45), (0.5, -0.25), WALL), "table_01": ((0.25, -0.1), (0.6, 0.1), 0.0),
}  # fmt: skip


def lying(id: str, x: float, y: float, low: float) -> Thing:
    size = SIZES[id]
    return Thing(id, id, id, (x, y, round(low + size[2] / 2, 4)), size=size, shape="box", mass=0.05)


def in_the_scene(*things: Thing, furniture: tuple[Thing, ...] = FURNITURE) -> Scene:
    return replace(scene_of(*things, furniture=furniture), relations=())


def on_a_saucer() -> Scene:
    return in_the_scene(lying("saucer", 0.47, 0.35, WALL), lying("dice", 0.48, 0.36, WALL + 0.012))


def with_place(scene: Scene, id: str, *at: float) -> Scene:
    return replace(scene, objects=tuple(replace(t, position=at) if t.id == id else t for t in scene.objects))


def taken_out(scene: Scene, *ids: str) -> Scene:
    """The same with these things on the table."""
    for n, id in enumerate(ids):
        scene = with_place(scene, id, 0.3, -0.05 + 0.1 * n, SIZES[id][2] / 2)
    return scene


def undone(was: Scene, now: Scene, text: str = "undo"):
    """The end of an undo, and the world after it, in which things are told by their places alone."""
    world = World(now)
    world.was = was

    def by_places(world, order) -> None:
        world.now_scene = replace(world.now_scene, relations=())

    world.before = by_places
    report = Planner(world).run(text)
    world.now_scene = replace(world.now_scene, relations=())
    return report, world


def not_back(was: Scene, now: Scene) -> list[str]:
    """The things that are not where they were, or on something else."""
    old, new = layout(was), layout(now)
    far = [t.id for t in was.objects if math.dist(t.position[:2], now.thing(t.id).position[:2]) > PLACED_M]
    return [*far, *(id for id in old if old[id] != new[id])]


@pytest.mark.parametrize(
    ("was", "target"),
    [
        (on_a_saucer(), "saucer"),
        (in_the_scene(lying("dice", 0.5, 0.26, WALL)), "basket_01"),
        (in_the_scene(lying("dice", 0.33, 0.37, FLOORS["box_01"][2])), "box_01"),
        (in_the_scene(lying("plate", 0.4, -0.35, WALL), lying("dice", 0.43, -0.31, WALL + 0.012)), "plate"),
        (in_the_scene(lying("board", 0.45, 0.0, 0.0), lying("dice", 0.5, 0.05, 0.02)), "board"),
        (in_the_scene(lying("cube", 0.45, 0.0, 0.0), lying("dice", 0.455, 0.0, 0.05)), "cube"),
    ],
    ids=["on a saucer in a basket", "on the floor", "in a box in a basket", "on a plate in a tray", "board", "stack"],
)
@pytest.mark.parametrize("text", ["undo", "put the dice back where it was", "把dice放回原处"])
def test_a_thing_comes_back_to_where_it_was_measured(was, target, text):
    report, world = undone(was, taken_out(was, "dice"), text)
    assert report.ok and not_back(was, world.now_scene) == [], report.reason
    assert world.log[-1].params["target"] == target
    assert world.log[-1].params["target_position"] == pytest.approx(was.thing("dice").position)


def test_what_lies_beside_it_on_the_same_plate_stays(make):
    plate = (lying("plate", 0.4, -0.35, WALL), lying("dice", 0.43, -0.31, WALL + 0.012))
    was = in_the_scene(*plate, lying("cork", 0.36, -0.36, WALL + 0.012))
    report, world = undone(was, taken_out(was, "dice"))
    assert report.ok and not_back(was, world.now_scene) == []
    assert [order.params.get("object_id") for order in world.log] == ["dice", None]


def test_a_saucer_and_what_was_on_it_come_back_together():
    was = on_a_saucer()
    report, world = undone(was, taken_out(was, "dice", "saucer"))
    assert report.ok and not_back(was, world.now_scene) == [], report.reason


def moved_off(scene: Scene) -> Scene:
    return with_place(scene, "saucer", 0.55, -0.0, 0.006)


def without(scene: Scene) -> Scene:
    """Its saucer is gone; what the job tells is all that is known of it."""
    return replace(scene, objects=tuple(t for t in scene.objects if t.id != "saucer"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (moved_off, "dice: saucer is not where it was"),
        (without, "dice: saucer is not in the scene any more"),
        (
            lambda scene: replace(scene, objects=(*scene.objects, lying("cork", 0.48, 0.355, WALL + 0.012))),
            "there is cork",
        ),
    ],
    ids=["moved", "gone", "another thing there"],
)
def test_what_cannot_come_back_is_refused_before_the_first_motion(change, why):
    was, borne = change(on_a_saucer()), (Relation("dice", "on", "saucer"),)  # as the jobs tell of it
    report, world = undone(replace(was, relations=borne), taken_out(was, "dice"))
    assert not report.ok and not world.log and why in report.reason, report.reason


def test_a_saucer_that_the_last_instruction_moved_too_bears_nothing_where_it_was():
    was = on_a_saucer()
    report, world = undone(was, moved_off(taken_out(was, "dice")), "put the dice back where it was")
    assert not report.ok and not world.log and "saucer is not where it was" in report.reason, report.reason


def test_a_floor_spot_that_is_taken_meanwhile_is_named():
    was = in_the_scene(lying("dice", 0.47, 0.35, WALL))
    now = replace(taken_out(was, "dice"), objects=(*taken_out(was, "dice").objects, lying("cork", 0.475, 0.35, WALL)))
    report, world = undone(replace(was, objects=(*was.objects, now.objects[-1])), now)
    assert not report.ok and not world.log and "there is cork" in report.reason, report.reason


def test_a_place_that_another_thing_took_in_the_same_instruction_is_left_by_it_first():
    was = in_the_scene(lying("dice", 0.47, 0.35, WALL), lying("cork", 0.3, 0.05, 0.0))
    now = with_place(taken_out(was, "dice"), "cork", 0.47, 0.35, WALL + 0.015)
    report, world = undone(was, now)
    assert report.ok and not_back(was, world.now_scene) == [], report.reason
    assert world.log[0].params["object_id"] == "cork"


def test_what_was_let_go_elsewhere_in_the_container_is_not_told_as_done():
    was = on_a_saucer()
    world = World(taken_out(was, "dice"))
    world.was = was
    place = world.place

    def astray(order):
        done = place(order)
        if order.params.get("target") == "saucer":
            world.relate("dice", Relation("dice", "in", "basket_01"), (0.33, 0.25, WALL + 0.01))
        return done

    world.place = astray
    report = Planner(world).run("put the dice back where it was")
    assert not report.ok and world.log, report.reason


def heap(seed: int) -> Scene:
    """Things at random places of the holders, some on one another."""
    dice = Random(seed)
    things: list[Thing] = []
    for id, size in SIZES.items():
        bearers = [t for t in things if min(t.size[:2]) - max(size[:2]) >= 0.02 and t.size[2] < 0.1]
        bearer = dice.choice([*bearers, None, None])
        if bearer is not None:
            room, low = (min(bearer.size[:2]) - max(size[:2])) / 2, bearer.position[2] + bearer.size[2] / 2
            x, y = (v + dice.uniform(-room, room) for v in bearer.position[:2])
        else:
            (x0, y0), (x1, y1), low = FLOORS[
                dice.choice([*FLOORS] if size[0] < 0.05 else ["basket_01", "tray_01", "table_01"])
            ]
            x, y = dice.uniform(x0, x1), dice.uniform(y0, y1)
        one = lying(id, round(x, 3), round(y, 3), low)
        beside = [
            t for t in things if t is not bearer and abs(t.position[2] - one.position[2]) < (t.size[2] + size[2]) / 2
        ]
        clear = all(math.dist(one.position[:2], t.position[:2]) > 0.75 * (t.size[0] + size[0]) for t in beside)
        things += [one] if clear else []
    return in_the_scene(*things)


@pytest.mark.parametrize("seed", range(8))
def test_of_random_nested_things_each_comes_back_or_nothing_moves(seed):
    was, dice = heap(seed), Random(seed)
    bearing = {spot.of for spot in layout(was).values()}
    loose = [t.id for t in was.objects if t.id not in bearing]
    for id in dice.sample(loose, min(2, len(loose))):
        world = World(was)
        if not Planner(world).run(f"put the {id} on the table").ok or not world.log:
            continue
        moved = replace(world.now_scene, relations=())
        report, world = undone(was, moved)
        if report.ok:
            assert not_back(was, world.now_scene) == [], report.reason
        else:
            assert not world.log and report.reason, report.reason
