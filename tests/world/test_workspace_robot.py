"""A robot of a fleet with a workspace of its own: it goes on when it is cut off, and does nothing twice."""

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.errors import NotFound, StorageError
from worldfs.base.model import Cause, JobState, Outcome
from worldfs.base.stop_signal import StopSignal
from worldfs.fleet.mission import MissionOrder, MissionState
from worldfs.formats import environment
from worldfs.runtime.job_codec import order_line
from worldfs.runtime.job_store import job_key
from worldfs.storage.lease import LEASE_LOST
from worldfs.testing.null_driver import NullDriver, _seen
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.testing.workspace_fixture import APPLE, order, steered_profile
from worldfs.world.home import Home
from worldfs.world.home_world import open_home_world
from worldfs.world.world import World

pytestmark = pytest.mark.usefixtures("nats_server")  # skipped by name where there is none

APPLE_AT = tuple(APPLE["position"])
SEEN = {"apple_01": {"position": [0.1, 0.2, 0.4]}}


class HeldArm(NullDriver):
    """An order with `held` goes on until the test lets it go."""

    def __init__(self):
        super().__init__()
        self.go, self.stops, self.holds_all = threading.Event(), 0, False

    def execute(self, order, run):
        if not (order.params.get("held") or self.holds_all):
            return super().execute(order, run)
        self.executed.append(order)
        while not run.stop and not self.go.wait(0.01):
            pass
        if run.stop:
            return Outcome.failure(Cause(run.stop), "CANCELLED", f"stopped: {run.stop}")
        self.scene = _seen(self.scene, order.params.get("see", {}))
        return Outcome.success("done", moved=order.id)

    def stop(self):
        self.stops += 1

    def starts(self, id):
        """How often an order of the fleet was begun, or one of the robot's own."""
        return sum(one.id.endswith(id) for one in self.executed)


class ShiftedClock(SystemClock):
    """The machine's, and so many seconds more."""

    shift = 0.0

    def monotonic(self):
        return super().monotonic() + self.shift


class Served:
    """A world whose kernel runs in a thread."""

    def __init__(self, world):
        self.world, self._stop = world, threading.Event()
        self._thread = threading.Thread(target=world.run, kwargs={"stop": self._stop}, daemon=True)
        self._thread.start()

    def close(self):
        self._end()
        self.world.close()

    def abandon(self):
        """As a killed process does: nothing is written any more."""
        self._end()
        self.world.abandon()

    def _end(self):
        self._stop.set()
        self.world.wake()
        self._thread.join(PATIENCE_S)


class Fleet:
    """The robot `arm_1` with its own kernel on its own server, and a fleet of it and `arm_2` on the disk of the hub."""

    def __init__(self, path, servers):
        self.path, self.servers, self.arm, self.arm_2 = path, servers, HeldArm(), NullDriver()
        self.served, self.drivers, self.clock = [], [], ShiftedClock()  # of the hub
        shared = path / "home" / "shared"
        shared.mkdir(parents=True)
        (shared / "ENVIRONMENT.md").write_text(page("arm_2"))
        profiles = path / "home" / "hal" / "profiles"
        profiles.mkdir(parents=True)
        (profiles / "franka_panda.md").write_bytes(steered_profile())
        entry = {"robotId": "arm_1", "driver": "workspace", "store": servers.address("hub", "arm")}
        robots = [entry, {"robotId": "arm_2", "driver": "body"}]
        self.robots = [{**one, "profileName": "franka_panda", "workspace": one["robotId"]} for one in robots]
        self.write_config(self.robots)

    def write_config(self, robots):
        value = {"embodiments": {"mode": "fleet", "sharedWorkspace": "shared", "instances": robots}}
        (self.path / "home" / "config.json").write_text(json.dumps(value))

    def open_robot(self):
        """Its own workspace, served at the robot."""
        store = until(lambda: self.servers.store("arm", "arm"))
        if store.get("ENVIRONMENT.md") is None:
            store.put("ENVIRONMENT.md", page("arm_1").encode())
            store.put("EMBODIED.md", steered_profile())
        world = World.open(
            self.path / "robot", store=store, serve=True, drivers={"simulation": lambda context: self.arm}
        )
        return self._serve(world)

    def open_hub(self):
        return self._serve(self.hub())

    def hub(self, engine=""):
        """A world that serves, whose kernel does not run yet."""
        home = Home(self.path / "home")
        config, drivers = home.config({}), {"body": lambda context: self.arm_2}
        world = open_home_world(
            home.root(config),
            config,
            agents=self.path / "agents",
            clock=self.clock,
            serve=True,
            engine=engine,
            drivers=drivers,
        )
        self.drivers.append(world.kernel.nodes["arm_1"].driver)
        return world

    @contextmanager
    def hub_process(self):
        """`paos up` of the hub with `arm_1` alone, which can be killed; and a reader of its workspace."""
        self.write_config(self.robots[:1])
        command = [sys.executable, "-m", "worldfs.interfaces.cli.main", "up", "--no-cameras"]
        environ = {**os.environ, "PAOS_HOME": str(self.path / "home")}
        home = Home(self.path / "home")
        reader = open_home_world(home.root(home.config({})), home.config({}), agents=self.path / "agents")
        with (self.path / "log").open("a") as log:
            process = subprocess.Popen(command, env=environ, stdout=log, stderr=log)
        try:
            yield reader
        finally:
            process.kill()
            process.wait()
            reader.close()
            self.write_config(self.robots)

    def _serve(self, world):
        self.served.append(Served(world))
        return world

    def close(self):
        for one in reversed(self.served):
            one.close()
        for driver in self.drivers:  # of kernels that were killed, too: a process would take their threads with it
            driver.close()
            driver._link._thread.join(PATIENCE_S)


