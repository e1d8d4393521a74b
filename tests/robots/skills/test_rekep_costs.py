"""No operation of a constraint costs much, whatever its arguments: neither time nor memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run

from .conftest import CUBE

PROCESS = Path(__file__).with_name("constraint_cost_process.py")


@pytest.mark.slice(2)
@pytest.mark.parametrize("samples", [1, 60])
def test_each_operation_with_extreme_arguments_ends_soon_and_in_little_memory(samples):
    ran = subprocess.run(
        [sys.executable, "-W", "error", PROCESS, str(samples)], capture_output=True, text=True, check=False
    )
    said = ran.stdout.replace("\r", "\n").splitlines()
    bad = [line for line in said if line.startswith("TOO MUCH")]
    assert ran.returncode == 0, (ran.returncode, bad or said[-1:], ran.stderr[-2000:])
    assert "evaluations" in said[-1]


SLOW = "num_stages = 1\ngrasp_keypoints = [-1]\nrelease_keypoints = [-1]\n\n" + "\n".join(
    f"def stage1_subgoal_constraint{number}(end_effector, keypoints):\n    x = 0\n    for i in range(100):\n"
    f"        for j in range(9):\n            x += 1\n    return x\n"
    for number in range(1, 65)
)


def test_a_program_that_uses_all_its_steps_everywhere_is_still_reviewed(stand):
    """Each evaluation is within its budget, and a search has a hundred thousand: they have a budget together."""
    assert stand(CUBE).review("x", constraints={"program": SLOW, "keypoints": ["cube_01.centre"]}) == []


def test_a_stop_ends_a_search_at_the_next_evaluation(stand):
    table, asked = stand(CUBE), []

    class Stopped(Run):
        @property
        def stop(self) -> str:
            asked.append(1)
            return "cancelled" if len(asked) > 20 else ""

    clock = SystemClock()
    done = table.do("x", run=Stopped(clock, clock.monotonic() + 1e6),
                    constraints={"program": SLOW, "keypoints": ["cube_01.centre"]})  # fmt: skip
    assert done.code == "CANCELLED" and len(asked) < 30, (done, len(asked))
