"""The loop: taken in, judged, chosen, shown; and what happens when things come in an unlucky order."""

import threading
from contextlib import suppress

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.errors import Conflict, StorageError
from worldfs.base.model import Cause, JobState, JobStatus, Outcome
from worldfs.base.model.job import REVIEW_S
from worldfs.runtime.grace import BODY
from worldfs.runtime.job_store import ALERTS, CANCEL, OPEN, JobStore, done_key, job_key
from worldfs.runtime.order_intake import GROUP
from worldfs.runtime.render_scheduler import ROUNDS
from worldfs.runtime.stop_log import StopLog
from worldfs.storage.store_interface import StoreChange, StoreChangeKind
from worldfs.testing.waiting import PATIENCE_S

from .conftest import Body


def codes(bench, *ids):
    return [bench.outcome(id).code if bench.outcome(id) else None for id in ids]


def order_of_starts(bench):
    return [line.split()[1] for line in bench.trace if line.startswith("execute")]


# -- what runs when ------------------------------------------------------------------------------------------------


def test_priority_then_time_then_place_in_the_write(bench):
    bench.submit(
        bench.order("low", priority="low", created_at="2026-01-01T00:00:00Z"),
        bench.order("late", created_at="2026-01-01T00:00:09Z"),
        bench.order("early", created_at="2026-01-01T00:00:01Z"),
        bench.order("early_too", created_at="2026-01-01T00:00:01Z"),
        bench.order("high", priority="high", created_at="2026-01-01T00:01:00Z"),
    )
    bench.start()
    bench.drain()
    assert order_of_starts(bench) == ["high", "early", "early_too", "late", "low"]


def test_a_robot_with_very_many_entries_does_not_keep_another_from_being_served(bench):
    bench.nodes["leg"] = Body(bench.trace)
    many = [bench.action(f"arm_{number}") for number in range(4 * GROUP)]
    last = bench.action("leg_2", "leg", keys={"depends_on": [many[-1]["action_id"]]})
    bench.write(*many, bench.action("leg_1", "leg"), last)
    bench.start()
    bench.drain()
    starts = order_of_starts(bench)
    assert starts.index("leg_1") == 1 and sorted(starts) == sorted({*starts})
    assert starts.index("leg_2") > starts.index(many[-1]["action_id"]) and bench.outcome("leg_2").ok


def test_serial_per_node_and_parallel_across_nodes(bench):
    """Both bodies must be at work at once to pass; a second job on a busy body would break the barrier."""
    meet, busy, most = threading.Barrier(2, timeout=PATIENCE_S), {"arm": 0, "leg": 0}, []

    def execute(order, run):
        busy[order.node] += 1
        most.append(busy[order.node])
        meet.wait()
        busy[order.node] -= 1

    bench.body.on_execute = execute
    bench.nodes["leg"] = bench.body
    bench.submit(*(bench.order(f"{node}{n}", node) for n in range(3) for node in ("arm", "leg")))
    kernel = bench.start(threads=True)
    bench.until(lambda: kernel.idle)
    assert set(most) == {1} and len(most) == 6
    assert all(bench.outcome(f"{node}{n}").ok for n in range(3) for node in ("arm", "leg"))


def test_what_depends_waits_and_goes_after_success(bench):
    bench.submit(bench.order("b", depends_on=("a",), priority="high"), bench.order("a"))
    bench.start()
    bench.drain()
    assert order_of_starts(bench) == ["a", "b"]


def test_what_depends_on_a_failure_ends_with_it_through_the_whole_chain(bench):
    fails = {"params": {"fail": "no"}}
    bench.submit(bench.order("a", **fails), bench.order("b", depends_on=("a",)), bench.order("c", depends_on=("b",)))
    bench.start()
    bench.drain()
    assert codes(bench, "b", "c") == ["DEPENDENCY_FAILED"] * 2 and order_of_starts(bench) == ["a"]