def page(robot):
    text = json.dumps({"robots": [{"robot_id": robot, "pose": [0.0, 0.0, 0.0]}], "objects": [APPLE]})
    return f"# World\n\n```json\n{text}\n```\n"


@pytest.fixture
def servers(tmp_path, monkeypatch):
    from worldfs.plugins.nats_store import jetstream_connection
    from worldfs.testing.leaf_servers import LeafServers

    monkeypatch.setattr(jetstream_connection, "PATIENCE_S", 2.0)
    servers = LeafServers(tmp_path)
    servers.start("hub")
    servers.start("arm")
    yield servers
    servers.close()


@pytest.fixture
def fleet(tmp_path, servers):
    fleet = Fleet(tmp_path, servers)
    yield fleet
    fleet.close()


def ended(world, id):
    """The status of a job once it has ended."""

    def look():
        try:
            status = world.jobs.load(id).status
        except NotFound:
            return None
        return status if status.state.terminal else None

    return until(look)


def alerts(world, code):
    """The texts of the alerts of that code."""
    stored = world.store.get(".paos/alerts.json")
    return [item["found"] for item in json.loads(stored.data).values() if item["code"] == code] if stored else []


def apple(world):
    scene = environment.read(world.content("ENVIRONMENT.md")).scene
    return scene.thing("apple_01").position


def test_an_order_is_a_job_of_the_robots_own_workspace_and_ends_with_what_it_measured(fleet):
    robot = fleet.open_robot()
    hub = fleet.open_hub()
    hub.submit(order("one", "arm_1", params={"held": True, "see": SEEN}))
    fleet.arm.go.set()
    status = ended(hub, "one")
    assert status.state is JobState.SUCCEEDED
    job = status.outcome.evidence["robot_job"]
    assert status.outcome.evidence["moved"] == job and robot.jobs.load(job).status.state is JobState.SUCCEEDED
    assert fleet.arm.starts("one") == 1
    until(lambda: apple(hub) == (0.1, 0.2, 0.4))  # what the robot observed is in the fleet's document
    hub.submit(order("two", "arm_1", params={"fail": "the gripper is stuck"}))
    status = ended(hub, "two")
    assert (status.outcome.cause, status.outcome.message) == (Cause.ERROR, "the gripper is stuck")
    robot.store.put("ENVIRONMENT.md", b"```json\n{")
    hub.submit(order("three", "arm_1"))
    assert ended(hub, "three").outcome.cause is Cause.REJECTED  # the robot's own critic cannot read it


