"""An orchestrator over a store in memory, and robots that do what the test says."""

from __future__ import annotations

import pytest

from worldfs.base.model import Cause, Job, JobState, JobStatus, Operation, Order, Outcome, Profile
from worldfs.fleet.bids import MissionNeeds, RobotOffer
from worldfs.fleet.mission import NO_PROGRESS, MissionOrder
from worldfs.fleet.mission_port import MissionEnd, MissionEndKind
from worldfs.fleet.orchestrator_loop import Orchestrator
from worldfs.storage.memory_store import MemoryStore
from worldfs.testing.manual_clock import ManualClock

PROFILE = Profile("Robot", ops=(Operation("pick_up"), Operation("place"), Operation("target_navigation")))


class Robots:
    """A `MissionExecutor`: what begins stays at work until the test ends it."""

    def __init__(self, *ids):
        self.robots = {id: RobotOffer(id, PROFILE) for id in ids}
        self.jobs, self.work, self.begun, self.cancelled = {}, {}, [], []
        self.refused, self.wants, self.holding = {}, {}, set()
        self.repeats, self.legs = False, ""
        self.closed, self.late = [], {}
        self.heard = set()  # orders whose end was read after they had ended as lost
        self.asking = {}  # robot → whose approval it waits for
        self.left = set()  # robots that were taken out of the fleet
        self.elsewhere, self.followed = set(), {}  # robots that other processes serve; orders that outlived a start

    def offers(self):
        return list(self.robots.values())

    def gone(self):
        return []

    def has_left(self, robot):
        return robot in self.left

    def not_served(self, robot):
        return ""

    def needs(self, mission):
        return self.refused.get(mission.order.text) or self.wants.get(mission.order.text, MissionNeeds())

    def split(self, mission):
        return self.legs

    def begin(self, mission, hold, ended):
        self.begun.append((mission.id, mission.status.robot))
        self.work[mission.id] = (hold, ended)
        return lambda: ended(MissionEnd(MissionEndKind.STOPPED, "stopped"))

    def job(self, id):
        return self.jobs.get(id)

    def at_work(self, job):
        node = job.order.node
        if node in self.elsewhere:
            self.robots[node] = self.robots[node]._replace(served=True)
        return node in self.elsewhere

    def follow(self, job, ended):
        self.followed[job.id] = ended
        return lambda: ended(MissionEnd(MissionEndKind.LEFT, "asked to stop"))

    def close_order(self, id, robot):
        self.closed.append(id)
        if id in self.late:  # its submitter was faster
            self.jobs[id] = self.late.pop(id)

    def cancel(self, job):
        self.cancelled.append(job.id)

    def repeatable(self, job):
        return self.repeats

    def has_ended(self, job):
        return job.id in self.heard

    def approvals(self):
        return dict(self.asking)

    def zones_in(self, held):
        return []

    def left_behind(self):
        return {}

    def ways_out(self, robot):
        return ()

    def holds_something(self, robot):
        return robot in self.holding

    def stands(self, robot):
        return self.robots[robot].stands if robot in self.robots else ()

    # -- what the test does ---

    def submit(self, mission, job, state, cause=None, progress=NO_PROGRESS):
        """The mission submits an order, which gets so far."""
        order = Order(job, "r1", "pick_up")
        assert self.work[mission][0].note_job(order, progress)
        attempt = 0 if state is JobState.PENDING else 1
        outcome = None if not state.terminal else Outcome(cause is None, "", cause)
        self.jobs[job] = Job(order, JobStatus(state, attempt, outcome=outcome))

    def submit_again(self, job, state, cause):
        """What became of an order that was submitted before, and never begun."""
        self.jobs[job] = Job(self.jobs[job].order, JobStatus(state, 0, outcome=Outcome(False, "", cause)))

    def end(self, mission, kind=MissionEndKind.DONE, reason="done"):
        self.work.pop(mission)[1](MissionEnd(kind, reason))


class Fleet:
    def __init__(self, *ids, store=None):
        self.store, self.clock = store or MemoryStore(), ManualClock()
        self.robots, self.alerts, self.loop = Robots(*ids), {}, None

    def start(self, *, recover=True):
        self.loop = Orchestrator(
            self.store, self.clock, self.robots, language=lambda: "en", alert=self.alerts.__setitem__
        )
        if recover:
            self.loop.recover()
        return self.loop

    def lose(self, id):
        """The lease of the robot's process ends."""
        self.robots.robots[id] = self.robots.robots[id]._replace(served=False, heard=self.clock.now())

    def find(self, id):
        """A process has the robot's lease again."""
        self.robots.robots[id] = self.robots.robots[id]._replace(served=True, heard=self.clock.now())

    def drop(self):
        """The process is killed: nothing more is written, and its lease is free."""
        self.loop.close()
        self.robots.work.clear()

    @property
    def files(self):
        return self.loop.files

    def add(self, id, **more):
        self.clock.advance(1.0)
        more.setdefault("text", id)
        more.setdefault("title", more["text"])
        assert self.files.add(MissionOrder(id, **more))

    def settle(self):
        for _ in range(100):
            if not self.loop.step():
                return
        raise AssertionError("it never settles")

    def status(self, id):
        return self.files.load(id).status

    def state(self, id):
        return self.status(id).state.value

    def page(self):
        stored = self.store.get("ORCHESTRATOR.md")
        return stored.data.decode() if stored is not None else ""

    def write(self, text):
        self.store.put("ORCHESTRATOR.md", text.encode())


@pytest.fixture
def fleet():
    fleet = Fleet("r1", "r2")
    fleet.start()
    yield fleet
    fleet.loop.close()


LOST = Cause.LOST
