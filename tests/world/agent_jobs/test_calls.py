"""Calls: accepted durably, run once, ended once, shown for a day; nothing costs more because calls have ended."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from worldfs.access.binding import ADMIN, USER, Binding
from worldfs.base.durable import Disk
from worldfs.base.errors import Busy, NotFound, StorageError
from worldfs.base.model import Cause, JobState, Outcome
from worldfs.formats.sheet_members import OrderTerms
from worldfs.runtime.grace import AGENT
from worldfs.storage.disk_store import DiskStore
from worldfs.testing.call_fixtures import ALICE, echo, open_calls, state, wait_for_call, wait_until
from worldfs.testing.crashes import enumerate_crashes
from worldfs.testing.kill_copy import copy_as_killed
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S
from worldfs.tree.change_feed import ChangeFeed
from worldfs.world.agent_jobs import agent_jobs as module
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.agent_jobs.agent_job_table import KEEP_S
from worldfs.world.agent_jobs.agent_jobs import AgentJobs
from worldfs.world.agent_jobs.agent_runtime import LOST
from worldfs.world.agent_jobs.ended_jobs import GROUP


def ask(calls: AgentJobs, text: str = "hello", binding: Binding = ALICE, **more: object) -> str:
    return calls.submit(binding, "chat", "say", {"text": text}, **more)  # type: ignore[arg-type]  # names of submit


def test_a_call_runs_and_its_end_is_read_back(tmp_path: Path) -> None:
    calls = open_calls(tmp_path)
    calls.register("chat", echo)
    id = ask(calls, "hello", correlation="corr-9")
    wait_for_call(calls, id)
    assert id == "job-1"
    shown = json.loads(calls.status(ALICE, id))
    at = int(calls.clock.now().timestamp() * 1000)
    assert shown == {"state": "done", "correlation_id": "corr-9", "error": None, "updated_at_ms": at}
    assert calls.result(ALICE, id) == b"hello"
    assert calls.log(ALICE, id) == b""
    calls.close()


def test_the_order_is_durable_before_the_id_is_told(tmp_path: Path) -> None:
    """Every state is on the disk when it can be seen: queued at the answer, running before anything is done."""
    seen = []

    def look(run: AgentJobContext) -> Outcome:
        seen.append((tmp_path / f".paos/jobs/{run.id}.jsonl").read_text().splitlines())
        return Outcome.success("x")

    calls = open_calls(tmp_path)
    id = ask(calls)
    order = json.loads((tmp_path / f".paos/jobs/{id}.jsonl").read_text())
    assert (order["node"], order["params"], order["extra"]["project"]) == ("alice", {"text": "hello"}, "proj-1")
    assert state(calls, id) == ("queued", None)
    calls.register("chat", look)
    wait_for_call(calls, id)
    assert [json.loads(line).get("status") for line in seen[0]] == [None, "running"]
    calls.close()


def test_a_project_token_is_in_no_file(tmp_path: Path) -> None:
    calls = open_calls(tmp_path)
    got: list[Binding] = []

    def keep(run: AgentJobContext) -> Outcome:
        got.append(run.binding)
        return Outcome.success()

    calls.register("chat", keep)
    wait_for_call(calls, ask(calls))
    calls.close()
    assert got == [ALICE]
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"proj-secret" in path.read_bytes()]


def test_ids_go_on_after_a_restart_though_the_files_are_gone_from_the_view(tmp_path: Path) -> None:
    clock = ManualClock()
    calls = open_calls(tmp_path, clock)
    calls.register("chat", echo)
    for _ in range(70):  # more than one durable write of the counter covers
        wait_for_call(calls, ask(calls))
    clock.advance(KEEP_S + 1)
    assert calls.ids(ALICE) == []
    calls.close()
    again = open_calls(tmp_path, clock)
    assert ask(again) == "job-71"
    assert (tmp_path / ".paos/done/job-70.jsonl").exists()
    again.close()


def test_a_lost_counter_gives_no_id_twice(tmp_path: Path) -> None:
    clock = ManualClock()
    calls = open_calls(tmp_path, clock)
    calls.register("chat", echo)
    for _ in range(3):
        wait_for_call(calls, ask(calls))
    clock.advance(KEEP_S + 1)
    calls.ids(ALICE)
    calls.close()
    (tmp_path / ".paos/calls.next").write_bytes(b"\0\0")
    again = open_calls(tmp_path, clock)
    assert ask(again) == "job-4"
    again.close()


def test_found_running_is_lost_and_found_queued_is_run(tmp_path: Path) -> None:
    held = threading.Event()

    def hang(run: AgentJobContext) -> Outcome:
        held.wait(PATIENCE_S)
        return Outcome.success("too late")

    calls = open_calls(tmp_path)
    calls.register("chat", hang, threads=1)
    first, second = ask(calls, "one"), ask(calls, "two")
    wait_until(lambda: state(calls, first)[0] == "running")
    kept = {path.name: path.read_bytes() for path in (tmp_path / ".paos/jobs").iterdir()}
    after = tmp_path / "after"  # what a SIGKILL leaves
    (after / ".paos/jobs").mkdir(parents=True)
    for name, data in kept.items():
        (after / ".paos/jobs" / name).write_bytes(data)
    again = open_calls(after)
    assert state(again, first) == ("failed", f"lost: {LOST}")
    assert state(again, second) == ("queued", None)
    again.register("chat", echo)
    wait_for_call(again, second)
    assert again.result(ALICE, second) == b"two"
    assert again.result(ALICE, first).startswith(b"lost: ")
    assert json.loads(again.log(ALICE, first))["type"] == "error"
    again.close()
    held.set()
    calls.close()


def test_a_lost_call_says_why_after_any_power_cut() -> None:
    """The line of the day that shows its end is durable only after its own end is."""

    def prepare(path: Path) -> None:
        calls = open_calls(path)
        id = ask(calls)
        calls.jobs.write_status(id, replace(calls.job(id).status, state=JobState.RUNNING, attempt=1))
        calls.jobs.store.close()

    def operate(path: Path, disk: Disk, ack: Callable[[str], None]) -> None:
        calls = AgentJobs(DiskStore(path, disk), ManualClock(), ChangeFeed())
        ack("lost")
        calls.close()

    def check(path: Path, acked: tuple[str, ...]) -> None:
        calls = open_calls(path)
        outcome = calls.outcome(calls.visible_job(ALICE, "job-1"))
        assert outcome is not None and outcome.cause is Cause.LOST
        calls.close()

    assert enumerate_crashes(prepare, operate, check).states > 5


def test_a_sealed_end_stands_after_any_power_cut() -> None:
    """A model is asked about what was measured, and the power goes while it thinks."""

    def prepare(path: Path) -> None:
        calls = open_calls(path)
        ask(calls)
        calls.jobs.store.close()

    def operate(path: Path, disk: Disk, ack: Callable[[str], None]) -> None:
        def judged(run: AgentJobContext) -> Outcome:
            run.seal(Outcome.success("the cube is on the tray"))
            ack("sealed")
            return Outcome.success("the cube is on the tray, and a model doubts it")

        calls = AgentJobs(DiskStore(path, disk), ManualClock(), ChangeFeed())
        calls.register("chat", judged)
        wait_for_call(calls, "job-1")
        calls.close()

    def check(path: Path, acked: tuple[str, ...]) -> None:
        calls = open_calls(path)
        calls.register("chat", echo)
        wait_for_call(calls, "job-1")
        if "sealed" in acked:
            outcome = calls.outcome(calls.visible_job(ALICE, "job-1"))
            assert outcome is not None and outcome.ok and outcome.message.startswith("the cube is on the tray")
        calls.close()

    assert enumerate_crashes(prepare, operate, check).states > 5


def test_what_is_held_begins_when_it_is_told_to(tmp_path: Path) -> None:
    calls = open_calls(tmp_path)
    first = ask(calls)
    calls.close()
    held = AgentJobs.open(tmp_path, ManualClock(), ChangeFeed(), held=True)
    held.register("chat", echo)
    second = ask(held)
    time.sleep(0.05)
    assert [state(held, id)[0] for id in (first, second)] == ["queued", "queued"]
    held.start()
    third = ask(held)
    for id in (first, second, third):
        wait_for_call(held, id)
    held.close()


def test_a_torn_last_line_is_as_if_it_had_not_been_written(tmp_path: Path) -> None:
    calls = open_calls(tmp_path)
    id = ask(calls)
    calls.close()
    with (tmp_path / f".paos/jobs/{id}.jsonl").open("ab") as file:
        file.write(b'{"status": "runn')
    again = open_calls(tmp_path)
    again.register("chat", echo)
    wait_for_call(again, id)
    assert state(again, id) == ("done", None)
    again.close()


def test_a_file_that_says_nothing_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / ".paos/jobs").mkdir(parents=True)
    (tmp_path / ".paos/jobs/job-3.jsonl").write_bytes(b"\xff\xff{")
    calls = open_calls(tmp_path)
    calls.register("chat", echo)
    ids = [ask(calls) for _ in range(3)]
    for id in ids:
        wait_for_call(calls, id)
    assert ids == ["job-1", "job-2", "job-4"]
    assert calls.unreadable == ("job-3",)
    assert (tmp_path / ".paos/jobs/job-3.jsonl").read_bytes() == b"\xff\xff{"
    calls.close()


def test_ended_calls_survive_a_restart_with_result_log_and_time(tmp_path: Path) -> None:
    clock = ManualClock()
    calls = open_calls(tmp_path, clock)

    def fail(run: AgentJobContext) -> Outcome:
        run.log("progress", message="half way")
        return Outcome.failure(Cause.ERROR, "", "missing provider API key")

    calls.register("chat", fail)
    id = ask(calls)
    wait_for_call(calls, id)
    before = calls.status(ALICE, id), calls.result(ALICE, id), calls.log(ALICE, id)
    calls.close()
    clock.advance(3600)
    again = open_calls(tmp_path, clock)
    assert (again.status(ALICE, id), again.result(ALICE, id), again.log(ALICE, id)) == before
    assert before[1] == b"missing provider API key"
    progress, error = (json.loads(line) for line in before[2].splitlines())
    assert (progress["type"], progress["message"], progress["request"]) == ("progress", "half way", id)
    assert list(error) == ["type", "request", "code", "message", "timestamp"]
    assert (error["code"], error["message"]) == ("execution_failed", "missing provider API key")
    again.close()


def test_an_ended_call_leaves_the_view_after_a_day_and_its_file_stays(tmp_path: Path) -> None:
    clock = ManualClock()
    calls = open_calls(tmp_path, clock)
    calls.register("chat", echo)
    id = ask(calls)
    wait_for_call(calls, id)
    clock.advance(KEEP_S - 1)
    assert calls.ids(ALICE) == [id]
    clock.advance(2)
    with pytest.raises(NotFound):
        calls.status(ALICE, id)
    assert calls.ids(ALICE) == []
    assert calls.job(id).status.outcome == Outcome.success("hello")
    calls.close()
    assert open_calls(tmp_path, clock).ids(ALICE) == []


def test_a_call_is_shown_to_its_agent_in_its_project_only(tmp_path: Path) -> None:
    calls = open_calls(tmp_path)
    id = ask(calls)
    for other in (Binding(USER, "bob", "proj-1"), Binding(USER, "alice", "proj-2"), Binding(ADMIN, "mother", "system")):
        assert calls.ids(other) == []
        with pytest.raises(NotFound):
            calls.result(other, id)
        with pytest.raises(NotFound):
            calls.cancel(other, id)
    calls.close()


def test_the_deadline_ends_a_call_that_stops_when_asked() -> None:
    clock = ManualClock()
    calls = open_calls(None, clock)

    def obey(run: AgentJobContext) -> Outcome:
        run.stop.wait(PATIENCE_S)
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "the arm stands still")

    calls.register("chat", obey)
    id = ask(calls)
    wait_until(lambda: state(calls, id)[0] == "running")
    clock.advance(299)
    calls.tick()
    assert state(calls, id)[0] == "running"
    clock.advance(1)
    calls.tick()
    wait_for_call(calls, id)
    assert state(calls, id) == ("failed", "timeout: timed out after 300 s: the arm stands still")
    calls.close()


def test_a_call_that_never_stops_is_ended_without_it_and_its_late_word_counts_for_nothing() -> None:
    clock = ManualClock()
    calls = open_calls(None, clock)
    go = threading.Event()

    stops = []

    def deaf(run: AgentJobContext) -> Outcome:
        stops.append(run.stop)
        go.wait(PATIENCE_S)
        run.log("progress", message="late")
        return Outcome.success("late")

    calls.register("chat", deaf, threads=1)
    id = ask(calls, terms=OrderTerms(timeout_s=5))
    wait_until(lambda: state(calls, id)[0] == "running")
    clock.advance(5)
    wait_until(lambda: stops and stops[0].is_set())
    assert state(calls, id)[0] == "running"

    def given_up() -> bool:  # the grace begins when it was asked, which another thread may have done
        clock.advance(AGENT.stop_s)
        calls.tick()
        return state(calls, id)[0] == "failed"

    wait_until(given_up)
    assert "timeout: timed out after 5 s" in str(state(calls, id)[1])
    before = calls.log(ALICE, id)
    go.set()
    wait_for_call(calls, ask(calls, "next"))
    assert calls.log(ALICE, id) == before
    assert state(calls, id)[0] == "failed"
    calls.close()


def test_cancelling_ends_a_queued_call_at_once_and_a_running_one_when_it_stops() -> None:
    calls = open_calls(None)
    ran: list[str] = []

    def obey(run: AgentJobContext) -> Outcome:
        ran.append(run.id)
        run.stop.wait(PATIENCE_S)
        return Outcome.failure(Cause.ERROR, "", "stopped")

    calls.register("chat", obey, threads=1)
    first, second = ask(calls), ask(calls)
    wait_until(lambda: state(calls, first)[0] == "running")
    calls.cancel(ALICE, second)
    assert state(calls, second) == ("failed", "cancelled: before it began")
    calls.cancel(ALICE, first)
    wait_for_call(calls, first)
    assert state(calls, first) == ("failed", "cancelled: stopped")
    calls.cancel(ALICE, first)  # ended: nothing
    calls.close()
    assert ran == [first]


def test_one_lane_runs_in_order_and_holds_no_thread_while_it_waits() -> None:
    calls = open_calls(None)
    order: list[str] = []
    gate = threading.Event()

    def slow(run: AgentJobContext) -> Outcome:
        gate.wait(PATIENCE_S)
        order.append(run.id)
        return Outcome.success()

    calls.register("chat", slow, lane=lambda call: "arm", threads=2)
    calls.register("invoke", echo)
    arm = [ask(calls) for _ in range(5)]
    other = calls.submit(ALICE, "invoke", "x", {"text": "quick"})
    wait_for_call(calls, other)
    gate.set()
    for id in arm:
        wait_for_call(calls, id)
    assert order == arm
    calls.close()


def test_threads_are_bounded() -> None:
    calls = open_calls(None)
    lock, now, most = threading.Lock(), [0], [0]
    meet = threading.Barrier(3, timeout=PATIENCE_S)  # thirty pass it in threes, if three may be at work at once

    def count(run: AgentJobContext) -> Outcome:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        meet.wait()
        with lock:
            now[0] -= 1
        return Outcome.success()

    calls.register("chat", count, threads=3)
    ids = [ask(calls) for _ in range(30)]
    for id in ids:
        wait_for_call(calls, id)
    assert most[0] == 3
    calls.close()


def test_an_agent_may_not_have_more_than_so_many_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OPEN_MOST", 3)
    calls = open_calls(None)
    ids = [ask(calls) for _ in range(3)]
    with pytest.raises(Busy) as caught:
        ask(calls)
    assert caught.value.code == "queue_saturated"
    assert ask(calls, binding=Binding(USER, "bob", "proj-1")) == "job-4"
    calls.register("chat", echo)
    wait_for_call(calls, ids[0])
    assert ask(calls) == "job-5"
    calls.close()


def test_a_carrier_that_raises_fails_the_call_and_the_next_one_runs() -> None:
    calls = open_calls(None)

    def raising(run: AgentJobContext) -> Outcome:
        if run.params["text"] == "a":
            raise KeyError("gone")
        if run.params["text"] == "b":
            raise StorageError("no space left", path="x")
        return Outcome.success("fine")

    calls.register("chat", raising, threads=1)
    ids = [ask(calls, text) for text in "abc"]
    for id in ids:
        wait_for_call(calls, id)
    assert [state(calls, id) for id in ids] == [
        ("failed", "KeyError: 'gone'"),
        ("failed", "x: no space left"),
        ("done", None),
    ]
    calls.close()


class _Full(Disk):
    """A disk that has no room for the next append."""

    full = False

    def append(self, fd: int, data: bytes, path: str) -> None:
        if self.full:
            raise OSError(28, "No space left on device")
        super().append(fd, data, path)


def test_an_end_that_cannot_be_kept_is_told_as_a_failure_not_as_success(tmp_path: Path) -> None:
    disk = _Full()
    calls = AgentJobs(DiskStore(tmp_path, disk), ManualClock(), ChangeFeed())

    def fill(run: AgentJobContext) -> Outcome:
        disk.full = True
        return Outcome.success("done")

    calls.register("chat", fill)
    id = ask(calls)
    wait_for_call(calls, id)
    assert state(calls, id)[0] == "failed"
    assert "No space left" in str(state(calls, id)[1])
    calls.close()
    again = open_calls(tmp_path)
    assert state(again, id)[1] == f"lost: {LOST}"
    again.close()


def test_each_state_is_published_after_it_can_be_read() -> None:
    feed = ChangeFeed()
    calls = AgentJobs.open(None, ManualClock(), feed)
    seen: list[str] = []
    feed.listen(lambda seq, topics: seen.append(state(calls, topics[0].rsplit("/", 1)[1])[0]))
    calls.register("chat", echo)
    id = ask(calls)
    wait_for_call(calls, id)
    calls.close()
    assert seen == ["queued", "running", "done"]
    assert {topic for item in feed.since(0) for topic in item.topics} == {
        f"/agents/alice/jobs/{id}",
        "/agents/alice/chat",
    }
    assert [item.kind for item in feed.since(1)] == ["running", "done"]


def test_nothing_looks_at_what_has_ended(tmp_path: Path) -> None:
    """A thousand ended calls out of the view cost neither the next call nor a start a single look."""
    clock = ManualClock()
    (tmp_path / ".paos/done").mkdir(parents=True)
    for n in range(1, 1001):
        (tmp_path / f".paos/done/job-{n}.jsonl").write_bytes(b"")
    (tmp_path / ".paos/calls.next").write_bytes(b"1001\n")
    store = DiskStore(tmp_path)
    listed: list[str] = []
    plain = store.list
    store.list = lambda prefix: listed.append(prefix) or plain(prefix)  # type: ignore[method-assign,func-returns-value]  # a spy
    probes: list[str] = []
    look = store.probe
    store.probe = lambda key: probes.append(key) or look(key)  # type: ignore[method-assign,func-returns-value]  # same
    calls = AgentJobs(store, clock, ChangeFeed())
    calls.register("chat", echo)
    id = ask(calls)
    wait_for_call(calls, id)
    assert id == "job-1001"
    assert sorted(listed) == [".paos/calls", ".paos/jobs"]
    assert len(probes) < 2 * module.OPEN_MOST
    calls.close()


def test_ended_calls_are_put_away_in_groups_and_all_of_them_are_shown_after_a_crash(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    calls = open_calls(home)
    calls.register("chat", echo)
    ids = [ask(calls, f"letter {n}", correlation=f"c{n}") for n in range(GROUP + 6)]
    for id in ids:
        wait_for_call(calls, id)
    wait_until(lambda: len(list((home / ".paos/jobs").iterdir())) < GROUP)
    crashed = copy_as_killed(home, tmp_path / "crashed")
    torn = copy_as_killed(home, tmp_path / "torn")
    (day,) = (torn / ".paos/calls").iterdir()
    day.write_bytes(day.read_bytes()[:-40])  # a line that the power took half of
    calls.close()
    assert list((home / ".paos/jobs").iterdir()) == []
    for place in (home, crashed, torn):
        again = open_calls(place)
        assert sorted(again.ids(ALICE)) == sorted(ids)
        assert [again.result(ALICE, id) for id in ids] == [f"letter {n}".encode() for n in range(len(ids))]
        assert [json.loads(again.status(ALICE, id))["correlation_id"] for id in ids] == [
            f"c{n}" for n in range(len(ids))
        ]
        assert ask(again) == f"job-{len(ids) + 1}"
        again.close()


def test_an_ended_call_whose_line_the_disk_refused_is_shown_after_a_start(tmp_path: Path) -> None:
    calls = open_calls(tmp_path)
    calls.register("chat", echo, threads=0)
    store, refused = calls.jobs.store, []
    append = store.append

    def once(key: str, data: bytes, **more: bool) -> None:
        if not refused and key.startswith(".paos/calls/"):
            refused.append(key)
            raise StorageError("no space left", path=key, op="append")
        append(key, data, **more)

    store.append = once  # type: ignore[method-assign,assignment]  # a disk that is full for a moment
    ids = [ask(calls), ask(calls)]
    calls.close()
    assert refused
    again = open_calls(tmp_path)
    assert sorted(again.ids(ALICE)) == ids
    again.close()


def test_a_cancel_that_the_disk_refused_is_told_and_the_call_waits(tmp_path: Path) -> None:
    calls = open_calls(tmp_path)
    id = ask(calls)  # without a worker: it is queued
    store = calls.jobs.store
    append = store.append

    def full(key: str, data: bytes, **more: bool) -> None:
        raise StorageError("no space left", path=key, op="append")

    store.append = full  # type: ignore[method-assign,assignment]  # a full disk
    with pytest.raises(StorageError):
        calls.cancel(ALICE, id)
    store.append = append  # type: ignore[method-assign]
    assert calls.job(id).status.state is JobState.PENDING
    calls.cancel(ALICE, id)
    assert calls.job(id).status.outcome.cause is Cause.CANCELLED
    calls.close()


def test_a_day_that_is_over_leaves_no_line(tmp_path: Path) -> None:
    clock = ManualClock()
    calls = open_calls(tmp_path, clock)
    calls.register("chat", echo)
    wait_for_call(calls, ask(calls))
    calls.close()
    clock.advance(2 * KEEP_S)
    again = open_calls(tmp_path, clock)
    assert again.ids(ALICE) == []
    assert list((tmp_path / ".paos/calls").iterdir()) == []
    again.close()


def test_calls_of_two_days_are_shown_together(tmp_path: Path) -> None:
    clock = ManualClock()
    calls = open_calls(tmp_path, clock)
    calls.register("chat", echo)
    first = ask(calls)
    wait_for_call(calls, first)
    clock.advance(KEEP_S - 3600)
    second = ask(calls)
    wait_for_call(calls, second)
    calls.close()
    again = open_calls(tmp_path, clock)
    assert again.ids(ALICE) == [first, second]
    again.close()


def test_a_copy_among_the_open_files_of_a_call_that_was_put_away_is_dropped(tmp_path: Path) -> None:
    calls = open_calls(tmp_path)
    calls.register("chat", echo)
    id = ask(calls)
    wait_for_call(calls, id)
    calls.close()
    (tmp_path / f".paos/jobs/{id}.jsonl").write_bytes(b'{"log":{"type":"progress"}}\n')
    again = open_calls(tmp_path)
    assert state(again, id) == ("done", None)
    assert not (tmp_path / f".paos/jobs/{id}.jsonl").exists()
    again.close()


def test_closing_stops_what_runs_and_keeps_what_is_queued(tmp_path: Path) -> None:
    calls = open_calls(tmp_path)

    def obey(run: AgentJobContext) -> Outcome:
        run.stop.wait(PATIENCE_S)
        return Outcome.failure(Cause.ERROR, "", "")

    calls.register("chat", obey, threads=1)
    first, second = ask(calls), ask(calls)
    wait_until(lambda: state(calls, first)[0] == "running")
    calls.close()
    again = open_calls(tmp_path)
    assert state(again, first) == ("failed", "cancelled: asked to stop")
    assert state(again, second)[0] == "queued"
    again.close()
