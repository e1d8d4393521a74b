"""A driver that does not answer when the world starts is named, stopped and refused; every other robot works."""

from __future__ import annotations

import errno
import importlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Never

import pytest

from worldfs.base.disk import Disk
from worldfs.base.driver import Driver, PluginContext, Run, Standstill
from worldfs.base.errors import BadInput, StorageError, WorldError
from worldfs.base.model import (
    Cause,
    Finding,
    Job,
    JobState,
    JobStatus,
    Operation,
    Order,
    Outcome,
    Parameter,
    RobotState,
    Scene,
)  # fmt: skip
from worldfs.base.model.job import REVIEW_S
from worldfs.formats import config
from worldfs.interfaces.cli import up
from worldfs.robots.checked_bodies import CheckedBodies
from worldfs.runtime.grace import BODY, SILENT_S
from worldfs.runtime.kernel import Kernel
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.root_lock import RootLock
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.testing.workspace_fixture import WorkspaceFixture, order
from worldfs.world import bringup, kernel_assembly, start_marks
from worldfs.world.check import check
from worldfs.world.driver_opening import LIMIT_S
from worldfs.world.status_report import status_report
from worldfs.world.world import World
from worldfs.world.world_job_hooks import WorldJobHooks

SETTINGS = config.read(
    json.dumps(
        {"embodiments": {"instances": [{"robotId": f"{name}_1", "driver": name} for name in ("bad", "good")]}}
    ).encode()
)
CALLS = ("__init__", "open", "assumed", "observe", "real")
AT_ONCE = ("raises", "raises_hanging_text", "exits", "returns_wrong_type")


class HangingText(RuntimeError):
    """An error whose text never comes."""

    go = threading.Event()

    def __str__(self) -> str:
        self.go.wait(PATIENCE_S)
        return "at last"


class Good:
    """A body of a package."""

    operations = (Operation("move_to", "go", (Parameter("target_pose", "[x,y,z]"),)),)

    def __init__(self, context: PluginContext) -> None:
        self.robot, self.pose = context.robot_id, (0.0, 0.0, 0.0)

    def open(self, scene: Scene) -> None:
        return

    def observe(self) -> Scene:
        return Scene((RobotState(self.robot, self.pose),))

    def review(self, asked: object) -> tuple[Finding, ...]:
        return ()

    def execute(self, asked: object, run: object) -> Outcome:
        self.pose = (1.0, 1.0, 0.0)
        return Outcome.success("there")

    def close(self) -> None:
        return


class Misbehaving:
    """What the calls of one body do: `fault` at `call`, and what was called."""

    def __init__(self, call: str, fault: str) -> None:
        self.call, self.fault = call, fault
        self.go, self.called, self.threads = threading.Event(), list[str](), dict[str, threading.Thread]()

    def at(self, call: str, answer: object = None) -> object:
        self.called.append(call)
        self.threads[call] = threading.current_thread()
        if call != self.call:
            return answer
        if self.fault == "hangs":
            self.go.wait(PATIENCE_S)
            return answer
        if self.fault == "raises":
            raise RuntimeError("broken")
        if self.fault == "raises_hanging_text":
            raise HangingText
        if self.fault == "exits":
            sys.exit(0)
        return object()

    def body(self) -> Callable[[PluginContext], Driver]:
        at = self.at

        class Bad(Good):
            def __new__(cls, context: PluginContext) -> Bad:
                answer = at("__init__")
                return answer if answer is not None else super().__new__(cls)  # type: ignore[return-value]

            @property
            def real(self) -> object:
                return at("real", answer=False)

            def open(self, scene: Scene) -> None:
                return at("open")  # type: ignore[return-value]

            def assumed(self) -> object:
                return at("assumed")

            def observe(self) -> Scene:
                return at("observe", super().observe())  # type: ignore[return-value]

            def review(self, asked: object) -> tuple[Finding, ...]:
                return at("review", answer=())  # type: ignore[return-value]

            def execute(self, asked: object, run: object) -> Outcome:
                at("execute")
                return super().execute(asked, run)

            def stop(self) -> None:
                at("stop")

            def standstill(self, since: float) -> Standstill:
                return Standstill(True)

            def close(self) -> None:
                at("close")

        return Bad  # type: ignore[return-value]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkspaceFixture]:
    monkeypatch.setattr(bringup, "WAIT_S", PATIENCE_S)  # `opened` shortens it where a call does not return
    HangingText.go = threading.Event()
    site = WorkspaceFixture(tmp_path / "home" / "workspace", ("bad_1", "good_1"))
    profile = resources.files("worldfs").joinpath("profiles", "wheeled_carrier.md").read_bytes()
    (site.root / "EMBODIED.md").write_bytes(profile)
    yield site
    HangingText.go.set()


