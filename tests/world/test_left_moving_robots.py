"""A robot that may still move is named by every command until a driver of it has measured that it stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from worldfs.base.driver import OPTIONAL, Driver, PluginContext, Run, Standstill
from worldfs.base.json_values import as_objects
from worldfs.base.messages import render
from worldfs.base.model import Cause, JobState, JobStatus, Operation, Order, Outcome, Parameter, RobotState, Scene
from worldfs.base.plugin_calls import checked
from worldfs.base.unknown_effect import STOP_CONFIRMED, unknown_effect
from worldfs.formats import config
from worldfs.formats.config import Config
from worldfs.runtime.job_store import JobStore
from worldfs.runtime.stop_log import MayMove
from worldfs.runtime.stop_report import RobotStop
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.testing.workspace_fixture import POSE, WorkspaceFixture, order
from worldfs.world.check import check
from worldfs.world.left_robots import left_finding
from worldfs.world.world import World

RIG, OTHER = "rig_1", "rig_2"


class Roller:
    """Of a package. It rolls on, whatever it is told, until a person brakes it by hand."""

    braked = False
    operations = (Operation("move_to", "go", (Parameter("target_pose", "[x,y,z]"),)),)

    def __init__(self, context: PluginContext) -> None:
        self.robot = context.robot_id

    def open(self, scene: Scene) -> None:
        return

    def observe(self) -> Scene:
        return Scene((RobotState(self.robot, (0.0, 0.0, 0.0)),))

    def review(self, asked: object) -> tuple[()]:
        return ()

    def execute(self, asked: Order, run: Run) -> Outcome:
        run.cancel.wait(PATIENCE_S)
        return Outcome.success("there")

    def stop(self) -> None:
        return

    def standstill(self, since: float) -> Standstill:
        return Standstill(self.braked, "0.3 m/s")

    def close(self) -> None:
        return


def settings(*robots: tuple[str, str], off: tuple[str, ...] = ()) -> Config:
    entries = [{"robotId": id, "driver": driver, "enabled": id not in off} for id, driver in robots]
    return config.read(json.dumps({"embodiments": {"instances": entries}}).encode())


class Blind(Roller):
    """Its driver measures no standstill; its order ends as `said`, or by an error."""

    standstill = None  # type: ignore[assignment]
    said: Outcome | None = None

    def execute(self, asked: Order, run: Run) -> Outcome:
        if "next" in asked.id:
            return Outcome.success("there")
        if self.said is None:
            raise OSError("the wire is cut")
        run.cancel.wait(PATIENCE_S if self.said.cause is Cause.CANCELLED else 0.0)
        return self.said

    def observe(self) -> Scene:
        return Scene((RobotState(self.robot, tuple(POSE)),))


TARGET = f"""  - id: {RIG}
    type: KIND
    adapter: {{class: NullAdapter}}
    supported_skills: [null_skill]
