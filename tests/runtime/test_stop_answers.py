"""A stop needs neither log nor loop, and its answer says only what a driver has measured."""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.clock import SystemClock
from worldfs.base.dir_reader import DirReader
from worldfs.base.driver import Standstill
from worldfs.base.errors import StorageError
from worldfs.base.model import Cause, Finding, JobState, Outcome, Scene
from worldfs.runtime.grace import BODY
from worldfs.runtime.kernel import Kernel
from worldfs.runtime.standstill_check import AT_ONCE, FRESH_S
from worldfs.runtime.stop_call import SOCKETS, StopCall, socket_address
from worldfs.runtime.stop_log import ALL, STOPS, MayMove, StopLog, StopStates, left_text, stop_key
from worldfs.runtime.stop_report import RobotStop, read_robot, robot_value
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.memory_store import MemoryStore
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.left_robots import left_finding


def at_work(bench: Any) -> tuple[Any, threading.Event]:
    """A kernel whose arm moves until its attempt is cancelled; an event that lets the driver return."""
    begun, go_on = threading.Event(), threading.Event()

    def execute(order: Any, run: Any) -> Outcome:
        begun.set()
        assert run.cancel.wait(PATIENCE_S) and go_on.wait(PATIENCE_S)
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "holds still")

    bench.body.on_execute = execute
    bench.submit(bench.order("long"), bench.order("next"))
    kernel = bench.start(threads=True)
    bench.when(begun)
    return kernel, go_on


def told(kernel: Kernel, node: str = "arm") -> bool:
    return kernel.open.running[node].cancel.wait(PATIENCE_S)


# -- without the log -----------------------------------------------------------------------------------------------


def test_a_stop_that_cannot_be_written_is_in_force_and_is_written_later(bench):
    kernel, go_on = at_work(bench)
    go_on.set()
    append, full = bench.store.append, threading.Event()
    full.set()

    def refuses(key: str, data: bytes, **more: Any) -> None:
        if full.is_set() and key.startswith(".paos/stops"):
            raise StorageError("no space left", path=key, op="append")
        append(key, data, **more)

    bench.store.append = refuses
    ticket = kernel.stopping.stop(["arm"], "operator")
    assert told(kernel)
    report = kernel.stopping.wait(ticket, 0.0)
    until(lambda: "no space" in kernel.stopping.report(ticket).unstored)
    assert kernel.stopping.is_stopped("arm")
    until(lambda: kernel.alert.now().get(".paos/stops write"))
    bench.clock.advance(BODY.stop_s)
    until(lambda: kernel.stopping.report(ticket).confirmed)
    full.clear()
    bench.clock.advance(2.0)
    until(lambda: not kernel.stopping.report(ticket).unstored)
    until(lambda: ".paos/stops write" not in kernel.alert.now())
    assert StopLog(bench.store, bench.clock).state("arm").stopped
    assert report.nodes == ["arm"]


def test_a_log_that_hangs_keeps_no_driver_from_hearing_the_stop(bench):
    """Another thread reads the log, and does not come back."""
    kernel, go_on = at_work(bench)
    go_on.set()
    get, reads, hangs = bench.store.get, threading.Event(), threading.Event()

    def late(key: str) -> Any:
        if key.startswith(".paos/stops"):
            reads.set()
            hangs.wait(PATIENCE_S)
        return get(key)

    bench.store.get = late
    reader = threading.Thread(target=kernel.stopping.read_all, daemon=True)
    reader.start()
    assert reads.wait(PATIENCE_S)
    kernel.stopping.stop(["arm"], "operator")
    assert told(kernel)
    hangs.set()
    reader.join(PATIENCE_S)


def test_a_stop_that_waits_for_the_log_is_part_of_what_every_reader_of_the_process_sees(bench):
    kernel, go_on = at_work(bench)
    bench.store.append = lambda key, data, **more: (_ for _ in ()).throw(StorageError("full", path=key, op="append"))
    log = kernel.stopping._log
    kernel.stopping.stop([], "critic", every=True)
    assert (log.state("arm").stopped, log.state("arm").by, log.state("one that comes").number) == (True, "critic", 1)
    assert not StopLog(bench.store, bench.clock).state("arm").stopped
    go_on.set()


