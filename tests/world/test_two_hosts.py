"""A fleet on NATS that several processes serve: each its robots, one the shared workspace; another stands by."""

import json
import threading

import pytest

from worldfs.base.clock import stamp
from worldfs.base.errors import BadInput, Busy
from worldfs.base.model import Cause, JobState, JobStatus, RobotState, Scene
from worldfs.base.stop_signal import StopSignal
from worldfs.fleet.mission import MissionOrder, MissionState
from worldfs.formats import orchestrator
from worldfs.interfaces.cli.status_command import status_lines
from worldfs.interfaces.cli.status_diff import diff_status, event_line
from worldfs.interfaces.cli.top.top_rows import top_view
from worldfs.plugins.nats_store.nats_store import NatsStore
from worldfs.runtime.instruction_turns import InstructionTurn
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import until
from worldfs.testing.workspace_fixture import order
from worldfs.world.fleet_share import FleetShare, read_share
from worldfs.world.home import Home
from worldfs.world.instruction import Instruction
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

    profile = "go2_edu"

    def __init__(self, path, address):
        self.path, self.address, self.worlds, self.moved = path, address, [], []
        robots = [{"robotId": id, "driver": "body", "profileName": self.profile, "workspace": id} for id in ROBOTS]
        value = {"embodiments": {"mode": "fleet", "sharedWorkspace": "shared", "instances": robots}}
        (path / "config.json").write_text(json.dumps(value))
        self.config = Home(path).config({})

    def body(self, context):
        return Cart(context, self.moved)

    def open(self, share, *, threads=False):
        config = share.of(self.config)
        shared, robots = self.stores(config)
        try:
            world = World.open(
                self.path / "shared", config=config, store=shared, robots=robots, serve=True, share=share,
                drivers={"body": self.body}, threads=threads,
            )  # fmt: skip
        except BaseException:
            for store in (shared, *robots.values()):
                store.close()
            raise
        self.worlds.append(world)
        return world

    def stores(self, config):
        bucket = self.address.bucket
        robots = {item.robot_id: NatsStore(self.address._replace(bucket=f"{bucket}-{item.robot_id}"))
                  for item in config.instances}  # fmt: skip
        return NatsStore(self.address), robots

    def command(self):
        """The world as a command sees it that begins now, of a host that serves nothing; it must be closed."""
        shared, robots = self.stores(self.config)
        return World.open(self.path / "shared", config=self.config, store=shared, robots=robots, drivers={})

    def cut_off(self, world):
        """It renews its leases no more, and its process lives."""
        if world in self.worlds:
            self.worlds.remove(world)
        for lease in world.leases._served.values():
            world.store.loop_call(lease._keeper.cancel)

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
    hosts = Hosts(tmp_path, nats_address._replace(ttl_s=60.0))  # a busy machine may be late to renew a shorter lease
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
    assert hosts.moved == [("by_hand", two.leases.epoch_of("cart_2"))]
    hub.missions.add(MissionOrder("m1", "go to (1, 1)", robot="cart_1"))
    hosts.until(lambda: hub.missions.load("m1").status.state.ended)
    assert hub.missions.load("m1").status.state is MissionState.SUCCEEDED, hub.missions.load("m1").status
    assert hosts.moved[-1][1] == one.leases.epoch_of("cart_1")


def test_a_mission_waits_for_the_first_host_of_robots(hosts):
    """The hub was started first: it has no profile by which an instruction could be read."""
    hub = hosts.open(HUB)
    for id, robot in (("m1", ""), ("m2", "cart_1")):
        hub.missions.add(MissionOrder(id, "go to (1, 1)", robot=robot))
    for _ in range(3):
        hosts.tick()
    assert [hub.missions.load(id).status.state for id in ("m1", "m2")] == [MissionState.QUEUED] * 2
    hosts.open(carts("cart_1"))
    hosts.until(lambda: all(hub.missions.load(id).status.state.ended for id in ("m1", "m2")))
    assert hub.missions.load("m1").status.state is MissionState.SUCCEEDED, hub.missions.load("m1").status
    assert hub.missions.load("m2").status.state is MissionState.SUCCEEDED, hub.missions.load("m2").status


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
    before = first.leases.epoch_of("cart_1")
    hosts.die(first)
    second = hosts.open(carts("cart_1"))
    assert second.leases.epoch_of("cart_1") > before
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


