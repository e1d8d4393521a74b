"""What the link to a robot's own workspace writes and reads there, without servers: two workspaces in memory."""

import json
from importlib import resources

import pytest

from worldfs.base.driver import StopUndelivered
from worldfs.base.errors import StorageError
from worldfs.base.model import Cause, Job, JobStatus, Outcome
from worldfs.runtime.job_end import ended_status
from worldfs.runtime.stop_log import StopLog, stop_key
from worldfs.storage.lease import KERNEL_LEASE, LEASE_LOST
from worldfs.storage.memory_store import MemoryStore
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.workspace_fixture import order
from worldfs.world.asked_ends import KEEP_S
from worldfs.world.workspace_link import SILENT_S, WorkspaceLink
from worldfs.world.world import World


class CountedStore(MemoryStore):
    """It counts its reads, and calls `before_append` before it appends something."""

    def __init__(self, clock):
        super().__init__(clock)
        self.reads, self.before_append = [], lambda data: None

    def get(self, key):
        self.reads.append(key)
        return super().get(key)

    def append(self, key, data, *, durable=True):
        self.before_append(data)
        super().append(key, data, durable=durable)


class Linked:
    """A fleet and the workspace of `arm_1`, which counts as served; the link's rounds are the test's to call."""

    def __init__(self, path):
        self.clock = ManualClock()
        self.here, self.there = CountedStore(self.clock), CountedStore(self.clock)
        self.there.put("ENVIRONMENT.md", page([0.4, 0.0, 0.4]))
        self.there.put("EMBODIED.md", resources.files("worldfs").joinpath("profiles", "franka_panda.md").read_bytes())
        self.lease = self.there.lease(KERNEL_LEASE).acquire()
        self.fleet = World.open(path / "fleet", store=self.here, clock=self.clock)
        self.robot = World.open(path / "robot", store=self.there, clock=self.clock)
        self.ended, self.alerts = [], []
        self.link = WorkspaceLink(
            self.fleet, "arm_1", lambda: self.there,
            alert=lambda place, finding: self.alerts.append(place) or True,
            observed=lambda: None, ended=lambda: self.ended.append(1),
        )  # fmt: skip

    def round(self):
        self.link._round()

    def stop(self):
        """As the fleet's kernel does: first the fleet's own log says so."""
        self.fleet.stops.stop(["arm_1"], "operator")
        self.link.stop()

    def resume(self):
        self.fleet.stops.resume(["arm_1"], "operator")
        self.round()

    def is_stopped(self):
        """The robot, in its own workspace."""
        return self.robot.stops.state("arm_1").stopped


def page(apple):
    text = json.dumps({"robots": [{"robot_id": "arm_1"}], "objects": [{"id": "apple_01", "position": apple}]})
    return f"# World\n\n```json\n{text}\n```\n".encode()


@pytest.fixture
def linked(tmp_path):
    linked = Linked(tmp_path)
    linked.round()
    yield linked
    linked.fleet.close()
    linked.robot.close()


# -- stops ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("person_first", [False, True])
def test_the_fleets_resume_takes_back_no_stop_of_a_person_at_the_robot(linked, every, person_first):
    for person in (person_first, not person_first):
        if person:
            linked.robot.stops.stop(["arm_1"], "operator", every=every)
        else:
            linked.stop()
    linked.resume()
    assert linked.is_stopped()
    linked.robot.stops.resume(["arm_1"], "operator")
    linked.round()
    assert not linked.is_stopped()


def test_the_fleets_resume_takes_back_its_own_stop(linked):
    linked.stop()
    assert linked.is_stopped()
    linked.resume()
    assert not linked.is_stopped()


def test_a_stop_of_the_fleet_stays_in_force_when_a_resume_is_on_its_way(linked):
    linked.stop()
    linked.fleet.stops.resume(["arm_1"], "operator")

    def stop_now(data):
        linked.there.before_append = lambda data: None
        assert b'"resume"' in data
        linked.stop()  # before the resume arrives

    linked.there.before_append = stop_now
    linked.round()
    assert linked.is_stopped()
    linked.round()
    assert linked.is_stopped()


def test_a_resume_that_is_on_its_way_takes_back_no_stop_that_its_writer_had_not_read(linked, monkeypatch):
    """The stop comes between the reading of the robot's log and of the fleet's, or after both."""
    linked.stop()
    linked.fleet.stops.resume(["arm_1"], "operator")
    state = StopLog.state

    def stop_after(stops, node):
        found = state(stops, node)
        if stops is linked.fleet.stops:
            monkeypatch.undo()
            linked.stop()
        return found

    monkeypatch.setattr(StopLog, "state", stop_after)
    linked.round()
    assert linked.is_stopped()


def test_a_kernel_that_knows_old_stops_only_takes_back_none_of_the_kernel_that_replaced_it(linked, monkeypatch):
    old = linked.here.probe(stop_key("arm_1"))
    linked.stop()  # by the other kernel: both have one name there
    with monkeypatch.context() as behind:
        behind.setattr(linked.here, "probe", lambda key: old)
        linked.round()
    assert linked.is_stopped()


def test_a_stop_that_could_not_be_told_is_told_by_what_the_robot_says(linked, monkeypatch):
    """Not by what is remembered of its log, from before the robot was cut off."""
    linked.stop()
    linked.round()
    old = linked.there.probe(stop_key("arm_1"))
    linked.clock.advance(SILENT_S + 1)
    linked.robot.stops.resume(["arm_1"], "operator")
    with pytest.raises(StopUndelivered):
        linked.link.stop()
    with monkeypatch.context() as behind:
        behind.setattr(linked.there, "probe", lambda key: old)
        linked.round()
    assert linked.is_stopped()