def test_a_resume_ends_no_stop_that_is_not_in_the_log_yet(bench):
    kernel = bench.start()
    append, full = bench.store.append, [True]

    def refuses(key: str, data: bytes, **more: Any) -> None:
        if full[0]:
            raise StorageError("full", path=key, op="append")
        append(key, data, **more)

    bench.store.append = refuses
    kernel.stopping.stop(["arm"], "operator")
    log = kernel.stopping._log
    with suppress(StorageError):
        log.resume(["arm"], "operator")
    assert kernel.stopping.is_stopped("arm")
    full[0] = False
    log.resume(["arm"], "operator")  # nothing is in the log that it could end
    bench.clock.advance(2.0)
    kernel.tick()
    assert kernel.stopping.is_stopped("arm") and log.state("arm").stopped
    log.resume(["arm"], "operator")
    kernel.tick()
    assert not kernel.stopping.is_stopped("arm")


@given(st.lists(st.sampled_from(["a", "b", "c", "resume"]), max_size=12), st.data())
def test_a_stop_that_is_written_twice_counts_once(steps, data):
    """By its sender and by the kernel that heard it: in whichever order, and whatever comes between."""
    store = MemoryStore()
    log, once, seen = StopLog(store, ManualClock()), StopLog(MemoryStore(), ManualClock()), set()
    for step in steps:
        if step == "resume":
            log.resume(["arm"], "operator")
            once.resume(["arm"], "operator")
            continue
        log.stop(["arm"], "operator", id=step)
        if step not in seen:
            once.stop(["arm"], "operator", id=step)
        seen.add(step)
        for again in data.draw(st.lists(st.sampled_from(sorted(seen)), max_size=2)):
            log.stop(["arm"], "critic", id=again)
    assert log.state("arm")[:3] == once.state("arm")[:3]


def test_the_kernel_writes_no_second_line_of_a_stop_that_its_sender_has_written(bench):
    kernel = bench.start()
    StopLog(bench.store, bench.clock).stop(["arm"], "operator", id="x")
    kernel.stopping.stop(["arm"], "operator", id="x")
    kernel.tick()
    lines = [line for line in bench.store.get(stop_key("arm")).data.splitlines() if b'"stop"' in line]
    assert len(lines) == 1 and not kernel.stopping._log.pending.all()
    calls: list[str] = []
    bench.body.stop = lambda: calls.append("stop")
    kernel.stopping.stop(["arm"], "operator", id="y")
    kernel.tick()
    kernel.tick()
    assert calls == ["stop"]  # not once more when the line is heard


# -- what confirms -------------------------------------------------------------------------------------------------


