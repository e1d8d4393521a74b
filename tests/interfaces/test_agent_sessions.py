"""`paos agent run` and its neighbours: what a session is shown, what it says, and what stands in the files after it."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldfs import AgentState
from worldfs.interfaces.cli.agent import hook_command, session_commands

PAOS = f'"{sys.executable}" -c "import sys; from worldfs.interfaces.cli.main import main; sys.exit(main(sys.argv[1:]))"'

Paos = Callable[..., tuple[int, str, str]]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PAOS_SESSION", "PAOS_AGENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PAOS_AGENTS", str(tmp_path / "agents"))
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    for name in ("rio", "theseus", "leo"):
        AgentState.open(name, tmp_path / "agents", create=True).close()
    return tmp_path / "agents"


@pytest.fixture
def paos(root: Path, command_and_children: Paos) -> Paos:
    return command_and_children


def said(root: Path, file: str, agent: str = "rio") -> Any:
    return json.loads((root / agent / file).read_text())


def events(root: Path, agent: str = "rio") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / agent / "journal.jsonl").read_text().splitlines()]


def run(paos: Paos, script: str, *words: str) -> int:
    return paos("agent", "run", "rio", *words, "--", "/bin/sh", "-c", script)[0]


# -- letters -----------------------------------------------------------------------------------------------------------


def test_the_prompt_shows_the_letters_of_its_session_and_no_others(paos: Paos, root: Path) -> None:
    paos("agent", "send", "rio", "claimed by another", "x", "--id", "L1")
    paos("agent", "inbox", "rio", "--claim", "300")
    paos("agent", "send", "rio", "mine", "the body", "--id", "L2")
    paos("agent", "send", "rio", "too late", "--id", "L3", "--expires", "2020-01-01T00:00:00Z")
    for name in ("copy.json", "again.json"):
        (root / "rio/inbox" / name).write_text(json.dumps({"id": "L4", "from": "leo", "subject": "twice", "body": "b"}))
    stray = {"id": "L5", "from": "leo", "to": "theseus", "subject": "for another", "body": "b"}
    (root / "rio/inbox/stray.json").write_text(json.dumps(stray))
    early = paos("agent", "context", "rio", "--prompt")[1]
    during = paos("agent", "run", "rio", "--prompt", "stdin", "--", "cat")[1]
    for prompt in (early, during):
        shown = [id for id in ("L1", "L2", "L3", "L4", "L5") if f'"{id}" from' in prompt]
        assert shown == ["L2", "L4"], prompt
        assert prompt.count("twice") == 1 and "too late" not in prompt and "for another" not in prompt
        assert "claimed by another" not in prompt
    left = json.loads(paos("--json", "agent", "inbox", "rio")[1])["letters"]
    assert [letter["message"]["id"] for letter in left] == ["L1"], left


def test_a_letter_of_an_agents_own_outbox_is_sent_and_counted(paos: Paos, root: Path) -> None:
    letters = '{"to": "theseus", "subject": "S%s", "body": "b", "type": "%s"}'
    script = "mkdir -p $PAOS_STATE_DIR/outbox; cd $PAOS_STATE_DIR/outbox; " + "".join(
        f"echo '{letters % (n, kind)}' > {n}.json; " for n, kind in ((1, "flag"), (2, "question"))
    )
    assert run(paos, script) == 0
    assert run(paos, script + "exit 3") == 1  # what a session wrote before it failed was written
    arrived = [json.loads(path.read_text()) for path in (root / "theseus/inbox").iterdir()]
    assert sorted((letter["from"], letter["subject"]) for letter in arrived) == [
        ("rio", "S1"),
        ("rio", "S1"),
        ("rio", "S2"),
        ("rio", "S2"),
    ]
    assert said(root, "metrics.json")["lifetime"]["cross_agent_flags_sent"] == 2
    assert list((root / "rio/outbox").iterdir()) == []
    assert [entry["to"] for entry in events(root) if entry["event"] == "message_sent"] == ["theseus"] * 4


def test_a_letter_to_nobody_is_kept_aside_and_named(paos: Paos, root: Path) -> None:
    line = """mkdir -p $PAOS_STATE_DIR/outbox; cd $PAOS_STATE_DIR/outbox
    echo '{"to": "nobody", "subject": "s", "body": "keep me"}' > a.json; echo '{broken' > b.json"""
    assert run(paos, line) == 0
    assert list((root / "rio/outbox").iterdir()) == []
    found = paos("agent", "show", "rio")[1]
    assert '"to": "nobody"' in found.replace("'nobody'", '"nobody"') and "rio/outbox/b.json" in found
    kept = [path.read_text() for path in (root / "rio/.paos/aside").iterdir() if not path.name.endswith(".why")]
    assert any("keep me" in text for text in kept) and any("{broken" in text for text in kept)


def test_a_letter_put_into_anothers_inbox_counts_as_sent_once(paos: Paos, root: Path) -> None:
    letter = json.dumps({"from": "rio", "to": "leo", "subject": "s", "body": "b", "type": "flag"})
    line = f"""echo '{letter}' > {root}/leo/inbox/note.json
    {PAOS} agent send leo other --from rio --id X1 >/dev/null; {PAOS} agent send leo third --from rio >/dev/null"""
    assert run(paos, line) == 0
    assert said(root, "metrics.json")["lifetime"]["cross_agent_flags_sent"] == 3
    assert run(paos, "true") == 0
    assert said(root, "metrics.json")["lifetime"]["cross_agent_flags_sent"] == 3


# -- facts, summaries, findings ----------------------------------------------------------------------------------------


def test_facts_that_were_acknowledged_in_a_run_stand_in_the_files(paos: Paos, root: Path) -> None:
    line = f"""{PAOS} agent outcome rio sources_archived=8 pr_number=247 'handoff=look at Drift' >/dev/null
    echo '{{"sources_archived": 1, "branch": "rio/x"}}' > "$PAOS_OUTCOME" """
    assert run(paos, line, "--type", "research") == 0
    session, report = said(root, "session.json"), said(root, "report.json")
    assert (session["sources_archived"], session["pr_number"], session["handoff_notes"]) == (8, 247, "look at Drift")
    last = report["last_session"]
    assert (last["sources_archived"], last["pr_number"], last["branch"]) == (8, 247, "rio/x")
    assert said(root, "metrics.json")["lifetime"]["sources_archived"] == 8
    assert run(paos, "true") == 0 and said(root, "session.json")["sources_archived"] == 0, "they are of one session"


def test_facts_stand_also_when_the_session_failed_or_was_lost(paos: Paos, root: Path) -> None:
    assert run(paos, f"{PAOS} agent outcome rio sources_archived=5 > /dev/null; exit 3") == 1
    assert said(root, "session.json")["sources_archived"] == 5
    with AgentState.open("rio", root) as state:
        state.start()
        assert paos("agent", "outcome", "rio", "sources_archived=4")[0] == 0
    with AgentState.open("rio", root) as state:
        state.recover()
    session = said(root, "session.json")
    assert (session["status"], session["sources_archived"]) == ("error", 4)


def test_a_fact_of_the_wrong_kind_is_refused(paos: Paos, root: Path) -> None:
    with AgentState.open("rio", root) as state:
        state.start()
        code, _, err = paos("agent", "outcome", "rio", "sources_archived=many")
        assert code == 2 and "a whole number" in err
        state.finish()


def test_the_summary_that_the_agent_wrote_stands(paos: Paos, root: Path) -> None:
    write = f"""{shlex.quote(sys.executable)} - <<'END'
