"""What is wrong now: findings by the place they concern, in one file that is written when they change."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict

from worldfs.ground.model import Finding
from worldfs.tree.stores.contract import Store

from .jobs import ALERTS

MOST = 100  # alerts kept; the oldest go first


class Alerts:
    """Called with a place and its finding, or None once it is mended. Usable from lanes and the kernel alike."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._found: dict[str, Finding] = {}
        # What an earlier run left in the file was its state, not ours.
        self._changed = store.probe(ALERTS) is not None

    def __call__(self, where: str, finding: Finding | None) -> None:
        with self._lock:
            if finding is None:
                self._changed |= self._found.pop(where, None) is not None
            elif self._found.get(where) != finding:
                self._found[where] = finding
                self._changed = True
                while len(self._found) > MOST:
                    del self._found[next(iter(self._found))]

    def now(self) -> dict[str, Finding]:
        with self._lock:
            return dict(self._found)

    def tell(self) -> None:
        """Write what changed; a projection, so its name need not be durable."""
        with self._lock:
            if not self._changed:
                return
            self._changed = False
            value = {where: asdict(item) for where, item in self._found.items()}
        data = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace")
        stored = self._store.get(ALERTS)
        if stored is None or stored.data != data:
            self._store.put(ALERTS, data, durable=False)
