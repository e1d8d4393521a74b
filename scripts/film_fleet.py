#!/usr/bin/env python3
"""The film of the fleet's demo: docs/media/clear-two-tables.webp, drawn from the same page and orders, one at a time.

Each picture is a state of the world that the orders made, `EVERY` simulated seconds apart. To be run by hand, after a
change of how a body looks.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from demo_fleet import ARMS, CARRIER, INSTRUCTION, PAGE
from PIL import Image

from worldfs.base.model import Json, Scene
from worldfs.fleet.relay import RelayLeg, relay
from worldfs.formats import environment
from worldfs.planning.planner import CommandIntent, interpret
from worldfs.planning.planner.goals import InGoal
from worldfs.robots.mujoco.camera import CameraRenderer
from worldfs.robots.mujoco.model_builder import TIMESTEP
from worldfs.testing.workcell import Workcell

FILM = Path(__file__).resolve().parent.parent / "docs/media/clear-two-tables.webp"
EVERY, SHOWN = 0.5, 100  # s of the world between two pictures; ms that each is shown
SIZE = (480, 360)


def goals(scene: Scene) -> list[tuple[str, str]]:
    intent = interpret(INSTRUCTION, scene, robot_id=ARMS[0])
    assert isinstance(intent, CommandIntent)
    return [(goal.object, goal.container) for goal in intent.goals if isinstance(goal, InGoal)]


def steps(leg: RelayLeg) -> list[tuple[str, Json]]:
    if not leg.things:
        return [("target_navigation", {"target_label": leg.place})]
    moves = [(("pick_up", {"object_id": id}), ("place", {"target": leg.place})) for id in leg.things]
    return [*(step for both in moves for step in both), ("strategy", {"name": "home"})]


def main() -> int:
    scene = environment.read(json.dumps(PAGE).encode()).scene
    cell = Workcell(scene, ARMS, (CARRIER,))
    renderer = CameraRenderer(cell.rig(ARMS[0]).arms[ARMS[0]])
    pictures: list[Image.Image] = []

    def take() -> None:
        rgb = renderer.capture(cell.simulation.data, "front").rgb
        pictures.append(Image.fromarray(rgb).resize(SIZE, Image.Resampling.LANCZOS))

    for id in (*ARMS, CARRIER):
        cell.body(id).mover.watch_every, cell.body(id).mover.watch = round(EVERY / TIMESTEP), take
    for leg in relay(scene, goals(scene), ARMS, (CARRIER,)):
        for op, params in steps(leg):
            done = cell.do(leg.robot, op, **params)
            if not done.ok:
                print(f"film: {leg.robot} {op}: {done.message}", file=sys.stderr)
                return 1
    renderer.close()
    pictures[0].save(FILM, save_all=True, append_images=pictures[1:], duration=SHOWN, loop=0, quality=55, method=6)
    print(f"film: {FILM}: {len(pictures)} pictures, {FILM.stat().st_size // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
