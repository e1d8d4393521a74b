#!/usr/bin/env python3
"""The demo of a fleet: two arms and a carrier clear two tables into one basket, in a home of its own below ./demo.

One instruction is a mission that no robot alone can do: the orchestrator makes missions of its parts, and each robot
plans its own. The exit code says whether every cube is in the basket of ENVIRONMENT.md afterwards.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from worldfs.base.model import Scene
from worldfs.formats import environment

ROOT = Path(__file__).resolve().parent.parent
INSTRUCTION = "clear both tables into the basket"
ARMS, CARRIER = ("arm_1", "arm_2"), "cart_1"


def thing(id: str, name: str, at: tuple[float, float], colour: str) -> dict[str, object]:
    position = [*at, 0.0255]
    return {"id": id, "name": name, "category": "cube", "position": position, "size": [0.05] * 3, "shape": "box",
            "mass": 0.1, "color": colour}  # fmt: skip


def piece(id: str, name: str, at: list[float], size: list[float], shape: str) -> dict[str, object]:
    kind = "container" if shape == "basket" else "furniture"
    return {"id": id, "name": name, "type": kind, "position": at, "size": size, "shape": shape}


PAGE = {
    "schema_version": "v2.0",
    "robots": [
        {"robot_id": "arm_1", "pose": [-1.4, 0.0, 0.0]},
        {"robot_id": "arm_2", "pose": [1.4, 0.0, 0.0, 0.0, 0.0, 3.1416]},
        {"robot_id": "cart_1", "pose": [0.0, 0.0, -0.75]},
    ],
    "objects": [
        thing("cube_01", "blue cube", (-0.98, 0.10), "blue"),
        thing("cube_02", "red cube", (-0.95, -0.15), "red"),
        thing("cube_03", "green cube", (0.90, -0.10), "green"),
    ],
    "scene_graph": {
        "nodes": [
            piece("table_01", "left table", [-0.95, 0.0, 0.0], [0.9, 1.0, 0.75], "table"),
            piece("table_02", "right table", [0.95, 0.0, 0.0], [0.9, 1.0, 0.75], "table"),
            piece("basket_01", "basket", [0.95, 0.28, 0.045], [0.3, 0.3, 0.09], "basket"),
        ],
        "edges": [],
    },
}


def new_home(place: Path) -> Path:
    place.mkdir(exist_ok=True)
    number = 1
    while True:
        try:
            (place / str(number)).mkdir()
            return place / str(number)
        except FileExistsError:
            number += 1


def configure(home: Path) -> None:
    instances = [
        {"robotId": id, "driver": driver, "profileName": profile, "workspace": str(home / id)}
        for id, driver, profile in (
            *((arm, "simulation", "franka_panda") for arm in ARMS), (CARRIER, "wheeled_carrier", "wheeled_carrier")
        )
    ]  # fmt: skip
    bodies = {"mode": "fleet", "sharedWorkspace": str(home / "shared_workspace"), "instances": instances}
    (home / "config.json").write_text(json.dumps({"embodiments": bodies}, indent=2))
    (home / "config.json").chmod(0o600)
    for folder in ("shared_workspace", *ARMS, CARRIER):
        (home / folder).mkdir()
    (home / "shared_workspace" / "ENVIRONMENT.md").write_text(
        f"# Environment\n\n```json\n{json.dumps(PAGE, indent=1)}\n```\n"
    )


def scene(home: Path) -> Scene:
    return environment.read((home / "shared_workspace" / "ENVIRONMENT.md").read_bytes()).scene


def main(place: Path = ROOT / "demo") -> int:
    home = new_home(place)
    configure(home)
    command = [sys.executable, "-m", "worldfs.interfaces.cli.main", "--home", str(home)]
    subprocess.run([*command, "mission", "add", INSTRUCTION], check=False)
    subprocess.run([*command, "up", "--until-idle", "--no-cameras"], check=False)
    print()
    subprocess.run([*command, "mission", "list"], check=False)
    after = scene(home)
    held = {r.subject for r in after.relations if (r.relation, r.object) == ("in", "basket_01")}
    missing = [f"{thing.id} is not in the basket" for thing in after.objects if thing.id not in held]
    print()
    print("\nDone: every goal holds in the world." if not missing else f"\nNot done: {'; '.join(missing)}")
    print(f"  the story   {home}/shared_workspace/ORCHESTRATOR.md and ENVIRONMENT.md")
    return 0 if not missing else 1


if __name__ == "__main__":
    sys.exit(main())
