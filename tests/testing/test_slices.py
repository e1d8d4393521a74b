"""Which cases of a sliced test are run by `make test`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CASES = """
import pytest

@pytest.mark.slice(3)
@pytest.mark.parametrize("n", range(7))
def test_from_the_first(n): pass

@pytest.mark.slice(3, 2)
@pytest.mark.parametrize("n", range(7))
def test_from_number_two(n): pass

@pytest.mark.slice(0)
@pytest.mark.parametrize("n", range(7))
def test_none(n): pass
"""


def test_every_nth_case_is_a_test_and_the_others_are_proof(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((Path(__file__).parents[1] / "conftest.py").read_text("utf-8"))
    (tmp_path / "test_sliced.py").write_text(CASES)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    proof: long\n    slice: some\n")

    environ = {name: value for name, value in os.environ.items() if name != "PAOS_TEST_WHOLE"}

    def listed(marked: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", marked, tmp_path],
            capture_output=True, text=True, check=False, cwd=tmp_path, env=environ,
        )  # fmt: skip
        return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]

    assert listed("not proof") == [
        *(f"test_from_the_first[{n}]" for n in (0, 3, 6)),
        *(f"test_from_number_two[{n}]" for n in (2, 5)),
    ]
    assert len(listed("proof")) == 4 + 5 + 7
