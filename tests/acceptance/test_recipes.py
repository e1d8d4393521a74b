"""The scripts behind `make`, in a copy of the checkout below a name that is not ASCII, in the C locale."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from worldfs.testing import document_runner

ROOT = Path(__file__).resolve().parents[2]
BARE = {key: text for key, text in os.environ.items() if not key.startswith(("PAOS_", "PYTHON", "LC_"))}


def _run(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=place, env={**BARE, "LC_ALL": "C", "LANG": "C"}, capture_output=True, encoding="utf-8", timeout=300,
        check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return document_runner.checkout(ROOT, tmp_path_factory.mktemp("recipes") / "书 架" / "worldfs")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("scripts/demo", "--language", "fr"), "found language 'fr', expected en or zh"),
        (("scripts/demo", "--fast"), "found '--fast', expected --language en|zh, --seed N, --no-cameras or --fleet"),
        (("scripts/demo", "--seed"), "--seed needs a number"),
        (("scripts/bootstrap", "all"), "no such lock file: requirements/all.lock"),
    ],
)
def test_a_wrong_option_is_named_and_nothing_is_made(place: Path, words: tuple[str, ...], said: str) -> None:
    before = sorted(place.iterdir())
    done = _run(place, *words)
    assert done.returncode == 2 and said in done.stderr
    assert sorted(place.iterdir()) == before


def test_the_installation_says_what_it_does_before_it_does_it(tmp_path: Path) -> None:
    """Stand-ins: a Python without venv, an apt-get that keeps what was said before it, a pip that waits for a line."""
    place, programs, said = tmp_path / "worldfs", tmp_path / "bin", tmp_path / "said"
    shutil.copytree(ROOT / "scripts", place / "scripts")
    shutil.copytree(ROOT / "requirements", place / "requirements")
    (place / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    programs.mkdir()
    pip = tmp_path / "pip"
    stands = {
        programs / "id": "echo 0",
        programs / "apt-get": f'cp "{said}" "{tmp_path}/before"; touch "{tmp_path}/venv"',
        programs / "python": f"""case "$*" in
            *ensurepip*) [ -e "{tmp_path}/venv" ] ;;
            *version_info*) ;;
            --version) echo Python 3.12.0 ;;
            "-m venv .venv") mkdir -p .venv/bin .venv/lib; cp "{pip}" .venv/bin/python ;;
        esac""",
        pip: f"""case "$*" in
            *'import sys, pip'*) exit 1 ;;
            *--require-hashes*) echo 'Collecting numpy==2'; until grep -q numpy "{said}"; do sleep 0.1; done
                echo 'Installing collected packages: numpy'; until grep -q unpacking "{said}"; do sleep 0.1; done ;;
            *--no-deps*) echo 'ERROR: no network'; exit 1 ;;
        esac""",
    }
    for file, text in stands.items():
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    environment = {**BARE, "PATH": f"{programs}:{BARE['PATH']}", "PYTHON": str(programs / "python")}
    with said.open("w") as out:
        done = subprocess.run(
            ["scripts/bootstrap", "run"], cwd=place, env=environment, stdout=out, stderr=subprocess.PIPE,
            encoding="utf-8", timeout=300, check=False,
        )  # fmt: skip
    assert "bootstrap: installing system packages with apt-get: python" in (tmp_path / "before").read_text()
    assert re.search(r"bootstrap:   1 of \d+  numpy\n(?s:.*)unpacking", said.read_text())
    assert done.returncode == 1 and "ERROR: no network" in done.stderr and "run this again" in done.stderr


def test_help_names_every_recipe(place: Path) -> None:
    recipes = set(re.findall(r"^(\w+):.*##", (ROOT / "Makefile").read_text(), re.M))
    done = _run(place, "make", "--no-print-directory", "help")
    assert done.returncode == 0 and {line.split()[1] for line in done.stdout.splitlines()} == recipes


@pytest.mark.proof  # `make demo` itself is run by the first block of the README (test_documents.py)
def test_a_demo_leaves_alone_what_was_there(place: Path) -> None:
    pytest.importorskip("mujoco", reason="the simulation is an extra")
    mine = place / "demo/1/mine.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("kept")
    done = _run(place, "scripts/demo", "--no-cameras", "--language", "zh")
    assert done.returncode == 0, done.stdout + done.stderr
    assert mine.read_text() == "kept" and sorted(os.listdir(mine.parent)) == ["mine.txt"]
    assert "把桌子收拾干净" in (place / "demo/2/workspace/TASK.md").read_text("utf-8")
    assert "the goal holds in the world" in done.stdout
    (advice,) = re.findall(r"^  go on +(.*paos --home demo/2 do .*)$", done.stdout, re.M)
    went_on = _run(place, "sh", "-c", f"{advice} --no-cameras")
    assert went_on.returncode == 0 and "nothing to do" not in went_on.stdout, went_on.stdout + went_on.stderr
    assert "Traceback" not in done.stdout + done.stderr + went_on.stderr


@pytest.mark.proof
def test_a_demo_ends_with_a_film_whose_path_it_prints(place: Path, gl: None) -> None:
    done = _run(place, "make", "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    (film,) = re.findall(r"^  the film +(.*\.mp4)$", done.stdout, re.M)
    assert Path(film).read_bytes()[4:8] == b"ftyp" and Path(film).stat().st_size > 100_000


def test_what_the_shell_scripts_import_is_there() -> None:
    found = 0
    for script in (ROOT / "scripts").iterdir():
        if script.is_file() and not script.suffix:
            for module, name in re.findall(r"^from (worldfs[\w.]*) import (\w+)$", script.read_text(), re.M):
                assert hasattr(importlib.import_module(module), name), f"{script.name} imports {name} of {module}"
                found += 1
    assert found
