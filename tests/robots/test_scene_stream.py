"""What viewers see of a simulation: frames that tell what moved, taken only while somebody waits."""

import json
import threading
from itertools import pairwise

import pytest

from worldfs.base.driver import Run
from worldfs.base.model import Order, Scene, Thing
from worldfs.robots.mujoco.pacing import Pacing
from worldfs.robots.mujoco.scene_stream import PERIOD, SceneStream
from worldfs.robots.mujoco.shared_world import SharedWorld
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver
from worldfs.robots.pose_frames import ROW, decode_frame, encode_frame
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S

CUBE = Thing("cube", "<b>cube</b>", "box", (0.5, 0.0, 0.025), size=(0.05, 0.05, 0.05), shape="box", mass=0.1)
TABLE = Thing("table", "table", "table", (0.45, 0.0, 0.0), size=(0.9, 1.2, 0.75), shape="table")
SCENE = Scene(objects=(CUBE,), furniture=(TABLE,))


class Watched:
    """Arms in a world that is watched, on a clock of the test's."""

    def __init__(self, *ids, pace=0.0):
        self.clock = ManualClock()
        self.stream = SceneStream(self.clock)
        pacing = Pacing(self.clock, pace) if pace else None
        world = SharedWorld(pacing=pacing, stream=self.stream)
        self.drivers = {id: TabletopDriver(id, cameras=False, world=world) for id in ids}
        for driver in self.drivers.values():
            driver.open(SCENE)
        self.simulation = self.drivers[ids[0]].arm.simulation

    def move(self, id="arm", run=None, **params):
        params = params or {"target_pose": [0.4, 0.2, 0.4]}
        run = run or Run(self.clock, self.clock.monotonic() + 1e6)
        return self.drivers[id].execute(Order("a", id, "move_to", params), run)


@pytest.fixture
def watched():
    return Watched("arm")


def test_a_frame_is_read_back_as_it_was_written():
    data = encode_frame(7, 2**32 - 1, 1.25, [(3, (0.5, -1.5, 2.0, 0.5, -0.5, 0.5, 0.5)), (65535, (0,) * 7)])
    frame = decode_frame(data)
    assert frame[:3] == (7, 2**32 - 1, 1.25)
    assert frame.poses[3] == pytest.approx((0.5, -1.5, 2.0, 0.5, -0.5, 0.5, 0.5), abs=4e-5)
    for broken in (b"", data[:-1], data + b"x"):
        with pytest.raises(ValueError, match="no frame"):
            decode_frame(broken)


def test_the_first_frame_has_everything_and_the_next_only_what_moved(watched):
    revision, text = watched.stream.geometry()
    geometry = json.loads(text)
    first = watched.stream.frame_after(b"")
    everything = decode_frame(first)
    assert everything.revision == revision == geometry["revision"]
    assert len(everything.poses) == len(geometry["bodies"])
    kinds = {body.get("id"): body.get("kind") for body in geometry["bodies"]}
    assert kinds["arm"] == "robot" and kinds["cube"] == "object" and kinds["table"] == "furniture"
    assert watched.move().ok
    moved = decode_frame(watched.stream.frame_after(first))
    names = {geometry["bodies"][i].get("id") for i in moved.poses}
    assert names == {"arm"} and moved.number > everything.number
    hand = next(r["tool"] for r in geometry["robots"])
    at = watched.simulation.data.xpos[hand]
    assert moved.poses[hand][:3] == pytest.approx(at, abs=1e-4)


def test_a_reader_that_missed_frames_is_told_all_of_them_and_one_of_another_world_everything(watched):
    first = watched.stream.frame_after(b"")
    watched.stream.ask()
    watched.move(target_pose=[0.4, 0.2, 0.4])
    between = watched.stream.frame_after(first)
    watched.simulation.data.qpos[watched.drivers["arm"].arm.rig.qpos["cube"]] += 0.2
    watched.move(target_pose=[0.4, -0.2, 0.4])
    late = decode_frame(watched.stream.frame_after(first))
    assert set(late.poses) > set(decode_frame(between).poses)
    foreign = encode_frame(decode_frame(between).number, 1, 0.0, [])
    assert len(decode_frame(watched.stream.frame_after(foreign)).poses) == watched.stream.worlds[0].size


def test_nobody_looks_and_nothing_is_taken(watched):
    number, woken = watched.stream.number, []
    watched.stream.wake = lambda: woken.append(1)
    assert watched.move().ok
    assert (watched.stream.number, woken) == (number, [])


