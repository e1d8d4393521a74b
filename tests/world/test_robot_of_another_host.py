"""A robot that another host serves is removed: its job ends there, or it is said that nothing is known of it."""

import json
import threading
from pathlib import Path

import pytest

from worldfs.access.roles import OPERATOR
from worldfs.base.messages import coded, render
from worldfs.base.model import Cause, JobState, Outcome
from worldfs.base.unknown_effect import STOP_CONFIRMED
from worldfs.fleet.mission import MissionOrder, MissionState
from worldfs.fleet.mission_reservations import holder_of
from worldfs.interfaces.cli.main import main
from worldfs.storage import engine_record
from worldfs.testing.waiting import until
from worldfs.testing.workspace_fixture import order
from worldfs.world.home import Home
from worldfs.world.robot_registry import remove_robot

from .test_two_hosts import HUB, Cart, Hosts, carts


class LongWay(Cart):
    """Every motion lasts until it is stopped; one that is deaf is not. It says whether it stands then."""

    def __init__(self, context, hosts):
        super().__init__(context, hosts.moved)
        self.hosts = hosts

    def execute(self, order, run):
        self.hosts.driving.append(order.id)
        never = threading.Event()
        while not (run.stop and not self.hosts.deaf) and not self.hosts.over.is_set():
            self.hosts.asked |= bool(run.stop)
            run.clock.wait(never, 0.002)
        self.hosts.halted.append(order.id)
        evidence = {STOP_CONFIRMED: self.hosts.stands}
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "stopped", evidence=evidence)


class Apart(Hosts):
    """Each host has a home and a configuration of its own; only the store is shared."""

    def __init__(self, path, address):
        super().__init__(path, address)
        self.driving, self.halted, self.deaf, self.over, self.stops = [], [], False, threading.Event(), []
        self.asked, self.stands = False, True
        self.of_cart = path / "cart"
        (self.of_cart / "shared").mkdir(parents=True)
        (path / "shared").mkdir()
        (self.of_cart / "config.json").write_bytes((path / "config.json").read_bytes())
        (path / "config.json").chmod(0o600)

    def body(self, context):
        return LongWay(context, self)

    def serve(self, share, path):
        """By threads of its own, until the test has ended."""
        mine, self.path = self.path, path
        self.config = Home(path).config({})
        world, stop = self.open(share, threads=True), threading.Event()
        self.path = mine
        self.worlds.remove(world)
        thread = threading.Thread(target=world.run, kwargs={"stop": stop})
        thread.start()
        self.stops.append((stop, thread, world))
        return world

    def end(self):
        self.over.set()
        for stop, thread, world in self.stops:
            stop.set()
            world.kernel.wake()
            thread.join()
            world.close()


@pytest.fixture
def hosts(tmp_path, nats_address, monkeypatch):
    address = nats_address._replace(ttl_s=60.0)
    text = f"{address.servers.replace('://', f'://{address.token}@')}/{address.bucket}?ttl=60"
    monkeypatch.setattr(engine_record, "SCHEMES", (*engine_record.SCHEMES, "nats"))
    monkeypatch.setenv(engine_record.VARIABLE, text)
    hosts = Apart(tmp_path, address)
    yield hosts
    hosts.end()


def test_the_motion_at_another_host_is_stopped_before_the_command_says_that_it_has_ended(hosts):
    hub, cart = hosts.serve(HUB, hosts.path), hosts.serve(carts("cart_1"), hosts.of_cart)
    hub.missions.add(MissionOrder("m1", "go to (1, 1)", robot="cart_1"))
    until(lambda: hosts.driving)
    hub.submit(order("waits", "cart_1"))
    until(lambda: "waits" in cart.jobs.open_ids())
    gone = remove_robot(Home(hosts.path), "cart_1", cancel=True)
    assert hosts.halted == hosts.driving and len(hosts.driving) == 1
    assert set(gone.cancelled) == {*hosts.driving, "waits"} and gone.unended == ()
    for id in gone.cancelled:
        ended = hub.jobs.load(id).status
        assert ended.state is JobState.FAILED and ended.outcome.cause is Cause.CANCELLED
    until(lambda: hub.missions.load("m1").status.state.ended)
    assert hub.missions.load("m1").status.state is not MissionState.SUCCEEDED
    assert hosts.halted == hosts.driving and len(hosts.driving) == 1  # it was not sent on


