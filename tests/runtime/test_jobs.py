"""The table of jobs: accepted once, ended once, whoever asks and however often."""

from typing import ClassVar

import pytest

from worldfs.base.errors import BadInput, NotFound, Unsafe
from worldfs.base.model import Cause, Job, JobState, JobStatus, Order, Outcome
from worldfs.runtime.job_store import CANCEL, DONE, OPEN, JobStore, done_key, job_key
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.memory_store import MemoryStore
from worldfs.storage.store_interface import ANY
from worldfs.testing.manual_clock import ManualClock


@pytest.fixture
def jobs():
    return JobStore(MemoryStore(), ManualClock())


def order(id, **more):
    return Order(id, "arm", "move_to", **more)


def over(order, **status):
    return Job(order, JobStatus(JobState.SUCCEEDED, 1, outcome=Outcome.success("done"), **status))


def test_an_order_is_accepted_once_and_gets_its_time(jobs):
    assert [item.new for item in jobs.accept([order("a")])] == [True]
    assert [item.new for item in jobs.accept([order("a", params={"other": 1})])] == [False]
    job = jobs.load("a")
    assert job.order.params == {} and job.order.created_at == job.status.accepted_at != ""
    assert job.status.state is JobState.PENDING


def test_an_id_that_comes_twice_in_one_write_counts_once_and_the_first_counts(jobs):
    accepted = jobs.accept([order("a", params={"n": 1}), order("a", params={"n": 2})])
    assert [item.new for item in accepted] == [True, False]
    assert jobs.load("a").order.params == {"n": 1}


def test_an_ended_id_is_never_accepted_again(jobs):
    jobs.accept([order("a")])
    jobs.end(over(jobs.load("a").order))
    assert [item.new for item in jobs.accept([order("a")])] == [False]
    assert jobs.load("a").status.state is JobState.SUCCEEDED


@pytest.mark.parametrize("id", ["", ".", "..", "a/b", "a\\b", "a\nb", "x" * 201, "\ud800"])
def test_an_id_that_is_no_name_is_unsafe_and_nothing_is_written(jobs, id):
    with pytest.raises(Unsafe):
        jobs.accept([order("good"), order(id)])
    assert jobs.open_ids() == []


def test_the_end_leaves_one_file_and_no_waste(jobs):
    jobs.accept([order("a")])
    jobs.write_status("a", JobStatus(JobState.RUNNING, 1))
    jobs.request_cancel("a", "planner")
    jobs.end(over(order("a")))
    assert jobs.store.list(OPEN) == jobs.store.list(CANCEL) == []
    assert jobs.done_ids() == ["a"]


def test_what_lies_beside_an_end_is_waste_whatever_it_says(jobs):
    jobs.accept([order("a")])
    jobs.end(over(order("a")))
    jobs.store.put(job_key("a"), b"left behind")
    assert jobs.load("a").status.state is JobState.SUCCEEDED
    jobs.drop_copy("a")
    assert jobs.open_ids() == [] and jobs.load("a").status.state is JobState.SUCCEEDED


def test_an_end_that_was_not_put_away_is_an_end_all_the_same(jobs):
    jobs.accept([order("a")])
    jobs.write_status("a", over(order("a")).status)
    assert jobs.open_ids() == ["a"] and jobs.load("a").status.state is JobState.SUCCEEDED
    jobs.archive("a")
    assert jobs.open_ids() == [] and jobs.done_ids() == ["a"]


def test_a_line_that_a_crash_tore_counts_as_not_written_and_spoils_no_other(jobs):
    jobs.accept([order("a")])
    jobs.write_status("a", JobStatus(JobState.RUNNING, 1))
    jobs.store.append(job_key("a"), b'{"status": "succeeded", "att')
    assert jobs.load("a").status.state is JobState.RUNNING
    jobs.close_torn_line("a")
    jobs.write_status("a", over(order("a")).status)
    assert jobs.load("a").status.state is JobState.SUCCEEDED


