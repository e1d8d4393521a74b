"""A fleet's ENVIRONMENT.md, written by three robots at once: no robot is missing in any read, and no read is torn."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.driver import PluginContext
from worldfs.base.model import RobotState, Scene, Thing
from worldfs.storage.open_store import open_store
from worldfs.testing.null_driver import NullDriver
from worldfs.world.world import GUARDED, World

ROBOTS = ("arm_1", "arm_2", "dog_1")
EDGE = {"from": "apple", "to": "table", "relation": "on"}
START: dict[str, Any] = {
    "schema_version": "v2.0",
    "scene_graph": {"nodes": [{"id": "table", "type": "furniture", "position": [0.0, 0.0, 0.0]}], "edges": [EDGE]},
    "robots": [{"robot_id": id, "pose": [0.0, 0.0, 0.0], "owner": "Ada"} for id in ROBOTS],
    "objects": [{"id": "apple", "position": [1.0, 0.0, 0.5]}],
    "notes": "by a person",
}
READER = """
import json, os, sys
path, count, robots = sys.argv[1], int(sys.argv[2]), set(json.loads(sys.argv[3]))
last, steps, kinds, updates = b"", {}, [], 0
while count > 0 or updates <= len(robots):  # however busy the machine is, they read while it is written
    count -= 1
    fd = os.open(path, os.O_RDONLY)
    data = os.read(fd, 1 << 20)
    os.close(fd)
    if data == last:
        continue
    last, updates = data, updates + 1
    try:
        value = json.loads(data)
    except ValueError:
        kinds.append("torn")
        continue
    there = {item["robot_id"]: item for item in value["robots"]}
    if set(there) != robots or any(item.get("owner") != "Ada" for item in there.values()):
        kinds.append("a robot is missing, or what a person wrote of it")
    if value.get("notes") != "by a person" or not value["scene_graph"]["edges"] or not value["scene_graph"]["nodes"]:
        kinds.append("something of a person is missing")
    now = {id: item["pose"][0] for id, item in there.items()}
    if any(now[id] < steps.get(id, 0) for id in now):
        kinds.append("an older state came back")
    steps = now
print(json.dumps({"found": kinds, "updates": updates}))
"""


class Counting(NullDriver):
    """A body whose pose is the number of its observation."""

    def __init__(self, robot: str) -> None:
        super().__init__()
        self.robot, self.number = robot, 0

    def observe(self) -> Scene:
        self.number += 1
        apple = Thing("apple", position=(1.0 + self.number % 7, 0.0, 0.5))
        return Scene((RobotState(self.robot, (float(self.number), 0.0, 0.0)),), (apple,))


@pytest.mark.parametrize(
    ("updates", "reads"),
    [(150, 6_000), pytest.param(10_000, 1_000_000, marks=pytest.mark.proof)],
    ids=("short", "long"),
)
def test_no_robot_is_missing_and_no_read_is_torn(tmp_path: Path, updates: int, reads: int) -> None:
    shared = tmp_path / "shared_workspace"
    shared.mkdir()
    (shared / "ENVIRONMENT.md").write_text(json.dumps(START))
    robots = {}
    for id in ROBOTS:
        (tmp_path / id).mkdir()
        robots[id] = open_store("disk", tmp_path / id, guarded=GUARDED)
    bodies: dict[str, Counting] = {}

    def body(context: PluginContext) -> Counting:
        return bodies.setdefault(context.robot_id, Counting(context.robot_id))

    with World.open(shared, robots=robots, serve=True, threads=False, drivers={"simulation": body}) as world:
        assert world.kernel is not None
        observe, done, failed = world.kernel.hooks.observe, threading.Event(), []

        def write(robot: str) -> None:
            try:
                while not done.is_set() or bodies[robot].number * len(ROBOTS) < updates:
                    observe(robot)  # type: ignore[attr-defined]  # of the world's own hooks
            except BaseException as error:
                failed.append(error)

        lanes = [threading.Thread(target=write, args=(robot,)) for robot in ROBOTS]
        for lane in lanes:
            lane.start()
        command = [sys.executable, "-c", READER, str(shared / "ENVIRONMENT.md"), str(reads // 2), json.dumps(ROBOTS)]
        readers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        told = [json.loads(reader.communicate()[0]) for reader in readers]
        done.set()
        for lane in lanes:
            lane.join()
        last = json.loads(world.content("ENVIRONMENT.md"))
    assert not failed
    assert [told[n]["found"] for n in range(2)] == [[], []]
    assert min(item["updates"] for item in told) > len(ROBOTS)
    made = {id: body.number for id, body in bodies.items()}
    assert sum(made.values()) >= updates
    assert {item["robot_id"]: item["pose"][0] for item in last["robots"]} == made  # and the end is the last of each
    print(f"{sum(made.values()):,} observations by {len(ROBOTS)} robots, {reads:,} reads, 0 torn, 0 without a robot")
