"""A wait for the end of a job, or for a turn: nothing is looked at until something happened."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.model import JobState, JobStatus, Order, Outcome
from worldfs.base.stop_signal import StopSignal
from worldfs.runtime.instruction_turns import HeldTurns, InstructionTurn, turn_lock_key
from worldfs.runtime.job_store import JobStore
from worldfs.runtime.job_wait import wait_for_end
from worldfs.runtime.stop_log import StopLog
from worldfs.storage.directory_lease import directory_lease
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.lease import RELEASE_S
from worldfs.storage.root_lock import RootLock
from worldfs.testing.manual_clock import ManualClock

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0
KERNEL = """
import sys
from worldfs.storage.root_lock import RootLock
with RootLock(sys.argv[1], "kernel"):
    print("held", flush=True)
    sys.stdin.read()
"""


class RecordingWatch:
    """A change feed that records how long each read may take, and says when one begins."""

    def __init__(self, watch, timeouts, begun):
        self._watch, self._timeouts, self._begun = watch, timeouts, begun

    def read(self, timeout=None):
        self._timeouts.append(timeout)
        self._begun.release()
        return self._watch.read(timeout)

    def wake(self):
        self._watch.wake()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._watch.close()


class RecordingStore(DiskStore):
    def __init__(self, root):
        super().__init__(root)
        self.timeouts, self.begun = [], threading.Semaphore(0)

    def watch(self, *prefixes):
        return RecordingWatch(super().watch(*prefixes), self.timeouts, self.begun)

    def demand_read(self):
        assert self.begun.acquire(timeout=PATIENCE_S)


@pytest.fixture
def store(tmp_path):
    store = RecordingStore(tmp_path)
    yield store
    store.close()


class Waiting:
    """A wait in a thread of its own."""

    def __init__(self, wait):
        self.result = None
        self._wait = wait
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        self.result = self._wait()

    def over(self):
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        return self.result


def accepted(store, id="a"):
    jobs = JobStore(store, SystemClock())
    jobs.accept([Order(id, "arm", "move_to")])
    return jobs


def test_a_wait_looks_once_before_and_once_after_each_change(store):
    jobs, looks = accepted(store), []
    waiting = Waiting(lambda: wait_for_end(jobs, "a", give_up=lambda status: looks.append(status.state)))
    store.demand_read()
    jobs.write_status("a", JobStatus(JobState.RUNNING, 1))
    store.demand_read()
    jobs.accept([Order("b", "arm", "move_to")])  # another job wakes no one
    jobs.end(jobs.load("a").__class__(jobs.load("a").order, JobStatus(JobState.SUCCEEDED, 1, outcome=Outcome(True))))
    assert waiting.over().state is JobState.SUCCEEDED
    assert looks == [JobState.PENDING, JobState.RUNNING]
    assert set(store.timeouts) == {None}, "a wait with a limit is a poll"


def test_a_stop_signal_wakes_the_wait(store):
    jobs, stop = accepted(store), StopSignal()
    waiting = Waiting(lambda: wait_for_end(jobs, "a", wakes=(stop,), give_up=lambda status: stop.is_set()))
    store.demand_read()
    stop.set()
    assert waiting.over().state is JobState.PENDING
    assert store.timeouts == [None]


def test_a_signal_that_was_set_before_is_not_waited_for(store):
    jobs, stop = accepted(store), StopSignal()
    stop.set()
    calls = []
    with stop.calling(lambda: calls.append(1)):
        assert calls == [1]
    stop.set()
    assert calls == [1], "a call that has left is called no more"
    assert wait_for_end(jobs, "a", wakes=(stop,), give_up=lambda status: stop.is_set()).state is JobState.PENDING


def test_a_stop_of_a_robot_wakes_the_wait(store):
    jobs, stops = accepted(store), StopLog(store, SystemClock())
    waiting = Waiting(lambda: wait_for_end(jobs, "a", give_up=lambda status: stops.state("arm").stopped))
    store.demand_read()
    stops.stop(["arm"], "operator")
    assert waiting.over().state is JobState.PENDING
    assert set(store.timeouts) == {None}


def test_the_death_of_the_kernels_process_wakes_the_wait(store):
    jobs, root = accepted(store), store.root.path
    kernel = subprocess.Popen(
        [sys.executable, "-c", KERNEL, str(root)],
        env={"PYTHONPATH": str(ROOT / "src")}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert kernel.stdout.readline() == "held\n"
        waiting = Waiting(
            lambda: wait_for_end(jobs, "a", give_up=lambda status: directory_lease(root).holder() is None)
        )
        store.demand_read()
        kernel.kill()
        assert waiting.over().state is JobState.PENDING
        assert set(store.timeouts) <= {None, RELEASE_S}
    finally:
        kernel.kill()
        kernel.communicate()


def test_a_release_that_is_reported_before_the_lock_is_free_is_looked_at_once_more(store):
    """The system reports the close of a lock file a moment before it lets go of the lock."""
    jobs = accepted(store)
    answers = iter((False, False, True))  # held, still held when its close is reported, free
    waiting = Waiting(lambda: wait_for_end(jobs, "a", give_up=lambda status: next(answers)))
    store.demand_read()
    with RootLock(store.root.path, "kernel"):
        pass
    assert waiting.over().state is JobState.PENDING
    assert store.timeouts == [None, RELEASE_S]


def test_a_kernel_looks_at_a_turn_once_more_and_then_waits_for_the_feed(store):
    clock = ManualClock()
    mine = InstructionTurn(store, "arm", "clear", SystemClock())
    assert mine.try_acquire() is None
    turns = HeldTurns(store, ["arm"], clock)
    assert turns.patience() == RELEASE_S
    clock.advance(RELEASE_S)
    assert turns.patience() is None
    with store.watch(turn_lock_key("arm")) as watch:
        mine.release()
        assert watch.read(PATIENCE_S)
    turns.refresh()
    clock.advance(RELEASE_S)
    assert turns.patience() is None