@pytest.fixture
def opened(site: WorkspaceFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Misbehaving], World]]:
    worlds: list[tuple[World, Misbehaving]] = []

    def open(bad: Misbehaving) -> World:
        if "hang" in bad.fault:
            monkeypatch.setattr(bringup, "WAIT_S", 0.05)
        drivers: Mapping[str, object] = {"good": CheckedBodies(Good), "bad": CheckedBodies(bad.body())}  # type: ignore[arg-type]
        world = World.open(site.root, config=SETTINGS, clock=site.clock, serve=True, threads=True, drivers=drivers)  # type: ignore[arg-type]
        worlds.append((world, bad))
        return world

    yield open
    for world, bad in worlds:
        bad.go.set()
        HangingText.go.set()
        world.close()


def ticked_until(world: World, holds: Callable[[], bool]) -> None:
    def look() -> bool:
        world.tick()
        return holds()

    until(look)


def move(id: str, robot: str) -> Order:
    return order(id, robot, params={"target_pose": [1.0, 1.0, 0.0]})


def ended(world: World, id: str) -> Job:
    """The job, once it has ended."""

    def end() -> Job | None:
        world.tick()
        job = world.jobs.load(id)
        return job if job.status.state.terminal else None

    found = until(end)
    assert found is not None
    return found


def outcome(world: World, id: str) -> Outcome:
    found = ended(world, id).status.outcome
    assert found is not None
    return found


def alert(world: World) -> Finding | None:
    assert world.kernel is not None
    return world.kernel.alert.now().get("/nodes/bad_1")


def state(world: World, robot: str) -> str:
    nodes = status_report(world)["nodes"]
    assert isinstance(nodes, list)
    return next(str(node["state"]) for node in nodes if node["id"] == robot)


@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_hangs_is_named_and_refused_and_taken_up_when_it_returns(
    site: WorkspaceFixture, opened: Callable[[Misbehaving], World], call: str
) -> None:
    bad = Misbehaving(call, "hangs")
    world = opened(bad)
    world.jobs.accept([move("early", "bad_1"), move("other", "good_1")])
    assert outcome(world, "other").ok
    slow = alert(world)
    assert slow is not None and slow.code == "DRIVER_SLOW" and "bad" in slow.found.lower()
    assert state(world, "bad_1").startswith("fault: ") and state(world, "good_1") == "idle"
    assert not world.jobs.load("early").status.state.terminal  # it may still answer in time
    site.clock.advance(LIMIT_S)  # type: ignore[attr-defined]
    refused = outcome(world, "early")
    assert (
        refused.code == "DRIVER_SILENT" and ("bad" in refused.message.lower()) and str(LIMIT_S)[:2] in refused.message
    )
    silent = alert(world)
    assert silent is not None and silent.code == "DRIVER_SILENT"
    assert [item for item in check(site.root) if item.code == "DRIVER_SILENT"]
    world.jobs.accept([move("late", "bad_1"), move("another", "good_1")])
    assert outcome(world, "late").code == "DRIVER_SILENT" and outcome(world, "another").ok
    assert bad.called.count(call) == 1  # nothing is asked of it meanwhile
    bad.go.set()
    ticked_until(world, lambda: alert(world) is None)
    world.jobs.accept([move("again", "bad_1")])
    assert outcome(world, "again").ok
    assert bad.threads["execute"] is bad.threads["open"]  # still used from one thread


@pytest.mark.parametrize("call", ["open", "observe"])
def test_a_stop_reaches_a_robot_whose_driver_hangs(
    site: WorkspaceFixture, opened: Callable[[Misbehaving], World], call: str
) -> None:
    bad = Misbehaving(call, "hangs")
    world = opened(bad)
    site.clock.advance(LIMIT_S)  # type: ignore[attr-defined]
    ticked_until(world, lambda: (found := alert(world)) is not None and found.code == "DRIVER_SILENT")
    world.robot_stops.stop(["bad_1"], "operator")
    until(lambda: "stop" in bad.called)


