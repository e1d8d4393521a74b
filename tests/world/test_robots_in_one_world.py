"""The simulated robots of a workspace share one physics world, and each order runs on the lane of its own robot."""

import json
import math
import threading
from importlib import resources
from itertools import count

import pytest

pytest.importorskip("mujoco", reason="the simulation extra is not installed: pip install 'worldfs[sim]'")

from worldfs.base.driver import Run
from worldfs.base.messages import render
from worldfs.base.model import Order
from worldfs.formats import action, config, environment
from worldfs.interfaces.cli.main import main
from worldfs.robots.driver_registry import BodyCatalogue
from worldfs.testing.waiting import PATIENCE_S
from worldfs.testing.workspace_fixture import sheet
from worldfs.world.check import check
from worldfs.world.home import Home
from worldfs.world.onboard import onboard
from worldfs.world.world import World

NEAR, FAR = "franka_001", "franka_002"


def workspace(tmp_path, *, scene=None):
    home = Home(tmp_path)
    onboard(home)
    home.config_path.write_text(
        json.dumps({"embodiments": {"mode": "single", "instances": [
            {"robotId": id, "driver": "simulation", "profileName": "franka_panda"} for id in (NEAR, FAR)
        ]}})
    )  # fmt: skip
    if scene is not None:
        (home.workspace / "ENVIRONMENT.md").write_text(json.dumps(scene))
    return World.open(
        home.workspace,
        config=config.read(home.config_path.read_bytes()),
        serve=True,
        drivers=BodyCatalogue(seed=4, cameras=False),
    )


def page(world):
    return environment.read(world.content("ENVIRONMENT.md")).scene


@pytest.fixture
def run():
    """Runs a world's kernel in a thread of its own until the test is over."""
    stop, threads = threading.Event(), []

    def begin(world):
        threads.append(threading.Thread(target=world.run, kwargs={"stop": stop}))
        threads[-1].start()
        stops.append(world.wake)

    stops = []
    yield begin
    stop.set()
    for wake in stops:
        wake()
    for thread in threads:
        thread.join(PATIENCE_S)


def test_two_arms_of_an_empty_workspace_face_each_other_at_one_table(tmp_path):
    with workspace(tmp_path) as world:
        scene = page(world)
        bodies = [world.kernel.nodes[id].driver for id in (NEAR, FAR)]
        assert bodies[0].arm.simulation is bodies[1].arm.simulation
        for id, body in zip((NEAR, FAR), bodies, strict=True):
            q = body.arm.view.joints()
            assert scene.robot(id).joint_state["joint_1"] == pytest.approx(q[0], abs=2e-4)
            assert list(body.observe().objects) == list(bodies[0].observe().objects)
    assert [robot.robot_id for robot in scene.robots] == [NEAR, FAR]
    assert scene.robot(FAR).pose == pytest.approx((0.9, 0, 0, 0, 0, 3.1416), abs=1e-3)
    assert len(scene.objects) == 5  # each thing once


def test_a_robot_that_is_judged_by_the_profile_of_another_is_named(tmp_path):
    home = Home(tmp_path)
    onboard(home)
    bodies = {NEAR: ("simulation", "franka_panda"), "cart": ("wheeled_carrier", "wheeled_carrier")}
    instances = [{"robotId": id, "driver": one, "profileName": name} for id, (one, name) in bodies.items()]
    home.config_path.write_text(json.dumps({"embodiments": {"mode": "single", "instances": instances}}))
    codes = [item.code for item in check(home)]
    assert codes.count("PROFILE_SHARED") == 1
    settings = config.read(home.config_path.read_bytes())
    for _ in range(2):  # also at the next start
        with World.open(home.workspace, config=settings, serve=True, drivers=BodyCatalogue(cameras=False)) as world:
            (found,) = [one for path, one in world.kernel.alert.now().items() if path.endswith("EMBODIED.md")]
            assert found.code == "PROFILE_SHARED" and "cart" in found.found and "fleet" in found.fix
    (home.workspace / "EMBODIED.md").write_text("# mine\n")
    assert "PROFILE_SHARED" not in [item.code for item in check(home)]


