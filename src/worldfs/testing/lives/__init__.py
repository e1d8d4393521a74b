"""Lives: what a program does step by step, and how to tell afterwards how far it came. Cut off by power cuts and kills.

`live` is a generator: it does the next thing and yields its name, which acknowledges it. After any crash `view` must
show what the acknowledged steps made, and of the one step under way everything, nothing or a beginning (endure.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from worldfs.ground.disk import Disk

View = Mapping[str, Any]
"""What is there, by names. Tuples may be there up to a place, frozensets in part; everything else is whole."""


class Workload(NamedTuple):
    """`live`, `again`: the directory and the disk to write it through."""

    name: str
    prepare: Callable[[Path], None]
    """Puts there what is durable before the life begins."""
    live: Callable[[Path, Disk], Iterator[str]]
    again: Callable[[Path, Disk], Iterator[str]]
    """Who comes after a crash: recovers, and goes on with other things."""
    view: Callable[[Path], View]
    """Opens with the real recovery; raises if a file cannot be read or an invariant is broken."""


WORKLOADS: Final = (
    "store", "log", "jobs", "kernel", "calls", "plane", "journal", "agent", "claims", "memory", "node",
)  # fmt: skip


def load_workload(name: str) -> Workload:
    """A life by its name."""
    from importlib import import_module

    found = import_module(f"{__name__}.{name}_workload").LIFE
    assert isinstance(found, Workload)
    return found