def test_unknown_dependencies_and_circles_are_refused_at_once(bench):
    bench.submit(
        bench.order("a", depends_on=("nobody",)),
        bench.order("b", depends_on=("c",)),
        bench.order("c", depends_on=("b",)),
        bench.order("d", depends_on=("d",)),
    )
    bench.start()
    bench.drain()
    assert codes(bench, "a", "b", "c", "d") == ["DEPENDENCY_FAILED"] * 4 and order_of_starts(bench) == []


def test_a_dependency_that_is_not_in_sight_yet_is_not_taken_as_done(bench):
    """Another process wrote both; the feed has told of the second only."""
    kernel = bench.start()
    kernel.tick()
    bench.submit(bench.order("a"), bench.order("b", depends_on=("a",)))
    kernel.tick([StoreChange(job_key("b"), StoreChangeKind.PUT)])
    assert order_of_starts(bench) == []
    bench.drain()
    assert order_of_starts(bench) == ["a", "b"]


def test_a_dependency_whose_end_nobody_can_read_counts_as_failed(bench):
    bench.submit(bench.order("a"))
    bench.start()
    bench.drain()
    key = next(key for key in bench.store._files if key.endswith("/a.jsonl"))
    bench.submit(bench.order("b", depends_on=("a",)))
    bench.store.put(key, b"{")
    bench.drain()
    assert codes(bench, "b") == ["DEPENDENCY_FAILED"]


# -- time ----------------------------------------------------------------------------------------------------------


def test_who_waited_too_long_is_not_started(bench):
    let_go = threading.Event()
    bench.body.on_execute = lambda order, run: let_go.wait(PATIENCE_S) and None
    bench.submit(bench.order("a"), bench.order("b", queue_timeout_s=30.0))
    kernel = bench.start(threads=True)
    kernel.tick()
    bench.clock.advance(29)
    kernel.tick()
    assert kernel._patience() == pytest.approx(1.001)
    assert bench.status("b").state is JobState.PENDING
    bench.clock.advance(1.5)
    kernel.tick()
    assert bench.outcome("b").cause is Cause.REJECTED and codes(bench, "b") == ["QUEUE_TIMEOUT"]
    let_go.set()
    bench.until(lambda: kernel.idle)
    assert bench.starts("b") == 0


def test_the_turn_of_a_job_that_is_being_judged_has_come_however_long_that_takes(bench):
    judging, go = threading.Event(), threading.Event()
    bench.hooks.on_review = lambda order: (judging.set(), go.wait(PATIENCE_S))
    bench.submit(bench.order("a", queue_timeout_s=30.0))
    kernel = bench.start(threads=True)
    kernel.tick()
    assert judging.wait(PATIENCE_S)
    bench.clock.advance(31)
    kernel.tick()
    assert bench.outcome("a") is None
    go.set()
    bench.until(lambda: kernel.idle)
    assert bench.outcome("a").ok and bench.starts("a") == 1


def test_the_kernel_sleeps_while_a_critic_thinks_until_its_limit(bench):
    judging, go = threading.Event(), threading.Event()
    bench.hooks.on_review = lambda order: (judging.set(), go.wait(PATIENCE_S))
    bench.submit(bench.order("a", timeout_s=5.0))
    kernel = bench.start(threads=True)
    bench.when(judging)
    bench.clock.advance(100)
    kernel.tick()
    assert kernel._patience() == REVIEW_S + BODY.stop_s - 100
    go.set()
    bench.until(lambda: kernel.idle)


def test_work_that_begins_after_a_long_review_wakes_the_kernel_which_then_keeps_its_limit(bench):
    judging, go, begun, let_go = (threading.Event() for _ in range(4))
    bench.hooks.on_review = lambda order: (judging.set(), go.wait(PATIENCE_S))
    bench.body.on_execute = lambda order, run: (begun.set(), let_go.wait(PATIENCE_S), None)[-1]
    bench.submit(bench.order("a", timeout_s=5.0))
    kernel = bench.start(threads=True)
    bench.when(judging)
    bench.clock.advance(1)
    kernel.tick()
    assert kernel._patience() == REVIEW_S + BODY.stop_s - 1 and not kernel._rung
    go.set()
    assert begun.wait(PATIENCE_S) and kernel._rung
    kernel.tick()
    bench.clock.advance(1)
    kernel.tick()
    assert kernel._patience() == pytest.approx(4 + BODY.stop_s)
    let_go.set()
    bench.until(lambda: kernel.idle)


