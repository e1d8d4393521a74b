"""The wheel in an environment of its own, with the base alone and with each extra alone: what a person does first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from tests.interfaces.test_each_extra import closure, is_here

from worldfs.base.extras import EXTRAS

pytestmark = pytest.mark.proof

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ROOT / "tests/interfaces/every_command.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the files that git knows: a build leaves its own beside them."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    for name in filter(None, listed.decode().split("\0")):
        if name.startswith("src/") or name in ("pyproject.toml", "README.md", "LICENSE"):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    pip = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(made),
        str(source),
    ]
    subprocess.run(pip, check=True)
    (found,) = made.glob("worldfs-*.whl")
    return found


def environment(place: Path, wheel: Path, *extras: str) -> Path:
    """A Python with the wheel and what it needs, linked from this environment; `paos` is as pip makes it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (packages,) = place.glob("lib/python3*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    for name in closure(*extras):
        for file in distribution(name).files or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:
                link = packages / file
                link.parent.mkdir(parents=True, exist_ok=True)
                if not link.exists():
                    link.symlink_to(Path(str(file.locate())).resolve())
    program = place / "bin/paos"
    program.write_text(
        f"#!{place}/bin/python\nimport sys\nfrom worldfs.interfaces.cli.start import start\nsys.exit(start())\n"
    )
    program.chmod(0o755)
    return place


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_no_command_of_the_wheel_ends_as_a_bug_where_only_this_extra_is_installed(
    extra: str, wheel: Path, tmp_path: Path
) -> None:
    if not is_here(extra):
        pytest.skip(f"worldfs[{extra}] is not installed")
    place = environment(tmp_path / "environment", wheel, *([extra] if extra else []))
    plain = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    (tmp_path / "run").mkdir()
    done = subprocess.run(
        [place / "bin/python", "-B", COMMANDS, tmp_path / "run"],
        env={**plain, "EVERY_COMMAND_SHOWS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-3000:]
    said = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    missing = [line for line in said if "is not installed — pip install 'worldfs[" in line["said"]]
    print(f"{len(said)} command lines, {len(missing)} of them name the extra that they need, 0 end as a bug of ours")


def test_the_commands_that_onboard_proposes_work_in_an_installation_of_the_base(wheel: Path, tmp_path: Path) -> None:
    place = environment(tmp_path / "environment", wheel)
    plain = {"PATH": f"{place / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path)}

    def paos(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([place / "bin/paos", *words], env=plain, capture_output=True, text=True, check=False)

    said = paos("--home", str(tmp_path / "home"), "onboard").stdout.splitlines()
    assert "first: pip install 'worldfs[sim]'    (mujoco is not installed)" in said
    assert said[-1].startswith(f"next: paos --home {tmp_path / 'home'} up ")
    for words in (["do", "clear the table"], ["up"]):
        done = paos("--home", str(tmp_path / "home"), *words)
        assert (done.returncode, done.stderr) == (2, "paos: mujoco is not installed — pip install 'worldfs[sim]'\n")
    program = "from worldfs.client import connect; print(connect.__name__)"
    done = subprocess.run([place / "bin/python", "-c", program], env=plain, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("connect\n", "")