def test_a_robot_that_is_cut_off_goes_on_and_its_end_is_read_when_it_is_back(fleet, servers):
    robot = fleet.open_robot()
    hub = fleet.open_hub()
    hub.submit(order("fetch_1", "arm_1", params={"held": True, "see": SEEN}))
    until(lambda: fleet.arm.starts("fetch_1"))
    servers.kill("hub")
    until(lambda: any("fetch_1" in found for found in alerts(hub, "ROBOT_CUT_OFF")))
    robot.submit(order("own", "arm_1"))  # the robot's own queue
    fleet.arm.go.set()
    assert ended(robot, "own").state is JobState.SUCCEEDED
    assert not hub.jobs.load("fetch_1").status.state.terminal
    assert apple(hub) == APPLE_AT  # the last that was heard
    hub.submit(order("later", "arm_1"))  # no order is begun at a robot that is cut off
    hub.submit(order("other", "arm_2"))
    assert ended(hub, "other").state is JobState.SUCCEEDED
    servers.start("hub")
    status = ended(hub, "fetch_1")
    assert status.state is JobState.SUCCEEDED and status.outcome.evidence["moved"].endswith("fetch_1")
    assert fleet.arm.starts("fetch_1") == 1
    until(lambda: apple(hub) == (0.1, 0.2, 0.4) and not alerts(hub, "ROBOT_CUT_OFF"))


def test_a_stop_reaches_the_robot_and_is_taken_back_with_the_fleets_resume(fleet):
    robot = fleet.open_robot()
    hub = fleet.open_hub()
    hub.submit(order("one", "arm_1", params={"held": True}))
    until(lambda: fleet.arm.starts("one"))
    hub.stop("arm_1")
    status = ended(hub, "one")
    assert (status.outcome.cause, status.outcome.code) == (Cause.CANCELLED, "STOPPED")
    assert robot.stops.state("arm_1").stopped and fleet.arm.stops
    hub.resume("arm_1")
    until(lambda: not robot.stops.state("arm_1").stopped)
    robot.stop("arm_1")  # by a person at the robot: not the fleet's to take back
    hub.stop("arm_1")
    hub.resume("arm_1")
    hub.submit(order("two", "arm_1", params={"held": True}))
    until(lambda: robot.jobs.known(next(iter(ids(robot, "two")), "-")))
    assert robot.stops.state("arm_1").stopped and not fleet.arm.starts("two")
    robot.resume("arm_1")
    until(lambda: fleet.arm.starts("two"))
    hub.cancel("two")
    assert ended(hub, "two").outcome.cause is Cause.CANCELLED


@pytest.mark.proof
def test_a_cancel_that_cannot_be_delivered_is_said_and_delivered_when_the_robot_is_back(fleet, servers):
    robot = fleet.open_robot()
    hub = fleet.open_hub()
    hub.submit(order("fetch_1", "arm_1", params={"held": True}))
    until(lambda: fleet.arm.starts("fetch_1"))
    servers.kill("hub")
    until(lambda: alerts(hub, "ROBOT_CUT_OFF"))
    hub.cancel("fetch_1")
    until(lambda: any("fetch_1 could not be cancelled" in found for found in alerts(hub, "ROBOT_CUT_OFF")))
    assert not robot.jobs.cancel_requests() and not hub.jobs.load("fetch_1").status.state.terminal
    servers.start("hub")
    assert ended(hub, "fetch_1").outcome.cause is Cause.CANCELLED
    assert robot.jobs.load(ids(robot, "fetch_1")[0]).status.outcome.cause is Cause.CANCELLED


def test_a_stop_that_cannot_be_delivered_is_said_and_delivered_when_the_robot_is_back(fleet, servers):
    robot = fleet.open_robot()
    hub = fleet.open_hub()
    hub.submit(order("one", "arm_1", params={"held": True}))
    until(lambda: fleet.arm.starts("one"))
    servers.kill("hub")
    until(lambda: alerts(hub, "ROBOT_CUT_OFF"))
    said = []
    hub.listen_alerts(lambda finding: said.append(finding.code))
    hub.stop("arm_1")
    assert ended(hub, "one").outcome.code == "STOP_UNCONFIRMED"
    until(lambda: "STOP_FAILED" in said)
    assert not robot.stops.state("arm_1").stopped
    servers.start("hub")
    until(lambda: robot.stops.state("arm_1").stopped)
    assert ended(robot, ids(robot, "one")[0]).outcome.cause is Cause.CANCELLED
    until(lambda: not alerts(hub, "STOP_FAILED") and not alerts(hub, "STOP_UNCONFIRMED"))
    until(lambda: hub.robot_stops.confirmed("arm_1").confirmed)  # as its own kernel says