def test_a_retry_found_at_the_start_is_waited_for_asleep(bench):
    waits = JobStatus(JobState.PENDING, 1, not_before="2026-01-02T03:05:05Z")
    bench.submit(bench.order("a", queue_timeout_s=1.0, attempts=2))
    JobStore(bench.store, bench.clock).write_status("a", waits)
    bench.clock.advance(10)
    kernel = bench.start()
    bench.drain()
    assert bench.outcome("a") is None and kernel._patience() == pytest.approx(50)
    bench.clock.advance(50)
    bench.drain()
    assert bench.outcome("a").ok


# -- coming in -----------------------------------------------------------------------------------------------------


def test_the_same_new_id_in_the_sheet_and_in_a_displaced_copy_runs_once(bench):
    kernel = bench.start()
    kernel.tick()
    bench.store.late(bench.sheet(bench.action("a"), bench.action("b")))
    bench.write(bench.action("a"))
    bench.drain()
    assert (bench.starts("a"), bench.starts("b")) == (1, 1) and not kernel.open.queue["arm"]


def test_a_displaced_copy_is_let_go_only_when_its_orders_are_durable(bench):
    bench.start()
    bench.store.late(bench.sheet(bench.action("a")))
    bench.drain()
    assert bench.trace.index(f"put {job_key('a')}") < bench.trace.index("forget")


def test_orders_that_come_in_while_rendering_keep_the_kernel_awake(bench):
    kernel = bench.start()
    bench.submit(bench.order("a"))
    bench.drain()
    put, spoiled = bench.store.put, []

    def spoil(key, data, *args, **more):
        if key == "ACTION.md" and not spoiled:
            spoiled.append(key)
            put("ACTION.md", bench.sheet(bench.action("b")))
            raise Conflict("it changed", path=key)
        return put(key, data, *args, **more)

    bench.submit(bench.order("c"))
    bench.store.put = spoil
    bench.drain()
    assert spoiled and bench.outcome("b").ok and kernel.idle


def test_a_cancel_that_comes_in_while_rendering_leaves_nothing_that_waits(bench):
    kernel = bench.start()
    bench.submit(bench.order("a", queue_timeout_s=30.0, depends_on=()), bench.order("b", params={"fail": "x"}))
    begun, let_go = threading.Event(), threading.Event()
    kernel.abandon()
    bench.body.on_execute = lambda order, run: (begun.set(), let_go.wait(PATIENCE_S), None)[-1]
    bench.submit(bench.order("c", created_at="2020-01-01T00:00:00Z"))
    kernel = bench.start(threads=True)
    put, spoiled = bench.store.put, []

    def spoil(key, data, *args, **more):
        if key == "ACTION.md" and not spoiled:
            spoiled.append(key)
            put("ACTION.md", bench.sheet({**bench.action("a", keys={"status": "cancelled"}), "params": {}}))
            raise Conflict("it changed", path=key)
        return put(key, data, *args, **more)

    bench.store.put = spoil
    kernel.tick()
    assert begun.wait(PATIENCE_S)
    bench.clock.advance(1)
    kernel.tick()
    assert spoiled and bench.outcome("a").cause is Cause.CANCELLED
    assert kernel._patience() is not None  # of the job that runs; and no error over the one that is gone
    let_go.set()
    bench.until(lambda: kernel.idle)


