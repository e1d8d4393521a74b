"""No pickle of a policy server costs much more than its own size, whatever it asks for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROCESS = Path(__file__).with_name("pickle_cost_process.py")


@pytest.mark.slice(2)
@pytest.mark.parametrize(("surroundings", "drawn"), [(1, 1_000), (66, 100_000)])
def test_each_opcode_with_each_size_ends_soon_and_in_little_memory(surroundings, drawn):
    given = [sys.executable, "-W", "error", PROCESS, str(surroundings), str(drawn)]
    ran = subprocess.run(given, capture_output=True, check=False)
    said = ran.stdout.decode().replace("\r", "\n").splitlines()
    bad = [line for line in said if line.startswith("TOO MUCH")]
    assert ran.returncode == 0, (ran.returncode, bad or said[-1:], ran.stderr[-2000:])
    assert said[-1].endswith("pickles")
