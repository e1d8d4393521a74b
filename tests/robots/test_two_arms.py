"""Two arms at one table, each with its own driver and thread, in one world."""

from __future__ import annotations

import math
import random
import threading
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.errors import BadInput
from worldfs.base.messages import parts, render
from worldfs.base.model import Order, Outcome, RobotState, Scene, Thing
from worldfs.plugins.rekep.path_checker import ConstrainedPathChecker
from worldfs.robots.mujoco import actions, panda, support
from worldfs.robots.mujoco.collision import SEEN
from worldfs.robots.mujoco.ik import HOME
from worldfs.robots.mujoco.reserved_space import SweptSpace
from worldfs.robots.mujoco.scene_layout import layout
from worldfs.robots.mujoco.shared_world import SharedWorld
from worldfs.robots.mujoco.tabletop import Tabletop
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver
from worldfs.testing.workcell import Workcell

from . import lies

TABLE = Thing("table_01", category="furniture", position=(0.45, 0.0, 0.0), size=(0.9, 1.4, 0.75), shape="table")
NEAR, FAR = "franka_001", "franka_002"  # at opposite sides of the table
ROBOTS = (RobotState(NEAR, (0.0, 0.0, 0.0)), RobotState(FAR, (0.9, 0.0, 0.0, 0.0, 0.0, math.pi)))
HERE = Thing("cube_here", position=(0.40, 0.35, 0.0255), size=(0.05,) * 3, shape="box", mass=0.1)
THERE = Thing("can_there", position=(0.50, -0.35, 0.0555), size=(0.06, 0.06, 0.11), shape="cylinder", mass=0.3)
SCENE = Scene(ROBOTS, (HERE, THERE), (TABLE,))


ASIDE = ((0.053, 0.0), (-0.053, 0.0), (0.0, 0.053), (0.0, -0.053))


class Pair:
    """Two drivers of one tabletop, by the ids of their robots."""

    def __init__(self, scene: Scene = SCENE) -> None:
        world = SharedWorld()
        self.drivers = {id: TabletopDriver(id, cameras=False, world=world) for id in (NEAR, FAR)}
        for driver in self.drivers.values():
            driver.open(scene)
        self.table = world.open(NEAR, scene)

    def rig(self, id: str) -> Any:
        return self.drivers[id].arm.rig

    def review(self, id: str, op: str, **params: Any) -> list[Any]:
        return list(self.drivers[id].review(Order("act", id, op, params)))

    def run(self, id: str, *orders: tuple[str, dict[str, Any]]) -> list[Outcome]:
        return self.together({id: orders})[id]

    def together(self, plans: dict[str, Any], stops: dict[str, Run] | None = None) -> dict[str, list[Outcome]]:
        """Each robot's orders, one after the other, from a thread of its own, in the order of `plans`."""
        done: dict[str, list[Outcome]] = {id: [] for id in plans}

        def drive(id: str) -> None:
            for number, (op, params) in enumerate(plans[id]):
                run = (stops or {}).get(id) or Run(SystemClock(), SystemClock().monotonic() + 300)
                done[id].append(self.drivers[id].execute(Order(f"act_{number}", id, op, params), run))

        threads = [threading.Thread(target=drive, args=(id,)) for id in plans]
        for id, orders in plans.items():
            for _ in orders:
                self.table.simulation.expect(self.drivers[id].arm.view.prefix)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(100)
        assert not any(thread.is_alive() for thread in threads)
        return done

    def state(self) -> Any:
        return self.table.simulation.save()


BOTH = {
    NEAR: (("pick_up", {"object_id": "cube_here"}), ("place", {"target_position": [0.38, 0.20, 0.0]})),
    FAR: (("pick_up", {"object_id": "can_there"}), ("place", {"target_position": [0.55, -0.20, 0.0]}),
          ("strategy", {"name": "wave"})),
}  # fmt: skip


