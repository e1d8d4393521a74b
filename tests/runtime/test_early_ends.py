"""An order that is to end early, and whose driver does not return: the driver's stop is called soon all the same."""

import json
import threading

import pytest

from worldfs.base.driver import Standstill
from worldfs.base.model import Cause, JobState, Outcome
from worldfs.runtime import kernel as kernel_module
from worldfs.runtime.grace import EARLY_END_S
from worldfs.runtime.job_store import ALERTS
from worldfs.testing.waiting import PATIENCE_S, until

from .conftest import Body


class Deaf(Body):
    """A blocking call of a vendor: `execute` does not look at `run.cancel`, and returns when `go_on` is set."""

    def __init__(self, trace, **more):
        super().__init__(trace, **more)
        self.begun, self.go_on, self.stands = threading.Event(), threading.Event(), False
        self.on_execute = self.block

    def block(self, order, run):
        if order.id == "a":
            self.begun.set()
            assert self.go_on.wait(PATIENCE_S)
            return Outcome.failure(Cause.CANCELLED, "CANCELLED", "it returns at last") if run.stop else None

    def stop(self):
        self.trace.append("stop")

    def standstill(self, since):
        return Standstill(self.stands, "" if self.stands else "0.3 m/s")


@pytest.fixture
def deaf(bench):
    bench.body = bench.nodes["arm"] = Deaf(bench.trace)
    yield bench.body
    bench.body.go_on.set()


def at_work(bench, **more):
    """The kernel, whose arm carries `a` out, and has another order to come."""
    bench.submit(bench.order("a", timeout_s=600.0, **more), bench.order("next"))
    kernel = bench.start(threads=True)
    bench.when(bench.body.begun)
    bench.until(lambda: bench.status("a").state is JobState.RUNNING)
    return kernel


def wait_out_the_grace(bench, kernel):
    bench.clock.advance(EARLY_END_S / 2)
    kernel.tick()
    assert "stop" not in bench.trace
    assert kernel.open.patience() <= EARLY_END_S / 2
    bench.clock.advance(EARLY_END_S / 2 + 0.01)
    kernel.tick()
    until(lambda: "stop" in bench.trace)


def test_the_driver_of_a_cancelled_order_is_stopped_though_it_does_not_return(bench, deaf):
    kernel = at_work(bench)
    kernel.cancel("a")
    wait_out_the_grace(bench, kernel)
    assert bench.status("a").state is JobState.RUNNING
    until(lambda: (bench.clock.advance(1.0), "stop arm" in kernel.alert.now())[1])
    alert = kernel.alert.now()["stop arm"]
    assert alert.code == "STOP_UNCONFIRMED" and kernel.stopping.may_move("arm")
    for count in (1, 2, 3):  # it is told again
        until(lambda: (bench.clock.advance(1.0), bench.trace.count("stop") > count)[1])  # noqa: B023
    deaf.stands = True
    deaf.go_on.set()
    bench.until(lambda: bench.status("a").state.terminal)
    until(lambda: (bench.clock.advance(1.0), "stop arm" not in kernel.alert.now())[1])
    bench.until(lambda: kernel.idle)
    assert bench.outcome("a").code == "CANCELLED" and bench.outcome("next").ok


def test_the_alert_of_a_driver_that_has_not_returned_says_so(bench, deaf):
    kernel = at_work(bench)
    kernel.cancel("a")
    wait_out_the_grace(bench, kernel)
    until(lambda: (bench.clock.advance(1.0), "stop arm" in kernel.alert.now())[1])
    found = kernel.alert.now()["stop arm"].found
    assert "the driver has not returned from a" in found and "has ended" not in found


def test_a_driver_that_cannot_measure_is_told_again_while_it_has_not_returned(bench):
    deaf = bench.body = bench.nodes["arm"] = type("Unmeasured", (Deaf,), {"standstill": None})(bench.trace)
    kernel = at_work(bench)
    kernel.cancel("a")
    wait_out_the_grace(bench, kernel)
    until(lambda: (bench.clock.advance(1.0), "stop arm" in kernel.alert.now())[1])
    for count in (1, 2):
        until(lambda: (bench.clock.advance(1.0), bench.trace.count("stop") > count)[1])  # noqa: B023
    deaf.go_on.set()
    bench.until(lambda: kernel.idle)
    assert bench.outcome("a").code == "CANCELLED" and bench.outcome("next").ok
    until(lambda: (bench.clock.advance(1.0), "stop arm" not in kernel.alert.now())[1])


def test_a_driver_that_returns_within_the_grace_is_told_once(bench, deaf):
    deaf.stands = True
    kernel = at_work(bench)
    kernel.cancel("a")
    bench.clock.advance(EARLY_END_S / 2)
    kernel.tick()
    deaf.go_on.set()
    bench.until(lambda: kernel.idle)
    bench.clock.advance(EARLY_END_S)
    kernel.tick()
    assert bench.trace.count("stop") == 1 and bench.outcome("next").ok and not kernel.alert.now()


def test_a_driver_that_says_itself_that_it_stands_is_free_once_that_is_measured(bench, deaf):
    deaf.stands = True
    deaf.on_execute = lambda order, run: (
        deaf.block(order, run) and Outcome.failure(Cause.CANCELLED, "CANCELLED", "", evidence={"stop_confirmed": True})
    )
    kernel = at_work(bench)
    kernel.cancel("a")
    wait_out_the_grace(bench, kernel)
    deaf.go_on.set()
    bench.until(lambda: kernel.idle)
    assert bench.outcome("next").ok and not kernel.stopping.may_move("arm")