def test_while_somebody_waits_frames_come_at_most_thirty_a_second():
    watched = Watched("arm", pace=1.0)  # the clock goes on with the simulation
    stream, times = watched.stream, []

    def taken():
        times.append(watched.clock.monotonic())
        stream.ask()

    stream.wake = taken
    stream.ask()
    assert watched.move().ok
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(gaps) > 10 and min(gaps[:-1]) >= PERIOD - 1e-9 and max(gaps[:-1]) < 3 * PERIOD


def test_the_end_of_a_motion_is_seen_though_it_comes_early(watched):
    """The world runs faster than the viewer's clock: the last pose must not wait for the next motion."""
    stream = watched.stream
    first = stream.frame_after(b"")
    stream.ask()
    assert watched.move().ok
    assert stream.newer_than(first)
    last = decode_frame(stream.frame_after(first))
    assert last.time == pytest.approx(float(watched.simulation.data.time))


def test_two_robots_are_one_stream():
    watched = Watched("one", "two")
    geometry = json.loads(watched.stream.geometry()[1])
    assert [robot["id"] for robot in geometry["robots"]] == ["one", "two"]
    first = watched.stream.frame_after(b"")
    assert watched.move("two", target_pose=[0.6, 0.25, 0.4]).ok
    moved = decode_frame(watched.stream.frame_after(first)).poses
    assert {geometry["bodies"][i]["id"] for i in moved} == {"two"}


@pytest.mark.parametrize("factor", [0.5, 4.0])
def test_a_paced_world_keeps_to_the_clock(factor):
    watched = Watched("arm", pace=factor)
    start, began = watched.clock.monotonic(), float(watched.simulation.data.time)
    assert watched.move().ok
    simulated = float(watched.simulation.data.time) - began
    assert watched.clock.monotonic() - start == pytest.approx(simulated / factor, abs=0.2 / factor + 0.1)


def test_a_stop_ends_a_paced_motion_in_the_middle_of_it():
    watched = Watched("arm", pace=0.1)
    run = Run(watched.clock, watched.clock.monotonic() + 1e6)
    wait, waited = watched.clock.wait, []

    def press(event, seconds):
        waited.append(seconds)
        if len(waited) == 20:
            run.cancel.set()
        return wait(event, seconds)

    watched.clock.wait = press
    start = float(watched.simulation.data.time)
    outcome = watched.move(run=run)
    assert not outcome.ok and outcome.code == "CANCELLED"
    assert max(waited[:20]) <= 0.0201  # s: no longer is the stop flag left unread; then the brakes work
    assert float(watched.simulation.data.time) - start < 1.0


def test_a_plan_is_there_while_it_runs_and_gone_afterwards(watched):
    world, seen = watched.stream.worlds[0], []
    watched.stream.wake = lambda: seen.append(world.plans()["robots"])
    watched.stream.ask()
    assert watched.move().ok
    (ghost,) = seen[0]
    assert ghost["robot"] == "arm" and len(ghost["joints"][-1]) == 7
    assert world.plans() == {"robots": [], "reserved": []}


def test_contacts_have_forces(watched):
    cube = [c for c in watched.stream.contacts() if "cube" in c["between"]]
    assert abs(sum(c["force_n"][2] for c in cube)) == pytest.approx(0.1 * 9.81, rel=0.2)
    assert {"point", "depth_m", "force_n", "between"} == set(cube[0])


def test_a_viewer_in_another_thread_misses_no_end(watched):
    """Frames read beside a motion end at the very pose that the world has."""
    stream, frame, news = watched.stream, watched.stream.frame_after(b""), threading.Event()
    stream.wake = news.set
    poses, over = dict(decode_frame(frame).poses), threading.Event()

    def view():
        nonlocal frame
        while True:
            stream.ask()
            if stream.newer_than(frame):
                frame = stream.frame_after(frame)
                poses.update(decode_frame(frame).poses)
            elif over.is_set():
                return
            else:
                news.wait(0.05)
                news.clear()

    viewer = threading.Thread(target=view)
    viewer.start()
    assert watched.move().ok
    over.set()
    viewer.join(PATIENCE_S)
    hand = json.loads(stream.geometry()[1])["robots"][0]["tool"]
    assert poses[hand][:3] == pytest.approx(watched.simulation.data.xpos[hand], abs=2e-4)


assert ROW.size == 22