class Robot(NullDriver):
    """What it says of its standstill is given."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    def standstill(self, since: float) -> Any:
        return self.answer(since) if callable(self.answer) else self.answer


def confirmed(bench: Any) -> RobotStop:
    kernel = bench.start()
    ticket = kernel.stopping.stop(["arm"], "operator")
    kernel.tick()
    return kernel.stopping.report(ticket).robots[0]


LIES = [
    None, True, 1, "yes", [True], {"stands": True}, (True, ""), Standstill(1), Standstill("yes"),  # type: ignore[arg-type]
    Standstill(None), Standstill(True, None), Standstill(float("nan")), NotImplemented, object(), Standstill,  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_only_the_exact_answer_confirms(bench, lie):
    bench.nodes["arm"] = Robot(lambda since: lie)
    found = confirmed(bench)
    assert found.confirmed is False and found.why


@pytest.mark.parametrize("error", [OSError("the wire is cut"), RecursionError(), KeyError("x")])
def test_a_measurement_that_fails_confirms_nothing(bench, error):
    def fails(since: float) -> Standstill:
        raise error

    bench.nodes["arm"] = Robot(fails)
    assert not confirmed(bench).confirmed


def test_a_robot_that_moves_is_named_with_what_was_measured_and_confirmed_once_it_stands(bench):
    bench.nodes["arm"] = body = Robot(Standstill(False, "0.8 m/s"))
    assert confirmed(bench) == RobotStop("arm", False, "0.8 m/s")
    kernel = bench.kernel
    assert "stop arm" not in kernel.alert.now()
    bench.clock.advance(BODY.stop_s + 0.1)
    kernel.tick()
    assert kernel.alert.now()["stop arm"].code == "STOP_UNCONFIRMED"
    assert not kernel.stopping._log.state("arm").confirmed
    body.answer = Standstill(True)
    kernel.tick()
    assert "stop arm" not in kernel.alert.now()
    assert kernel.stopping._log.state("arm").confirmed
    kernel.stopping.stop(["arm"], "operator")
    assert not kernel.stopping._log.state("arm").confirmed  # of the stop before


def test_a_measurement_from_before_the_stop_has_returned_is_not_asked_for(bench):
    asked = []
    bench.nodes["arm"] = body = Robot(lambda since: (asked.append(since), Standstill(True))[1])
    body.stop = lambda: bench.clock.advance(1.0)
    kernel = bench.start()
    kernel.stopping.stop(["arm"], "operator")
    until(lambda: kernel.stopping._robots["arm"]._returned_at < float("inf"))
    kernel.tick()
    assert asked == [bench.clock.monotonic()]


def test_while_the_driver_is_at_a_job_nothing_is_confirmed(bench):
    kernel, go_on = at_work(bench)
    ticket = kernel.stopping.stop(["arm"], "operator")
    assert told(kernel)
    found = kernel.stopping.wait(ticket, 0.0).robots[0]
    assert not found.confirmed and "long" in found.why
    go_on.set()
    assert kernel.stopping.wait(ticket, PATIENCE_S).robots[0].confirmed


def test_a_job_that_was_judged_when_the_stop_came_is_no_motion(bench):
    judged, go_on = threading.Event(), threading.Event()
    bench.hooks.on_review = lambda order: (judged.set(), go_on.wait(PATIENCE_S))
    bench.submit(bench.order("a"))
    kernel = bench.start(threads=True)
    bench.when(judged)
    ticket = kernel.stopping.stop(["arm"], "operator")
    assert kernel.stopping.wait(ticket, PATIENCE_S).confirmed
    go_on.set()
    bench.until(lambda: not kernel.open.running)
    assert (bench.status("a").state, bench.starts("a")) == (JobState.PENDING, 0)


def test_a_stop_that_fails_is_tried_again_and_confirmed_once_it_worked(bench):
    kept = [OSError("the wire is cut"), OSError("still")]

    def stop() -> None:
        if kept:
            raise kept.pop()

    bench.body.stop = stop
    kernel = bench.start(threads=True)
    ticket = kernel.stopping.stop(["arm"], "operator")
    found = kernel.stopping.wait(ticket, PATIENCE_S).robots[0]
    assert not found.confirmed and "still" in found.why
    until(lambda: (bench.clock.advance(1.0), kernel.stopping.report(ticket).confirmed)[1])
    assert not kept


def test_a_start_on_a_stopped_world_measures_anew(bench):
    bench.nodes["arm"] = body = Robot(Standstill(False, "it drives"))
    StopLog(bench.store, bench.clock).stop(["arm"], "operator")
    kernel = bench.start()
    bench.clock.advance(BODY.stop_s + 0.1)
    kernel.tick()
    assert "stop arm" in kernel.alert.now()
    body.answer = Standstill(True)
    kernel.tick()
    assert kernel.stopping._log.state("arm").confirmed and "stop arm" not in kernel.alert.now()


@pytest.mark.parametrize("every", [True, False])
def test_a_stop_that_is_in_force_at_a_start_is_sent_to_the_driver(bench, every):
    """The robot drives on since its kernel was killed, and heard no stop."""
    bench.nodes["arm"] = body = Robot(Standstill(False, "it drives"))
    calls: list[str] = []

    def stops() -> None:
        calls.append("stop")
        body.answer = Standstill(True)

    body.stop = stops
    StopLog(bench.store, bench.clock).stop([] if every else ["arm"], "operator", every=every)
    kernel = bench.start()
    until(lambda: calls == ["stop"])
    until(lambda: (kernel.tick(), kernel.stopping._log.state("arm").confirmed)[1])
    StopLog(bench.store, bench.clock).resume(["arm"], "operator")
    kernel.abandon()
    bench.start()
    assert calls == ["stop"]


def test_a_stop_in_force_is_sent_again_once_the_driver_is_open(bench):
    """A body that connects in `open` hears nothing before; what was measured before counts for nothing."""
    bench.nodes["arm"] = body = Robot(Standstill(True))
    calls: list[bool] = []
    body.stop = lambda: calls.append(body.is_open)
    StopLog(bench.store, bench.clock).stop(["arm"], "operator")
    kernel = bench.start()
    until(lambda: calls == [False])
    until(lambda: (kernel.tick(), kernel.stopping.answer("arm").confirmed)[1])
    body.answer = Standstill(False, "it drives")
    body.open(Scene())
    kernel.stopping.opened("arm")
    assert not kernel.stopping.answer("arm").confirmed
    until(lambda: calls == [False, True])
    kernel.stopping.opened("leg")
    assert len(calls) == 2


def test_opening_a_robot_that_is_not_stopped_sends_no_stop(bench):
    bench.body.stop = lambda: pytest.fail("it is free to move")
    bench.start().stopping.opened("arm")


def test_a_stop_that_hangs_is_called_again_by_each_further_stop_and_named_also_after_a_resume(bench):
    go_on = threading.Event()
    calls = hung(bench, go_on)
    kernel, log = bench.start(threads=True), StopLog(bench.store, bench.clock)
    assert AT_ONCE > 3  # a call that hangs keeps no later one from the driver
    for number in range(1, AT_ONCE + 1):
        kernel.stopping.stop(["arm"], "operator")
        until(lambda number=number: len(calls) == number)
    until(lambda: (bench.clock.advance(1.0), kernel.alert.now().get("stop call arm"))[1])
    assert kernel.alert.now()["stop call arm"].code == "STOP_HANGS"
    kernel.stopping.stop(["arm"], "operator")
    until(lambda: not kernel.stopping._log.pending.all())
    log.resume(["arm"], "operator")
    until(lambda: (kernel.tick(), not kernel.stopping.is_stopped("arm"))[1])
    assert kernel.alert.now().get("stop call arm")
    assert len(calls) == AT_ONCE and len(set(calls)) == AT_ONCE  # each by a thread of its own, and no more of them
    go_on.set()
    until(lambda: (bench.clock.advance(1.0), "stop call arm" not in kernel.alert.now())[1])


def hung(bench: Any, go_on: threading.Event) -> list[int]:
    """The threads that have called the arm's stop, each of which hangs until it may go on."""
    calls: list[int] = []

    def stop() -> None:
        calls.append(threading.get_ident())
        go_on.wait(PATIENCE_S)

    bench.body.stop = stop
    return calls