def measured(outcomes: dict[str, list[Outcome]]) -> Any:
    return {
        id: [(o.ok, o.message, {k: v for k, v in o.evidence.items() if k != "wall_s"}) for o in some]
        for id, some in sorted(outcomes.items())
    }


@pytest.fixture(scope="module")
def both() -> tuple[Pair, dict[str, list[Outcome]]]:
    pair = Pair()
    return pair, pair.together(BOTH)


def test_both_arms_work_at_once_and_each_reports_its_own(both):
    pair, done = both
    assert all(outcome.ok for some in done.values() for outcome in some), measured(done)
    assert len({outcome.evidence["steps"] for some in done.values() for outcome in some}) == 5
    scenes = {id: driver.observe() for id, driver in pair.drivers.items()}
    for id, scene in scenes.items():
        assert [robot.robot_id for robot in scene.robots] == [id]
        assert scene.robots[0].joint_state["joint_1"] == pytest.approx(pair.rig(id).view.joints()[0], abs=1e-4)
    assert scenes[NEAR].objects == scenes[FAR].objects and scenes[NEAR].relations == scenes[FAR].relations
    assert {r.object for r in scenes[NEAR].relations} == {"table_01"}
    assert scenes[FAR].robots[0].pose == pytest.approx((0.9, 0, 0, 0, 0, math.pi), abs=1e-3)
    total = sum(outcome.evidence["sim_seconds"] for outcome in done[FAR])
    assert pair.table.simulation.data.time < total + 5  # and not one after the other


def test_the_same_orders_make_the_same_trajectory_byte_for_byte(both):
    pair, done = both
    again = Pair()
    repeated = again.together({FAR: BOTH[FAR], NEAR: BOTH[NEAR]})  # the other thread is started first
    assert again.state() == pair.state()
    assert measured(repeated) == measured(done)


@pytest.mark.proof
def test_an_observer_and_a_critic_change_nothing_of_the_others_motion(both):
    alone, watched = Pair(), Pair()
    order = {NEAR: BOTH[NEAR][:1]}
    done = alone.together(order)
    over, seen = threading.Event(), []

    def watch() -> None:
        while not over.is_set():
            seen.append(watched.drivers[FAR].observe())
            assert not watched.review(FAR, "pick_up", object_id="can_there")

    watcher = threading.Thread(target=watch)
    watcher.start()
    while not seen:
        over.wait(0.001)
    repeated = watched.together(order)
    over.set()
    watcher.join(300)
    assert len({scene.objects[0].position for scene in seen}) > 1  # it was looked at in mid-motion
    assert measured(repeated) == measured(done) and watched.state() == alone.state()


def test_a_state_saved_in_mid_motion_goes_on_identically(monkeypatch):
    pair, commands, saved = Pair(), [], []
    step, mover = mujoco.mj_step, pair.drivers[NEAR].arm.mover

    def recorded(model, data, n=1):
        commands.extend([data.ctrl.copy()] * n)
        step(model, data, n)

    def watch():  # both arms are on their way, and the near one has the cube between its fingers
        if not saved and pair.rig(NEAR).held():
            saved.append((len(commands), pair.state()))

    mover.watch, mover.watch_every = watch, 25
    with monkeypatch.context() as patched:
        patched.setattr(mujoco, "mj_step", recorded)
        pair.together({id: orders[:1] for id, orders in BOTH.items()})
    (at, state), rest = saved[0], None
    rest = np.array(commands[at:])
    assert len(rest) > 500 and np.any(rest[0] != rest[300])
    other = Tabletop(layout(SCENE, NEAR, FAR)).simulation
    other.restore(state)
    assert other.data.ncon > 0
    other.advance("", len(rest), slice(0, other.model.nu), rest)
    assert other.save() == pair.state()


