"""What comes to rest elsewhere than ENVIRONMENT.md has it is written there, and an alert names it."""

import itertools
import json
import math
import random
import threading
from contextlib import contextmanager
from dataclasses import replace

import pytest

pytest.importorskip("mujoco", reason="the simulation extra is not installed: pip install 'worldfs[sim]'")

from worldfs.base.model import Order, Scene, Thing
from worldfs.formats import config, environment
from worldfs.planning.planner import Planner
from worldfs.robots.displacements import built_elsewhere
from worldfs.robots.driver_registry import BodyCatalogue
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.edited_things import as_measured, edited_text, edited_things, read_back
from worldfs.world.home import Home
from worldfs.world.onboard import onboard
from worldfs.world.world import World

ARM, SECOND, CART, DOG, PET = "franka_001", "franka_002", "cart_1", "dog_1", "pet_1"
DRIVERS = {ARM: "simulation", SECOND: "simulation", CART: "wheeled_carrier", DOG: "go2_edu", PET: "still"}
PROFILES = {
    "simulation": "franka_panda",
    "wheeled_carrier": "wheeled_carrier",
    "go2_edu": "go2_edu",
    "still": "generic_amr",
}
TABLE = {"id": "table_01", "type": "furniture", "position": [0.45, 0, 0], "size": [0.9, 1.2, 0.75], "shape": "table"}
CUBE = {"id": "cube_01", "shape": "box", "size": [0.04] * 3, "position": [0.5, 0.1, 0.02], "mass": 0.1}

NUMBERS = itertools.count()


def thing(id, shape, size, position, orientation=None):
    entry = {"id": id, "shape": shape, "size": size, "position": position, "mass": 0.1}
    return entry | ({"orientation": orientation} if orientation else {})


def turned(angle, axis):
    w, s = math.cos(angle / 2), math.sin(angle / 2)
    return [w, *(s * a for a in axis)]


KNIFE = thing("knife_01", "box", [0.03, 0.1, 0.02], [0.5, 0.615, 0.01])
POLE = thing("pole_01", "box", [0.012, 0.012, 0.2], [0.4, 0.3, 0.1], [0.966, 0, 0.259, 0])
CUP = thing("cup_01", "cylinder", [0.07, 0.07, 0.09], [0.35, -0.3, 0.045])


def page(things, robots=(ARM,), furniture=(TABLE,), edges=()):
    graph = {"nodes": [*furniture], "edges": [*edges]}
    entries = [{"robot_id": id} for id in robots]
    return {"schema_version": "v2.0", "scene_graph": graph, "robots": entries, "objects": [*things]}


class Site:
    """One workspace whose kernel is stopped and started again."""

    def __init__(self, root, robots, drivers=None):
        self.home, self.drivers = Home(root), drivers or BodyCatalogue(seed=4, cameras=False)
        onboard(self.home)
        kinds = [{"robotId": id, "driver": DRIVERS[id], "profileName": PROFILES[DRIVERS[id]]} for id in robots]
        self.home.config_path.write_text(json.dumps({"embodiments": {"mode": "single", "instances": kinds}}))
        self.page = self.home.workspace / "ENVIRONMENT.md"

    def write(self, value):
        self.page.write_text(value if isinstance(value, str) else json.dumps(value))

    def open(self, *, serve=True):
        settings = config.read(self.home.config_path.read_bytes())
        return World.open(self.home.workspace, config=settings, serve=serve, drivers=self.drivers)


@pytest.fixture
def site(tmp_path):
    return lambda *robots: Site(tmp_path, robots)


def said(world, code="BUILT_ELSEWHERE"):
    return [found.found for found in world.kernel.alert.now().values() if found.code == code]


def unlike(world, *robots):
    """The things that the document has elsewhere than the simulation."""
    told = environment.read(world.content("ENVIRONMENT.md")).scene
    return {(id, line["id"]) for id in robots for line in built_elsewhere(told, seen(world, id))}


def seen(world, robot):
    return world.kernel.nodes[robot].driver.observe()


@contextmanager
def running(world):
    """The kernel works in a thread of its own."""
    stop = threading.Event()
    kernel = threading.Thread(target=world.run, kwargs={"stop": stop})
    kernel.start()
    try:
        yield
    finally:
        stop.set()
        world.wake()
        kernel.join(PATIENCE_S)


def carried_out(world, robot, *orders):
    """Whether each order succeeded; the kernel works, and carries them out one after the other."""
    jobs = [world.submit(Order(f"act_{next(NUMBERS)}", robot, op, params)) for op, params in orders]
    return [world.wait_job(job, PATIENCE_S * 4).outcome.ok for job in jobs]


