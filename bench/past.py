"""What a look into the past costs: one document with 10,000 versions, asked for at random times.

Each read is by a world that has just opened the home, and so knows nothing of the log. The floor is the same world's
read of the present document, in the same run.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from ._stand import make_workspace, percentile, scratch

FIGURES = ("at.read_ms", "at.disk_over_changed")
VERSIONS = 10_000
READS = 300
PATH = "/projects/main/ENVIRONMENT.md"


def run() -> dict[str, float]:
    with scratch() as place:
        workspace = make_workspace(place / "past")
        copies, changed, kept = _write(workspace)
        cold, warm, present = _read(workspace, copies)
    return {
        "at.read_ms": percentile(cold, 0.99) * 1000,
        "at.read_p50_ms": percentile(cold, 0.5) * 1000,
        "at.read_warm_p50_ms": percentile(warm, 0.5) * 1000,
        "at.read_present_p50_ms": percentile(present, 0.5) * 1000,
        "at.disk_over_changed": kept / changed,
    }


def _write(workspace: Path) -> tuple[list[tuple[int, bytes]], int, int]:
    """(time, content) of each version, the bytes written, and those of the logs. Only the waits for the disk are left
    out: what lies there is the same."""
    from worldfs.base.clock import epoch_ns
    from worldfs.base.disk import Disk
    from worldfs.storage.disk_store import DiskStore
    from worldfs.world.layout.versioned_rows import VERSIONED
    from worldfs.world.world import GUARDED

    class NoWait(Disk):
        def fsync(self, fd: int, path: str, *, data_only: bool = False) -> None:
            pass

        def fsync_dir(self, fd: int, path: str) -> None:
            pass

    store = DiskStore(workspace, NoWait(), guarded=GUARDED, versioned=VERSIONED)
    store.aside.grace = 0  # what is displaced is given up at once, as it is between writes a second apart
    lot, copies = random.Random(1), []  # the same at every run
    try:
        for number in range(VERSIONS):
            objects = "".join(f"| cube_{n} | {lot.random():.4f} | {lot.random():.4f} |\n" for n in range(40))
            data = f"# ENVIRONMENT\n\nversion {number}\n\n{objects}".encode()
            store.put("ENVIRONMENT.md", data)
            copies.append((epoch_ns(store.clock.now()), data))
        return copies, sum(len(data) for _, data in copies), store.history.size()
    finally:
        store.close()


def _read(workspace: Path, copies: list[tuple[int, bytes]]) -> tuple[list[float], list[float], list[float]]:
    from worldfs.namespace.past_time import time_name
    from worldfs.world.world import World

    cold: list[float] = []
    warm: list[float] = []
    present: list[float] = []
    lot = random.Random(2)  # the same at every run
    for _ in range(READS):
        with World.open(workspace) as world:
            tree = world.namespace("operator")
            for took in (cold, warm):
                at, data = lot.choice(copies)
                began = time.perf_counter()
                found = tree.read(f"/at/{time_name(at)}{PATH}").data
                took.append(time.perf_counter() - began)
                if found != data:
                    raise RuntimeError(f"the answer for {time_name(at)} is another version")
            began = time.perf_counter()
            tree.read(PATH)
            present.append(time.perf_counter() - began)
    return cold, warm, present
