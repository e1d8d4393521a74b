"""What is wrong now: findings by the place they concern, in one file that is written when they change."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict

from worldfs.ground.errors import UserError
from worldfs.ground.model import Finding
from worldfs.tree.stores.store_interface import Store

from .job_store import ALERTS

MOST = 100  # alerts kept; the oldest go first
MOST_OF_ONE = 20  # of one document, so that one bad file does not hide all others; `paos check` says the rest


class Alerts:
    """Called with a place and its finding, or None once it is mended. Usable from lanes and the kernel alike."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._hear: Callable[[Finding], None] = lambda finding: None
        self._found: dict[str, Finding] = {}
        self._changed = True  # what an earlier run left in the file was its state, not ours

    def __call__(self, where: str, finding: Finding | None) -> None:
        with self._lock:
            if finding is None:
                self._changed |= self._found.pop(where, None) is not None
                return
            if self._found.get(where) == finding:
                return
            self._found[where] = finding
            self._changed = True
            while len(self._found) > MOST:
                del self._found[next(iter(self._found))]
        self._hear(finding)

    def listen(self, hear: Callable[[Finding], None]) -> None:
        """Have `hear` told of each finding that is there, and of each that is new from now on."""
        with self._lock:
            self._hear = hear
            found = list(self._found.values())
        for finding in found:
            hear(finding)

    def document(self, name: str, findings: Sequence[Finding]) -> None:
        """All that is wrong in one document now, a place each; what was wrong before and is not now is dropped."""
        places = {f"{name}#{item.field.removeprefix(name).strip()}": item for item in findings[:MOST_OF_ONE]}
        with self._lock:
            gone = [where for where in self._found if where.startswith(f"{name}#") and where not in places]
        for where in gone:
            self(where, None)
        for where, item in places.items():
            self(where, item)

    def again(self) -> None:
        """The file has gone: it is written anew."""
        with self._lock:
            self._changed = bool(self._found)

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
        with suppress(UserError):  # a link or a directory in its place: `paos check` and `paos status` name it
            stored = self._store.get(ALERTS)
            if data != (stored.data if stored is not None else b"{}"):
                self._store.put(ALERTS, data, durable=False)
