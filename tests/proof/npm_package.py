"""Published programs and libraries from npm, by their lock file, in a folder below build/."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_FILES = ("package.json", "package-lock.json")


def installed(pinned: Path, name: str, there: str) -> Path:
    """The folder `build/<name>` with what the lock file of `pinned` names. Skips, saying so, where it cannot be had.

    `there`: what stands in it once everything is installed.
    """
    for program in ("npm", "node"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    home = Path(__file__).resolve().parents[2] / "build" / name
    lock = home / _FILES[1]
    if (home / there).exists() and lock.exists() and lock.read_bytes() == (pinned / _FILES[1]).read_bytes():
        return home
    home.mkdir(parents=True, exist_ok=True)
    for file in _FILES:
        shutil.copy(pinned / file, home / file)
    done = subprocess.run(
        # not `ci`: it wants the packages of all systems in the lock file, which not every registry has
        ["npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=home,
        capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"npm cannot install {name} here: {done.stderr[-300:]}")
    return home