"""


class Bench:
    def __init__(self, path: Path) -> None:
        self.site = WorkspaceFixture(path / "w", (RIG, OTHER))
        self.roller = type("Braked", (Roller,), {})
        self.config, self.checked = settings((RIG, "rig")), False

    def up(self) -> World:
        def rig(context: PluginContext) -> object:
            made = self.roller(context)
            return checked(made, Driver, *OPTIONAL) if self.checked else made  # type: ignore[type-var]

        drivers: dict[str, Callable[[PluginContext], object]] = {"rig": rig, "other": rig}
        drivers["simulation"] = drivers["wheeled_carrier"] = type("Stands", (Roller,), {"braked": True})
        return World.open(
            self.site.root, config=self.config, clock=self.site.clock, serve=True, threads=True,
            drivers=drivers,  # type: ignore[arg-type]  # a package's body
        )  # fmt: skip

    def look(self) -> World:
        return World.open(self.site.root, config=self.config, clock=self.site.clock)

    def drive(self) -> None:
        """A kernel gives it an order and is killed."""
        with self.up() as world:
            kernel = world.kernel
            assert kernel is not None
            until(lambda: (world.tick(), not kernel.nodes[RIG].opening)[-1])  # until then its orders ask for approval
            world.submit(order("roll", RIG))
            until(lambda: (world.tick(), world.jobs.load("roll").status.state is JobState.RUNNING)[-1])
            world.abandon()

    def declare(self, kind: str = "real_robot") -> None:
        """TARGETS.md has an entry of its id: that of the robot itself, or of another thing."""
        entry = TARGET.replace("KIND", kind)
        (self.site.root / "TARGETS.md").write_text(f"# TARGETS\n\n```yaml\ntargets:\n{entry}```\n")

    def told(self) -> tuple[bool, list[object]]:
        """What `status` says of it: whether it may move, and the alerts of stops."""
        with self.look() as world:
            status = world.status()
        moves = [node["may_move"] for node in as_objects(status["nodes"]) if node["id"] == RIG]
        alerts = [one["field"] for one in as_objects(status["alerts"]) if str(one["field"]).startswith("stop ")]
        return moves == [True], alerts


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    yield Bench(tmp_path)


def test_status_says_so_before_while_and_after_each_start(bench: Bench) -> None:
    bench.drive()
    known = True, [f"stop {RIG}"]
    assert bench.told() == known
    for _ in range(2):
        with bench.up() as world:
            assert bench.told() == known, "the kernel has said nothing yet"
            world.tick()
            assert bench.told() == known
            world.abandon()
        assert bench.told() == known
    bench.roller.braked = True
    with bench.up() as world:
        until(lambda: (world.tick(), bench.site.clock.advance(0.1), bench.told() == (False, []))[-1])  # type: ignore[attr-defined,func-returns-value]
        assert world.kernel is not None and not world.stops.moving()
        world.abandon()
    assert bench.told() == (False, [])


Changed = Callable[[], Config]
CHANGES: dict[str, Changed] = {
    "disabled": lambda: settings((RIG, "rig"), off=(RIG,)),
    "a simulation": lambda: settings((RIG, "wheeled_carrier")),
    "removed": settings,
    "another": lambda: settings((OTHER, "simulation")),
    "disabled beside another": lambda: settings((RIG, "rig"), (OTHER, "simulation"), off=(RIG,)),
}


def stopped(world: World, node: str | None) -> dict[str, RobotStop]:
    return {robot.node: robot for robot in world.stop(node).robots}


@pytest.mark.parametrize("change", CHANGES)
def test_what_the_configuration_says_now_changes_nothing_of_it(bench: Bench, change: str) -> None:
    """Every command names the robot and the driver that had its order, before the next kernel, while and after."""
    bench.drive()
    bench.config = CHANGES[change]()
    known = True, [f"stop {RIG}"]
    for kernel in (False, True, False):
        with bench.up() if kernel else bench.look() as world:
            if kernel:
                until(lambda: (world.tick(), not world.jobs.open_ids())[-1])
                assert world.jobs.load("roll").status.outcome is not None
            assert bench.told() == known
            for named in (None, RIG):
                robot = stopped(world, named)[RIG]
                assert (robot.confirmed, robot.told) == (False, False)
                assert "rig" in robot.why and "roll" in robot.why and "hardware stop" in robot.text
            alert = next(one for one in as_objects(world.status()["alerts"]) if one["field"] == f"stop {RIG}")
            assert "driver rig" in str(alert["found"]) and "hardware stop" in str(alert["fix"])
            [found] = [one for one in check(bench.site.root) if one.field == f"stop {RIG}"]
            assert found.code == "STOP_UNCONFIRMED"
            assert not kernel or found.found == alert["found"]  # a kernel's own reason, while it runs
            world.abandon()
    with bench.look() as world:
        world.resume(RIG)
        assert not world.stops.moving()
    moves, alerts = bench.told()
    assert not moves and not alerts


@pytest.mark.parametrize("change", ["removed", "a simulation"])
def test_a_person_s_word_counts_before_the_next_kernel(bench: Bench, change: str) -> None:
    bench.drive()
    bench.config = CHANGES[change]()
    with bench.look() as world:
        world.stop(RIG)
        world.resume(RIG)
        assert not world.robot_stops.left()
    with bench.up() as world:
        world.tick()
        assert world.kernel is not None and f"stop {RIG}" not in world.kernel.alert.now()
        world.abandon()
    assert bench.told()[1] == []


@pytest.mark.parametrize("driver", ["other", "rig"])
def test_a_real_driver_of_that_robot_ends_it_by_its_measurement(bench: Bench, driver: str) -> None:
    bench.drive()
    bench.config = settings()
    with bench.up() as world:
        world.abandon()
    bench.config, bench.roller.braked = settings((RIG, driver)), True
    with bench.up() as world:
        until(lambda: (world.tick(), bench.site.clock.advance(0.1), bench.told() == (False, []))[-1])  # type: ignore[attr-defined,func-returns-value]
        world.abandon()
    assert bench.told() == (False, [])


def test_an_order_of_a_simulation_leaves_nothing_that_moves(bench: Bench) -> None:
    bench.config = settings((RIG, "simulation"))
    bench.drive()
    for now in (settings((RIG, "simulation")), settings((RIG, "rig")), settings()):
        bench.config = now
        assert bench.told() == (False, [])
    with bench.up() as world:
        world.tick()
        assert world.kernel is not None and not world.kernel.stopping.left() and not world.stops.moving()
        world.abandon()


@pytest.mark.parametrize("kind", ["real_robot", "sim"])
def test_a_target_that_has_its_id_covers_no_robot_that_may_still_move(bench: Bench, kind: str) -> None:
    """Every reader names the robot, no driver of the target speaks for it, and no session begins beside it."""
    bench.drive()
    bench.config = CHANGES["another"]()
    bench.declare(kind)
    fix = left_finding(RIG, MayMove("rig", "roll"), served=False).fix
    for kernel in (False, True, True, False):
        with bench.up() if kernel else bench.look() as world:
            assert list(world.session_targets()) == [RIG]
            if kernel:
                assert world.kernel is not None
                until(lambda: (world.tick(), bench.site.clock.advance(0.1), not world.jobs.open_ids())[-1])  # type: ignore[attr-defined,func-returns-value]
                assert world.kernel.stopping.left() == [RIG] and not world.kernel._able(RIG)
                assert world.orchestration is not None
                world.orchestration.loop._page.wanted = True  # as in a fleet: before the first mission
                world.orchestration.loop.step()
                page = world.store.get("ORCHESTRATOR.md")
                assert page is not None
                assert f"| {RIG} " in page.data.decode() and "may still move" in page.data.decode()
                assert [one.id for one in world.orchestration.loop.executor.gone()] == [RIG]
            with bench.look() as other:
                [node] = [one for one in as_objects(other.status()["nodes"]) if one["id"] == RIG]
                assert (node["driver"], node["state"], node["may_move"]) == ("rig", "gone", True)
                [alert] = [one for one in as_objects(other.status()["alerts"]) if one["field"] == f"stop {RIG}"]
                assert "driver rig" in str(alert["found"]) and alert["fix"] == render(fix, "en")
            [found] = [one for one in check(bench.site.root) if one.field == f"stop {RIG}"]
            assert found.code == "STOP_UNCONFIRMED" and render(found.fix, "en") == render(fix, "en")
            robot = stopped(world, None)[RIG]
            assert (robot.confirmed, robot.told) == (False, False) and "roll" in robot.why
            if kernel:
                until(lambda: (world.tick(), bench.site.clock.advance(1.0), world.stops.state(RIG).stopped)[-1])  # type: ignore[attr-defined,func-returns-value]
                world.tick()
                with bench.look() as other:
                    said = other.robot_stops.confirmed(RIG)
                    assert (said.confirmed, said.told) == (False, False)
            assert world.stops.moving() or not kernel
            world.abandon()
    with bench.up() as world:
        assert world.kernel is not None
        world.resume(RIG)
        until(lambda: (world.tick(), not world.kernel.stopping.left() and world.kernel._able(RIG))[-1])  # type: ignore[union-attr]
        world.abandon()
    assert bench.told() == (False, [])


def test_a_target_that_was_left_moving_by_a_session_is_measured_by_its_own_driver(bench: Bench) -> None:
    bench.config = settings((OTHER, "simulation"))
    bench.declare()
    with bench.look() as world:
        world.stops.note_moves({RIG: MayMove("NullAdapter", "pick")})
        assert "paos up" in str(left_finding(RIG, MayMove("NullAdapter", "pick"), served=True).fix)
    with bench.up() as world:
        assert world.kernel is not None
        until(lambda: (world.tick(), world.kernel.stopping.moving() == [RIG])[-1])  # type: ignore[union-attr]
        assert not world.kernel.stopping.left()
        world.abandon()


def test_an_order_whose_robot_may_move_has_no_end_that_is_not_written_and_said(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that is killed at any moment after it leaves what the next one needs."""
    said = Outcome.failure(Cause.ERROR, "DRIVES", "it drives", evidence={STOP_CONFIRMED: False})
    ours = {"__module__": "worldfs.robots.rig", "execute": lambda self, asked, run: said}
    bench.roller = type("Ours", (Roller,), ours)
    known: list[tuple[dict[str, MayMove], bool]] = []
    write = JobStore.write_status

    def written(jobs: JobStore, id: str, status: JobStatus) -> None:
        if status.state.terminal:
            kernel = world.kernel
            assert kernel is not None
            known.append((world.stops.moving(), f"stop {RIG}" in kernel.alert.now()))
        write(jobs, id, status)

    monkeypatch.setattr(JobStore, "write_status", written)
    with bench.up() as world:
        served(bench, world, "roll")
        world.abandon()
    assert known == [({RIG: MayMove("rig", "roll")}, True)]
    assert bench.told() == (True, [f"stop {RIG}"])


