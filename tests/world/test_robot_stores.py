"""Two robots with a directory each and a shared one: every record in its place, one kernel."""

import json

import pytest

from worldfs.base.driver import PluginContext
from worldfs.base.errors import Busy
from worldfs.base.model import Cause, JobState
from worldfs.formats import action as action_format
from worldfs.storage.open_store import open_store
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_driver import NullDriver, SimulatedPowerLoss
from worldfs.testing.waiting import until
from worldfs.testing.workspace_fixture import action, order, sheet
from worldfs.world.layout.workspace_rows import ROWS
from worldfs.world.world import GUARDED, World

ROBOTS = ("arm_1", "arm_2")
SCENE = {"robots": [{"robot_id": id, "pose": [0.0, 0.0, 0.0]} for id in ROBOTS], "objects": []}


class Fleet:
    """A shared directory, one for each robot, and the world over them."""

    def __init__(self, home):
        self.shared, self.dirs = home / "shared_workspace", {id: home / id for id in ROBOTS}
        for place in (self.shared, *self.dirs.values()):
            place.mkdir(exist_ok=True)
        if not (self.shared / "ENVIRONMENT.md").exists():
            (self.shared / "ENVIRONMENT.md").write_text(json.dumps(SCENE))
        self.clock, self.executed = ManualClock(), []

    def open(self, *, serve=True):
        robots = {id: open_store("disk", place, guarded=GUARDED) for id, place in self.dirs.items()}
        return World.open(
            self.shared,
            robots=robots,
            serve=serve,
            threads=False,
            clock=self.clock,
            drivers={"simulation": self.driver},
        )

    def driver(self, context: PluginContext):
        return NullDriver(executed=self.executed)

    def queue(self, place):
        """id → status in the ACTION.md of a directory."""
        found, _ = action_format.locate((place / "ACTION.md").read_text())
        return {entry["action_id"]: entry["status"] for entry in action_format.entries_of(found.value)}


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path)


def run(world):
    while world.tick() or not world.kernel.idle:
        pass


def check_sheets(world):
    """The sheet of each robot shows what that robot has to do."""
    for id in ROBOTS:
        page = world.namespace("planner").read(f"/nodes/{id}/ACTION.md").data.decode()
        assert [f"of_{other}" in page for other in ROBOTS] == [id == other for other in ROBOTS]


def names(place):
    return sorted(item.name for item in place.iterdir() if item.name != ".paos")


def test_the_rows_say_what_the_specification_keeps_with_each_robot():
    stored = {row.name for row in ROWS if row.in_matrix and row.per_robot}
    assert stored == {"EMBODIED.md", "ACTION.md"}  # 000 "Workspace Topology", the column "Fleet: Per-Robot"
    assert [row.pattern for row in ROWS if row.per_robot and not row.pattern.startswith("/nodes/{node}/")] == []


def test_every_record_lies_in_its_place(fleet):
    with fleet.open() as world:
        assert [spec.id for spec in world.specs] == list(ROBOTS)
        for id in ROBOTS:
            world.submit(order(f"of_{id}", id))
        world.submit(order("bad", "arm_2", params={"fail": "slipped"}))
        check_sheets(world)  # of what is open
        run(world)
        check_sheets(world)
        planner = world.namespace("planner")
        planner.write("/projects/main/TASK.md", b"# Task\n")
        world.namespace("orchestrator").write("/projects/main/ORCHESTRATOR.md", b"# Orchestrator Dashboard\n")
        world.orchestration.loop.step()
        for id in ROBOTS:
            profile = (fleet.dirs[id] / "EMBODIED.md").read_bytes()
            assert planner.read(f"/nodes/{id}/EMBODIED.md").data == profile
        robots = planner.read("/projects/main/ROBOTS.md").data.decode()
        assert all(str(place) in robots for place in fleet.dirs.values())
    assert names(fleet.shared) == ["ENVIRONMENT.md", "LESSONS.md", "ORCHESTRATOR.md", "TASK.md"]
    for place in fleet.dirs.values():
        assert names(place) == ["ACTION.md", "EMBODIED.md"]
        assert not (place / ".paos/jobs").exists() and not (place / ".paos/done").exists()
    assert fleet.queue(fleet.dirs["arm_1"]) == {"of_arm_1": "completed"}
    assert fleet.queue(fleet.dirs["arm_2"]) == {"of_arm_2": "completed", "bad": "failed"}
    assert {file.stem for file in (fleet.shared / ".paos/done").iterdir()} == {"of_arm_1", "of_arm_2", "bad"}