@pytest.mark.proof
def test_a_stop_of_an_idle_robot_that_is_cut_off_is_delivered_unless_the_fleet_has_resumed_it(fleet, servers):
    robot = fleet.open_robot()
    hub = fleet.open_hub()
    for resumed in (False, True):
        servers.kill("hub")
        until(lambda: alerts(hub, "ROBOT_CUT_OFF"))
        hub.stop("arm_1")
        until(lambda: alerts(hub, "STOP_FAILED"))
        assert hub.robot_stops.state_value("arm_1")["delivered"] is False
        if resumed:
            hub.resume("arm_1")
        servers.start("hub")
        until(lambda: not alerts(hub, "ROBOT_CUT_OFF"))
        until(lambda: not alerts(hub, "STOP_FAILED"))
        assert robot.stops.state("arm_1").number == 1
        hub.resume("arm_1")
        until(lambda: not robot.stops.state("arm_1").stopped)


def test_an_order_whose_time_runs_out_while_the_robot_is_cut_off_is_lost_and_settled_when_it_is_back(fleet, servers):
    robot = fleet.open_robot()
    hub = fleet.open_hub()
    robot.submit(order("own", "arm_1", params={"held": True}))
    until(lambda: fleet.arm.starts("own"))
    before = fleet.clock.monotonic()
    hub.submit(order("fetch_1", "arm_1", timeout_s=3000.0))
    job = until(lambda: ids(robot, "fetch_1"))[0]  # it waits in the robot's queue
    servers.kill("hub")
    until(lambda: any("fetch_1" in found for found in alerts(hub, "ROBOT_CUT_OFF")))
    fleet.clock.shift = 3000.0 - (fleet.clock.monotonic() - before)  # no later: its time is about to be up
    status = ended(hub, "fetch_1")
    assert status.outcome.cause is Cause.LOST and status.outcome.evidence["robot_job"] == job
    driver = hub.kernel.nodes["arm_1"].driver
    assert not driver.has_ended("fetch_1")
    servers.start("hub")
    assert ended(robot, job).outcome.cause is Cause.CANCELLED
    until(lambda: driver.has_ended("fetch_1"))
    until(lambda: not hub.store.list(".paos/handed/arm_1"))  # nothing is left to settle
    fleet.arm.go.set()
    assert ended(robot, "own").state is JobState.SUCCEEDED and not fleet.arm.starts("fetch_1")


@pytest.mark.proof
def test_a_kernel_that_takes_over_while_the_robot_is_cut_off_reads_the_end_too(fleet, servers):
    robot = fleet.open_robot()
    first = fleet.open_hub()
    first.submit(order("one", "arm_1", params={"held": True}))
    until(lambda: fleet.arm.starts("one"))
    servers.kill("hub")
    until(lambda: alerts(first, "ROBOT_CUT_OFF"))
    fleet.served.pop().abandon()
    second = fleet.open_hub()
    fleet.arm.go.set()
    assert ended(robot, ids(robot, "one")[0]).state is JobState.SUCCEEDED
    assert not second.jobs.load("one").status.state.terminal
    servers.start("hub")
    assert ended(second, "one").state is JobState.SUCCEEDED
    assert fleet.arm.starts("one") == 1 and len(ids(robot, "one")) == 1


def test_a_late_message_of_a_replaced_kernel_begins_no_order_that_has_ended_in_the_fleet(fleet):
    robot = fleet.open_robot()
    hub = fleet.open_hub()
    hub.submit(order("fetch_1", "arm_1"))
    ended(hub, "fetch_1")
    until(lambda: not hub.store.list(".paos/handed/arm_1"))
    job = ids(robot, "fetch_1")[0].replace("fetch_1", "fetch_2")
    hub.store.put(".paos/handed/arm_1/fetch_2", job.encode())  # begun, and ended here before it was sent
    hub.submit(order("fetch_3", "arm_1"))
    ended(hub, "fetch_3")
    until(lambda: robot.jobs.ended(job))
    late = order(job, "arm_1", created_at="2026-01-01T00:00:00Z")
    robot.store.put(job_key(job), order_line(late, late.created_at))  # it had found no such job before it was frozen
    robot.submit(order("own", "arm_1"))
    ended(robot, "own")
    assert not fleet.arm.starts("fetch_2")


def test_a_robot_that_cannot_be_reached_at_the_start_is_named_and_the_others_work(fleet, servers):
    fleet.open_robot()
    servers.kill("hub")
    hub = fleet.open_hub()
    until(lambda: any(str(servers.port["hub"]) in found for found in alerts(hub, "ROBOT_CUT_OFF")))
    hub.submit(order("one", "arm_1"))
    hub.submit(order("two", "arm_2"))
    assert ended(hub, "two").state is JobState.SUCCEEDED
    status = ended(hub, "one")
    assert (status.outcome.cause, status.outcome.code) == (Cause.REJECTED, "ROBOT_CUT_OFF")
    servers.start("hub")
    until(lambda: not alerts(hub, "ROBOT_CUT_OFF"))
    hub.submit(order("three", "arm_1"))
    assert ended(hub, "three").state is JobState.SUCCEEDED and not fleet.arm.starts("one")


