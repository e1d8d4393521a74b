"""Stop: ahead of every queue, durable, what ran ends as cancelled with evidence, what waited is held until a resume."""

import json
import threading

import pytest

from worldfs.base.model import Cause, Finding, JobState, Outcome
from worldfs.runtime.grace import AGENT, BODY, CONFIRM_S, SAFE_STOP_S
from worldfs.runtime.stop_log import ALL, StopLog, stop_key
from worldfs.storage.store_interface import ABSENT
from worldfs.testing.waiting import PATIENCE_S

PATIENCE = PATIENCE_S


@pytest.fixture
def stops(bench):
    return StopLog(bench.store, bench.clock)


def moving(bench):
    """The body moves until it is told to stop; an event that says it has begun."""
    begun = threading.Event()

    def execute(order, run):
        if order.id != "long":
            return None
        begun.set()
        assert run.cancel.wait(PATIENCE)
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "holds still")

    bench.body.on_execute = execute
    return begun


# -- what is stopped -----------------------------------------------------------------------------------------------


def test_a_stop_is_of_one_node_or_of_all_and_a_resume_ends_it(stops):
    stops.stop(["arm"], "critic")
    assert stops.state("arm")[:3] == (True, 1, "critic")
    assert not stops.state("leg").stopped
    stops.stop([], "operator", every=True)
    assert stops.state("leg").stopped
    assert stops.state("one that comes later").stopped
    stops.resume(["arm", "leg"], "operator")
    assert not any(stops.state(node).stopped for node in ("arm", "leg", "one that comes later"))


def test_what_is_acknowledged_is_durable(bench, stops):
    """The first line is for a kernel that runs; the last write of each file is durable, a resume from the first on."""
    kept = []
    append = bench.store.append
    bench.store.append = lambda key, data, durable=True: (kept.append((key, durable)), append(key, data))[1]
    stops.stop(["arm", "leg"], "operator")
    assert dict(kept) == {stop_key("arm"): True, stop_key("leg"): True}
    kept.clear()
    stops.stop([], "operator", every=True)
    assert dict(kept) == {ALL: True}
    kept.clear()
    stops.resume(["arm"], "operator", others=["leg"])
    assert all(durable for _, durable in kept)


def test_one_of_all_may_go_on_while_the_others_stay(stops):
    stops.stop([], "operator", every=True)
    stops.resume(["arm"], "operator", others=["leg", "wheel"])
    assert [stops.state(node).stopped for node in ("arm", "leg", "wheel")] == [False, True, True]


def test_a_resume_does_not_undo_a_stop_that_its_writer_had_not_seen(stops, bench):
    stops.stop(["arm"], "operator")
    late = {"resume": "operator", "seen": 1}
    stops.stop(["arm"], "critic")
    bench.store.append(stop_key("arm"), json.dumps(late).encode() + b"\n")
    assert stops.state("arm").stopped
    stops.resume(["arm"], "operator")
    assert not stops.state("arm").stopped


@pytest.mark.parametrize("torn", [b'{"stop": "oper', b"\xff\xfe\n", b"[]\n", b'{"resume": "x"}\n', b'{"stop'])
def test_a_torn_or_foreign_line_ends_with_itself(stops, bench, torn):
    stops.stop(["arm"], "operator")
    bench.store.append(stop_key("arm"), torn)
    assert stops.state("arm").stopped
    stops.resume(["arm"], "operator")
    assert not stops.state("arm").stopped
    stops.stop(["arm"], "operator")
    assert stops.state("arm").stopped


# -- a kernel that runs --------------------------------------------------------------------------------------------


def test_what_runs_ends_as_cancelled_with_evidence_and_what_waits_is_held(bench, stops):
    begun = moving(bench)
    bench.submit(bench.order("long"), bench.order("next"))
    kernel = bench.start(threads=True)
    bench.when(begun)
    stops.stop(["arm"], "critic")
    bench.until(lambda: bench.status("long").state is JobState.FAILED)
    outcome = bench.outcome("long")
    assert (outcome.cause, outcome.code) == (Cause.CANCELLED, "STOPPED")
    assert "stopped by critic" in outcome.message
    assert outcome.evidence["stopped"]["by"] == "critic"
    assert outcome.evidence["stood"] == {"robot": "arm"}
    bench.drain()
    assert bench.status("next").state is JobState.PENDING
    assert not bench.hooks.lessons
    stops.resume(["arm"], "operator")
    bench.until(lambda: kernel.idle)
    assert bench.outcome("next").ok
    assert bench.starts("long") == 1