@pytest.mark.parametrize("odd", [KNIFE, POLE], ids=lambda one: one["id"])
def test_what_falls_at_the_start_is_written_and_named(site, odd):
    place = site(ARM)
    words = (("table_01", "on"), ("cube_01", "leans_on"), ("cup_01", "belongs_to"))
    edges = [{"from": odd["id"], "to": to, "relation": word} for to, word in words]
    place.write(page([odd, CUBE, CUP], edges=edges if odd is KNIFE else ()))
    with place.open() as world:
        assert len(said(world)) == 1 and odd["id"] in said(world)[0] and "cube_01" not in said(world)[0]
        assert unlike(world, ARM) == set()
        found = environment.read(world.content("ENVIRONMENT.md")).scene
        assert found.thing("cube_01").position == tuple(CUBE["position"])
        if odd is KNIFE:
            assert [edge.relation for edge in found.relations if edge.subject == "knife_01"] == ["belongs_to"]
    stored = place.page.read_bytes()
    with place.open() as world:
        assert said(world) == [] and place.page.read_bytes() == stored


def test_a_lid_that_falls_shut_is_written_and_named(site):
    place = site(ARM)
    chest = {"id": "chest_01", "type": "container", "shape": "chest", "position": [0.5, 0.2, 0.06],
             "size": [0.2, 0.2, 0.12], "opening": 0.5, "status": "open"}  # fmt: skip
    place.write(page([CUBE], furniture=(TABLE, chest)))
    with place.open() as world:
        assert "chest_01 by 29°" in said(world)[0] and unlike(world, ARM) == set()
        lid = environment.read(world.content("ENVIRONMENT.md")).scene.thing("chest_01")
        assert (lid.status, lid.extra["opening"]) == ("closed", 0.0)


@pytest.mark.parametrize("robots", [(ARM,), (ARM, SECOND), (ARM, CART), (CART,), (DOG,)], ids="+".join)
def test_a_document_that_is_right_stays_as_it_is(site, robots):
    place = site(*robots)
    place.write(page([CUBE, CUP], robots))
    with place.open() as world:
        assert said(world) == []
        settled = environment.read(world.content("ENVIRONMENT.md")).scene
    assert [settled.thing(one["id"]).position for one in (CUBE, CUP)] == [tuple(one["position"]) for one in (CUBE, CUP)]
    stored = place.page.read_bytes()
    with place.open() as world:
        assert said(world) == [] and place.page.read_bytes() == stored


BASKET = {"id": "basket_01", "type": "container", "shape": "basket", "position": [0.4, -0.4, 0.045],
          "size": [0.3, 0.4, 0.09]}  # fmt: skip


def test_a_label_that_its_position_contradicts_is_corrected_by_what_the_body_measured(site):
    """The cube is on the table, whatever a relation and a status say; what stands beside them stays."""
    place = site(ARM)
    edges = [{"from": "cube_01", "to": to, "relation": word} for to, word in (("basket_01", "in"), ("cup_01", "likes"))]
    place.write(page([CUBE | {"status": "in_basket", "note": "mine"}, CUP], furniture=(TABLE, BASKET), edges=edges))
    with place.open() as world:
        found = environment.read(world.content("ENVIRONMENT.md"))
        cube = next(one for one in found.value["objects"] if one["id"] == "cube_01")
        assert cube == CUBE | {"status": "on_table", "note": "mine"}
        assert found.value["scene_graph"]["edges"] == edges[1:] and not found.findings
        place.write(place.page.read_text().replace('"on_table"', '"in_basket"'))
        with running(world):
            assert carried_out(world, ARM, ("pick_up", {"object_id": "cup_01"})) == [True]
        found = environment.read(world.content("ENVIRONMENT.md"))
        assert "in_basket" not in json.dumps(found.value["objects"]) and not found.findings


@pytest.mark.parametrize("robots", [(ARM, SECOND), (ARM, CART), (CART,), (DOG,)], ids="+".join)
def test_whatever_robots_share_the_world_the_document_has_what_fell(site, robots):
    place = site(*robots)
    place.write(page([KNIFE, CUBE], robots))
    with place.open() as world:
        assert len(said(world)) == 1 and "knife_01" in said(world)[0]
        assert unlike(world, *robots) == set()


