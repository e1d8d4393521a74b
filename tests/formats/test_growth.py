"""Reading a document costs in proportion to its size: one of any length holds up no kernel, stop or page."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from worldfs.base.errors import WorldError
from worldfs.formats import action, embodied, environment, lessons_file, orchestrator, task
from worldfs.formats.agent import memory
from worldfs.formats.runtime import sessions, skills, targets

READERS: dict[str, Callable[[bytes], object]] = {
    "EMBODIED.md": embodied.read, "ACTION.md": action.read, "ENVIRONMENT.md": environment.read,
    "LESSONS.md": lessons_file.read, "ORCHESTRATOR.md": orchestrator.read, "TASK.md": task.read,
    "memory.md": memory.read, "SESSIONS.md": sessions.read, "SKILLS.md": skills.read, "TARGETS.md": targets.read,
}  # fmt: skip
LINES = ("\n", "\r", "# a\n", "- a: 1\n", "| a |\n", "a ")
FEW, TIMES = 150, 8


def calls(read: Callable[[bytes], object], data: bytes) -> int:
    """How many functions reading calls: no time, and the same on each machine."""
    count = 0

    def note(frame: FrameType, event: str, about: object) -> None:
        nonlocal count
        count += event.endswith("call")

    sys.setprofile(note)
    try:
        with contextlib.suppress(WorldError):
            read(data)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", READERS)
def test_a_document_eight_times_as_long_costs_no_multiple_of_that(name):
    read = READERS[name]
    for line in LINES:
        few, many = (b"# T\n\n" + line.encode() * n for n in (FEW, FEW * TIMES))
        calls(read, few)  # what is kept from here on
        assert calls(read, many) < 2 * TIMES * max(calls(read, few), 100), f"{line!r}: quadratic is {TIMES * TIMES}"
