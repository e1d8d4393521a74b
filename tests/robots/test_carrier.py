"""A wheeled carrier between two arms: where it stands, what it carries, whom it waits for, and no lie succeeds."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import KnowsItsWay, Run
from worldfs.base.messages import render
from worldfs.base.model import Order, Profile, RobotState, Scene, Thing
from worldfs.formats import embodied, environment
from worldfs.planning.critic import Critic
from worldfs.robots.mujoco import carrier_model
from worldfs.robots.mujoco.carrier_route import FloorMap, SearchGrid
from worldfs.robots.mujoco.floor_obstacles import Obstacle
from worldfs.robots.mujoco.grid_search import AROUND
from worldfs.testing.workcell import Workcell
from worldfs.world.profiles import profile_text

from . import lies

TABLE = Thing("table_01", category="furniture", position=(0.45, 0.0, 0.0), size=(0.9, 1.2, 0.75), shape="table")
BASKET = Thing("basket_01", category="container", position=(0.5, 0.4, 0.045), size=(0.3, 0.3, 0.09), shape="basket")
CUBE = Thing("cube", position=(0.40, 0.20, 0.0255), size=(0.05,) * 3, shape="box", mass=0.1)
APPLE = Thing("apple", category="fruit", position=(0.38, -0.25, 0.0335), size=(0.066,) * 3, shape="sphere", mass=0.15)
A, B, CART = "arm_1", "arm_2", "cart_1"
SCENE = Scene((), (CUBE, APPLE), (TABLE, BASKET))
TRAY = f"{CART}_tray"


def on_tray(thing: Thing, x: float = 0.0, y: float = 0.0) -> Thing:
    """The thing where the tray of a carrier in its own place holds it."""
    top = -0.75 + carrier_model.TRAY_FOOT + carrier_model.TRAY_WALL
    return replace(thing, position=(-0.42 + x, 0.45 + y, top + thing.size[2] / 2 + 0.0005))


LOADED = Scene((), (on_tray(CUBE, 0.1), on_tray(APPLE, -0.1)), (TABLE, BASKET))


def test_what_is_moved_while_it_drives_and_is_not_its_cargo_is_named():
    beside = replace(CUBE, id="box", position=(0.40, 0.20, 0.0255))
    cell = Workcell(Scene((), (*LOADED.objects, beside), (TABLE, BASKET)), (A, B), (CART,))
    cart, rig, moved = cell.body(CART), cell.rig(CART), []

    def knock():
        if not moved:
            moved.append(True)
            lies.put(rig, "box", rig.position("box") - np.array([0.0, 0.04, 0.0]))

    cart.mover.watch_every, cart.mover.watch = 50, knock
    done = cell.do(CART, "target_navigation", target_label=B)
    assert done.ok and moved, done
    assert "also moved: box by 40 mm" in done.message
    assert [line["id"] for line in done.evidence["also_moved"]] == ["box"]


def test_it_drives_round_the_table_with_what_lies_on_its_tray():
    cell = Workcell(LOADED, (A, B), (CART,))
    cart = cell.body(CART)
    assert cart.cargo() == ["cube", "apple"]
    before = cell.rig(CART).position("cube") - cart.view.position()
    done = cell.do(CART, "target_navigation", target_label=B)
    assert done.ok, done
    assert done.evidence["after"]["cargo"] == ["cube", "apple"] and done.evidence["touched"] == []
    assert done.evidence["way_m"] > 1.8 and done.evidence["distance_to_goal"] < 0.02
    assert np.allclose(cell.rig(CART).position("cube") - cart.view.position(), before, atol=0.03)
    base = cell.body(B).view.base[:2]
    assert 0.39 < np.linalg.norm(cart.view.position()[:2] - base) < 0.61
    scene = cell.drivers[CART].observe()
    assert scene.robots == (RobotState(CART, tuple(np.round(cart.view.position(), 4))),)
    assert {(r.subject, r.object) for r in scene.relations if r.relation == "in"} == {("cube", TRAY), ("apple", TRAY)}
    # one world, each with its own entry, and the carrier with its map
    assert scene == replace(cell.drivers[A].observe(), robots=scene.robots, extra=scene.extra)


def _within(**sides: tuple[float, float]) -> Profile:
    return Profile(bounds=tuple(sides.get(axis, (-9.0, 9.0)) for axis in "xy"), bounds_frame="world")


def test_its_way_and_the_place_that_it_chooses_are_within_the_bounds(monkeypatch):
    cell = Workcell(LOADED, (A, B), (CART,))
    driver, cart = cell.drivers[CART], cell.body(CART)
    order = Order("act", CART, "target_navigation", {"target_label": B})
    free = np.array(driver.way(order))
    far = float(free[:, 1].max())
    for profile in (_within(y=(-9.0, far - 0.05)), _within(y=(-9.0, 0.5))):  # another way round the table
        monkeypatch.setattr(driver, "_profile", lambda profile=profile: profile)
        assert driver.review(order) == ()
        way = np.array(driver.way(order))
        assert way[:, 1].max() <= profile.bounds[1][1] + 0.002, way
    places: list[np.ndarray] = []
    cart.mover.watch, cart.mover.watch_every = lambda: places.append(cart.view.position()), 10
    done = cell.do(CART, "target_navigation", target_label=B)
    assert done.ok and np.array(places)[:, 1].max() < 0.5 + 0.01, done
    monkeypatch.setattr(driver, "_profile", lambda: _within(x=(-9.0, -0.3)))
    there = cart.view.position()
    for op, params in (("target_navigation", {"target_label": A}), ("move_to", {"target_pose": [-0.42, 0.45, 0.0]})):
        (found,) = driver.review(Order("act", CART, op, params)) or (None,)
        assert found is None or (found.code == "PROFILE_LIMIT" and "x in" in found.expected), found
    (found,) = driver.review(order)
    assert found.code == "PROFILE_LIMIT" and CART in found.found and "x in [-9, -0.3] m" in found.expected
    assert np.array_equal(cart.view.position(), there)


def test_it_keeps_a_map_of_the_floor_that_it_has_driven_on_and_no_other_writer_s_changes():
    crate = Thing("crate", position=(-0.42, 1.8, -0.55), size=(0.4, 0.4, 0.4), shape="box", mass=2.0)
    cell = Workcell(replace(LOADED, objects=(*LOADED.objects, crate)), (A,), (CART,))
    driver = cell.drivers[CART]
    assert "map" not in driver.observe().extra  # told, and not measured
    assert cell.do(CART, "move_to", target_pose=[-1.0, 0.45, 0.0]).ok
    others = {"zones": [{"name": "bay", "pose": [1.0, 1.0]}], "dog": {"frame": "world", "rows": ["."]}}
    before = json.dumps({"schema_version": "v2.0", "robots": [], "objects": [], "map": others}).encode()
    page = environment.merge(before, driver.observe(), robot_id=CART, now="2026-01-01T00:00:00Z")
    found = json.loads(page)["map"]
    own = found.pop(CART)
    assert found == others and own["frame"] == "world" and own["height"] == len(own["rows"])

    def taken(x, y):
        column, row = (int((v - low) // own["resolution"]) for v, low in zip((x, y), own["origin"], strict=True))
        return own["rows"][own["height"] - 1 - row][column] == "#"

    assert taken(0.45, 0.0) and taken(-0.42, 1.8)  # the table, the crate
    assert not taken(-1.0, 0.45) and not taken(-0.42, -1.2)  # itself with its load, and the free floor
    again = Workcell(environment.read(page).scene, (A,), (CART,)).drivers[CART]
    assert CART in again.observe().extra["map"]  # after a restart, in the world of the file


def test_an_orchestrator_is_told_its_way_round_what_stands_there_and_nothing_moves():
    cell = Workcell(LOADED, (A, B), (CART,))
    driver, before = cell.drivers[CART], cell.state()
    order = Order("act", CART, "move_to", {"target_pose": [1.3, -0.45, 0.0]})
    way = driver.way(order)
    assert isinstance(driver, KnowsItsWay) and len(way) > 2  # round the table
    assert way[0] == pytest.approx((-0.42, 0.45)) and way[-1] == pytest.approx((1.3, -0.45))
    assert driver.way(replace(order, params={"target_pose": [0.45, 0.0, 0.0]})) == ()  # in the table
    assert cell.state() == before and not cell.body(CART).blockers


def test_it_is_no_faster_than_its_profile_says():
    cell, speeds = Workcell(LOADED, (A,), (CART,)), []
    mover = cell.body(CART).mover
    mover.watch_every, mover.watch = 5, lambda: speeds.append(float(np.linalg.norm(cell.body(CART).view.speeds())))
    assert cell.do(CART, "move_to", target_pose=[-2.5, 0.45, 0.0, 0.0, 0.0, 0.0]).ok
    assert 0.4 < max(speeds) <= carrier_model.SPEED * 1.03


@pytest.mark.parametrize("pose", [[0, 0, 1.57], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.7071, 0.7071], [1.57]])
def test_a_pose_that_it_would_not_take_is_refused(pose):
    cell = Workcell(LOADED, (A,), (CART,))
    (refused,) = cell.review(CART, "move_to", target_pose=[-1.0, 0.45, 0.0, *pose])
    assert refused.code == "SCHEMA_VALIDATION" and "does not turn" in refused.expected
    whole_turn = [-1.0, 0.45, 0.0, 0.0, 0.0, 6.2832]
    assert not cell.review(CART, "move_to", target_pose=whole_turn)
    assert not cell.review(CART, "move_to", target_pose=[-1.0, 0.45, 0.0, 0, 0, 0, 1])


def test_where_it_cannot_stand_or_go_it_refuses_and_names_what_is_in_the_way():
    walls = [
        Thing(f"wall_{i}", "wall", "furniture", (-0.42 + x, 0.45 + y, -0.25), size=size, shape="box")
        for i, (x, y, size) in enumerate([(0, -0.5, (1.2, 0.1, 1)), (0, 0.5, (1.2, 0.1, 1)), (-0.6, 0, (0.1, 1.1, 1))])
    ]
    cell = Workcell(Scene((), (), (*walls,)), (), (CART, "cart_2"))
    (no_place,) = cell.review(CART, "move_to", target_pose=[-0.42, 1.0, 0.0])
    assert "no free place to stand" in no_place.found
    (unknown,) = cell.review(CART, "target_navigation", target_label="nowhere")
    assert unknown.code == "UNKNOWN_OBJECT"
    assert not cell.review(CART, "move_to", target_pose=[-0.42, -1.2, 0.0])


def test_who_left_is_not_in_the_next_world():
    cell = Workcell(SCENE, (A,), (CART,))
    cell.drivers[CART].close()
    assert cell.drivers[CART].leave() and cell.rig(A).carriers  # the arm has that world open
    cell.drivers[A].close()
    cell.drivers[A].open(SCENE)
    assert not cell.rig(A).carriers
    cell.drivers[A].close()
    assert not cell.drivers[A].leave()


def test_it_drives_onto_a_zone_of_the_map():
    zones = [{"name": "dock", "pose": [-0.42, -0.3]}, {"name": "bay", "center": [9, 9]}, {"name": "nowhere"}]
    cell = Workcell(Scene(extra={"map": {"zones": zones}}), (), (CART,))
    done = cell.do(CART, "target_navigation", target_label="dock")
    assert done.ok and np.allclose(cell.body(CART).view.position()[:2], (-0.42, -0.3), atol=0.02), done
    assert [one.code for one in cell.review(CART, "target_navigation", target_label="nowhere")] == ["UNKNOWN_OBJECT"]


@pytest.mark.slice(0)
def test_another_robot_in_the_way_is_called_by_its_name():
    cell = Workcell(LOADED, (A, B), (CART,))
    assert cell.do(CART, "target_navigation", target_label=A).ok
    assert cell.do(A, "pick_up", object_id="cube").ok
    assert cell.do(A, "place", target=TRAY).ok  # and its hand stays above the tray
    (refused,) = cell.review(CART, "target_navigation", target_label=B)
    assert A in render(refused.found, "en") and A in render(refused.fix, "en")
    done = cell.do(CART, "target_navigation", target_label=B)
    assert not done.ok and A in done.message
    assert cell.do(A, "strategy", name="home").ok
    assert cell.do(CART, "target_navigation", target_label=B).ok


def test_too_heavy_a_load_is_refused():
    heavy = replace(on_tray(CUBE, 0.1), mass=carrier_model.MAX_PAYLOAD + 1)
    cell = Workcell(Scene((), (heavy,), (TABLE,)), (A,), (CART,))
    (refused,) = cell.review(CART, "move_to", target_pose=[-1.0, 0.45, 0.0])
    assert "Max Payload" in refused.field and "11.0 kg" in render(refused.found, "en")


def test_its_profile_lets_the_critic_pass_a_robot_as_a_label_and_no_unknown_one():
    profile = embodied.read(profile_text("wheeled_carrier", "en"))
    assert {op.name for op in profile.ops} == {"move_to", "target_navigation"}
    scene = Scene((RobotState(CART), RobotState(A)), (CUBE,), (TABLE,))

    def judged(label: str) -> list[str]:
        order = Order("act", CART, "target_navigation", {"target_label": label})
        return [finding.code for finding in Critic().review(order, scene, profile)]

    assert judged(A) == [] and judged("table_01") == [] and judged("arm_9") != []


def test_a_cancelled_carrier_stands_at_once_and_keeps_its_load():
    cell, clock = Workcell(LOADED, (A,), (CART,)), SystemClock()
    run = Run(clock, clock.monotonic() + 300)
    mover = cell.body(CART).mover
    mover.watch, mover.watch_every = run.cancel.set, 600
    done = cell.together({CART: [("target_navigation", {"target_label": "table_01"})]}, {CART: run})[CART][0]
    assert done.code == "CANCELLED" and done.evidence["held"] and done.evidence["after"]["cargo"] == ["cube", "apple"]


def test_a_route_keeps_its_distance_and_a_way_out_of_a_narrow_place_is_one():
    start, goal = np.array([0.0, 0.0]), np.array([2.0, 0.0])
    wall = Obstacle("wall", (0.9, -1.0, 1.1, 0.6))
    near = Obstacle("near", (0.26, -0.1, 0.3, 0.1))  # 1 cm before the chassis
    floor = FloorMap([wall, near], start)
    route = floor.route(start, goal)
    assert route is not None and max(point[1] for point in route) >= 0.6 + carrier_model.WIDTH / 2
    closed = FloorMap([wall, Obstacle("rest", (0.9, 0.6, 1.1, 9.0)), Obstacle("low", (0.9, -9.0, 1.1, -1.0))], start)
    assert closed.route(start, np.array([1.0, 0.0])) is None and not closed.free(np.array([1.0, 0.0]))


def test_the_grid_of_a_search_has_the_cells_and_the_ways_that_the_floor_has():
    rng, start = np.random.default_rng(1), np.array([0.1, -0.2])
    corners = rng.uniform(-1, 1, (6, 2))
    floor = FloorMap([Obstacle("box", (*low, *(low + rng.uniform(0.05, 0.6, 2)))) for low in corners], start)
    grid = SearchGrid(floor, start, np.array([-20.0, -20.0]), np.array([20.0, 20.0]))
    cells = [(int(i), int(j)) for i, j in rng.integers(-20, 21, (150, 2))]
    for cell in cells:
        around = [(cell[0] + i, cell[1] + j) for i, j in AROUND]
        free = [then for then in around if max(map(abs, then)) <= 20 and floor.free(grid.point(then))]
        clear = [then for then in free if floor.clear(grid.point(cell), grid.point(then))]
        assert list(grid.next_cells(cell)) == clear
    assert 0 < sum(len(list(grid.next_cells(cell))) for cell in cells) < 8 * len(cells)


# --- hand-over ---

STEPS = (
    (CART, "target_navigation", {"target_label": A}),
    (A, "pick_up", {"object_id": "cube"}),
    (A, "place", {"target": TRAY}),
    (A, "strategy", {"name": "home"}),
    (CART, "target_navigation", {"target_label": B}),
    (B, "pick_up", {"object_id": "cube"}),
    (B, "place", {"target": "basket_01"}),
)


@pytest.mark.proof
def test_a_thing_goes_from_one_arm_by_the_carrier_to_the_other():
    cell = Workcell(SCENE, (A, B), (CART,))
    for id, op, params in STEPS:
        assert not cell.review(id, op, **params), (id, op)
        done = cell.do(id, op, **params)
        assert done.ok and done.evidence["touched"] == [], (id, op, done)
    found = [r for r in cell.drivers[CART].observe().relations if r.subject == "cube"]
    assert [(r.relation, r.object) for r in found] == [("in", "basket_01")]


def test_one_arm_hands_a_thing_to_the_other_by_a_place_on_the_table():
    cell = Workcell(SCENE, (A, B))
    done = cell.together({
        A: [("pick_up", {"object_id": "apple"}), ("place", {"target_position": [0.45, -0.1, 0.0]}),
            ("strategy", {"name": "home"})],
        B: [],
    })[A]  # fmt: skip
    assert all(outcome.ok for outcome in done), done
    assert cell.do(B, "pick_up", object_id="apple").ok
    assert cell.do(B, "place", target="basket_01").ok


# --- the same for the same ---

SAME = """
from tests.robots.test_carrier import A, B, CART, STEPS, SCENE, Workcell
cell = Workcell(SCENE, (A, B), (CART,))
cell.together({
    CART: [("target_navigation", {"target_label": B}), ("target_navigation", {"target_label": A})],
    A: [("pick_up", {"object_id": "cube"}), ("place", {"target_position": [0.45, 0.0, 0.0]}),
        ("strategy", {"name": "wave"})],
    B: [("pick_up", {"object_id": "apple"}), ("place", {"target_position": [0.5, 0.1, 0.0]})],
})
for id, op, params in STEPS:
    cell.do(id, op, **params)
