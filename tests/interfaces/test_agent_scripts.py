"""The shell scripts of ops/agent-state, in every POSIX shell that is here: bootstrap, and a whole research session."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldfs import AgentState
from worldfs.testing.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
OPS = ROOT / "ops/agent-state"
SHELLS = [
    pytest.param(words, id=" ".join(words), marks=pytest.mark.skipif(shutil.which(words[0]) is None, reason="not here"))
    for words in (("dash",), ("bash", "--posix"), ("bash",), ("busybox", "sh"), ("mksh",), ("ksh",), ("yash",))
]
MIND = """
cat > prompt.txt
grep -q 'Look at Drift' prompt.txt && grep -q 'Check MetaDAO' prompt.txt || exit 9
rm prompt.txt
grep -q '"status": "running"' "$PAOS_STATE_DIR/session.json" || exit 8
grep -q '"status": "researching"' "$PAOS_STATE_DIR/report.json" || exit 7
mkdir sources; echo one > sources/1.md; echo two > sources/2.md; echo note > note.md
printf '{"next_priority": "look at Drift", "summary": "Two sources"}' > "$PAOS_OUTCOME"
"""

Sh = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "the agents"


@pytest.fixture
def sh(root: Path, tmp_path: Path) -> Sh:
    """Runs a script with a command `paos` of this tree."""
    command = tmp_path / "bin/paos"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m worldfs.interfaces.cli.main "$@"\n')
    command.chmod(0o755)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PAOS_", "GIT_"))}
    environ |= {
        "PYTHONPATH": str(ROOT / "src"), "PATH": f"{command.parent}:{os.environ['PATH']}", "PAOS_AGENTS": str(root),
        "HOME": str(tmp_path),
    }  # fmt: skip

    def run(shell: tuple[str, ...], script: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*shell, str(OPS / script), *words], env={**environ, **more}, cwd=tmp_path, capture_output=True, text=True,
            check=False, timeout=PATIENCE_S,
        )  # fmt: skip

    return run


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    place = tmp_path / "a repo"
    git(place.parent, "init", "-q", "-b", "main", str(place))
    (place / "README.md").write_text("claims\n")
    git(place, "add", "-A")
    git(place, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "first")
    return place


def git(place: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=place, capture_output=True, text=True, check=True).stdout


def said(root: Path, file: str) -> Any:
    return json.loads((root / "rio" / file).read_text())


@pytest.mark.slice(3)
@pytest.mark.parametrize("shell", SHELLS)
def test_bootstrap_without_names_makes_all_that_are_configured(shell: tuple[str, ...], sh: Sh, root: Path) -> None:
    done = sh(shell, "bootstrap.sh")
    assert done.returncode == 0, done.stderr
    made = sorted(path.name for path in root.iterdir() if path.is_dir())
    assert made == ["astra", "leo", "rio", "theseus"]
    for name in made:
        files = {path.name for path in (root / name).iterdir()}
        expected = {"report.json", "tasks.json", "session.json", "memory.md", "inbox", "journal.jsonl", "metrics.json"}
        assert expected <= files
    assert said(root, "session.json")["session_id"] == ""
    (root / "rio/tasks.json").unlink()
    conf = root.parent / "mine.conf"
    conf.write_text("# ours\n\n里奥\nClay  the lawyer\nlast", encoding="utf-8")  # the last line without its end
    assert sh(shell, "bootstrap.sh", PAOS_AGENTS_CONF=str(conf)).returncode == 0
    assert (root / "rio/tasks.json").exists(), "an agent that is there gets what it lacks"
    assert {"里奥", "Clay", "last"} <= {path.name for path in root.iterdir()}


@pytest.mark.slice(3)
@pytest.mark.parametrize("shell", SHELLS)
def test_bootstrap_makes_the_agents_it_is_told(shell: tuple[str, ...], sh: Sh, root: Path, tmp_path: Path) -> None:
    assert sh(shell, "bootstrap.sh", "--agents", str(tmp_path / "more agents"), "a", "b").returncode == 0
    assert sorted(path.name for path in (tmp_path / "more agents").iterdir() if path.is_dir()) == ["a", "b"]
    assert not root.exists()
    empty = tmp_path / "empty.conf"
    empty.write_text("")
    done = sh(shell, "bootstrap.sh", PAOS_AGENTS_CONF=str(empty))
    assert done.returncode == 2 and "none exists yet" in done.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_a_research_session_goes_through_every_hook(
    shell: tuple[str, ...], sh: Sh, root: Path, repo: Path, tmp_path: Path
) -> None:
    for name in ("rio", "theseus"):
        AgentState.open(name, root, create=True).close()
    with AgentState.open("theseus", root) as theseus:
        theseus.send("rio", subject="Check MetaDAO", body="Do agents trade there?")
    with AgentState.open("rio", root) as rio:
        rio.add_task("Look at Drift")
    mind = tmp_path / "mind.sh"
    mind.write_text(MIND)
    done = sh(
        shell, "research-session.sh", "rio", "--repo", str(repo), "--question", "Who's liquid? $HOME `id`",
        "--domain", "internet-finance", "--pr", 'test -n "$BRANCH" && echo 247', "--", "sh", str(mind),
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout, done.stderr)
    session, report, metrics = said(root, "session.json"), said(root, "report.json"), said(root, "metrics.json")
    sid = session["session_id"]
    expected = {
        "status": "completed", "sources_archived": 2, "branch": f"rio/research-{sid}", "pr_number": 247,
        "type": "research", "domain": "internet-finance", "research_question": "Who's liquid? $HOME `id`",
        "timeout_seconds": 5400,
    }  # fmt: skip
    assert {key: session[key] for key in expected} == expected
    assert (report["status"], report["summary"], report["next_priority"]) == ("idle", "Two sources", "look at Drift")
    assert report["last_session"]["pr_number"] == 247 and metrics["lifetime"]["sources_archived"] == 2
    events = [json.loads(line)["event"] for line in (root / "rio/journal.jsonl").read_text().splitlines()]
    assert events == ["session_start", "hook_end", "command_end", "session_end"]
    assert list((root / "rio/inbox").iterdir()) == []
    assert sorted(git(repo, "ls-tree", "-r", "--name-only", session["branch"]).split()) == [
        "README.md", "note.md", "sources/1.md", "sources/2.md",
    ]  # fmt: skip
    assert git(repo, "worktree", "list").count("\n") == 1 and git(repo, "branch", "--show-current") == "main\n"


@pytest.mark.slice(4)
@pytest.mark.parametrize(("line", "outcome"), [("exit 3", "error"), ("sleep 60", "timeout")])
@pytest.mark.parametrize("shell", SHELLS)
def test_a_research_session_that_fails_keeps_its_work_and_says_so(
    shell: tuple[str, ...], line: str, outcome: str, sh: Sh, root: Path, repo: Path
) -> None:
    AgentState.open("rio", root, create=True).close()
    work = f"mkdir sources; echo half > sources/1.md; {line}"
    for seconds in (2, 20) if outcome == "timeout" else (600,):  # until it got as far as that on this machine
        done = sh(
            shell, "research-session.sh", "rio", "--repo", str(repo), "--timeout", str(seconds), "--", "sh", "-c", work
        )
        assert done.returncode == 1, (done.stdout, done.stderr)
        if said(root, "session.json")["sources_archived"]:
            break
    session, report = said(root, "session.json"), said(root, "report.json")
    assert (session["status"], session["sources_archived"], report["status"]) == (outcome, 1, "error")
    assert report["last_session"]["errors"] == session["errors"] != []
    events = [json.loads(line)["event"] for line in (root / "rio/journal.jsonl").read_text().splitlines()]
    assert events[-2:] == ["error", "session_end"]
    assert "unfinished" in git(repo, "log", "-1", "--format=%s", session["branch"])
    assert git(repo, "worktree", "list").count("\n") == 1


@pytest.mark.parametrize(
    "words", [(), ("rio",), ("rio", "--nope", "x", "--", "true"), ("rio", "--repo", "/", "--", "true")]
)
def test_what_cannot_be_a_session_is_refused(words: tuple[str, ...], sh: Sh) -> None:
    done = sh(("sh",), "research-session.sh", *words)
    assert done.returncode == 2 and "research-session.sh: " in done.stderr, done