def test_a_rendering_that_foreign_writes_spoil_is_tried_again_later(bench):
    kernel = bench.start()
    put = bench.store.put

    def spoil(key, data, *args, **more):
        if key == "ACTION.md":
            rounds.append(key)
            raise Conflict("it changed", path=key)
        return put(key, data, *args, **more)

    rounds: list[str] = []
    bench.submit(bench.order("a"))
    bench.store.put = spoil
    bench.drain()
    assert len(rounds) % ROUNDS == 0 and kernel._patience() is not None
    bench.store.put = put
    bench.clock.advance(1)
    bench.drain()
    assert bench.entries()[0]["status"] == "completed" and kernel._patience() is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'"a"',
        b'{"id": "other", "node": "arm", "op": "move_to", "params": {}}',
        b'{"id": "bad", "node": "arm", "op": "move_to", "params": {}, "attempts": "many"}',
        b'{"id": "bad", "node": 7, "op": "move_to"}',
        b"\xff\xfe",
    ],
)
def test_a_job_file_that_says_nothing_is_named_and_stops_nothing(bench, data):
    bench.store.put(job_key("bad"), data)
    kernel = bench.start()
    bench.store.put(job_key("worse"), data.replace(b"bad", b"worse"))
    bench.submit(bench.order("a"))
    bench.drain()
    assert bench.outcome("a").ok and f"{OPEN}/bad" in kernel.alert.now() and f"{OPEN}/worse" in kernel.alert.now()


def test_names_in_our_directories_that_are_no_ids_stop_nothing(bench):
    bench.store.put(f"{OPEN}/.jsonl", b"{}")
    bench.store.put(f"{CANCEL}/..x", b"")
    bench.store.put(f"{CANCEL}/nobody", b"")
    bench.submit(bench.order("a"))
    bench.start()
    bench.drain()
    assert bench.outcome("a").ok


def test_a_job_whose_open_file_holds_its_end_is_archived_and_not_repeated(bench):
    bench.submit(bench.order("a"))
    bench.start()
    bench.drain()
    ended = bench.store.get(done_key("a")).data
    bench.store.delete(done_key("a"))
    bench.store.put(job_key("a"), ended)
    bench.drain()
    assert bench.starts("a") == 1
    assert bench.store.get(done_key("a")).data == ended and bench.store.get(job_key("a")) is None


def test_an_unknown_node_is_refused_with_a_lesson_that_says_what_there_is(bench):
    bench.submit(bench.order("a", "leg"))
    bench.start()
    bench.drain()
    assert codes(bench, "a") == ["NODE_UNKNOWN"] and "arm" in bench.outcome("a").findings[0].expected
    assert bench.hooks.lessons == [("a", Cause.REJECTED)]


# -- cancelling ----------------------------------------------------------------------------------------------------


def test_what_has_not_started_is_cancelled_at_once(bench):
    bench.submit(bench.order("a"))
    bench.jobs.request_cancel("a", "planner")
    bench.start()
    bench.drain()
    assert bench.outcome("a").cause is Cause.CANCELLED and bench.starts("a") == 0
    assert bench.store.list(CANCEL) == []


def test_what_runs_is_told_to_stop_by_the_cancel_file(bench):
    started = threading.Event()

    def execute(order, run):
        started.set()
        assert run.cancel.wait(PATIENCE_S)
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "stopped: cancelled")

    bench.body.on_execute = execute
    bench.submit(bench.order("a", attempts=3))
    kernel = bench.start(threads=True)
    bench.when(started)
    bench.jobs.request_cancel("a", "planner")
    bench.until(lambda: kernel.idle)
    assert bench.outcome("a").cause is Cause.CANCELLED and bench.starts("a") == 1


# -- a house that gives way ----------------------------------------------------------------------------------------


def test_a_broken_house_on_a_lane_stops_the_kernel_and_others_end_safely(bench):
    started, stopped = threading.Event(), threading.Event()

    def execute(order, run):
        if order.node == "arm":
            return started.wait(PATIENCE_S) and None
        started.set()
        assert run.cancel.wait(PATIENCE_S)
        stopped.set()
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "stopped")

    def settle(node):
        if node == "arm":
            raise StorageError("Input/output error", path="ENVIRONMENT.md")

    bench.body.on_execute, bench.hooks.on_observe = execute, settle
    bench.nodes["leg"] = bench.body
    bench.submit(bench.order("a"), bench.order("b", "leg"))
    kernel = bench.start(threads=True)
    with pytest.raises(StorageError, match="Input/output"):
        kernel.run(threading.Event())
    kernel.close()
    assert stopped.is_set() and bench.outcome("b").cause is Cause.CANCELLED
    assert bench.status("a").state is JobState.RUNNING  # as its files say; the next start calls it lost
    bench.kernel = None


