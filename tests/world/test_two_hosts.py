"""A fleet on NATS that several processes serve: each its robots, one the shared workspace; another stands by."""

import json

import pytest

from worldfs.base.errors import BadInput, Busy
from worldfs.base.model import Cause, JobState, RobotState, Scene
from worldfs.fleet.mission import MissionOrder, MissionState
from worldfs.formats import orchestrator
from worldfs.plugins.nats_store.nats_store import NatsStore
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import until
from worldfs.testing.workspace_fixture import order
from worldfs.world.fleet_share import FleetShare, read_share
from worldfs.world.home import Home
from worldfs.world.world import World

ROBOTS = ("cart_1", "cart_2")
HUB = FleetShare(True, frozenset())


class Cart(NullDriver):
    def __init__(self, context, moved):
        super().__init__()
        self.robot, self.moved, self.pose = context.robot_id, moved, (0.0, 0.0, 0.0)

    def observe(self):
        return Scene((RobotState(self.robot, self.pose),))

    def execute(self, order, run):
        self.moved.append((order.id, run.epoch))
        self.pose = tuple(order.params.get("target_pose", self.pose))
        return super().execute(order, run)


class Hosts:
    """Worlds of one fleet, each with stores of its own; `tick` lets all of them do what is due."""

    def __init__(self, path, address):
        self.path, self.address, self.worlds, self.moved = path, address, [], []
        robots = [{"robotId": id, "driver": "cart", "profileName": "go2_edu", "workspace": id} for id in ROBOTS]
        value = {"embodiments": {"mode": "fleet", "sharedWorkspace": "shared", "instances": robots}}
        (path / "config.json").write_text(json.dumps(value))
        self.config = Home(path).config({})

    def open(self, share):
        config = share.of(self.config)
        bucket = self.address.bucket
        robots = {item.robot_id: NatsStore(self.address._replace(bucket=f"{bucket}-{item.robot_id}"))
                  for item in config.instances}  # fmt: skip
        shared = NatsStore(self.address)
        try:
            world = World.open(
                self.path / "shared", config=config, store=shared, robots=robots, serve=True, share=share,
                drivers={"cart": lambda context: Cart(context, self.moved)}, threads=False,
            )  # fmt: skip
        except BaseException:
            for store in (shared, *robots.values()):
                store.close()
            raise
        self.worlds.append(world)
        return world

    def tick(self):
        for world in self.worlds:
            world.tick()
            if world.orchestration is not None:
                world.orchestration.loop.step()

    def close(self, world):
        self.worlds.remove(world)
        world.close()

    def die(self, world):
        """As a killed host does: nothing more is written, and its leases are free at once, being of this machine."""
        self.worlds.remove(world)
        world.abandon()

    def until(self, holds):
        def look():
            self.tick()
            return holds()

        return until(look)


@pytest.fixture
def hosts(tmp_path, nats_address):
    hosts = Hosts(tmp_path, nats_address)
    yield hosts
    for world in list(hosts.worlds):
        hosts.close(world)


def carts(*robots):
    return FleetShare(False, frozenset(robots))


def test_each_host_serves_its_robots_and_the_hub_gives_them_missions(hosts):
    hub, one, two = hosts.open(HUB), hosts.open(carts("cart_1")), hosts.open(carts("cart_2"))
    assert [*one.kernel.nodes] == ["cart_1"] and [*two.kernel.nodes] == ["cart_2"] and not hub.kernel.nodes
    hub.submit(order("by_hand", "cart_2"))
    hosts.until(lambda: hub.jobs.ended("by_hand"))
    assert hub.jobs.load("by_hand").status.state is JobState.SUCCEEDED
    assert hosts.moved == [("by_hand", two.epoch_of("cart_2"))]
    hub.missions.add(MissionOrder("m1", "go to (1, 1)", robot="cart_1"))
    hosts.until(lambda: hub.missions.load("m1").status.state.ended)
    assert hub.missions.load("m1").status.state is MissionState.SUCCEEDED, hub.missions.load("m1").status
    assert hosts.moved[-1][1] == one.epoch_of("cart_1")


def test_nobody_serves_what_another_serves(hosts):
    hosts.open(HUB)
    hosts.open(carts("cart_1"))
    for share in (HUB, carts("cart_1"), carts("cart_1", "cart_2"), FleetShare()):
        with pytest.raises(Busy):
            hosts.open(share)
    hosts.open(carts("cart_2"))


def test_a_job_waits_for_one_at_another_host(hosts):
    hub, two = hosts.open(HUB), hosts.open(carts("cart_2"))
    hub.submit(order("first", "cart_1"))
    hub.submit(order("then", "cart_2", depends_on=("first",)))
    two.tick()
    assert hosts.moved == []
    hosts.open(carts("cart_1"))
    hosts.until(lambda: two.jobs.ended("then"))
    assert [id for id, _ in hosts.moved] == ["first", "then"]


