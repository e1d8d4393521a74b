"""When a robot that reports by itself is looked at: each second without a job, and never two looks at a time."""

import threading

from worldfs.base.model import RobotState
from worldfs.testing.waiting import PATIENCE_S

from .conftest import Body


class Base(Body):
    """It reports itself."""

    def reported(self):
        return RobotState("base")


def looks(bench):
    return bench.trace.count("look base")


def test_a_robot_that_reports_itself_is_looked_at_each_second_and_no_other_is(bench):
    bench.nodes["base"] = Base(bench.trace)
    kernel = bench.start()
    bench.drain()
    assert looks(bench) == 0 and kernel._patience() == 1.0
    for count in (1, 2, 3):
        bench.clock.advance(1.0)
        bench.drain()
        bench.drain()
        assert looks(bench) == count
    assert "look arm" not in bench.trace


def test_a_kernel_whose_robots_report_nothing_by_themselves_is_not_woken(bench):
    kernel = bench.start()
    bench.drain()
    assert kernel._patience() is None


def test_no_look_is_begun_beside_a_job_or_beside_a_look_that_hangs(bench):
    bench.nodes["base"] = body = Base(bench.trace)
    begun, go_on, looked, look_on = (threading.Event() for _ in range(4))

    def execute(order, run):
        begun.set()
        go_on.wait()

    def look(node):
        bench.trace.append(f"look {node}")
        looked.set()
        look_on.wait()
        raise ValueError("a driver's own")

    body.on_execute, bench.hooks.look = execute, look
    kernel = bench.start(threads=True)
    bench.submit(bench.order("one", "base"))
    bench.when(begun)
    for _ in range(3):
        bench.clock.advance(1.0)
        kernel.tick()
    assert looks(bench) == 0
    go_on.set()
    bench.until(lambda: kernel.idle)
    for _ in range(3):
        bench.clock.advance(1.0)
        kernel.tick()
    assert looked.wait(PATIENCE_S) and looks(bench) == 1
    look_on.set()  # it ends with an error, and the next one comes
    looked.clear()
    while not looked.wait(0.01):
        bench.clock.advance(1.0)
        kernel.tick()
