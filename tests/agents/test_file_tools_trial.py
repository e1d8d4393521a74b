"""A mind that only opens and rewrites files, clumsily, while a session is on and a program updates tasks beside it."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from worldfs import AgentState
from worldfs.agents.doctor import check

QUICK = 25
TASKS = 3


class Mind:
    """A scripted agent with file tools: it reads when it likes, and writes whole files in pieces."""

    def __init__(self, home: Path, seed: int) -> None:
        self.home, self.rng = home, random.Random(seed)
        self.closed = False
        self.seen: list[dict[str, Any]] = []  # readings of tasks.json, oldest first
        self.read_tasks()

    def read_tasks(self) -> dict[str, Any]:
        """The file as it is; what was read before, where it means nothing or is not there."""
        try:
            value = json.loads((self.home / "tasks.json").read_text())
            assert len(value["tasks"]) >= TASKS
            self.seen.append(value)
        except (ValueError, OSError, KeyError, TypeError, AssertionError):
            pass
        return json.loads(json.dumps(self.seen[-1]))

    def write(self, name: str, text: str) -> None:
        """As an editor does that knows nothing of atomic writes."""
        data = text.encode()
        fd = os.open(self.home / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            while data:
                size = self.rng.randint(1, max(1, len(data)))
                os.write(fd, data[:size])
                data = data[size:]
        finally:
            os.close(fd)

    def write_tasks(self, value: Any) -> None:
        self.write("tasks.json", json.dumps(value, ensure_ascii=False, indent=self.rng.choice((None, 2, 4))))

    # -- clumsy things ----------------------------------------------------------------------------------------------

    def writes_back_an_old_reading(self) -> None:
        self.read_tasks()
        self.write_tasks(self.rng.choice(self.seen))

    def uses_words_of_its_own(self) -> None:
        value = self.read_tasks()
        value["tasks"][-1]["status"] = self.rng.choice(("done", "已完成", "wip?"))
        self.write_tasks(value)

    def leaves_garbage_at_the_end(self) -> None:
        self.write("tasks.json", json.dumps(self.read_tasks()) + "\n```\n好了!")

    def stops_in_the_middle(self) -> None:
        text = json.dumps(self.read_tasks(), ensure_ascii=False)
        self.write("tasks.json", text[: self.rng.randrange(len(text))])

    def rewrites_its_report(self) -> None:
        self.write("report.json", json.dumps({"agent": "rio", "status": "thinking", "summary": "在读文献"}))

    def writes_where_it_should_not(self) -> None:
        with (self.home / "journal.jsonl").open("a") as file:
            file.write(self.rng.choice(('{"event": "note"}\n', "half a li")))

    def spoils_the_metrics(self) -> None:
        self.write("metrics.json", "{}")

    def does_nothing_of_use(self) -> None:
        acts = [self.rewrites_its_report, self.writes_where_it_should_not, self.spoils_the_metrics]
        # What nobody has looked at yet it could only spoil for itself: not after its task is closed.
        acts += [] if self.closed else [
            self.writes_back_an_old_reading,
            self.uses_words_of_its_own,
            self.leaves_garbage_at_the_end,
            self.stops_in_the_middle,
        ]  # fmt: skip
        for act in self.rng.sample(acts, self.rng.randint(1, 3)):
            act()

    # -- what it was asked to do ------------------------------------------------------------------------------------

    def works(self) -> None:
        jobs = [self.closes_its_task, self.remembers, self.answers]
        self.rng.shuffle(jobs)
        for job in jobs:
            self.does_nothing_of_use()
            job()

    def closes_its_task(self) -> None:
        value = self.read_tasks()
        for task in value["tasks"]:
            if task["status"] not in ("pending", "active", "completed", "dropped"):
                task["status"] = "pending"  # it sees what it wrote there
        value["tasks"][0] |= {"status": "completed", "outcome": "查明了: futarchy holds"}
        self.write_tasks(value)
        self.closed = True

    def remembers(self) -> None:
        text = (self.home / "memory.md").read_text()
        heading = "## Dead Ends (don't re-investigate)\n"
        self.write("memory.md", text.replace(heading, f"{heading}- Jupiter 治理代币: 没有机制可分析 (2026-03-27)\n"))

    def answers(self) -> None:
        for letter in (self.home / "inbox").glob("*.json"):
            asked = json.loads(letter.read_text())
            letter.unlink()
        answer = {"from": "rio", "to": asked["from"], "subject": f"Re: {asked['subject']}", "body": "是的 🙂"}
        Mind.write(self, "../leo/inbox/my answer.json", json.dumps(answer, ensure_ascii=False))


def program(root: str, seed: int, told: Connection) -> None:
    """Updates tasks through AgentState; says what was acknowledged."""
    rng = random.Random(seed)
    with AgentState.open("rio", root) as state:
        told.send("ready")
        for step in range(3):
            if rng.random() < 0.5:
                told.send(("added", state.add_task(f"step {step}", id=f"p-{step}").id))
            else:
                state.update_task("task-002", context=f"step {step}")
                told.send(("context", f"step {step}"))
    told.send(None)


def trial(root: Path, seed: int) -> None:
    with AgentState.open("leo", root, create=True) as leo, AgentState.open("rio", root, create=True) as rio:
        for number in range(TASKS):
            rio.add_task(f"Aufgabe {number} 任务")
        leo.send("rio", subject="Is it manipulable?", body="可操纵吗?")
        rio.start(type="research")
        mind = Mind(root / "rio", seed)
        heard, telling = multiprocessing.get_context("spawn").Pipe(duplex=False)
        other = multiprocessing.get_context("spawn").Process(target=program, args=(str(root), seed, telling))
        other.start()
        assert heard.recv() == "ready"
        mind.works()
        acknowledged = list(iter(heard.recv, None))
        other.join()
        assert other.exitcode == 0
        rio.finish("completed", summary="done")

    with AgentState.open("rio", root) as rio, AgentState.open("leo", root) as leo:
        tasks = {task.id: task for task in rio.tasks()}
        assert tasks["task-001"].status == "completed", "a task is closed"
        assert any("Jupiter" in remark.text for remark in rio.memory().remarks), "a memory is left"
        (answer,) = (letter.message for letter in leo.inbox.waiting())
        assert answer is not None and answer.subject == "Re: Is it manipulable?" and answer.sender == "rio"
        assert rio.inbox.waiting() == [], "its letter is done with"
        last = {}
        for kind, what in acknowledged:
            if kind == "added":
                assert what in tasks
            last[kind] = what
        assert tasks["task-002"].context == last.get("context", ""), "what was acknowledged stands"
        metrics = rio.metrics()
        assert metrics is not None and metrics.lifetime["sessions_completed"] == 1
    assert [str(finding) for finding in check(root) if not finding.warning] == []


@pytest.mark.slice(12)
@pytest.mark.parametrize("seed", range(QUICK))
def test_a_clumsy_mind_gets_its_work_done_and_loses_nothing_of_anybodys(tmp_path: Path, seed: int) -> None:
    trial(tmp_path, seed)


@pytest.mark.proof
def test_a_hundred_clumsy_minds_of_a_hundred(tmp_path: Path) -> None:
    for seed in range(QUICK, QUICK + 100):
        (tmp_path / str(seed)).mkdir()
        trial(tmp_path / str(seed), seed)


def test_a_task_made_in_the_agents_first_second_can_be_closed_with_an_outcome() -> None:
    from worldfs.formats.agent.merge_tasks import best_base

    made = {"id": "task-001", "type": "research", "description": "x", "status": "pending", "outcome": None}
    listed: tuple[list[Any], ...] = ([], [made], [{**made, "status": "completed", "outcome": "found"}])
    empty, added, closed = (json.dumps({"agent": "rio", "updated_at": "", "tasks": tasks}).encode() for tasks in listed)
    assert best_base([empty, added], closed) == 1


class HalfWritten:
    """tasks.json rewritten in place by an agent, which another program replaces before the agent has finished."""

    def __init__(self, root: Path, **changes: str) -> None:
        self.place = root / "rio" / "tasks.json"
        value = json.loads(self.place.read_text())
        value["tasks"][0] |= changes
        data = json.dumps(value).encode()
        fd = os.open(self.place, os.O_WRONLY | os.O_TRUNC)
        os.write(fd, data[:100])
        with AgentState.open("rio", root) as program:
            program.add_task("meanwhile")
        os.write(fd, data[100:])
        os.close(fd)


@pytest.mark.parametrize("ended_by", ["its starter", "another process"])
def test_what_an_agent_wrote_while_its_file_was_replaced_is_there_when_its_session_has_ended(
    tmp_path: Path, ended_by: str
) -> None:
    with AgentState.open("rio", tmp_path, create=True) as rio:
        for number in range(TASKS):
            rio.add_task(f"Aufgabe {number} 任务")
        session = rio.start(type="research")
        HalfWritten(tmp_path, status="completed", outcome="found")
        if ended_by == "its starter":
            rio.finish("completed")
    if ended_by == "another process":
        with AgentState.open("rio", tmp_path) as command:
            command.finish("completed", session=session.session_id)
    with AgentState.open("rio", tmp_path) as reader:
        first, *_, added = reader.tasks()
    assert (first.status, first.outcome, added.description) == ("completed", "found", "meanwhile")


def test_what_an_agent_wrote_to_a_copy_that_was_replaced_does_not_undo_what_it_wrote_later(tmp_path: Path) -> None:
    with AgentState.open("rio", tmp_path, create=True) as rio:
        for number in range(TASKS):
            rio.add_task(f"Aufgabe {number} 任务")
        rio.start(type="research")
        place = HalfWritten(tmp_path, priority="high").place
        value = json.loads(place.read_text())
        value["tasks"][0] |= {"status": "completed", "outcome": "found"}
        place.write_text(json.dumps(value))
        rio.finish("completed")
        first, *_, added = rio.tasks()
    assert (first.status, first.outcome, first.priority) == ("completed", "found", "high")
    assert added.description == "meanwhile"