def test_a_driver_that_answers_after_the_end_is_closed(
    site: WorkspaceFixture, opened: Callable[[Misbehaving], World]
) -> None:
    bad = Misbehaving("open", "hangs")
    world = opened(bad)
    site.clock.advance(LIMIT_S)  # type: ignore[attr-defined]
    ticked_until(world, lambda: (found := alert(world)) is not None and found.code == "DRIVER_SILENT")
    world.close()
    bad.go.set()
    until(lambda: "close" in bad.called)


@pytest.mark.slice(3)
@pytest.mark.parametrize("fault", AT_ONCE)
@pytest.mark.parametrize("call", CALLS)
def test_no_other_fault_at_the_start_keeps_the_others_from_working(
    site: WorkspaceFixture, opened: Callable[[Misbehaving], World], call: str, fault: str
) -> None:
    world = opened(Misbehaving(call, fault))
    world.jobs.accept([move("b", "good_1")])
    assert outcome(world, "b").ok
    if call == "assumed" or (call, fault) == ("open", "returns_wrong_type"):
        return  # what it builds is only compared, and `open` answers nothing
    found = alert(world)
    assert found is not None and "bad" in f"{found.field} {found.found}".lower()
    assert state(world, "bad_1").startswith("fault: ")
    if fault == "raises_hanging_text":
        site.clock.advance(LIMIT_S)  # type: ignore[attr-defined]
    world.jobs.accept([move("a", "bad_1")])
    assert not outcome(world, "a").ok or call == "observe"  # of which a later one may do


@pytest.mark.parametrize("call", ["__init__", "open"])
def test_a_driver_that_failed_once_is_tried_again_when_the_scene_changes(
    site: WorkspaceFixture, opened: Callable[[Misbehaving], World], call: str
) -> None:
    """A serial port that another program held is free the next time."""
    bad = Misbehaving(call, "raises")
    world = opened(bad)
    found = alert(world)
    assert found is not None and call in found.found and "broken" in found.found
    world.jobs.accept([move("a", "bad_1")])
    assert outcome(world, "a").cause is Cause.REJECTED
    bad.call = ""
    world.jobs.accept([move("b", "good_1")])  # after it the environment is written
    assert outcome(world, "b").ok
    ticked_until(world, lambda: alert(world) is None)
    world.jobs.accept([move("c", "bad_1")])
    assert outcome(world, "c").ok and bad.called.count("execute") == 1


def test_the_only_robot_whose_driver_fails_to_be_made_is_a_fault_of_its_package(site: WorkspaceFixture) -> None:
    alone = config.read(json.dumps({"embodiments": {"instances": [{"robotId": "bad_1", "driver": "bad"}]}}).encode())
    drivers: Mapping[str, object] = {"bad": CheckedBodies(Misbehaving("__init__", "raises").body())}  # type: ignore[arg-type]
    with World.open(site.root, config=alone, clock=site.clock, serve=True, threads=True, drivers=drivers) as world:  # type: ignore[arg-type]
        found = alert(world)
        assert found is not None and "broken" in found.found and "package" in str(found.fix)
        world.tick()
        assert state(world, "bad_1").startswith("fault: ")


def test_a_review_that_hangs_ends_its_order_and_refuses_the_next_until_it_returns(
    site: WorkspaceFixture, opened: Callable[[Misbehaving], World]
) -> None:
    bad = Misbehaving("review", "hangs")
    world = opened(bad)
    world.jobs.accept([move("a", "bad_1"), move("b", "bad_1"), move("c", "good_1")])
    assert outcome(world, "c").ok
    until(lambda: "review" in bad.called)
    site.clock.advance(REVIEW_S + BODY.stop_s + 1)  # type: ignore[attr-defined]
    late = outcome(world, "a")
    assert (late.code, late.cause) == ("PREFLIGHT_TIMEOUT", Cause.TIMEOUT) and "Bad review" in late.message
    assert outcome(world, "b").code == "DRIVER_SILENT" and "Bad review" in outcome(world, "b").message
    bad.go.set()
    ticked_until(world, lambda: alert(world) is None)
    world.jobs.accept([move("d", "bad_1")])
    assert outcome(world, "d").ok and bad.called.count("execute") == 1  # what had ended is not carried out late