@pytest.mark.parametrize("robots", [(ARM, SECOND), (ARM, CART)], ids="+".join)
def test_what_one_robot_moved_is_written_where_another_puts_it_back(site, robots):
    place, (one, other) = site(*robots), robots
    place.write(page([CUBE], robots))
    with place.open() as world:
        rig = world.kernel.nodes[ARM].driver.arm.rig

        def moved_by(robot, x):
            rig.simulation.data.qpos[rig.qpos["cube_01"]] = x
            world.kernel.hooks.observe(robot)
            assert unlike(world, *robots) == set()

        for robot, x in ((one, 0.4), (other, 0.6), (one, 0.4), (other, 0.6), (other, 0.5), (one, 0.6)):
            moved_by(robot, x)


def test_an_edit_that_the_simulation_does_not_follow_stays_and_is_named(site):
    place = site(ARM)
    place.write(page([CUBE, CUP]))
    edited = page([CUBE | {"position": [0.3, 0.2, 0.02]}, CUP])
    with place.open() as world:
        rises = ("pick_up", {"object_id": "cup_01"})
        with running(world):
            place.write(edited)
            until(lambda: said(world, "EDITED_ELSEWHERE"))
            assert (
                "cube_01" in said(world, "EDITED_ELSEWHERE")[0] and "cup_01" not in said(world, "EDITED_ELSEWHERE")[0]
            )
            assert carried_out(world, ARM, rises) == [True]
            found = environment.read(world.content("ENVIRONMENT.md")).scene
            assert found.thing("cube_01").position == (0.3, 0.2, 0.02) and found.robot(ARM).holding == "cup_01"
            assert carried_out(world, ARM, ("place", {"target_position": [0.35, -0.3, 0]})) == [True]
            place.write(place.page.read_text().replace("[0.3, 0.2, 0.02]", "[0.5, 0.1, 0.02]"))
            until(lambda: not said(world, "EDITED_ELSEWHERE"))


def test_until_the_next_start_orders_and_answers_go_by_what_was_measured_and_not_by_an_edit(site):
    place = site(ARM)
    basket = {"id": "basket_01", "type": "container", "shape": "basket", "position": [0.4, -0.4, 0.045]}
    furniture = (TABLE, basket | {"size": [0.3, 0.4, 0.09]})
    stated = [{"from": "cube_01", "to": "basket_01", "relation": "in"}]
    place.write(page([CUBE], furniture=furniture))
    edited = page([CUBE | {"position": [0.36, -0.32, 0.03], "status": "in_basket"}], furniture=furniture, edges=stated)

    def asked(world, text):
        return Planner(world.planner_port(ARM)).run(text)

    with place.open() as world, running(world), place.open(serve=False) as client:
        place.write(edited)
        until(lambda: said(world, "EDITED_ELSEWHERE"))
        until(lambda: client.planner_port(ARM).scene().edited)
        for one in (world, client):
            scene = one.planner_port(ARM).scene()
            assert scene.thing("cube_01").position == pytest.approx((0.5, 0.1, 0.02), abs=1e-3)
            told = asked(one, "is the cube in the basket?").reason
            assert told.startswith("no, ") and "ENVIRONMENT.md was edited" in told and "0.36" in told
            emptied = asked(one, "empty the basket")
            assert not emptied.jobs and "empty already" in emptied.reason and "was edited" in emptied.reason
        assert world.kernel.hooks._judged_scene().thing("cube_01").position == pytest.approx((0.5, 0.1, 0.02), abs=1e-3)
        report = asked(client, "make sure the cube is in the basket")
        assert report.ok and len(report.jobs) == 2 and "was edited" in report.reason
        until(lambda: not said(world, "EDITED_ELSEWHERE"))
        place.write(edited)
        until(lambda: said(world, "EDITED_ELSEWHERE"))
    with place.open(serve=False) as client:  # no kernel runs: the document is all that counts
        assert client.planner_port(ARM).scene().thing("cube_01").position == (0.36, -0.32, 0.03)


def test_a_hand_that_no_robot_of_the_workspace_has_holds_nothing(site):
    place = site(ARM)
    place.write(page([CUBE], robots=(), edges=[{"from": "cube_01", "to": "arm_9", "relation": "held_by"}]))
    with place.open(serve=False) as client:
        scene = client.planner_port(ARM).scene()
        assert not scene.relations and [one.object for one in scene.contradicted] == ["arm_9"]


def test_an_edited_drawer_is_as_far_open_as_it_was_measured():
    drawer = Thing("d", shape="drawer", position=(0.6, 0, 0.06), status="closed", extra={"opening": 0.0})
    told = replace(drawer, status="open", extra={"opening": 0.12, "brand": "x"})
    scene = Scene(furniture=(told,))
    found = as_measured(scene, edited_things(scene, Scene(furniture=(drawer,)))).thing("d")
    assert found.status == "closed" and found.extra == {"opening": 0.0, "brand": "x"}