def test_the_time_limit_is_followed_by_the_stop_after_the_grace(bench, deaf):
    kernel = at_work(bench)
    bench.clock.advance(600.0)
    wait_out_the_grace(bench, kernel)
    assert bench.outcome("a").code == "EXECUTION_TIMEOUT" and bench.trace.count("stop") == 1
    until(lambda: (bench.clock.advance(1.0), "stop arm" in kernel.alert.now())[1])


def test_a_kernel_that_ends_calls_the_stop_after_the_grace_and_not_at_its_own_end(bench, deaf, monkeypatch):
    monkeypatch.setattr(kernel_module, "EARLY_END_S", 0.05)
    kernel = at_work(bench)

    def stop():
        bench.trace.append("stop")
        deaf.go_on.set()  # the vendor's call returns for it

    deaf.stop, deaf.stands = stop, True
    kernel.close(timeout=PATIENCE_S / 4)  # it does not take so long
    assert bench.trace.index("stop") < len(bench.trace) - 1
    assert bench.outcome("a").code == "CANCELLED" and bench.outcome("a").message == "it returns at last"


def test_a_kernel_that_ends_without_its_driver_says_which_robot_may_move(bench, deaf, monkeypatch):
    monkeypatch.setattr(kernel_module, "EARLY_END_S", 0.0)
    kernel = at_work(bench)
    kernel.close(timeout=0.0)
    assert json.loads(bench.store.get(ALERTS).data)["stop arm"]["code"] == "STOP_UNCONFIRMED"
    assert bench.status("a").state is JobState.RUNNING  # the next kernel finds it


def two_at_work(bench):
    arms = {name: Deaf(bench.trace) for name in ("arm", "leg")}
    bench.nodes.update(arms)
    bench.submit(*(bench.order(f"a{name}", name, timeout_s=600.0) for name in arms))
    for name, arm in arms.items():
        arm.on_execute = lambda order, run, arm=arm: (arm.begun.set(), arm.go_on.wait(PATIENCE_S))
        arm.stop = lambda name=name: bench.trace.append(f"stop {name}")
    kernel = bench.start(threads=True)
    bench.drain()
    assert all(arm.begun.wait(PATIENCE_S) for arm in arms.values())
    return kernel, arms


def test_a_process_that_leaves_at_once_tells_every_driver_and_keeps_what_is_known(bench):
    kernel, arms = two_at_work(bench)
    assert kernel.leave(0.0) == ["arm", "leg"]
    assert {"stop arm", "stop leg"} <= {*bench.trace}
    assert all(attempt.cancel.is_set() for attempt in kernel.open.running.values())
    kept = json.loads(bench.store.get(ALERTS).data)
    assert {kept[f"stop {name}"]["code"] for name in arms} == {"STOP_UNCONFIRMED"}
    kernel.close(timeout=PATIENCE_S)  # it waits for nothing
    assert bench.status("aarm").state is JobState.RUNNING and json.loads(bench.store.get(ALERTS).data) == kept
    for arm in arms.values():
        arm.go_on.set()
    again = bench.start(threads=True)
    assert again.stopping.is_held("arm") and again.stopping.is_held("leg")


def test_one_stop_that_hangs_keeps_no_other_robot_from_being_told(bench):
    kernel, arms = two_at_work(bench)
    arms["arm"].stop = lambda: arms["arm"].go_on.wait(PATIENCE_S)
    assert kernel.leave(0.0) == ["arm", "leg"]
    until(lambda: "stop leg" in bench.trace)
    for arm in arms.values():
        arm.go_on.set()


def test_a_process_that_leaves_at_once_names_no_robot_that_stands(bench):
    kernel, arms = two_at_work(bench)
    for arm in arms.values():
        arm.stop, arm.stands = arm.go_on.set, True  # the vendor's call returns for it
    assert kernel.leave(PATIENCE_S) == [] and "stop arm" not in kernel.alert.now()


def test_a_process_that_leaves_at_once_waits_until_an_end_that_is_decided_is_noted(bench, monkeypatch):
    kernel, arms = two_at_work(bench)
    looks, look, note_end = [], kernel.stopping._look, kernel.stopping.note_end

    def late(node, outcome):
        seen = len(looks)
        until(lambda: (kernel.stopping._due.set(), len(looks) > seen + 2)[1])  # who waits has looked meanwhile
        note_end(node, outcome)

    monkeypatch.setattr(kernel.stopping, "_look", lambda: (looks.append(1), look()))
    monkeypatch.setattr(kernel.stopping, "note_end", late)
    for arm in arms.values():
        arm.stop, arm.stands = arm.go_on.set, True
    assert kernel.leave(PATIENCE_S) == []


def test_a_close_that_is_broken_off_writes_nothing_any_more(bench, deaf, monkeypatch):
    kernel = at_work(bench)

    def interrupted(timeout):
        raise KeyboardInterrupt

    kernel.leave(0.0)
    monkeypatch.setattr(kernel.lanes["arm"], "close", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kernel.close()
    written = len(bench.trace)
    deaf.go_on.set()
    until(lambda: not kernel.lanes["arm"]._taken)
    assert bench.status("a").state is JobState.RUNNING
    assert not [line for line in bench.trace[written:] if "append" in line]
