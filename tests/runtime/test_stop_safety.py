"""No stop is missed, whatever else is read, changed or cut off meanwhile; and a stop costs what changed."""

import json
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.access.standing import Standing
from worldfs.base.driver import Driver, Run, Standstill
from worldfs.base.errors import BadInput, StorageError
from worldfs.base.model import Cause, Finding, JobState, Order, Outcome, Scene
from worldfs.base.plugin_calls import checked
from worldfs.runtime import stop_calls
from worldfs.runtime.body_worker import BodyWorker, KernelNode
from worldfs.runtime.job_store import ALERTS
from worldfs.runtime.stop_calls import StopCalls
from worldfs.runtime.stop_log import ALL, STOPS, StopLog, StopStates, stop_key
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.memory_store import MemoryStore
from worldfs.storage.store_interface import StoreChange, StoreChangeKind
from worldfs.testing.crashes import enumerate_crashes
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.world.document_findings import unread_stops


@pytest.fixture
def stops(bench):
    return StopLog(bench.store, bench.clock)


def at_work(bench, *nodes):
    """A job on each node that moves until it is told to stop; the kernel, once all have begun."""
    begun = threading.Semaphore(0)

    def execute(order, run):
        begun.release()
        assert run.cancel.wait(PATIENCE_S)
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "holds still")

    for node in nodes:
        bench.nodes[node] = type(bench.body)(bench.trace)
        bench.nodes[node].on_execute = execute
    bench.submit(*(bench.order(f"work_{node}", node) for node in nodes))
    kernel = bench.start(threads=True)
    bench.drain()
    for _ in nodes:
        assert begun.acquire(timeout=PATIENCE_S)
    return kernel


def told(kernel, node):
    return kernel.open.running[node].cancel.wait(PATIENCE_S)


class DeafWatch:
    """Hears nothing, until it is closed."""

    def __init__(self, watch):
        self.watch = watch

    def read(self, timeout=None):
        self.watch.read(timeout)
        return ()

    def wake(self):
        self.watch.wake()

    def close(self):
        self.watch.close()
        self.watch.wake()


# -- what is missed by one is heard by another --------------------------------------------------------------------


@pytest.mark.parametrize("every", [True, False])
def test_a_stop_that_the_listener_misses_is_heard_by_the_loop(bench, stops, monkeypatch, every):
    watch = bench.store.watch
    monkeypatch.setattr(
        bench.store, "watch", lambda *keys, **m: (DeafWatch if keys == (STOPS,) else lambda w: w)(watch(*keys, **m))
    )
    kernel = at_work(bench, "arm", "leg")
    stops.stop(["arm", "leg"], "operator", every=every)
    kernel.tick()
    assert told(kernel, "arm") and told(kernel, "leg")


def test_changes_that_were_lost_are_made_up_for_by_reading_every_log(bench, stops):
    """Nobody heard the stops; then the feed says that it lost changes."""
    kernel = bench.start()
    kernel.tick()
    stops.stop(["arm"], "operator")
    kernel._watch.read(0.0)
    assert not kernel.stopping.is_stopped("arm")
    kernel.handle_changes([StoreChange(STOPS, StoreChangeKind.RESYNC)])
    assert kernel.stopping.is_stopped("arm")
    stops.resume(["arm"], "operator")
    kernel._watch.read(0.0)
    kernel.handle_changes([StoreChange("", StoreChangeKind.RESYNC)])
    assert not kernel.stopping.is_stopped("arm")


def test_a_stop_that_is_resumed_before_anybody_reads_it_has_stopped_what_ran(bench, stops):
    bench.nodes["arm"].stop = (calls := threading.Semaphore(0)).release
    kernel = bench.start()
    kernel.tick()
    stops.stop(["arm"], "operator")
    stops.resume(["arm"], "operator")
    kernel.tick()
    assert calls.acquire(timeout=PATIENCE_S)
    assert not kernel.stopping.is_stopped("arm")


def test_a_stop_that_comes_while_the_log_is_read_is_heard(bench, stops):
    """What was read is older than what is there when it is noted."""
    kernel = at_work(bench, "arm")
    bench.store.append(stop_key("arm"), b"")  # an old, empty log is read once more
    get, between = bench.store.get, []

    def late(key):
        found = get(key)
        if key == stop_key("arm") and not between:
            between.append(key)
            stops.stop(["arm"], "operator")
        return found

    bench.store.get = late
    bench.store.append(stop_key("arm"), b"\n")
    assert told(kernel, "arm")
    assert between


