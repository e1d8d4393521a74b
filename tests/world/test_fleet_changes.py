"""Robots that come and go while the kernel of a fleet runs: each with its directory, nothing lost, one writer."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from worldfs.access.binding import MOTHER, USER, Binding
from worldfs.base.driver import PluginContext, Run, Standstill
from worldfs.base.errors import BadInput, Busy, NotFound
from worldfs.base.model import Cause, JobState, Order, Outcome, Profile, Scene
from worldfs.base.unknown_effect import STOP_CONFIRMED
from worldfs.fleet.mission import MissionState
from worldfs.formats import action as action_format
from worldfs.formats import embodied, environment
from worldfs.interfaces.cli.kernel_thread import KernelThread
from worldfs.interfaces.cli.main import main
from worldfs.storage.directory_lease import directory_lease
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.testing.workspace_fixture import action, order, sheet
from worldfs.world import fleet_changes, mission_executor
from worldfs.world import world as world_module
from worldfs.world.computed_files import current_alerts
from worldfs.world.fleet_changes import CONFIG_WRITTEN
from worldfs.world.home import Home
from worldfs.world.home_world import open_home_world, open_robot
from worldfs.world.mission_executor import MissionThreads
from worldfs.world.node_specs import find_nodes
from worldfs.world.onboard import onboard
from worldfs.world.reset import reset, reset_losses
from worldfs.world.robot_registry import RobotChange, add_robot, remove_robot
from worldfs.world.served_world import ServedWorld
from worldfs.world.status_report import status_report
from worldfs.world.world import World

FIRST, SECOND = "franka_001", "franka_002"


class ClosingDriver(NullDriver):
    closed = False

    def close(self) -> None:
        self.closed = True
        super().close()


class Vehicle(ClosingDriver):
    """Its order has ended when it is cancelled, and it drives on until it `stands`."""

    stands = False

    def execute(self, order: Order, run: Run) -> Outcome:
        found = super().execute(order, run)
        return replace(found, evidence={STOP_CONFIRMED: self.stands})

    def standstill(self, since: float) -> Standstill:
        return Standstill(self.stands, "" if self.stands else "it drives")


class PeerDriver(ClosingDriver):
    """A body in a world that is built for those that are there when the first one is opened."""

    def __init__(self, robot: str, shared: dict[str, Any]) -> None:
        super().__init__()
        self.robot, self.shared = robot, shared
        shared.setdefault("all", set()).add(robot)

    def open(self, scene: Scene) -> None:
        working = self.shared.setdefault("working", set())
        if not working:
            self.shared["built"] = set(self.shared["all"])
        if self.robot not in self.shared["built"]:
            raise BadInput(f"a world without {self.robot}")
        working.add(self.robot)
        super().open(scene)

    def close(self) -> None:
        self.shared["working"].discard(self.robot)
        super().close()

    def leave(self) -> bool:
        self.shared["all"].discard(self.robot)
        return bool(self.shared["working"])


class RunningFleet:
    def __init__(self, path: Path) -> None:
        self.home = Home(path)
        onboard(self.home, fleet=True)
        self.bodies: dict[str, ClosingDriver] = {}
        self.peers = False  # whether the bodies share a world

    def body(self, context: PluginContext) -> ClosingDriver:
        alone = not self.peers
        made = ClosingDriver() if alone else PeerDriver(context.robot_id, context.shared)
        self.bodies[context.robot_id] = made
        return made

    @contextmanager
    def up(self) -> Iterator[World]:
        config = self.home.config({})
        drivers = {"simulation": self.body}
        with (
            open_home_world(
                self.home.root(config), config, agents=self.home.path / "agents", serve=True, drivers=drivers
            ) as world,
            KernelThread(world),
        ):
            yield world

    def put(self, place: str, *entries: dict[str, Any]) -> None:
        (self.home.path / place / "ACTION.md").write_bytes(sheet(list(entries)))

    def queue(self, place: str) -> Mapping[str, str]:
        found, _ = action_format.locate((self.home.path / place / "ACTION.md").read_text())
        return {} if found is None else {e["action_id"]: e["status"] for e in action_format.entries_of(found.value)}

    def robots(self) -> str:
        return (self.home.path / "shared_workspace/ROBOTS.md").read_text()


@pytest.fixture
def fleet(tmp_path: Path) -> RunningFleet:
    return RunningFleet(tmp_path / "home")


BOARD = """# Orchestrator Dashboard

