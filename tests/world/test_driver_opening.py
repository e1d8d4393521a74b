"""A driver that does not answer when the world starts is named, stopped and refused; every other robot works."""

from __future__ import annotations

import importlib
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from pathlib import Path

import pytest

from worldfs.base.driver import Driver, PluginContext, Standstill
from worldfs.base.model import Cause, Finding, Job, Operation, Order, Outcome, Parameter, RobotState, Scene
from worldfs.base.model.job import REVIEW_S
from worldfs.formats import config
from worldfs.robots.checked_bodies import CheckedBodies
from worldfs.runtime.grace import BODY
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.testing.workspace_fixture import WorkspaceFixture, order
from worldfs.world import bringup
from worldfs.world.check import check
from worldfs.world.driver_opening import LIMIT_S
from worldfs.world.status_report import status_report
from worldfs.world.world import World

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
    monkeypatch.setattr(bringup, "WAIT_S", 0.05)
    HangingText.go = threading.Event()
    site = WorkspaceFixture(tmp_path / "home" / "workspace", ("bad_1", "good_1"))
    profile = resources.files("worldfs").joinpath("profiles", "wheeled_carrier.md").read_bytes()
    (site.root / "EMBODIED.md").write_bytes(profile)
    yield site
    HangingText.go.set()


@pytest.fixture
def opened(site: WorkspaceFixture) -> Iterator[Callable[[Misbehaving], World]]:
    worlds: list[tuple[World, Misbehaving]] = []

    def open(bad: Misbehaving) -> World:
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