def test_the_sheet_shows_the_end_of_a_job_that_the_close_ended(bench):
    started = threading.Event()

    def execute(order, run):
        started.set()
        run.cancel.wait(PATIENCE_S)
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "stopped")

    bench.body.on_execute = execute
    bench.submit(bench.order("a"))
    kernel = bench.start(threads=True)
    bench.when(started)
    kernel.close()
    bench.kernel = None
    assert bench.outcome("a").cause is Cause.CANCELLED
    assert [entry["status"] for entry in bench.entries()] == ["failed"]


def test_a_kernel_that_begins_its_own_orders_leaves_those_of_others_as_they_are(bench):
    """Also one that it would refuse: it is admitted by the kernel that may begin it."""
    bench.ours = lambda id: id == "own"
    bench.submit(bench.order("found"))
    bench.write(bench.action("written"))
    bench.start()
    bench.drain()
    bench.submit(bench.order("nowhere", "leg"), bench.order("own"), bench.order("late"))
    bench.drain()
    bench.kernel.close()
    assert bench.outcome("own").ok
    assert {bench.status(id).state for id in ("found", "written", "nowhere", "late")} == {JobState.PENDING}
    assert not bench.hooks.lessons
    bench.ours = lambda id: True
    bench.start()
    bench.drain()
    assert all(bench.outcome(id).ok for id in ("found", "written", "late"))
    assert bench.outcome("nowhere").cause is Cause.REJECTED


def test_an_order_of_others_can_be_cancelled_there(bench):
    bench.ours = lambda id: False
    bench.submit(bench.order("a"), bench.order("b"))
    bench.start()
    bench.drain()
    bench.kernel.cancel("a")
    bench.drain()
    assert bench.outcome("a").cause is Cause.CANCELLED
    assert bench.status("b").state is JobState.PENDING


def test_what_has_not_begun_when_the_kernel_goes_stays_pending(bench):
    judging, go = threading.Event(), threading.Event()
    bench.hooks.on_review = lambda order: (judging.set(), go.wait(PATIENCE_S))
    bench.submit(bench.order("a"))
    kernel = bench.start(threads=True)
    bench.when(judging)
    closing = threading.Thread(target=kernel.close)
    closing.start()
    assert kernel.open.running["arm"].cancel.wait(PATIENCE_S)
    go.set()
    closing.join()
    assert bench.status("a").state is JobState.PENDING and bench.starts("a") == 0
    bench.start()
    bench.drain()
    assert bench.outcome("a").ok


def test_closing_lets_go_even_when_the_disk_is_full(bench):
    bench.submit(bench.order("a"))
    kernel = bench.start()
    bench.drain()
    bench.submit(bench.order("b"))

    def broken(key):
        raise StorageError("No space left on device", path=key)

    bench.store.broken = broken
    with pytest.raises(StorageError):
        bench.drain()
    with suppress(StorageError):
        kernel.close()
    assert not bench.body.is_open and bench.store._watches == []
    bench.kernel = None


def test_a_driver_left_behind_at_the_close_writes_nothing_any_more(bench):
    started, let_go = threading.Event(), threading.Event()

    def execute(order, run):
        started.set()
        let_go.wait(PATIENCE_S)

    bench.body.on_execute = execute
    bench.submit(bench.order("a"))
    kernel = bench.start(threads=True)
    bench.when(started)
    kernel.close(timeout=0.0)
    bench.body.on_execute = lambda order, run: None
    second = bench.start()
    assert bench.outcome("a").cause is Cause.LOST
    written = len(bench.trace)
    let_go.set()
    kernel.lanes["arm"].close(PATIENCE_S)
    assert bench.outcome("a").cause is Cause.LOST and bench.trace[written:] == []
    assert second.idle


def test_run_ends_when_it_is_told_to_and_when_nothing_is_left(bench):
    bench.clock = SystemClock()
    bench.submit(*(bench.order(f"a{n}") for n in range(20)))
    kernel = bench.start(threads=True)
    kernel.run(threading.Event(), until_idle=True)
    assert all(bench.outcome(f"a{n}").ok for n in range(20))
    stop = threading.Event()
    thread = threading.Thread(target=kernel.run, args=(stop,))
    thread.start()
    bench.submit(bench.order("b"))
    bench.jobs.store.watch(OPEN).close()
    stop.set()
    kernel.wake()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