@pytest.mark.parametrize("call", ["execute", "observe"])
def test_a_driver_that_does_not_return_from_an_order_that_has_ended_is_named_and_so_is_what_waits_for_it(
    site: WorkspaceFixture, opened: Callable[[Misbehaving], World], call: str
) -> None:
    bad = Misbehaving("", "hangs")
    world = opened(bad)
    until(lambda: "observe" in bad.called)
    bad.call = call
    world.jobs.accept([move("a", "bad_1"), move("b", "bad_1"), move("c", "good_1")])
    assert outcome(world, "c").ok and world.kernel is not None
    until(lambda: bad.called[-1] == call)
    site.clock.advance(1_000)  # type: ignore[attr-defined]
    assert outcome(world, "a").code == "EXECUTION_TIMEOUT"
    ticked_until(world, lambda: alert(world) is not None)
    named = alert(world)
    assert named is not None and named.code == "DRIVER_SILENT" and f"Bad {call}" in named.found
    rows = status_report(world)["recent"]
    assert isinstance(rows, list)
    (waits,) = [row["waits"] for row in rows if "waits" in row]
    assert waits["code"] == "DRIVER_SILENT" and f"Bad {call}" in waits["why"]
    assert not world.kernel.held  # it may still return soon
    site.clock.advance(SILENT_S)  # type: ignore[attr-defined]
    world.run(stop=threading.Event(), until_idle=True)
    said: list[tuple[object, ...]] = []
    context = SimpleNamespace(name="", output=SimpleNamespace(report=lambda *words: said.append(words)))
    assert up._held_jobs(context, world)  # type: ignore[arg-type]  # what `--until-idle` ends with exit 1 for
    assert world.kernel.held == ["bad_1"] and f"Bad {call}" in str(said[0][0])
    bad.go.set()
    assert outcome(world, "b").ok and alert(world) is None and not world.kernel.held


ROBOT = """
import threading
from worldfs.robots.targets.safety_limits import SafetyLimits

began, go, halted = threading.Event(), threading.Event(), threading.Event()

class Robot:
    joints, serial, chain, maker, usual = ("a",), True, None, SafetyLimits(), SafetyLimits()
    def __init__(self, target, context): pass
    def connect(self): began.set(); go.wait(120); raise ConnectionError("gone")
    def sensors(self): return frozenset()
    def pictures(self): return {}
    def halt(self): halted.set()
    def close(self): pass

class Skill:
    def review(self, request, target): return []
    def perform(self, request, context): raise RuntimeError
"""


@pytest.mark.parametrize("limits", [{"session": 8}, {"preflight": 5}, {"execute": 8}, {"queue": 9, "preflight": 3}])
def test_a_session_whose_target_hangs_ends_by_name_within_its_limits(
    site: WorkspaceFixture, install: Callable[..., None], limits: dict[str, int]
) -> None:
    groups = {"worldfs.robots": {"hanging": "hanging_robot:Robot"}, "worldfs.skills": {"Skill": "hanging_robot:Skill"}}
    install("hanging", groups, hanging_robot=ROBOT)
    target = {"id": "t", "type": "real_robot", "adapter": {"class": "RealRobotTargetAdapter", "driver": "hanging"}}
    session = {"target_ref": "t", "skill_ref": "s", "timeouts": limits, "execution": {"params": {}}}
    site.put("TARGETS.md", f"```json\n{json.dumps({'targets': [target]})}\n```\n".encode())
    site.put("SKILLS.md", f"```json\n{json.dumps({'skills': [{'id': 's', 'runtime': 'Skill'}]})}\n```\n".encode())
    sessions = [{**session, "session_id": id} for id in ("s_1", "s_2")]
    site.put("SESSIONS.md", f"```json\n{json.dumps({'sessions': sessions})}\n```\n".encode())
    settings = config.read(json.dumps({"approval": {"default": "never"}}).encode())
    with World.open(site.root, config=settings, clock=site.clock, serve=True, threads=True, drivers={}) as world:
        until(lambda: world.tick() or world.kernel.open.running)  # type: ignore[union-attr]
        hanging_robot = importlib.import_module("hanging_robot")

        try:
            assert hanging_robot.began.wait(PATIENCE_S)
            site.clock.advance(min(limits.values()) + BODY.stop_s + 0.1)  # type: ignore[attr-defined]
            first, second = outcome(world, "s_1"), outcome(world, "s_2")
            assert first.code == "PREFLIGHT_TIMEOUT" and "Robot connect" in first.message
            assert second.code == "DRIVER_SILENT" and "Robot connect" in second.message
            ticked_until(world, lambda: world.kernel is not None and world.kernel.idle)
            world.robot_stops.stop(["t"], "operator")
            assert hanging_robot.halted.wait(PATIENCE_S)
        finally:
            hanging_robot.go.set()