def test_a_robot_moves_within_its_own_limits_also_where_the_document_is_another_robots(tmp_path):
    home = Home(tmp_path)
    onboard(home)
    home.profiles.mkdir(parents=True)
    packaged = resources.files("worldfs").joinpath("profiles", "wheeled_carrier.md").read_text()
    (home.profiles / "near.md").write_text(packaged.replace("target_navigation", "come_near"))
    bodies = {"cart": "wheeled_carrier", "other": "near"}
    instances = [{"robotId": id, "driver": "wheeled_carrier", "profileName": name} for id, name in bodies.items()]
    home.config_path.write_text(json.dumps({"embodiments": {"mode": "single", "instances": instances}}))
    settings = home.config({})
    with World.open(home.workspace, config=settings, serve=True, drivers=BodyCatalogue(cameras=False)) as world:
        clock, hooks = world.clock, world.kernel.hooks
        codes = {
            id: [one.code for one in hooks.review(Order("a", id, op, {"target_label": "table_01"}), Run(clock, 9e9))]
            for id, op in (("cart", "target_navigation"), ("other", "target_navigation"))
        }
        assert "OP_NOT_IN_PROFILE" in codes["other"] and "OP_NOT_IN_PROFILE" not in codes["cart"]
        assert hooks.limits("other").ops != hooks.limits("cart").ops == hooks.profile("other").get().ops
        port = world.planner_port("cart")
        assert port.profile("other") == hooks.limits("other") and port.profile() == hooks.limits("cart")
        (home.workspace / "EMBODIED.md").write_text(packaged + "\nOurs, for both.\n")
        assert hooks.limits("other") == hooks.profile("other").get()


def test_orders_of_two_arms_run_at_once_and_the_page_has_what_both_did(tmp_path, run):
    cubes = {"red_cube": [0.40, 0.35, 0.0255], "blue_cube": [0.50, -0.35, 0.0255]}
    scene = {
        "robots": [{"robot_id": id} for id in (NEAR, FAR)],
        "objects": [
            {"id": id, "position": at, "shape": "box", "size": [0.05] * 3, "mass": 0.1} for id, at in cubes.items()
        ],
        "scene_graph": {"nodes": [
            {"id": "table_01", "type": "furniture", "position": [0.45, 0.0, 0.0], "size": [0.9, 1.4, 0.75],
             "shape": "table"}
        ], "edges": []},
    }  # fmt: skip
    goals = {NEAR: ("red_cube", [0.38, 0.20, 0.0]), FAR: ("blue_cube", [0.55, -0.20, 0.0])}
    with workspace(tmp_path, scene=scene) as world:
        run(world)
        jobs = {}
        for id, (cube, goal) in goals.items():
            steps = {"name": "pick_and_place", "object_id": cube, "target_position": goal}
            jobs[id] = world.submit(Order(f"act_{id}", id, "strategy", steps))
        for job in jobs.values():
            status = world.wait_job(job, PATIENCE_S * 4)
            assert status.outcome is not None and status.outcome.ok, status
        found = page(world)
        truth = {thing.id: thing for thing in world.kernel.nodes[NEAR].driver.observe().objects}
    for cube, goal in goals.values():
        assert found.thing(cube).position[:2] == pytest.approx(goal[:2], abs=0.02)
        assert found.thing(cube).position == pytest.approx(truth[cube].position, abs=2e-4)


def test_what_a_robot_saw_before_another_wrote_is_not_written_over_it(tmp_path):
    with workspace(tmp_path) as world:
        near, far = (world.kernel.nodes[id].driver for id in (NEAR, FAR))
        thing = page(world).objects[0]
        observe, moved = near.observe, []

        def late():
            seen = observe()
            if not moved:  # the other robot moves a thing, and says so, before this one has written
                moved.append(thing.position[0] + 0.03)
                far.arm.simulation.data.qpos[far.arm.rig.qpos[thing.id]] = moved[0]
                world.kernel.hooks.observe(FAR)
            return seen

        near.arm.simulation.data.qpos[near.arm.view.joint_qpos.start] += 0.1  # it has something to write
        near.observe = late
        world.kernel.hooks.observe(NEAR)
        assert page(world).thing(thing.id).position[0] == pytest.approx(moved[0], abs=1e-3)