def test_a_driver_is_told_again_while_its_robot_is_measured_to_move(bench):
    """The wire was cut when it was told first."""
    bench.nodes["arm"] = body = Robot(Standstill(False, "it drives"))
    calls: list[str] = []

    def stops() -> None:
        calls.append("stop")
        body.answer = Standstill(len(calls) > 2, "" if len(calls) > 2 else "it drives")

    body.stop = stops
    kernel = bench.start(threads=True)
    ticket = kernel.stopping.stop(["arm"], "operator")
    until(lambda: (bench.clock.advance(1.0), kernel.stopping.report(ticket).confirmed)[1])
    assert len(calls) >= 3


def test_a_driver_is_told_again_while_it_has_not_returned_from_its_order(bench):
    """Its first word was lost, and it measures nothing while it drives."""
    kernel, go_on = at_work(bench)
    calls: list[str] = []

    def stops() -> None:
        calls.append("stop")
        if len(calls) > 2:
            go_on.set()

    bench.nodes["arm"].stop = stops
    ticket = kernel.stopping.stop(["arm"], "operator")
    until(lambda: (bench.clock.advance(1.0), kernel.stopping.report(ticket).robots[0].confirmed)[1])
    assert len(calls) >= 3


def test_a_later_call_of_the_stop_puts_off_no_measurement(bench):
    bench.nodes["arm"] = body = Robot(Standstill(False, "it drives"))
    asked: list[float] = []
    body.answer = lambda since: (asked.append(since), Standstill(False, "it drives"))[1]
    kernel = bench.start(threads=True)
    kernel.stopping.stop(["arm"], "operator")
    until(lambda: (bench.clock.advance(1.0), len(asked) > 4)[1])
    assert len(set(asked)) == 1


