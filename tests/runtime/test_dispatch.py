"""One job from chosen to ended: the order of writes, and who writes the end."""

import threading
from dataclasses import replace

import pytest

from worldfs.base.errors import StorageError
from worldfs.base.messages import render
from worldfs.base.model import Cause, Finding, JobState, Outcome
from worldfs.runtime.grace import BODY
from worldfs.runtime.job_end import backoff_s
from worldfs.runtime.job_store import job_key
from worldfs.testing.waiting import PATIENCE_S


def ask(bench, *orders):
    bench.submit(*orders)
    bench.start()
    bench.drain()


def test_nothing_moves_before_running_is_durable_and_the_end_is_the_last_write(bench):
    ask(bench, bench.order("a"))
    assert bench.trace == [
        f"put {job_key('a')}",
        "review a",
        f"append {job_key('a')} running",
        "execute a",
        "settle arm",
        f"append {job_key('a')} succeeded",
        "put ACTION.md",
    ]


def test_a_refusal_is_a_lesson_and_then_an_end_and_moves_nothing(bench):
    bench.hooks.findings = lambda order: (Finding("TOO_FAR", "reach", "0.8 m", "1.3 m", "move it"),)
    ask(bench, bench.order("a"))
    assert bench.trace[1:4] == ["review a", "remember a", f"append {job_key('a')} failed"]
    assert bench.outcome("a").cause is Cause.REJECTED and bench.outcome("a").code == "TOO_FAR"


def test_an_order_that_is_to_stop_the_robot_is_never_reviewed_or_queued(bench):
    ask(bench, bench.order("a", op="pause"), bench.order("b", seq=1))
    assert bench.outcome("a").code == "OP_NOT_IN_PROFILE" and "review a" not in bench.trace
    assert "no robot was stopped" in str(render(bench.outcome("a").message, "en"))
    assert bench.outcome("b").ok


def test_a_warning_refuses_nothing(bench):
    bench.hooks.findings = lambda order: (Finding("ODD", "x", "y", "z", "", warning=True),)
    ask(bench, bench.order("a"))
    assert bench.outcome("a").ok


def test_a_failure_is_a_lesson_before_it_is_an_end(bench):
    ask(bench, bench.order("a", params={"fail": "it slipped"}))
    assert bench.trace.index("remember a") < bench.trace.index(f"append {job_key('a')} failed")
    assert bench.outcome("a").message == "it slipped"


def test_a_driver_that_breaks_ends_its_job_with_a_traceback_and_the_next_one_runs(bench):
    ask(bench, bench.order("a", params={"raise": "the gripper is on fire"}), bench.order("b", seq=1))
    outcome = bench.outcome("a")
    assert outcome.cause is Cause.ERROR and "RuntimeError: the gripper is on fire" in outcome.traceback
    assert bench.outcome("b").ok


def test_a_critic_that_breaks_refuses_to_move(bench):
    bench.hooks.on_review = lambda order: 1 / 0
    ask(bench, bench.order("a"))
    assert bench.outcome("a").code == "REVIEW_ERROR" and bench.starts("a") == 0


def test_an_observation_that_fails_is_told_beside_the_outcome(bench):
    bench.hooks.on_observe = lambda node: 1 / 0
    ask(bench, bench.order("a"))
    assert bench.outcome("a").ok and "ZeroDivisionError" in bench.outcome("a").evidence["observation_error"]


def test_a_retry_waits_its_backoff_and_counts_its_attempts(bench):
    ask(bench, bench.order("a", params={"fail": "no"}, attempts=3, backoff="exponential"))
    assert bench.status("a").state is JobState.PENDING and bench.starts("a") == 1
    first, second = (backoff_s("exponential", attempt, "a") for attempt in (1, 2))
    for wait, starts in ((first - 0.001, 1), (0.001, 2), (second - 0.001, 2), (0.001, 3)):
        bench.clock.advance(wait)
        bench.drain()
        assert bench.starts("a") == starts
    assert bench.status("a").state is JobState.FAILED and bench.status("a").attempt == 3