@pytest.mark.parametrize("change", ["disabled", "removed"])
def test_a_robot_that_is_disabled_while_it_drives_is_listed_until_it_is_measured_to_stand(
    bench: Bench, change: str
) -> None:
    with bench.up() as world:
        kernel = world.kernel
        assert kernel is not None
        until(lambda: (world.tick(), not kernel.nodes[RIG].opening)[-1])
        world.submit(order("roll", RIG))
        until(lambda: (world.tick(), world.jobs.load("roll").status.state is JobState.RUNNING)[-1])
        bench.config = CHANGES[change]()

        def node() -> dict[str, object]:
            with bench.look() as other:
                return next((one for one in as_objects(other.status()["nodes"]) if one["id"] == RIG), {})

        assert (node()["driver"], node()["state"]) == ("rig", "running roll")
        world.cancel("roll")
        tick = lambda: (world.tick(), bench.site.clock.advance(0.1))  # type: ignore[attr-defined,func-returns-value]  # noqa: E731
        until(lambda: (tick(), world.jobs.load("roll").status.state.terminal)[-1])
        until(lambda: (tick(), node().get("may_move") is True)[-1])
        bench.roller.braked = True
        until(lambda: (tick(), node().get("may_move") is not True)[-1])
        assert (node().get("state") == "off") is (change == "disabled")
        world.abandon()
    assert (node() == {}) is (change == "disabled")  # without instances ENVIRONMENT.md names the robots


