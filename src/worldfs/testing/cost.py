"""What work costs, in calls of functions, CPU time and memory: the same on every machine, however busy."""

from __future__ import annotations

import resource
import signal
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType


def calls(work: Callable[[], object]) -> int:
    """How many functions, of Python and of C, it calls in this thread."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


ENDLESS_S = 20.0  # CPU time of one case, after which the system ends the process


@dataclass(slots=True)
class Spent:
    """What one case took: CPU seconds of this thread, and bytes at its highest above what there was before."""

    cpu_s: float = 0.0
    peak: int = 0


def confine(room: int) -> None:
    """From now on this process gets no more than `room` bytes of address space, and traces what it allocates.

    For a process of its own: a test's own process would keep the limit.
    """
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.getrlimit(resource.RLIMIT_AS)[1]))
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    tracemalloc.start()


@contextmanager
def spending() -> Iterator[Spent]:
    """Measures one case in a confined process; a case without an end is ended by the system (SIGVTALRM).

    CPU time and not the time of day: a busy machine changes nothing.
    """
    found = Spent()
    signal.setitimer(signal.ITIMER_VIRTUAL, ENDLESS_S)
    tracemalloc.reset_peak()
    before, began = tracemalloc.get_traced_memory()[0], time.thread_time()
    try:
        yield found
    finally:
        found.cpu_s, found.peak = time.thread_time() - began, tracemalloc.get_traced_memory()[1] - before
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