def test_each_state_of_a_job_is_durable_when_it_is_acknowledged_one_that_is_tried_again_too(bench, monkeypatch):
    waited, append = [], bench.store.append

    def appended(key, data, *, durable=True):
        waited.append(durable)
        append(key, data, durable=durable)

    monkeypatch.setattr(bench.store, "append", appended)
    ask(bench, bench.order("a", params={"fail": "no"}, attempts=2))
    said = [line.rpartition(" ")[2] for line in bench.trace if line.startswith(f"append {job_key('a')}")]
    assert said[:2] == ["running", "pending"] and all(waited)


@pytest.mark.parametrize("cause", Cause)
def test_only_errors_and_timeouts_are_tried_again(bench, cause):
    bench.body.on_execute = lambda order, run: Outcome.failure(cause, "CODE", "so it ended")
    ask(bench, bench.order("a", attempts=3))
    again = cause in (Cause.ERROR, Cause.TIMEOUT)
    assert bench.starts("a") == (3 if again else 1) and bench.outcome("a").cause is cause


def test_what_the_critic_refuses_is_judged_once(bench):
    bench.hooks.findings = lambda order: (Finding("NO", "a", "b", "c", "d"),)
    ask(bench, bench.order("a", attempts=3))
    assert bench.trace.count("review a") == 1 and bench.outcome("a").cause is Cause.REJECTED
    assert bench.status("a").state is JobState.FAILED and bench.starts("a") == 0


@pytest.mark.parametrize(
    ("kind", "waits"), [("none", [0, 0]), ("linear", [1, 2, 3]), ("exponential", [1, 2, 4, 8, 16, 32, 60, 60])]
)
def test_backoff_grows_to_a_minute(kind, waits):
    assert [backoff_s(kind, n) for n in range(1, len(waits) + 1)] == waits
    assert backoff_s(kind, 5000) <= 60


def test_jitter_spreads_jobs_that_failed_together_and_never_shortens_a_wait():
    waits = {backoff_s("exponential", 3, f"job_{n}") for n in range(50)}
    assert len(waits) > 40 and all(4 <= wait <= 4.4 for wait in waits)
    assert backoff_s("linear", 2, "a") == backoff_s("linear", 2, "a") and backoff_s("none", 5, "a") == 0


def test_a_limit_of_all_attempts_ends_the_last_one_early_and_starts_no_other(bench):
    bench.body.on_execute = lambda order, run: bench.clock.advance(4) or Outcome.failure(Cause.ERROR, "E", "no")
    ask(bench, bench.order("a", attempts=9, backoff="linear", timeout_s=60.0, total_timeout_s=10.0))
    bench.clock.advance(1.2)
    bench.drain()
    assert bench.starts("a") == 2  # 4 s, a second's wait, 4 s: a third would have no time left
    assert bench.status("a").state is JobState.FAILED and bench.outcome("a").code == "E"


def test_an_attempt_has_no_longer_than_all_of_them(bench):
    seen = []
    bench.body.on_execute = lambda order, run: (
        seen.append(run.deadline - bench.clock.monotonic())
        or bench.clock.advance(7.5)
        or Outcome.failure(Cause.TIMEOUT, "EXECUTION_TIMEOUT", "too long")
    )
    ask(bench, bench.order("a", timeout_s=60.0, total_timeout_s=7.5))
    assert seen == [7.5] and bench.outcome("a").code == "SESSION_TIMEOUT"


@pytest.mark.parametrize("code", ["SKILL_TIMEOUT", "POLICY_TIMEOUT", "EXECUTION_TIMEOUT"])
def test_a_limit_of_a_step_is_not_told_as_the_limit_of_the_session(bench, code):
    bench.body.on_execute = lambda order, run: Outcome.failure(Cause.TIMEOUT, code, "too long")
    ask(bench, bench.order("a", timeout_s=60.0, total_timeout_s=7.5))
    assert bench.outcome("a").code == code