def test_a_workspace_that_no_kernel_serves_or_that_has_another_robot_is_named(fleet, servers):
    hub = fleet.open_hub()
    until(lambda: servers.store("arm", "arm"))
    until(lambda: any("franka_001" in found for found in alerts(hub, "ROBOT_CUT_OFF")))  # the default robot
    fleet.open_robot()
    until(lambda: not alerts(hub, "ROBOT_CUT_OFF"))
    hub.submit(order("one", "arm_1"))
    assert ended(hub, "one").state is JobState.SUCCEEDED
    fleet.served.pop().close()
    until(lambda: any("no kernel serves" in found for found in alerts(hub, "ROBOT_CUT_OFF")))
    hub.submit(order("two", "arm_1"))
    assert ended(hub, "two").outcome.code == "ROBOT_CUT_OFF"


def test_a_kernel_that_takes_over_follows_the_order_that_a_killed_one_had_begun(fleet):
    robot = fleet.open_robot()
    with fleet.hub_process() as reader:
        reader.submit(order("one", "arm_1", params={"held": True}))
        until(lambda: fleet.arm.starts("one"))
    with fleet.hub_process() as reader:
        until(lambda: reader.jobs.load("one").status.attempt == 2)
        fleet.arm.go.set()
        assert ended(reader, "one").state is JobState.SUCCEEDED
    assert fleet.arm.starts("one") == 1 and len(ids(robot, "one")) == 1


def test_a_mission_goes_on_with_a_robot_that_is_cut_off_and_no_other_is_begun_there(fleet, servers):
    fleet.open_robot()
    fleet.arm.holds_all = True
    with fleet.hub_process() as reader:
        reader.missions.add(MissionOrder("m1", "wave", robot="arm_1"))
        until(lambda: fleet.arm.executed)
        servers.kill("hub")
    hub = fleet.open_hub()
    until(lambda: alerts(hub, "ROBOT_CUT_OFF"))
    hub.missions.add(MissionOrder("m2", "wave"))
    until(lambda: hub.missions.load("m2").status.robot == "arm_2")
    assert hub.missions.load("m1").status.state is MissionState.RUNNING
    fleet.arm.go.set()
    servers.start("hub")
    for id in ("m1", "m2"):
        until(lambda id=id: hub.missions.load(id).status.state.ended)
        assert hub.missions.load(id).status.state is MissionState.SUCCEEDED, hub.missions.load(id).status
    assert len({one.id for one in fleet.arm.executed}) == len(fleet.arm.executed)


def test_a_kernel_that_has_lost_its_lease_hands_no_order_over(fleet, nats_address):
    robot = fleet.open_robot()
    where = nats_address._replace(ttl_s=60.0)
    cancel = StopSignal()

    def run(hub):
        return Run(hub.clock, hub.clock.monotonic() + 600.0, cancel=cancel)

    hub = fleet.hub(f"nats://{where.token}@{where.servers.removeprefix('nats://')}/{where.bucket}?ttl=60")
    driver = hub.kernel.nodes["arm_1"].driver
    until(lambda: not driver.cut_off_since)
    running = threading.Thread(target=driver.execute, args=(order("fetch_1", "arm_1", params={"held": True}), run(hub)))
    running.start()
    until(lambda: fleet.arm.starts("fetch_1"))
    hub.leases._held[""]._lose("another host has it")
    with pytest.raises(StorageError) as lost:
        driver.execute(order("fetch_2", "arm_1"), run(hub))
    assert lost.value.code == LEASE_LOST and not ids(robot, "fetch_2")
    cancel.set()
    running.join(PATIENCE_S)  # it lets go of the order, which another kernel follows
    hub.abandon()
    assert not robot.jobs.load(ids(robot, "fetch_1")[0]).status.state.terminal and not robot.jobs.cancel_requests()


def ids(robot, name):
    """The jobs of the robot's workspace that are this order of the fleet."""
    there = dict.fromkeys((*robot.jobs.open_ids(), *robot.jobs.done_ids()))  # it may be put away meanwhile
    return [id for id in there if id.endswith(f"-{name}")]
