"""Runs the code blocks of a document, one after the other, in a copy of the checkout.

A block of the language sh or python is run, unless the line before it is an HTML comment with the reason:
`<!-- not run: needs a GPU -->`; then it is only parsed. Blocks share one shell. One that activates the environment
begins a new one, at the root of the checkout, as in a fresh terminal.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from worldfs.formats import yamltext

MARK = "@@ block"
ACTIVATE = ". .venv/bin/activate"
_BLOCK = re.compile(r"(?:^<!-- not run: (?P<why>[^>]*?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
_PARTS = ("Makefile", "docs", "examples", "ops", "requirements", "scripts", "src")


class CodeBlock(NamedTuple):
    """A fenced block: its language, its text, the line where it begins, and why it is not run ("": it is)."""

    language: str
    text: str
    line: int
    why_not: str = ""

    @property
    def runs(self) -> bool:
        return self.language in ("sh", "python") and not self.why_not

    @property
    def script(self) -> str:
        """The block as a shell script."""
        return self.text if self.language == "sh" else f"python - <<'END_OF_PYTHON'\n{self.text}END_OF_PYTHON\n"


def blocks(page: Path) -> list[CodeBlock]:
    """Every block with a language, in order."""
    text = page.read_text("utf-8")
    return [
        CodeBlock(found["language"], found["text"], text[: found.start("text")].count("\n"), found["why"] or "")
        for found in _BLOCK.finditer(text)
    ]


def parse(block: CodeBlock) -> None:
    """Raise `ValueError` (or `SyntaxError`) where a block is not of its language; languages without a parser pass."""
    match block.language:
        case "sh":
            done = subprocess.run(["bash", "-n"], check=False, input=block.text, capture_output=True, text=True)
            if done.returncode:
                raise ValueError(done.stderr)
        case "python":
            ast.parse(block.text)
        case "json":  # one value, or one a line
            try:
                json.loads(block.text)
            except ValueError:
                [json.loads(line) for line in block.text.splitlines()]
        case "toml":
            tomllib.loads(block.text)
        case "yaml":
            yamltext.parse(block.text)


def checkout(source: Path, place: Path, *, editable: bool = False) -> Path:
    """A copy of the repository `source` at `place`, with an environment whose commands run that source, or with
    `editable` the copy's own. `make demo` finds the environment there and makes none."""
    pages = (
        page.name for page in source.glob("*.*") if page.is_file() and page.name != ".git"
    )  # a worktree's is a file
    for part in (*_PARTS, *pages):
        if (source / part).is_dir():
            left = None if editable else shutil.ignore_patterns("__pycache__")  # compiled, its own source starts sooner
            shutil.copytree(source / part, place / part, ignore=left)
        else:
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / part, place / part)
    environment = place.parent / "environment"
    (environment / "bin").mkdir(parents=True)
    for name, what in (("paos", "-m worldfs.interfaces.cli.main "), ("python", ""), ("python3", "")):
        command = environment / "bin" / name
        path = f'PYTHONPATH="{place if editable else source}/src${{PYTHONPATH:+:$PYTHONPATH}}"'
        command.write_text(f'#!/bin/sh\n{path} exec "{sys.executable}" {what}"$@"\n')
        command.chmod(0o755)
    (environment / "bin/activate").write_text(f'PATH="{environment}/bin:$PATH"\nexport PATH\n')
    (place / ".venv").symlink_to(environment)
    return place


def run(
    page: Path, place: Path, home: Path, *, timeout: float = 300, environ: Mapping[str, str] | None = None
) -> list[str]:
    """The output of each block that is run, both streams together, in the checkout `place` and with `home` as HOME.

    Raises `AssertionError` with the end of the output when a block fails, when a shell takes longer than `timeout`
    seconds, or when something that the document started is still running at its end.
    """
    around = {
        key: text for key, text in os.environ.items() if not key.startswith(("PAOS_", "PYTHON", "MAKE", "MFLAGS"))
    }
    around |= {"HOME": str(home), **(environ or {})}
    home.mkdir(parents=True, exist_ok=True)
    said = []
    for number, scripts in enumerate(_shells(page)):
        out = home / f"said-{number}.txt"
        script = "set -eu\n" + "".join(f"{text}\necho '{MARK}'\n" for text in scripts)
        try:
            said += _shell(script, place, around, out, timeout=timeout).split(f"{MARK}\n")[:-1]
        except AssertionError as error:
            raise AssertionError(f"{page.name}: {error}") from None
    return said


def _shells(page: Path) -> list[list[str]]:
    """The scripts of the document, those that share a shell together."""
    found: list[list[str]] = []
    for block in blocks(page):
        if block.runs:
            if not found or block.text.startswith(ACTIVATE):
                found.append([])
            if not found[-1] and block.language == "python":
                found[-1].append(ACTIVATE)
            found[-1].append(block.script)
    return found


def _shell(script: str, place: Path, environ: Mapping[str, str], said: Path, *, timeout: float) -> str:
    with said.open("wb") as out:  # a file: a pipe would be held open by background processes
        process = subprocess.Popen(  # the document is trusted
            ["bash", "-c", script], cwd=place, env=environ, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        left: list[str] = []
        try:
            code: int | str = process.wait(timeout)
            left = _running(process.pid)
        except subprocess.TimeoutExpired:
            code = "out of time"
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    text = said.read_text("utf-8", "replace")
    assert code == 0, f"{code}\n{text[-3000:]}"
    assert not left, f"still running at its end: {left}"
    return text


def _running(group: int) -> list[str]:
    """The command lines of a process group, where /proc shows them; without zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state not in "ZX":
                found.append((stat.parent / "cmdline").read_text().replace("\0", " "))
    return found