@pytest.mark.parametrize("ok", [True, False])
def test_what_was_warned_of_stands_in_the_result_and_in_the_sheet(bench, ok):
    warning = Finding("REQUIRED_SENSOR_MISSING", "here", "a camera", "none", "add one", warning=True)
    bench.hooks.findings = lambda order: (warning,)
    if not ok:
        bench.body.on_execute = lambda order, run: Outcome.failure(Cause.ERROR, "E", "no")
    ask(bench, bench.order("a"))
    assert bench.outcome("a").ok is ok and bench.outcome("a").findings == (warning,)
    assert str(warning) in bench.entries()[0]["result"]["warnings"]


def test_a_job_of_a_disabled_node_waits_until_it_is_enabled(bench):
    node = bench.start().nodes["arm"]
    node.enabled = False
    bench.submit(bench.order("a"))
    bench.drain()
    bench.clock.advance(1000)
    bench.drain()
    assert bench.starts("a") == 0 and bench.status("a").state is JobState.PENDING
    node.enabled = True
    bench.drain()
    assert bench.outcome("a").ok


def test_a_cooperative_driver_ends_at_its_time(bench):
    ask(bench, bench.order("a", params={"hang": True}, timeout_s=5.0))
    assert bench.outcome("a").cause is Cause.TIMEOUT
    assert bench.clock.monotonic() == pytest.approx(5.0)


def stubborn(bench, **order):
    """A driver that hears nothing, started and already over its time; the event that lets it go."""
    started, let_go = threading.Event(), threading.Event()

    def execute(order, run):
        if order.id == "a":
            started.set()
            let_go.wait(PATIENCE_S)
        return Outcome.success("late")

    bench.body.on_execute = execute
    bench.submit(bench.order("a", timeout_s=5.0, **order))
    kernel = bench.start(threads=True)
    kernel.tick()
    assert started.wait(PATIENCE_S)
    bench.until(lambda: kernel.open.running["arm"].deadline)
    bench.clock.advance(5.0 + BODY.stop_s)
    kernel.tick()
    assert bench.status("a").state is JobState.RUNNING  # not before its grace is over
    bench.clock.advance(0.1)
    kernel.tick()
    return kernel, let_go


def test_a_stubborn_driver_loses_its_job_but_keeps_its_node_until_it_returns(bench):
    kernel, let_go = stubborn(bench)
    assert bench.outcome("a").cause is Cause.TIMEOUT and ("a", Cause.TIMEOUT) in bench.hooks.lessons
    bench.submit(bench.order("b"))
    kernel.tick()
    assert bench.starts("b") == 0
    let_go.set()
    bench.until(lambda: kernel.idle)
    assert bench.outcome("b").ok


def test_an_order_that_another_kernel_has_in_hand_is_lost_when_its_driver_does_not_return(bench):
    """It may go on there: it is neither repeated nor called timed out."""
    bench.body.cut_off_since, bench.body.has_ended = "", lambda order: False
    bench.body.follows = lambda order: order == "a"
    kernel, let_go = stubborn(bench, attempts=2)
    assert bench.outcome("a").cause is Cause.LOST and not bench.hooks.lessons
    let_go.set()
    bench.until(lambda: kernel.idle)
    assert bench.starts("a") == 1


def test_a_late_outcome_does_not_overwrite_the_end(bench):
    kernel, let_go = stubborn(bench)
    let_go.set()
    bench.until(lambda: not kernel.open.running)
    assert bench.outcome("a").cause is Cause.TIMEOUT
    assert sum(line.startswith(f"append {job_key('a')}") for line in bench.trace) == 2  # running, and one end


def test_a_retry_after_a_stubborn_attempt_stands_in_line_once(bench):
    kernel, let_go = stubborn(bench, attempts=2)
    assert bench.status("a").state is JobState.PENDING
    let_go.set()
    bench.until(lambda: kernel.idle)
    assert bench.starts("a") == 2 and bench.outcome("a").ok
    kernel.tick()
    assert bench.starts("a") == 2 and not kernel.open.queue["arm"] and kernel.open.queue.next_due() is None


