"""A hand-over of two robots of two hosts, of which one is cut off in the midst of it: told, and nothing moves twice."""

import json
import threading

import pytest

from worldfs.base.errors import WorldError
from worldfs.base.model import Cause, JobState, JobStatus, Outcome, RobotState, Scene, Thing
from worldfs.base.standard_operations import HAND_OVER, PICK_UP, TAKE_OVER
from worldfs.base.stop_signal import StopSignal
from worldfs.fleet.mission import MissionOrder, MissionState
from worldfs.formats import environment
from worldfs.planning.planner import Planner
from worldfs.world.instruction import Instruction

from .test_two_hosts import HUB, Hosts, carts

GIVER, TAKER = "cart_1", "cart_2"  # arms, by their profile
BASES = {GIVER: [0.0, 0.0, 0.0], TAKER: [0.9, 0.0, 0.0]}
APPLE = {"id": "apple_01", "name": "Red Apple", "category": "fruit", "position": [0.4, 0.0, 0.4], "size": [0.066] * 3}
TEXT = f"hand the apple over to {TAKER}"


class Arm:
    """One that gives waits until the other has the apple, or it is stopped."""

    operations = (PICK_UP, HAND_OVER, TAKE_OVER)

    def __init__(self, cell, robot_id):
        self.cell, self.robot_id = cell, robot_id

    def open(self, scene):
        pass

    def observe(self):
        held = APPLE["id"] if self.cell.holder == self.robot_id else None
        state = RobotState(self.robot_id, tuple(BASES[self.robot_id]), gripper="holding" if held else "open",
                           holding=held)  # fmt: skip
        return Scene((state,), (Thing(APPLE["id"], APPLE["name"], "fruit", (0.4, 0.0, 0.4), size=(0.066,) * 3),))

    def review(self, order):
        return ()

    def execute(self, order, run):
        self.cell.executed.append(order.op)
        if order.op == TAKE_OVER.name:
            self.cell.holder = TAKER
        never = threading.Event()
        while self.cell.holder == GIVER:
            if run.stop:
                return Outcome.failure(Cause(run.stop), "CANCELLED", "stopped")
            run.clock.wait(never, 0.002)
        return Outcome.success("done")

    def close(self):
        pass


class Cell(Hosts):
    profile = "franka_panda"

    def __init__(self, path, address):
        super().__init__(path, address)
        self.holder, self.executed, self.served = GIVER, [], []
        (path / "shared").mkdir()
        robots = [{"robot_id": id, "pose": pose, "gripper": "open", "holding": None} for id, pose in BASES.items()]
        robots[0] |= {"gripper": "holding", "holding": APPLE["id"]}
        page = {"schema_version": "v2.0", "robots": robots, "objects": [APPLE]}
        (path / "shared" / "ENVIRONMENT.md").write_text(json.dumps(page))

    def body(self, context):
        return Arm(self, context.robot_id)

    def serve(self, share):
        """By threads of its own, until the test has ended."""
        world, stop = self.open(share, threads=True), threading.Event()
        self.worlds.remove(world)
        thread = threading.Thread(target=world.run, kwargs={"stop": stop})
        thread.start()
        self.served.append((world, thread, stop))

    def end(self):
        self.holder = TAKER  # nobody waits any more
        for world, thread, stop in self.served:
            stop.set()
            world.wake()
            thread.join()
            world.close()
        for world in list(self.worlds):
            self.close(world)

    def job(self, hub, op):
        """The order of that operation; None: there is none yet."""
        found = (hub.jobs.load(id) for id in {*hub.jobs.open_ids(), *hub.jobs.done_ids()})
        return next((job for job in found if job.order.op == op), None)


@pytest.fixture
def cell(tmp_path, nats_address):
    cell = Cell(tmp_path, nats_address._replace(ttl_s=8.0))  # a busy machine may be late to renew a shorter lease
    yield cell
    cell.end()