def test_a_slow_reader_does_not_put_an_older_state_over_a_newer_one(bench, stops):
    """One thread has read the log before the stop and notes it after another thread has noted the stop."""
    kernel = bench.start()
    kernel.tick()
    bench.store.append(stop_key("arm"), b"\n")
    get, read, go_on = bench.store.get, threading.Event(), threading.Event()

    def slow(key):
        found = get(key)
        if threading.current_thread() is reader:
            read.set()
            go_on.wait(PATIENCE_S)
        return found

    bench.store.get = slow
    change = StoreChange(stop_key("arm"), StoreChangeKind.PUT)
    reader = threading.Thread(target=kernel.stopping.read_changes, args=([change],))
    reader.start()
    assert read.wait(PATIENCE_S)
    stops.stop(["arm"], "operator")
    other = threading.Thread(target=kernel.stopping.read_changes, args=([change],))
    other.start()
    go_on.set()
    for thread in (reader, other):
        thread.join(PATIENCE_S)
    assert kernel.stopping.is_stopped("arm")


@pytest.mark.parametrize("every", [True, False])
def test_a_node_that_comes_after_its_stop_does_not_begin(bench, stops, every):
    kernel = bench.start()
    bench.submit(bench.order("earlier"))
    bench.drain()
    stops.stop(["leg"], "operator", every=every)
    kernel._watch.read(0.0)  # the loop has not heard of it
    kernel.add(KernelNode("leg", type(bench.body)(bench.trace)))
    bench.submit(bench.order("a", "leg"))
    bench.drain()
    assert bench.status("a").state is JobState.PENDING
    stops.resume(["leg"], "operator")
    bench.drain()
    assert bench.outcome("a").ok


def test_a_node_whose_log_was_never_read_counts_as_stopped(bench):
    assert bench.start().stopping.is_stopped("unknown")


# -- what cannot be read --------------------------------------------------------------------------------------------


def test_a_log_that_cannot_be_read_keeps_no_other_robot_moving_and_is_read_again(bench, stops):
    kernel = at_work(bench, "arm", "leg")
    get, broken = bench.store.get, threading.Event()

    def fails(key):
        if key == stop_key("arm") and not mended.is_set():
            broken.set()
            raise StorageError("the disk is broken", path=key, op="read")
        return get(key)

    mended = threading.Event()
    bench.store.get = fails
    stops.stop(["arm", "leg"], "operator")
    assert broken.wait(PATIENCE_S)
    assert told(kernel, "leg")
    assert not kernel.open.running["arm"].cancel.is_set()
    mended.set()
    assert told(kernel, "arm")


def test_a_file_in_the_place_of_the_directory_stops_nobody_from_starting(bench):
    bench.store.put(STOPS, b"not a directory")
    bench.start()
    assert bench.kernel.stopping.is_stopped("arm")


# -- the drivers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prepared", [0, 30])
def test_calls_that_hang_hold_up_no_other(prepared):
    """Each waits for all the others to have begun."""
    everybody, calls = threading.Barrier(30), StopCalls("stops")
    calls.prepare(prepared)
    calls.begin([lambda: everybody.wait(PATIENCE_S)] * 30)
    assert not everybody.broken
    calls.begin([])
    calls.close()