def test_a_retry_is_cancelled_while_the_stubborn_attempt_still_holds_the_node(bench):
    kernel, let_go = stubborn(bench, attempts=2)
    kernel.cancel("a")
    assert bench.outcome("a").cause is Cause.CANCELLED
    let_go.set()
    bench.until(lambda: not kernel.open.running)
    kernel.tick()
    assert bench.starts("a") == 1


def test_a_cancel_while_the_critic_judges_moves_nothing(bench):
    bench.hooks.on_review = lambda order: bench.kernel.cancel("a")
    ask(bench, bench.order("a"))
    assert bench.outcome("a").cause is Cause.CANCELLED and bench.starts("a") == 0


def test_a_cancel_during_a_failing_attempt_stops_its_retries(bench):
    def execute(order, run):
        bench.kernel.cancel("a")
        return Outcome.failure(Cause.ERROR, "RUNTIME_ERROR", "it slipped")

    bench.body.on_execute = execute
    ask(bench, bench.order("a", attempts=3))
    assert bench.outcome("a").cause is Cause.CANCELLED and "it slipped" in bench.outcome("a").message
    assert bench.starts("a") == 1


def test_a_cancel_while_the_end_of_an_attempt_is_written_is_not_forgotten(bench):
    bench.hooks.on_remember = lambda order: bench.kernel.cancel("a")
    ask(bench, bench.order("a", params={"fail": "no"}, attempts=3))
    assert bench.outcome("a").cause is Cause.CANCELLED and bench.starts("a") == 1


def test_a_disk_that_gives_way_before_running_leaves_the_job_pending(bench):
    def broken(key):
        if key == f"{job_key('a')} running":
            raise StorageError("No space left on device", path=key)

    bench.store.broken = broken
    bench.submit(bench.order("a"))
    bench.start()
    with pytest.raises(StorageError, match="No space left"):
        bench.drain()
    assert bench.starts("a") == 0 and bench.status("a").state is JobState.PENDING
    bench.store.broken = lambda key: None
    bench.start()
    bench.drain()
    assert bench.outcome("a").ok and bench.starts("a") == 1


def test_a_disk_that_gives_way_at_the_end_leaves_the_job_lost_never_repeated(bench):
    def broken(key):
        if key == f"{job_key('a')} succeeded":
            raise StorageError("No space left on device", path=key)

    bench.store.broken = broken
    bench.submit(bench.order("a"))
    bench.start()
    with pytest.raises(StorageError):
        bench.drain()
    bench.store.broken = lambda key: None
    bench.start()
    bench.drain()
    assert bench.outcome("a").cause is Cause.LOST and bench.starts("a") == 1


def test_a_lesson_that_cannot_be_written_is_named_and_stops_nothing(bench):
    bench.hooks.on_remember = lambda order: 1 / 0
    ask(bench, bench.order("a", params={"fail": "no"}), bench.order("b", seq=1))
    assert bench.outcome("a").cause is Cause.ERROR and bench.outcome("b").ok
    assert "division by zero" in bench.kernel.alert.now()["lessons"].found
    bench.hooks.on_remember = lambda order: None
    bench.submit(bench.order("c", params={"fail": "no"}))
    bench.drain()
    assert "lessons" not in bench.kernel.alert.now()


def test_an_op_that_the_body_lacks_is_refused_before_anything_is_durable_as_running(bench):
    bench.start()
    bench.submit(replace(bench.order("a"), op="fly_to"))
    bench.drain()
    outcome = bench.outcome("a")
    assert (outcome.cause, outcome.code) == (Cause.REJECTED, "OP_NOT_IN_DRIVER") and "move_to" in outcome.message
    assert bench.starts("a") == 0 and ("a", Cause.REJECTED) in bench.hooks.lessons
    written = bench.store.get(".paos/done/a.jsonl").data
    assert b'"running"' not in written
