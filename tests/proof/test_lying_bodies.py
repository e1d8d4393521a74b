"""Every body that lies, and every judge that should say no: counted, so that the row of the proofs says how many."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]
LIES = (
    "robots/test_bodies_that_lie.py", "robots/skills/test_rekep_lies.py", "robots/test_support.py",
    "robots/targets/test_real_lies.py", "robots/test_carriers_that_lie.py",
)  # fmt: skip


def test_no_body_that_lies_has_succeeded() -> None:
    pytest.importorskip("mujoco", reason="the simulation is an extra")
    there = [f"tests/{name}" for name in LIES]
    gone = [name for name in there if not (ROOT / name).exists()]
    assert not gone, f"tests of lying bodies are gone: {gone}"
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *there]
    whole = {**os.environ, "PAOS_TEST_WHOLE": "1"}  # also the cases that are proof alone
    done = subprocess.run(words, cwd=ROOT, env=whole, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    found = re.search(r"(\d+) passed", done.stdout)
    assert found, done.stdout[-3000:]
    print(f"{found[1]} lies and near misses, 0 of them succeeded")
