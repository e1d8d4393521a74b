"""The limits of a profile hold for what an order does inside: a compound is refused where its plain steps would be,
before anything moves, and by the critic alone."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the simulation extra is not installed: pip install 'worldfs[sim]'")

from worldfs.base.model import (
    Cause,
    Finding,
    Json,
    Operation,
    Order,
    Outcome,
    Parameter,
    Profile,
    RobotState,
    Scene,
    Thing,
)
from worldfs.base.standard_operations import HANDLING, MOVE_TO, NAVIGATE, PICK_UP, PLACE_DOWN
from worldfs.planning.compound_review import DEEPEST
from worldfs.planning.critic import Critic
from worldfs.planning.reviewers import refuses
from worldfs.robots.driver_registry import BodyCatalogue
from worldfs.robots.mujoco.sequences import STRATEGY
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver
from worldfs.testing.waiting import PATIENCE_S
from worldfs.world.home import Home
from worldfs.world.onboard import onboard
from worldfs.world.world import World

LIMITS = ("bounds", "reach", "payload", "grip")
OVER, INSIDE = 1.02, 0.98
TABLE = Thing("table_01", category="furniture", position=(0.45, 0.0, 0.0), size=(0.9, 1.2, 0.75), shape="table")
MARKED = Thing("region_01", "spill", "region", (0.5, 0.2, 0.0), size=(0.12, 0.12, 0.002), shape="region")
TRAY = Thing("tray_01", "tray", "container", (0.4, 0.33, 0.03), size=(0.2, 0.2, 0.06), shape="basket")
CUBE = Thing("cube_01", "cube", "block", (0.45, 0.0, 0.025), size=(0.05,) * 3, shape="box", mass=0.1)
BASE = Thing("base_01", "base", "block", (0.45, -0.2, 0.025), size=(0.05,) * 3, shape="box", mass=0.1)
SPONGE = replace(CUBE, name="sponge", size=(0.07, 0.05, 0.03), position=(0.45, 0.0, 0.015))
ROBOT = RobotState("franka_001", gripper="open")
OPS = (MOVE_TO, PICK_UP, PLACE_DOWN, NAVIGATE, STRATEGY, *HANDLING)
TIDY = Operation("tidy", parameters=(Parameter("what", "list"), Parameter("to")))  # of a package's driver
OTHER_PLACE = [0.45, -0.3, 0.025]


@dataclass(frozen=True)
class Case:
    """`what`: the limits that it could break, and the point (m) with the lowest y that it goes to."""

    op: str
    params: Json
    what: dict[str, tuple[float, ...]]
    things: tuple[Thing, ...] = (CUBE, BASE)
    holding: str = ""


def _steps(*steps: tuple[str, Json]) -> Json:
    return {"name": "steps", "steps": [{"action_type": op, "params": params} for op, params in steps]}


def _at(y: float, z: float = 0.025) -> dict[str, tuple[float, ...]]:
    return {"bounds": (0.45, y, z), "reach": (0.45, y, z)}


TAKEN: dict[str, tuple[float, ...]] = {"payload": (), "grip": ()}
PICKED: Json = {"object_id": "cube_01"}
PUSHED: Json = {"object_id": "cube_01", "direction": "right", "distance": 0.2}
CASES = {
    "pick_up": Case("pick_up", PICKED, {**TAKEN, **_at(0.0)}),
    "move_to": Case("move_to", {"target_pose": [0.45, -0.3, 0.3]}, _at(-0.3, 0.3)),
    "place": Case("place", {"target_position": OTHER_PLACE}, _at(-0.3), holding="cube_01"),
    "place beside": Case(
        "place_beside",
        {"target": "base_01", "side": "right", "distance": 0.1},
        {"bounds": (0.45, -0.3604, 0.025)},
        holding="cube_01",
    ),
    "push": Case("push", PUSHED, _at(-0.2)),
    "push away, by its hand": Case("push", {**PUSHED, "direction": [0, 1]}, {"bounds": (0.45, -0.061, 0.025)}),
    "upright": Case("upright", PICKED, {**TAKEN, "bounds": (0.45, 0.0, 0.025)}),
    "pour": Case("pour", {"object_id": "cube_01", "target": "base_01"}, {**TAKEN, **_at(-0.2)}),
    "wipe": Case(
        "wipe",
        {"object_id": "cube_01", "target": "region_01"},
        {"payload": (), "reach": (0.56, 0.26, 0.0)},
        (SPONGE, BASE),
    ),
    "take over": Case("take_over", PICKED, TAKEN),
    "stack": Case(
        "stack",
        {"object_ids": ["base_01", "cube_01"]},
        {**TAKEN, "bounds": (0.45, -0.2, 0.075), "reach": (0.45, -0.2, 0.025)},
    ),
    "stack of it below": Case("stack", {"object_ids": ["cube_01", "base_01"]}, {"bounds": (0.45, -0.2, 0.025)}),
    "pick and place": Case(
        "strategy", {"name": "pick_and_place", **PICKED, "target_position": OTHER_PLACE}, {**TAKEN, **_at(-0.3)}
    ),
    "pick and place on": Case(
        "strategy", {"name": "pick_and_place", **PICKED, "target": "base_01"}, {**TAKEN, "bounds": (0.45, -0.2, 0.025)}
    ),
    "look and pick": Case("strategy", {"name": "look_and_pick", **PICKED}, {**TAKEN, "bounds": (0.45, 0.0, 0.025)}),
    "steps of a move": Case(
        "strategy", _steps(("home", {}), ("move_to", {"target_pose": [0.45, -0.3, 0.3]})), _at(-0.3, 0.3)
    ),
    "steps of a place": Case(
        "strategy",
        _steps(("pick_up", PICKED), ("place", {"target_position": OTHER_PLACE})),
        {**TAKEN, "bounds": (0.45, -0.3, 0.025)},
    ),
    "steps of a place beside": Case(
        "strategy",
        _steps(("pick_up", PICKED), ("place_beside", {"target": "base_01", "side": "right", "distance": 0.1})),
        {**TAKEN, "bounds": (0.45, -0.3604, 0.025)},
    ),
    "steps of two pushes": Case(
        "strategy",
        _steps(("push", {**PUSHED, "distance": 0.1}), ("push", {**PUSHED, "distance": 0.1})),
        {"bounds": (0.45, -0.2, 0.025)},
        (CUBE,),
    ),
    "a package's own": Case(
        "tidy", {"what": ["cube_01"], "to": {"x": 0.45, "y": -0.3, "z": 0.025}}, {**TAKEN, **_at(-0.3)}
    ),
    "a package's own steps": Case(
        "strategy",
        {"name": "their_own", "steps": [{"do": "it", "with": "cube_01"}, {"place": {"position": OTHER_PLACE}}]},
        {**TAKEN, "bounds": (0.45, -0.3, 0.025)},
    ),
}
KNOWN = {name: case for name, case in CASES.items() if not name.startswith("a package")}
MATRIX = [(name, limit) for name, case in CASES.items() for limit in LIMITS if limit in case.what]


@cache
def _profile(limit: str, case: str, share: float) -> Profile:
    """One limit: `share` of what is allowed would be needed."""
    found, point = (
        Profile(ops=(*OPS, TIDY), sensors=(("RGB-D Camera", True),)),
        np.array(CASES[case].what[limit]),
    )
    moved = CASES[case].things[0]
    match limit:
        case "bounds":
            low = float(point[1]) + (0.004 if share > 1 else -0.004)
            return replace(found, bounds=((-2.0, 2.0), (low, 2.0), (-1.0, 2.0)), bounds_frame="world")
        case "reach":
            return replace(found, max_reach=float(np.linalg.norm(point)) / share)
        case "payload":
            return replace(found, max_payload=moved.mass / share)
    return replace(found, max_grip_width=min(moved.size[:2]) / share)


def _scene(case: Case) -> Scene:
    robot = replace(ROBOT, holding=case.holding, gripper="holding") if case.holding else ROBOT
    return Scene((robot,), case.things, (TABLE, MARKED, TRAY))


def _judged(case: Case, profile: Profile, scene: Scene) -> list[Finding]:
    return Critic().review(Order("act_1", "franka_001", case.op, case.params), scene, profile)


@pytest.mark.parametrize(("name", "limit"), MATRIX)
def test_a_limit_holds_for_every_order_by_what_it_does_inside(name: str, limit: str) -> None:
    case = CASES[name]
    over = [f.code for f in _judged(case, _profile(limit, name, OVER), _scene(case)) if not f.warning]
    assert over == ["PROFILE_LIMIT"] * len(over) and over
    inside = _judged(case, _profile(limit, name, INSIDE), _scene(case))
    assert not refuses(inside), inside


def _nested(case: Case, depth: int) -> Case:
    """The order as the one step of a sequence, at that depth."""
    for _ in range(depth):
        case = replace(case, op="strategy", params=_steps((case.op, case.params)))
    return case


@pytest.mark.parametrize("depth", [1, 2, DEEPEST - 1])
@pytest.mark.parametrize(("name", "limit"), MATRIX)
def test_a_step_is_judged_as_the_same_order_alone(name: str, limit: str, depth: int) -> None:
    case = CASES[name]
    nested = _nested(case, depth)
    over, inside = _profile(limit, name, OVER), _profile(limit, name, INSIDE)
    alone, found = _judged(case, over, _scene(case)), _judged(nested, over, _scene(nested))
    assert {(one.code, one.field, one.expected, one.fix, one.warning) for one in found} == {
        (one.code, one.field, one.expected, one.fix, one.warning) for one in alone
    }
    assert all(any(other.found.endswith(one.found) for other in found) for one in alone)
    assert not refuses(_judged(nested, inside, _scene(nested)))


def test_orders_inside_orders_are_read_to_a_depth_that_the_refusal_names() -> None:
    case = CASES["pick_up"]
    profile = _profile("payload", "pick_up", OVER)
    (deep,) = [one for one in _judged(_nested(case, DEEPEST + 1), profile, _scene(case)) if not one.warning]
    assert deep.code == "SCHEMA_VALIDATION" and str(DEEPEST) in str(deep.expected)
    assert [one.code for one in _judged(_nested(case, DEEPEST), profile, _scene(case))] == ["PROFILE_LIMIT"]


def test_a_sequence_goes_on_from_where_a_compound_inside_it_leaves_the_world() -> None:
    tower: tuple[str, Json] = ("stack", {"object_ids": ["base_01", "cube_01"]})
    case = Case("strategy", _steps(tower, ("push", {**PUSHED, "distance": 0.1})), {})
    low = replace(_profile("payload", "stack", INSIDE), bounds=((-2.0, 2.0), (-0.25, 2.0), (-1.0, 2.0)))
    assert refuses(_judged(case, low, _scene(case)))  # the cube is on the base at y = -0.2 by then
    twice = Case("strategy", _steps(tower, ("pick_up", PICKED), tower), {})
    assert refuses(_judged(twice, _profile("payload", "stack", INSIDE), _scene(twice)))  # the hand is full


TIGHT = {
    "bounds": ("y ∈ [-2.0, 2.0]", "y ∈ [-0.1, 2.0]"),
    "reach": ("0.855 m", "0.48 m"),
    "payload": ("3.0 kg", "0.09 kg"),
    "grip": ("0.076 m", "0.045 m"),
}


def _breaks(case: Case, limit: str) -> bool:
    point = case.what.get(limit)
    if case.holding or point is None:
        return False
    return limit not in ("bounds", "reach") or (point[1] < -0.1 if limit == "bounds" else np.hypot(*point[:2]) > 0.48)


def _home(root: Path, old: str, new: str) -> Home:
    """A home of one arm whose profile has another text for a limit."""
    home = Home(root)
    onboard(home)
    home.profiles.mkdir(parents=True)
    page = resources.files("worldfs").joinpath("profiles", "franka_panda.md").read_text(encoding="utf-8")
    assert old in page
    (home.profiles / "franka_panda.md").write_text(page.replace(old, new))
    objects, fixed = (
        [
            {"id": t.id, "type": t.category, "position": t.position, "size": t.size, "shape": t.shape, "mass": 0.1}
            for t in things
        ]
        for things in ((CUBE, BASE), (TABLE, MARKED, TRAY))
    )
    scene = {"robots": [], "objects": objects, "scene_graph": {"nodes": fixed, "edges": []}}
    (home.workspace / "ENVIRONMENT.md").write_text(json.dumps(scene))
    return home


@contextmanager
def _served(home: Home) -> Iterator[tuple[World, TabletopDriver]]:
    drivers = BodyCatalogue(seed=4, cameras=False)
    with World.open(home.workspace, config=home.config({}), serve=True, drivers=drivers) as world:
        body = next(iter(world.kernel.nodes.values())).driver
        assert isinstance(body, TabletopDriver)
        yield world, body


def _outcome(world: World, order: Order) -> Outcome:
    job = world.submit(order)
    while world.tick() or not world.kernel.idle:
        pass
    outcome = world.wait_job(job, PATIENCE_S).outcome
    assert outcome is not None
    return outcome


@pytest.mark.parametrize("limit", LIMITS)
def test_nothing_has_moved_where_a_limit_refuses(limit: str, tmp_path: Path) -> None:
    with _served(_home(tmp_path, *TIGHT[limit])) as (world, body):
        before = body.arm.simulation.data.qpos.copy()
        broken = {name: case for name, case in KNOWN.items() if CUBE in case.things and _breaks(case, limit)}
        assert len(broken) > 3
        for n, (name, case) in enumerate(broken.items()):
            outcome = _outcome(world, Order(f"act_{n}", body.robot_id, case.op, case.params))
            assert outcome.cause is Cause.REJECTED, name
            assert next(f.code for f in outcome.findings if not f.warning) == "PROFILE_LIMIT", (name, outcome)
            assert np.array_equal(body.arm.simulation.data.qpos, before), name


def test_the_driver_holds_the_bounds_of_the_profile_as_it_is_now(tmp_path: Path) -> None:
    home = _home(tmp_path, "z ∈ [-0.8, 2.0]", "z ∈ [-0.8, 0.15]")
    with _served(home) as (world, body):
        heights: list[float] = []
        body.arm.mover.watch = lambda: heights.append(float(body.arm.view.tcp_pose()[0][2]))
        body.arm.mover.watch_every = 5
        lifted = _outcome(world, Order("act_1", body.robot_id, "pick_up", PICKED))
        assert lifted.ok and 0.1 < max(heights) < 0.156, lifted
        page = next(path for path in home.workspace.rglob("EMBODIED.md"))
        page.write_text(page.read_text().replace("z ∈ [-0.8, 0.15]", "z ∈ [-0.8, 0.05]"))
        heights.clear()
        refused = _outcome(world, Order("act_2", body.robot_id, "place", {"target": "base_01"}))
        assert refused.cause is Cause.REJECTED and not heights, refused
        assert [(f.code, "z in [-0.8, 0.05]" in f.expected) for f in refused.findings] == [("PROFILE_LIMIT", True)]