def test_of_a_host_that_does_not_end_its_job_the_command_says_what_is_not_known(hosts, capsys, monkeypatch):
    hosts.deaf = True
    hub = hosts.serve(HUB, hosts.path)
    hosts.serve(carts("cart_1"), hosts.of_cart)
    hub.submit(order("drives", "cart_1"))
    until(lambda: hosts.driving)
    monkeypatch.setattr(remove_robot, "__kwdefaults__", {**remove_robot.__kwdefaults__, "wait_s": 0.5})
    monkeypatch.setenv("PAOS_HOME", str(hosts.path))
    assert main(["robot", "remove", "cart_1", "--cancel-jobs"]) == 1
    said = capsys.readouterr()
    assert "drives" in said.err and "cart_1 may still move" in said.err and "hardware stop" in said.err
    assert "end as cancelled" not in said.out
    listed = json.loads((Path(hosts.path) / "config.json").read_text())["embodiments"]["instances"]
    assert [item["robotId"] for item in listed] == ["cart_2"]
    assert hub.jobs.load("drives").status.state is JobState.RUNNING  # nobody ends what another host has at work


def test_a_removed_robot_of_another_host_whose_job_has_ended_may_still_move(hosts):
    hosts.stands = False
    hub = hosts.serve(HUB, hosts.path)
    hosts.serve(carts("cart_1"), hosts.of_cart)
    hub.submit(order("drives", "cart_1"))
    until(lambda: hosts.driving)
    gone = remove_robot(Home(hosts.path), "cart_1", cancel=True)
    assert gone.cancelled == gone.unconfirmed == ("drives",) and gone.unended == ()


@pytest.mark.slice(5)
@pytest.mark.parametrize("stands", [True, False])
@pytest.mark.parametrize("wish", ["cancel", "pause", "stop"])
def test_a_mission_of_an_earlier_hub_is_given_up_once_its_robot_has_stopped(hosts, wish, stands):
    """`stands`: whether its robot confirms then that it stands. Before that the mission keeps place and way."""
    hosts.serve(carts("cart_1"), hosts.of_cart)
    hub = hosts.open(HUB)
    hub.missions.add(MissionOrder("m1", "go to (1, 1)", robot="cart_1"))
    hosts.until(lambda: hosts.driving)
    hosts.die(hub)
    hosts.stands, hosts.deaf = stands, wish != "stop"
    again = hosts.open(HUB)
    reserved, missions = again.orchestration.loop.reservations, again.missions
    held = reserved.held("m1")
    assert held
    if wish == "stop":
        again.stop("cart_1", OPERATOR)
    else:
        missions.request("m1", wish, "ana")
        hosts.until(lambda: hosts.asked)
        for _ in range(10):
            hosts.tick()
        assert missions.load("m1").status.state is MissionState.RUNNING and reserved.held("m1") == held
        hosts.deaf = False
    hosts.until(lambda: missions.load("m1").status.state is not MissionState.RUNNING)
    said = missions.load("m1").status
    if stands:
        assert said.state is (MissionState.CANCELLED if wish == "cancel" else MissionState.PAUSED), said
        assert not reserved.keeps("cart_1")
        return
    assert said.state is MissionState.FAILED and "not confirmed that cart_1 stands" in render(said.reason, "en"), said
    holders = holder_of("cart_1"), coded("mission.robot_keeps", robot="cart_1")
    assert reserved.keeps("cart_1") and set(held) <= {item for one in holders for item in reserved.table.held(one)}
    missions.request("m1", "release", "ana")
    hosts.until(lambda: not reserved.keeps("cart_1"))


def test_a_mission_whose_robot_was_stopped_while_no_hub_ran_is_paused(hosts):
    cart, hub = hosts.serve(carts("cart_1"), hosts.of_cart), hosts.open(HUB)
    hub.missions.add(MissionOrder("m1", "go to (1, 1)", robot="cart_1"))
    hosts.until(lambda: hosts.driving)
    hosts.die(hub)
    cart.stop("cart_1", OPERATOR)
    until(lambda: cart.jobs.ended(hosts.driving[0]))
    again = hosts.open(HUB)
    hosts.tick()
    assert again.missions.load("m1").status.state is MissionState.PAUSED, again.missions.load("m1").status