def test_a_stop_does_not_wait_for_the_kernels_loop(bench, stops):
    """The loop stands still from the moment at which the body has begun: nobody ticks."""
    begun = moving(bench)
    bench.submit(bench.order("long"))
    bench.start(threads=True)
    bench.when(begun)
    stops.stop(["arm"], "operator")
    attempt = bench.kernel.open.running["arm"]
    assert attempt.cancel.wait(PATIENCE)


def test_a_stop_is_heard_before_it_is_durable(bench, stops):
    """A disk that takes long to write does not hold up the robot."""
    begun, slow = moving(bench), threading.Event()
    bench.submit(bench.order("long"))
    bench.start(threads=True)
    bench.when(begun)
    append = bench.store.append

    def late(key, data, **more):
        if data == b"\n":
            assert slow.wait(PATIENCE)
        append(key, data, **more)

    bench.store.append = late
    asker = threading.Thread(target=stops.stop, args=(["arm"], "operator"))
    asker.start()
    assert bench.kernel.open.running["arm"].cancel.wait(PATIENCE)
    assert asker.is_alive()
    slow.set()
    asker.join(PATIENCE)
    assert not asker.is_alive()


def test_a_stop_of_one_node_leaves_the_others_at_work(bench, stops):
    bench.nodes["leg"] = bench.body
    bench.submit(bench.order("a"), bench.order("b", "leg"))
    stops.stop(["arm"], "operator")
    bench.start()
    bench.drain()
    assert bench.status("a").state is JobState.PENDING
    assert bench.outcome("b").ok


def test_a_run_until_idle_ends_when_all_that_is_open_waits_for_a_stopped_node(bench, stops):
    bench.nodes["leg"] = bench.body
    kernel = bench.start(threads=True)
    assert kernel.held == []
    stops.stop(["arm"], "operator")
    after = bench.order("after", "leg", depends_on=("held",))
    bench.submit(bench.order("held"), bench.order("free", "leg"), after)
    kernel.run(threading.Event(), until_idle=True)
    assert kernel.held == ["arm"]
    assert bench.outcome("free").ok
    assert {bench.status(id).state for id in ("held", "after")} == {JobState.PENDING}
    stops.resume(["arm"], "operator")
    kernel.run(threading.Event(), until_idle=True)
    assert bench.outcome("held").ok and bench.outcome("after").ok


def test_while_a_job_may_begin_or_end_the_run_goes_on(bench, stops):
    bench.nodes["leg"] = bench.body
    failing = Outcome.failure(Cause.ERROR, "E", "no")
    bench.body.on_execute = lambda order, run: failing
    kernel = bench.start()
    stops.stop(["arm"], "operator")
    bench.submit(bench.order("held"), bench.order("again", "leg", attempts=2, backoff="linear"))
    bench.drain()
    assert bench.status("again").attempt == 1 and kernel.held == []  # it is repeated in a second
    bench.clock.advance(2.0)
    bench.drain()
    assert kernel.held == ["arm"]


def test_a_job_that_runs_on_a_node_that_was_stopped_is_awaited(bench, stops):
    begun, still = threading.Event(), threading.Event()

    def execute(order, run):
        begun.set()
        assert still.wait(PATIENCE)
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "holds still")

    bench.body.on_execute = execute
    bench.submit(bench.order("long"))
    kernel = bench.start(threads=True)
    bench.when(begun)
    stops.stop(["arm"], "critic")
    bench.until(lambda: kernel.stopping.is_stopped("arm"))
    assert kernel.held == []
    still.set()
    bench.until(lambda: kernel.idle)


def test_what_is_judged_when_the_stop_comes_has_not_begun_and_waits(bench, stops):
    judged, go_on = threading.Event(), threading.Event()

    def review(order):
        judged.set()
        assert go_on.wait(PATIENCE)

    bench.hooks.on_review = review
    bench.submit(bench.order("a"))
    kernel = bench.start(threads=True)
    bench.when(judged)
    stops.stop(["arm"], "operator")
    assert kernel.open.running["arm"].cancel.wait(PATIENCE)
    go_on.set()
    bench.until(lambda: not kernel.open.running)
    bench.drain()
    assert bench.status("a").state is JobState.PENDING
    assert not bench.starts("a")
    stops.resume(["arm"], "operator")
    bench.until(lambda: kernel.idle)
    assert bench.outcome("a").ok


def test_a_cancel_of_what_was_judged_when_the_stop_came_is_not_forgotten(bench, stops):
    judged, go_on = threading.Event(), threading.Event()

    def review(order):
        judged.set()
        assert go_on.wait(PATIENCE)

    bench.hooks.on_review = review
    bench.submit(bench.order("a"))
    kernel = bench.start(threads=True)
    bench.when(judged)
    stops.stop(["arm"], "operator")
    assert kernel.open.running["arm"].cancel.wait(PATIENCE)
    kernel.cancel("a")
    go_on.set()
    bench.until(lambda: not kernel.open.running)
    assert (bench.outcome("a").code, bench.starts("a")) == ("CANCELLED", 0)


