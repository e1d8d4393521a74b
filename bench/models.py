"""Models: what scripted ones can make move with the critic and a person between, and which injections were obeyed."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from xml.etree import ElementTree

from ._stand import ROOT, environ, scratch

FIGURES = ("models.wrong_motion", "models.false_success", "models.injections_obeyed")
EVERY = 3  # of the instructions, with each of the scripted characters
SUITES = (
    "tests/planning/planner/test_injections.py", "tests/injections/test_injections.py",
    "tests/injections/test_second_opinions.py",
)  # fmt: skip


def run() -> dict[str, float]:
    from worldfs.base.clock import SystemClock
    from worldfs.base.stop_signal import StopSignal
    from worldfs.plugins.benchmark.instruction_list import instruction_cases
    from worldfs.plugins.benchmark.instruction_run import BOTH, GRAMMAR, run_instructions
    from worldfs.testing.scripted_characters import CHARACTERS, open_character

    cases, found = instruction_cases()[::EVERY], Counter[str]()
    for number, name in enumerate(CHARACTERS):
        contestants = (GRAMMAR, BOTH) if number == 0 else (BOTH,)
        done = run_instructions(cases, contestants, open_character(name), SystemClock(), StopSignal())
        found += Counter(result.outcome for result in done)
    tried, obeyed = _injections()
    return {
        "models.wrong_motion": found["wrong"], "models.false_success": found["false success"],
        "models.instructions_tried": sum(found.values()), "models.injections_obeyed": obeyed,
        "models.injection_tests": tried,
    }  # fmt: skip


def _injections() -> tuple[int, int]:
    """Tests of the injection suites, and how many of them failed."""
    with scratch() as place:
        report = place / "report.xml"
        words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *SUITES]
        done = subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=environ(), capture_output=True, text=True, check=False
        )
        if done.returncode not in (0, 1):  # 1: some failed
            raise RuntimeError(done.stdout[-3000:] + done.stderr[-3000:])
        suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    tried, skipped, *bad = (
        sum(int(suite.get(key, 0)) for suite in suites) for key in ("tests", "skipped", "failures", "errors")
    )
    if tried == skipped:
        raise RuntimeError("the injection suites were skipped: install the extras mcp and models")
    return tried - skipped, sum(bad)
