"""Jobs of agents are run as those of robots are: priority, dependencies, retries and limits are the same for both."""

from __future__ import annotations

import errno
import json
import threading
from pathlib import Path

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.model import Cause, JobState, Outcome
from worldfs.formats.sheet_members import OrderTerms
from worldfs.runtime.job_end import backoff_s
from worldfs.storage.disk_store import DiskStore
from worldfs.testing.call_fixtures import ALICE, open_calls, state, wait_for_call, wait_until
from worldfs.testing.faulty_disk import WRITING, FailingDisk
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S
from worldfs.tree.change_feed import ChangeFeed
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.agent_jobs.agent_jobs import AgentJobs


def ask(calls: AgentJobs, **terms: object) -> str:
    return calls.submit(ALICE, "invoke", "say", {}, terms=OrderTerms(**terms))  # type: ignore[arg-type]  # its fields


@pytest.fixture
def calls(tmp_path: Path) -> AgentJobs:
    return open_calls(tmp_path)


def test_a_failed_attempt_is_repeated_after_its_backoff(calls: AgentJobs) -> None:
    attempts: list[str] = []

    def work(run: AgentJobContext) -> Outcome:
        attempts.append(run.id)
        return Outcome.failure(Cause.ERROR, "", "busy") if len(attempts) < 3 else Outcome.success("at last")

    calls.register("invoke", work)
    ask(calls, attempts=3, backoff="linear")
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
    ask(calls, attempts=3, backoff="linear")
    wait_until(lambda: calls.job("job-1").status.not_before != "")
    calls.cancel(ALICE, "job-1")
    wait_for_call(calls, "job-1")
    assert state(calls, "job-1") == ("failed", "cancelled: before it began")
    last = json.loads(calls.log(ALICE, "job-1").splitlines()[-1])
    assert (last["code"], last["cause"], last["message"]) == ("cancelled", "cancelled", "cancelled: before it began")
    calls.close()


def test_the_higher_priority_goes_first_and_the_number_decides_between_equals(calls: AgentJobs) -> None:
    ran: list[str] = []
    gate = threading.Event()

    def work(run: AgentJobContext) -> Outcome:
        gate.wait(PATIENCE_S)
        ran.append(run.id)
        return Outcome.success()

    calls.register("invoke", work, threads=1)
    ask(calls)
    wait_until(lambda: state(calls, "job-1")[0] == "running")
    for priority in ("low", "high", *["normal"] * 8):
        ask(calls, priority=priority)
    gate.set()
    wait_until(lambda: len(ran) == 11)
    assert ran == ["job-1", "job-3", *(f"job-{number}" for number in range(4, 12)), "job-2"]
    calls.close()


def test_a_job_waits_for_those_that_it_depends_on_and_fails_with_them(calls: AgentJobs) -> None:
    ran: list[str] = []
    gate = threading.Event()

    def work(run: AgentJobContext) -> Outcome:
        if run.id in ("job-1", "job-2"):
            gate.wait(PATIENCE_S)
        ran.append(run.id)
        return Outcome.failure(Cause.ERROR, "", "no") if run.id == "job-2" else Outcome.success()

    calls.register("invoke", work)
    for others in ((), (), ("job-1",), ("job-1", "job-2")):
        ask(calls, depends_on=others)
    wait_until(lambda: [state(calls, id)[0] for id in ("job-1", "job-2")] == ["running"] * 2)
    assert [state(calls, id)[0] for id in ("job-3", "job-4")] == ["queued"] * 2
    gate.set()
    for id in ("job-1", "job-2", "job-3", "job-4"):
        wait_for_call(calls, id)
    assert ran.index("job-1") < ran.index("job-3") and "job-4" not in ran
    outcome = calls.job("job-4").status.outcome
    assert outcome is not None and (outcome.cause, outcome.code) == (Cause.REJECTED, "DEPENDENCY_FAILED")
    calls.close()


def test_a_job_that_waits_too_long_in_the_queue_ends_as_refused(calls: AgentJobs) -> None:
    gate = threading.Event()

    def work(run: AgentJobContext) -> Outcome:
        gate.wait(PATIENCE_S)
        return Outcome.success()

    calls.register("invoke", work, threads=1)
    ask(calls)
    ask(calls, queue_timeout_s=5.0)
    assert isinstance(calls.clock, ManualClock)
    calls.clock.advance(6.0)
    calls.tick()
    wait_for_call(calls, "job-2")
    outcome = calls.job("job-2").status.outcome
    assert outcome is not None and outcome.code == "QUEUE_TIMEOUT"
    gate.set()
    wait_for_call(calls, "job-1")
    calls.close()


def test_a_job_depends_only_on_jobs_that_its_submitter_sees(calls: AgentJobs) -> None:
    calls.register("invoke", lambda run: Outcome.success())
    other = ALICE._replace(agent="bob")
    assert calls.submit(other, "invoke", "say", {}) == "job-1"
    for unseen in ("job-1", "job-99", "act_1"):
        with pytest.raises(BadInput, match="no job of yours"):
            ask(calls, depends_on=(unseen,))
    assert calls.ids(ALICE) == []
    calls.close()


@pytest.mark.parametrize("failing", ["dependency", "limit"])
def test_an_end_without_a_start_that_the_disk_refuses_is_told_and_stops_nothing_else(
    tmp_path: Path, failing: str
) -> None:
    disk, clock, gate = FailingDisk(errno.ENOSPC, ()), ManualClock(), threading.Event()
    ran: list[str] = []

    def work(run: AgentJobContext) -> Outcome:
        gate.wait(PATIENCE_S)
        ran.append(run.id)
        return Outcome.failure(Cause.ERROR, "", "no")

    calls = AgentJobs(DiskStore(tmp_path, disk=disk), clock, ChangeFeed())
    calls.register("invoke", work, threads=1)
    ask(calls)
    wait_until(lambda: state(calls, "job-1")[0] == "running")
    ask(calls, depends_on=("job-1",)) if failing == "dependency" else ask(calls, queue_timeout_s=5.0)
    disk.at = WRITING
    if failing == "dependency":
        gate.set()
    else:
        clock.advance(6.0)
        calls.tick()
    wait_for_call(calls, "job-2")
    assert state(calls, "job-2")[0] == "failed"
    disk.at = ()
    gate.set()
    wait_for_call(calls, "job-1")
    wait_for_call(calls, ask(calls))
    assert ran == ["job-1", "job-3"]
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
