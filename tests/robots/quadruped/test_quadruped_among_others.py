"""A quadruped in one world with two arms and a carrier: it keeps clear of them, they of it, and no lie succeeds."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import KnowsItsWay, Run
from worldfs.base.errors import BadInput
from worldfs.base.model import Order, Outcome, RobotState, Scene, Thing
from worldfs.fleet.reservations import ReservedKind
from worldfs.robots.mujoco import drawn_world
from worldfs.robots.mujoco.floor_grid import KEEP
from worldfs.robots.mujoco.scene_layout import layout
from worldfs.robots.mujoco.tabletop import Tabletop
from worldfs.testing.workcell import Workcell
from worldfs.world.order_reservations import order_needs

TABLE = Thing("table_01", category="furniture", position=(0.45, 0.0, 0.0), size=(0.9, 1.2, 0.75), shape="table")
CUBE = Thing("cube", position=(0.40, 0.20, 0.0255), size=(0.05,) * 3, shape="box", mass=0.1)
CAN = Thing("can", position=(0.50, -0.30, 0.0555), size=(0.06, 0.06, 0.11), shape="cylinder", mass=0.3)
HOME = Path(__file__).parents[3]
A, B, CART, DOG = "arm_1", "arm_2", "cart_1", "dog"
SCENE = Scene((), (CUBE, CAN), (TABLE,))
ROUND = ("move_to", {"target_pose": [2.1, 0.0, 0.0]})  # to the other side of the table
WORK = {
    A: [("pick_up", {"object_id": "cube"}), ("place", {"target_position": [0.38, -0.1, 0.0]})],
    DOG: [ROUND],
    CART: [("target_navigation", {"target_label": B})],
}  # fmt: skip


def fleet(scene: Scene = SCENE) -> Workcell:
    return Workcell(scene, (A, B), (CART,), (DOG,))


def dog(cell: Workcell) -> Any:
    return cell.body(DOG)


def spot(cell: Workcell) -> tuple[float, float]:
    return dog(cell).floor.spot()


def each_tick(cell: Workcell, act: Any) -> None:
    dog(cell).walker.watch = act


def touches(cell: Workcell) -> list[tuple[str, str]]:
    found = cell.simulation.touches
    assert found is not None
    return [(touch.one, touch.other) for touch in found.touches]


@pytest.fixture(scope="module")
def worked() -> tuple[Workcell, dict[str, list[Outcome]], list[bool]]:
    cell, meanwhile = fleet(), list[bool]()
    each_tick(cell, lambda: meanwhile.append(cell.rig(A).others and cell.body(A).rig.held() == "cube"))
    return cell, cell.together(WORK), meanwhile


def test_it_walks_round_the_table_while_an_arm_works_and_the_carrier_drives(worked: Any) -> None:
    cell, done, meanwhile = worked
    assert all(outcome.ok for some in done.values() for outcome in some), done
    assert any(meanwhile)  # the arm had the cube in its fingers while the dog was on its way
    assert math.dist(spot(cell), (2.1, 0.0)) < 0.15 and touches(cell) == []
    (walked,) = done[DOG]
    assert walked.evidence["touched"] == [] and walked.evidence["touched_things"] == []
    table = dog(cell).floor.named("table_01")[0].box
    assert len(walked.evidence["way"]) > 2 and walked.evidence["walked"] > 3.3
    assert all(table.gap((x, y)) > KEEP - 0.1 for x, y in walked.evidence["way"])
    assert "also_moved" not in walked.evidence  # the cube was the arm's
    total = sum(outcome.evidence["sim_seconds"] for some in done.values() for outcome in some)
    assert cell.simulation.data.time < total  # not one after the other


def test_each_writes_its_own_entry_of_one_world(worked: Any) -> None:
    cell, _, _ = worked
    scenes = {id: driver.observe() for id, driver in cell.drivers.items()}
    for id, scene in scenes.items():
        assert [robot.robot_id for robot in scene.robots] == [id]
        assert (scene.objects, scene.furniture, scene.relations) == (
            scenes[A].objects, scenes[A].furniture, scenes[A].relations,
        )  # fmt: skip
    seen = scenes[DOG].robots[0]
    assert seen.extra["posture"] == "standing" and len(seen.joint_state) == 12
    assert seen.extra["nav_state"] == {"mode": "idle", "status": "arrived", "target_label": ""}


SCRIPT = """
import sys
from tests.robots.quadruped.test_quadruped_among_others import WORK, fleet
cell = fleet()
done = cell.together(dict(reversed(WORK.items())) if "back" in sys.argv else WORK)
assert all(outcome.ok for some in done.values() for outcome in some), done
print(cell.state().model, cell.digest(), sorted((id, [o.message for o in some]) for id, some in done.items()))
"""


@pytest.mark.proof
def test_the_same_orders_walk_the_same_way_byte_for_byte_in_two_processes(worked: Any) -> None:
    def run(*args: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", SCRIPT, *args], capture_output=True, text=True, check=True, cwd=HOME
        ).stdout

    assert run() == run("back") and worked[0].digest() in run()  # whichever thread begins first


# --- who is in whose way ---


def wall(n: int, x: float, y: float, wide: float, deep: float) -> Thing:
    return Thing(f"wall_{n}", "wall", "wall", (x, y, 0.5), size=(wide, deep, 1.0), shape="box")


# a corridor for the dog along y, which the carrier crosses along x through a gap on either side, too narrow for a dog
CORRIDOR = Scene(
    (RobotState(DOG, (-1.6, -0.6, 0.0)), RobotState(CART, (0.0, 0.45, 0.0))),
    (),
    (
        wall(1, -2.4, -0.7, 0.1, 1.6), wall(2, -2.4, 1.7, 0.1, 1.8), wall(3, -0.8, -0.7, 0.1, 1.6),
        wall(4, -0.8, 1.7, 0.1, 1.8), wall(5, -1.6, -1.5, 1.6, 0.1),
    ),
)  # fmt: skip


OPEN = Scene(
    (RobotState(DOG, (-2.2, 0.45, 0.0)), RobotState(CART, (0.0, 0.45, 0.0))), (), (wall(1, 0.0, 4.0, 4.0, 0.1),)
)


def test_where_both_must_pass_the_dog_waits_for_the_carrier_and_they_never_touch() -> None:
    cell = Workcell(CORRIDOR, (), (CART,), (DOG,))
    waited = list[float]()
    floor = dog(cell).floor
    each_tick(cell, lambda: waited.append(floor.view.pose().y) if dog(cell).reserved.of_others(DOG) else None)
    done = cell.together(
        {
            DOG: [("move_to", {"target_pose": [-1.6, 1.6, 0.0]})],
            CART: [("move_to", {"target_pose": [-3.2, 0.45, 0.0]})],
        }
    )
    assert all(some[0].ok for some in done.values()), done
    assert len(waited) > 100 and max(waited) < -0.5  # while the carrier had its way reserved it stood
    assert touches(cell) == []


def test_the_carrier_waits_for_a_dog_that_set_out_before_it() -> None:
    cell = Workcell(CORRIDOR, (), (CART,), (DOG,))
    met = list[float]()
    cart: Any = cell.body(CART)
    cart.mover.watch_every = 25
    cart.mover.watch = lambda: met.append(float(cart.view.position()[0])) if cart.reserved.of_others(CART) else None
    done = cell.together(
        {
            DOG: [("move_to", {"target_pose": [-1.6, 1.6, 0.0]})],
            CART: [
                ("move_to", {"target_pose": [x, 0.45, 0.0]}) for x in (0.1, -1.6)
            ],  # into the corridor, behind the dog
        }
    )
    assert all(outcome.ok for some in done.values() for outcome in some), done
    assert len(met) > 20 and min(met) > -0.1  # outside until the dog was through
    assert touches(cell) == []


def test_an_arm_keeps_clear_of_a_dog_and_names_it() -> None:
    low = Scene((RobotState(A, (0.0, 0.0, 0.0)), RobotState(DOG, (0.55, 0.0, 0.0, 0.0, 0.0, 1.6))), (), OPEN.furniture)
    cell = Workcell(low, (A,), (), (DOG,))  # an arm that stands on the floor
    (found,) = cell.review(A, "move_to", target_pose=[0.55, 0.0, 0.39])  # 2 cm over its back
    assert found.code == "CRITIC_REFUSED" and DOG in found.found
    assert cell.do(A, "move_to", target_pose=[0.45, 0.0, 0.60]).ok and touches(cell) == []
    assert [finding.code for finding in cell.review(DOG, "target_navigation", target_label=A)] == []


def test_who_stands_in_the_way_is_called_by_name_on_both_sides() -> None:
    cell = Workcell(CORRIDOR, (), (CART,), (DOG,))
    (walk,) = cell.review(DOG, "move_to", target_pose=[0.0, 0.45, 0.0])
    assert not dog(cell).blockers  # a review and a way are asked for beside a plan of its own
    assert walk.code == "NO_PATH"  # the carrier stands there, beyond gaps that no dog fits through
    (drive,) = cell.review(CART, "move_to", target_pose=[-1.6, -0.6, 0.0])
    assert drive.code == "CRITIC_REFUSED" and DOG in drive.found
    cell = Workcell(OPEN, (), (CART,), (DOG,))
    at = cell.body(CART).view.position()  # type: ignore[union-attr]
    (walk,) = cell.review(DOG, "move_to", target_pose=[float(at[0]), float(at[1]), 0.0])
    assert walk.code == "NO_PATH" and CART in walk.found
    assert cell.do(DOG, "target_navigation", target_label=CART).ok  # beside it, as beside anything
    assert touches(cell) == []


def test_a_place_under_an_arms_table_is_no_place_to_walk_to() -> None:
    cell = fleet()
    before = cell.digest()
    for x, y in ((0.45, 0.0), (0.1, 0.3), (0.9, 0.0)):  # its middle, its side, the other arm's foot
        assert [finding.code for finding in cell.review(DOG, "move_to", target_pose=[x, y, 0.0])] == ["NO_PATH"]
    assert cell.digest() == before
    done = cell.do(DOG, "move_to", target_pose=[0.45, 0.0, 0.0])
    assert done.code == "NO_PATH" and not done.ok and touches(cell) == []


def test_a_dog_needs_a_place_of_its_own() -> None:
    with pytest.raises(BadInput) as error:
        layout(Scene((RobotState(DOG, (0.1, 0.0, 0.0)),), (), (TABLE,)), A, quadrupeds=(DOG,))
    assert DOG in str(error.value)
    cell = Workcell(SCENE, (A,), (), (DOG,))
    assert cell.drivers[DOG].leave() and cell.world.robots == [A]  # of the next world
    places = layout(SCENE, A, B, carriers=(CART,), quadrupeds=(DOG, "dog_2")).quadrupeds
    assert [place.prefix for place in places] == ["quadruped0/", "quadruped1/"]
    assert math.dist(places[0].base[:2], places[1].base[:2]) > 0.7
    assert [place.prefix for place in layout(Scene(), quadrupeds=(DOG,)).quadrupeds] == [""]


# --- what goes wrong ---


def pushed(cell: Workcell, speed: float, at: int) -> None:
    """A blow from the side: the trunk has that speed (m/s) and turns over with five times it (rad/s)."""
    first = int(cell.simulation.model.joint("quadruped0/root").dofadr[0])

    def blow() -> None:
        if dog(cell).walker.ticks == at:
            cell.simulation.data.qvel[[first + 1, first + 3]] += speed, 5 * speed

    each_tick(cell, blow)


def test_a_pushed_dog_stays_up_or_is_told_as_fallen_and_the_others_go_on() -> None:
    cell = Workcell(OPEN, (), (CART,), (DOG,))
    pushed(cell, 0.4, 60)
    assert cell.do(DOG, "move_to", target_pose=[-1.6, 0.45, 0.0]).ok
    pushed(cell, 3.0, 40)
    away = ("move_to", {"target_pose": [0.0, -1.0, 0.0]})
    done = cell.together({CART: [away], DOG: [("move_to", {"target_pose": [-2.0, 1.5, 0.0]})]})
    assert done[CART][0].ok, done[CART]
    assert done[DOG][0].code == "FALLEN" and touches(cell) == []
    assert cell.drivers[DOG].observe().robots[0].extra["posture"] == "fallen"
    assert [finding.code for finding in cell.review(DOG, "move_to", target_pose=[-1.6, 1.0, 0.0])] == ["FALLEN"]
    x, y = spot(cell)
    (blocked,) = cell.review(CART, "move_to", target_pose=[x, y, 0.0])
    assert DOG in blocked.found  # where it lies
    told = cell.drivers[DOG].observe()
    shown = drawn_world.of_scene(told, (), (CART,), (DOG,))
    trunk = shown.simulation.model.body("quadruped0/trunk").id
    assert shown.poses()[trunk, 2] == pytest.approx(told.robots[0].pose[2], abs=1e-3)  # lying, as it was seen


def test_two_that_meet_blindly_have_both_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("carrier_route", "quadruped.floor_world"):
        monkeypatch.setattr(f"worldfs.robots.mujoco.{module}.body_obstacles", lambda *_, **__: [])
    cell = Workcell(OPEN, (), (CART,), (DOG,))
    run = Run(SystemClock(), SystemClock().monotonic() + 300)
    each_tick(cell, lambda: run.cancel.set() if dog(cell).walker.ticks == 450 else None)  # it does not give up soon
    done = cell.together(
        {
            CART: [("move_to", {"target_pose": [-0.9, 0.45, 0.0]})],
            DOG: [("move_to", {"target_pose": [-1.1, 0.45, 0.0]})],
        },
        {DOG: run},
    )
    assert (CART, DOG) in touches(cell)
    assert not done[CART][0].ok and not done[DOG][0].ok, done
    for outcome in (done[CART][0], done[DOG][0]):
        assert {line["one"] for line in outcome.evidence["touched"]} & {CART}


def echoing(cell: Workcell, goal: tuple[float, float]) -> None:
    """It does nothing, and says that it walks to where it was told to go."""
    view = dog(cell).floor.view
    held, told, start = cell.simulation.data.ctrl[view.servos].copy(), type(view).pose, view.pose()
    view.advance = lambda steps, goals: type(view).advance(view, steps, held)

    def pose() -> Any:
        share, yaw = min(1.0, dog(cell).walker.ticks / 300), math.atan2(goal[1] - start.y, goal[0] - start.x)
        at = start.x + share * (goal[0] - start.x), start.y + share * (goal[1] - start.y)
        return type(start)(at[0], at[1], start.z, 0.0, 0.0, yaw, told(view).up)

    view.pose = pose


def test_a_dog_that_only_says_that_it_walked_has_not() -> None:
    cell = Workcell(OPEN, (), (CART,), (DOG,))
    echoing(cell, (-1.2, 0.45))
    done = cell.do(DOG, "move_to", target_pose=[-1.2, 0.45, 0.0])
    assert not done.ok and done.code == "POSE_DOUBTFUL", done


def test_a_stopped_dog_stands_and_holds_while_the_others_go_on() -> None:
    cell = Workcell(OPEN, (), (CART,), (DOG,))
    run = Run(SystemClock(), SystemClock().monotonic() + 300)
    each_tick(cell, lambda: run.cancel.set() if dog(cell).walker.ticks == 200 else None)
    drives = [("move_to", {"target_pose": [0.0, y, 0.0]}) for y in (-0.6, 0.45)]
    done = cell.together({CART: drives, DOG: [("move_to", {"target_pose": [-2.2, -2.0, 0.0]})]}, {DOG: run})
    (walked,) = done[DOG]
    assert walked.code == "CANCELLED" and walked.evidence["held"] and walked.evidence["sim_seconds"] < 3.5
    assert all(outcome.ok for outcome in done[CART]) and not dog(cell).reserved.of_others("")
    there = spot(cell)
    assert cell.do(CART, "move_to", **drives[0][1]).ok and math.dist(there, spot(cell)) < 0.01


def test_a_state_saved_in_mid_walk_goes_on_identically(monkeypatch: pytest.MonkeyPatch) -> None:
    cell, commands, saved = Workcell(OPEN, (), (CART,), (DOG,)), list[Any](), list[Any]()
    step = mujoco.mj_step

    def recorded(model: Any, data: Any, n: int = 1) -> None:
        commands.extend([data.ctrl.copy()] * n)
        step(model, data, n)

    each_tick(cell, lambda: saved.append((len(commands), cell.state())) if dog(cell).walker.ticks == 150 else None)
    with monkeypatch.context() as patched:
        patched.setattr(mujoco, "mj_step", recorded)
        driven = [("move_to", {"target_pose": [0.0, -0.6, 0.0]})]
        cell.together({CART: driven, DOG: [("move_to", {"target_pose": [-1.6, 0.45, 0.0]})]})
    (at, state), *_ = saved
    rest = np.array(commands[at:])
    assert len(rest) > 500 and np.any(rest[0] != rest[300])
    other = Tabletop(layout(OPEN, carriers=(CART,), quadrupeds=(DOG,))).simulation
    other.restore(state)
    other.advance("", len(rest), slice(0, other.model.nu), rest)
    assert other.save() == cell.state()


# --- for an orchestrator, and for viewers ---


def test_an_orchestrator_is_told_its_way_also_while_it_walks() -> None:
    cell, ways = Workcell(OPEN, (), (CART,), (DOG,)), list[Sequence[tuple[float, float]]]()
    driver: Any = cell.drivers[DOG]
    there = {"target_pose": [-1.4, 1.2, 0.0]}
    order = Order("a", DOG, "move_to", there)
    still = driver.way(order)
    assert isinstance(driver, KnowsItsWay) and math.dist(still[-1], (-1.4, 1.2)) < 0.15
    asked = threading.Event()

    def ask() -> None:
        asked.wait()
        ways.append(driver.way(order))

    asker = threading.Thread(target=ask)
    asker.start()
    each_tick(cell, lambda: asked.set() if dog(cell).walker.ticks == 100 else None)
    assert cell.do(DOG, "move_to", **there).ok
    asker.join(60)
    assert ways and ways[0] != still and math.dist(ways[0][-1], still[-1]) < 0.15
    aisle = {"map": {"lanes": [{"name": "aisle", "from": [-3.0, 0.8], "to": [1.0, 0.8], "width": 1.0}]}}
    scene = replace(driver.observe(), extra=aisle)
    back = Order("c", DOG, "move_to", {"target_pose": [-2.6, 0.8, 0.0]})
    passing = order_needs(scene, back, mobile=True, way=driver.way(back)).passing
    assert [(one.name, one.direction) for one in passing if one.kind is ReservedKind.LANE] == [("aisle", -1)]
    assert driver.way(Order("b", DOG, "stop", {})) == ()


def test_viewers_see_one_world_with_all_of_them() -> None:
    cell = fleet()
    plan = dog(cell).floor.plan
    shown = drawn_world.DrawnWorld(plan, cell.simulation)
    kinds = {robot["id"]: robot["kind"] for robot in shown.geometry["robots"]}
    assert kinds == {A: "arm", B: "arm", CART: "carrier", DOG: "quadruped"}
    parts = [body for body in shown.geometry["bodies"] if body.get("id") == DOG]
    assert len(parts) == 13 and all(body["kind"] == "robot" for body in parts)
