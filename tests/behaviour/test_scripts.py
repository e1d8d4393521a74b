"""Every script beside this file, on a disk and in memory (`*.disk.txt`: on a disk only)."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldfs.testing.behaviour_script import run

pytest.importorskip("worldfs.formats.action")

SCRIPTS = sorted(Path(__file__).parent.glob("*.txt"))
CASES = [
    (script, disk) for script in SCRIPTS for disk in (True, False) if disk or not script.name.endswith(".disk.txt")
]


@pytest.mark.parametrize(
    ("script", "disk"), CASES, ids=[f"{script.stem}-{'disk' if disk else 'memory'}" for script, disk in CASES]
)
def test_script(script: Path, disk: bool, tmp_path: Path) -> None:
    run(script, tmp_path, disk=disk)