def stopped_before(site: WorkspaceFixture) -> None:
    """A stop of all robots, given while no kernel runs."""
    with World.open(site.root, config=SETTINGS, clock=site.clock) as world:
        world.stop()


def left_running(site: WorkspaceFixture, *robots: str) -> None:
    """Orders that a kernel had begun when it was killed."""
    with World.open(site.root, config=SETTINGS, clock=site.clock) as world:
        for robot in robots:
            world.jobs.accept([move(f"left_{robot}", robot)])
            world.jobs.write_status(f"left_{robot}", JobStatus(JobState.RUNNING, 1))


class Heard(Misbehaving):
    """Its robot is never measured to stand."""

    def body(self) -> Callable[[PluginContext], Driver]:
        base, moves = super().body(), Standstill(False, "0.3 m/s")
        return type("Bad", (base,), {"standstill": lambda self, since: moves})  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("before", ["stop", "killed"])
@pytest.mark.parametrize("place", ["open", "ENVIRONMENT.md"])
def test_a_driver_that_cannot_be_opened_hears_the_stop_and_is_measured(
    site: WorkspaceFixture, opened: Callable[[Misbehaving], World], place: str, before: str
) -> None:
    """An unreadable document, or its own `open`, keeps no robot driving on."""
    if before == "stop":
        stopped_before(site)
    else:
        left_running(site, "bad_1")
    if place == "ENVIRONMENT.md":
        (site.root / place).unlink(missing_ok=True)
        (site.root / place).mkdir()
    bad = Misbehaving(place, "raises")
    world = opened(bad)
    until(lambda: "stop" in bad.called)
    assert world.kernel is not None and world.kernel.nodes["bad_1"].refuses
    assert world.robot_stops.stop(["bad_1"], "operator", confirm_s=PATIENCE_S).confirmed


def test_one_that_moves_on_hears_it_again_and_the_answer_says_why(
    site: WorkspaceFixture, opened: Callable[[Misbehaving], World]
) -> None:
    stopped_before(site)
    bad = Heard("open", "raises")
    world = opened(bad)
    until(lambda: (site.clock.advance(1.0), bad.called.count("stop") > 3)[1])  # type: ignore[attr-defined]
    kernel = world.kernel
    assert kernel is not None
    until(lambda: "0.3 m/s" in kernel.stopping.may_move("bad_1"))
    assert "broken" in kernel.stopping.may_move("bad_1")
    world.jobs.accept([move("other", "good_1")])
    world.resume(None)
    assert outcome(world, "other").ok


@pytest.mark.parametrize("before", ["stop", "killed"])
@pytest.mark.parametrize(("call", "why"), [("__init__", "broken"), ("open", "no port")])
def test_what_no_driver_has_heard_is_not_delivered_and_says_why(
    site: WorkspaceFixture, opened: Callable[[Misbehaving], World], call: str, why: str, before: str
) -> None:
    class Needs(Heard):
        """Its `stop` needs what its `open` was to make."""

        def at(self, call: str, answer: object = None) -> object:
            if call == "stop":
                raise RuntimeError("no port")
            return super().at(call, answer)

    if before == "stop":
        stopped_before(site)
    else:
        left_running(site, "bad_1")
    world = opened(Needs(call, "raises"))
    kernel = world.kernel
    assert kernel is not None
    until(lambda: why in kernel.stopping.may_move("bad_1"))
    refused = move("refused", "bad_1")
    if before == "killed":  # nothing of it reaches the robot: it is refused with the reason, and waits for nothing
        world.jobs.accept([refused])
        assert "broken" in outcome(world, "refused").message and kernel.stopping.may_move("bad_1")
    robot = next(one for one in world.stop().robots if one.node == "bad_1")
    until(lambda: (found := kernel.stopping.answer("bad_1")) is not None and not found.told)
    assert not robot.confirmed and "broken" in kernel.stopping.may_move("bad_1")


