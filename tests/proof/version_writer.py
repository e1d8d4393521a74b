"""Writes documents of a workspace until it is killed; prints each write before it, and once it is acknowledged."""

from __future__ import annotations

import random
import sys

from worldfs.base.clock import epoch_ns
from worldfs.storage.disk_store import DiskStore
from worldfs.world.layout.versioned_rows import VERSIONED
from worldfs.world.world import GUARDED

KEYS = ("ENVIRONMENT.md", "TASK.md", "LESSONS.md", "skills/pour.md")


def main(place: str, seed: int) -> None:
    store, lot = DiskStore(place, guarded=GUARDED, versioned=VERSIONED), random.Random(seed)
    for number in range(1_000_000):
        key = lot.choice(KEYS)
        text = f"{seed} {number} " * lot.randrange(1, 200)
        print(f"begin {epoch_ns(store.clock.now())} {key} {text}", flush=True)
        store.put(key, text.encode())
        print(f"done {epoch_ns(store.clock.now())}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
