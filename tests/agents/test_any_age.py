"""Minds that write whole files from readings of any age: nothing acknowledged is undone without being named."""

from __future__ import annotations

import json
import multiprocessing
import random
from pathlib import Path
from typing import Any

import pytest

from worldfs import AgentState
from worldfs.agents import merged_document as kept_module
from worldfs.testing.manual_clock import ManualClock

STEPS = 160


class Mind:
    """It has read the files some time ago, and writes them whole, with changes of its own."""

    def __init__(self, home: Path, who: int, rng: random.Random) -> None:
        self.home, self.who, self.rng = home, who, rng
        self.count = 0
        self.touched: set[str] = set()  # what it changed on purpose of what it had read
        self.read()

    def read(self) -> None:
        self.memory = (self.home / "memory.md").read_text()
        self.tasks: dict[str, Any] = json.loads((self.home / "tasks.json").read_text())

    def fresh(self) -> str:
        self.count += 1
        return f"mind {self.who} thought of {self.count} things"

    def writes_memory(self, known: list[str]) -> None:
        lines = self.memory.splitlines()
        notes = [number for number, line in enumerate(lines) if line.startswith("- ")]
        act = self.rng.choice(("add", "add", "remove", "edit", "back", "same words"))
        if act in ("remove", "edit") and notes:
            at = self.rng.choice(notes)
            self.touched.add(lines[at][2:])
            lines[at : at + 1] = [] if act == "remove" else [f"- {self.fresh()}"]
        elif act == "add":
            lines.append(f"- {self.fresh()}")
        elif act == "same words" and known:
            lines.append(f"- {self.rng.choice(known)}")
        text = "\n".join(lines) + "\n"
        if self.rng.random() < 0.5:
            self.memory = text  # it goes on from what it wrote
        (self.home / "memory.md").write_text(text)

    def writes_tasks(self) -> None:
        value = json.loads(json.dumps(self.tasks))
        act = self.rng.choice(("add", "close", "drop", "reopen", "back", "cut"))
        task = self.rng.choice(value["tasks"]) if value["tasks"] else None
        if act == "add":
            value["tasks"].append({"id": f"task-{len(value['tasks']) + 1:03d}", "description": self.fresh()})
        elif act == "cut":
            value["tasks"] = value["tasks"][: self.rng.randrange(len(value["tasks"]) + 1)]
        elif task is not None and act != "back":
            status = {"close": "completed", "drop": "dropped", "reopen": "pending"}[act]
            if task.get("status") != status:
                self.touched.add(task["id"])
            task |= {"status": status, "outcome": self.fresh()}
        if self.rng.random() < 0.5:
            self.tasks = value
        (self.home / "tasks.json").write_text(json.dumps(value, indent=2))