## Pending Queue

| Mission | Requirements | Priority | Queued At |
|---|---|---|---|
| go to the dock | robot: {} | normal | |
"""


def test_the_status_has_the_alerts_of_the_dashboard_while_nothing_else_happens(fleet: RunningFleet) -> None:
    with fleet.up() as world:
        file = fleet.home.path / "shared_workspace/ORCHESTRATOR.md"

        def codes() -> list[object]:
            return [alert["code"] for alert in current_alerts(world.store, "en").values()]

        until(file.exists)
        file.write_text(BOARD.format("r1 or r2"))
        until(lambda: "MISSION_ROBOT" in codes())
        file.write_text(BOARD.replace("| go to the dock | robot: {} | normal | |\n", ""))
        until(lambda: "MISSION_ROBOT" not in codes())


def test_a_robot_that_is_added_works_at_once_from_its_own_directory(fleet: RunningFleet) -> None:
    with fleet.up() as world:
        made = add_robot(fleet.home, "arm_3", "franka_panda")
        assert made.directory == str(fleet.home.path / "arm_3")
        until(lambda: "arm_3" in world.node_ids() and (fleet.home.path / "arm_3/EMBODIED.md").exists())
        fleet.put("arm_3", action("one", "arm_3"))
        until(lambda: fleet.queue("arm_3") == {"one": "completed"})
        assert [item.id for item in fleet.bodies["arm_3"].executed] == ["one"]
        holder = directory_lease(made.directory).holder()
        assert holder is not None and holder["purpose"] == "kernel"
        until(lambda: "| arm_3 | simulation | " in fleet.robots() and made.directory in fleet.robots())
        world.submit(order("two", "arm_3"))  # and the others go on
        world.submit(order("three", FIRST))
        until(lambda: all(world.jobs.load(id).status.state is JobState.SUCCEEDED for id in ("two", "three")))
        (fleet.home.path / "arm_3/EMBODIED.md").unlink()
        until((fleet.home.path / "arm_3/EMBODIED.md").exists)  # it is watched as those of the others are
    with fleet.up() as world:  # and it is there after a restart
        assert world.node_ids() == [FIRST, SECOND, "arm_3"]


def test_a_body_that_joins_a_world_at_work_begins_when_the_others_rest(fleet: RunningFleet) -> None:
    fleet.peers, said = True, []
    with fleet.up() as world:
        world.listen_alerts(said.append)
        world.submit(order("long", FIRST, params={"hang": True}))
        until(lambda: world.jobs.load("long").status.state is JobState.RUNNING)
        add_robot(fleet.home, "arm_3", "franka_panda")
        until(lambda: "arm_3" in world.node_ids())
        assert not fleet.bodies[FIRST].closed and world.jobs.load("long").status.state is JobState.RUNNING
        world.cancel("long")
        until(lambda: "arm_3" in fleet.bodies and fleet.bodies["arm_3"].is_open)
        for id in (FIRST, SECOND, "arm_3"):
            world.submit(order(f"of_{id}", id))
        until(lambda: all(world.jobs.load(f"of_{id}").status.state is JobState.SUCCEEDED for id in fleet.bodies))
    assert not said  # it waits for its turn, which is no fault


def test_a_body_that_is_removed_leaves_the_world_of_the_others_when_they_rest(fleet: RunningFleet) -> None:
    fleet.peers = True
    with fleet.up() as world:
        world.submit(order("long", FIRST, params={"hang": True}))
        until(lambda: world.jobs.load("long").status.state is JobState.RUNNING)
        shared = fleet.bodies[FIRST].shared  # type: ignore[attr-defined]
        remove_robot(fleet.home, SECOND)
        until(lambda: world.node_ids() == [FIRST] and fleet.bodies[SECOND].closed)
        assert shared["built"] == {FIRST, SECOND} and not fleet.bodies[FIRST].closed  # it is at work
        world.cancel("long")
        until(lambda: shared["built"] == {FIRST})
        world.submit(order("next", FIRST))
        until(lambda: world.jobs.load("next").status.state is JobState.SUCCEEDED)


def test_a_robot_that_is_removed_is_let_go_and_its_files_stay(fleet: RunningFleet) -> None:
    with fleet.up() as world:
        fleet.put(SECOND, action("one", SECOND))
        until(lambda: fleet.queue(SECOND) == {"one": "completed"})
        remove_robot(fleet.home, SECOND)
        until(lambda: world.node_ids() == [FIRST] and fleet.bodies[SECOND].closed)
        until(lambda: directory_lease(fleet.home.path / SECOND).holder() is None)
        until(lambda: SECOND not in fleet.robots())
        assert fleet.queue(SECOND) == {"one": "completed"} and (fleet.home.path / SECOND / "EMBODIED.md").exists()
        world.jobs.accept([order("late", SECOND), order("two", FIRST)])
        until(lambda: world.jobs.load("late").status.state is JobState.FAILED)
        outcome = world.jobs.load("late").status.outcome
        assert outcome is not None and outcome.code == "NODE_UNKNOWN"
        until(lambda: world.jobs.load("two").status.state is JobState.SUCCEEDED)
        add_robot(fleet.home, SECOND, "franka_panda")  # and back again, with what it had done
        until(lambda: world.node_ids() == [FIRST, SECOND])
        fleet.put(SECOND, action("one", SECOND), action("again", SECOND))
        until(lambda: fleet.queue(SECOND) == {"one": "completed", "again": "completed"})
        assert [item.id for item in fleet.bodies[SECOND].executed] == ["again"]


def test_a_robot_with_open_jobs_is_not_removed_unless_they_are_to_end(fleet: RunningFleet) -> None:
    with fleet.up() as world:
        world.submit(order("runs", SECOND, params={"hang": True}))
        world.submit(order("waits", SECOND))
        world.submit(order("other", FIRST, params={"hang": True}))
        until(lambda: world.jobs.load("runs").status.state is JobState.RUNNING)
        before = fleet.home.config_path.read_bytes()
        with pytest.raises(Busy, match="runs"):
            remove_robot(fleet.home, SECOND)
        assert fleet.home.config_path.read_bytes() == before and world.node_ids() == [FIRST, SECOND]
        gone = remove_robot(fleet.home, SECOND, cancel=True)
        assert sorted(gone.cancelled) == ["runs", "waits"]
        until(lambda: world.node_ids() == [FIRST])
        until(lambda: all(world.jobs.load(id).status.state.terminal for id in ("runs", "waits")))
        for id in ("runs", "waits"):
            outcome = world.jobs.load(id).status.outcome
            assert outcome is not None and outcome.cause is Cause.CANCELLED and outcome.message
        waited = world.jobs.load("waits").status.outcome
        assert waited is not None and waited.code == "ROBOT_REMOVED" and SECOND in waited.message
        until(lambda: fleet.queue(SECOND) == {"runs": "failed", "waits": "failed"})  # its sheet says so, too
        assert world.jobs.load("other").status.state is JobState.RUNNING


def test_a_robot_is_let_go_once_it_is_measured_to_stand(
    fleet: RunningFleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remove_robot, "__kwdefaults__", {**remove_robot.__kwdefaults__, "wait_s": 0.5})
    monkeypatch.setattr(fleet, "body", lambda context: fleet.bodies.setdefault(context.robot_id, Vehicle()))
    with fleet.up() as world:
        body = fleet.bodies[SECOND]
        assert isinstance(body, Vehicle)
        world.submit(order("runs", SECOND, params={"hang": True}))
        until(lambda: world.jobs.load("runs").status.state is JobState.RUNNING)
        monkeypatch.setenv("PAOS_HOME", str(fleet.home.path))
        assert main(["robot", "remove", SECOND, "--cancel-jobs"]) == 1
        said = capsys.readouterr()
        assert "runs" in said.err and f"{SECOND} may still move" in said.err and "hardware stop" in said.err
        assert world.jobs.load("runs").status.state is JobState.FAILED
        until(lambda: f"stop {SECOND}" in current_alerts(world.store, "en"))
        assert current_alerts(world.store, "en")[f"stop {SECOND}"]["code"] == "STOP_UNCONFIRMED"
        assert SECOND in world.node_ids() and not body.closed
        body.stands = True
        until(lambda: world.node_ids() == [FIRST] and body.closed)
        until(lambda: f"stop {SECOND}" not in current_alerts(world.store, "en"))


class Deaf(Vehicle):
    """It is done all the same when it is cancelled."""

    def execute(self, order: Order, run: Run) -> Outcome:
        return replace(super().execute(order, run), ok=True, cause=None, code="")


def test_a_job_that_succeeded_although_its_robot_was_removed_is_said_to_have(
    fleet: RunningFleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "body", lambda context: fleet.bodies.setdefault(context.robot_id, Deaf()))
    monkeypatch.setenv("PAOS_HOME", str(fleet.home.path))
    with fleet.up() as world:
        for body in fleet.bodies.values():
            assert isinstance(body, Deaf)
            body.stands = True
        world.submit(order("runs", SECOND, params={"hang": True}))
        world.submit(order("waits", SECOND))
        until(lambda: world.jobs.load("runs").status.state is JobState.RUNNING)
        assert main(["robot", "remove", SECOND, "--cancel-jobs"]) == 0
        assert world.jobs.load("runs").status.state is JobState.SUCCEEDED
    said = capsys.readouterr().out
    assert "its jobs end as cancelled: waits\n" in said
    assert "runs was not cancelled: it ended meanwhile: succeeded" in said


def test_a_removed_robot_that_stands_late_and_in_time_has_stopped(fleet: RunningFleet, monkeypatch: Any) -> None:
    monkeypatch.setattr(fleet, "body", lambda context: fleet.bodies.setdefault(context.robot_id, Vehicle()))
    with fleet.up() as world:
        body = fleet.bodies[SECOND]
        world.submit(order("runs", SECOND, params={"hang": True}))
        until(lambda: world.jobs.load("runs").status.state is JobState.RUNNING)
        gone: list[RobotChange] = []
        command = threading.Thread(target=lambda: gone.append(
            remove_robot(fleet.home, SECOND, cancel=True, wait_s=PATIENCE_S)))  # fmt: skip
        command.start()
        until(lambda: world.jobs.load("runs").status.state is JobState.FAILED)
        body.stands = True
        command.join()
        assert gone[0].cancelled == ("runs",) and gone[0].unended == gone[0].unconfirmed == ()
        assert world.kernel is not None and SECOND not in world.kernel.nodes


def test_a_directory_that_another_kernel_serves_is_named_and_the_others_go_on(
    fleet: RunningFleet, tmp_path: Path
) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    with World.open(foreign, serve=True, drivers={"simulation": fleet.body}), fleet.up() as world:
        add_robot(fleet.home, "arm_3", "franka_panda", str(foreign))
        assert world.kernel is not None
        alert = world.kernel.alert
        until(lambda: any("arm_3" in item.field and "process" in item.found for item in alert.now().values()))
        assert world.node_ids() == [FIRST, SECOND]
        world.submit(order("two", FIRST))
        until(lambda: world.jobs.load("two").status.state is JobState.SUCCEEDED)
        until(lambda: "| refused |" in fleet.robots())


def test_a_broken_configuration_changes_nothing_while_the_kernel_runs(fleet: RunningFleet) -> None:
    with fleet.up() as world:
        whole = fleet.home.config_path.read_bytes()
        fleet.home.config_path.write_bytes(whole[:-20])
        world.store.put(CONFIG_WRITTEN, b"x")
        assert world.kernel is not None
        alert = world.kernel.alert
        until(lambda: any("config.json" in name for name in alert.now()))
        assert world.node_ids() == [FIRST, SECOND]
        fleet.home.config_path.write_bytes(whole)
        world.store.put(CONFIG_WRITTEN, b"y")
        until(lambda: not any("config.json" in name for name in alert.now()))


def test_a_robot_is_disabled_and_enabled_in_the_file(fleet: RunningFleet) -> None:
    with fleet.up() as world:
        document = json.loads(fleet.home.config_path.read_bytes())
        document["embodiments"]["instances"][1]["enabled"] = False
        fleet.home.config_path.write_text(json.dumps(document))
        world.store.put(CONFIG_WRITTEN, b"x")
        until(lambda: world.node_ids() == [FIRST])
        world.jobs.accept([order("late", SECOND)])
        until(lambda: world.jobs.load("late").status.state is JobState.FAILED)
        outcome = world.jobs.load("late").status.outcome
        assert outcome is not None and outcome.code == "ROBOT_DISABLED"
        until(lambda: f"| {SECOND} |" in fleet.robots() and "| no |" in fleet.robots())


def test_a_robot_that_is_disabled_by_hand_takes_no_order_and_the_change_is_served(fleet: RunningFleet) -> None:
    with fleet.up() as world:
        world.jobs.accept([order("before", SECOND)])
        until(lambda: world.jobs.load("before").status.state is JobState.SUCCEEDED)
        whole = fleet.home.config_path.read_text()
        document = json.loads(whole)
        document["embodiments"]["instances"][1]["enabled"] = False
        fleet.home.config_path.write_text(json.dumps(document))  # nothing tells the kernel
        world.jobs.accept([order("late", SECOND), order("first", FIRST)])
        until(lambda: world.jobs.load("late").status.state is JobState.FAILED)
        outcome = world.jobs.load("late").status.outcome
        assert outcome is not None and outcome.code == "ROBOT_DISABLED"
        until(lambda: world.jobs.load("first").status.state is JobState.SUCCEEDED)
        until(lambda: world.node_ids() == [FIRST] and "| no |" in fleet.robots())
        fleet.home.config_path.write_text(whole[:-20])  # half written: what was read last holds
        world.jobs.accept([order("later", SECOND)])
        until(lambda: world.jobs.load("later").status.state is JobState.FAILED)


@pytest.mark.parametrize(
    ("id", "profile", "directory"),
    [
        (FIRST, "franka_panda", ""),
        ("arm_3", "nobody", ""),
        ("arm_3", "franka_panda", SECOND),
        ("arm_3", "franka_panda", f"{SECOND}/below"),
        ("arm_3", "franka_panda", "shared_workspace"),
        ("../arm", "franka_panda", ""),
        ("", "franka_panda", ""),
    ],
)
def test_a_robot_that_could_not_be_served_is_not_added(
    fleet: RunningFleet, id: str, profile: str, directory: str
) -> None:
    before = fleet.home.config_path.read_bytes()
    with pytest.raises(BadInput):
        add_robot(fleet.home, id, profile, directory)
    assert fleet.home.config_path.read_bytes() == before


def test_the_rest_of_the_configuration_stays_as_it_was_written(fleet: RunningFleet) -> None:
    text = fleet.home.config_path.read_text()
    mine = text.replace(
        '"embodiments": {', '"_note": "mine",\n  "providers": {"x": {"apiKey":   "secret"}},\n  "embodiments": {', 1
    )
    mine = mine.replace("sharedWorkspace", "shared_workspace").replace(
        f'"robotId": "{SECOND}"', f'"robot_id":"{SECOND}"'
    )
    fleet.home.config_path.write_text(mine)
    fleet.home.config_path.chmod(0o600)
    add_robot(fleet.home, "arm_3", "franka_panda")
    remove_robot(fleet.home, "arm_3")
    assert fleet.home.config_path.read_text() == mine
    remove_robot(fleet.home, SECOND)
    after = fleet.home.config_path.read_text()
    assert SECOND not in after and '"apiKey":   "secret"' in after
    assert fleet.home.config_path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(NotFound, match=SECOND):
        remove_robot(fleet.home, SECOND)


def test_robots_that_many_processes_add_at_once_are_all_there(fleet: RunningFleet) -> None:
    code = (
        "import sys; from pathlib import Path; from worldfs.world.home import Home\n"
        "from worldfs.world.robot_registry import add_robot\n"
        "for n in range(5): add_robot(Home(Path(sys.argv[1])), f'arm_{sys.argv[2]}_{n}', 'franka_panda')\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, str(fleet.home.path), str(k)]) for k in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    ids = {item.robot_id for item in fleet.home.config({}).instances}
    assert ids == {FIRST, SECOND} | {f"arm_{k}_{n}" for k in range(3) for n in range(5)}
    same = code.split("for n", maxsplit=1)[0] + "add_robot(Home(Path(sys.argv[1])), 'the_same', 'franka_panda')\n"
    runs = [
        subprocess.Popen([sys.executable, "-c", same, str(fleet.home.path)], stderr=subprocess.DEVNULL)
        for _ in range(3)
    ]
    assert sorted(run.wait() for run in runs) == [0, 1, 1] and not fleet.home.config({}).twice


def test_the_last_robot_may_go_and_another_come(fleet: RunningFleet) -> None:
    with fleet.up() as world:
        for id in (FIRST, SECOND):
            remove_robot(fleet.home, id)
        until(lambda: world.node_ids() == [])
        until(lambda: fleet.robots().endswith("| " + " | ".join(["—"] * 9) + " |\n"))
        add_robot(fleet.home, "arm_3", "franka_panda")
        until(lambda: world.node_ids() == ["arm_3"])
        world.submit(order("one", "arm_3"))
        until(lambda: world.jobs.load("one").status.state is JobState.SUCCEEDED)


def test_the_commands(fleet: RunningFleet, capsys: pytest.CaptureFixture[str]) -> None:
    def paos(*words: str) -> int:
        return main(["--home", str(fleet.home.path), *words])

    assert paos("robot", "add", "arm_3", "--profile", "franka_panda", "--dir", str(fleet.home.path / "third")) == 0
    assert str(fleet.home.path / "third") in capsys.readouterr().out
    assert paos("robot", "add", "arm_3") == 2 and paos("robot", "remove", "nobody") == 2
    assert paos("--json", "robot", "list") == 0
    found = json.loads(capsys.readouterr().out)["robots"]
    assert [(row["robot"], row["state"]) for row in found] == [
        (FIRST, "enabled"), (SECOND, "enabled"), ("arm_3", "enabled"),
    ]  # fmt: skip
    assert paos("robot", "remove", "arm_3") == 0 and not (fleet.home.path / "third").exists()
    other = Home(fleet.home.path.parent / "single")
    onboard(other)
    assert main(["--home", str(other.path), "robot", "add", "arm_3"]) == 2
    assert "sharedWorkspace" in capsys.readouterr().err


def test_a_foreign_page_of_robots_is_written_anew(fleet: RunningFleet) -> None:
    with fleet.up():
        whole = fleet.robots()
        page = fleet.home.path / "shared_workspace/ROBOTS.md"
        page.write_text("mine")
        until(lambda: fleet.robots() == whole)
        page.unlink()
        until(lambda: page.exists() and fleet.robots() == whole)


def test_a_new_connection_of_a_served_world_sees_the_robots_that_are_there(fleet: RunningFleet) -> None:
    binding = Binding(USER, MOTHER, "main")
    with fleet.up() as world, ServedWorld.open(fleet.home.path, world=world, memory_only=True) as realm:
        assert {FIRST, SECOND} <= set(realm.namespace(binding).list("/nodes"))
        add_robot(fleet.home, "arm_3", "franka_panda")
        remove_robot(fleet.home, SECOND)
        until(lambda: world.node_ids() == [FIRST, "arm_3"] and (fleet.home.path / "arm_3/EMBODIED.md").exists())

        def seen() -> set[str]:
            realm.attach(binding)
            return {FIRST, SECOND, "arm_3"} & set(realm.namespace(binding).list("/nodes"))

        until(lambda: seen() == {FIRST, "arm_3"})
        assert "body" in realm.namespace(binding).list("/nodes/arm_3")


def test_a_reset_of_a_fleet_clears_the_sheet_of_every_robot_and_can_be_undone(fleet: RunningFleet) -> None:
    paos = ["--home", str(fleet.home.path)]
    fleet.put(FIRST, action("a1", FIRST))
    with fleet.up() as world:
        until(lambda: fleet.queue(FIRST).get("a1") == "completed")
        world.submit(order("a2", SECOND))
        until(lambda: fleet.queue(SECOND).get("a2") == "completed")
        with pytest.raises(Busy):
            reset(fleet.home.path / "shared_workspace", robots=fleet.home.config({}).instances)
    sheets = [fleet.home.path / robot / "ACTION.md" for robot in (FIRST, SECOND)]
    before = [sheet.read_bytes() for sheet in sheets]
    assert main([*paos, "mission", "add", "--robot", FIRST, "wave"]) == 0
    assert main([*paos, "reset", "--yes"]) == 0
    assert [fleet.queue(robot) for robot in (FIRST, SECOND)] == [{}, {}]
    assert not reset_losses(fleet.home.path / "shared_workspace", fleet.home.config({}).instances).missions
    with fleet.up() as world:
        (mission,) = until(world.missions.done_ids)
        assert world.missions.load(mission).status.state is MissionState.CANCELLED  # it waited for the next start
        world.submit(order("a3", SECOND))
        until(lambda: fleet.queue(SECOND).get("a3") == "completed")
        assert "a2" not in fleet.queue(SECOND) and fleet.queue(FIRST) == {}
    assert main([*paos, "reset", "--undo"]) == 0
    assert [sheet.read_bytes() for sheet in sheets] == before


def test_a_change_that_comes_while_another_is_served_is_served_too(fleet: RunningFleet, monkeypatch: Any) -> None:
    """config.json is written once more after the kernel has read it, and before it listens anew."""

    def opened_late(root: Path, robot: Any) -> Any:
        monkeypatch.setattr(fleet_changes, "open_robot", open_robot)
        remove_robot(fleet.home, SECOND)
        return open_robot(root, robot)

    monkeypatch.setattr(fleet_changes, "open_robot", opened_late)
    with fleet.up() as world:
        add_robot(fleet.home, "arm_3", "franka_panda")
        until(lambda: world.node_ids() == [FIRST, "arm_3"])


def test_nodes_found_by_an_earlier_configuration_are_not_kept(fleet: RunningFleet, monkeypatch: Any) -> None:
    """Another thread looks for the nodes while the configuration is replaced."""
    with fleet.up() as world:
        before, later = world.config, world.config._replace(instances=world.config.instances[:1])

        def interrupted(*given: Any) -> Any:
            monkeypatch.setattr(world_module, "find_nodes", find_nodes)
            found = find_nodes(*given)
            world.reconfigure(later)
            return found

        monkeypatch.setattr(world_module, "find_nodes", interrupted)
        world.reconfigure(before._replace())
        assert [spec.id for spec in world.specs] == [FIRST, SECOND]
        assert [spec.id for spec in world.specs] == [FIRST]
        world.reconfigure(before)


def test_a_fleet_that_is_stopped_stops_also_the_robot_that_comes(fleet: RunningFleet) -> None:
    with fleet.up() as world:
        assert world.stop().nodes == [FIRST, SECOND]
        add_robot(fleet.home, "arm_3", "franka_panda")
        until(lambda: "arm_3" in fleet.bodies and fleet.bodies["arm_3"].is_open)
        world.submit(order("held", "arm_3"))
        world.submit(order("refused", "arm_3", params={"robot_id": "arm_3", "hang": True}))
        world.cancel("refused")  # it was read after the first one
        until(lambda: world.jobs.load("refused").status.state is JobState.FAILED)
        assert world.jobs.load("held").status.state is JobState.PENDING and not fleet.bodies["arm_3"].executed
        world.resume()
        until(lambda: world.jobs.load("held").status.state is JobState.SUCCEEDED)


def test_profiles_are_read_when_they_change_and_only_then(fleet: RunningFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the orchestrator bids by."""
    read: list[int] = []  # by which thread: the fleet's own orchestrator reads, too

    def noted(data: bytes) -> Profile:
        read.append(threading.get_ident())
        return embodied.read(data)

    with fleet.up() as world:
        assert world.kernel is not None
        robots = MissionThreads(world, world.kernel, "main")
        monkeypatch.setattr(mission_executor, "embodied", SimpleNamespace(read=noted))
        page = fleet.home.path / FIRST / "EMBODIED.md"

        def payload() -> float | None:
            profile = next(offer.profile for offer in robots.offers() if offer.id == FIRST)
            return None if profile is None else profile.max_payload

        first = payload()
        assert first and payload() == first
        assert read.count(threading.get_ident()) == 2  # one for each robot: what has not changed is not read again
        page.write_text(page.read_text().replace(f"{first:.1f} kg", "0.25 kg"))
        assert payload() == 0.25
        page.write_text("no profile at all")  # what cannot be read is no profile, and not the one before
        assert payload() is None
        robots.close()