def test_a_stop_that_hangs_in_an_unopened_driver_holds_up_nothing(
    site: WorkspaceFixture, opened: Callable[[Misbehaving], World]
) -> None:
    class Hangs(Misbehaving):
        def at(self, call: str, answer: object = None) -> object:
            if call == "open":
                raise RuntimeError("broken")
            return super().at(call, answer)

    left_running(site, "bad_1")
    world = opened(Hangs("stop", "hangs"))
    world.jobs.accept([move("other", "good_1")])
    assert outcome(world, "other").ok


@pytest.mark.slice(2, 1)
@pytest.mark.parametrize("before", ["stop", "killed"])
def test_a_start_that_fails_has_told_every_driver_and_names_those_that_may_move(
    site: WorkspaceFixture, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    """The disk is full from the first write of the start on: the mark of the call that makes a package's driver."""
    if before == "stop":
        stopped_before(site)
    else:
        left_running(site, "bad_1", "good_1")
    stands, moves = Misbehaving("", ""), Heard("", "")

    def full(hooks: object, node: str, body: object) -> Scene:
        raise StorageError("No space left on device", path="ENVIRONMENT.md")

    put = DiskStore.put

    def mark(store: DiskStore, key: str, data: bytes, *of: object, **more: object) -> str:
        if key == start_marks.FILE:
            raise StorageError("No space left on device", path=key)
        return put(store, key, data, *of, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(kernel_assembly, "package_code", lambda spec, target: "package\nentry")
    monkeypatch.setattr(DiskStore, "put", mark)
    monkeypatch.setattr(WorldJobHooks, "observe", full)
    drivers: Mapping[str, object] = {"bad": CheckedBodies(stands.body()), "good": CheckedBodies(moves.body())}  # type: ignore[arg-type]
    with pytest.raises(StorageError) as failed:
        World.open(site.root, config=SETTINGS, clock=site.clock, serve=True, threads=True, drivers=drivers)  # type: ignore[arg-type]
    assert "stop" in stands.called and "stop" in moves.called
    assert any("good_1" in note for note in failed.value.__notes__)


class ReadOnly(Disk):
    """A disk that was mounted again read-only."""

    def __init__(self) -> None:
        super().__init__(self._refuse)

    def _refuse(self, name: str, path: str) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)


@pytest.mark.slice(2)
@pytest.mark.parametrize("before", ["stop", "killed", "nothing"])
def test_a_start_on_a_read_only_disk_tells_every_driver_where_a_robot_may_move(
    site: WorkspaceFixture, before: str
) -> None:
    """It takes no lease: it tells them, and ends. Each driver is open when it is told last; nothing is observed."""
    if before == "stop":
        stopped_before(site)
    elif before == "killed":
        left_running(site, "bad_1", "good_1")
    stands, moves = Misbehaving("", ""), Heard("", "")
    drivers: Mapping[str, object] = {"bad": CheckedBodies(stands.body()), "good": CheckedBodies(moves.body())}  # type: ignore[arg-type]
    files = {path: path.read_bytes() for path in site.root.rglob("*") if path.is_file()}
    store = DiskStore(site.root, ReadOnly())
    with pytest.raises(WorldError, match="read-only") as failed:
        World.open(site.root, config=SETTINGS, clock=site.clock, store=store, serve=True, drivers=drivers)  # type: ignore[arg-type]
    if before == "nothing":
        assert not stands.called and not moves.called
    else:
        assert "stop" in stands.called and "stop" in moves.called
        assert "stop" in moves.called[moves.called.index("open") :] and "observe" not in moves.called
        (note,) = failed.value.__notes__
        assert "good_1" in note and "bad_1" not in note
    assert files == {path: path.read_bytes() for path in site.root.rglob("*") if path.is_file()}


def test_a_start_that_takes_no_lease_calls_no_driver_of_a_kernel_that_lives(site: WorkspaceFixture) -> None:
    stopped_before(site)
    body = Misbehaving("", "")
    drivers: Mapping[str, object] = {"bad": CheckedBodies(body.body()), "good": CheckedBodies(body.body())}  # type: ignore[arg-type]
    with RootLock(site.root, "kernel"), pytest.raises(WorldError):
        World.open(
            site.root, config=SETTINGS, clock=site.clock, store=DiskStore(site.root, ReadOnly()), serve=True,
            drivers=drivers,  # type: ignore[arg-type]
        )  # fmt: skip
    assert not body.called


def test_a_start_that_fails_before_there_are_drivers_names_all_that_may_move(site: WorkspaceFixture) -> None:
    stopped_before(site)
    with pytest.raises(BadInput) as failed:
        World.open(site.root, config=SETTINGS, clock=site.clock, serve=True, threads=True, drivers={})
    assert "bad_1, good_1" in "".join(failed.value.__notes__)


@pytest.mark.parametrize(("before", "moves"), [("killed", "good"), ("killed", "simulation"), ("stop", "good")])
def test_a_start_that_fails_late_names_those_that_may_move(
    site: WorkspaceFixture, monkeypatch: pytest.MonkeyPatch, before: str, moves: str
) -> None:
    """Also where the stops can be read no more. A simulated robot moves no more, whatever measured it last."""
    recover = Kernel.recover

    def cut_off(*of: object) -> Never:
        raise StorageError("cut off", path="ACTION.md")

    def fails(kernel: Kernel) -> None:
        recover(kernel)
        monkeypatch.setattr(World, "node_ids", cut_off)
        cut_off()

    robots = [{"robotId": f"{name}_1", "driver": name} for name in ("bad", moves)]
    settings = config.read(json.dumps({"embodiments": {"instances": robots}}).encode())
    if before == "stop":
        stopped_before(site)
    else:
        left_running(site, "bad_1", f"{moves}_1")
    monkeypatch.setattr(Kernel, "recover", fails)
    stands, moving = CheckedBodies(Misbehaving("", "").body()), CheckedBodies(Heard("", "").body())  # type: ignore[arg-type]
    drivers: Mapping[str, object] = {"bad": stands, moves: moving}
    with pytest.raises(StorageError) as failed:
        World.open(site.root, config=settings, clock=site.clock, serve=True, threads=True, drivers=drivers)  # type: ignore[arg-type]
    notes = "".join(getattr(failed.value, "__notes__", ()))
    assert ("good_1" in notes) is (moves == "good") and "bad_1" not in notes and "simulation_1" not in notes


class Blind(Good):
    """It observes nothing, and works until it is told to end."""

    def observe(self) -> Scene:
        return Scene()

    def execute(self, asked: object, run: Run) -> Outcome:  # type: ignore[override]
        run.cancel.wait(PATIENCE_S)
        return Outcome.success("there")


def test_a_document_that_is_gone_is_asked_for_once_of_a_driver_that_cannot_observe(site: WorkspaceFixture) -> None:
    """Each failure wakes the kernel, which looks again while a job runs."""
    bad = Misbehaving("observe", "raises")
    drivers: Mapping[str, object] = {"good": CheckedBodies(Blind), "bad": CheckedBodies(bad.body())}  # type: ignore[arg-type]
    (site.root / "ENVIRONMENT.md").unlink(missing_ok=True)
    with World.open(site.root, config=SETTINGS, clock=site.clock, serve=True, threads=True, drivers=drivers) as world:  # type: ignore[arg-type]
        assert world.kernel is not None
        world.jobs.accept([move("long", "good_1")])
        ticked_until(world, lambda: world.jobs.load("long").status.state is JobState.RUNNING)

        def asked() -> int:
            before = bad.called.count("observe")
            world.kernel.look_again("ENVIRONMENT.md")
            for _ in range(20):
                world.tick()
                world.kernel.lanes["bad_1"].call(lambda: None)
            return bad.called.count("observe") - before

        assert asked() <= 1 and not asked()
        (site.root / "ENVIRONMENT.md").write_text("```json\n{}\n```\n")
        assert not asked()
        (site.root / "ENVIRONMENT.md").unlink()
        assert asked() == 1


def test_a_document_that_goes_again_as_soon_as_it_was_written_is_written_again(site: WorkspaceFixture) -> None:
    drivers: Mapping[str, object] = {name: CheckedBodies(Good) for name in ("good", "bad")}  # type: ignore[arg-type]
    page = site.root / "ENVIRONMENT.md"
    with World.open(site.root, config=SETTINGS, clock=site.clock, serve=True, threads=True, drivers=drivers) as world:  # type: ignore[arg-type]
        assert world.kernel is not None
        for _ in range(3):
            page.unlink()
            world.kernel.look_again("ENVIRONMENT.md")
            world.tick()
            for lane in tuple(world.kernel.lanes.values()):
                lane.call(lambda: None)
            assert page.exists()
