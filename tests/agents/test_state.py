"""AgentState: a session from start to end, what a crash between its writes leaves, and minds with file tools only."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worldfs import AgentState
from worldfs.base.disk import Disk
from worldfs.base.errors import BadInput, Busy, NotFound
from worldfs.testing.faulty_disk import CountingDisk, CrashingDisk, SimulatedCrash


@pytest.fixture
def state(tmp_path: Path) -> Iterator[AgentState]:
    with AgentState.open("rio", tmp_path, create=True) as opened:
        yield opened


def value(path: Path) -> Any:
    return json.loads(path.read_text())


def opened(root: Path, disk: Disk | None = None) -> AgentState:
    return AgentState.open("rio", root, disk=disk)


def test_a_new_agent_has_its_files_and_a_name_that_is_none_is_refused(tmp_path: Path, state: AgentState) -> None:
    names = {path.name for path in (tmp_path / "rio").iterdir()}
    assert {"report.json", "tasks.json", "memory.md", "metrics.json", "journal.jsonl", "inbox"} <= names
    assert (tmp_path / ".gitignore").read_text().endswith("*\n")
    for name in ("", "rio.", "a/b", "..", "ri o", "x" * 65, "-rio"):
        with pytest.raises(BadInput):
            AgentState.open(name, tmp_path)
    with pytest.raises(NotFound, match="rio"):
        AgentState.open("leo", tmp_path)


def test_a_session_is_one_commit_and_every_file_says_the_same(tmp_path: Path, state: AgentState) -> None:
    begun = state.start(type="research", domain="internet-finance", timeout_seconds=5400, research_question="How?")
    assert value(tmp_path / "rio/session.json")["status"] == "running"
    assert value(tmp_path / "rio/report.json")["status"] == "researching"
    state.event("sources_archived", count=5)
    ended = state.finish("completed", summary="8 sources", handoff="extract", sources_archived=8, pr_number=247)
    assert ended.session_id == begun.session_id and ended.status == "completed" and ended.handoff_notes == "extract"
    report, metrics = value(tmp_path / "rio/report.json"), value(tmp_path / "rio/metrics.json")
    assert (
        report["status"] == "idle" and report["last_session"]["pr_number"] == 247 and report["summary"] == "8 sources"
    )
    assert metrics["lifetime"]["sessions_total"] == metrics["lifetime"]["sessions_completed"] == 1
    assert metrics["lifetime"]["sources_archived"] == 8 == metrics["rolling_30d"]["sources_archived"]
    last = json.loads((tmp_path / "rio/journal.jsonl").read_text().splitlines()[-1])
    assert last["event"] == "session_end" and last["sources_archived"] == 8 and last["seq"] == 3


@pytest.mark.parametrize(("outcome", "status"), [("timeout", "error"), ("error", "error"), ("completed", "idle")])
def test_outcomes_are_told_as_the_specification_has_them(
    tmp_path: Path, state: AgentState, outcome: str, status: str
) -> None:
    state.start(type="extract")
    state.finish(outcome, errors=["why"])
    report = value(tmp_path / "rio/report.json")
    assert report["status"] == status and report["last_session"]["outcome"] == outcome
    assert value(tmp_path / "rio/metrics.json")["lifetime"][f"sessions_{outcome}"] == 1


def test_the_second_start_is_told_who_runs(tmp_path: Path, state: AgentState) -> None:
    state.start()
    with opened(tmp_path) as other, pytest.raises(Busy, match="process"):
        other.start()
    state.finish()
    with opened(tmp_path) as other:
        other.start()
        other.finish()


def test_a_session_whose_runner_died_is_lost_at_the_next_wake_and_its_letters_wait_again(
    tmp_path: Path, state: AgentState
) -> None:
    with AgentState.open("theseus", tmp_path, create=True) as other:
        other.send("rio", subject="look")
    dead = opened(tmp_path)
    dead.start(type="research")
    assert [letter.state for letter in state.inbox.waiting()] == ["claimed"]
    dead.close()
    begun = state.start()
    assert value(tmp_path / "rio/metrics.json")["lifetime"]["sessions_error"] == 1
    assert [finding.code for finding in state.findings()] == ["SESSION_LOST"]
    assert [letter.state for letter in state.inbox.waiting()] == ["claimed"]  # by the new one
    state.finish()
    assert state.inbox.waiting() == [] and begun.session_id in (tmp_path / "rio/session.json").read_text()


@pytest.mark.parametrize("by", ["the runner", "who came later", "a mind"])
def test_a_runner_that_died_after_its_last_words_is_believed(tmp_path: Path, state: AgentState, by: str) -> None:
    with AgentState.open("theseus", tmp_path, create=True) as other:
        other.send("rio", subject="look", id="l1")
    dead = opened(tmp_path)
    sid = dead.start(type="research").session_id
    dead.close()
    said = {"sources_archived": 8, "summary": "eight", "event": "x", "pr_number": []}
    facts: dict[str, object] = {"session_id": sid, "ended_at": "2026-03-31T21:00:00.25Z", "outcome": "completed"}
    facts["reported"] = said
    if by == "who came later":
        facts["found_at"] = facts.pop("ended_at")
    elif by == "a mind":
        facts["outcome"] = "splendid"
    place = tmp_path / "rio/.paos/sessions" / sid
    place.mkdir(parents=True)
    (place / "exit.json").write_text(json.dumps(facts))
    assert state.recover()
    session = value(tmp_path / "rio/session.json")
    if by == "the runner":
        assert (session["status"], session["sources_archived"]) == ("completed", 8)
        assert session["ended_at"] == "2026-03-31T21:00:00Z" and not state.findings()
        receipt = state.inbox.receipt("l1")
        assert receipt is not None and receipt.state == "acknowledged"
    else:
        assert session["status"] == "error" and [finding.code for finding in state.findings()] == ["SESSION_LOST"]


def test_mail_that_comes_during_a_session_stays(state: AgentState, tmp_path: Path) -> None:
    with AgentState.open("leo", tmp_path, create=True) as leo:
        leo.send("rio", subject="before")
        state.start()
        leo.send("rio", subject="during")
    state.finish("completed")
    assert [letter.message.subject for letter in state.inbox.waiting() if letter.message] == ["during"]


def test_a_failed_session_gives_its_letters_back(state: AgentState, tmp_path: Path) -> None:
    with AgentState.open("leo", tmp_path, create=True) as leo:
        leo.send("rio", subject="before")
    state.start()
    state.finish("error")
    assert [letter.state for letter in state.inbox.waiting()] == ["waiting"]


def _life(state: AgentState, done: list[str]) -> None:
    """A session with everything in it; `done` says what was acknowledged."""
    state.start(type="research", id="20260331-203000-abcd")
    done.append("start")
    state.event("sources_archived", count=5)
    done.append("event")
    state.add_task("read the paper", id="paper")
    done.append("task")
    state.remember("patterns", "it keeps appearing")
    done.append("note")
    state.close_task("paper", "read")
    done.append("closed")
    state.finish("completed", sources_archived=8, summary="all of it")
    done.append("finish")


def _settled(root: Path, done: list[str]) -> None:
    """Open it as the next wake does, and hold every promise against the files."""
    with opened(root) as state:
        state.recover()
        state.reconcile(settle=True)
        entries = [entry for _, entry in state.journal.lines()]
        assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
        events = [entry["event"] for entry in entries]
        tasks = {task.id: task.status for task in state.tasks()}
        metrics = state.metrics()
        assert metrics is not None
        totals = metrics.lifetime
        if "event" in done:
            assert "sources_archived" in events
        if "task" in done:
            assert "paper" in tasks
        if "closed" in done:
            assert tasks["paper"] == "completed"
        if "note" in done:
            assert "it keeps appearing" in (root / "rio/memory.md").read_text()
        ends = events.count("session_end")
        assert ends <= 1
        assert totals["sessions_total"] == ends == totals["sessions_completed"] + totals["sessions_error"]
        if "finish" in done:
            assert totals["sessions_completed"] == 1 and totals["sources_archived"] == 8
        session, report = state.session(), state.report()
        assert report is not None
        if ends:
            assert session is not None and session.status in ("completed", "error")
            assert report.status == {"completed": "idle", "error": "error"}[session.status]
        else:
            assert report.status == "idle"
        before = {path.name: path.read_bytes() for path in (root / "rio").iterdir() if path.is_file()}
        state.recover()
        state.reconcile(settle=True)
        assert before == {path.name: path.read_bytes() for path in (root / "rio").iterdir() if path.is_file()}


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.proof)])
def test_a_crash_before_any_write_leaves_what_was_acknowledged_and_nothing_twice(tmp_path: Path, every: int) -> None:
    AgentState.open("rio", tmp_path / "count", create=True).close()
    count = CountingDisk()
    with opened(tmp_path / "count", count) as state:
        _life(state, [])
    assert len(count.seen) > 60
    for number in range(1, len(count.seen) + 1, every):
        root = tmp_path / str(number)
        AgentState.open("rio", root, create=True).close()
        done: list[str] = []
        state = opened(root, CrashingDisk(number, torn=bool(number % 2)))
        with pytest.raises(SimulatedCrash):
            _life(state, done)
        state.close()  # writes nothing
        _settled(root, done)


def test_an_agent_can_forget_nothing_that_it_was_told_by_mistake_of_a_word(state: AgentState) -> None:
    with pytest.raises(BadInput, match="outcome"):
        state.finish("succeeded")
    with pytest.raises(BadInput, match="type"):
        state.start(type="reserch")
    with pytest.raises(NotFound):
        state.finish()
    with pytest.raises(BadInput):
        state.set_report(mood="good")
    with pytest.raises(NotFound, match="none yet"):
        state.close_task("no")
    with pytest.raises(BadInput, match="status"):
        state.add_task("x", id="x")
        state.update_task("x", status="donne")


def test_secrets_reach_no_file(tmp_path: Path, state: AgentState) -> None:
    secret = "ghp_" + "a1B2" * 9
    state.event("note", text=f"use {secret}")
    state.add_task(f"rotate {secret}")
    state.remember("corrections", f"the token is {secret}")
    state.set_report(summary=f"with {secret}")
    state.start(research_question=secret)
    state.finish(summary=secret, errors=[secret])
    held = [path for path in tmp_path.rglob("*") if path.is_file() and secret in path.read_text("utf-8", "replace")]
    assert held == []


@pytest.mark.parametrize("harm", ["removed", "torn"])
def test_metrics_are_counted_once_when_the_fold_is_lost(tmp_path: Path, state: AgentState, harm: str) -> None:
    for sources in (3, 4):
        state.start()
        state.finish(sources_archived=sources)
    fold = tmp_path / "rio/.paos/metrics.json"
    fold.unlink() if harm == "removed" else fold.write_bytes(fold.read_bytes()[:20])
    with opened(tmp_path) as again:
        again.start()
        again.finish(sources_archived=5)
    totals = value(tmp_path / "rio/metrics.json")["lifetime"]
    assert (totals["sessions_total"], totals["sources_archived"]) == (3, 12)


def test_flags_that_were_read_are_counted(tmp_path: Path, state: AgentState) -> None:
    with AgentState.open("leo", tmp_path, create=True) as leo:
        leo.send("rio", subject="a flag")
        leo.send("rio", subject="a question", type="question")
        assert leo.metrics() is not None
    state.start()
    state.finish()
    assert value(tmp_path / "rio/metrics.json")["lifetime"]["cross_agent_flags_received"] == 1


def test_an_event_outside_a_session_is_in_the_metrics_at_once(tmp_path: Path, state: AgentState) -> None:
    state.event("claim_accepted")
    assert value(tmp_path / "rio/metrics.json")["lifetime"]["claims_accepted"] == 1


def test_a_report_that_is_missing_is_written_whole(tmp_path: Path) -> None:
    (tmp_path / "rio").mkdir()
    with opened(tmp_path) as state:
        assert state.set_report(summary="new").agent == "rio"


def test_undo_goes_back_and_forth(tmp_path: Path, state: AgentState) -> None:
    state.remember("patterns", "one")
    state.remember("patterns", "two")
    state.undo()
    assert "two" not in (tmp_path / "rio/memory.md").read_text()
    state.undo()
    assert "two" in (tmp_path / "rio/memory.md").read_text()
    with pytest.raises(BadInput):
        state.undo(steps=99)


def test_what_the_agent_says_in_report_is_taken_over_and_the_rest_is_not(tmp_path: Path, state: AgentState) -> None:
    path = tmp_path / "rio/report.json"
    path.write_text(json.dumps(value(path) | {"summary": "所有来源已归档", "status": "researching", "agent": "leo"}))
    state.reconcile(settle=True)
    report = state.report()
    assert report is not None and (report.summary, report.status, report.agent) == ("所有来源已归档", "idle", "rio")
    assert [finding.code for finding in state.findings()] == ["EDIT_CONFLICT"]


@pytest.mark.parametrize("name", ["session.json", "metrics.json"])
def test_a_record_of_the_kernel_is_restored(tmp_path: Path, state: AgentState, name: str) -> None:
    state.start()
    state.finish()
    before = (tmp_path / "rio" / name).read_bytes()
    (tmp_path / "rio" / name).write_text('{"agent": "rio", "lifetime": {}}')
    state.reconcile(settle=True)
    assert (tmp_path / "rio" / name).read_bytes() == before


def _close_many(root: Path, who: int, count: int) -> None:
    with opened(root) as state:
        for turn in range(count):
            state.add_task(f"{who}/{turn}", id=f"t-{who}-{turn}")


def _rewrite(root: Path, count: int) -> None:
    """Reads the file, thinks, and writes it whole, in place: what a mind's write tool does."""
    path = root / "rio/tasks.json"
    for turn in range(count):
        try:
            seen = value(path)
        except ValueError:
            continue
        seen["tasks"].append({"id": f"mind-{turn}", "description": "由文件工具写入", "status": "pending"})
        path.write_text(json.dumps(seen, ensure_ascii=False, indent=2))
        with (root / "wrote").open("a") as log:
            log.write(f"mind-{turn}\n")