def test_a_fleets_language_follows_its_profiles_which_no_text_looks_at_again(
    fleet: RunningFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = fleet.home.path / "config.json"
    config.write_text(config.read_text().replace('"language": "en",', ""))
    with fleet.up() as world:
        store, asked = world.stores.robot(SECOND), list[tuple[str, int]]()  # and by which thread: others look, too
        probe = store.probe
        monkeypatch.setattr(store, "probe", lambda key: [asked.append((key, threading.get_ident())), probe(key)][1])
        assert [world.language() for _ in range(5)] == ["en"] * 5
        assert asked.count(("EMBODIED.md", threading.get_ident())) <= 2  # a change may be heard meanwhile
        page = fleet.home.path / SECOND / "EMBODIED.md"
        page.write_text(page.read_text() + "\n这是一台用于整理桌面的机械臂，请小心。\n")
        until(lambda: world.language() == "zh")
        assert "机器人由操作员" in world.robots_page().decode()  # and the table's words are those of every language
        assert "| Robot ID | Driver |" in world.robots_page().decode()
        (fleet.home.path / "shared_workspace/TASK.md").write_text("# Task\n\nTidy up, in English.\n")
        until(lambda: world.language() == "en")  # what is to be done counts more


def holding(fleet: RunningFleet, robot: str) -> tuple[str | None, list[str]]:
    """What the shared page says that a robot holds, in its entry and by relations."""
    scene = environment.read((fleet.home.path / "shared_workspace/ENVIRONMENT.md").read_bytes()).scene
    state = scene.robot(robot)
    return state.holding if state else None, [r.subject for r in scene.relations if r.object == robot]


def hold(fleet: RunningFleet, **hands: str) -> None:
    entries = [{"robot_id": robot, "holding": thing, "gripper": "closed"} for robot, thing in hands.items()]
    value = {
        "schema_version": "v2.0",
        "scene_graph": {
            "nodes": [],
            "edges": [{"from": thing, "to": robot, "relation": "held_by"} for robot, thing in hands.items()],
        },
        "robots": entries,
        "objects": [{"id": thing, "position": [0.5, 0.1, 0.2], "status": "held"} for thing in hands.values()],
    }
    (fleet.home.path / "shared_workspace/ENVIRONMENT.md").write_text(f"```json\n{json.dumps(value)}\n```\n")


@pytest.mark.parametrize("running", [True, False])
def test_what_a_robot_held_is_free_once_it_is_removed_and_an_alert_says_so(fleet: RunningFleet, running: bool) -> None:
    hold(fleet, franka_001="can_01", franka_002="apple_01")
    if not running:
        remove_robot(fleet.home, SECOND)
    with fleet.up() as world:
        if running:
            assert holding(fleet, SECOND) == ("apple_01", ["apple_01"])
            remove_robot(fleet.home, SECOND)
        until(lambda: holding(fleet, SECOND) == (None, []))
        assert holding(fleet, FIRST) == ("can_01", ["can_01"])
        until(lambda: any("held apple_01" in str(item) for item in status_report(world)["alerts"]))
        add_robot(fleet.home, "arm_3", "franka_panda")  # one that is not there yet has let go of nothing
        until(lambda: "arm_3" in world.node_ids())
        assert holding(fleet, FIRST) == ("can_01", ["can_01"])


def states(fleet: RunningFleet) -> dict[str, object]:
    """As another process tells them."""
    config = fleet.home.config({})
    with open_home_world(fleet.home.root(config), config, agents=fleet.home.path / "agents") as other:
        return {str(node["id"]): node["state"] for node in status_report(other)["nodes"]}


def test_status_does_not_call_a_robot_idle_that_the_kernel_does_not_serve(fleet: RunningFleet) -> None:
    page = fleet.home.path / "config.json"
    with fleet.up() as world:
        until(lambda: states(fleet) == {FIRST: "idle", SECOND: "idle"})
        value = json.loads(page.read_text())
        value["embodiments"]["instances"].append({**value["embodiments"]["instances"][0], "robotId": "arm_3",
                                                  "workspace": "arm_3"})  # fmt: skip
        page.write_text(
            json.dumps(value)
        )  # by hand: the kernel is told of it by `paos robot add`, or at its next start
        assert states(fleet) == {FIRST: "idle", SECOND: "idle", "arm_3": "unserved"}
        world.store.put(CONFIG_WRITTEN, b"1")
        until(lambda: states(fleet) == {FIRST: "idle", SECOND: "idle", "arm_3": "idle"})
        remove_robot(fleet.home, SECOND)
        until(lambda: states(fleet) == {FIRST: "idle", "arm_3": "idle"})
    assert set(states(fleet).values()) == {"offline"}
