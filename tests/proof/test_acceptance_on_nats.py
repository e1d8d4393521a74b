"""The acceptance tests that see only commands and files, on a home that is kept on NATS."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLIND = (
    "test_every_action.py",
    "test_specification_example.py",
    "test_lessons_are_heeded.py",
    "test_chinese_workspace.py",
    "test_stop.py",
    "test_approval.py",
    "test_never_moves.py",
)
# Pictures are no documents, and the disk's own bytes are the disk's own promise.
NOT_YET = "not sees_what_it_looked_for and not change_nothing_on_the_disk"
PATIENCE_S = 1200


@pytest.mark.proof
def test_commands_and_files_are_the_same_on_nats(nats_server) -> None:
    tests = [str(ROOT / "tests/acceptance" / name) for name in BLIND]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", NOT_YET, *tests],
        cwd=ROOT, env={**os.environ, "PAOS_STORE": "nats", "PAOS_TEST_WHOLE": "1"}, capture_output=True, text=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:]
    passed = done.stdout.partition("[")[0].count(".")
    assert passed >= 20, done.stdout
    print(f"{passed} acceptance tests on NATS")
