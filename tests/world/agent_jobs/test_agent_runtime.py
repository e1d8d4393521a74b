"""Jobs of agents are run as those of robots are: priority, dependencies, retries and limits are the same for both."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from worldfs.base.model import Cause, Job, JobState, JobStatus, Order, Outcome
from worldfs.runtime.job_end import backoff_s
from worldfs.testing.call_fixtures import ALICE, open_calls, state, wait_for_call, wait_until
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.agent_jobs.agent_jobs import AgentJobs


def order(number: int, **fields: object) -> Order:
    extra = {"kind": "invoke", "project": ALICE.project}
    return replace(Order(f"job-{number}", ALICE.agent, "say", sheet="", extra=extra), **fields)  # type: ignore[arg-type]  # names of Order


def enter(calls: AgentJobs, *orders: Order) -> None:
    """Accept and enter the orders, as `submit` does with those that need no more than its own words."""
    assert all(taken.new for taken in calls.jobs.accept(orders))
    for each in orders:
        calls._open[ALICE.agent] = calls._open.get(ALICE.agent, 0) + 1
        calls.runtime.enter(Job(each, JobStatus(accepted_at=calls.clock.now().isoformat())), ALICE)


@pytest.fixture
def calls(tmp_path: Path) -> AgentJobs:
    return open_calls(tmp_path)


def test_a_failed_attempt_is_repeated_after_its_backoff(calls: AgentJobs) -> None:
    attempts: list[str] = []

    def work(run: AgentJobContext) -> Outcome:
        attempts.append(run.id)
        return Outcome.failure(Cause.ERROR, "", "busy") if len(attempts) < 3 else Outcome.success("at last")

    calls.register("invoke", work)
    enter(calls, order(1, attempts=3, backoff="linear"))
    for attempt in (1, 2):
        wait_until(lambda n=attempt: len(attempts) == n and state(calls, "job-1")[0] == "queued")  # type: ignore[misc]  # binds the loop's value
        assert isinstance(calls.clock, ManualClock)
        calls.clock.advance(backoff_s("linear", attempt, "job-1"))
        calls.tick()
    wait_for_call(calls, "job-1")
    assert (state(calls, "job-1"), calls.job("job-1").status.attempt) == (("done", None), 3)
    calls.close()


def test_a_cancel_between_two_attempts_makes_the_first_the_last(calls: AgentJobs) -> None:
    calls.register("invoke", lambda run: Outcome.failure(Cause.ERROR, "", "busy"))
    enter(calls, order(1, attempts=3, backoff="linear"))
    wait_until(lambda: calls.job("job-1").status.not_before != "")
    calls.cancel(ALICE, "job-1")
    wait_for_call(calls, "job-1")
    assert state(calls, "job-1") == ("failed", "cancelled: before it began")
    calls.close()


def test_the_higher_priority_goes_first_and_the_number_decides_between_equals(calls: AgentJobs) -> None:
    ran: list[str] = []
    gate = threading.Event()

    def work(run: AgentJobContext) -> Outcome:
        gate.wait(PATIENCE_S)
        ran.append(run.id)
        return Outcome.success()

    calls.register("invoke", work, threads=1)
    enter(calls, order(1))
    wait_until(lambda: state(calls, "job-1")[0] == "running")
    enter(calls, order(2, priority="low"), order(10), order(9), order(3, priority="high"))
    gate.set()
    wait_until(lambda: len(ran) == 5)
    assert ran == ["job-1", "job-3", "job-9", "job-10", "job-2"]
    calls.close()


def test_a_job_waits_for_those_that_it_depends_on_and_fails_with_them(calls: AgentJobs) -> None:
    ran: list[str] = []

    def work(run: AgentJobContext) -> Outcome:
        ran.append(run.id)
        return Outcome.failure(Cause.ERROR, "", "no") if run.id == "job-2" else Outcome.success()

    calls.register("invoke", work)
    enter(calls, order(1, depends_on=("job-3",)), order(4, depends_on=("job-2",)), order(3), order(2))
    for id in ("job-1", "job-2", "job-3", "job-4"):
        wait_for_call(calls, id)
    assert ran.index("job-3") < ran.index("job-1") and "job-4" not in ran
    outcome = calls.job("job-4").status.outcome
    assert outcome is not None and (outcome.cause, outcome.code) == (Cause.REJECTED, "DEPENDENCY_FAILED")
    calls.close()


def test_a_job_that_waits_too_long_in_the_queue_ends_as_refused(calls: AgentJobs) -> None:
    gate = threading.Event()

    def work(run: AgentJobContext) -> Outcome:
        gate.wait(PATIENCE_S)
        return Outcome.success()

    calls.register("invoke", work, threads=1)
    enter(calls, order(1), order(2, queue_timeout_s=5.0))
    assert isinstance(calls.clock, ManualClock)
    calls.clock.advance(6.0)
    calls.tick()
    wait_for_call(calls, "job-2")
    outcome = calls.job("job-2").status.outcome
    assert outcome is not None and outcome.code == "QUEUE_TIMEOUT"
    gate.set()
    wait_for_call(calls, "job-1")
    calls.close()


def test_the_files_of_an_earlier_version_open(tmp_path: Path) -> None:
    """Written by the version before agents and robots had one runtime."""
    head = {"node": "alice", "op": "say", "asker": "user", "sheet": "", "accepted_at": "2026-01-02T03:04:05Z"}
    extra = {"kind": "invoke", "project": ALICE.project, "correlation": "c-1"}
    running = {"status": "running", "attempt": 1, "accepted_at": head["accepted_at"], "started_at": head["accepted_at"]}
    log = {"log": {"type": "progress", "message": "half way", "request": "job-1", "timestamp": 1}}
    done = {
        **running,
        "status": "succeeded",
        "completed_at": head["accepted_at"],
        "outcome": {"ok": True, "message": "x"},
    }
    lines = {1: [running, log], 2: [], 3: [running, log, done]}
    (tmp_path / ".paos/jobs").mkdir(parents=True)
    for number, rest in lines.items():
        first = {"id": f"job-{number}", "params": {"text": "x"}, "extra": extra, **head}
        text = "".join(f"{json.dumps(line)}\n" for line in (first, *rest))
        (tmp_path / f".paos/jobs/job-{number}.jsonl").write_text(text)
    calls = open_calls(tmp_path)
    assert [state(calls, f"job-{number}")[0] for number in lines] == ["failed", "queued", "done"]
    assert "lost" in str(state(calls, "job-1")[1]) and calls.result(ALICE, "job-3") == b"x"
    assert json.loads(calls.log(ALICE, "job-1").splitlines()[0])["message"] == "half way"
    calls.register("invoke", lambda run: Outcome.success("y"))
    wait_for_call(calls, "job-2")
    assert calls.job("job-2").status.state is JobState.SUCCEEDED
    calls.close()
