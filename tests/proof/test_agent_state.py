"""No acknowledged update is lost: many processes, a mind that rewrites the file, kills at any moment."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from worldfs import AgentState
from worldfs.agents.doctor import check
from worldfs.agents.metrics import project
from worldfs.agents.metrics_reducer import MetricsReducer

SRC = Path(__file__).resolve().parents[2] / "src"
REWRITES = 150
PROGRAM = Path(__file__).with_name("state_process.py")


def started(root: Path, who: str, kind: str, count: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(root), who, kind, str(count), str(root / f"log-{who}")],
        stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(SRC)},
    )  # fmt: skip


def said(root: Path) -> list[list[str]]:
    return [line.split() for log in root.glob("log-*") for line in log.read_text().splitlines()]


def rewriter(root: Path, go_on: Callable[[], bool]) -> list[str]:
    """A mind with file tools only: reads tasks.json, thinks, writes it whole in place, in pieces now and then."""
    path, chance, wrote = root / "rio/tasks.json", random.Random(3), []
    while go_on() and len(wrote) < REWRITES:
        try:
            seen = json.loads(path.read_text())
        except ValueError:
            continue
        id = f"mind-{len(wrote)}"
        seen["tasks"].append({"id": id, "description": "来自只有文件工具的智能体", "status": "pending"})
        text = json.dumps(seen, ensure_ascii=False, indent=2)
        time.sleep(chance.uniform(0.01, 0.05))  # the reading grows old
        with path.open("w") as file:
            half = len(text) // 2 if chance.random() < 0.3 else len(text)
            file.write(text[:half])
            file.flush()
            file.write(text[half:])
        wrote.append(id)
    return wrote


def updates(root: Path, processes: int, each: int) -> None:
    AgentState.open("rio", root, create=True).close()
    workers = [started(root, str(who), "tasks", each) for who in range(processes)]
    wrote = rewriter(root, lambda: any(worker.poll() is None for worker in workers))
    for worker in workers:
        worker.wait()
        assert worker.returncode == 0
    with AgentState.open("rio", root) as state:
        state.reconcile(settle=True)
        ids = {task.id for task in state.tasks()}
        acknowledged = {words[1] for words in said(root) if words[0] == "task"}
        assert len(acknowledged) == processes * each
        assert acknowledged <= ids, f"lost: {sorted(acknowledged - ids)[:5]}"
        kept = "".join(path.read_text("utf-8", "replace") for path in (root / "rio/.paos/aside").glob("*-tasks.json"))
        kept += "".join(path.read_text("utf-8", "replace") for path in (root / "rio/.paos/displaced").glob("*"))
        lost = [id for id in wrote[:-1] if id not in ids and f'"{id}"' not in kept]
        assert lost == [], "what the mind wrote is in the file or set aside"
    assert [finding for finding in check(root) if not finding.warning] == []


@pytest.mark.proof
def test_eight_processes_and_a_rewriter_lose_no_update(tmp_path: Path) -> None:
    updates(tmp_path, 8, 5)


@pytest.mark.proof
def test_eight_processes_of_forty_and_a_rewriter_lose_no_update(tmp_path: Path) -> None:
    updates(tmp_path, 8, 40)


@pytest.mark.proof
def test_sixty_four_processes_of_a_hundred_and_a_rewriter_lose_no_update(tmp_path: Path) -> None:
    updates(tmp_path, 64, 100)


def increments(root: Path, total: int, processes: int, kills: int) -> None:
    """Counted by many, killed at random: metrics.json is the journal's fold, and counting again changes nothing."""
    AgentState.open("rio", root, create=True).close()
    chance, number = random.Random(11), 0
    living: list[subprocess.Popen[bytes]] = []
    killed = 0
    while killed < kills or len(said(root)) < total:
        living = [process for process in living if process.poll() is None]
        while len(living) < processes:
            number += 1
            living.append(started(root, str(number), "events", max(50, total // processes // 4)))
        if killed < kills:
            time.sleep(chance.uniform(0.05, 0.25))  # the moment of the kill is the experiment
            victim = chance.choice(living)
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            killed += 1
        else:
            living[0].wait()
    for process in living:
        process.wait()
    with AgentState.open("rio", root) as state:
        state.count()
        entries = dict(state.journal.lines())
        assert list(entries) == list(range(1, len(entries) + 1))
        acknowledged = [words for words in said(root) if words[0] == "event"]
        for _, seq, name, count in acknowledged:
            assert entries[int(seq)]["event"] == name and entries[int(seq)]["count"] == int(count)
        counted = Counter[str]()
        for entry in entries.values():
            counted[entry["event"]] += entry.get("count", 0)  # a rotation has none
        metrics = state.metrics()
        assert metrics is not None
        assert metrics.lifetime["sources_archived"] == counted["sources_archived"]
        assert metrics.lifetime["claims_proposed"] == counted["claim_proposed"]
        assert metrics.lifetime["disconfirmation_attempts"] == counted["disconfirmation_attempt"]
        fold = MetricsReducer()
        fold.follow(state.journal.lines())
        assert project(fold, "rio", state.agent_dir.clock.now()).lifetime == metrics.lifetime
        before = (root / "rio/metrics.json").read_bytes()
        state.recount_metrics()
        state.recount_metrics()
        assert json.loads((root / "rio/metrics.json").read_bytes())["lifetime"] == json.loads(before)["lifetime"]


def test_increments_with_kills_equal_the_fold_of_the_journal(tmp_path: Path) -> None:
    increments(tmp_path, 400, 3, 4)


@pytest.mark.proof
def test_a_hundred_thousand_increments_with_kills_equal_the_fold_of_the_journal(tmp_path: Path) -> None:
    increments(tmp_path, 100_000, 4, 60)