def test_what_is_needed_is_written_before_what_needs_it():
    class Noted(MemoryStore):
        def __init__(self):
            super().__init__()
            self.order = []

        def put(self, key, data, expect=None, **more):
            self.order.append(key)
            return super().put(key, data, expect, **more)

    store = Noted()
    wanted = [order("d", depends_on=("b", "c")), order("b", depends_on=("a",)), order("c"), order("a"), order("e")]
    JobStore(store, ManualClock()).accept(wanted)
    assert store.order == [job_key(id) for id in ("a", "b", "c", "d", "e")]


def test_orders_in_a_circle_are_all_accepted(jobs):
    jobs.accept([order("a", depends_on=("b",)), order("b", depends_on=("a",)), order("c", depends_on=("c",))])
    assert sorted(jobs.open_ids()) == ["a", "b", "c"]


def test_cancelling_what_has_ended_leaves_nothing_behind(jobs):
    jobs.accept([order("a")])
    jobs.end(over(order("a")))
    jobs.request_cancel("a", "planner")
    assert jobs.cancel_requests() == []
    with pytest.raises(NotFound):
        jobs.request_cancel("nobody", "planner")


def test_an_id_that_was_closed_is_never_accepted(jobs):
    assert jobs.close_id(order("a")) and not jobs.close_id(order("a"))
    assert [item.new for item in jobs.accept([order("a")])] == [False]
    assert jobs.load("a").status.outcome.cause is Cause.CANCELLED and jobs.open_ids() == []


def test_of_two_that_submit_and_close_an_id_the_first_has_it(jobs, monkeypatch):
    """Each has found that there is no such job."""
    monkeypatch.setattr(JobStore, "known", lambda self, id: False)
    monkeypatch.setattr(JobStore, "archive", lambda self, id: None)  # the one that closed it was killed here
    jobs.accept([order("a")])
    assert not jobs.close_id(order("a")) and jobs.load("a").status.state is JobState.PENDING
    jobs.close_id(order("b"))
    assert [item.new for item in jobs.accept([order("b")])] == [False]
    assert jobs.load("b").status.outcome.cause is Cause.CANCELLED


def test_a_closed_id_is_durable_before_its_mission_goes_on(tmp_path):
    class Disk(DiskStore):
        kept: ClassVar = []

        def put(self, key, data, expect=ANY, *, durable=True):
            self.kept.append((key, durable))
            return super().put(key, data, expect, durable=durable)

    store = Disk(tmp_path)
    assert JobStore(store, ManualClock()).close_id(order("a"))
    store.close()
    assert store.kept == [(job_key("a"), True)]


@pytest.mark.parametrize("id", ["", "..", "a/b"])
def test_an_id_that_is_no_name_is_not_closed(jobs, id):
    assert not jobs.close_id(order(id)) and jobs.open_ids() == jobs.done_ids() == []


def test_names_that_are_no_text_are_no_reason_to_fall(jobs):
    name = b"\xff\xfe".decode("utf-8", "surrogateescape")
    assert done_key(name).startswith(DONE)


def test_an_unreadable_order_is_bad_input(jobs):
    jobs.store.put(job_key("a"), b'{"id": "a"')
    with pytest.raises(BadInput):
        jobs.load("a")
    jobs.store.put(job_key("b"), b'{"id": "b", "node": "arm", "op": "move_to", "timeout_s": "soon"}')
    with pytest.raises(BadInput, match="timeout_s"):
        jobs.load("b")


def test_the_cause_of_an_end_survives(jobs):
    jobs.accept([order("a")])
    outcome = Outcome.failure(Cause.LOST, "LOST", "gone")
    jobs.end(Job(order("a"), JobStatus(JobState.FAILED, 1, outcome=outcome)))
    assert jobs.load("a").status.outcome == outcome
