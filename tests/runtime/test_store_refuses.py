"""A store that refuses a write for now ends no kernel: an alert says so, and what was refused is written later."""

from __future__ import annotations

import threading

import pytest

from worldfs.base.errors import NotPermitted, StorageError, from_os, is_resource_fault
from worldfs.base.messages import coded_text
from worldfs.base.model import Cause, JobState, Outcome
from worldfs.runtime.job_store import DONE, OPEN
from worldfs.runtime.kernel import REFUSED
from worldfs.runtime.open_jobs import AGAIN_S
from worldfs.testing.waiting import PATIENCE_S, until

FAULTS = [28, 30, 24, 13, 122]  # ENOSPC, EROFS, EMFILE, EACCES, EDQUOT


def refusal(number, path):
    try:
        raise OSError(number, "refused", path)
    except OSError as error:
        made = from_os(error, path=path, op="write")
        made.__cause__ = error
        return made


class Refusing:
    """`lines`: what a store refuses, by how the line begins; `heard` is set by the first of them."""

    def __init__(self, bench, number, *lines):
        self.lines, self.heard, self.number = lines, threading.Event(), number
        bench.store.broken = self
        move = bench.store.move

        def refused(source, target, **more):
            self(target)
            return move(source, target, **more)

        bench.store.move = refused

    def __call__(self, line):
        if any(line.startswith(one) for one in self.lines):
            self.heard.set()
            raise refusal(self.number, line)


def serving(bench):
    """The kernel's loop in a thread, as `paos up` has it; what ended it."""
    kernel, end, ended = bench.start(threads=True), threading.Event(), []

    def run():
        try:
            kernel.run(end)
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return kernel, end, ended, thread


def passes(bench, kernel, holds):
    """Time passes until it holds."""

    def look():
        bench.clock.advance(AGAIN_S)
        kernel.wake()
        return holds()

    until(look)


@pytest.mark.parametrize("number", FAULTS)
def test_what_the_machine_refuses_for_now_is_told_from_a_refusal_of_rights_and_a_broken_disk(number):
    assert is_resource_fault(refusal(number, "x")) and is_resource_fault(OSError(number, "x"))
    assert not is_resource_fault(NotPermitted("no")) and not is_resource_fault(refusal(5, "x"))


@pytest.mark.slice(4)
@pytest.mark.parametrize("number", FAULTS)
@pytest.mark.parametrize(
    "lines",
    [
        (f"{OPEN}/a.jsonl running",), (f"{OPEN}/a.jsonl succeeded",), (f"{DONE}/a",), ("ACTION.md",),
        (OPEN, DONE, "ACTION.md", ".paos/alerts"),
    ],
    ids=["its start", "its end", "its archive", "the sheet", "all"],
)  # fmt: skip
def test_a_job_ends_once_the_store_takes_it(bench, number, lines):
    bench.submit(bench.order("a"), bench.order("b"))
    store = Refusing(bench, number, *lines)
    kernel, end, ended, thread = serving(bench)
    try:
        assert store.heard.wait(PATIENCE_S)
        until(lambda: ended or REFUSED in kernel.alert.now())
        assert not ended, ended
        passes(bench, kernel, lambda: True)
        store.lines = ()
        passes(bench, kernel, lambda: ended or (kernel.idle and REFUSED not in kernel.alert.now()))
        assert not ended
        assert [bench.outcome(id).ok for id in "ab"] == [True, True]
        assert [bench.starts(id) for id in "ab"] == [1, 1]
        passes(bench, kernel, lambda: not any(name.endswith(".jsonl") for name in bench.store.list(OPEN)))  # archived
    finally:
        end.set()
        kernel.wake()
        thread.join()