def test_a_robot_that_moves_after_it_stood_is_confirmed_no_more_and_is_told_again(bench):
    """A person or another machine pushes it. One failed measurement is none yet: the wire may be busy."""
    bench.nodes["arm"] = body = Robot(Standstill(True))
    calls: list[str] = []
    body.stop = lambda: calls.append("stop")
    kernel = bench.start(threads=True)

    def later() -> None:
        bench.clock.advance(0.3)
        kernel.tick()

    ticket, log = kernel.stopping.stop(["arm"], "operator"), StopLog(bench.store, bench.clock)
    until(lambda: (later(), kernel.stopping.report(ticket).confirmed and log.state("arm").confirmed)[1])
    for _ in range(20):
        later()
    assert kernel.stopping.report(ticket).confirmed and calls == ["stop"] and "stop arm" not in kernel.alert.now()
    body.answer = Standstill(False, "0.2 m/s")
    until(lambda: (later(), kernel.alert.now().get("stop arm"))[1])
    assert kernel.alert.now()["stop arm"].code == "STOP_UNCONFIRMED"
    assert kernel.stopping.answer("arm") == RobotStop("arm", False, "0.2 m/s")
    until(lambda: (later(), not log.state("arm").confirmed and log.state("arm").stopped)[1])
    until(lambda: (later(), len(calls) > 1)[1])
    body.answer = Standstill(True)
    until(lambda: (later(), log.state("arm").confirmed and "stop arm" not in kernel.alert.now())[1])


def test_a_measurement_of_a_robot_that_stood_that_hangs_confirms_it_no_more(bench):
    bench.nodes["arm"] = body = Robot(Standstill(True))
    hangs, go_on = threading.Event(), threading.Event()
    kernel = bench.start(threads=True)
    ticket = kernel.stopping.stop(["arm"], "operator")
    assert kernel.stopping.wait(ticket, PATIENCE_S).confirmed
    body.answer = lambda since: (hangs.set(), go_on.wait(PATIENCE_S), Standstill(True))[2]
    until(lambda: (bench.clock.advance(0.3), hangs.is_set())[1])
    until(lambda: (bench.clock.advance(0.3), not kernel.stopping.report(ticket).confirmed)[1])
    go_on.set()
    until(lambda: (bench.clock.advance(0.3), kernel.stopping.report(ticket).confirmed)[1])


def test_what_is_measured_of_a_robot_that_stands_is_no_older_than_the_age_of_a_standstill(bench):
    bench.nodes["arm"] = body = Robot(Standstill(True))
    asked: list[float] = []
    body.answer = lambda since: (asked.append(bench.clock.monotonic() - since), Standstill(True))[1]
    kernel = bench.start()
    kernel.stopping.stop(["arm"], "operator")
    until(lambda: (bench.clock.advance(10.0), kernel.tick(), len(asked) > 20)[2])
    assert max(asked) <= FRESH_S + 10.0


def test_that_a_robot_moves_again_is_written_once_the_disk_takes_it(bench):
    bench.nodes["arm"] = body = Robot(Standstill(True))
    kernel = bench.start()
    kernel.stopping.stop(["arm"], "operator")
    log = StopLog(bench.store, bench.clock)
    until(lambda: (bench.clock.advance(0.6), kernel.tick(), log.state("arm").confirmed)[2])
    append, full = bench.store.append, [True]

    def refuses(key: str, data: bytes, **more: Any) -> None:
        if full[0]:
            raise StorageError("full", path=key, op="append")
        append(key, data, **more)

    bench.store.append, body.answer = refuses, Standstill(False, "0.2 m/s")
    for _ in range(9):
        bench.clock.advance(0.6)
        kernel.tick()
    assert log.state("arm").confirmed
    full[0] = False
    until(lambda: (bench.clock.advance(0.6), kernel.tick(), not log.state("arm").confirmed)[2])


def test_a_resume_ends_the_question(bench):
    bench.nodes["arm"] = Robot(Standstill(False, "it drives"))
    kernel = bench.start()
    kernel.stopping.stop(["arm"], "operator")
    bench.clock.advance(BODY.stop_s + 0.1)
    kernel.tick()
    assert "stop arm" in kernel.alert.now()
    kernel.stopping._log.resume(["arm"], "operator")
    kernel.tick()
    kernel.tick()
    assert "stop arm" not in kernel.alert.now() and kernel.stopping.answer("arm") is None


@pytest.mark.parametrize("value", [None, 1, "true", [True], {}, "yes"])
def test_what_comes_over_the_socket_confirms_only_as_exactly_true(value):
    assert read_robot(robot_value(RobotStop("arm", True))) == RobotStop("arm", True)
    assert read_robot({"node": "arm", "confirmed": value}) == RobotStop("arm", False)
    assert read_robot({"confirmed": True}) is None