def served(bench: Bench, world: World, id: str, ends: bool = True) -> None:
    kernel = world.kernel
    assert kernel is not None
    until(lambda: (world.tick(), not kernel.nodes[RIG].opening)[-1])
    world.submit(order(id, RIG))
    until(lambda: (world.tick(), bench.site.clock.advance(0.01), _is_at(world, id, ends))[-1])  # type: ignore[attr-defined,func-returns-value]


def _is_at(world: World, id: str, ends: bool) -> bool:
    state = world.jobs.load(id).status.state
    return state.terminal if ends else state is JobState.RUNNING


WHY = "its driver cannot measure a standstill"


@pytest.mark.parametrize("ends", ["raises", "says so", "cancelled", "closed"])
def test_a_robot_that_cannot_be_measured_is_named_after_an_end_that_was_not_its_own(bench: Bench, ends: str) -> None:
    """And is sent its next order, whose success ends that."""
    said = None if ends == "raises" else Outcome.failure(Cause.CANCELLED, "CANCELLED", "it goes on")
    if ends == "says so":
        said = Outcome.failure(Cause.ERROR, "LINK_LOST", "no link", evidence={"stop_confirmed": False})
    bench.roller = type("Unmeasured", (Blind,), {"said": said})
    world = bench.up()
    served(bench, world, "roll", ends=ends in ("raises", "says so"))
    if ends == "cancelled":
        world.cancel("roll")
        until(lambda: (world.tick(), _is_at(world, "roll", ends=True))[-1])
    kernel = world.kernel
    assert kernel is not None
    if ends == "closed":
        world.close()
        assert kernel.stopping.moving() == [RIG]
    else:
        until(lambda: (world.tick(), bool(world.stops.moving()))[-1])
        outcome = world.jobs.load("roll").status.outcome
        assert outcome is not None and unknown_effect(outcome)
        assert not kernel.stopping.is_held(RIG) and WHY in kernel.stopping.may_move(RIG)
    assert bench.told() == (True, [f"stop {RIG}"])
    with bench.look() as other:
        assert any(WHY in str(one["found"]) for one in as_objects(other.status()["alerts"]))
    [found] = [one for one in check(bench.site.root) if one.field == f"stop {RIG}"]
    assert ends == "closed" or WHY in found.found
    world = world if ends != "closed" else bench.up()
    served(bench, world, "next")
    last = world.jobs.load("next").status.outcome
    assert last is not None and last.ok, last
    until(lambda: (world.tick(), bench.told() == (False, []))[-1])
    assert not world.stops.moving()
    world.abandon()