@pytest.mark.slice(3)
@pytest.mark.parametrize("number", FAULTS)
def test_a_robot_whose_end_is_not_written_begins_nothing_and_another_one_works_on(bench, number):
    bench.nodes["leg"] = bench.body
    bench.submit(bench.order("a"), bench.order("next"), bench.order("l", "leg"))
    store = Refusing(bench, number, f"{OPEN}/a.jsonl succeeded")
    kernel, end, ended, thread = serving(bench)
    try:
        assert store.heard.wait(PATIENCE_S)
        passes(bench, kernel, lambda: bench.status("l").state is JobState.SUCCEEDED)
        assert bench.starts("next") == 0 and not ended
        store.lines = ()
        passes(bench, kernel, lambda: kernel.idle)
        assert bench.outcome("a").ok and bench.outcome("next").ok and not ended
    finally:
        end.set()
        kernel.wake()
        thread.join()


def test_a_job_that_is_cancelled_meanwhile_begins_no_more(bench):
    bench.submit(bench.order("a"))
    store = Refusing(bench, 28, f"{OPEN}/a.jsonl running", f"{OPEN}/a.jsonl failed")
    kernel, end, ended, thread = serving(bench)
    try:
        assert store.heard.wait(PATIENCE_S)
        bench.jobs.request_cancel("a", "planner")
        passes(bench, kernel, lambda: ended or kernel.open._unwritten)
        store.lines = ()
        passes(bench, kernel, lambda: ended or kernel.idle)
        assert bench.outcome("a").cause is Cause.CANCELLED and bench.starts("a") == 0 and not ended
    finally:
        end.set()
        kernel.wake()
        thread.join()


def test_a_kernel_that_holds_a_stop_which_is_not_stored_outlives_any_error_of_the_store(bench):
    begun = threading.Event()

    def execute(order, run):
        begun.set()
        assert run.cancel.wait(PATIENCE_S)
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "stopped")

    bench.body.on_execute = execute
    bench.submit(bench.order("a"), bench.order("b"))
    kernel, end, ended, thread = serving(bench)
    try:
        assert begun.wait(PATIENCE_S)

        def broken(line):
            raise StorageError("Input/output error", path=line)

        bench.store.broken = broken
        kernel.stopping.stop(["arm"], "operator")
        until(lambda: ended or REFUSED in kernel.alert.now())
        passes(bench, kernel, lambda: True)
        assert not ended and kernel.stopping.is_stopped("arm") and kernel.stopping.holds_unstored
        bench.store.broken = lambda line: None
        passes(bench, kernel, lambda: ended or not (kernel.stopping.holds_unstored or "a" in kernel.open))
        assert bench.outcome("a").cause is Cause.CANCELLED and bench.starts("b") == 0 and not ended
    finally:
        end.set()
        kernel.wake()
        thread.join()


def test_a_stopped_order_whose_driver_has_returned_is_not_called_unconfirmed(bench):
    """Its observation is written before its end: while the store refuses that, the end is late, and not unknown."""
    began, go, refuses, tries = threading.Event(), threading.Event(), [True], []

    def execute(order, run):
        began.set()
        go.wait(PATIENCE_S)

    def observe(node):
        if refuses[0] and began.is_set():
            tries.append(node)
            raise refusal(28, "ENVIRONMENT.md")

    bench.body.on_execute, bench.hooks.on_observe = execute, observe
    bench.submit(bench.order("a"))
    kernel, end, ended, thread = serving(bench)
    try:
        assert began.wait(PATIENCE_S)
        kernel.stopping.stop(["arm"], "operator")
        go.set()
        until(lambda: ended or REFUSED in kernel.alert.now())
        running = kernel.open.running["arm"]
        bench.clock.advance(60.0)  # far beyond what a driver may take
        passes(bench, kernel, lambda: len(tries) > 2)
        assert not ended and not running.over and bench.status("a").state is JobState.RUNNING
        refuses[0] = False
        passes(bench, kernel, lambda: bench.status("a").state.terminal)
        assert bench.outcome("a").code != "STOP_UNCONFIRMED"
    finally:
        go.set()
        end.set()
        kernel.wake()
        thread.join()


def test_a_kernel_loads_no_text_once_it_listens(bench, monkeypatch):
    """Without a free descriptor no module can be loaded."""
    rows = coded_text._rows
    rows.cache_clear()
    bench.start(threads=True)
    monkeypatch.setattr(coded_text, "import_module", pytest.fail)
    assert all(rows(area) for area in coded_text.AREAS)