# -- what the loop hears -------------------------------------------------------------------------------------------


class Told:
    """A change feed that says what it is given, one list a `read`; a function among them is called first."""

    def __init__(self, *lists):
        self.lists = list(lists)

    def read(self, timeout=None):
        said = self.lists.pop(0)
        return said() if callable(said) else said

    def wake(self):
        pass

    def close(self):
        pass


def test_lines_of_an_open_job_and_its_being_put_away_make_no_turn_of_the_loop(bench):
    bench.submit(bench.order("a"))
    kernel = bench.start()  # a is open
    line, away = StoreChange(job_key("a"), StoreChangeKind.PUT), StoreChange(job_key("z"), StoreChangeKind.DELETE)
    theirs = [line, StoreChange(job_key("b"), StoreChangeKind.PUT)]
    kernel._watch.close()
    kernel._watch = Told([line], [line, away], theirs)
    assert kernel._hear(at_once=False) == theirs


@pytest.mark.parametrize("kind", [StoreChangeKind.RESYNC, StoreChangeKind.DISPLACED])
def test_whatever_says_that_changes_were_lost_makes_a_turn_of_the_loop(bench, kind):
    bench.submit(bench.order("a"))
    kernel = bench.start()
    kernel._watch.close()
    kernel._watch = Told([StoreChange(job_key("a"), kind)])
    assert kernel._hear(at_once=False) == [StoreChange(job_key("a"), kind)]


def test_a_bell_that_is_heard_together_with_such_lines_is_not_lost(bench):
    bench.submit(bench.order("a"))
    kernel = bench.start()
    line = [StoreChange(job_key("a"), StoreChangeKind.PUT)]
    kernel._watch.close()
    kernel._watch = Told(lambda: kernel.wake() or line, line, [])
    assert kernel._hear(at_once=False) == line and len(kernel._watch.lists) == 2
    assert kernel._hear(at_once=False) == []  # and it rings once


def test_what_starts_long_after_it_was_shown_is_shown_as_running(bench):
    bench.clock = SystemClock()
    go, stop = threading.Event(), threading.Event()
    bench.body.on_execute = lambda order, run: go.wait(PATIENCE_S)
    stops = StopLog(bench.store, bench.clock)
    stops.stop(["arm"], "operator")
    bench.write(bench.action("a"))
    kernel = bench.start(threads=True)
    watch = bench.store.watch("ACTION.md")
    thread = threading.Thread(target=kernel.run, args=(stop,))
    thread.start()
    try:
        while not bench.jobs.known("a"):
            watch.read(0.01)
        stops.resume(["arm"], "operator")
        while bench.entries()[0]["status"] != "running":
            assert watch.read(PATIENCE_S), "nothing more was shown of it"
    finally:
        go.set()
        stop.set()
        kernel.wake()
        thread.join(PATIENCE_S)


# -- alerts --------------------------------------------------------------------------------------------------------


def test_an_unreadable_sheet_is_told_while_nothing_else_happens_and_untold_when_mended(bench):
    bench.start()
    bench.drain()
    bench.store.put("ACTION.md", b'{"queue": [')
    bench.drain()
    assert b"ACTION.md" in bench.store.get(ALERTS).data
    bench.write(bench.action("a"))
    bench.drain()
    assert bench.outcome("a").ok and bench.store.get(ALERTS).data == b"{}"


def test_what_an_earlier_run_was_alarmed_by_is_forgotten(bench):
    bench.store.put(ALERTS, b'{"ACTION.md": {}}')
    bench.start()
    bench.drain()
    assert bench.store.get(ALERTS).data == b"{}"


def test_an_idle_kernel_writes_nothing(bench):
    bench.submit(bench.order("a"))
    bench.start()
    bench.drain()
    written = len(bench.trace)
    for _ in range(100):
        bench.clock.advance(60)
        bench.drain()
    assert bench.trace[written:] == []
