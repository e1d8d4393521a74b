"""The quadruped as a body: where it goes, what it refuses, how it stops, and that it says nothing that is not so."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mujoco
import pytest

from worldfs.base.model import Order, Outcome, Profile, RobotState, Scene, Thing
from worldfs.robots.mujoco.quadruped.navigation import WITHIN
from worldfs.robots.mujoco.quadruped.quadruped_driver import QuadrupedDriver

LABELS = (
    "door", "kitchen_table", "sofa", "fridge", "shelf", "charging_station", "ball_01", "carton_01", "carton_02",
    "kitchen table", "wall_east",
)  # fmt: skip
PLACES = ((3.0, 1.0), (1.0, 0.5), (-3.5, 1.8), (3.3, -2.3), (-0.3, -2.3), (2.9, 0.3), (-3.3, -1.0))
WALLED = ((2.7, -0.9), (-2.2, -2.4))  # on the table, on the sofa: no way


def placed(outcome: Outcome) -> float:
    assert outcome.ok, outcome
    evidence: Any = outcome.evidence
    assert evidence["distance_to_goal"] <= WITHIN and evidence["upright"] > 0.95 and evidence["held"]
    assert evidence["evidence_class"] == "sim" and not evidence["touched_things"]
    return float(evidence["distance_to_goal"])


@pytest.mark.parametrize(
    ("labels", "places", "walled"),
    [
        (("door", "ball_01"), PLACES[1:2], WALLED[:1]),
        pytest.param(LABELS, PLACES, WALLED, marks=pytest.mark.proof, id="all twenty"),
    ],
)
def test_of_twenty_goals_it_reaches_the_eighteen_that_there_is_a_way_to(
    dog: Callable[..., Any], labels: tuple[str, ...], places: tuple[Any, ...], walled: tuple[Any, ...]
) -> None:
    """Of each kind one, a piece of furniture and a thing by name; all twenty in `make proof`."""
    one = dog()
    world = one.body.floor
    for label in labels:
        assert one.review("target_navigation", target_label=label) == []
        done = one.go(label)
        placed(done)
        box = world.named(label)[0].box
        assert box.gap(world.spot()) == pytest.approx(float(str(done.evidence["gap_to_target"])), abs=1e-3)
        assert box.gap(world.spot()) < 0.75
    for x, y in places:
        placed(one.do("move_to", target_pose=[x, y, 0.0]))
        assert math.dist(world.spot(), (x, y)) < WITHIN
    for x, y in walled:
        there = world.spot()
        assert one.review("move_to", target_pose=[x, y, 0.0]) == ["NO_PATH"]
        done = one.do("move_to", target_pose=[x, y, 0.0])
        assert not done.ok and done.code == "NO_PATH" and math.dist(world.spot(), there) < 0.03


def test_its_way_and_the_place_that_it_chooses_are_within_the_bounds(dog: Callable[..., Any], monkeypatch: Any) -> None:
    one = dog()
    driver, floor = one.body, one.body.floor
    order = Order("act", driver.robot_id, "target_navigation", {"target_label": "door"})
    way, here = driver.way(order), floor.spot()
    for axis in (0, 1):
        end = way[-1][axis]
        if abs(end - here[axis]) < 0.3:
            continue
        between = here[axis] + 0.5 * (end - here[axis])
        side = (-9.0, between) if end > between else (between, 9.0)
        bounds = tuple(side if n == axis else (-9.0, 9.0) for n in range(2))
        monkeypatch.setattr(driver, "_profile", lambda bounds=bounds: Profile(bounds=bounds, bounds_frame="world"))
        found = driver.review(order)
        if found:
            assert found[0].code == "PROFILE_LIMIT" and f"{'xy'[axis]} in" in found[0].expected, found
        assert all(side[0] - 0.002 <= spot[axis] <= side[1] + 0.002 for spot in driver.way(order))
    assert floor.spot() == here


def test_it_is_turned_as_the_pose_says_and_towards_what_it_was_sent_to(dog: Callable[..., Any]) -> None:
    one = dog()
    placed(one.do("move_to", target_pose=[0.5, -1.0, 0.0, 0.0, 0.0, 2.0]))
    pose = one.body.floor.view.pose()
    assert pose.yaw == pytest.approx(2.0, abs=0.2)
    placed(one.go("door"))
    pose, door = one.body.floor.view.pose(), one.body.floor.named("door")[0].box
    assert math.remainder(math.atan2(door.y - pose.y, door.x - pose.x) - pose.yaw, math.tau) == pytest.approx(
        0, abs=0.2
    )


@pytest.mark.parametrize("pose", [[0.3, 0, 2.0], [0, -0.3, 0], [0, 0, 0.7071, 0.7071], [2.0]])
def test_a_pose_in_which_it_would_lean_is_refused(dog: Callable[..., Any], pose: list[float]) -> None:
    assert dog().review("move_to", target_pose=[0.5, -1.0, 0.0, *pose]) == ["SCHEMA_VALIDATION"]


def test_what_touches_a_part_of_it_is_told_and_what_others_touch_is_not(dog: Callable[..., Any]) -> None:
    one = dog()
    world, simulation = one.body.floor, one.body.floor.simulation
    model, data = simulation.model, simulation.data
    ball = world.rig.geom_owner.index("ball_01")

    def touched(x: float, y: float, z: float) -> set[int]:
        """With the ball there."""
        at = model.jnt_qposadr[model.body_jntadr[model.geom_bodyid[ball]]]
        data.qpos[at : at + 3] = (x, y, z)
        mujoco.mj_forward(model, data)
        found: set[int] = world.view.touched()
        return found

    pose, carton = world.view.pose(), world.named("carton_01")[0].box
    standing = touched(pose.x, pose.y, 5.0)
    assert {model.geom(geom).type.item() for geom in standing} == {mujoco.mjtGeom.mjGEOM_PLANE} and not world.touched()
    assert touched(pose.x, pose.y, pose.z + 0.12) == standing | {ball} and world.touched() == {"ball_01"}
    assert touched(carton.x, carton.y, 0.2) == standing and not world.touched()  # it lies in a carton


SCRIPT = """
import hashlib, json
from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Order, Scene
from worldfs.robots.mujoco.quadruped.quadruped_driver import QuadrupedDriver
from worldfs.robots.mujoco.shared_world import SharedWorld
body = QuadrupedDriver("dog", world=SharedWorld(seed=3))
body.open(Scene())
for op, params in (
    ("target_navigation", {"target_label": "door"}), ("move_to", {"target_pose": [3.0, 1.0, 0.0]}), ("stop", {}),
):
    done = body.execute(Order("a", "dog", op, params), Run(SystemClock(), 1e12))
    assert done.ok, done
    print(json.dumps({**done.evidence, "wall_s": 0}, sort_keys=True))