def test_a_host_that_dies_in_a_job_is_followed_by_one_with_a_higher_epoch_and_the_job_is_lost(hosts):
    hub, first = hosts.open(HUB), hosts.open(carts("cart_1"))
    hub.submit(order("one", "cart_1"))
    first.jobs.write_status("one", first.jobs.load("one").status.__class__(JobState.RUNNING, 1))
    before = first.epoch_of("cart_1")
    hosts.die(first)
    second = hosts.open(carts("cart_1"))
    assert second.epoch_of("cart_1") > before
    assert hub.jobs.load("one").status.outcome.cause is Cause.LOST and hosts.moved == []


def test_a_new_hub_goes_on_with_a_mission_whose_order_is_still_at_work(hosts):
    hub, one = hosts.open(HUB), hosts.open(carts("cart_1"))
    hub.missions.add(MissionOrder("m1", "go to (1, 1)", robot="cart_1"))

    def submitted():
        hub.orchestration.loop.step()
        return hub.missions.load("m1").status.job and hub.jobs.open_ids()

    until(submitted)  # and the robot's host has not looked yet
    hosts.die(hub)
    again = hosts.open(HUB)
    assert again.missions.load("m1").status.state is MissionState.RUNNING
    hosts.until(lambda: again.missions.load("m1").status.state.ended)
    assert again.missions.load("m1").status.state is MissionState.SUCCEEDED
    assert one.jobs.load(hosts.moved[0][0]).status.state is JobState.SUCCEEDED


def test_a_robot_whose_process_renews_no_lease_is_shown_as_lost_and_again_when_it_is_back(hosts):
    hub, one, two = hosts.open(HUB), hosts.open(carts("cart_1")), hosts.open(carts("cart_2"))
    hub.missions.add(MissionOrder("m1", "go to (1, 1)", robot="cart_2"))
    hosts.until(lambda: hub.missions.load("m1").status.state.ended)

    def states():
        return {node["id"]: node["state"] for node in hub.status()["nodes"]}

    def page():
        stored = hub.store.get("ROBOTS.md")
        return stored.data.decode() if stored is not None else ""

    def pool():
        return {r.robot: r for r in orchestrator.read(hub.store.get("ORCHESTRATOR.md").data).dashboard.robots}

    assert states() == dict.fromkeys(ROBOTS, "idle") and "lost" not in page()
    lease = one._served["cart_1"]
    one.store.loop_call(lease._keeper.cancel)  # it stands still, and its process lives
    hosts.worlds.remove(one)
    heard = hub.store.lease(lease.name).heard()
    hosts.until(lambda: states()["cart_1"] == "lost")
    hosts.until(lambda: "| lost, last seen" in page())
    hosts.until(lambda: pool()["cart_1"].status == "offline")
    assert pool()["cart_1"].heartbeat == hub.store.lease(lease.name).heard().strftime("%H:%M:%S") and heard
    assert states()["cart_2"] == "idle" and pool()["cart_2"].status == "idle"
    hosts.until(lambda: "ROBOT_LOST" in {finding.code for finding in hub.kernel.alert.now().values()})
    one.abandon()
    hosts.open(carts("cart_1"))
    hosts.until(lambda: "lost" not in page() and pool()["cart_1"].status == "idle")
    assert states()["cart_1"] == "idle"
    assert "ROBOT_LOST" not in {finding.code for finding in hub.kernel.alert.now().values()}
    hosts.close(two)


@pytest.mark.slice(2)
@pytest.mark.parametrize("text", ["go to (1, 1)", "go to (1, 1), then go to (2, 2)"])
def test_a_new_hub_sends_no_robot_where_it_has_been(hosts, text):
    """The hub is killed between the end of an order and what it would have written next."""
    hub, one = hosts.open(HUB), hosts.open(carts("cart_1"))
    hub.missions.add(MissionOrder("m1", text, robot="cart_1"))

    def reached():
        if not hosts.moved:
            hub.orchestration.loop.step()
        one.tick()
        return hosts.moved and one.jobs.ended(hosts.moved[0][0])

    until(reached)
    hosts.die(hub)
    again = hosts.open(HUB)
    if "then" not in text:  # it has ended though nobody serves its robot
        hosts.die(one)
        again.orchestration.loop.step()
    hosts.until(lambda: again.missions.load("m1").status.state.ended)
    assert again.missions.load("m1").status.state is MissionState.SUCCEEDED, again.missions.load("m1").status
    assert len(hosts.moved) == text.count("go"), hosts.moved


def test_what_cannot_be_served_is_refused(hosts):
    with pytest.raises(BadInput, match="cart_3"):
        read_share(["cart_3"], hosts.config)
    with pytest.raises(BadInput):
        read_share(["cart_1"], hosts.config, hub=True)
    with pytest.raises(BadInput):
        read_share([], hosts.config._replace(mode="single"), hub=True)
