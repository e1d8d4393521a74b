"""The orchestrator killed at any write, and the power cut at any: no mission lost, none executed twice."""

from __future__ import annotations

import contextlib

import pytest

from worldfs.base.model import Cause, Job, JobState, JobStatus, Operation, Order, Outcome, Profile
from worldfs.fleet import orchestrator_loop
from worldfs.fleet.bids import MissionNeeds, RobotOffer
from worldfs.fleet.mission import MissionOrder, MissionProgress, MissionState
from worldfs.fleet.mission_port import MissionEnd, MissionEndKind
from worldfs.fleet.mission_store import MissionFiles
from worldfs.fleet.orchestrator_loop import Orchestrator
from worldfs.runtime.job_store import JobStore
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.memory_store import MemoryStore
from worldfs.testing.crashes import record, try_states
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_driver import SimulatedPowerLoss

PROFILE = Profile("Robot", ops=(Operation("pick_up"),))
MISSIONS = ("m1", "m2", "m3")
STATES = {state.value for state in MissionState}


class Robots:
    """One order a mission, on the job files of the same store: `running` is durable before it moves."""

    def __init__(self, store, clock, moved):
        self.jobs, self.clock, self.moved = JobStore(store, clock), clock, moved

    def offers(self):
        return [RobotOffer("r1", PROFILE), RobotOffer("r2", PROFILE)]

    def gone(self):
        return []

    def needs(self, mission):
        return MissionNeeds()

    def begin(self, mission, hold, ended):
        id = f"{mission.id}_{mission.status.attempt}"
        if any(moved.startswith(mission.id) for moved in self.moved):  # the goal holds: there is nothing to do
            ended(MissionEnd(MissionEndKind.DONE, "it was so already"))
            return lambda: None
        order = Order(id, mission.status.robot, "pick_up", created_at="2026-11-23T00:00:00Z")
        assert hold.note_job(order)
        self.jobs.accept([order])
        self.jobs.write_status(id, JobStatus(JobState.RUNNING, 1))
        self.moved.append(id)  # the world's own memory: it outlives every crash
        self.jobs.end(Job(order, JobStatus(JobState.SUCCEEDED, 1, outcome=Outcome.success("moved"))))
        ended(MissionEnd(MissionEndKind.DONE, "moved"))
        return lambda: None

    def split(self, mission):
        return "it is not split"

    def at_work(self, job):
        return False

    def job(self, id):
        return self.jobs.load(id) if self.jobs.known(id) else None

    def close_order(self, id, robot):
        self.jobs.close_id(Order(id, robot, ""))

    def cancel(self, job):
        self.jobs.request_cancel(job.id, "orchestrator")

    def repeatable(self, job):
        return False

    def has_ended(self, job):
        return False

    def has_left(self, robot):
        return False

    def not_served(self, robot):
        return ""

    def zones_in(self, held):
        return []

    def left_behind(self):
        return {}

    def ways_out(self, robot):
        return ()

    def approvals(self):
        return {}

    def holds_something(self, robot):
        return False


class Vehicles(Robots):
    """Each steps aside, which is an order too, and then drives where it is sent. Nothing in the world shows that it was
    there: only what the mission has noted of its orders does."""

    def needs(self, mission):
        there = "there" in mission.status.progress.reached
        return MissionNeeds(own=there, met=there)

    def begin(self, mission, hold, ended):
        reached = mission.status.progress.reached
        if "there" not in reached:
            self.drive(mission, hold, "aside", MissionProgress(0, reached))
            self.drive(mission, hold, "goal", MissionProgress(0, reached, ("there",)))
        ended(MissionEnd(MissionEndKind.DONE, "there"))
        return lambda: None

    def drive(self, mission, hold, what, progress):
        order = Order(f"{mission.id}_{what}_{mission.status.attempt}", mission.status.robot, "move_to",
                      created_at="2026-11-23T00:00:00Z")  # fmt: skip
        assert hold.note_job(order, progress)
        self.jobs.accept([order])
        self.jobs.write_status(order.id, JobStatus(JobState.RUNNING, 1))
        self.moved += [order.id] if what == "goal" else []
        self.jobs.end(Job(order, JobStatus(JobState.SUCCEEDED, 1, outcome=Outcome.success("moved"))))


def recovered(store):
    """What the kernel does first: an order that ran without its kernel is lost."""
    clock = ManualClock()
    jobs = JobStore(store, clock)
    for id in jobs.open_ids():
        jobs.close_torn_line(id)
        job = jobs.load(id)
        if job.status.state is JobState.RUNNING:
            lost = Outcome.failure(Cause.LOST, "LOST", "its kernel was killed")
            jobs.end(Job(job.order, JobStatus(JobState.FAILED, 1, outcome=lost)))
        elif job.status.state.terminal:
            jobs.archive(id)


def play(store, moved, acked=(), ack=lambda id: None, robots=Robots):
    """A start of the orchestrator, and all that is to be done."""
    recovered(store)
    clock = ManualClock()
    loop = Orchestrator(
        store, clock, robots(store, clock, moved), language=lambda: "en", alert=lambda where, finding: None
    )
    try:
        loop.recover()
        for id in MISSIONS:
            after = ("m1",) if id == "m2" else ()
            loop.files.add(MissionOrder(id, f"do {id}", id, after=after, created_at=f"2026-11-23T00:00:0{id[1]}Z"))
            ack(id)
        while loop.step():
            pass
    finally:
        loop.close()