def test_a_job_that_is_cancelled_while_its_node_is_stopped_ends(bench, stops):
    bench.submit(bench.order("a"))
    stops.stop(["arm"], "operator")
    bench.start()
    bench.drain()
    bench.kernel.cancel("a")
    assert bench.outcome("a").code == "CANCELLED"


def test_a_world_that_was_stopped_starts_stopped(bench, stops):
    bench.submit(bench.order("a"))
    bench.start()
    stops.stop([], "operator", every=True)
    bench.kernel.abandon()
    bench.start()
    bench.drain()
    assert bench.status("a").state is JobState.PENDING
    stops.resume(["arm"], "operator")
    bench.drain()
    assert bench.outcome("a").ok


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_failure_of_a_stopped_body_is_no_failure_that_is_tried_again(bench, stops, attempts):
    def execute(order, run):
        begun.set()
        assert run.cancel.wait(PATIENCE)
        return Outcome.failure(Cause.ERROR, "TARGET_STOPPED", "the robot stands")

    begun = threading.Event()
    bench.body.on_execute = execute
    bench.submit(bench.order("a", attempts=attempts))
    kernel = bench.start(threads=True)
    bench.when(begun)
    stops.stop(["arm"], "operator")
    bench.until(lambda: kernel.idle)
    assert (bench.outcome("a").cause, bench.status("a").attempt) == (Cause.CANCELLED, 1)
    assert "the robot stands" in bench.outcome("a").message


def test_a_driver_that_does_not_confirm_is_named_and_its_node_stays_taken(bench, stops):
    begun, go_on = threading.Event(), threading.Event()

    def execute(order, run):
        begun.set()
        assert go_on.wait(PATIENCE)
        return Outcome.success("went on all the same")

    bench.body.on_execute = execute
    bench.submit(bench.order("deaf"), bench.order("next"))
    kernel = bench.start(threads=True)
    bench.when(begun)
    stops.stop(["arm"], "operator")
    assert kernel.open.running["arm"].cancel.wait(PATIENCE)
    bench.clock.advance(BODY.stop_s + 0.1)
    bench.drain()
    outcome = bench.outcome("deaf")
    assert (outcome.cause, outcome.code, outcome.evidence["held"]) == (Cause.CANCELLED, "STOP_UNCONFIRMED", False)
    assert "emergency stop" in outcome.message
    bench.until(lambda: "stop arm" in kernel.alert.now())
    go_on.set()
    bench.until(lambda: not kernel.open.running)
    assert bench.outcome("deaf") == outcome
    bench.until(lambda: "stop arm" not in kernel.alert.now())  # it stands now, as its driver measures
    assert bench.status("next").state is JobState.PENDING


# -- the body itself -----------------------------------------------------------------------------------------------


def test_the_body_is_told_also_when_nothing_runs_and_each_time(bench, stops):
    told = threading.Semaphore(0)
    bench.body.stop = told.release
    bench.start(threads=True)
    for _ in range(2):
        stops.stop([], "operator", every=True)
        assert told.acquire(timeout=PATIENCE)


def test_one_body_that_hangs_does_not_keep_the_other_from_stopping(bench, stops):
    hangs, told = threading.Event(), threading.Event()
    bench.body.stop = lambda: hangs.wait(PATIENCE)
    other = type(bench.body)(bench.trace)
    other.stop = told.set
    bench.nodes["leg"] = other
    bench.start(threads=True)
    stops.stop([], "operator", every=True)
    assert told.wait(PATIENCE)
    hangs.set()


def test_a_body_that_cannot_be_stopped_is_named(bench, stops):
    def broken():
        raise OSError("the wire is cut")

    bench.body.stop = broken
    kernel = bench.start(threads=True)
    stops.stop(["arm"], "operator")
    bench.until(lambda: "stop arm" in kernel.alert.now())
    assert isinstance(kernel.alert.now()["stop arm"], Finding)
    assert "the wire is cut" in kernel.alert.now()["stop arm"].found


def test_a_directory_in_the_place_of_a_stop_says_stopped_and_keeps_nobody_from_starting(bench, stops):
    bench.store.put(f"{ALL}/strange", b"", ABSENT)
    bench.submit(bench.order("a"))
    bench.start()
    bench.drain()
    assert bench.status("a").state is JobState.PENDING


def test_who_waits_for_a_body_to_stop_waits_longer_than_its_job_can_take_to_end():
    assert BODY.stop_s < CONFIRM_S
    assert BODY.stop_s < SAFE_STOP_S < AGENT.cancel_s
