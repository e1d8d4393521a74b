"""`make proof`: what each proof printed, the figures that it measured, becomes its row in docs/proofs.md."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from tests.proof.npm_package import installed

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # where `bench` is

from bench._published import commit, note  # after the path is set

ROOT = Path(__file__).resolve().parents[2]
PINNED = Path(__file__).parent / "command_line_agents"
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_MOST = 4  # kinds of lines in a row
_SHORTER = (
    "PAOS_MOUNT_KILLS",
    "PAOS_MOUNT_STRESS_S",
    "PAOS_PARTITIONS_S",
)  # a proof that is told to do less than its row says
PATH = re.compile(r"""(^|[\s'"=])/\w""")  # of a line that says where something is, which is no figure


class Rows:
    """Of each file of proofs: what its tests printed, how many passed, and how many did not."""

    def __init__(self) -> None:
        self.said: dict[str, list[str]] = {}
        self.passed: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.commit = commit()
        self.bad: set[str] = set()
        self.long: dict[str, bool] = {}

    def of(self, name: str) -> str:
        rows = list(totals(self.said.get(name, ())))[:_MOST]
        skipped = f", {self.skipped[name]} skipped" if self.skipped[name] else ""
        return "; ".join([f"{self.passed[name]} passed{skipped}", *rows])


def totals(lines: Iterable[str]) -> Iterator[str]:
    """Lines of one kind, but for their numbers and for what stands before a colon, as one with the sums."""
    found: dict[str, list[list[str]]] = {}
    for line in lines:
        text = re.sub(r", [\d,.]+ a second", "", line.strip())
        text = re.sub(r"^[^:{]{1,40}: ", "", text) if not text.startswith("{") else text
        if numbers := _NUMBER.findall(text):
            found.setdefault(_NUMBER.sub("\0", text), []).append(numbers)
    for kind, several in found.items():
        sums = [_sum(column) if len(several) > 1 else column[0] for column in zip(*several, strict=True)]
        words = iter(sums)
        yield re.sub("\0", lambda _, words=words: next(words), kind).replace("|", "/")


def _sum(column: Iterable[str]) -> str:
    """Of counts the sum; of measures the greatest."""
    texts = [text.replace(",", "") for text in column]
    return max(texts, key=float) if any("." in text for text in texts) else f"{sum(map(int, texts)):,}"


_KEY = pytest.StashKey[Rows]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_KEY] = Rows()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: pytest.TestReport = yield  # type: ignore[misc]  # pluggy sends the result
    rows = item.config.stash.setdefault(_KEY, Rows())
    name = item.path.stem
    if item.get_closest_marker("proof"):
        if report.failed:
            rows.bad.add(name)
        elif report.skipped:
            rows.skipped[name] += 1
        elif report.when == "call" and report.passed:
            rows.passed[name] += 1
            said = (line for line in report.capstdout.splitlines() if not PATH.search(line))
            rows.said.setdefault(name, []).extend(said)
    return report  # type: ignore[return-value]  # same


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Only whole files: what was chosen by name or was interrupted says nothing of the others.

    Nor does a run in which the code was exchanged under it, or that was told to do less.
    """
    rows, config = session.config.stash.get(_KEY, Rows()), session.config
    if config.option.keyword or config.option.capture == "no" or any("::" in word for word in config.args):
        return
    if (
        exitstatus == pytest.ExitCode.INTERRUPTED
        or rows.commit != commit()
        or any(name in os.environ for name in _SHORTER)
    ):
        return
    note({name: rows.of(name) for name in rows.passed if name not in rows.bad})


@pytest.fixture(scope="session")
def programs() -> Path:
    """A folder with `claude`, `codex`, `gemini` and `opencode`. Skips, saying so, where they cannot be had."""
    home = installed(PINNED, "command-line-agents", "node_modules/@google")
    made = home / "bin"
    made.mkdir(exist_ok=True)
    modules = home / "node_modules"
    real = {
        "claude": next(iter(sorted(modules.glob("@anthropic-ai/claude-code-*/claude"))), None),
        "codex": modules / ".bin/codex",
        "gemini": modules / ".bin/gemini",
        "opencode": next(iter(sorted(modules.glob("opencode-*/bin/opencode"))), None),
    }
    for name, path in real.items():
        if path is None or not path.exists():
            pytest.skip(f"{name} is not published for this machine")
        (made / name).unlink(missing_ok=True)
        (made / name).symlink_to(path)
    return made