def check(store, moved, acked, robots=Robots):
    """`moved`: what the robots did before the crash, which no crash undoes."""
    play_rest(store, moved, acked, robots)
    files = MissionFiles(store, ManualClock())
    for id in acked:
        mission = files.load(id)
        assert mission.status.state.ended, f"{id} is lost: {mission.status}"
        times = [name for name in moved if name.startswith(id)]
        assert len(times) <= 1, f"{id} was executed twice: {times}"
        if mission.status.state is MissionState.SUCCEEDED:
            assert len(times) == 1, f"{id} is said to be done and is not"
    assert files.open_ids() == []


def play_rest(store, moved, acked, robots=Robots):
    recovered(store)
    clock = ManualClock()
    loop = Orchestrator(
        store, clock, robots(store, clock, moved), language=lambda: "en", alert=lambda where, finding: None
    )
    loop.recover()
    while loop.step():
        pass
    loop.close()


class Killed(MemoryStore):
    """The process is killed at its n-th write: before it, or when it is done."""

    left, after = -1, False

    def _write(self, write):
        self.left -= 1
        if self.left == 0 and not self.after:
            raise SimulatedPowerLoss
        done = write()
        if self.left == 0:
            raise SimulatedPowerLoss
        return done

    def put(self, *args, **more):
        return self._write(lambda: MemoryStore.put(self, *args, **more))

    def append(self, *args, **more):
        return self._write(lambda: MemoryStore.append(self, *args, **more))

    def move(self, *args, **more):
        return self._write(lambda: MemoryStore.move(self, *args, **more))

    def delete(self, *args, **more):
        return self._write(lambda: MemoryStore.delete(self, *args, **more))


def killed_at(number, after, robots=Robots):
    """Whether there were so many writes."""
    store, moved, acked = Killed(), [], []
    store.left, store.after = number, after
    with contextlib.suppress(SimulatedPowerLoss):
        play(store, moved, ack=acked.append, robots=robots)
    over = store.left > 0
    store.left = -1
    jobs, files = JobStore(store, ManualClock()), MissionFiles(store, ManualClock())
    reached = [id for id in moved if jobs.load(id).status.state is JobState.SUCCEEDED]
    check(store, moved, acked, robots)
    for id in reached:
        assert files.load(id[:2]).status.state is MissionState.SUCCEEDED, f"{id} was reached"
    return not over


@pytest.mark.slice(4)
@pytest.mark.parametrize("robots", [Robots, Vehicles])
@pytest.mark.parametrize("after", [False, True])
def test_killed_at_any_write_no_mission_is_lost_and_none_executed_twice(after, robots):
    number = 1
    while killed_at(number, after, robots):
        number += 1
    assert number > 20, "there are more writes than that"


def test_the_check_sees_a_step_aside_that_is_taken_for_the_goal(monkeypatch):
    """The goal is never driven to, and the mission is said to be done."""
    monkeypatch.setattr(orchestrator_loop, "progress_after", lambda mission, job: MissionProgress(
        0, ("there",) if job is not None and job.status.state is JobState.SUCCEEDED else ()))  # fmt: skip
    with pytest.raises(AssertionError, match="is not"):
        for number in range(1, 90):
            killed_at(number, True, Vehicles)


def test_the_check_sees_a_goal_that_is_forgotten(monkeypatch):
    monkeypatch.setattr(orchestrator_loop, "progress_after", lambda mission, job: MissionProgress())
    with pytest.raises(AssertionError, match="twice"):
        for number in range(1, 90):
            killed_at(number, True, Vehicles)


def test_the_check_sees_a_mission_that_begins_before_it_is_durable(monkeypatch):
    write = MissionFiles.write

    def late(self, mission, **how):
        if mission.status.state is not MissionState.RUNNING:
            write(self, mission, **how)

    monkeypatch.setattr(MissionFiles, "write", late)
    monkeypatch.setattr(Robots, "begin", twice(Robots.begin))
    with pytest.raises(AssertionError, match="twice"):
        for number in range(1, 60):
            killed_at(number, True)


def twice(begin):
    """A robot that does not look whether the goal holds."""

    def careless(self, mission, hold, ended):
        moved, self.moved = self.moved, type("Blind", (list,), {"append": lambda me, id: moved.append(id)})()
        try:
            return begin(self, mission, hold, ended)
        finally:
            self.moved = moved

    return careless


def test_the_check_sees_a_mission_that_is_forgotten(monkeypatch):
    monkeypatch.setattr(Orchestrator, "_without_robot", lambda self, mission, reason, *, barred: None)
    with pytest.raises(AssertionError, match="lost"):
        for number in range(1, 60):
            killed_at(number, True)


SHARE = 0.05


@pytest.mark.parametrize("share", [SHARE, pytest.param(1.0, marks=pytest.mark.proof)])
def test_a_power_cut_at_any_write_loses_no_mission(tmp_path, share):
    """Of the states after each write a share drawn from all of them; every one in `make proof`."""
    moved: list[str] = []

    def operate(path, disk, ack):
        moved.clear()
        store = DiskStore(path, disk, guarded=frozenset({"ORCHESTRATOR.md"}))
        play(store, moved, ack=ack)
        store.close()

    def survives(path, acked):
        """What moved before the cut left its `running` line; a job that has none never moved."""
        store = DiskStore(path, guarded=frozenset({"ORCHESTRATOR.md"}))
        jobs = JobStore(store, ManualClock())
        begun = [id for id in moved if jobs.known(id) and jobs.load(id).status.attempt]
        check(store, begun, acked)
        store.close()

    log = record(tmp_path / "first", lambda path: None, operate)
    assert try_states(tmp_path, log, survives, lots=1, share=share).states > 40