def test_what_carries_what_is_measured_across_both():
    top = Thing("cube_top", position=(0.50, -0.35, 0.0255 + 0.05), size=(0.05,) * 3, shape="box", mass=0.1)
    base = replace(top, id="cube_base", position=(0.50, -0.35, 0.0255))
    pair = Pair(Scene(ROBOTS, (HERE, base, top), (TABLE,)))
    for id in (NEAR, FAR):
        assert support.riders(pair.rig(id), "cube_base") == ["cube_top"]
        assert pair.review(id, "pick_up", object_id="cube_base")[0].code == "CRITIC_REFUSED"
    assert pair.run(FAR, ("pick_up", {"object_id": "cube_top"}))[0].ok
    near, far = pair.rig(NEAR), pair.rig(FAR)
    assert (near.held(), near.holder("cube_top"), far.held(), far.holder("cube_top")) == (None, FAR, "cube_top", None)
    assert support.carried(far, "cube_top", "robot") and not support.carried(near, "cube_top", "robot")
    assert support.carried(near, "cube_top", FAR) and near.touching("cube_top") == {FAR}
    for id in (NEAR, FAR):
        held = [r for r in pair.drivers[id].observe().relations if r.subject == "cube_top"]
        assert [(r.relation, r.object) for r in held] == [("held_by", FAR)]
    assert [r.holding for r in pair.drivers[NEAR].observe().robots] == [None]
    (refused,) = pair.review(NEAR, "pick_up", object_id="cube_top")
    assert refused.found == f"{FAR} holds cube_top"
    assert render(refused.found, "zh") == f"{FAR} 正拿着 cube_top"
    # what one sets down, the other takes
    assert pair.run(FAR, ("place", {"target_position": [0.45, 0.12, 0.0]}))[0].ok
    assert pair.run(FAR, ("strategy", {"name": "home"}))[0].ok
    taken = pair.run(NEAR, ("pick_up", {"object_id": "cube_top"}))[0]
    assert taken.ok and taken.evidence["carried_by"] == {"robot": 1.0}, taken.message
    assert pair.rig(FAR).holder("cube_top") == NEAR


def test_the_other_arm_is_an_obstacle_and_is_called_by_its_robots_id():
    pair = Pair()
    position, _ = pair.rig(FAR).view.tcp_pose()
    found = [f.found for f in pair.review(NEAR, "move_to", target_pose=[float(v) for v in position])]
    assert found and FAR in found[0] and "robot" in found[0], found


def test_a_pose_is_tried_with_the_arm_that_plans_and_the_other_stays_where_it_is():
    pair = Pair()
    for id, other in ((NEAR, FAR), (FAR, NEAR)):
        arm, q = pair.drivers[id].arm, HOME + 0.1
        checker = arm.collision_checker(opening=0.01)
        checker.hits(q)
        tried, _ = arm.view.tcp_pose_in(checker.data)
        assert np.allclose(tried, arm.solver.pose(q)[0], atol=1e-6)
        there = pair.rig(other).view
        assert np.allclose(there.tcp_pose_in(checker.data)[0], there.tcp_pose()[0], atol=1e-6)
        assert checker.data.qpos[arm.view.finger_qpos] == pytest.approx(0.01)


def test_a_plan_that_keeps_its_distance_changes_nothing_in_the_world(monkeypatch):
    pair, margins = Pair(), []
    arm, world, collide = pair.drivers[NEAR].arm, pair.table.simulation.model, mujoco.mj_collision
    checker = ConstrainedPathChecker(arm, lambda pose: "", opening=None, held=None)
    checker.clearance = 0.03

    def seen(model, data):
        margins.append((world.geom_margin.max(), model.geom_margin.max()))
        collide(model, data)

    monkeypatch.setattr(mujoco, "mj_collision", seen)
    checker.hits(arm.view.joints())
    assert margins == [(0.0, SEEN)]