def test_no_update_of_eight_processes_is_lost_while_a_mind_rewrites_the_file(tmp_path: Path, state: AgentState) -> None:
    process = multiprocessing.get_context("spawn").Process
    workers = [process(target=_close_many, args=(tmp_path, who, 12)) for who in range(8)]
    workers.append(process(target=_rewrite, args=(tmp_path, 12)))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    state.reconcile(settle=True)
    ids = {task.id for task in state.tasks()}
    assert {f"t-{who}-{turn}" for who in range(8) for turn in range(12)} <= ids
    kept = "".join(path.read_text() for path in (tmp_path / "rio/.paos/aside").glob("*-tasks.json"))
    kept += "".join(path.read_text("utf-8", "replace") for path in (tmp_path / "rio/.paos/displaced").glob("*"))
    wrote = (tmp_path / "wrote").read_text().split()
    assert [id for id in wrote if id not in ids and id not in kept] == []


def test_a_version_that_lost_a_race_leaves_no_copy(
    tmp_path: Path, state: AgentState, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.add_task("one")
    state.add_task("two")  # what stands there now is known as ours: the next copy is written early
    place, file = state.agent_dir.store.place_many, tmp_path / "rio/tasks.json"

    def raced(drafts: Any) -> Any:
        monkeypatch.undo()
        value = json.loads(file.read_text())
        value["tasks"].append({**value["tasks"][0], "id": "rio-task-9", "description": "theirs"})
        file.write_text(json.dumps(value))
        return place(drafts)

    monkeypatch.setattr(state.agent_dir.store, "place_many", raced)
    state.add_task("three")
    assert [task.description for task in state.tasks()] == ["one", "two", "theirs", "three"]
    kept = state.documents["tasks.json"]
    versions = [kept.version(one) or b"" for one in kept.generations()]
    assert [b"three" in text for text in versions] == [False] * (len(versions) - 1) + [True]


def test_two_sessions_of_one_second_have_two_names(state: AgentState, monkeypatch: pytest.MonkeyPatch) -> None:
    names = iter(["20260331-104501-aaaa", "20260331-104501-aaaa", "20260331-104501-bbbb"])
    monkeypatch.setattr("worldfs.agents.session_job.new_id", lambda state: next(names))
    for _ in range(2):
        state.start()
        state.finish()
    record = state.session()
    assert record is not None and record.session_id == "20260331-104501-bbbb"


def test_a_session_that_somebody_else_ended_is_not_ended_again(tmp_path: Path, state: AgentState) -> None:
    id = state.start().session_id
    with AgentState.open("rio", tmp_path) as other:
        other.finish("error", errors=["they said so"], session=id)
    with pytest.raises(NotFound):
        state.finish("completed")
    record = state.session()
    assert record is not None and record.status == "error"