def test_a_thing_in_a_hand_that_moves_is_in_that_hand_after_a_kill(tmp_path, run):
    """The other robot's order ends, and is observed, while the hand is on its way."""
    with workspace(tmp_path) as world:
        run(world)
        cube = page(world).objects[0].id
        job = world.submit(Order("act_1", NEAR, "pick_up", {"object_id": cube}))
        assert world.wait_job(job, PATIENCE_S * 4).outcome.ok
        arm = world.kernel.nodes[NEAR].driver.arm
        with arm.view.working(order=True):
            raised = arm.view.joints()
            raised[1] -= 0.2
            arm.mover.follow([arm.view.joints(), raised])
        world.kernel.hooks.observe(FAR)
        seen = world.kernel.nodes[FAR].driver.observe().thing(cube).position
        assert seen != pytest.approx(page(world).thing(cube).position, abs=0.01)
    with workspace(tmp_path) as world:
        hand = world.kernel.nodes[NEAR].driver.observe().robot(NEAR)
        assert hand.holding == cube


def test_arms_that_stand_in_each_other_are_refused_by_name_and_stop_no_kernel(tmp_path):
    scene = {"robots": [{"robot_id": id, "pose": [0.0, 0.0, 0.0]} for id in (NEAR, FAR)], "objects": []}
    with workspace(tmp_path, scene=scene) as world:
        job = world.submit(Order("act_1", NEAR, "strategy", {"name": "home"}))
        while world.tick() or not world.kernel.idle:
            pass
        outcome = world.wait_job(job, PATIENCE_S).outcome
    assert outcome is not None and not outcome.ok and FAR in outcome.message


HAND_OVER = {
    "arm_1": [
        ("take", "pick_up", {"object_id": "cube_01"}, ["near"]),
        ("load", "place", {"target": "cart_1_tray"}, ["take"]),
        ("back", "strategy", {"name": "home"}, ["load"]),
    ],
    "cart_1": [
        ("near", "target_navigation", {"target_label": "arm_1"}, []),
        ("far", "target_navigation", {"target_label": "arm_2"}, ["back"]),
    ],
    "arm_2": [
        ("unload", "pick_up", {"object_id": "cube_01"}, ["far"]),
        ("put", "place", {"target": "basket_01"}, ["unload"]),
    ],
}


@pytest.mark.proof
def test_two_arms_and_a_carrier_of_a_fleet_hand_a_thing_over_by_their_files(tmp_path):
    home = Home(tmp_path)
    onboard(home)
    drivers = {"arm_1": "simulation", "arm_2": "simulation", "cart_1": "wheeled_carrier"}
    profiles = {"simulation": "franka_panda", "wheeled_carrier": "wheeled_carrier"}
    home.config_path.write_text(
        json.dumps({"embodiments": {
            "mode": "fleet",
            "sharedWorkspace": str(tmp_path / "shared_workspace"),
            "instances": [
                {"robotId": id, "driver": driver, "profileName": profiles[driver], "workspace": str(tmp_path / id)}
                for id, driver in drivers.items()
            ],
        }})
    )  # fmt: skip
    for id, steps in HAND_OVER.items():
        (tmp_path / id).mkdir()
        queue = [
            {"action_id": name, "action_type": op, "params": params, "robot_id": id, "status": "pending",
             "depends_on": after}
            for name, op, params, after in steps
        ]  # fmt: skip
        (tmp_path / id / "ACTION.md").write_bytes(sheet(queue))
    assert main(["--home", str(tmp_path), "up", "--until-idle", "--no-cameras", "--seed", "3"]) == 0
    for id, steps in HAND_OVER.items():
        found, _ = action.locate((tmp_path / id / "ACTION.md").read_text())
        assert {e["action_id"]: e["status"] for e in action.entries_of(found.value)} == {
            name: "completed" for name, *_ in steps
        }, (tmp_path / id / "ACTION.md").read_text()
    scene = environment.read((tmp_path / "shared_workspace" / "ENVIRONMENT.md").read_bytes()).scene
    assert {robot.robot_id for robot in scene.robots} == set(drivers)
    assert [(r.relation, r.object) for r in scene.relations if r.subject == "cube_01"] == [("in", "basket_01")]
    tray, cart = scene.thing("cart_1_tray"), scene.robot("cart_1")
    assert tray.position[:2] == pytest.approx(cart.pose[:2], abs=1e-3)


def boxes(**at):
    """Each {id: ([x, y, z], [sides])}."""
    return [
        {"id": id, "shape": "box", "position": where, "size": size, "mass": 0.1} for id, (where, size) in at.items()
    ]