def test_the_log_confirms_the_latest_stop_alone():
    store = MemoryStore()
    log, states = StopLog(store, ManualClock()), StopStates(store)
    log.stop(["arm"], "operator")
    log.confirm({"arm": 1})
    assert log.state("arm").confirmed
    log.stop([], "operator", every=True)
    assert not log.state("arm").confirmed
    log.confirm({"arm": 2})
    for key in (ALL, stop_key("arm")):
        states.read(key)
    assert log.state("arm").confirmed and states.state("arm").confirmed
    for odd in (b"true", b'"2"', b"2.0", b"null", b"[2]"):
        log.stop(["arm"], "operator")
        store.append(ALL, b'{"stands": {"arm": ' + odd + b"}}\n")
        store.append(ALL, b'{"stands": ' + odd + b"}\n")
        assert not log.state("arm").confirmed
    log.resume(["arm"], "operator")
    assert not log.state("arm").confirmed


# -- the socket ----------------------------------------------------------------------------------------------------


@pytest.fixture
def heard(tmp_path, bench):
    """A kernel that hears the stops of other processes below that directory."""
    from worldfs.runtime.body_worker import KernelNode
    from worldfs.tree.workspace_stores import WorkspaceStores

    kernel = Kernel(
        WorkspaceStores(DiskStore(tmp_path), {}), SystemClock(), bench.hooks,
        {name: KernelNode(name, NullDriver()) for name in ("arm", "leg")}, socket_root=tmp_path,
    )  # fmt: skip
    yield kernel
    kernel.abandon()


def call(root: Any, nodes: list[str] | None = None) -> StopCall:
    return StopCall([root], SystemClock(), nodes, "operator")


def test_a_stop_by_the_socket_is_told_stored_and_confirmed(heard, tmp_path):
    with call(tmp_path, ["arm"]) as one:
        assert one.wait_told(PATIENCE_S) and one.wait(PATIENCE_S)
        (report,) = one.reports()
    assert report.robots == (RobotStop("arm", True),) and not report.unstored
    assert heard.stopping.is_stopped("arm") and not heard.stopping.is_stopped("leg")
    assert StopLog(DiskStore(tmp_path), SystemClock()).state("arm").by == "operator"


def test_a_robot_that_the_kernel_has_not_is_stopped_by_nobody(heard, tmp_path):
    for nodes in (["wheel"], ["../arm"], [""], []):
        with call(tmp_path, nodes) as one:
            assert not one.wait_told(PATIENCE_S) and one.wait(PATIENCE_S)
    assert not heard.stopping.is_stopped("arm")
    assert not list(tmp_path.glob(".paos/stops/*wheel*"))


def test_many_robots_fit_into_several_answers(bench, tmp_path):
    from worldfs.runtime.body_worker import KernelNode
    from worldfs.tree.workspace_stores import WorkspaceStores

    nodes = {f"robot_{n}": KernelNode(f"robot_{n}", NullDriver()) for n in range(450)}
    kernel = Kernel(WorkspaceStores(MemoryStore(), {}), SystemClock(), bench.hooks, nodes, socket_root=tmp_path)
    try:
        with call(tmp_path) as one:
            assert one.wait(PATIENCE_S)
            assert {robot.node for report in one.reports() for robot in report.robots} == set(nodes)
    finally:
        kernel.abandon()


GARBAGE = [b"", b"{", b"[]", b"null", b"\xff" * 100, b"[" * 60_000, b'{"id": 5}', b'{"id": "x", "nodes": 7}',
           b'{"id": "", "nodes": null}', b'{"nodes": null}', b'{"id": "x", "nodes": [{}]}', b"1" * 100_000]  # fmt: skip


def test_garbage_stops_nothing_and_the_next_stop_is_heard(heard, tmp_path):
    folder = DirReader(tmp_path).folder(SOCKETS)
    (name,) = folder.names()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        for data in GARBAGE:
            sender.sendto(data, socket_address(folder.fd, name))
    assert not heard.stopping.is_stopped("arm")
    with call(tmp_path) as one:
        assert one.wait_told(PATIENCE_S)
    assert heard.stopping.is_stopped("arm") and heard.stopping.is_stopped("leg")


def test_a_kernel_whose_queue_is_full_gets_the_stop_as_soon_as_it_takes_one(bench, tmp_path):
    from worldfs.runtime.stop_socket import StopSocket

    made = StopSocket(tmp_path, bench.start(threads=True).stopping)  # it reads nothing yet
    folder = DirReader(tmp_path).folder(SOCKETS)
    (name,) = folder.names()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as flood:
        with pytest.raises(BlockingIOError):
            while True:
                flood.sendto(b"{}", socket.MSG_DONTWAIT, socket_address(folder.fd, name))
        with call(tmp_path) as one:
            assert not one.wait_told(0.05) and one.silent
            made.start()
            assert one.wait_told(PATIENCE_S)
    made.close()


