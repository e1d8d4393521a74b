"""ENVIRONMENT.md of a fleet says what is, whichever robot's lane measures, waits and writes in which order."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.driver import PluginContext
from worldfs.base.model import RobotState, Scene, Thing
from worldfs.storage.memory_store import MemoryStore
from worldfs.testing.null_driver import NullDriver
from worldfs.world.world import World

ROBOTS, THINGS = ("a", "b", "c"), ("apple", "cup")
NOTE = {"notes": ["by a person"], "map": {"walls": 4}}
EDGE = {"from": "apple", "to": "cup", "relation": "near"}
SCENE: dict[str, Any] = {
    "schema_version": "v2.0",
    "scene_graph": {"nodes": [{"id": "table", "type": "furniture", "position": [0.0, 0.0, 0.0]}], "edges": [EDGE]},
    "robots": [{"robot_id": id, "pose": [0.0, 0.0, 0.0], "owner": f"person {id}"} for id in ROBOTS],
    "objects": [{"id": id, "position": [9.0, 0.0, 0.5], "bought": "yesterday"} for id in THINGS],
    **NOTE,
}


@dataclass(frozen=True)
class Step:
    """A robot moves a thing and observes. After it has measured and before it writes, others do `meanwhile`."""

    robot: str
    thing: str
    place: int
    meanwhile: tuple[Step, ...] = ()


STEPS = st.recursive(
    st.builds(Step, st.sampled_from(ROBOTS), st.sampled_from(THINGS), st.integers(1, 8)),
    lambda inner: st.builds(
        Step,
        st.sampled_from(ROBOTS),
        st.sampled_from(THINGS),
        st.integers(1, 8),
        st.lists(inner, max_size=3).map(tuple),
    ),
    max_leaves=8,
)


@dataclass
class OneWorld:
    """What is, and the robots that see all of it."""

    places: dict[str, float] = field(default_factory=lambda: dict.fromkeys(THINGS, 9.0))
    moves: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ROBOTS, 0))
    busy: set[str] = field(default_factory=set)  # the lane of a robot does one thing at a time
    interrupt: Callable[[], None] = lambda: None

    def scene(self, robot: str) -> Scene:
        things = tuple(Thing(id, position=(x, 0.0, 0.5)) for id, x in self.places.items())
        return Scene((RobotState(robot, (float(self.moves[robot]), 0.0, 0.0)),), things)


class Eyes(NullDriver):
    def __init__(self, world: OneWorld, robot: str) -> None:
        super().__init__()
        self.world, self.robot = world, robot

    def observe(self) -> Scene:
        seen = self.world.scene(self.robot)
        interrupt, self.world.interrupt = self.world.interrupt, lambda: None
        interrupt()
        return seen


def fleet(truth: OneWorld, start: dict[str, Any]) -> World:
    store = MemoryStore()
    store.put("ENVIRONMENT.md", json.dumps(start).encode())

    def body(context: PluginContext) -> Eyes:
        return Eyes(truth, context.robot_id)

    robots = {id: MemoryStore() for id in ROBOTS}
    return World.open(
        Path("/nowhere"), store=store, robots=robots, serve=True, threads=False, drivers={"simulation": body}
    )


def take(world: World, truth: OneWorld, step: Step) -> None:
    if step.robot in truth.busy:
        return
    truth.busy.add(step.robot)
    truth.places[step.thing] = float(step.place)
    truth.moves[step.robot] += 1
    truth.interrupt = lambda: [take(world, truth, other) for other in step.meanwhile] and None
    assert world.kernel is not None
    world.kernel.hooks.observe(step.robot)
    truth.busy.discard(step.robot)


@given(st.lists(STEPS, min_size=1, max_size=4))
def test_the_document_is_the_world_in_whatever_order_robots_measure_and_write(steps: list[Step]) -> None:
    truth = OneWorld()
    with fleet(truth, SCENE) as world:
        for step in steps:
            take(world, truth, step)
        value = json.loads(world.content("ENVIRONMENT.md"))
    assert {thing["id"]: thing["position"][0] for thing in value["objects"]} == truth.places
    assert {robot["robot_id"]: int(robot["pose"][0]) for robot in value["robots"]} == truth.moves
    # and of what a person wrote nothing is lost
    assert {key: value[key] for key in NOTE} == NOTE and EDGE in value["scene_graph"]["edges"]
    assert [robot["owner"] for robot in value["robots"]] == ["person a", "person b", "person c"]
    assert [thing["bought"] for thing in value["objects"]] == ["yesterday", "yesterday"]


def test_the_second_robot_makes_a_page_of_version_one_one_of_version_two() -> None:
    robot = {"robot_id": "b", "pose": [7.0, 0.0, 0.0], "owner": "person b"}
    start = {"schema_version": "v1", "robot": robot, "scene_graph": {"nodes": []}, "objects": [], **NOTE}
    with fleet(OneWorld(), start) as world:
        value = json.loads(world.content("ENVIRONMENT.md"))
    assert value["schema_version"] == "v2.0" and "robot" not in value and value["notes"] == NOTE["notes"]
    assert sorted(entry["robot_id"] for entry in value["robots"]) == ["a", "b", "c"]
    assert next(entry for entry in value["robots"] if entry["robot_id"] == "b")["owner"] == "person b"