@pytest.mark.slice(3)
@pytest.mark.parametrize("seed", range(3))
def test_in_a_middle_that_both_share_one_waits_for_the_other_and_they_never_touch(seed):
    rng, spots = random.Random(seed), []
    while len(spots) < 5:
        spot = (rng.uniform(0.36, 0.54), rng.uniform(-0.4, 0.4))
        if all(math.dist(spot, other) > 0.13 for other in spots):
            spots.append(spot)
    cubes = tuple(replace(HERE, id=f"cube_{i}", position=(*spots[i], 0.0255)) for i in range(3))
    pair = Pair(Scene(ROBOTS, cubes, (TABLE,)))
    done = pair.together({
        id: (("pick_up", {"object_id": f"cube_{k}"}), ("place", {"target_position": [*spots[3 + k], 0.0]}),
             ("strategy", {"name": "home"}))
        for k, id in enumerate((NEAR, FAR))
    })  # fmt: skip
    for outcome in (*done[NEAR], *done[FAR]):
        assert outcome.ok and outcome.evidence["touched"] == [], outcome
        assert "also_moved" not in outcome.evidence  # what the other was about, the other reports


def test_what_is_near_a_space_is_found_as_when_all_of_it_is_looked_at():
    rng = np.random.default_rng(0)
    rooms = []
    for _ in range(60):
        space = SweptSpace(np.hstack([rng.uniform(-1, 1, (200, 3)), rng.uniform(0.03, 0.08, (200, 1))]))
        middle = rng.uniform(-1.5, 1.5, 3)
        body = np.hstack([middle + rng.uniform(-0.2, 0.2, (30, 3)), rng.uniform(0.03, 0.09, (30, 1))])
        rooms.append(room := space.clearance(body))
        for within in (0.3, 0.02, -0.01):
            found = space.clearance(body, within)
            assert found == pytest.approx(room, abs=1e-9) if room <= within else found > within
    assert min(rooms) < -0.01 and max(rooms) > 0.02


def test_a_plan_keeps_clear_of_where_the_other_arm_will_pass_and_says_whose_space_it_is():
    pair = Pair()
    arm, other = pair.drivers[NEAR].arm, pair.drivers[FAR].arm
    over = [0.40, 0.10, 0.15, math.pi, 0.0, 0.0]
    assert not pair.review(NEAR, "move_to", target_pose=over)
    ball = SweptSpace(np.array([[0.40, 0.10, 0.15, 0.2]]))
    other.reserved.reserve(FAR, ball)
    assert not pair.review(NEAR, "move_to", target_pose=over)  # it will have moved by then
    with arm.minding_others():
        found = actions.plan_move(arm, Order("act", NEAR, "move_to", {"target_pose": over}))
    assert FAR in found.found and arm.blockers == {FAR}
    other.reserved.release(FAR)
    assert pair.run(NEAR, ("move_to", {"target_pose": over}))[0].ok


def test_a_body_that_stands_in_the_way_is_named_and_one_that_does_not_is_not():
    low = replace(HERE, position=(0.45, 0.0, 0.0255))
    walls = [replace(HERE, id=f"wall_{n}", position=(0.45 + dx, dy, 0.0255)) for n, (dx, dy) in enumerate(ASIDE)]
    for things, robots in (((low,), [FAR]), ((low, *walls), [])):
        pair = Pair(Scene(ROBOTS, things, (TABLE,)))
        assert pair.run(FAR, ("move_to", {"target_pose": [0.45, 0.0, 0.16, math.pi, 0.0, 0.0]}))[0].ok
        (found,) = pair.review(NEAR, "pick_up", object_id="cube_here")
        said = [part for part in parts(found.found) if part.code == "robot.way_blocked_by"]
        assert [part.args["robots"] for part in said] == ([robots] if robots else []), found
        outcome = pair.run(NEAR, ("pick_up", {"object_id": "cube_here"}))[0]
        assert not outcome.ok and ("franka_002 in the way" in render(outcome.message, "en")) is bool(robots), outcome


