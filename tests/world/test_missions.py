"""Missions in a world that serves: given to robots, planned, stopped by one stop, and gone on with after a restart."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import replace

import pytest

from worldfs.base.errors import BadInput, MissingRequirement, NotFound, NotPermitted
from worldfs.base.messages import render
from worldfs.base.model import Cause, Outcome
from worldfs.fleet.mission import MissionState
from worldfs.fleet.mission_store import MissionFiles
from worldfs.fleet.reservations import Reservation, ReservedKind
from worldfs.interfaces.cli.main import main
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.world import World

ROBOTS = ("arm_1", "arm_2")
SCENE = {"robots": [{"robot_id": id, "pose": [0.0, 0.0, 0.0]} for id in ROBOTS], "objects": []}


class Body(NullDriver):
    """Its motions last until the test lets them end, or they are stopped."""

    def __init__(self, go, executed, deaf):
        super().__init__(executed=executed)
        self.go, self.deaf = go, deaf

    def execute(self, order, run):
        self.executed.append(order)
        if (until_then := self.deaf.pop(order.node, None)) is not None:
            assert until_then.wait(PATIENCE_S)
        while not self.go.wait(0.01):
            if run.stop:
                return Outcome.failure(Cause(run.stop), "CANCELLED", "stopped")
        return Outcome.success("done")


class Site:
    def __init__(self, place):
        self.place, self.go, self.executed, self.world = place, threading.Event(), [], None
        self.deaf = {}  # robot → an event that its driver waits for, whatever it is asked
        (place / "ENVIRONMENT.md").write_text(json.dumps(SCENE))

    @contextmanager
    def served(self):
        drivers = {"simulation": lambda context: Body(self.go, self.executed, self.deaf)}
        stop = threading.Event()
        with World.open(self.place, serve=True, drivers=drivers) as world:
            self.world = world
            kernel = threading.Thread(target=world.run, kwargs={"stop": stop})
            kernel.start()
            try:
                yield world
            finally:
                stop.set()
                world.wake()
                kernel.join()

    def add(self, text, role="operator", **more):
        with World.open(self.place) as world:
            before = {item["id"] for item in self.missions(world)}
            world.namespace(role).write("/projects/main/mission", json.dumps({"text": text, **more}).encode())
            return next(item["id"] for item in self.missions(world) if item["id"] not in before)

    def ask(self, mission, request):
        value = {"mission": mission, "request": request}
        self.world.namespace("operator").write("/projects/main/mission", json.dumps(value).encode())

    def missions(self, world):
        return json.loads(world.namespace("operator").read("/projects/main/missions.json").data)["missions"]

    def states(self):
        return {item["id"]: item["state"] for item in self.missions(self.world)}

    def page(self):
        return (self.place / "ORCHESTRATOR.md").read_text()


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def test_two_missions_are_carried_out_by_two_robots_at_once(site):
    ids = [site.add("wave"), site.add("wave")]
    with site.served():
        until(lambda: len(site.executed) == 2)
        assert {order.node for order in site.executed} == set(ROBOTS)
        assert {order.extra["mission"] for order in site.executed} == set(ids)
        until(lambda: site.page().count("| running") == 2)
        assert "wave #2" in site.page()
        site.go.set()
        until(lambda: set(site.states().values()) == {"succeeded"})


def test_robots_that_say_they_are_done_and_are_not_end_no_mission_as_done(site):
    apple = {"id": "apple_01", "name": "Red Apple", "category": "fruit", "position": [0.4, 0, 0.05], "size": [0.06] * 3}
    (site.place / "ENVIRONMENT.md").write_text(json.dumps({**SCENE, "objects": [apple]}))
    id = site.add("pick up the apple")
    site.go.set()
    with site.served() as world:
        until(lambda: site.states()[id] in ("succeeded", "failed"))
        mission = next(item for item in site.missions(world) if item["id"] == id)
    assert mission["state"] == "failed" and "apple" in mission["reason"], mission
    assert {order.node for order in site.executed} == set(ROBOTS)  # the other one had its turn
    assert {order.op for order in site.executed} == {"pick_up"}


def test_one_stop_ends_them_all_and_what_waits_is_held(site):
    ids = [site.add("wave", robot=robot) for robot in ROBOTS]
    with site.served() as world:
        until(lambda: len(site.executed) == 2)
        waiting = site.add("wave")
        world.stop()
        until(lambda: [site.states()[id] for id in ids] == ["paused", "paused"])
        assert site.states()[waiting] == "queued"
        site.go.set()
        world.resume()
        until(lambda: site.states()[waiting] == "succeeded")
        assert [site.states()[id] for id in ids] == ["paused", "paused"]  # they start again only when they are told to
        assert len(site.executed) == 3
        site.ask(ids[0], "resume")
        until(lambda: site.states()[ids[0]] == "succeeded")


def test_a_mission_that_ends_while_the_list_is_made_is_on_it(site, monkeypatch):
    id = site.add("wave")
    latest_ids = MissionFiles.latest_ids

    def slowly(files):
        found = latest_ids(files)
        mission = files.load(id)
        if not mission.status.state.ended:
            files.write(replace(mission, status=replace(mission.status, state=MissionState.CANCELLED)))
        return found

    monkeypatch.setattr(MissionFiles, "latest_ids", slowly)
    with World.open(site.place) as world:
        assert [item["id"] for item in site.missions(world)] == [id]


def test_the_list_says_what_is_reserved_for_a_mission(site):
    id = site.add("wave")
    with World.open(site.place) as world:
        mission = world.missions.load(id)
        held = Reservation(ReservedKind.PLACE, box=(0.0, 0.0, 1.0, 1.0))
        world.missions.write(replace(mission, status=replace(mission.status, held=(held,))))
        (listed,) = site.missions(world)
    assert listed["held"] == [{"kind": "place", "box": [0.0, 0.0, 1.0, 1.0]}]


def test_a_mission_is_cancelled_as_a_whole_while_its_robot_moves(site):
    id = site.add("wave")
    with site.served() as world:
        until(lambda: site.executed)
        site.ask(id, "cancel")
        until(lambda: site.states()[id] == "cancelled")
        until(lambda: world.jobs.load(site.executed[0].id).status.state.terminal)
        assert world.jobs.load(site.executed[0].id).status.outcome.code == "CANCELLED"


def test_a_robot_that_hangs_is_given_nothing_and_what_it_did_is_reported(site):
    """Its driver does not return; another robot must not go on with what it may still be doing."""
    lost, hangs = site.add("wave", robot="arm_1"), threading.Event()
    site.deaf = {"arm_1": hangs}
    with site.served() as world:
        until(lambda: world.kernel.open.running and world.kernel.open.running["arm_1"].deadline)
        world.kernel.open.running["arm_1"].deadline = 0.001  # its time, and that to stop, is over
        world.wake()
        until(lambda: site.states()[lost] == "failed")
        until(lambda: world.kernel.open.running["arm_1"].settled)
        until(lambda: "MISSION_LOST" in {item.code for item in world.kernel.alert.now().values()})
        site.go.set()
        others = [site.add("wave") for _ in range(3)]
        until(lambda: {site.states()[id] for id in others} == {"succeeded"})
        assert {order.node for order in site.executed[1:]} == {"arm_2"}
        waits = site.add("wave", robot="arm_1")
        until(lambda: "has not returned" in site.page())
        hangs.set()  # it is slow, and not dead
        until(lambda: not world.kernel.open.running)
        site.add("wave")
        until(lambda: site.states()[waits] == "succeeded")


def test_a_restart_goes_on_with_what_it_stopped(site):
    id = site.add("wave")
    with site.served():
        until(lambda: site.executed)
    site.go.set()
    with site.served():
        until(lambda: site.states()[id] == "succeeded")


def test_a_world_that_is_closed_waits_for_no_job_although_the_next_kernel_serves(site):
    with site.served() as first:
        first.demand_kernel()
    with site.served(), pytest.raises(MissingRequirement):
        first.demand_kernel()  # each wait for a job does it


def test_a_row_that_a_person_writes_into_the_file_is_carried_out(site):
    first = site.add("wave", robot="arm_1")
    site.go.set()
    with site.served():
        until(lambda: site.states()[first] == "succeeded" and "Pending Queue" in site.page())
        page = site.place / "ORCHESTRATOR.md"
        page.write_text(page.read_text().replace("## Decision Log", "| wave | | high | now |\n\n## Decision Log", 1)
                        .replace("\n\n| wave", "\n| wave"))  # fmt: skip
        until(lambda: len(site.states()) == 2 and set(site.states().values()) == {"succeeded"})


def test_what_nobody_understands_fails_with_the_planner_s_words(site):
    id = site.add("frobnicate the gizmo")
    with site.served():
        until(lambda: site.states()[id] == "failed")
        assert site.executed == []


def test_rights_and_mistakes(site):
    with World.open(site.place) as world:
        with pytest.raises((NotPermitted, NotFound)):
            world.namespace("critic").write("/projects/main/mission", b'{"text": "wave"}')
        with pytest.raises((NotPermitted, NotFound)):
            world.namespace("planner").write("/projects/main/ORCHESTRATOR.md", b"# Orchestrator Dashboard\n")
        operator = world.namespace("operator")
        for bad in (b"", b"[]", b'{"text": ""}', b'{"text": "wave", "priority": "now"}', b'{"mission": "x"}', b"{" * 9):
            with pytest.raises(BadInput):
                operator.write("/projects/main/mission", bad)
        for missing in (b'{"text": "wave", "robot": "nobody"}', b'{"text": "wave", "after": ["m"]}'):
            with pytest.raises(NotFound):
                operator.write("/projects/main/mission", missing)
        assert world.missions.open_ids() == []


@pytest.mark.parametrize(
    "more",
    [
        {"dry_run": True}, {"enabled": False}, {"not_before": "2030-01-01"}, {"approval": "required"}, {"Robot": "arm"},
        {"robot_id": "arm"}, {"robot": 5}, {"robot": ["arm"]}, {"after": "m1"}, {"requires": [1]}, {"text": 7},
        {"x": 1},
    ],
)  # fmt: skip
def test_a_member_that_nothing_reads_makes_no_mission(site, more):
    with World.open(site.place) as world:
        operator = world.namespace("operator")
        with pytest.raises(BadInput) as refused:
            operator.write("/projects/main/mission", json.dumps({"text": "wave", **more}).encode())
        assert next(iter(more)) in render(refused.value.found, "en")
        twice = json.dumps({"text": "wave", **more}).encode().replace(b'"text"', b'"text": "wave", "text"', 1)
        with pytest.raises(BadInput, match="twice"):
            operator.write("/projects/main/mission", twice)
        for wrong in ({"task": True, **more}, {"mission": "m", "request": "pause", **more}):
            with pytest.raises(BadInput):
                operator.write("/projects/main/mission", json.dumps(wrong).encode())
        assert world.missions.open_ids() == []
        operator.write("/projects/main/mission", json.dumps({"text": "wave", "note": "x", "robot": None}).encode())
        assert len(world.missions.open_ids()) == 1


def paos(site, capsys, *words):
    code = main(["--workspace", str(site.place), "--json", *words])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines() if line]


TASK = """\
# Task: Greet