def test_a_stop_whose_write_failed_is_told_once(linked):
    def fail(data):
        linked.there.before_append = lambda data: None
        raise StorageError("no answer", path=stop_key("arm_1"), op="append")

    linked.there.before_append = fail
    with pytest.raises(StopUndelivered, match="no answer"):
        linked.stop()
    linked.round()
    assert linked.is_stopped()
    told = linked.robot.stops.state("arm_1").number
    linked.link.stop()  # the fleet's kernel tries again what failed
    assert linked.robot.stops.state("arm_1").number == told


def test_only_the_confirmation_of_the_fleets_own_stop_counts(linked):
    linked.round()
    linked.robot.stops.stop(["arm_1"], "operator")
    linked.robot.stops.confirm({"arm_1": 1})
    linked.round()
    assert not linked.link.standstill().stands  # of a stop that a person gave at the robot
    linked.stop()
    linked.round()
    assert not linked.link.standstill().stands
    linked.robot.stops.confirm({"arm_1": 2})
    linked.round()
    assert linked.link.standstill().stands
    linked.clock.advance(SILENT_S + 1)
    assert not linked.link.standstill().stands


# -- orders --------------------------------------------------------------------------------------------------------


def test_a_kernel_that_has_lost_its_lease_ends_no_order_that_another_one_follows(linked, monkeypatch):
    """It had not sent the order when it was frozen; the order was cancelled before."""
    handed = linked.link.hand_over(order("fetch_1"))
    linked.link.cancel(handed)

    def put(*_, **__):
        raise lost

    lost = StorageError("another host has it", path=KERNEL_LEASE)
    lost.code = LEASE_LOST
    with monkeypatch.context() as frozen:
        frozen.setattr(linked.here, "put", put)
        with pytest.raises(StorageError):
            linked.round()
    assert not linked.robot.jobs.known(handed.order.id)
    linked.round()  # one that has its lease writes the cancel
    assert linked.robot.jobs.load(handed.order.id).status.outcome.cause is Cause.CANCELLED


# -- ends of orders that were given up ------------------------------------------------------------------------------


def end_there(linked, id, cause):
    """The robot's workspace has this order of the fleet as an ended job."""
    outcome, accepted = Outcome.failure(cause, "X", "x"), JobStatus(accepted_at="2026-01-02T03:04:05Z")
    job = Job(linked.link.orders.there(order(id)), ended_status(accepted, outcome, linked.clock.now()))
    linked.robot.jobs.accept_ended(job)


def reads_of(linked, id):
    return sum(id in key for key in linked.there.reads)


def test_an_end_that_is_asked_for_is_read_once_when_it_is_there(linked):
    assert not linked.link.has_ended("fetch_1")
    linked.there.reads.clear()
    for _ in range(3):
        linked.round()
    assert not reads_of(linked, "fetch_1") and not linked.ended  # it has not ended there
    end_there(linked, "fetch_1", Cause.CANCELLED)
    for _ in range(3):
        linked.round()
    assert reads_of(linked, "fetch_1") == 1 and linked.ended == [1]
    assert linked.link.has_ended("fetch_1")


def test_an_order_that_is_lost_at_the_robot_too_is_read_once(linked):
    assert not linked.link.has_ended("fetch_1")
    end_there(linked, "fetch_1", Cause.LOST)
    linked.there.reads.clear()
    for _ in range(3):
        linked.round()
        assert not linked.link.has_ended("fetch_1")
    assert reads_of(linked, "fetch_1") == 1 and not linked.ended


def test_an_end_is_forgotten_when_nothing_asks_for_it_any_more(linked):
    for id, cause in (("fetch_1", Cause.LOST), ("fetch_2", Cause.CANCELLED)):
        linked.link.has_ended(id)
        end_there(linked, id, cause)
    linked.link.has_ended("fetch_3")  # not ended: its end is still waited for, however long that takes
    linked.round()
    linked.clock.advance(KEEP_S - 1)
    assert linked.link.has_ended("fetch_2")
    linked.clock.advance(2)
    linked.round()
    assert set(linked.link._ends._asked) == {"fetch_2", "fetch_3"}
    end_there(linked, "fetch_3", Cause.CANCELLED)
    linked.round()
    assert linked.link.has_ended("fetch_3")


# -- what a round costs --------------------------------------------------------------------------------------------


def test_a_round_in_which_nothing_has_changed_reads_no_file(linked):
    for _ in range(20):
        linked.stop()
        linked.resume()
    linked.round()
    linked.here.reads.clear()
    linked.there.reads.clear()
    linked.round()
    assert not linked.here.reads and not linked.there.reads
    linked.there.put("ENVIRONMENT.md", page([0.1, 0.2, 0.4]))
    linked.round()
    assert linked.there.reads == ["ENVIRONMENT.md"] and apple(linked) == (0.1, 0.2, 0.4)


def test_what_the_robot_observed_last_is_read_before_its_end(linked, monkeypatch):
    """Also when the change of its document is not known here yet."""
    handed = linked.link.hand_over(order("fetch_1"))
    linked.round()
    end_there(linked, "fetch_1", Cause.ERROR)
    old = linked.there.probe("ENVIRONMENT.md")
    linked.there.put("ENVIRONMENT.md", page([0.1, 0.2, 0.4]))
    monkeypatch.setattr(linked.there, "probe", lambda key: old)
    linked.round()
    assert handed.is_over and apple(linked) == (0.1, 0.2, 0.4)


def apple(linked):
    return linked.link.scene.thing("apple_01").position
