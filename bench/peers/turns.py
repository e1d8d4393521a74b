"""The loop that every store's program runs: it does as many operations as a line says, and times each of them itself.

`put N` → {"us": [microseconds of each acknowledged operation], "refused": how many raised}; `count` → {"count": N}.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, Protocol

BYTES = 300


class Store(Protocol):
    def item(self, key: str, text: str) -> Any:
        """What `put` will be given; not timed."""

    def put(self, item: Any) -> None:
        """Acknowledged when it returns."""

    def count(self) -> int:
        """What is there, whoever put it."""


def serve(store: Store) -> None:
    text = "x" * BYTES
    made = 0
    print("ready", flush=True)
    for line in sys.stdin:
        word, _, number = line.partition(" ")
        if word.strip() == "count":
            print(json.dumps({"count": store.count()}), flush=True)
            continue
        took, refused = [], 0
        for _ in range(int(number)):
            made += 1
            item = store.item(f"{os.getpid()}-{made}", text)
            began = time.perf_counter()
            try:
                store.put(item)
            except Exception as error:
                refused += 1
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
            else:
                took.append(1e6 * (time.perf_counter() - began))
        print(json.dumps({"us": took, "refused": refused}), flush=True)