def test_what_the_alert_says_of_an_edit_is_read_back():
    built = Scene(
        objects=(Thing("a", position=(0.5, 0.1, 0.02), orientation=(0.8, 0, 0, 0.6)),),
        furniture=(Thing("d", shape="drawer", position=(0.6, 0, 0.06), status="closed", extra={"opening": 0.0}),),
    )
    told = replace(
        built,
        objects=tuple(replace(one, position=(0.3, 0, 0.02)) for one in built.objects),
        furniture=tuple(replace(one, status="open", extra={"opening": 0.12}) for one in built.furniture),
    )
    edits = edited_things(told, built)
    found = as_measured(told, read_back(edited_text(edits)))
    assert found == as_measured(told, edits) == replace(built, edited=(*told.objects, *told.furniture))


def test_a_robot_that_joins_later_leaves_an_edit_as_it_is(site):
    place = site(ARM)
    place.write(page([KNIFE, CUBE]))
    with place.open() as world:
        driver = world.kernel.nodes[ARM].driver
        there = environment.read(world.content("ENVIRONMENT.md")).scene
        told = replace(there, objects=tuple(replace(one, position=(0.3, 0.2, 0.02)) for one in there.objects))
        driver.world._open.add("another")  # it has the world open, so that this one joins what is there
        driver.open(told)
        assert {one.id: one.position for one in driver.assumed().objects} == {
            one.id: one.position for one in driver.observe().objects
        }


FRANKA = [0.0, 0.0, 0.0, -1.5708, 0.0, 1.5708, 0.785]


def test_an_arm_that_is_not_built_in_its_pose_is_written_as_it_is(site):
    place = site(ARM)
    joints = {f"joint_{i + 1}": v for i, v in enumerate(FRANKA)} | {"finger": 0.04}
    robot = {"robot_id": ARM, "joint_state": joints}
    post = thing("post_01", "box", [0.1, 0.1, 0.7], [0.5545, 0.0, 0.35])
    for things, free in (([CUBE], True), ([post], False)):
        place.write(page(things) | {"robots": [robot]})
        with place.open() as world:
            told = environment.read(world.content("ENVIRONMENT.md")).scene.robot(ARM).joint_state
            truly = seen(world, ARM).robot(ARM).joint_state
        assert (told == joints) is free
        assert all(abs(told[name] - value) < 0.05 for name, value in truly.items())


def test_a_world_of_a_quadruped_is_at_rest_once_it_is_built(site):
    place = site(DOG)
    high = TABLE | {"position": [2.0, 0, 1.5], "size": [0.9, 1.2, 1.5]}
    place.write(page([KNIFE | {"position": [2.0, 0.615, 1.51]}], (DOG,), furniture=(high,)))
    with place.open() as world:
        before = seen(world, DOG).thing("knife_01").position
        world.kernel.nodes[DOG].driver.walker.settle()
        assert seen(world, DOG).thing("knife_01").position == pytest.approx(before, abs=0.001)
        assert before[2] < 0.1 and unlike(world, DOG) == set()


SIM = {"id": "sim", "type": "sim", "backend": "mujoco", "adapter": {"class": "SimTargetAdapter"}}
PICK = {
    "session_id": "a",
    "target_ref": "sim",
    "skill_ref": "rekep_pick",
    "execution": {"params": {"object_id": "cube_01"}},
}


@pytest.mark.parametrize("beside", ["nothing", "a robot without physics"])
def test_a_simulated_target_writes_what_fell_at_once_or_beside_another_robot_with_its_first_session(tmp_path, beside):
    place = Site(tmp_path, () if beside == "nothing" else (PET,), {"still": lambda *given: NullDriver()})
    (place.home.workspace / "TARGETS.md").write_text(json.dumps({"targets": [SIM]}))
    skills = [{"id": "rekep_pick", "runtime": "BuiltinSkillRuntime"}]
    (place.home.workspace / "SKILLS.md").write_text(json.dumps({"skills": skills}))
    place.write(page([KNIFE, CUBE], robots=()))
    with place.open() as world:
        found = environment.read(world.content("ENVIRONMENT.md")).scene
        assert (found.thing("knife_01").position == tuple(KNIFE["position"])) is (beside != "nothing")
        assert "knife_01" in said(world)[0]
    (place.home.workspace / "SESSIONS.md").write_text(json.dumps({"sessions": [PICK]}))
    with place.open() as world:
        world.run(stop=threading.Event(), until_idle=True)
        assert unlike(world, "sim") == set()
        assert environment.read(world.content("ENVIRONMENT.md")).scene.thing("knife_01").position[2] < -0.7


