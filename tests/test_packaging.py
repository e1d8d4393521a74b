"""What is shipped and locked: the files that nobody runs in a test are read here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest

from worldfs.base.plugin_registry import GROUPS

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCKS = ("run", "dev")


def locked(name: str) -> dict[str, list[str]]:
    """Package → hashes, over all its pinned versions."""
    found: dict[str, list[str]] = {}
    package = ""
    for line in (ROOT / "requirements" / f"{name}.lock").read_text().splitlines():
        if pin := re.match(r"([A-Za-z0-9_.-]+)==\S+", line):
            package = normal(pin[1])
            found.setdefault(package, [])
        elif digest := re.search(r"--hash=sha256:([0-9a-f]{64})", line):
            found[package].append(digest[1])
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def wanted(requirements: list[str]) -> set[str]:
    names = (re.match(r"[A-Za-z0-9_.-]+", line.split("#")[0].strip()) for line in requirements)
    return {normal(found[0]) for found in names if found}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_holds_names_versions_and_hashes_and_nothing_else(name: str) -> None:
    marker = r"\(?[a-z_]+ (==|!=|<|>=) '[A-Za-z0-9.]+'\)?"
    pattern = re.compile(
        rf"[a-z0-9-]+==[0-9][A-Za-z0-9.]*( ; {marker}( (and|or) {marker})*)? \\"
        r"|    --hash=sha256:[0-9a-f]{64}( \\)?"
    )
    lines = (ROOT / "requirements" / f"{name}.lock").read_text().splitlines()
    assert [line for line in lines if not pattern.fullmatch(line)] == []


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_hashes(name: str) -> None:
    assert [package for package, hashes in locked(name).items() if not hashes] == []


def test_the_locks_hold_what_the_project_declares() -> None:
    extras = PROJECT["optional-dependencies"]
    run, dev = set(locked("run")), set(locked("dev"))
    tested = {
        "fleet",
        "local",
        "mcp",
        "models",
        "otel",
        "record",
        "shell",
        "top",
        "vda5050",
    }  # large, and asked for by those who want them
    # 95 MB that no test needs; a library that needs the network; robots' libraries, which nothing here answers; OpenCV,
    # which a proof installs in a folder of its own
    left_out = {"embed", "search", "franka", "lerobot", "calibration"}
    core = [item for name, extra in extras.items() if name not in tested | left_out for item in extra]
    assert wanted(PROJECT["dependencies"] + core) - run - {"worldfs"} == set()
    assert wanted([item for name in tested for item in extras[name]]) - dev - {"worldfs"} == set()
    assert run - dev == set()
    assert wanted((ROOT / "requirements/dev.in").read_text().splitlines()) - dev == set()


def test_compiled_packages_are_locked_for_more_than_one_platform() -> None:
    hashes = locked("run")
    few = {name: len(hashes[name]) for name in ("mujoco-core", "numpy", "pillow", "av") if len(hashes[name]) < 10}
    assert few == {}


def test_the_licence_is_apache_2_0_in_full() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert PROJECT["license"] == "Apache-2.0"
    assert "Apache License\n                           Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_scripts_are_executable_and_their_shell_takes_them() -> None:
    for script in [*(ROOT / "scripts").iterdir(), ROOT / ".ci/run"]:
        if script.suffix or script.is_dir():  # a check imports another: __pycache__
            continue
        assert os.access(script, os.X_OK), script
        shell = script.read_text().splitlines()[0].rsplit("/", 1)[1].removeprefix("env ")
        done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), script


def test_a_python_that_is_too_old_is_refused_with_words(tmp_path: Path) -> None:
    """`find_python` with nothing but an old python3 on its PATH."""
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.8.1" && exit 0\nexit 1\n')
    old.chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-c", f". '{ROOT}/scripts/python.sh'; find_python"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "needs Python 3.11 or newer; found: Python 3.8.1" in done.stderr


@pytest.mark.parametrize("root", [True, False])
def test_programs_of_the_tests_are_installed_or_said_to_be_missing(tmp_path: Path, root: bool) -> None:
    """`scripts/programs` on a machine that has but vim, and an apt-get that knows all packages but rsync's."""
    installer = """case "$*" in
        *rsync*) exit 100 ;;
        *fuse3*) echo "$*" >> {0}/asked; : > {0}/fusermount3; chmod +x {0}/fusermount3 ;;
    esac"""
    stubs = {"id": f"echo {0 if root else 1000}", "apt-get": installer.format(tmp_path), "vim": ""}
    for name, text in stubs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    for name in ("sh", "dirname", "cut", "chmod"):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    done = subprocess.run(
        ["sh", str(ROOT / "scripts/programs")],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = "no {0}: tests of the mount are skipped. For them: apt-get install {0}\n".format
    assert said("rsync") in done.stdout and "no vim" not in done.stdout
    assert (tmp_path / "asked").exists() is root
    assert ("no fusermount3" in done.stdout) is not root


def test_no_tracked_file_names_a_place_of_a_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    words = re.compile(rb"(?<![\w.-])/(?:root|home/[a-z]+|work|opt/pypi)/|find-links\s*=|index-url\s*=")
    found = []
    for name in listed.stdout.split("\0"):
        file = ROOT / name
        if name and file.is_file() and file.name != Path(__file__).name and words.search(file.read_bytes()):
            found.append(name)
    assert found == []


def test_the_package_starts_without_anything_but_the_standard_library() -> None:
    """The ground floor and the door's entrance must import where no extra is installed."""
    program = "import worldfs.base.model, worldfs.base.errors, worldfs.interfaces.cli.main; print('ok')"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("ok\n", "")


def test_the_installation_knows_the_entry_points_of_the_project() -> None:
    """Plug-ins of this package join by them: an installation that is older than the pyproject.toml misses some."""
    points = distribution("worldfs").entry_points
    installed = {(point.group, point.name, point.value) for point in points if point.group != "console_scripts"}
    groups = PROJECT["entry-points"].items()
    declared = {(group, name, value) for group, named in groups for name, value in named.items()}
    assert installed == declared, "run: scripts/bootstrap dev"
    assert all(point.load() for point in points if point.group in GROUPS)
