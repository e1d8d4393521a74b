"""Completion scripts, tried by the shells themselves where they are installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from worldfs.interfaces.cli.command_table import COMMANDS, SHELLS
from worldfs.interfaces.cli.completion import script


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rio", "theseus"):
        (tmp_path / "our agents" / name).mkdir(parents=True)
    monkeypatch.setenv("PAOS_AGENTS", str(tmp_path / "our agents"))


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_in_every_script(shell: str) -> None:
    text = script(shell)
    for command in COMMANDS:
        assert command.name in text
        for argument in command.arguments:
            if not argument.positional:
                assert argument.flags[-1].lstrip("-") in text


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_takes_the_script(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    flag = "--no-execute" if shell == "fish" else "-n"
    done = subprocess.run([shell, flag], input=script(shell), text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("paos sta", ["status", "stat"]),
        ("paos onboard --language ", ["en", "zh"]),
        ("paos up --un", ["--until-idle"]),
        ("paos agen", ["agent", "agents"]),
        ("paos agent sh", ["show"]),
        ("paos agent show ", ["rio", "theseus"]),
        ("paos agent send rio hello --type ", ["cascade", "flag", "question", "task"]),
    ],
)
def test_fish_offers_what_fits(line: str, offered: list[str], agents: None) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    asked = f"{script('fish')}\ncomplete -C '{line}'"
    done = subprocess.run(["fish", "-N", "-c", asked], text=True, capture_output=True, check=True)
    assert [found.split("\t")[0] for found in done.stdout.splitlines()] == offered


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("paos sta", ["status", "stat"]),
        ("paos --home x wa", ["watch", "walk", "wait"]),
        ("paos onboard --language ", ["en", "zh"]),
        ("paos up --un", ["--until-idle"]),
        ("paos cat --as pl", ["planner"]),
        ("paos completion ", list(SHELLS)),
        ("paos status --j", ["--json"]),
        ("paos agen", ["agents", "agent"]),
        ("paos agent sh", ["show"]),
        ("paos --json agent sh", ["show"]),
        ("paos agent show ", ["rio", "theseus"]),
        ("paos agent show t", ["theseus"]),
        ("paos agent init rio t", ["theseus"]),
        ("paos agent send rio ", []),
        ("paos agent end rio c", ["completed"]),
        ("paos agent run rio --type e", ["extract", "evaluate"]),
        ("paos agent send rio hello --type c", ["cascade"]),
        ("paos agent context rio --prom", ["--prompt"]),
    ],
)
def test_bash_offers_what_fits(line: str, offered: list[str], agents: None) -> None:
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    asked = f'COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _paos; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", f"{script('bash')}\n{asked}"], text=True, capture_output=True, check=True)
    assert done.stdout.split() == offered
