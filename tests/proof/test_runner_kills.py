"""SIGKILL at random moments to runners, their wardens, or both: nothing goes on, and every session has one end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from worldfs.agents.agent_state import AgentState
from worldfs.base.proc import all_processes, environment
from worldfs.supervisor import CommandRequest, run
from worldfs.testing.freezing import freeze
from worldfs.testing.waiting import until

SRC = Path(__file__).resolve().parents[2] / "src"
PROGRAM = Path(__file__).with_name("runner_process.py")
TREE = """
echo half
for n in 1 2 3; do setsid sh -c 'sh -c "trap \\"\\" TERM; while :; do sleep 0.1; done" & trap "" TERM; sleep 30' & done
sleep 0.2; echo done
"""
STARTED = b'"event":"session_start"'
WHOM = ("runner", "warden", "both")


def alive(mark: str) -> list[int]:
    return [
        one.pid for one in all_processes() if not one.dead and f"PROOF_MARK={mark}".encode() in environment(one.pid)
    ]


def kill(process: subprocess.Popen[str], whom: str) -> None:
    """What there is of it at this moment."""
    freeze(process.pid)  # so that what is found is still there when it is killed
    wardens = [one for one in all_processes() if one.parent == process.pid and not one.dead]
    if whom != "runner":
        for one in wardens:
            os.kill(one.pid, signal.SIGKILL)
    if whom != "warden":
        process.kill()
    process.send_signal(signal.SIGCONT)
    process.communicate()


def _sessions(journal: Path) -> int:
    return journal.read_bytes().count(STARTED) if journal.exists() else 0


def _has_begun(journal: Path, before: int) -> bool:
    return _sessions(journal) > before


def kill_again_and_again(root: Path, rounds: int, seed: int) -> Counter[str]:
    """How the sessions ended, by outcome and cause."""
    rng, mark = random.Random(seed), uuid.uuid4().hex
    AgentState.open("rio", root, create=True).close()
    env = {**os.environ, "PYTHONPATH": str(SRC), "PROOF_MARK": mark}
    with AgentState.open("rio", root) as state:
        journal = state.agent_dir.path / "journal.jsonl"
        for _ in range(rounds):
            begun = _sessions(journal)
            process = subprocess.Popen(
                [sys.executable, str(PROGRAM), str(root), "/bin/sh", "-c", TREE],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=env,
            )
            assert process.stdout is not None and process.stdout.readline() == "go\n"
            if rng.random() < 0.8:  # else it may be killed before anything has begun
                until(partial(_has_begun, journal, begun))
            time.sleep(rng.uniform(0, 0.6))  # the moment of the kill is the experiment
            kill(process, rng.choice(WHOM))
            ended = run(state, CommandRequest(("true",)), out=-1, err=-1)
            assert ended.outcome == "completed", ended
            left = alive(mark)
            assert not left, left
        entries = [json.loads(line) for line in (state.agent_dir.path / "journal.jsonl").read_text().splitlines()]
        metrics = state.metrics()
    starts = [entry["session_id"] for entry in entries if entry["event"] == "session_start"]
    ends = Counter(entry["session_id"] for entry in entries if entry["event"] == "session_end")
    # One that was killed between its acceptance and the first line of its journal has an end alone.
    assert len(starts) == len(set(starts)) and set(starts) <= set(ends) and set(ends.values()) == {1}
    assert all(entry["cause"] == "lost" for entry in entries if entry.get("session_id") in set(ends) - set(starts))
    for id in os.listdir(root / "rio/.paos/sessions"):
        folder = root / "rio/.paos/sessions" / id
        names = os.listdir(folder)  # empty: killed before anything ran in it
        assert not names or ("exit.json" in names and not list(folder.glob("*.part")))
    assert metrics is not None and metrics.lifetime["sessions_total"] == len(ends)
    return Counter(entry.get("cause") or entry["outcome"] for entry in entries if entry["event"] == "session_end")


def test_a_few_kills_of_runners(tmp_path: Path) -> None:
    assert kill_again_and_again(tmp_path / "agents", 3, 2)["completed"] >= 3


@pytest.mark.proof
def test_a_hundred_kills_of_runners(tmp_path: Path) -> None:
    ends = kill_again_and_again(tmp_path / "agents", 100, 4)
    assert ends["lost"] > 20
    print(f"100 kills of runners and wardens: {dict(ends)}, nothing survived, every session has one end")