def test_the_datagram_of_another_user_is_not_read(heard, tmp_path):
    heard._stop_socket._users = {os.geteuid() + 1}
    with call(tmp_path) as one:
        assert not one.wait_told(0.2)
    assert not heard.stopping.is_stopped("arm")


def test_an_answer_of_another_user_is_not_believed(heard, tmp_path):
    with call(tmp_path) as one:
        one._users = {os.geteuid() + 1}
        assert not one.wait_told(0.2) and not one.reports() and one.silent


def test_only_its_owner_may_send_to_it(heard, tmp_path):
    (name,) = os.listdir(tmp_path / SOCKETS)
    assert os.stat(tmp_path / SOCKETS / name).st_mode & 0o777 == 0o600
    assert os.stat(tmp_path / SOCKETS).st_mode & 0o777 == 0o700


def test_sockets_of_killed_kernels_are_passed_over_and_removed(bench, tmp_path):
    from worldfs.runtime.stop_socket import StopSocket

    (tmp_path / SOCKETS).mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as killed:
        folder = DirReader(tmp_path).folder(SOCKETS)
        killed.bind(socket_address(folder.fd, "dead"))
    with call(tmp_path) as one:
        assert not one.sent and one.wait(1.0) and not one.reports()
    made = StopSocket(tmp_path, bench.start().stopping)
    assert "dead" not in os.listdir(tmp_path / SOCKETS)
    made.close()
    assert os.listdir(tmp_path / SOCKETS) == []


def test_a_home_with_a_long_path_has_a_socket_too(bench, tmp_path):
    from worldfs.runtime.stop_socket import StopSocket

    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    made = StopSocket(deep, bench.start(threads=True).stopping)
    made.start()
    with call(deep) as one:
        assert one.wait_told(PATIENCE_S)
    made.close()


def test_the_request_is_as_documented(tmp_path):
    (tmp_path / SOCKETS).mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as kernel:
        folder = DirReader(tmp_path).folder(SOCKETS)
        kernel.bind(socket_address(folder.fd, "one"))
        with call(tmp_path, ["arm"]) as one:
            found = json.loads(kernel.recv(1 << 16))
    assert found == {"id": one.id, "by": "operator", "standing": "person", "nodes": ["arm"]}


def test_no_alert_of_a_stop_gives_way_to_another_however_many_robots_hang(bench):
    kernel, robots = bench.start(), range(120)
    for n in robots:
        kernel.alert(f"stop call r{n}", Finding("STOP_HANGS", f"stop call r{n}", "it returns", "it hangs", "restart"))
    for n in range(300):
        kernel.alert(f"page {n}", Finding("BAD", f"page {n}", "a page", "none", "mend it"))
    now = kernel.alert.now()
    assert [f"page {n}" for n in range(200, 300)] == [at for at in now if at.startswith("page")]
    assert [f"stop call r{n}" for n in robots] == [at for at in now if at.startswith("stop")]


@pytest.mark.parametrize(
    ("code", "fix", "said"),
    [("ENOSPC", "df -h", "make room"), ("LEASE_LOST", "paos up", "paos up"), ("BROKEN", "", "see why")],
)
def test_a_stop_that_is_not_stored_says_what_helps_against_that(bench, monkeypatch, code, fix, said):
    kernel = bench.start()

    def refuse(*what, **how):
        raise StorageError("it is not taken", fix=fix, code=code)

    monkeypatch.setattr(bench.store, "append", refuse)
    kernel.stopping.stop(["arm"], "operator")
    found = kernel.alert.now()[f"{STOPS} write"]
    assert said in found.fix and ("make room" in found.fix) is (code == "ENOSPC")


@pytest.mark.parametrize("left", [MayMove(), MayMove("vda5050"), MayMove("", "act_1"), MayMove("vda5050", "act_1")])
def test_a_robot_that_may_move_without_an_order_was_carrying_out_none(left):
    for text in (left_text(left), left_finding("amr_001", left, served=True).found):
        assert "?" not in text and ("carrying out" in text) is bool(left.job) and (left.driver or "not known") in text