class Trial:
    """What was acknowledged, and whether it still stands, or is kept and named."""

    def __init__(self, root: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.home = root / "rio"
        self.state = AgentState.open("rio", root, clock=ManualClock(), create=True)
        self.notes: set[str] = set()
        self.gone: set[str] = set()
        self.tasks: dict[tuple[str, str], str] = {}  # acknowledged, by id and member
        self.named = 0
        self.count = 0

    def acts(self) -> None:
        self.count += 1
        text, known = f"fact {self.count} was found", sorted(self.notes)
        act = self.rng.choice(("remember", "remember", "task", "task", "close", "context", "forget", "edit", "undo"))
        if act == "remember":
            self.state.remember(self.rng.choice(("patterns", "questions", "Etwas anderes")), text)
            self.notes.add(text)
        elif act == "task":
            task = self.state.add_task(text)
            self.tasks[task.id, "status"], self.tasks[task.id, "context"] = task.status, task.context
        elif act in ("close", "context") and self.tasks:
            id = self.rng.choice(sorted(id for id, _ in self.tasks))
            task = self.state.close_task(id, text) if act == "close" else self.state.update_task(id, context=text)
            part, value = ("status", task.status) if act == "close" else ("context", task.context)
            self.tasks[id, part] = value
        elif act in ("forget", "edit") and known:
            old = self.rng.choice(known)
            new = "" if act == "forget" else f"- {text}\n"
            self.state.edit_memory(lambda data: data.replace(f"- {old}\n".encode(), new.encode()))
            self.notes.discard(old)
            self.gone.add(old)
            self.notes |= {text} if new else set()
        elif act == "undo" and len(self.state.generations()) > 3:
            before = {remark.text for remark in self.state.memory().remarks}
            self.state.undo()
            after = {remark.text for remark in self.state.memory().remarks}
            self.notes = (self.notes - (before - after)) | (after - before)
            self.gone = (self.gone | (before - after)) - after

    def looks(self, mind: Mind) -> None:
        """After a rewrite of that mind: what is not as it was acknowledged, it had read and meant, or it is named."""
        self.state.reconcile(settle=True)
        aside = self.home / ".paos/aside"
        said = " ".join(path.read_text() for path in aside.glob("*.why")) if self.state.findings() else ""
        texts = {remark.text for remark in self.state.memory().remarks}
        kept = "".join(path.read_text() for path in aside.glob("*-memory.md"))
        for text in sorted(self.notes - texts):
            if text not in mind.touched:
                assert text in kept and text in said, f"{text!r} is gone without a word: {said}"
                self.named += 1
            self.notes.discard(text)
        for text in sorted(self.gone & texts):
            assert text in said, f"{text!r} came back without a word: {said}"
            self.gone.discard(text)
        now = {}
        for task in self.state.tasks():
            now[task.id, "status"], now[task.id, "context"] = task.status, task.context
        kept = "".join(path.read_text() for path in aside.glob("*-tasks.json"))
        assert self.tasks.keys() <= now.keys()
        for (id, part), acknowledged in list(self.tasks.items()):
            if now[id, part] != acknowledged:
                if part == "context" or id not in mind.touched:
                    words = f"{id} {part}: {acknowledged} became {now[id, part]} without a word: {said}"
                    assert id in said and acknowledged in kept, words
                    self.named += 1
                del self.tasks[id, part]
        self.state.agent_dir.drop_presented()


def run(root: Path, seed: int, steps: int = STEPS) -> Trial:
    trial = Trial(root, seed)
    minds = [Mind(root / "rio", who, trial.rng) for who in range(3)]
    with trial.state:
        for _ in range(steps):
            act = trial.rng.random()
            mind = trial.rng.choice(minds)
            if act < 0.6:
                trial.acts()
            elif act < 0.7:
                mind.read()
                mind.touched.clear()
            else:
                mind.writes_memory(sorted(trial.notes)) if act < 0.85 else mind.writes_tasks()
                trial.looks(mind)
    return trial


@pytest.mark.slice(16)
@pytest.mark.parametrize("seed", range(16))
def test_three_minds_with_readings_of_any_age_undo_nothing_in_silence(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:  # versions give way sooner
        rules = kept_module.DocumentRules
        monkeypatch.setattr(
            "worldfs.agents.document_rules.DocumentRules", lambda *args, **more: rules(*args, **{"keep": 4} | more)
        )
    run(tmp_path, seed)


def _mind(root: str, who: int, seed: int, done: Any) -> None:
    """Adds notes and tasks of its own to readings of any age, and means to undo nothing."""
    rng, home, turn = random.Random(seed), Path(root) / "rio", 0
    readings: list[tuple[str, dict[str, Any]]] = []
    while not done.is_set() and turn < 15:
        turn += 1
        try:
            text, value = (home / "memory.md").read_text(), json.loads((home / "tasks.json").read_text())
            readings.append((text, value))
        except (OSError, ValueError):  # another mind writes it right now
            pass
        if not readings:
            continue
        text, value = rng.choice(readings)
        tasks = [*value["tasks"], {"id": f"mind-{who}-{turn}", "description": f"idea {turn} of {who}"}]
        for name, data in (
            ("memory.md", f"{text}- mind {who}: {turn}\n"),
            ("tasks.json", json.dumps({**value, "tasks": tasks})),
        ):
            own = home / f".mind-{who}"
            own.write_text(data)
            own.rename(home / name)
        done.wait(rng.random() / 5)


def _caller(root: str, who: int) -> None:
    with AgentState.open("rio", root) as state:
        for turn in range(8):
            state.remember("patterns", f"caller {who} found {turn}")
            id = state.add_task(f"work {turn} of {who}", id=f"c{who}-{turn}").id
            state.close_task(id, "done")


def test_three_minds_at_once_beside_two_callers_undo_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    done = context.Event()
    with AgentState.open("rio", tmp_path, create=True) as state:
        minds = [context.Process(target=_mind, args=(str(tmp_path), who, who, done)) for who in range(3)]
        callers = [context.Process(target=_caller, args=(str(tmp_path), who)) for who in range(2)]
        for process in (*minds, *callers):
            process.start()
        for process in callers:
            process.join()
        done.set()
        for process in minds:
            process.join()
        assert [process.exitcode for process in (*minds, *callers)] == [0] * 5
        state.reconcile(settle=True)
        texts = {remark.text for remark in state.memory().remarks}
        assert {f"caller {who} found {turn}" for who in range(2) for turn in range(8)} <= texts
        status = {task.id: task.status for task in state.tasks()}
        assert {status.get(f"c{who}-{turn}") for who in range(2) for turn in range(8)} == {"completed"}


@pytest.mark.proof
def test_two_hundred_trials_of_three_minds(tmp_path: Path) -> None:
    for seed in range(1000, 1200):
        (tmp_path / str(seed)).mkdir()
        run(tmp_path / str(seed), seed)


def test_a_task_that_a_rewrite_of_the_newest_version_closes_is_no_fault(tmp_path: Path) -> None:
    with AgentState.open("rio", tmp_path, create=True) as state:
        for n in range(3):
            state.add_task(f"task {n}")
        page = tmp_path / "rio/tasks.json"
        read = json.loads(page.read_text())
        read["tasks"][2]["status"] = "completed"
        page.write_text(json.dumps(read))
        state.reconcile(settle=True)
        assert [task.status for task in state.tasks()] == ["pending", "pending", "completed"]
        assert not list((tmp_path / "rio/.paos/aside").glob("*"))