def test_a_watch_of_a_file_hears_the_store_that_has_it(fleet):
    with fleet.open() as world:
        world.submit(order("a", "arm_1"))
        for path, store in (
            ("/nodes/arm_1/jobs/a/status.json", world.store),
            ("/nodes/arm_1/EMBODIED.md", world.stores.robots["arm_1"]),
            ("/projects/main/ENVIRONMENT.md", world.store),
        ):
            _, key = world.namespace("planner").source(path)
            with world.changes.of_file(path, "planner") as changes:
                until(lambda changes=changes: not changes.read(0.0))  # one that begins may ask to read all once more
                store.append(f"{key}/a.jsonl" if key == ".paos/jobs" else key, b"\n")
                until(lambda changes=changes: changes.read(0.0))  # the clock is manual: a longer read ends at once


def test_what_a_program_writes_into_the_directory_of_a_robot_is_carried_out_by_it(fleet):
    with fleet.open() as world:
        run(world)
        for id, place in fleet.dirs.items():
            entry = action(f"for_{id}", id)
            del entry["robot_id"]  # the directory says which robot is meant
            (place / "ACTION.md").write_bytes(sheet([entry]))
        run(world)
    assert sorted((item.id, item.node) for item in fleet.executed) == [("for_arm_1", "arm_1"), ("for_arm_2", "arm_2")]
    for id, place in fleet.dirs.items():
        assert fleet.queue(place) == {f"for_{id}": "completed"}


def test_an_entry_in_the_wrong_directory_is_refused(fleet):
    (fleet.dirs["arm_1"] / "ACTION.md").write_bytes(sheet([action("a", "arm_2")]))
    (fleet.shared / "ACTION.md").write_bytes(sheet([action("b", "arm_2")]))
    with fleet.open() as world:
        run(world)
        alerts = json.loads(world.namespace("operator").read("/meta/alerts.json").data)
        assert {name: alert["code"] for name, alert in alerts.items() if "#" in name} == {
            "arm_1/ACTION.md#a": "NODE_MISMATCH",
            "ACTION.md#b": "NODE_MISMATCH",
        }
    assert fleet.executed == []
    assert fleet.queue(fleet.dirs["arm_1"]) == {"a": "failed"} and fleet.queue(fleet.shared) == {"b": "failed"}


def test_a_profile_that_is_removed_comes_back_where_it_was(fleet):
    with fleet.open() as world:
        profile = fleet.dirs["arm_2"] / "EMBODIED.md"
        text = profile.read_bytes()
        profile.unlink()
        run(world)
        assert profile.read_bytes() == text
        assert not (fleet.shared / "EMBODIED.md").exists()


def test_one_kernel_has_them_all(fleet):
    with fleet.open():
        for place in (fleet.shared, *fleet.dirs.values()):
            with pytest.raises(Busy):
                World.open(place, serve=True, threads=False)
    with World.open(fleet.dirs["arm_2"], serve=True, threads=False, drivers={"simulation": fleet.driver}):
        robots = {id: open_store("disk", place) for id, place in fleet.dirs.items()}
        with pytest.raises(Busy):
            World.open(fleet.shared, robots=robots, serve=True, threads=False)
    with fleet.open():  # what the refused start had taken is free again
        pass


def test_a_reader_submits_and_another_kernel_finds_it(fleet):
    with fleet.open():
        pass
    with fleet.open(serve=False) as world:
        world.namespace("planner").write("/nodes/arm_2/ACTION.md", sheet([action("late", "arm_2")]))
        assert world.jobs.load("late").status.state is JobState.PENDING
    with fleet.open() as world:
        run(world)
        assert world.jobs.load("late").status.state is JobState.SUCCEEDED
    assert fleet.queue(fleet.dirs["arm_2"]) == {"late": "completed"}


def test_what_ran_when_the_kernel_died_is_lost_in_its_own_sheet(fleet):
    world = fleet.open()
    (fleet.dirs["arm_2"] / "ACTION.md").write_bytes(sheet([action("torn", "arm_2", crash=True)]))
    with pytest.raises(SimulatedPowerLoss):
        run(world)
    world.abandon()
    with fleet.open() as world:
        run(world)
        outcome = world.jobs.load("torn").status.outcome
        assert outcome is not None and outcome.cause is Cause.LOST
    assert fleet.queue(fleet.dirs["arm_2"]) == {"torn": "failed"} and len(fleet.executed) == 1