| Sub-Task | Action | Target Device | Status | Depends On | Result |
|----------|--------|---------------|--------|------------|--------|
| 1 | wave | arm_1 | ✅ done | — | |
| 2 | wave | arm_2 | ⬜ pending | 1 | — |
| 3 | wave | arm_1 | ⬜ pending | 2 | — |
"""


def test_rows_of_task_md_go_to_their_devices_after_what_they_depend_on(site, capsys):
    (site.place / "TASK.md").write_text(TASK)
    assert paos(site, capsys, "mission", "add", "--task")[0] == 0
    code, again = paos(site, capsys, "mission", "add", "--task")
    assert (code, again) == (0, [])
    assert paos(site, capsys, "mission", "add", "wave", "--task")[0] != 0
    site.go.set()
    with site.served():
        until(lambda: list(site.states().values()) == ["succeeded", "succeeded"])
    assert [order.node for order in site.executed] == ["arm_2", "arm_1"]
    assert (site.place / "TASK.md").read_text() == TASK  # it has one writer
    for before, then in (("arm_2", "arm_9"), ("✅ done", "❌ failed")):
        (site.place / "TASK.md").write_text(TASK.replace(before, then).replace("Greet", before))
        assert paos(site, capsys, "mission", "add", "--task")[0] != 0


def test_the_command(site, capsys):
    code, said = paos(site, capsys, "mission", "add", "wave", "--priority", "high", "--require", "manipulation")
    assert (code, said[0]["text"], said[0]["priority"]) == (0, "wave", "high")
    first = said[0]["id"]
    code, said = paos(site, capsys, "mission", "add", "wave", "--after", first)
    assert (code, said[0]["after"]) == (0, [first])
    assert paos(site, capsys, "mission", "pause", first)[0] == 0
    assert paos(site, capsys, "mission", "priority", first, "low")[0] == 0
    assert paos(site, capsys, "mission", "cancel", "nothing")[0] != 0
    code, said = paos(site, capsys, "mission", "list")
    assert next(item["id"] for item in said[0]["missions"]) == first
    site.go.set()
    with site.served():
        until(lambda: site.states()[first] == "paused")
        site.ask(first, "resume")
        until(lambda: set(site.states().values()) == {"succeeded"})
        waits = paos(site, capsys, "mission", "add", "wave", "--require", "swimming")[1][0]["id"]
        code, said = paos(site, capsys, "mission", "cancel", waits)
        assert code == 0 and "state" not in said[0]  # what this call has cancelled has not "ended already"
        until(lambda: site.states()[waits] == "cancelled")
    assert next(order.extra["mission"] for order in site.executed) == first
    code, said = paos(site, capsys, "mission", "cancel", first)
    assert (code, said[0]["state"]) == (0, "succeeded")  # it says that nothing is cancelled


@pytest.mark.parametrize("row", ["| 4 | wave |\n", "| 4 | wave | arm_1 |", "| 4 | wave | arm_1 | pending | 1 | —"])
def test_a_row_of_task_md_that_its_writer_has_not_finished_makes_no_mission(site, capsys, row):
    (site.place / "TASK.md").write_text(TASK + row)
    code, said = paos(site, capsys, "mission", "add", "--task")
    assert code == 2, said
    (site.place / "TASK.md").write_text(TASK)
    assert len(paos(site, capsys, "mission", "add", "--task")[1]) == 2  # nothing was made of it before
