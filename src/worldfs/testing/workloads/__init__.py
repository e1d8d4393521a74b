"""Workloads: step-by-step programs for crash tests, and the check of how far each came after power cuts and kills.

`run` is a generator: it does the next step and yields its name, which acknowledges it. After any crash `inspect` must
show the effects of the acknowledged steps, and of the step in progress all, none or a prefix (crash_check.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from worldfs.base.disk import Disk

View = Mapping[str, object]
"""The visible state by name. Tuples may be a prefix, frozensets a subset; everything else is whole."""


class Workload(NamedTuple):
    """`run`, `restart`: arguments are the directory and the disk to write through."""

    name: str
    prepare: Callable[[Path], None]
    """Creates the durable initial state."""
    run: Callable[[Path, Disk], Iterator[str]]
    restart: Callable[[Path, Disk], Iterator[str]]
    """The next process after a crash: recovers, and goes on with other steps."""
    inspect: Callable[[Path], View]
    """Opens with the real recovery; raises if a file cannot be read or an invariant is broken."""


WORKLOADS: Final = (
    "store", "versions", "log", "jobs", "kernel", "calls", "plane", "journal", "agent", "claims", "memory", "node",
)  # fmt: skip


def load_workload(name: str) -> Workload:
    """A workload by its name."""
    from importlib import import_module

    found = import_module(f"{__name__}.{name}_workload").LIFE
    assert isinstance(found, Workload)
    return found