def holder(world):
    scene = environment.read(world.content("ENVIRONMENT.md")).scene
    return [robot.robot_id for robot in scene.robots if robot.holding]


@pytest.mark.slice(2, 1)
@pytest.mark.parametrize("taken", [False, True])
def test_the_receiver_s_host_is_cut_off_in_the_midst_and_the_mission_is_told_and_never_done_twice(cell, taken):
    hub, taker = cell.open(HUB), cell.open(carts(TAKER))
    cell.worlds.remove(taker)  # from here on it does what the test does in its place
    cell.serve(carts(GIVER))
    hub.missions.add(MissionOrder("m1", TEXT, robot=GIVER))
    hub.orchestration.loop.step()
    cell.until(lambda: cell.job(hub, TAKE_OVER.name))
    take = cell.job(hub, TAKE_OVER.name).id
    taker.jobs.write_status(take, JobStatus(JobState.RUNNING, 1))
    cell.executed.append(TAKE_OVER.name)
    if taken:
        cell.holder = TAKER
    cell.cut_off(taker)
    cell.until(lambda: hub.missions.load("m1").status.state.ended)
    status = hub.missions.load("m1").status
    assert status.state is MissionState.FAILED and take in status.reason and TAKER in status.reason, status
    assert "MISSION_LOST" in {finding.code for finding in hub.kernel.alert.now().values()}
    with pytest.raises(WorldError):  # what it says when it is back comes too late
        taker.jobs.write_status(take, JobStatus(JobState.SUCCEEDED, 1, outcome=Outcome.success("done")))
    taker.abandon()
    back = cell.open(carts(TAKER))
    cell.until(lambda: hub.jobs.load(take).status.state.terminal)
    assert hub.jobs.load(take).status.outcome.cause is Cause.LOST
    cell.until(lambda: holder(back) == [TAKER if taken else GIVER])
    assert sorted(cell.executed) == [HAND_OVER.name, TAKE_OVER.name]
    assert hub.missions.load("m1").status.state is MissionState.FAILED


def test_a_person_s_hand_over_waits_for_a_partner_that_is_cut_off_says_so_and_can_be_left(cell):
    hub, taker = cell.open(HUB), cell.open(carts(TAKER))
    cell.worlds.remove(taker)  # from here on it does what the test does in its place
    cell.serve(carts(GIVER))
    world, stop, lines, ended = cell.command(), StopSignal(), [], []

    def do():
        with Instruction(world, GIVER, TEXT, stop, lines.append) as instruction:
            assert instruction.start() == ""
            ended.append(Planner(world.planner_port(GIVER, lines.append, instruction)).run(TEXT, stop).verdict)

    def lost():
        return [line for line in lines if "lost" in line]

    thread = threading.Thread(target=do, daemon=True)
    thread.start()
    try:
        cell.until(lambda: cell.job(hub, TAKE_OVER.name) and HAND_OVER.name in cell.executed)
        give, take = cell.job(hub, HAND_OVER.name).id, cell.job(hub, TAKE_OVER.name).id
        taker.jobs.write_status(take, JobStatus(JobState.RUNNING, 1))
        assert not lost()
        cell.cut_off(taker)
        cell.until(lost)
        assert lost()[0].startswith(f"waiting for {TAKER}: lost, last seen 20"), lines
        assert not ended and hub.jobs.load(give).status.state is JobState.RUNNING, "it did not go on waiting"
        stop.set()  # as the first Ctrl-C does
        cell.until(lambda: hub.jobs.load(give).status.state.terminal)
        taker.abandon()
        cell.open(carts(TAKER))
        cell.until(lambda: ended)
        thread.join()
    finally:
        cell.holder = TAKER
        world.close()  # a thread that still waits ends with it
    assert ended == ["cancelled"] and len(lost()) == 1, lines
    assert hub.jobs.load(give).status.outcome.cause is Cause.CANCELLED
    assert hub.jobs.load(take).status.outcome.cause is Cause.LOST
