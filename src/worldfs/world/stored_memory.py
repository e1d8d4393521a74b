"""What the drivers of a workspace have found out about their robots, over every start of a kernel.

    .paos/known/<node>.json    {fact: value}: what `DriverMemory.keep` was given

A file that cannot be read counts as one that says something of everything: a driver then confirms less, never more.
"""

from __future__ import annotations

import json
import threading
from typing import Final

from worldfs.base.driver_memory import REST, DriverMemory
from worldfs.base.errors import WorldError
from worldfs.base.json_text import parse_json
from worldfs.storage.store_interface import Store

KNOWN: Final = ".paos/known"
AGAIN_S: Final = 1.0  # between two tries to store what the store does not take


class DriverMemories:
    """Of one kernel. A driver that is made again is given the same memory."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._memories: dict[str, StoredMemory] = {}

    def of(self, node: str) -> DriverMemory:
        if node not in self._memories:
            self._memories[node] = StoredMemory(self._store, f"{KNOWN}/{node}.json")
        return self._memories[node]


class StoredMemory(DriverMemory):
    def __init__(self, store: Store, key: str) -> None:
        super().__init__()
        self._store, self._key = store, key
        self._writing = threading.Lock()  # of one write at a time
        self._again_at = 0.0  # `monotonic` of the next try
        self._noting = False  # a thread stores what was noted
        self._facts = self._read()
        self._stored = dict(self._facts)

    def keep(self, name: str, value: object) -> None:
        if self._change(name, value) or self._facts != self._stored:
            self._write()

    def note(self, name: str, value: object) -> None:
        self._change(name, value)
        now = self._store.clock.monotonic()
        with self._lock:
            due = not self._noting and self._facts != self._stored and now >= self._again_at
            self._noting = self._noting or due
        if due:
            try:
                threading.Thread(target=self._store_noted, name="driver memory", daemon=True).start()
            except RuntimeError:  # no more threads: with the next report
                self._noting = False

    def _store_noted(self) -> None:
        """Store all, also what is noted meanwhile; what the store does not take waits for the next report."""
        while self._noting:
            self._write()
            with self._lock:
                refused = self._store.clock.monotonic() < self._again_at
                self._noting = not refused and self._facts != self._stored

    def _write(self) -> None:
        with self._writing:
            with self._lock:
                facts = dict(self._facts)
            try:
                self._store.put(self._key, json.dumps(facts, indent=1).encode())
            except (WorldError, OSError):  # the second of a store that was closed
                self._again_at = self._store.clock.monotonic() + AGAIN_S
            else:
                self._stored = facts

    def _read(self) -> dict[str, object]:
        try:
            stored = self._store.get(self._key)
            found = {} if stored is None else parse_json(stored.data)
        except (WorldError, ValueError):
            found = None
        return found if isinstance(found, dict) else {REST: True}