import json, os, pathlib
path = pathlib.Path(os.environ["PAOS_STATE_DIR"], "report.json")
value = json.loads(path.read_text())
value["summary"] = "Eight sources on launchpads"
path.write_text(json.dumps(value))
END
"""
    assert run(paos, write, "--type", "research") == 0
    assert said(root, "report.json")["summary"] == "Eight sources on launchpads"
    assert run(paos, "true") == 0
    assert said(root, "report.json")["summary"] == "Ad-hoc session completed", "an old summary is not this session's"
    assert run(paos, write.replace("Eight", "Nine") + "exit 3") == 1
    report = said(root, "report.json")
    assert (report["status"], report["summary"]) == ("error", "Nine sources on launchpads")
    assert report["last_session"]["errors"] == ["exit code 3"]


def test_a_key_finding_reaches_the_report_at_once(paos: Paos, root: Path) -> None:
    look = f"""{PAOS} agent event rio key_finding 'summary=AMMs are thin' >/dev/null
    grep -q 'AMMs are thin' "$PAOS_STATE_DIR/report.json" """
    assert run(paos, look, "--type", "research") == 0
    assert said(root, "report.json")["summary"] == "AMMs are thin"


@pytest.mark.parametrize(("line", "outcome"), [("exit 3", "error"), ("sleep 60", "timeout")])
def test_a_failed_session_leaves_an_error_event_before_its_end(paos: Paos, root: Path, line: str, outcome: str) -> None:
    assert run(paos, line, "--timeout", "0.3" if outcome == "timeout" else "600") == 1
    *_, error, end = events(root)
    assert (error["event"], error["outcome"], end["event"]) == ("error", outcome, "session_end")
    assert error["errors"] == end["errors"] and error["session_id"] == end["session_id"]


def test_the_prompt_names_the_file_for_facts_and_the_last_session(paos: Paos, root: Path) -> None:
    assert run(paos, "exit 3") == 1
    prompt = paos("agent", "run", "rio", "--prompt", "arg", "--", "echo")[1]
    sid = said(root, "session.json")["session_id"]
    assert f"{root}/rio/.paos/sessions/{sid}/outcome.json" in prompt
    assert "The last session failed" in prompt and "exit code 3" in prompt


def test_a_fault_that_was_mended_is_not_told_for_ever(paos: Paos, root: Path) -> None:
    assert run(paos, "printf '{broken' > $PAOS_STATE_DIR/tasks.json") == 0
    assert "rio/tasks.json" in paos("agent", "show", "rio")[1]
    assert "Faults found in your files" in paos("agent", "run", "rio", "--prompt", "stdin", "--", "cat")[1]
    assert "rio/tasks.json" not in paos("agent", "show", "rio")[1], "it was told in a whole session"
    assert run(paos, "printf '{broken' > $PAOS_STATE_DIR/tasks.json") == 0
    assert run(paos, "printf '\\377' > $PAOS_STATE_DIR/memory.md") == 0
    found = paos("agent", "show", "rio")[1]
    assert "rio/memory.md" in found and "rio/tasks.json" not in found
    assert run(paos, "exit 3") == 1 and "rio/memory.md" in paos("agent", "show", "rio")[1], "it failed: tell it again"
    assert run(paos, "true") == 0
    assert "No faults were found" in paos("agent", "run", "rio", "--prompt", "stdin", "--", "cat")[1]


def test_a_delivery_that_was_cut_off_is_made_once(root: Path) -> None:
    from worldfs.agents import outbox

    (root / "rio/outbox").mkdir()
    with AgentState.open("rio", root) as state:
        sid = state.start().session_id
        letter = {"to": "Theseus", "subject": "s", "body": "b", "type": "flag"}
        (root / "rio/outbox/a.json").write_text(json.dumps(letter))
        with state.agent_dir.locked():  # deposited, and then the power went
            assert outbox._sent(state, sid, "a.json") is not None
        state.finish()
    assert len(list((root / "theseus/inbox").iterdir())) == 1
    assert said(root, "metrics.json")["lifetime"]["cross_agent_flags_sent"] == 1
    with AgentState.open("rio", root) as state:  # the same words again are another letter
        state.start()
        (root / "rio/outbox/a.json").write_text(json.dumps(letter))
        state.finish()
    assert len(list((root / "theseus/inbox").iterdir())) == 2
    assert said(root, "metrics.json")["lifetime"]["cross_agent_flags_sent"] == 2


def test_a_template_with_a_mistake_begins_no_session(paos: Paos, root: Path, tmp_path: Path) -> None:
    template = tmp_path / "mine.md"
    template.write_text("You are {agnet}.")
    code, _, err = paos("agent", "run", "rio", "--prompt", "stdin", "--template", str(template), "--", "true")
    assert code == 2 and "{agnet}" in err and events(root) == []


def test_the_start_hook_returns_when_the_keeper_of_its_session_is_ready(
    paos: Paos, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prompt is written meanwhile; a client that ends the session at once finds the keeper."""
    late = "import time\ntime.sleep(0.2)\nfrom worldfs.interfaces.cli.agent.session_keeper import serve_caller\n"
    (tmp_path / "late_keeper.py").write_text(late)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setattr(hook_command, "KEEPER", "late_keeper")

    def hook(event: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({"hook_event_name": event, "session_id": "one"})))
        code, out, err = paos("agent", "hook", "rio", "--for", str(os.getpid()))
        assert (code, err) == (0, "")
        return out

    assert "You are the agent rio" in hook("SessionStart")
    with AgentState.open("rio", root) as state:
        assert session_commands.session_keeper(state) not in (0, os.getpid())
    hook("SessionEnd")
    assert said(root, "session.json")["status"] == "completed"


def test_a_keeper_that_cannot_start_is_said_and_its_session_is_lost(
    paos: Paos, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = session_commands.KEEPER
    monkeypatch.setattr(session_commands, "KEEPER", "no_such_module")
    code, _, err = paos("agent", "start", "rio", "--for", str(os.getpid()))
    assert code == 3 and "did not start (no_such_module)" in err
    monkeypatch.setattr(session_commands, "KEEPER", keeper)
    code, _, err = paos("agent", "start", "rio", "--for", str(os.getpid()))
    assert code == 0, err
    assert [line["event"] for line in events(root)].count("session_start") == 2
