"""What a start finds of the last run."""

from dataclasses import replace

import pytest

from worldfs.base.errors import StorageError
from worldfs.base.model import Cause, Finding, JobState, JobStatus, Order
from worldfs.base.standard_operations import MOVE_TO
from worldfs.runtime.dispatch import Dispatcher
from worldfs.runtime.job_codec import order_line, status_line
from worldfs.runtime.job_recovery import REVIEWS, recover
from worldfs.runtime.job_store import JobStore, done_key, job_key
from worldfs.runtime.left_moving import read_open
from worldfs.storage.disk_store import DiskStore
from worldfs.testing.crashes import enumerate_crashes
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_driver import NullDriver


def running(bench, id, **more):
    bench.submit(bench.order(id, **more))
    bench.jobs.write_status(id, JobStatus(JobState.RUNNING, 1))


def test_a_job_found_running_is_lost_with_one_lesson_and_does_not_run(bench):
    running(bench, "a", attempts=5)
    bench.start()
    bench.drain()
    assert bench.outcome("a").cause is Cause.LOST and bench.starts("a") == 0
    assert bench.hooks.lessons == [("a", Cause.LOST)]
    bench.start()
    bench.drain()
    assert len(bench.hooks.lessons) == 1


def test_a_lost_job_is_put_away_with_its_end_whatever_a_power_cut_takes():
    """Its file may be among the ended ones only once it says how it ended."""

    def prepare(path):
        jobs = JobStore(DiskStore(path), ManualClock())
        jobs.accept([Order("a", "arm", "move_to", {})])
        jobs.write_status("a", JobStatus(JobState.RUNNING, 1))
        jobs.store.close()

    def recovered(path, disk=None):
        jobs = JobStore(DiskStore(path, disk), ManualClock())
        same = Dispatcher(
            jobs, jobs.clock, jobs.end, lambda outcome: outcome, lambda *lesson: None, lambda attempt: None
        )
        recover(same, unreadable=lambda *bad: None)
        found = jobs.load("a").status.outcome
        jobs.store.close()
        return found

    def check(path, acked):
        assert recovered(path).cause is Cause.LOST

    def operate(path, disk, ack):
        recovered(path, disk)
        ack("lost")

    assert enumerate_crashes(prepare, operate, check).states > 5


def test_a_job_found_running_runs_again_if_its_op_is_declared_repeatable(bench):
    bench.body.operations = (replace(MOVE_TO, repeatable=True),)
    running(bench, "a")
    bench.start()
    bench.drain()
    assert bench.outcome("a").ok and bench.status("a").attempt == 2


class RemoteBody(NullDriver):
    """Another kernel has the orders `handed` in hand."""

    cut_off_since = ""
    handed = ("a",)

    def follows(self, order):
        return order in self.handed

    def has_ended(self, order):
        return False


def test_a_cancelled_job_that_another_kernel_has_in_hand_is_followed_to_its_end(bench):
    """It was cancelled while that kernel could not be reached; what it did meanwhile is for that kernel to say."""
    bench.nodes["arm"] = body = RemoteBody()
    for id in ("a", "b"):  # the start of `b` is durable here, and it was not handed over
        running(bench, id, params={"hang": True})
        bench.jobs.request_cancel(id, "planner")
    bench.start()
    bench.drain()
    assert [one.id for one in body.executed] == ["a"] and bench.outcome("a").message == "stopped: cancelled"
    assert bench.outcome("b").cause is Cause.CANCELLED and bench.status("b").attempt == 1


def test_a_job_that_another_kernel_has_in_hand_is_not_reviewed_again(bench):
    """The world is another since it began: the thing that it picks up may be in the hand already."""
    bench.nodes["arm"] = RemoteBody()
    bench.hooks.findings = lambda order: [Finding("HOLDING", "ENVIRONMENT.md", "an empty hand", "apple", "put it down")]
    for id in ("a", "b"):
        running(bench, id)
    bench.start()
    bench.drain()
    assert bench.outcome("a").ok and bench.outcome("b").cause is Cause.REJECTED


def test_a_job_found_pending_runs(bench):
    bench.submit(bench.order("a"))
    bench.start()
    bench.drain()
    assert bench.outcome("a").ok


def test_an_end_that_is_there_counts_whatever_lies_beside_it(bench):
    running(bench, "a")
    job = bench.jobs.load("a")
    ended = order_line(job.order, "") + status_line(JobStatus(JobState.SUCCEEDED, 1))
    bench.store.put(done_key("a"), ended)
    bench.start()
    bench.drain()
    assert bench.starts("a") == 0 and bench.store.get(done_key("a")).data == ended
    assert bench.store.get(job_key("a")) is None


