"""No message of a policy server costs much more than its own size, whatever it says of itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PICKLES, MESSAGES = "pickle_cost_process.py", "message_cost_process.py"


@pytest.mark.slice(4)
@pytest.mark.parametrize(("surroundings", "drawn"), [(1, 200), (1, 1_000), (20, 20_000), (66, 100_000)])
def test_each_opcode_of_a_pickle_with_each_size_ends_soon_and_in_little_memory(surroundings, drawn):
    assert ended(PICKLES, surroundings, drawn).endswith("pickles")


@pytest.mark.slice(3)
@pytest.mark.parametrize("every", [23, 7, 1])
def test_each_length_that_a_message_can_say_ends_soon_and_in_little_memory(every):
    pytest.importorskip("msgpack", reason="msgpack is of the extra worldfs[policies]")
    assert ended(MESSAGES, every).endswith("messages")


def ended(file: str, *given: object) -> str:
    """The last line of a process that measures itself; it fails with the lines of what took too much."""
    command = [sys.executable, "-W", "error", HERE / file, *map(str, given)]
    ran = subprocess.run(command, capture_output=True, check=False)
    said = ran.stdout.decode("utf-8", "replace").replace("\r", "\n").splitlines()
    bad = [line for line in said if line.startswith("TOO MUCH")]
    assert ran.returncode == 0, (ran.returncode, bad or said[-1:], ran.stderr[-2000:])
    return said[-1]