def test_calls_need_no_new_thread_once_they_are_prepared(monkeypatch):
    calls, begun, go_on = StopCalls("stops"), threading.Semaphore(0), threading.Event()
    calls.prepare(6)

    def none_left(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    for _ in range(2):
        calls.begin([lambda: (begun.release(), go_on.wait(PATIENCE_S))] * 3)
    calls.begin([begun.release])
    for _ in range(7):
        assert begun.acquire(timeout=PATIENCE_S)
    go_on.set()
    calls.close()


def test_a_driver_whose_stop_breaks_off_its_motion_ends_as_stopped_and_not_as_failed(bench, stops):
    """Its stop is heard by `execute` before the attempt is cancelled: the outcome names who stopped it all the same."""
    stopped, seen = threading.Event(), []

    def execute(order, run):
        begun.set()
        assert stopped.wait(PATIENCE_S)
        return Outcome.failure(Cause.ERROR, "TARGET_STOPPED", "the robot stands")

    def stop():
        seen.append(kernel.open.running["arm"].stopped)
        stopped.set()

    begun = threading.Event()
    bench.body.on_execute, bench.body.stop = execute, stop
    bench.submit(bench.order("a", attempts=3))
    kernel = bench.start(threads=True)
    bench.when(begun)
    stops.stop(["arm"], "critic")
    bench.until(lambda: kernel.idle)
    assert (bench.outcome("a").code, bench.status("a").attempt) == ("STOPPED", 1)
    assert seen[0].by == "critic"


def test_no_end_is_written_before_every_stop_has_begun(bench, stops):
    kernel = at_work(bench, "arm", "leg")
    ended = threading.Event()
    bench.nodes["arm"].on_execute = None
    order = []
    bench.hooks.on_observe = lambda node: (order.append("end"), ended.set())
    bench.nodes["arm"].stop = lambda: (kernel.open.running["arm"].cancel.set(), ended.wait(PATIENCE_S))
    bench.nodes["leg"].stop = lambda: order.append("told")
    stops.stop([], "operator", every=True)
    assert ended.wait(PATIENCE_S)
    assert order[0] == "told"


# -- ends that no stop has made --------------------------------------------------------------------------------------


def leaves_it_moving(bench):
    """A job whose driver returns at once when it is asked to, and leaves its robot moving; another one waits."""
    begun = threading.Event()

    def execute(order, run):
        begun.set()
        if order.id == "a":
            assert run.cancel.wait(PATIENCE_S)
            return Outcome.failure(Cause.CANCELLED, "CANCELLED", "it goes on")

    bench.body.on_execute = execute
    bench.body.stop = lambda: bench.trace.append("stop")
    bench.submit(bench.order("a"), bench.order("next"))
    kernel = bench.start(threads=True)
    bench.when(begun)
    return kernel


def test_the_driver_of_a_cancelled_job_is_told_to_stop_before_the_next_begins(bench, stops):
    kernel = leaves_it_moving(bench)
    kernel.cancel("a")
    bench.until(lambda: kernel.idle)
    trace = bench.trace
    assert trace.index("execute a") < trace.index("stop") < trace.index("settle arm") < trace.index("execute next")
    assert trace.count("stop") == 1 and not stops.state("arm").number
    assert (bench.outcome("a").code, bench.outcome("next").ok) == ("CANCELLED", True)
    assert not kernel.alert.now() and not kernel.stopping.may_move("arm")


def test_a_kernel_that_ends_tells_the_driver_to_stop_before_it_closes_it(bench):
    kernel = leaves_it_moving(bench)
    bench.body.close = lambda: bench.trace.append("close")
    kernel.close()
    assert bench.trace.index("stop") < bench.trace.index("close")


def test_a_kernel_that_ends_before_the_driver_has_returned_tells_it_to_stop(bench):
    begun, go_on = threading.Event(), threading.Event()
    bench.body.on_execute = lambda order, run: (begun.set(), go_on.wait(PATIENCE_S))
    bench.body.stop = lambda: bench.trace.append("stop")
    bench.submit(bench.order("a"))
    kernel = bench.start(threads=True)
    bench.when(begun)
    kernel.close(timeout=0.0)
    assert "stop" in bench.trace
    go_on.set()


def test_a_job_that_has_ended_without_its_driver_is_followed_by_the_drivers_stop(bench):
    begun, go_on, told = threading.Event(), threading.Event(), threading.Event()
    bench.body.on_execute = lambda order, run: (begun.set(), go_on.wait(PATIENCE_S))
    bench.body.stop = told.set
    bench.submit(bench.order("a", timeout_s=1.0))
    kernel = bench.start(threads=True)
    bench.when(begun)
    bench.clock.advance(10.0)
    kernel.tick()
    assert bench.outcome("a").code == "EXECUTION_TIMEOUT" and told.wait(PATIENCE_S)
    go_on.set()


@pytest.mark.parametrize("ends", ["raises", "answers nothing that is known", "limit", "cancelled by itself"])
def test_an_end_that_was_not_measured_is_followed_by_the_drivers_stop(bench, ends):
    def execute(order, run):
        bench.trace.append("moves")
        if ends == "raises":
            raise OSError("the wire is cut")
        if ends == "limit":
            bench.clock.advance(100.0)
            return Outcome.failure(Cause.TIMEOUT, "EXECUTION_TIMEOUT", "it goes on")
        if ends == "cancelled by itself":
            return Outcome.failure(Cause.CANCELLED, "CANCELLED", "it goes on")
        return Outcome("yes", 5)

    bench.body.on_execute = execute
    bench.body.stop = lambda: bench.trace.append("stop")
    bench.submit(bench.order("a", timeout_s=10.0))
    bench.start()
    bench.drain()
    assert bench.trace.index("moves") < bench.trace.index("stop") < bench.trace.index("settle arm")
    assert not bench.outcome("a").ok


@pytest.mark.parametrize("end", [
    Outcome.success("there"),
    Outcome.failure(Cause.ERROR, "MISSED", "it stands before the wall"),
    Outcome.failure(Cause.CANCELLED, "CANCELLED", "it stands", evidence={"stop_confirmed": True}),
    Outcome.failure(Cause.ERROR, "REPLACED", "another controller has it", evidence={"stop_confirmed": False}),
])  # fmt: skip
def test_after_a_measured_end_nothing_is_told(bench, end):
    bench.body.on_execute = lambda order, run: end
    bench.body.stop = lambda: bench.trace.append("stop")
    bench.submit(bench.order("a"))
    bench.start()
    bench.drain()
    assert "execute a" in bench.trace and "stop" not in bench.trace


SAID = [
    Outcome.success("at goal"),
    Outcome.failure(Cause.ERROR, "LINK_LOST", "no link"),
    Outcome.failure(Cause.REJECTED, "NO", "not now"),
    *(
        Outcome.failure(Cause.ERROR, "LINK_LOST", "no link", evidence={"stop_confirmed": said})
        for said in ("yes", True, 1, None)
    ),
]


def hangs():
    threading.Event().wait(PATIENCE_S)  # in a thread that ends with the process


def ends_by_itself(bench, said, answer, **more):
    """The kernel, whose arm has ended its order by itself, and answers so whether it stands; another job waits."""
    bench.body.on_execute = lambda order, run: said if order.id == "a" else None
    bench.body.stop, bench.body.standstill = lambda: bench.trace.append("stop"), answer
    bench.submit(bench.order("a", **more), bench.order("next", **more))
    kernel = bench.start(threads=True)
    bench.until(lambda: bench.status("a").state.terminal)
    return kernel


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize(
    "answer",
    [lambda since: Standstill(False, "speed 0.10"), lambda since: fails(), lambda since: True, lambda since: hangs()],
    ids=["moves", "raises", "answers wrongly", "hangs"],
)
def test_whatever_its_driver_says_of_the_end_a_robot_that_is_not_measured_to_stand_is_stopped(
    bench, stops, said, answer
):
    kernel = ends_by_itself(bench, said, answer)
    found = bench.outcome("a")
    assert not found.ok and found.evidence["stop_confirmed"] is False and "may still move" in found.message
    until(lambda: (kernel.tick(), "stop arm" in kernel.alert.now() and "arm" in stops.moving())[-1])
    assert kernel.stopping.may_move("arm") and kernel.held == ["arm"] and bench.trace.count("stop")
    assert bench.status("next").state is JobState.PENDING


@pytest.mark.parametrize("said", SAID)
def test_a_robot_that_comes_to_rest_is_waited_for_and_not_stopped(bench, said):
    asked = []
    kernel = ends_by_itself(bench, said, lambda since: (asked.append(since), Standstill(len(asked) > 2, "0.1 m/s"))[1])
    bench.until(lambda: kernel.idle)
    assert bench.outcome("a") == said and bench.outcome("next").ok
    assert "stop" not in bench.trace and not kernel.alert.now() and len(asked) == 4


@pytest.mark.parametrize("said", [SAID[0], SAID[1], SAID[4]])
def test_a_driver_of_this_package_is_asked_as_any_other(bench, monkeypatch, said):
    monkeypatch.setattr(type(bench.body), "__module__", "worldfs.robots")
    kernel = ends_by_itself(bench, said, lambda since: Standstill(False, "speed 0.10"))
    assert bench.outcome("a").evidence["stop_confirmed"] is False and kernel.stopping.may_move("arm")
    assert bench.trace.count("stop") and bench.status("next").state is JobState.PENDING


def test_a_robot_that_follows_another_controller_is_not_stopped(bench, monkeypatch):
    """As a driver of this package says of it."""
    monkeypatch.setattr(type(bench.body), "__module__", "worldfs.robots")
    said = Outcome.failure(Cause.ERROR, "ORDER_REPLACED", "another has it", evidence={"stop_confirmed": False})
    ends_by_itself(bench, said, lambda since: Standstill(False, "speed 0.10"))
    assert bench.outcome("a") == said and "stop" not in bench.trace


def test_an_order_that_moves_nothing_asks_for_no_standstill(bench):
    bench.body.operations = tuple(replace(one, moves=False) for one in bench.body.operations)
    kernel = ends_by_itself(bench, Outcome.success("seen"), lambda since: fails())
    bench.until(lambda: kernel.idle)
    assert bench.outcome("a").ok and bench.outcome("next").ok and not kernel.alert.now()


def test_a_simulation_that_its_orders_step_is_not_asked(bench):
    kernel = bench.start(threads=True)
    kernel.nodes["arm"].simulated, bench.body.standstill = True, lambda since: fails()
    bench.submit(bench.order("a"))
    bench.until(lambda: kernel.idle and bench.outcome("a") is not None)
    assert bench.outcome("a").ok and not kernel.alert.now()


def moves_on(bench, answer, stop=None):
    """A kernel whose arm was cancelled, and that answers so when it is asked whether it stands; another job waits."""
    kernel = leaves_it_moving(bench)
    bench.body.standstill = answer
    if stop is not None:
        bench.body.stop = stop
    kernel.cancel("a")
    bench.until(lambda: bench.status("a").state.terminal)
    return kernel


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(stop_calls, "ASKED", 10)


def fails():
    raise OSError("the wire is cut")


def stands_now(bench, kernel):
    bench.body.standstill = lambda since: Standstill(True)
    until(lambda: (bench.clock.advance(1.0), "stop arm" not in kernel.alert.now())[1])
    assert not kernel.stopping.may_move("arm")
    bench.until(lambda: kernel.idle)
    assert bench.outcome("next").ok


UNSURE = [lambda since: Standstill(False, "0.2 m/s"), lambda since: fails(), lambda since: None, lambda since: True]


@pytest.mark.parametrize("answer", UNSURE)
def test_a_robot_that_was_cancelled_and_is_not_measured_to_stand_is_sent_nothing_until_it_is(bench, answer):
    bench.hooks.measured = lambda order, outcome: replace(outcome, evidence={"said": outcome.evidence})
    kernel = moves_on(bench, answer)  # what a package's driver says is no measurement, as a world has it
    found = bench.outcome("a")
    assert (found.code, found.evidence["stop_confirmed"]) == ("CANCELLED", False) and "hardware stop" in found.message
    alert = kernel.alert.now()["stop arm"]
    assert alert.code == "STOP_UNCONFIRMED" and kernel.stopping.may_move("arm")
    until(lambda: (kernel.tick(), kernel.held == ["arm"])[1])
    assert bench.status("next").state is JobState.PENDING
    stands_now(bench, kernel)


def test_a_robot_that_moves_on_after_its_end_is_told_to_stop_again_until_it_stands(bench):
    kernel = moves_on(bench, lambda since: Standstill(False, "0.2 m/s"))
    for count in (1, 2, 3):
        until(lambda: (bench.clock.advance(1.0), bench.trace.count("stop") > count)[1])  # noqa: B023
    stands_now(bench, kernel)


def test_an_end_whose_stop_fails_is_unknown_until_the_robot_is_measured_to_stand(bench):
    kernel = moves_on(bench, lambda since: Standstill(False, "0.2 m/s"), fails)
    assert bench.outcome("a").evidence["stop_confirmed"] is False
    assert "the wire is cut" in kernel.stopping.may_move("arm")
    bench.body.stop = lambda: None
    stands_now(bench, kernel)


def test_a_driver_that_cannot_measure_is_told_and_no_more(bench):
    bench.body = bench.nodes["arm"] = type("Unmeasured", (type(bench.body),), {"standstill": None})(bench.trace)
    kernel = leaves_it_moving(bench)
    ended, asked = threading.Event(), []

    def execute(order, run):
        asked.append((kernel.stopping.may_move("arm"), kernel.stopping.is_held("arm")))
        ended.wait(PATIENCE_S)

    kernel.cancel("a")
    bench.body.on_execute = execute
    bench.drain()
    until(lambda: (kernel.tick(), "stop arm" in kernel.alert.now())[1])
    ended.set()
    bench.until(lambda: kernel.idle)
    assert asked == [("its driver cannot measure a standstill", False)]
    assert bench.trace.count("stop") == 1 and bench.outcome("next").ok and bench.outcome("a").code == "CANCELLED"
    until(lambda: (bench.clock.advance(1.0), "stop arm" not in kernel.alert.now())[1])
    until(lambda: not StopLog(bench.store, bench.clock).moving())


def test_a_robot_that_stands_late_is_waited_for(bench):
    answers = iter([Standstill(False, "0.2 m/s"), Standstill(False, "0.1 m/s")])
    kernel = moves_on(bench, lambda since: next(answers, Standstill(True)))
    bench.until(lambda: kernel.idle)
    assert "stop_confirmed" not in bench.outcome("a").evidence and bench.outcome("next").ok and not kernel.alert.now()


@pytest.mark.parametrize("ends", ["closes", "is killed"])
def test_the_next_kernel_goes_on_doubting_the_robot(bench, ends):
    kernel = moves_on(bench, lambda since: Standstill(False, "0.2 m/s"))
    kernel.tick()
    if ends == "closes":
        kernel.close()
    else:
        kernel.abandon()
    calls = bench.trace.count("stop")
    again = bench.start(threads=True)
    again.stopping.opened("arm")
    again.tick()
    assert again.stopping.is_held("arm") and "stop arm" in again.alert.now()  # a start has measured nothing
    until(lambda: (bench.clock.advance(1.0), bench.trace.count("stop") > calls)[1])
    until(lambda: (bench.clock.advance(1.0), "stop arm" in again.alert.now())[1])
    stands_now(bench, again)


def test_a_stop_and_its_resume_end_the_doubt(bench, stops):
    begun = threading.Event()
    kernel = moves_on(bench, lambda since: Standstill(begun.is_set(), "0.2 m/s"))
    bench.body.on_execute = lambda order, run: begun.set()
    stops.stop(["arm"], "operator")
    kernel.tick()
    stops.resume(["arm"], "operator")
    bench.until(lambda: kernel.idle)
    assert bench.outcome("next").ok
    until(lambda: (bench.clock.advance(1.0), "stop arm" not in kernel.alert.now())[1])


def test_a_kernel_that_closes_says_which_robot_may_move(bench):
    kernel = leaves_it_moving(bench)
    bench.body.standstill = lambda since: Standstill(False, "0.2 m/s")
    kernel.close()
    assert json.loads(bench.store.get(ALERTS).data)["stop arm"]["code"] == "STOP_UNCONFIRMED"
    assert bench.outcome("a").evidence["stop_confirmed"] is False


# -- what it costs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robots", [2, 40])
def test_a_change_costs_one_read_of_the_log_that_changed(bench, stops, robots):
    bench.body.standstill = None  # what a driver confirms is another line of its robot's log
    bench.nodes |= {f"r{n}": bench.body for n in range(robots)}
    kernel = bench.start()
    stops.stop(["arm"], "operator")
    kernel.tick()
    get, read = bench.store.get, []
    bench.store.get = lambda key: (read.append(key) if key.startswith(STOPS) else None, get(key))[1]
    stops.stop([], "operator", every=True)
    kernel.tick()
    assert read == [ALL]
    assert all(kernel.stopping.is_stopped(node) for node in bench.nodes)
    read.clear()
    stops.stop(["r1"], "operator")
    kernel.tick()
    assert read == [stop_key("r1")]


def test_a_long_history_of_stops_is_parsed_once(monkeypatch):
    store = MemoryStore()
    stops, states = StopLog(store, ManualClock()), StopStates(store)
    for _ in range(100):
        stops.stop(["arm"], "operator")
    states.read(stop_key("arm"))
    parsed = []
    monkeypatch.setattr("worldfs.runtime.stop_log.parse_json", lambda line: (parsed.append(line), {"stands": {}})[1])
    store.append(stop_key("arm"), b'\n{"stop": "critic"}\n')
    states.read(stop_key("arm"))
    assert [line for line in parsed if line] == [b'{"stop": "critic"}']
    assert states.state("arm").number == 100


LINES = st.sampled_from(
    [
        b'{"stop": "a"}\n',
        b'{"stop": "b"',
        b'\n{"stop": "c"}\n',
        b'{"resume": "a", "seen": 1}\n',
        b"\n",
        b"\x00\xff",
        b"\r",
    ]
    + [json.dumps({"resume": "x", "seen": n}).encode() + b"\n" for n in range(2, 5)]
)
STEPS = st.lists(st.one_of(LINES, st.just("read"), st.integers(0, 60), st.just("gone"), st.just("other")), max_size=30)


@given(STEPS)
def test_reading_on_finds_what_reading_anew_finds(steps):
    """Also where the log was cut short, removed or put in another's place between two reads."""
    store = MemoryStore()
    key, fresh, states, changed = stop_key("arm"), StopLog(store, ManualClock()), StopStates(store), StopStates(store)
    for step in [*steps, "read"]:
        found = store.get(key)
        if isinstance(step, bytes):
            store.append(key, step)
        elif isinstance(step, int) and found is not None:
            store.put(key, found.data[:step])
        elif step == "other":
            store.put(key, b'{"stop": "other"}\n')
        elif step == "gone" and found is not None:
            store.delete(key)
        elif step == "read":
            states.read(key)
            changed.read_changed(key)
            assert states.state("arm") == changed.state("arm") == fresh.state("arm")


def test_a_name_that_is_no_log_says_stopped():
    class Refused(MemoryStore):
        def get(self, key):
            raise BadInput("a directory", path=key, op="read")

    class Broken(Refused):
        def probe(self, key):
            raise BadInput("a link", path=key, op="stat")

    for store in (Refused(), Broken()):
        states = StopStates(store)
        states.read(stop_key("arm"))
        assert states.state("arm")[:3] == (True, 1, stop_key("arm"))
        assert states.state("arm").standing is Standing.PERSON
        states = StopStates(store)
        states.read_changed(stop_key("arm"))
        assert states.own("arm")[:3] == (True, 1, stop_key("arm"))


def test_a_log_that_a_link_has_replaced_for_a_while_is_read_again(tmp_path):
    store, states, key = DiskStore(tmp_path), StopStates(DiskStore(tmp_path)), stop_key("arm")
    states.read_changed(key)
    (tmp_path / ".paos/stops").mkdir(parents=True)
    (tmp_path / key).symlink_to(tmp_path)
    states.read_changed(key)
    assert states.own("arm").stopped
    (tmp_path / key).unlink()
    states.read_changed(key)
    assert not states.own("arm").stopped
    StopLog(store, ManualClock()).stop(["arm"], "operator")
    states.read_changed(key)
    assert states.own("arm").by == "operator"


# -- a record that cannot be read -----------------------------------------------------------------------------------


STOP_LINE = b'\n{"stop": "operator", "standing": "person", "id": "0011223344556677", "at": "2025-04-01T12:00:00Z"}\n\n'
RESUME_LINE = b'\n{"resume": "operator", "standing": "person", "seen": 1, "at": "2025-04-01T12:00:01Z"}\n'


def states_of(store):
    """The arm's state, as each of the readers has it."""
    states = StopStates(store)
    for key in sorted(states.known_keys()):
        states.read_changed(key)
    return [StopLog(store, ManualClock()).state("arm"), states.state("arm")]


@pytest.mark.parametrize("key", [ALL, stop_key("arm")])
@pytest.mark.parametrize(
    "data",
    [
        bytes(len(STOP_LINE)),
        b'{"x',
        STOP_LINE.replace(b"stop", b"stpo"),
        STOP_LINE[:60],
        STOP_LINE[:-12],
        b"\xff\xfe\x00",
        b"[]",
        b"0",
        b"[" * 100_000,
        STOP_LINE + RESUME_LINE[:-9],
        STOP_LINE + RESUME_LINE.replace(b"seen", b"sene"),
        RESUME_LINE.replace(b'"person"', b"[]"),
        b'{"stands": {"arm": "1"}}',
    ],
)
def test_a_record_that_cannot_be_read_is_a_stop_that_a_person_resumes(tmp_path, key, data):
    store = DiskStore(tmp_path)
    store.put(key, data)
    for state in states_of(store):
        assert state.stopped and state.standing is Standing.PERSON
    assert [(one.code, one.field) for one in unread_stops(store)] == [("STOP_UNREAD", key)]
    StopLog(store, ManualClock()).resume(["arm"], "operator")
    assert not any(state.stopped for state in states_of(store))
    assert [*unread_stops(store)] == []
    StopLog(store, ManualClock()).stop(["arm"], "operator")
    assert all(state.stopped for state in states_of(store))


@given(st.data())
def test_no_damage_to_a_stop_in_force_lifts_it(data):
    """Any part of its line may be lost or replaced; a log of which nothing is left has no record."""
    start, end = sorted((data.draw(st.integers(0, len(STOP_LINE))), data.draw(st.integers(0, len(STOP_LINE)))))
    damaged = STOP_LINE[:start] + data.draw(st.binary(max_size=8)) + STOP_LINE[end:]
    store = MemoryStore()
    store.put(ALL, damaged)
    if damaged.strip():
        assert all(state.stopped for state in states_of(store))


# -- a power cut ----------------------------------------------------------------------------------------------------


def test_after_a_power_cut_what_was_acknowledged_last_holds():
    """Stop, resume and stop again, of one robot and of all; cut at every operation, also between the two writes."""

    def prepare(path):
        pass

    def operate(path, disk, ack):
        store = DiskStore(path, disk)
        stops = StopLog(store, ManualClock())
        for word in ("stop", "resume", "stop all", "resume", "stop"):
            if word == "resume":
                stops.resume(["arm"], "operator")
            else:
                stops.stop(["arm"], "operator", every=word == "stop all")
            ack(word)
        store.close()

    def check(path, acked):
        store = DiskStore(path)
        states, words = StopStates(store), ("stop", "resume", "stop all", "resume", "stop")
        for key in states.known_keys():
            states.read(key)
        now = states.state("arm")
        assert now == StopLog(store, ManualClock()).state("arm")
        store.close()
        if acked and acked[-1].startswith("stop"):  # only the next resume may have come through
            assert now.stopped or words[len(acked) :][:1] == ("resume",)

    assert enumerate_crashes(prepare, operate, check).states > 20


# -- what cannot be told now ---------------------------------------------------------------------------------------


def test_an_alert_that_no_disk_takes_ends_no_kernel_and_is_written_later(bench, monkeypatch):
    kernel, put = bench.start(), bench.store.put
    finding = Finding("STOP_NOT_STORED", "stops", "a log", "no space", "make room")

    def full(key, data, *more, **how):
        raise StorageError("no space", path=key, op="write")

    monkeypatch.setattr(bench.store, "put", full)
    kernel.alert("stops", finding)
    kernel.tick()
    monkeypatch.setattr(bench.store, "put", put)
    kernel.tick()
    assert "STOP_NOT_STORED" in bench.store.get(ALERTS).data.decode()


# -- a record that is cut while a kernel runs ------------------------------------------------------------------------


def cut_none(data):
    return None


def cut_all(data):
    return b""


def cut_half(data):
    return data[: len(data) // 2 + 1].rpartition(b"\n")[0] + b"\n"


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("cut", [cut_none, cut_all, cut_half])
def test_a_running_kernel_forgets_no_stop_with_its_record(bench, stops, every, cut):
    """The record says stop, resume, stop; what is left of it has the first stop and its resume at most."""
    kernel, key = bench.start(), ALL if every else stop_key("arm")
    for _ in range(2):
        stops.stop([] if every else ["arm"], "operator", every=every)
        kernel.tick()
        before = bench.store.get(key).data
        stops.resume(["arm"], "operator")
        kernel.tick()
    bench.store.put(key, before)
    kernel.stopping.read_all()
    left = cut(before)
    if left is None:
        bench.store.delete(key)
    else:
        bench.store.put(key, left)
    kernel.tick()
    assert kernel.stopping.is_stopped("arm") and stops.state("arm").stopped
    kernel.tick()
    stops.resume(["arm"], "operator")
    kernel.tick()
    assert not kernel.stopping.is_stopped("arm") and not stops.state("arm").stopped


def test_a_record_that_was_resumed_may_be_cut(bench, stops):
    kernel = bench.start()
    stops.stop(["arm"], "operator")
    kernel.tick()
    stops.resume(["arm"], "operator")
    kernel.tick()
    bench.store.put(stop_key("arm"), b"")
    kernel.tick()
    assert not kernel.stopping.is_stopped("arm") and not bench.store.get(stop_key("arm")).data


class Claims:
    """A package's driver, whose outcome says by itself that its robot stands."""

    def open(self, scene): ...

    def review(self, order):
        return ()

    def execute(self, order, run):
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "stopped", evidence={"stop_confirmed": True, "x": 1})

    def observe(self):
        return Scene()

    def close(self): ...


def test_what_a_package_says_of_its_own_standstill_is_no_measurement(bench, monkeypatch):
    monkeypatch.setattr(Claims, "__module__", "a_package")
    worker = BodyWorker(KernelNode("arm", checked(Claims(), Driver)), bench.hooks)
    found = worker.execute(Order("a", "arm", "wave", {}), Run(bench.clock, bench.clock.monotonic() + 1.0))
    assert found.evidence == {"x": 1}