print(hashlib.sha256(body.floor.simulation.save().numbers).hexdigest(), body.observe())
"""


@pytest.mark.proof
def test_two_processes_walk_the_same_way_byte_for_byte() -> None:
    def run() -> str:
        return subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout

    assert run() == run()


def test_a_stop_in_mid_walk_leaves_it_standing_where_it_is(dog: Callable[..., Any]) -> None:
    one = dog()
    run = one.run()
    one.each_tick(lambda: run.cancel.set() if one.body.walker.ticks == 400 else None)
    done = one.go("fridge", run)
    assert (done.code, done.evidence["held"], done.evidence["upright"] > 0.95) == ("CANCELLED", True, True)
    assert done.evidence["sim_seconds"] < 4.0 + 1.5 and done.evidence["speed"] < 0.03
    there = one.body.floor.spot()
    one.body.floor.simulation.advance("somebody else", 5000)  # ten seconds of the others
    assert math.dist(there, one.body.floor.spot()) < 0.02
    assert one.body.observe().robots[0].extra["nav_state"]["status"] == "cancelled"
    placed(one.go("fridge"))


def test_out_of_time_it_stands_and_says_so(dog: Callable[..., Any]) -> None:
    one = dog()
    run = one.run()
    one.each_tick(lambda: setattr(run, "deadline", 0.0) if one.body.walker.ticks == 300 else None)
    done = one.go("fridge", run)
    assert done.code == "EXECUTION_TIMEOUT" and done.evidence["held"] and done.evidence["upright"] > 0.95


def test_stop_is_an_operation_too(dog: Callable[..., Any]) -> None:
    one = dog()
    done = one.do("stop")
    assert done.ok and done.evidence["held"]


# --- bodies that lie ---


def fallen(one: Any) -> None:
    trunk = one.body.floor.simulation.model.body("trunk").id
    one.each_tick(lambda: one.body.floor.simulation.data.xfrc_applied.__setitem__((trunk, 1), 500.0))


def nailed(one: Any) -> None:
    data = one.body.floor.simulation.data
    at = data.qpos[:2].copy()
    one.each_tick(lambda: data.qpos.__setitem__(slice(0, 2), at))


def unpowered(one: Any) -> None:
    model = one.body.floor.simulation.model
    model.actuator_gainprm[:] = model.actuator_biasprm[:] = 0.0


def deaf(one: Any) -> None:
    """Its servos hold whatever they are told."""
    view, held = one.body.floor.view, one.body.floor.simulation.data.ctrl[:12].copy()
    view.advance = lambda steps, goals: type(view).advance(view, steps, held)


def echoing(one: Any) -> None:
    """It does nothing, and says that it is where it was told to go."""
    deaf(one)
    view, told = one.body.floor.view, type(one.body.floor.view).pose
    start = told(view)

    def pose() -> Any:
        share = min(1.0, one.body.walker.ticks / 300)
        corners = one.body.floor.echo
        (x0, y0), (x1, y1) = corners[0], corners[-1]
        yaw = math.atan2(y1 - y0, x1 - x0)
        return replace(start, x=x0 + share * (x1 - x0), y=y0 + share * (y1 - y0), yaw=yaw)

    one.body.floor.echo = [(start.x, start.y), (1.0, 0.0)]
    view.pose = pose


def carried_off(one: Any) -> None:
    """As soon as it stands somebody carries it away."""
    walker, data = one.body.walker, one.body.floor.simulation.data
    stand = walker.stand

    def stood() -> bool:
        found = bool(stand())
        data.qpos[1] += 0.5
        mujoco.mj_forward(one.body.floor.simulation.model, data)
        return found

    walker.stand = stood


def sliding(one: Any) -> None:
    """It does not come to rest."""
    walker, data = one.body.walker, one.body.floor.simulation.data
    stand = walker.stand

    def stood() -> bool:
        found = bool(stand())
        data.qvel[1] = 0.2
        return found

    walker.stand = stood


LIES = {
    fallen: "FALLEN", nailed: "STUCK", unpowered: "FALLEN", deaf: "STUCK", echoing: "POSE_DOUBTFUL",
    carried_off: "NOT_AT_GOAL", sliding: "NOT_AT_REST",
}  # fmt: skip


@pytest.mark.slice(3)
@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_no_walk_of_a_body_that_lies_succeeds(dog: Callable[..., Any], lie: Callable[[Any], None]) -> None:
    one = dog(Scene(objects=(), furniture=(BOX,)))
    lie(one)
    done = one.do("move_to", target_pose=[1.0, 0.0, 0.0])
    assert not done.ok and done.code == LIES[lie], done


BOX = Thing("box_01", "box", "box", (3.0, 0.0, 0.2), size=(0.4, 0.4, 0.4), shape="box")


def test_a_robot_that_has_fallen_is_refused_until_it_is_set_up(dog: Callable[..., Any]) -> None:
    one = dog(Scene(furniture=(BOX,)))
    fallen(one)
    assert one.do("move_to", target_pose=[0.5, 0.0, 0.0]).code == "FALLEN"
    assert one.body.observe().robots[0].extra["posture"] == "fallen"
    assert one.review("move_to", target_pose=[0.2, 0.0, 0.0]) == ["FALLEN"]
    assert one.do("stop").code == "FALLEN"


# --- what is in the way ---


def crate(x: float, y: float, id: str = "crate_01") -> Thing:
    return Thing(id, "crate", "box", (x, y, 0.25), size=(0.4, 0.4, 0.5), shape="box", mass=30.0)


def test_what_is_put_into_its_way_is_walked_round(dog: Callable[..., Any]) -> None:
    one = dog(Scene((RobotState("dog"),), (crate(0.0, 3.0),), (BOX,)))
    data = one.body.floor.simulation.data
    crate_at = one.body.floor.simulation.model.joint("free0").qposadr[0]
    one.each_tick(
        lambda: (
            data.qpos.__setitem__(slice(crate_at, crate_at + 2), (1.7, 0.0)) if one.body.walker.ticks == 60 else None
        )
    )
    done = one.do("move_to", target_pose=[4.0, 0.5, 0.0])
    placed(done)
    assert done.evidence["replanned"] == 1


def test_a_way_that_is_closed_while_it_walks_ends_with_the_reason(dog: Callable[..., Any]) -> None:
    walls = [
        Thing(f"wall_{n}", "wall", "wall", (x, y, 0.5), size=(*size, 1.0), shape="box")
        for n, (x, y, size) in enumerate(
            (
                (2.0, 2.05, (0.1, 3.0)),
                (2.0, -2.05, (0.1, 3.0)),
                (0.0, 3.5, (4.1, 0.1)),
                (0.0, -3.5, (4.1, 0.1)),
                (-2.0, 0.0, (0.1, 7.0)),
            )
        )
    ]
    one = dog(Scene((RobotState("dog"),), (crate(-1.2, 0.0),), tuple(walls)))
    data, at = one.body.floor.simulation.data, one.body.floor.simulation.model.joint("free0").qposadr[0]
    one.each_tick(lambda: data.qpos.__setitem__(slice(at, at + 2), (2.0, 0.0)) if one.body.walker.ticks == 60 else None)
    done = one.do("move_to", target_pose=[3.5, 0.0, 0.0])
    assert (done.ok, done.code) == (False, "NO_PATH") and done.evidence["held"] and done.evidence["upright"] > 0.95


# --- labels ---


def screens(x: float, y: float, half: float) -> tuple[Thing, ...]:
    """A closed square of screens, a metre high."""
    sides = (("north", 0, 1), ("south", 0, -1), ("east", 1, 0), ("west", -1, 0))
    return tuple(
        Thing(f"{name}_screen", "", "furniture", (x + dx * half, y + dy * half, 0.5), shape="box",
              size=(0.1 if dx else 2 * half + 0.1, 0.1 if dy else 2 * half + 0.1, 1.0))
        for name, dx, dy in sides
    )  # fmt: skip


def ball(x: float, y: float) -> Thing:
    return Thing("ball", "football", "ball", (x, y, 0.11), size=(0.22,) * 3, shape="sphere", mass=0.4)


@pytest.mark.parametrize("half", [0.5, 0.7])
def test_a_thing_behind_a_closed_wall_is_not_reached_and_the_wall_is_named(
    dog: Callable[..., Any], half: float
) -> None:
    one = dog(Scene((RobotState("dog", (0.0, 0.0, 0.0)),), (ball(2.0, 1.0),), screens(2.0, 1.0, half)))
    (finding,) = one.body.review(one.order("target_navigation", target_label="ball"))
    assert finding.code == "NO_PATH" and "_screen" in finding.found, finding
    done = one.go("ball")
    assert not done.ok and done.code == "NO_PATH" and math.dist(one.body.floor.spot(), (0.0, 0.0)) < 0.05


def test_a_thing_beside_a_wall_is_reached_on_its_own_side_of_the_wall(dog: Callable[..., Any]) -> None:
    wall = Thing("wall", "", "furniture", (1.5, 0.0, 0.5), size=(0.1, 3.0, 1.0), shape="box")
    one = dog(Scene((RobotState("dog", (0.0, 0.0, 0.0)),), (ball(1.7, 0.0),), (wall,)))
    placed(one.go("ball"))
    assert one.body.floor.spot()[0] > 1.55


def test_what_a_thing_stands_on_is_not_between_it_and_the_floor(dog: Callable[..., Any]) -> None:
    one = dog(Scene((RobotState("dog", (0.0, 0.0, 0.0)),), (replace(ball(2.0, 0.0), position=(2.0, 0.0, 0.71)),),
                    (Thing("stand", "", "furniture", (2.0, 0.0, 0.3), size=(0.6,) * 3, shape="box"),)))  # fmt: skip
    assert one.review("target_navigation", target_label="ball") == []


@pytest.mark.parametrize(
    ("label", "code"), [("unicorn", "UNKNOWN_OBJECT"), ("carton", "AMBIGUOUS_TARGET"), ("", "SCHEMA_VALIDATION")]
)
def test_a_label_that_means_nothing_or_several_is_refused(dog: Callable[..., Any], label: str, code: str) -> None:
    one = dog()
    assert one.review("target_navigation", target_label=label) == [code]
    assert one.go(label).code == code


def test_zones_of_the_map_are_places_to_be_in(dog: Callable[..., Any]) -> None:
    zones = [{"name": "Kitchen", "center": [1.0, 2.0], "size": [1.0, 1.0]}, {"name": "odd", "center": [1, "x"]}]
    zones += [{"name": "post", "pose": [0.5, 0.6, 1.5]}]
    one = dog(Scene((RobotState("dog"),), (), (BOX,), extra={"map": {"zones": zones}}))
    placed(one.go("kitchen"))
    x, y = one.body.floor.spot()
    assert abs(x - 1.0) < 0.5 and abs(y - 2.0) < 0.5
    assert one.review("target_navigation", target_label="odd") == ["UNKNOWN_OBJECT"]
    (post,) = one.body.floor.named("Post")
    assert (post.box.x, post.box.y, post.box.yaw, post.on_it) == (0.5, 0.6, 1.5, True)


@pytest.mark.proof
def test_a_house_may_be_chinese(dog: Callable[..., Any]) -> None:
    one = dog(language="zh")
    placed(one.go("门"))
    placed(one.go("厨房的桌子"))


# --- battery, and what is seen ---


def test_an_empty_battery_is_refused_and_the_station_gives_a_full_one(dog: Callable[..., Any]) -> None:
    low = RobotState("dog", extra={"battery_percent": 2.0})
    assert dog(Scene((low,))).review("target_navigation", target_label="door") == ["BATTERY_LOW"]
    one = dog(Scene((RobotState("dog", extra={"battery_percent": 40.0}),)))
    placed(one.go("sofa"))
    walked = float(one.body.observe().robots[0].extra["battery_percent"])
    assert 39.0 < walked < 40.0
    placed(one.go("charging station"))
    assert one.body.observe().robots[0].extra["battery_percent"] == 100.0


def test_a_battery_that_ends_on_the_way_stops_it_on_its_feet(dog: Callable[..., Any]) -> None:
    one = dog()
    one.each_tick(lambda: setattr(one.body.walker, "charge", 0.01) if one.body.walker.ticks == 200 else None)
    done = one.go("fridge")
    assert done.code == "BATTERY_LOW" and done.evidence["held"] and done.evidence["upright"] > 0.95


def test_looking_and_reviewing_change_nothing_and_its_own_scene_brings_it_back(dog: Callable[..., Any]) -> None:
    one = dog()
    placed(one.go("shelf"))
    seen = one.body.observe()
    one.review("target_navigation", target_label="door")
    assert one.body.observe() == seen
    again = QuadrupedDriver("dog")
    again.open(seen)
    assert again.assumed() == again.observe()
    then, now = seen.robots[0], again.observe().robots[0]
    assert math.dist(then.pose[:2], now.pose[:2]) < 0.02 and now.pose[5] == pytest.approx(then.pose[5], abs=0.02)
    assert {t.id for t in again.observe().furniture} == {t.id for t in seen.furniture}
    assert now.extra == then.extra


def test_a_ball_that_is_kicked_is_told(dog: Callable[..., Any]) -> None:
    one = dog()
    data = one.body.floor.simulation.data
    at = one.body.floor.simulation.model.joint("free0").qposadr[0]
    one.each_tick(
        lambda: data.qpos.__setitem__(slice(at, at + 2), (-3.0, 2.0)) if one.body.walker.ticks == 50 else None
    )
    done = one.go("sofa")
    assert [line["id"] for line in done.evidence["also_moved"]] == ["ball_01"] and "ball_01" in done.message


def test_a_wall_of_nine_kilometres_and_a_goal_beyond_the_floor_are_answered(dog: Callable[..., Any]) -> None:
    wall = Thing("wall_01", "wall", "wall", (2.0, 0.0, 0.5), size=(0.2, 9000.0, 1.0), shape="box")
    one = dog(Scene((RobotState("dog"),), (), (wall,)))
    placed(one.go("wall_01"))
    for there in ([4.0, 0.0, 0.0], [1e9, 0.0, 0.0]):
        assert one.review("move_to", target_pose=there) == ["NO_PATH"]
