"""CONTRIBUTING.md, followed block by block on a copy of the checkout: each "how to add" ends with a thing that works.

In `make test` the plug-ins; the recipes that change the core are `make proof`: each loads and runs the whole checkout.

Also here: the continuous integration and the commit hooks call what `make` calls.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from worldfs.access.binding import USER, Binding
from worldfs.base.plugin_registry import GROUPS
from worldfs.formats import yamltext
from worldfs.namespace.bound_tree import BoundTree
from worldfs.testing import document_runner
from worldfs.world.served_world import ServedWorld

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
SECTIONS = ("file", "document", "robot", "policy", "body", "importer")  # one block each, in the order of the page
PLUGINS = "### A robot, as a body"  # from here on no recipe touches the core


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return document_runner.checkout(ROOT, tmp_path_factory.mktemp("contributing") / "worldfs", editable=True)


def _outputs(page: Path, place: Path, home: Path) -> list[str]:
    pytest.importorskip("numpy", reason="a robot needs it")
    environ = {"LC_ALL": "C", "LANG": "C", "MUJOCO_GL": "off"}  # nothing here draws: no OpenGL is looked for
    outputs = document_runner.run(page, place, home, environ=environ)
    assert not [text for text in outputs if "Traceback (most recent call last)" in text]
    return outputs


@pytest.fixture(scope="module")
def said(place: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The output of each section's block."""
    return dict(zip(SECTIONS, _outputs(PAGE, place, tmp_path_factory.mktemp("home")), strict=True))


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The output of the blocks of the plug-ins, in a checkout as it came."""
    place = document_runner.checkout(ROOT, tmp_path_factory.mktemp("plugins") / "worldfs")
    page, home = place / "plugins.md", place.parent / "home"
    page.write_text(PLUGINS + PAGE.read_text("utf-8").partition(PLUGINS)[2], "utf-8")
    return dict(zip(SECTIONS[2:], _outputs(page, place, home), strict=True))


@pytest.mark.proof
def test_a_computed_file_is_one_row_and_one_function(place: Path, said: dict[str, str]) -> None:
    text = said["file"]
    assert "1 passed" in text or re.search(r"^\. +\[100%\]", text, re.M)
    assert "docs: written: docs/protocol/files.md" in text
    assert "DRIVERS.json" in (place / "docs/protocol/files.md").read_text("utf-8")
    assert "simulation" in json.loads(text.splitlines()[-1])


@pytest.mark.proof
def test_a_document_is_a_row_a_reader_and_a_case_of_check(said: dict[str, str]) -> None:
    _, without, written = re.split(r"\d+ bytes written", said["document"])
    assert "SITE_CALL" in without and "call:" in without.casefold()
    assert "SITE_CALL" not in written and "Ada, 555-0100" in written
    assert written.rstrip().endswith("the watchdog does not see it")


def test_a_robot_joins_by_an_entry_point(plugged: dict[str, str]) -> None:
    assert "adapter.driver" not in plugged["robot"] and "config.safety" not in plugged["robot"]


def test_a_policy_client_joins_by_an_entry_point_and_moves_that_robot(plugged: dict[str, str]) -> None:
    text = plugged["policy"]
    assert "policy_client.type" not in text and "toy arm: connected" in text
    assert "sess_arm_001  arm go_on  failed" in text and '"MAX_STEPS_EXCEEDED"' in text
    assert '"policy": "steady"' in text and '"steps": 20' in text and '"clamped_steps": 20' in text
    (stopped, *_) = re.findall(r"toy arm: stopped at (\d\.\d\d) rad", text)
    assert 0.1 < float(stopped) < 1.0


def test_a_body_is_one_file_and_one_entry_point_and_does_a_job(plugged: dict[str, str]) -> None:
    text = plugged["body"]
    assert "a1  lamp_001 dim level=40  succeeded: brightness 40 %" in text and '"brightness": 40.0' in text
    assert re.search(r"a2  lamp_001 .* failed \(rejected\): .*expected a number", text)
    assert re.search(r"a3  lamp_001 .* failed \(rejected\): .*expected one of dim", text)
    checked = text.partition("level: number (percent)")[2]
    assert checked and "wrong:" not in checked and "NO_GL" in checked.splitlines()[-1]  # and nothing else


def test_an_importer_joins_by_an_entry_point(plugged: dict[str, str]) -> None:
    assert "new: 1 note" in plugged["importer"] and "already imported: 1 note" in plugged["importer"]
    assert plugged["importer"].count("The tap in room 3 drips after ten at night.") == 1


@pytest.mark.proof
def test_no_recipe_but_the_two_of_the_core_touches_the_core(place: Path, said: dict[str, str]) -> None:
    changed = {
        path.relative_to(place).as_posix()
        for path in (place / "src").rglob("*.py")
        if not (ROOT / path.relative_to(place)).is_file()
        or path.read_bytes() != (ROOT / path.relative_to(place)).read_bytes()
    }
    assert changed == {
        "src/worldfs/formats/site_page.py",
        "src/worldfs/world/check.py",
        "src/worldfs/world/home_pages.py",
        "src/worldfs/world/layout/workspace_rows.py",
    }


@pytest.mark.proof
@pytest.mark.parametrize(
    "words",
    [
        ("-m", "ruff", "check", "--no-cache", "--quiet", "src"),
        ("-m", "ruff", "format", "--no-cache", "--check", "--quiet", "src"),
        ("scripts/docs.py", "check"),
        ("scripts/words.py",),
    ],
    ids=" ".join,
)
def test_what_the_recipes_leave_behind_passes_the_checks(
    place: Path, said: dict[str, str], words: tuple[str, ...]
) -> None:
    done = subprocess.run([sys.executable, *words], check=False, cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_interface_gets_the_tree_of_a_binding(tmp_path: Path) -> None:
    with ServedWorld.open(tmp_path, memory_only=True) as world:
        tree: BoundTree = world.attach(Binding(USER, "alice", ""))
        names = tree.walk("/").list()
        assert "meta" in names and "debug" not in names


def test_every_recipe_and_every_path_of_the_page_exists() -> None:
    text = PAGE.read_text("utf-8")
    recipes = set(re.findall(r"^(\w+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert set(re.findall(r"\bmake ([a-z]+)", re.sub(r"make (a|it)\b", "", text))) <= recipes
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    named = re.findall(r"`((?:src|tests|docs|scripts|requirements)/[\w./-]+)`", prose)
    assert named and not [path for path in named if "NAME" not in path and not (ROOT / path).exists()]


def test_the_entry_point_groups_of_the_page_are_those_of_the_code() -> None:
    assert set(re.findall(r"`(worldfs\.[a-z_]+)`", PAGE.read_text("utf-8"))) == set(GROUPS)


def test_continuous_integration_calls_the_recipe_of_a_person() -> None:
    flow = yamltext.parse((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    (job,) = flow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == ["make test"]
    (python,) = [step["with"]["python-version"] for step in job["steps"] if "with" in step]
    assert python == "${{ matrix.python }}" and job["env"]["PYTHON"] == f"python{python}"
    lowest = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    assert f">={job['strategy']['matrix']['python'][0]}" == lowest


def test_the_commit_hooks_call_what_the_checks_call() -> None:
    hooks = yamltext.parse((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    (local,) = hooks["repos"]
    checks = (ROOT / "scripts/check").read_text("utf-8")
    assert local["repo"] == "local"  # nothing is downloaded
    for hook in local["hooks"]:
        assert hook["language"] == "system"
        assert hook["entry"].replace(".venv/bin/", "") in checks, hook["id"]
