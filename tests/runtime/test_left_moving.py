"""A robot that a killed kernel has left moving: its driver is stopped, and it is sent nothing until it stands."""

import json
import threading

import pytest

from worldfs.access.standing import Standing
from worldfs.base.driver import Standstill
from worldfs.base.model import Cause, JobState, JobStatus, Outcome
from worldfs.base.standard_operations import MOVE_TO
from worldfs.runtime.body_worker import KernelNode
from worldfs.runtime.job_store import ALERTS, job_key
from worldfs.runtime.kernel import Kernel
from worldfs.runtime.stop_log import StopLog
from worldfs.testing.waiting import PATIENCE_S, until

from .conftest import Body


class Mover(Body):
    """It moves until it stands; it notes when it is told to stop, and when it is connected."""

    def __init__(self, trace, **more):
        super().__init__(trace, **more)
        self.stands = False

    def stop(self):
        self.trace.append("stop")

    def standstill(self, since):
        return Standstill(self.stands, "" if self.stands else "0.3 m/s")


@pytest.fixture
def mover(bench):
    bench.body = bench.nodes["arm"] = Mover(bench.trace)
    return bench.body


def left_running(bench, id="a", node="arm"):
    """A job that a kernel had begun when it was killed, and one that waits for the same robot."""
    bench.submit(bench.order(id, node), bench.order("next", node))
    bench.jobs.write_status(id, JobStatus(JobState.RUNNING, 1))


def held_then_free(bench, kernel, mover, node="arm"):
    """It is told to stop again and again and sent nothing; once it stands, it goes on."""
    for count in (1, 2, 3):
        until(lambda: (bench.clock.advance(1.0), bench.trace.count("stop") > count)[1])  # noqa: B023
    bench.drain()
    assert kernel.stopping.is_held(node) and bench.status("next").state is JobState.PENDING
    until(lambda: "0.3 m/s" in kernel.stopping.may_move(node))
    mover.stands = True
    until(lambda: (bench.clock.advance(1.0), not kernel.stopping.is_held(node))[1])
    bench.until(lambda: kernel.idle)
    assert bench.outcome("next").ok


def test_the_robot_of_a_lost_order_is_stopped_and_sent_nothing_until_it_stands(bench, mover):
    left_running(bench)
    kernel = bench.start(threads=True)
    until(lambda: "stop" in bench.trace)
    assert bench.outcome("a").cause is Cause.LOST
    held_then_free(bench, kernel, mover)


def test_an_order_that_may_be_repeated_is_not_repeated_into_the_motion(bench, mover):
    mover.operations = (type(MOVE_TO)(MOVE_TO.name, MOVE_TO.description, repeatable=True),)
    left_running(bench)
    kernel = bench.start(threads=True)
    bench.drain()
    assert "execute a" not in bench.trace
    held_then_free(bench, kernel, mover)
    assert bench.outcome("a").ok


def test_a_robot_whose_order_only_the_sheet_shows_as_running_is_stopped(bench, mover):
    bench.write({**bench.action("a"), "status": "running"})
    kernel = bench.start(threads=True)
    bench.drain()
    assert bench.outcome("a").cause is Cause.LOST
    bench.submit(bench.order("next"))
    held_then_free(bench, kernel, mover)


def test_a_robot_that_is_added_after_its_order_was_lost_is_stopped(bench, mover):
    left_running(bench, node="leg")
    kernel = bench.start(threads=True)
    bench.drain()
    leg = Mover(bench.trace)
    kernel.add(KernelNode("leg", leg))
    until(lambda: "stop" in bench.trace)
    assert kernel.stopping.is_held("leg")
    leg.stands = True
    until(lambda: (bench.clock.advance(1.0), not kernel.stopping.is_held("leg"))[1])


def test_only_a_stop_that_an_open_driver_has_heard_counts(bench, mover, monkeypatch):
    mover.stands = True  # so it says before it is connected
    left_running(bench)
    recover = Kernel.recover

    def recover_unopened(kernel):
        kernel.nodes["arm"].opening = True
        recover(kernel)

    monkeypatch.setattr(Kernel, "recover", recover_unopened)
    kernel = bench.start(threads=True)
    until(lambda: bench.trace.count("stop") == 1)
    kernel.tick()
    assert kernel.stopping.is_held("arm")
    mover.stands = False
    kernel.stopping.opened("arm")
    until(lambda: bench.trace.count("stop") >= 2)
    kernel.nodes["arm"].opening = False
    held_then_free(bench, kernel, mover)


@pytest.mark.parametrize("moves", [True, False])
def test_a_kernel_that_is_killed_at_once_hides_nothing_from_the_next(bench, mover, moves):
    left_running(bench)
    for _ in range(3):
        kernel = bench.start(threads=True)
        kernel.tick()
        assert kernel.stopping.is_held("arm")
        kernel.abandon()
    mover.stands = not moves
    kernel = bench.start(threads=True)
    if moves:
        held_then_free(bench, kernel, mover)
    until(lambda: (bench.clock.advance(1.0), bench.drain(), bench.store.get(job_key("a")) is None)[-1])


def test_a_run_until_idle_waits_for_what_is_measured_soon(bench, mover):
    left_running(bench)
    asked = threading.Event()

    def standstill(since):
        asked.set()
        return Standstill(True)

    mover.standstill = standstill
    kernel = bench.start(threads=True)
    kernel.run(threading.Event(), until_idle=True)
    assert asked.wait(PATIENCE_S) and bench.outcome("next").ok and "stop" in bench.trace