def test_a_target_that_is_enabled_later_is_built_from_the_present_document(tmp_path):
    place = Site(tmp_path, ())
    room = place.home.workspace
    (room / "TARGETS.md").write_text(json.dumps({"targets": [SIM | {"enabled": False}]}))
    (room / "SKILLS.md").write_text(json.dumps({"skills": [{"id": "rekep_pick", "runtime": "BuiltinSkillRuntime"}]}))
    place.write(page([CUBE, CUP], robots=()))
    with place.open() as world:
        place.write(page([CUBE, CUP | {"position": [0.6, 0.3, 0.045]}], robots=()))
        (room / "TARGETS.md").write_text(json.dumps({"targets": [SIM]}))
        (room / "SESSIONS.md").write_text(json.dumps({"sessions": [PICK]}))
        world.run(stop=threading.Event(), until_idle=True)
        assert unlike(world, "sim") == set()
        assert environment.read(world.content("ENVIRONMENT.md")).scene.thing("cup_01").position[0] == 0.6


def odd_things(r):
    """Things of which each may be half off, lean, hang, stand in another, or roll; a few of them."""
    side = r.choice((-1, 1))
    edge = r.uniform(0.56, 0.64) * side
    tilt, about = r.uniform(0.05, 1.2), r.choice(([1, 0, 0], [0, 1, 0]))
    lying = turned(math.pi / 2, [1, 0, 0])
    x, y = r.uniform(0.3, 0.6), r.uniform(-0.45, -0.2)
    kinds = [
        [thing("off", r.choice(("box", "cylinder")), [0.05, 0.05, 0.03], [r.uniform(0.2, 0.7), edge, 0.015])],
        [thing("pole", "box", [0.012, 0.012, 0.2], [0.4, 0.35, 0.1], turned(tilt, about))],
        [thing("plank", "box", [0.25, 0.06, 0.01], [x, 0.4, r.uniform(0.03, 0.1)], turned(tilt, [0, 1, 0]))],
        [
            thing("roller", "cylinder", [0.04, 0.04, 0.1], [x, y, 0.04], lying),
            thing("wedge", "box", [0.05, 0.05, 0.02], [x + r.uniform(0.01, 0.04), y, 0.01]),
        ],
        [
            thing("ball", "sphere", [0.05] * 3, [x, y, 0.04]),
            thing("step", "box", [0.06, 0.06, r.uniform(0.01, 0.03)], [x + r.uniform(0.0, 0.03), y, 0.01]),
        ],
        [
            thing("low", "box", [0.05, 0.05, 0.04], [0.3, y, 0.02]),
            thing("high", "box", [0.07, 0.05, 0.03], [0.3 + r.uniform(-0.05, 0.05), y, r.uniform(0.04, 0.07)]),
        ],
    ]
    names, found = set(), []
    for things in r.sample(kinds, r.randint(1, 3)):
        if not names & {one["id"] for one in things}:
            found += things
    return found


SCENES = [(n, robots) for n in range(60) for robots in ((ARM,), (ARM, SECOND), (ARM, CART), (DOG,))]


@pytest.mark.slice(60)
@pytest.mark.parametrize(("n", "robots"), SCENES, ids=lambda one: str(one) if isinstance(one, int) else "+".join(one))
def test_the_document_is_as_the_world_after_a_start_and_after_each_order(site, n, robots):
    r, place = random.Random(n), site(*robots)
    things = [CUBE, *odd_things(r)]
    place.write(page(things, robots))
    told = environment.read(place.page.read_bytes()).scene
    goal = [r.uniform(0.4, 0.55), r.uniform(-0.1, 0.2), 0.0]
    orders = [("pick_up", {"object_id": "cube_01"}), ("place", {"target_position": goal})]
    if robots == (DOG,):
        orders = [("move_to", {"target_pose": [-1.2, -1.0, 0.0]})]
    with place.open() as world:
        fell = {line["id"] for line in built_elsewhere(told, seen(world, robots[0]))}
        assert unlike(world, *robots) == set()
        named = " ".join(said(world))
        assert {id for id in fell if id not in named} == set()
        with running(world):
            for order in orders:
                carried_out(world, robots[0], order)
                assert unlike(world, *robots) == set(), order
            if CART in robots:
                carried_out(world, CART, ("move_to", {"target_pose": [-0.9, 0.9, 0.0]}))
                assert unlike(world, *robots) == set()
        assert said(world, "EDITED_ELSEWHERE") == []
    with place.open() as world:
        assert unlike(world, *robots) == set()
    stored = place.page.read_bytes()
    with place.open() as world:
        assert unlike(world, *robots) == set() and place.page.read_bytes() == stored
