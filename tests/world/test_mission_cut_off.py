"""A mission's order at a robot that is cut off, when the fleet's kernel ends in good order: no servers are needed."""

import json
import threading
from contextlib import contextmanager
from importlib import resources

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.errors import StorageError
from worldfs.base.model import Cause, Outcome
from worldfs.fleet.mission import MissionOrder, MissionState
from worldfs.storage.memory_store import MemoryStore
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world import workspace_robot
from worldfs.world.home import Home
from worldfs.world.home_world import open_home_world
from worldfs.world.world import World


class HastyClock(SystemClock):
    """For the threads `hasty` each look takes longer than a kernel waits for anything while it ends."""

    def __init__(self):
        super().__init__()
        self.hasty, self._passed = (), 0.0

    def monotonic(self):
        if threading.current_thread() not in self.hasty:
            return super().monotonic()
        self._passed += 11.0
        return super().monotonic() + self._passed


class HeldArm(NullDriver):
    """What it does lasts until the test lets it go, or it is stopped."""

    def __init__(self):
        super().__init__()
        self.go = threading.Event()

    def execute(self, order, run):
        self.executed.append(order)
        while not self.go.wait(0.01):
            if run.stop:
                return Outcome.failure(Cause(run.stop), "CANCELLED", "stopped")
        return Outcome.success("done")


class Radio:
    """A store that cannot be reached while `cut`."""

    def __init__(self, store, site):
        self._store, self._site = store, site

    def __getattr__(self, name):
        if self._site.cut:
            raise StorageError("no answer", path="nats", op=name)
        return getattr(self._store, name)

    def close(self):
        pass


class Site:
    """A fleet on the disk, and the workspace of its robots `arm_1` in memory. `arm_2` is the fleet's own."""

    def __init__(self, path, monkeypatch):
        self.path, self.cut, self.arm, self.arm_2 = path, False, HeldArm(), NullDriver()
        self.there = MemoryStore()
        self.there.put("ENVIRONMENT.md", page("arm_1"))
        self.there.put("EMBODIED.md", resources.files("worldfs").joinpath("profiles", "franka_panda.md").read_bytes())
        monkeypatch.setattr(workspace_robot, "open_store", lambda engine, address: Radio(self.there, self))
        robots = [
            {"robotId": "arm_1", "driver": "workspace", "store": "nats://hub/arm_1"},
            {"robotId": "arm_2", "driver": "body"},
        ]
        robots = [{**one, "profileName": "franka_panda", "workspace": one["robotId"]} for one in robots]
        (path / "home" / "shared").mkdir(parents=True)
        (path / "home" / "shared" / "ENVIRONMENT.md").write_bytes(page("arm_2"))
        fleet = {"mode": "fleet", "sharedWorkspace": "shared", "instances": robots}
        (path / "home" / "config.json").write_text(json.dumps({"embodiments": fleet}))

    @contextmanager
    def robot(self):
        drivers = {"simulation": lambda context: self.arm}
        with self.serving(World.open(self.path / "robot", store=self.there, serve=True, drivers=drivers)) as world:
            yield world

    @contextmanager
    def hub(self):
        home, self.clock = Home(self.path / "home"), HastyClock()
        config, drivers = home.config({}), {"body": lambda context: self.arm_2}
        world = open_home_world(
            home.root(config), config, agents=self.path / "agents", clock=self.clock, serve=True, drivers=drivers
        )
        with self.serving(world):
            yield world

    @contextmanager
    def serving(self, world):
        stop = threading.Event()
        kernel = threading.Thread(target=world.run, kwargs={"stop": stop})
        kernel.start()
        try:
            yield world
        except BaseException:
            self.cut = False  # what ends now waits for nothing
            raise
        finally:
            driver = world.kernel.nodes["arm_1"].driver
            stop.set()
            world.wake()
            if self.cut:
                until(world.jobs.cancel_requests)  # the mission's order
                self.clock.hasty = kernel, threading.current_thread()
            kernel.join(PATIENCE_S)
            world.close()
            driver.close()  # it still follows the order: the end of a process would end it


def page(robot):
    text = json.dumps({"robots": [{"robot_id": robot, "pose": [0.0, 0.0, 0.0]}], "objects": []})
    return f"# World\n\n```json\n{text}\n```\n".encode()


@pytest.mark.slice(2, 1)
@pytest.mark.parametrize("done", [True, False])
def test_the_order_in_hand_is_followed_by_the_next_kernel_and_its_mission_is_given_to_no_other(
    tmp_path, monkeypatch, done
):
    """`done`: the robot ends its order while it is cut off."""
    site = Site(tmp_path, monkeypatch)
    with site.robot():
        with site.hub() as hub:
            hub.missions.add(MissionOrder("m1", "wave"))
            until(lambda: hub.missions.load("m1").status.robot)
            assert hub.missions.load("m1").status.robot == "arm_1"
            until(lambda: site.arm.executed)
            site.cut = True
            until(lambda: hub.kernel.nodes["arm_1"].driver.cut_off_since)
        job = hub.missions.load("m1").status.job
        with site.hub() as hub:
            hub.missions.add(MissionOrder("m2", "wave"))
            until(lambda: hub.missions.load("m2").status.state is MissionState.SUCCEEDED)
            assert hub.missions.load("m1").status.state is MissionState.RUNNING
            assert not hub.jobs.load(job).status.state.terminal and len(site.arm_2.executed) == 1
            if done:
                site.arm.go.set()
                until(lambda: not site.there.list(".paos/jobs/open"))
            site.cut = False
            until(lambda: hub.jobs.load(job).status.state.terminal)
            site.arm.go.set()
            until(lambda: hub.missions.load("m1").status.state.ended)
            assert hub.missions.load("m1").status.state is MissionState.SUCCEEDED, hub.missions.load("m1").status
    # Cancelled, it has a known end: then either robot may do it, and `arm_1` may count as cut off for a moment yet.
    ids = [order.id for order in (*site.arm.executed, *site.arm_2.executed[1:])]
    assert len({*ids}) == len(ids) == (1 if done else 2)


@pytest.mark.slice(2)
@pytest.mark.parametrize("wish", ["cancel", "pause"])
def test_a_mission_that_the_next_kernel_follows_is_given_up_when_its_robot_is_back_and_not_before(
    tmp_path, monkeypatch, wish
):
    site = Site(tmp_path, monkeypatch)
    with site.robot():
        with site.hub() as hub:
            hub.missions.add(MissionOrder("m1", "wave", robot="arm_1"))
            until(lambda: site.arm.executed)
            site.cut = True
            until(lambda: hub.kernel.nodes["arm_1"].driver.cut_off_since)
        job = hub.missions.load("m1").status.job
        with site.hub() as hub:
            until(lambda: hub.kernel.nodes["arm_1"].driver.cut_off_since)
            hub.missions.request("m1", wish, "ana")
            hub.missions.add(MissionOrder("m2", "wave", robot="arm_2"))
            until(lambda: hub.missions.load("m2").status.state is MissionState.SUCCEEDED)  # it has looked meanwhile
            assert hub.missions.load("m1").status.state is MissionState.RUNNING
            site.cut = False
            until(lambda: hub.missions.load("m1").status.state is not MissionState.RUNNING)
            assert hub.jobs.load(job).status.state.terminal
            wanted = MissionState.CANCELLED if wish == "cancel" else MissionState.PAUSED
            assert hub.missions.load("m1").status.state is wanted, hub.missions.load("m1").status
