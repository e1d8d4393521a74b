"""The scripts behind `make`, in a copy of the checkout below a name that is not ASCII, in the C locale."""

from __future__ import annotations

import importlib
import os
import re
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
        (("scripts/demo", "--fast"), "found '--fast', expected --language en|zh, --seed N or --no-cameras"),
        (("scripts/demo", "--seed"), "--seed needs a number"),
        (("scripts/bootstrap", "all"), "no such lock file: requirements/all.lock"),
    ],
)
def test_a_wrong_option_is_named_and_nothing_is_made(place: Path, words: tuple[str, ...], said: str) -> None:
    before = sorted(place.iterdir())
    done = _run(place, *words)
    assert done.returncode == 2 and said in done.stderr
    assert sorted(place.iterdir()) == before


def test_help_names_every_recipe(place: Path) -> None:
    recipes = set(re.findall(r"^(\w+):.*##", (ROOT / "Makefile").read_text(), re.M))
    done = _run(place, "make", "--no-print-directory", "help")
    assert done.returncode == 0 and {line.split()[1] for line in done.stdout.splitlines()} == recipes


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


def test_what_the_shell_scripts_import_is_there():
    found = 0
    for script in (ROOT / "scripts").iterdir():
        if script.is_file() and not script.suffix:
            for module, name in re.findall(r"^from (worldfs[\w.]*) import (\w+)$", script.read_text(), re.M):
                assert hasattr(importlib.import_module(module), name), f"{script.name} imports {name} of {module}"
                found += 1
    assert found