def test_a_cancelled_arm_holds_still_and_the_other_finishes():
    pair = Pair()
    clock = SystemClock()
    run = Run(clock, clock.monotonic() + 300)
    mover = pair.drivers[NEAR].arm.mover
    mover.watch, mover.watch_every = run.cancel.set, 400
    done = pair.together({NEAR: BOTH[NEAR][:1], FAR: BOTH[FAR][:1]}, {NEAR: run})
    (stopped,), (other,) = done[NEAR], done[FAR]
    assert stopped.code == "CANCELLED" and stopped.evidence["held"]
    assert other.ok and pair.rig(FAR).held() == "can_there"
    assert np.max(np.abs(pair.rig(NEAR).view.speeds())) < 0.01


@pytest.mark.proof
def test_a_fault_of_one_arm_is_not_the_others():
    pair = Pair()
    model = pair.table.simulation.model
    model.actuator_gainprm[pair.rig(NEAR).view.servos] = 0  # the near arm has no torque
    model.actuator_biasprm[pair.rig(NEAR).view.servos] = 0
    done = pair.together({NEAR: BOTH[NEAR][:1], FAR: BOTH[FAR][:1]})
    assert not done[NEAR][0].ok and done[FAR][0].ok


def test_a_thing_thrown_at_the_other_side_is_reported_by_the_one_that_works():
    pair = Pair()
    mover = pair.drivers[NEAR].arm.mover
    mover.watch_every = 400
    mover.watch = lambda: lies.put(pair.rig(NEAR), "can_there", (0.30, -0.5, 0.0555))
    (done,) = pair.run(NEAR, BOTH[NEAR][0])
    assert not done.ok and [line["id"] for line in done.evidence["also_moved"]] == ["can_there"]


def test_each_arm_has_the_picture_of_its_own_wrist(gl):
    world = SharedWorld()
    drivers = [TabletopDriver(id, world=world) for id in (NEAR, FAR)]
    for driver in drivers:
        driver.open(SCENE)
    for driver in drivers:
        frame = driver.renderer().capture(driver.arm.simulation.data, "wrist")
        position, rotation = driver.arm.view.tcp_pose()
        assert np.allclose(frame.position, position + rotation @ (np.array(panda.WRIST) - [0, 0, panda.TCP]), atol=1e-6)
        driver.close()


@pytest.mark.parametrize(
    ("robots", "things", "found"),
    [
        ((RobotState(NEAR), RobotState(FAR)), (), "and franka_002 at"),
        (ROBOTS, (replace(HERE, id=FAR),), "a robot called"),
    ],
)
def test_two_arms_need_bases_and_names_of_their_own(robots, things, found):
    with pytest.raises(BadInput, match=found):
        layout(Scene(robots, things, (TABLE,)), NEAR, FAR)


def test_a_driver_without_an_arm_at_the_table_is_told_who_has_one():
    pair = Pair()
    late = TabletopDriver("franka_003", cameras=False, world=pair.drivers[NEAR].world)
    with pytest.raises(BadInput, match="franka_003") as caught:
        late.open(SCENE)
    assert "paos up" in caught.value.fix
    back = TabletopDriver(FAR, cameras=False, world=pair.drivers[NEAR].world)  # removed, and added again
    back.open(SCENE)
    assert back.arm is pair.drivers[FAR].arm and back.world.arms == [NEAR, FAR, "franka_003"]


@pytest.mark.proof
def test_four_arms_at_one_table_work_at_once():
    ids, spots = ("a", "b", "c", "d"), ((0.35, 0.1), (0.55, -0.1), (0.35, -0.35), (0.55, 0.35))
    cubes = tuple(replace(HERE, id=f"cube_{id}", position=(*at, 0.0255)) for id, at in zip(ids, spots, strict=True))
    cell = Workcell(Scene((), cubes, (TABLE,)), ids)
    done = cell.together({
        id: [("pick_up", {"object_id": f"cube_{id}"}), ("strategy", {"name": "home"})] for id in ids
    })  # fmt: skip
    for id, some in done.items():
        assert all(o.ok and o.evidence["touched"] == [] for o in some), some
        assert cell.rig(id).held() == f"cube_{id}"
    assert len({driver.observe().robots[0].pose for driver in cell.drivers.values()}) == 4