ARCH = boxes(
    left=([0.45, 0.12, 0.05], [0.05, 0.05, 0.1]),
    right=([0.45, -0.02, 0.05], [0.05, 0.05, 0.1]),
    roof=([0.45, 0.05, 0.115], [0.05, 0.2, 0.03]),
)


POST = ([0.45, 0.12, 0.05], [0.05, 0.05, 0.1])
FLAT = [0.05, 0.05, 0.03]


@pytest.mark.parametrize(
    ("things", "moved", "told"),
    [
        (ARCH, [], []),
        (boxes(low=POST, off=([0.48, 0.12, 0.115], FLAT)), ["off"], ["off"]),
        (boxes(low=POST, high=([0.45, 0.12, 0.2], FLAT)), ["high"], ["high"]),  # a stand would be in the post
        (boxes(low=POST, high=([0.45, -0.12, 0.2], FLAT)), [], ["stand_high"]),
    ],
)
def test_a_world_is_as_its_document_has_it_or_an_alert_names_what_is_not(tmp_path, things, moved, told):
    table = {"id": "t", "type": "furniture", "position": [0.45, 0.0, 0.0], "size": [0.9, 1.2, 0.75], "shape": "table"}
    scene = {"schema_version": "v2.0", "scene_graph": {"nodes": [table], "edges": []}, "objects": things}

    def said(world):
        return [found.found for found in world.kernel.alert.now().values() if found.code == "BUILT_ELSEWHERE"]

    with workspace(tmp_path, scene=scene) as world:
        after, alerts = world.kernel.nodes[NEAR].driver.observe(), said(world)
        for one in things:
            now = after.thing(one["id"]).position if one["id"] in moved else tuple(one["position"])
            assert page(world).thing(one["id"]).position == now
    apart = {one["id"]: math.dist(after.thing(one["id"]).position, one["position"]) for one in things}
    assert sorted(id for id, far in apart.items() if far > 0.006) == moved
    assert len(alerts) == bool(told) and all(id in alerts[0] for id in told)
    with workspace(tmp_path) as world:
        assert said(world) == ([] if moved else alerts)  # the document has now where it fell to, and no stand


def test_a_robot_without_an_order_that_loses_what_it_holds_says_so_in_the_same_write(tmp_path, run):
    scene = {
        "robots": [{"robot_id": id} for id in (NEAR, FAR)],
        "objects": [{"id": "cube", "position": [0.5, -0.35, 0.0255], "shape": "box", "size": [0.05] * 3, "mass": 0.1}],
        "scene_graph": {"nodes": [
            {"id": "table_01", "type": "furniture", "position": [0.45, 0.0, 0.0], "size": [0.9, 1.4, 0.75],
             "shape": "table"}
        ], "edges": []},
    }  # fmt: skip

    numbers = count()

    def done(world, node, op, **params):
        status = world.wait_job(world.submit(Order(f"{node}_{op}_{next(numbers)}", node, op, params)), PATIENCE_S * 4)
        assert status.outcome is not None
        return status.outcome

    with workspace(tmp_path, scene=scene) as world:
        run(world)
        assert done(world, FAR, "pick_up", object_id="cube").ok
        assert page(world).held(FAR) == "cube"
        body = world.kernel.nodes[FAR].driver
        body.arm.view.grip(0.04)  # the fault: its fingers open, and no order says so
        done(world, NEAR, "strategy", name="wave")
        seen, now = page(world), body.observe().thing("cube")
        hand = seen.robot(FAR)
        assert (hand.holding, hand.gripper) == (None, "open") and seen.held(FAR) is None
        assert not [edge for edge in seen.relations if edge.relation == "held_by"]
        assert seen.thing("cube").position == pytest.approx(now.position, abs=1e-3) and now.position[2] < 0.03
        (found,) = [one for one in world.kernel.alert.now().values() if one.code == "OBJECT_LOST"]
        said = render(found.found, "en")
        assert "cube" in said and FAR in said and "[0.5, -0.35, 0.025]" in said
        done(world, NEAR, "strategy", name="home")
        assert [one.code for one in world.kernel.alert.now().values()].count("OBJECT_LOST") == 1
        assert done(world, FAR, "pick_up", object_id="cube").ok  # it has an order again, and says itself what it holds
        assert "OBJECT_LOST" not in [one.code for one in world.kernel.alert.now().values()]
        assert page(world).held(FAR) == "cube"
