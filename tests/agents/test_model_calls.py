"""Calls of models in an agent's name are in its journal at once, and counted in its metrics.json from any process."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from worldfs.agents.agent_state import AgentState
from worldfs.agents.doctor import check
from worldfs.agents.init_agent import create_agent
from worldfs.agents.metrics_cache import FOLD
from worldfs.agents.model_calls import AgentModelCalls
from worldfs.base.chat_model import ModelCall
from worldfs.base.clock import SystemClock

CALL = ModelCall("tiny", "0a" * 32, 100, 10, 0.1, 0.25)
EACH = 20


class Calls:
    """Of a process that answers messages of an agent, each with one call."""

    def __init__(self, root: Path, agent: str = "rio") -> None:
        self.agent, self.calls = agent, AgentModelCalls(root, SystemClock())

    def add(self, use: str, call: ModelCall) -> None:
        self.calls.add(self.agent, use, call)
        self.calls.count(self.agent)


def calls_of(root: Path, agent: str = "rio") -> Calls:
    return Calls(root, agent)


def lifetime(root: Path) -> dict[str, Any]:
    return dict(json.loads((root / "rio/metrics.json").read_text())["lifetime"])


def costs(root: Path) -> tuple[object, ...]:
    found = lifetime(root)
    keys = ("model_calls", "tokens_used", "cost_usd", "model_latency_s", "model_calls_unpriced")
    return tuple(found.get(key, 0) for key in keys)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    create_agent(tmp_path, "rio")
    return tmp_path


def versions(root: Path) -> int:
    with AgentState.open("rio", root) as state:
        return len(state.documents["metrics.json"].generations())


def test_each_call_is_an_entry_and_counts_with_its_message(root: Path) -> None:
    calls_of(root).add("chat", CALL)
    calls_of(root).add("planner", CALL._replace(cost_usd=None, error="MODEL_TIMEOUT"))
    assert costs(root) == (2, 220, 0.1, 0.5, 1)
    with AgentState.open("rio", root) as state:
        entries = [entry for entry in state.journal.tail(10) if entry["event"] == "model_call"]
    assert [entry["use"] for entry in entries] == ["chat", "planner"]
    assert entries[0].items() >= CALL.as_json().items() and entries[1]["error"] == "MODEL_TIMEOUT"
    assert lifetime(root)["sessions_total"] == 0


def test_the_calls_of_a_message_make_one_version_of_the_metrics(root: Path) -> None:
    calls_of(root).add("chat", CALL)
    calls, before = AgentModelCalls(root, SystemClock()), versions(root)
    for _ in range(3):
        calls.add("rio", "chat", CALL)
    assert (costs(root)[0], versions(root)) == (1, before)
    calls.count("rio")
    assert costs(root) == (4, 440, 0.4, 1.0, 0)
    calls.count("rio")
    assert versions(root) == before + 1


@pytest.mark.parametrize("lost", [False, True], ids=["", "the state of the metrics is lost"])
def test_calls_of_a_process_that_was_killed_before_it_counted_count_with_what_is_next(root: Path, lost: bool) -> None:
    for _ in range(2):
        AgentModelCalls(root, SystemClock()).add("rio", "chat", CALL)
    assert not [finding for finding in check(root) if finding.code == "METRICS_STALE"]
    if lost:
        (root / "rio" / FOLD).unlink()
    with AgentState.open("rio", root) as state:
        state.start()
        state.finish("completed")
    assert costs(root) == (2, 220, 0.2, 0.5, 0)


def test_a_call_beside_a_session_is_no_figure_of_the_session(root: Path) -> None:
    with AgentState.open("rio", root) as state:
        state.start()
        calls_of(root).add("chat", CALL)
        assert costs(root)[:2] == (1, 110)
        state.finish("completed", tokens_used=1000, cost_usd=0.5)
        assert state.session().tokens_used == 1000
    assert costs(root) == (1, 1110, 0.6, 0.25, 0)


def _add_calls(root: Path) -> None:
    for _ in range(EACH):
        calls_of(root).add("chat", CALL)


def test_two_processes_lose_no_call_of_each_other(root: Path) -> None:
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=_add_calls, args=(root,)) for _ in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert [other.exitcode for other in others] == [0, 0]
    assert costs(root) == (2 * EACH, 2 * EACH * 110, 4.0, 10.0, 0)


def test_calls_are_counted_once_where_the_state_of_the_metrics_is_lost(root: Path) -> None:
    for _ in range(3):
        calls_of(root).add("chat", CALL)
    (root / "rio" / FOLD).unlink()
    calls_of(root).add("chat", CALL)
    assert costs(root) == (4, 440, 0.4, 1.0, 0)
    with AgentState.open("rio", root) as state:
        state.recount_metrics()
    assert costs(root) == (4, 440, 0.4, 1.0, 0)


def test_an_agent_without_a_directory_is_not_even_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*given: object, **more: object) -> None:
        raise AssertionError("on a shared engine this may fetch the agent from another host")

    monkeypatch.setattr(AgentState, "open", opened)
    calls_of(root, "mother").add("chat", CALL)
    assert sorted(path.name for path in root.iterdir() if path.is_dir()) == ["rio"]


def test_what_cannot_be_written_hinders_no_model(root: Path) -> None:
    (root / "rio/journal.jsonl").unlink(missing_ok=True)
    (root / "rio/journal.jsonl").mkdir()
    calls_of(root).add("chat", CALL)