def test_an_order_that_comes_late_while_its_end_is_put_away_is_no_open_job(tmp_path, monkeypatch):
    jobs = JobStore(DiskStore(tmp_path), ManualClock())
    late = Order("a", "arm", "move_to", {})
    jobs.accept([late])
    jobs.write_status("a", JobStatus(JobState.FAILED, 1))
    get = jobs.store.get

    def read_slowly(key):
        """Between its looks at the ended jobs and at the open ones another process puts the end away."""
        if key == job_key("a") and not jobs.ended("a"):
            jobs.archive("a")
            jobs.store.put(job_key("a"), order_line(late, ""))  # of one who found no such job before
        return get(key)

    monkeypatch.setattr(jobs.store, "get", read_slowly)
    assert read_open(jobs, "a") is None
    assert jobs.load("a").status.state is JobState.FAILED and jobs.open_ids() == []


def test_a_cancel_that_the_last_run_did_not_see_is_obeyed(bench):
    bench.submit(bench.order("a"))
    bench.jobs.request_cancel("a", "planner")
    bench.start()
    bench.drain()
    assert bench.outcome("a").cause is Cause.CANCELLED


def test_what_cannot_be_read_is_left_alone_and_named(bench):
    bench.submit(bench.order("a"), bench.order("b"))
    bench.store.put(job_key("a"), b'{"torn')
    kernel = bench.start()
    bench.drain()
    assert bench.outcome("b").ok and bench.store.get(job_key("a")).data == b'{"torn' and kernel.alert.now()
    assert bench.starts("a") == 0


def test_an_end_that_was_not_put_away_is_put_away_and_never_run(bench):
    running(bench, "a")
    bench.jobs.write_status("a", JobStatus(JobState.SUCCEEDED, 1))
    bench.start()
    bench.drain()
    assert bench.starts("a") == 0 and bench.jobs.open_ids() == [] and bench.jobs.done_ids() == ["a"]


def test_an_order_under_another_name_is_not_run(bench):
    bench.store.put(job_key("b"), order_line(bench.order("a"), ""))
    kernel = bench.start()
    bench.drain()
    assert bench.starts("a") == bench.starts("b") == 0 and kernel.alert.now()


def test_a_lesson_that_cannot_be_written_does_not_keep_a_kernel_from_starting(bench):
    running(bench, "a")
    bench.hooks.on_remember = lambda order: 1 / 0
    kernel = bench.start()
    bench.drain()
    assert bench.outcome("a").cause is Cause.LOST and "lessons" in kernel.alert.now()


class Sourced(NullDriver):
    """Its review runs programs of others."""

    def sources(self, order):
        return {"program": "0123"}


def killed_in_review(bench, id):
    """A kernel that ends there: nothing is written after it."""

    def killed(order):
        if order.id == id:
            raise StorageError("the process has gone", op="test")

    bench.hooks.on_review = killed
    bench.start()
    with pytest.raises(StorageError):
        bench.drain()
    bench.kernel.abandon()


def test_an_order_in_whose_review_kernels_end_is_set_aside_and_the_others_go_on(bench):
    bench.nodes = {"arm": Sourced(), "other": Sourced()}
    bench.submit(bench.order("fatal"), bench.order("fine", node="other"))
    for _ in range(REVIEWS):
        killed_in_review(bench, "fatal")
    bench.start()
    bench.drain()
    (finding,) = bench.outcome("fatal").findings
    assert (finding.code, finding.job) == ("REVIEW_FATAL", "fatal") and "3 times" in finding.found
    assert bench.outcome("fine").ok
    assert not bench.jobs.open_ids() and bench.hooks.lessons == []  # it says nothing of other orders


def test_a_review_that_was_only_interrupted_does_not_count(bench):
    """A kernel that is told to close, and one whose review ended, have nothing against the order."""
    bench.nodes = {"arm": Sourced()}
    bench.submit(bench.order("a"))
    for _ in range(REVIEWS - 1):
        killed_in_review(bench, "a")
    bench.hooks.on_review = lambda order: bench.kernel.open.close()
    bench.start()
    bench.drain()
    bench.kernel.abandon()
    assert bench.status("a").reviews == 0 and bench.outcome("a") is None
    bench.hooks.on_review = lambda order: None
    bench.start()
    bench.drain()
    assert bench.outcome("a").ok
