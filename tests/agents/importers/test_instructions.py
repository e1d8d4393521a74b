"""CLAUDE.md and AGENTS.md as notes, and what an import by command says: counts, whole agents, nothing found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from worldfs import AgentState
from worldfs.interfaces.cli.main import main
from worldfs.plugins.importers import plan

RULES = """# House rules

Be brief.

## Git

- never push to main
- one commit a change,
  with a reason
- @docs/more.md

1. run `make check` first
"""

Import = Callable[..., tuple[int, str]]


@pytest.fixture
def bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Import:
    monkeypatch.setenv("PAOS_AGENTS", str(tmp_path / "agents"))

    def call(*words: str) -> tuple[int, str]:
        code = main(["agent", "import", "rio", *words])
        out, err = capfd.readouterr()
        return code, out + err

    return call


@pytest.fixture
def rio(tmp_path: Path) -> AgentState:
    state = AgentState.open("rio", tmp_path / "agents", create=True)
    state.close()
    return state


@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md", "GEMINI.md"])
def test_rules_come_over_as_notes_once(name: str, tmp_path: Path, bring: Import, rio: AgentState) -> None:
    (tmp_path / name).write_text(RULES)
    assert bring(str(tmp_path / name)) == (0, "new: 4 notes\n" + bring_left(name))
    memory = (tmp_path / "agents/rio/memory.md").read_text()
    for rule in ("Be brief.", "**Git**: never push to main", "with a reason", "run `make check` first"):
        assert rule in memory
    assert "docs/more.md" not in memory
    again = bring(str(tmp_path / name))
    assert again[0] == 0 and "already imported: 4 notes" in again[1]
    assert (tmp_path / "agents/rio/memory.md").read_text() == memory


def bring_left(name: str) -> str:
    return f"{name}:10: left out: a reference to docs/more.md — import that file too\n"


def test_in_a_directory_they_are_offered_only(tmp_path: Path, bring: Import, rio: AgentState) -> None:
    place = tmp_path / "repo"
    place.mkdir()
    (place / "AGENTS.md").write_text(RULES)
    code, said = bring(str(place))
    assert code == 1 and "AGENTS.md was not imported; add --instructions" in said
    assert bring(str(place), "--instructions")[0] == 0
    assert "never push to main" in (tmp_path / "agents/rio/memory.md").read_text()


def test_an_import_that_finds_nothing_does_not_end_well(tmp_path: Path, bring: Import, rio: AgentState) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    code, said = bring(str(tmp_path / "notes.txt"))
    assert code == 1 and "nothing to import was found" in said and "claude-memory" in said


def test_legacy_sessions_are_all_counted_and_the_count_is_said(tmp_path: Path, bring: Import, rio: AgentState) -> None:
    folder = tmp_path / "old/ops/sessions"
    folder.mkdir(parents=True)
    for number in range(25):  # three ids, as scripts that named them by agent gave them
        value = {
            "id": ("rio", "theseus", "leo")[number % 3], "ended": f"2026-03-{number + 1:02d}T22:00:00Z",
            "status": ("completed", "timeout")[number % 2],
        }  # fmt: skip
        (folder / f"{number}.json").write_text(json.dumps(value))
    code, said = bring(str(tmp_path / "old"))
    assert code == 0 and "25 sessions (13 completed, 12 timeout)" in said
    metrics = json.loads((tmp_path / "agents/rio/metrics.json").read_text())["lifetime"]
    assert [metrics[f"sessions_{key}"] for key in ("total", "completed", "timeout")] == [25, 13, 12]
    code, said = bring(str(tmp_path / "old"))
    assert code == 0 and "25 journal lines" in said and "counted" not in said
    assert json.loads((tmp_path / "agents/rio/metrics.json").read_text())["lifetime"] == metrics


def test_a_root_of_version_1_needs_no_agent_first(tmp_path: Path, bring: Import) -> None:
    with AgentState.open("rio", tmp_path / "old", create=True) as state:
        state.remember("patterns", "kept by another program")
    AgentState.open("leo", tmp_path / "old", create=True).close()
    code, said = bring(str(tmp_path / "old"))
    assert code == 0 and "agent rio imported as it was" in said, said
    before, after = (tmp_path / root / "rio/memory.md" for root in ("old", "agents"))
    assert after.read_bytes() == before.read_bytes() and not (tmp_path / "agents/leo").exists()
    assert bring(str(tmp_path / "old"))[0] == 0


def test_codex_counts_of_tokens_are_known(tmp_path: Path) -> None:
    lines = [
        {"timestamp": "2026-11-22T09:22:59Z", "type": "session_meta", "payload": {"id": "s-1"}},
        {"timestamp": "2026-11-22T09:23:00Z", "type": "token_usage_record",
         "payload": {"thread_token_usage": {"total_tokens": 1050}}},
        {"timestamp": "2026-11-22T09:23:01Z", "type": "event_msg", "payload": {"type": "task_complete"}},
    ]  # fmt: skip
    path = tmp_path / "rollout-2026-11-22T09-22-59-s-1.jsonl"
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    imported = plan(path, "rio").found[0].imported
    entries = [item.value for item in imported.entries()]
    assert imported.skipped == [] and entries[-1]["tokens_used"] == 1050