print(cell.digest(), round(float(cell.simulation.data.time), 6))
"""


@pytest.mark.proof
def test_one_seed_and_one_list_of_orders_make_the_same_world_in_two_processes():
    root = Path(__file__).resolve().parents[2]
    said = [
        subprocess.run([sys.executable, "-c", SAME], cwd=root, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert said[0] == said[1] and float(said[0].split()[1]) > 20


def test_it_stops_on_the_side_of_a_thin_screen_that_its_goal_is_on():
    crate = Thing("crate", position=(-1.6, 0.45, -0.6), size=(0.3,) * 3, shape="box", mass=1.0)
    screens = [
        Thing(f"screen_{n}", category="furniture", position=(-1.6 + x, 0.45 + y, -0.25), shape="box",
              size=(0.004 if x else 0.32, 0.004 if y else 0.32, 1.0))
        for n, (x, y) in enumerate([(0.155, 0.0), (-0.155, 0.0), (0.0, 0.155), (0.0, -0.155)])
    ]  # fmt: skip
    cell = Workcell(Scene((), (crate,), (TABLE, *screens[:1])), (A, B), (CART,))
    assert cell.do(CART, "target_navigation", target_label="crate").ok
    assert cell.body(CART).view.position()[0] < -1.4  # the screen stands east of it, and the carrier came from there
    cell = Workcell(Scene((), (crate,), (TABLE, *screens)), (A, B), (CART,))
    done = cell.do(CART, "target_navigation", target_label="crate")
    assert not done.ok and "screen_0" in render(done.message, "en"), done