@pytest.mark.proof
def test_a_robot_whose_process_renews_no_lease_is_shown_as_lost_and_again_when_it_is_back(hosts):
    hosts.address = hosts.address._replace(ttl_s=8.0)
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
    lease = one.leases._served["cart_1"]
    hosts.cut_off(one)
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


def test_of_a_lost_robot_the_status_says_since_when_and_what_it_was_doing_not_that_it_does_it(hosts):
    hosts.address = hosts.address._replace(ttl_s=8.0)
    hub, one, two = hosts.open(HUB), hosts.open(carts("cart_1")), hosts.open(carts("cart_2"))
    turn = InstructionTurn(hub.store, "cart_1", "go to the bay", hub.clock)  # of a person who goes on waiting
    assert turn.try_acquire() is None
    hub.submit(order("step", "cart_1"))
    turn.set_job("step")
    one.jobs.write_status("step", JobStatus(JobState.RUNNING, 1))

    def node(status):
        return next(node for node in status["nodes"] if node["id"] == "cart_1")

    def said(status):
        return "\n".join(line for line, _ in status_lines(status) if "cart_1" in line)

    before = hub.status()
    assert node(before)["lost"] is None and node(before)["instruction"]["text"] == "go to the bay"
    assert "doing “go to the bay” (process" in said(before)
    lease = one.leases._served["cart_1"].name
    hosts.cut_off(one)
    hosts.until(lambda: node(hub.status())["state"] == "lost")
    hosts.until(lambda: "| lost, last seen" in hub.store.get("ROBOTS.md").data.decode())
    seen = stamp(hub.store.lease(lease).heard())
    for ended in (False, True):  # whether the command of that person still waits
        with hosts.command() as late:
            for status in (hub.status(), late.status()):  # `late` began after the loss
                found = node(status)
                assert found["lost"] == {"last_seen": seen, "was_doing": {"text": "go to the bay", "job": "step"}}
                assert found["instruction"] is None and found["state"] == "lost"
                text = said(status)
                assert f"lost, last seen {seen}" in text and "was doing “go to the bay” (job step)" in text
                event = next(e for e in diff_status(before, status) if e.get("id") == "cart_1")
                row = next(row for row in top_view(status, ()).robots if row.id == "cart_1")
                for shown in (event_line(event)[0], row.text):
                    assert f"last seen {seen}" in shown and "was doing “go to the bay”" in shown
                row = next(row for row in top_view(status, ()).queue if row.id == "step")
                assert "running when its robot was lost" in row.text
                assert any("running when its robot was lost" in line for line, _ in status_lines(status))
                assert "cart_2" in {n["id"] for n in status["nodes"] if n["lost"] is None}
        if not ended:
            turn.release()
    one.abandon()
    hosts.close(two)


@pytest.mark.proof
def test_an_instruction_says_that_it_waits_for_a_lost_robot_and_goes_on_when_it_is_back(hosts):
    hosts.address = hosts.address._replace(ttl_s=8.0)
    hub, one = hosts.open(HUB), hosts.open(carts("cart_1"))
    turn = InstructionTurn(hub.store, "cart_1", "go to the bay", hub.clock)
    assert turn.try_acquire() is None
    world, stop, lines, ended = hosts.command(), StopSignal(), [], []

    def do():
        with Instruction(world, "cart_1", "go to (1, 1)", stop, lines.append) as instruction:
            assert instruction.start() == ""
            port = world.planner_port("cart_1", lines.append, instruction)
            ended.append(port.wait(port.submit(order("step", "cart_1")), stop))

    def said(words):
        return [line for line in lines if words in line]

    thread = threading.Thread(target=do, daemon=True)
    thread.start()
    try:
        hosts.until(lambda: said("waiting: cart_1 is doing “go to the bay”"))
        hosts.cut_off(one)
        hosts.until(lambda: said("waiting for cart_1: lost, last seen 20"))
        turn.release()
        hosts.until(lambda: hub.jobs.known("step") and len(said("lost, last seen 20")) == 2)
        assert not ended and not said("served again")
        one.abandon()
        hosts.open(carts("cart_1"))
        hosts.until(lambda: ended)
        thread.join()
    finally:
        world.close()  # a thread that still waits ends with it
    assert ended[0].state is JobState.SUCCEEDED and len(said("cart_1 is served again")) == 1, lines


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