def test_a_success_of_a_robot_that_cannot_be_measured_raises_nothing(bench: Bench) -> None:
    bench.roller = type("Unmeasured", (Blind,), {"said": Outcome.success("there")})
    with bench.up() as world:
        served(bench, world, "roll")
        world.tick()
        outcome = world.jobs.load("roll").status.outcome
        assert outcome is not None and outcome.ok and bench.told() == (False, [])
        world.abandon()


@pytest.mark.parametrize("said", [
    Outcome.success("at goal"),
    *(Outcome.failure(Cause.ERROR, "LINK_LOST", "no link", evidence={"stop_confirmed": one}) for one in (False, "yes")),
])  # fmt: skip
def test_a_package_s_word_on_the_end_of_its_order_is_no_measurement(bench: Bench, said: Outcome) -> None:
    bench.roller, bench.checked = type("Rolls", (Roller,), {"execute": lambda self, asked, run: said}), True
    with bench.up() as world:
        served(bench, world, "roll")
        kernel = world.kernel
        assert kernel is not None and kernel.stopping.is_held(RIG)
        until(lambda: (world.tick(), bench.told() == (True, [f"stop {RIG}"]))[-1])
        bench.roller.braked = True
        until(lambda: (world.tick(), bench.site.clock.advance(0.1), bench.told() == (False, []))[-1])  # type: ignore[attr-defined,func-returns-value]
        world.abandon()