def test_a_run_until_idle_puts_the_lost_order_away_once_its_robot_stands(bench, mover):
    bench.submit(bench.order("a"))
    bench.jobs.write_status("a", JobStatus(JobState.RUNNING, 1))
    asked = []

    def standstill(since):
        asked.append(since)
        return Standstill(len(asked) > 1, "0.3 m/s")

    mover.standstill = standstill
    kernel = bench.start(threads=True)
    runner = threading.Thread(target=kernel.run, args=(threading.Event(),), kwargs={"until_idle": True})
    runner.start()
    until(lambda: (bench.clock.advance(0.2), not runner.is_alive())[1])
    assert len(asked) > 1 and bench.store.get(job_key("a")) is None and bench.outcome("a").cause is Cause.LOST


def test_a_driver_that_cannot_measure_is_told_once_and_goes_on(bench):
    bench.body = bench.nodes["arm"] = type("Unmeasured", (Mover,), {"standstill": None})(bench.trace)
    left_running(bench)
    kernel = bench.start(threads=True)
    bench.until(lambda: kernel.idle)
    assert bench.trace.count("stop") == 1 and bench.outcome("next").ok


def test_a_robot_that_is_connected_by_its_first_order_is_connected_to_be_stopped(bench, mover):
    def take_up():
        bench.trace.append("take up")

    mover.take_up = take_up
    left_running(bench)
    kernel = bench.start(threads=True)
    until(lambda: "stop" in bench.trace)
    assert bench.trace.index("take up") < bench.trace.index("stop")
    held_then_free(bench, kernel, mover)


def is_lost(bench, mover):
    left_running(bench)


def is_cancelled(bench, mover):
    """The kernel cancels it, its driver returns, and the robot moves on."""
    began = threading.Event()

    def execute(order, run):
        began.set()
        assert run.cancel.wait(PATIENCE_S)
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "")

    mover.on_execute = execute
    bench.submit(bench.order("a"))
    kernel = bench.start(threads=True)
    bench.when(began)
    kernel.cancel("a")
    until(lambda: (bench.clock.advance(0.2), bench.drain(), bench.outcome("a") is not None)[-1])
    assert bench.outcome("a").evidence["stop_confirmed"] is False
    kernel.abandon()


def is_stopped_and_resumed_by_an_agent(bench, mover):
    """Its word is none for the robot's standstill."""
    kernel, log = bench.start(threads=True), StopLog(bench.store, bench.clock)
    log.stop(["arm"], "agent rio", standing=Standing.AGENT)
    until(lambda: (bench.clock.advance(1.0), "arm" in log.moving())[1])
    log.resume(["arm"], "agent rio")
    until(lambda: not kernel.stopping.is_stopped("arm"))
    until(lambda: kernel.stopping.is_held("arm"))
    kernel.abandon()


def is_stopped_without_a_kernel(bench, mover):
    left_running(bench)
    StopLog(bench.store, bench.clock).stop(["arm"], "operator")


def stop_raises():
    raise OSError("no route to the robot")


def stop_takes_time():
    threading.Event().wait(0.2)


LEAVES = [is_lost, is_cancelled, is_stopped_and_resumed_by_an_agent, is_stopped_without_a_kernel]


@pytest.mark.slice(5)
@pytest.mark.parametrize("closes", [False, True], ids=["killed", "closed"])
@pytest.mark.parametrize("stop", [None, stop_raises, stop_takes_time], ids=["no effect", "raises", "takes time"])
@pytest.mark.parametrize("left", LEAVES)
def test_no_start_and_no_end_of_a_kernel_makes_a_robot_stand(bench, mover, left, stop, closes):
    left(bench, mover)
    if stop is not None:
        mover.stop = stop
    log = StopLog(bench.store, bench.clock)
    for _ in range(3):
        kernel = bench.start(threads=True)
        kernel.tick()
        assert "stop arm" in kernel.alert.now() and "arm" in log.moving()
        assert "stop arm" in json.loads(bench.store.get(ALERTS).data)
        kernel.close(0.0) if closes else kernel.abandon()
        assert "arm" in log.moving()
    mover.stop, mover.stands = (lambda: None), True
    kernel = bench.start(threads=True)
    until(lambda: (bench.clock.advance(1.0), bench.drain(), "stop arm" not in kernel.alert.now())[-1])
    until(lambda: "arm" not in log.moving())


def test_a_person_who_stops_and_resumes_says_that_it_stands(bench, mover):
    mover.on_execute = lambda order, run: setattr(mover, "stands", True)
    left_running(bench)
    kernel, log = bench.start(threads=True), StopLog(bench.store, bench.clock)
    log.resume(["arm"], "operator")  # of no stop: says nothing
    assert "arm" in log.moving()
    log.stop(["arm"], "operator")
    log.resume(["arm"], "operator")
    assert "arm" not in log.moving() and log.state("arm").words == ("a",)
    until(lambda: (bench.clock.advance(1.0), bench.drain(), "stop arm" not in kernel.alert.now())[-1])
    until(lambda: (bench.clock.advance(1.0), bench.drain(), bench.store.get(job_key("a")) is None)[-1])
    kernel.abandon()
    assert "stop arm" not in bench.start(threads=True).alert.now()


def test_a_robot_that_nothing_serves_any_more_may_still_move(bench, mover):
    left_running(bench)
    bench.nodes = {"leg": Mover(bench.trace)}
    for _ in range(2):
        kernel, log = bench.start(threads=True), StopLog(bench.store, bench.clock)
        bench.drain()
        assert "stop arm" in kernel.alert.now() and "arm" in log.moving()
        assert bench.outcome("a").cause is Cause.LOST
        kernel.abandon()
    kernel = bench.start(threads=True)
    log.stop(["arm"], "operator")
    log.resume(["arm"], "operator")
    until(lambda: "stop arm" not in kernel.alert.now())
