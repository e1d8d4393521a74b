"""A quadruped in one world with two arms and a carrier: it keeps clear of them, they of it, and no lie succeeds."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.errors import BadInput
from worldfs.base.model import Order, Outcome, RobotState, Scene, Thing
from worldfs.robots.mujoco import drawn_world
from worldfs.robots.mujoco.quadruped.floor_grid import KEEP
from worldfs.robots.mujoco.scene_layout import layout
from worldfs.robots.mujoco.tabletop import Tabletop
from worldfs.testing.workcell import Workcell

TABLE = Thing("table_01", category="furniture", position=(0.45, 0.0, 0.0), size=(0.9, 1.2, 0.75), shape="table")
CUBE = Thing("cube", position=(0.40, 0.20, 0.0255), size=(0.05,) * 3, shape="box", mass=0.1)
CAN = Thing("can", position=(0.50, -0.30, 0.0555), size=(0.06, 0.06, 0.11), shape="cylinder", mass=0.3)
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
        return subprocess.run([sys.executable, "-c", SCRIPT, *args], capture_output=True, text=True, check=True).stdout

    assert run() == run("back") and worked[0].digest() in run()  # whichever thread begins first
