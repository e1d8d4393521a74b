"""Trials of handing over: two arms at one table, each with its own driver and thread; judged by what both measured."""

from __future__ import annotations

import math
import threading

import numpy as np

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Json, Order, Outcome, RobotState, Scene
from worldfs.base.standard_operations import HAND_OVER, PICK_UP, TAKE_OVER
from worldfs.robots import rotations
from worldfs.robots.mujoco.shared_world import SharedWorld
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

from .handling_trials import APPLE, BRICK, CAN, CUBE, WALL_S, HandlingTrial, table_with, thing

GIVER, RECEIVER = "franka_001", "franka_002"
BETWEEN = 0.9  # m between the bases


def trial(seed: int) -> HandlingTrial:
    """An apple, cube, can or brick picked up by one and handed over to the other; the same for the same seed."""
    world = SharedWorld()
    bodies = {id: TabletopDriver(id, cameras=False, world=world) for id in (GIVER, RECEIVER)}
    try:
        scene = _drawn(seed)
        for body in bodies.values():
            body.open(scene)
        if not _carried_out(bodies[GIVER], PICK_UP.name, {"object_id": "thing"}).ok:
            return HandlingTrial("hand_over", seed, False, True, "BEFORE", "pick_up failed")
        order = Order("trial", GIVER, HAND_OVER.name, {"to": RECEIVER})
        if findings := [found for found in bodies[GIVER].review(order) if not found.warning]:
            return HandlingTrial("hand_over", seed, False, True, findings[0].code, findings[0].found)
        ended = _together(bodies)
        bad = next((one for one in ended if not one.ok), None)
        why = (bad.code, bad.message) if bad is not None else ("", "")
        return HandlingTrial("hand_over", seed, bad is None, False, *why)
    finally:
        for body in bodies.values():
            body.close()


def _drawn(seed: int) -> Scene:
    rng = np.random.default_rng([seed, 0, 23])
    radius, angle = rng.uniform(0.36, 0.55), rng.uniform(-1, 1)
    spot = (radius * math.cos(angle), radius * math.sin(angle))
    turn = rotations.about_z(float(rng.uniform(-math.pi, math.pi)))
    scene = table_with([thing("thing", (APPLE, CUBE, CAN, BRICK)[seed % 4], spot, turn)])
    facing = (BETWEEN, 0.0, 0.0, 0.0, 0.0, math.pi)
    return Scene((RobotState(GIVER, (0.0, 0.0, 0.0)), RobotState(RECEIVER, facing)), scene.objects, scene.furniture)


def _together(bodies: dict[str, TabletopDriver]) -> list[Outcome]:
    """The receiver's outcome first: it says what became of the thing."""
    orders: dict[str, tuple[str, Json]] = {
        RECEIVER: (TAKE_OVER.name, {"object_id": "thing"}), GIVER: (HAND_OVER.name, {"to": RECEIVER}),
    }  # fmt: skip
    ended: dict[str, Outcome] = {}

    def drive(id: str) -> None:
        ended[id] = _carried_out(bodies[id], *orders[id])

    threads = [threading.Thread(target=drive, args=(id,)) for id in orders]
    for id in orders:
        arm = bodies[id].arm
        arm.simulation.expect(arm.prefix)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [ended[id] for id in orders]


def _carried_out(body: TabletopDriver, op: str, given: Json) -> Outcome:
    clock = SystemClock()
    return body.execute(Order("trial", body.robot_id, op, given), Run(clock, clock.monotonic() + WALL_S))
