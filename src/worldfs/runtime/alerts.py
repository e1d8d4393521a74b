"""The current alerts: findings by the path they concern, in one file that is written when they change."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence

from worldfs.base.errors import StorageError, UserError
from worldfs.base.model import Finding
from worldfs.storage.lease import LEASE_LOST
from worldfs.storage.store_interface import Store

from .job_codec import finding_value
from .job_store import ALERTS

MOST = 100  # alerts kept beside those of stops, which are few for each robot; the oldest go first
OF_STOPS = "STOP_"  # what their codes begin with
MOST_OF_ONE = 20  # of one document, so that one bad file does not hide all others; `paos check` lists the rest


class Alerts:
    """Call it with a path and its finding, or None once it is repaired. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._hear: Callable[[Finding], None] = lambda finding: None
        self._found: dict[str, Finding] = {}
        self._changed = True  # the file still holds the state of an earlier run
        self.on_change: Callable[[], None] = lambda: None  # called from the thread that has changed one

    def __call__(self, where: str, finding: Finding | None) -> None:
        with self._lock:
            if self._found.get(where) == finding:
                return
            if finding is None:
                del self._found[where]
            else:
                self._found[where] = finding
            self._changed = True
            if len(self._found) > MOST:
                others = [at for at, one in self._found.items() if not one.code.startswith(OF_STOPS)]
                for at in others[: max(0, len(others) - MOST)]:
                    del self._found[at]
        if finding is not None:
            self._hear(finding)
        self.on_change()

    def listen(self, hear: Callable[[Finding], None]) -> None:
        """Call `hear` with each present finding, and with each new one from now on."""
        with self._lock:
            self._hear = hear
            found = list(self._found.values())
        for finding in found:
            hear(finding)

    def document(self, name: str, findings: Sequence[Finding]) -> None:
        """Set all findings of one document, each under its own path; the earlier ones of it are dropped."""
        places = {f"{name}#{item.field.removeprefix(name).strip()}": item for item in findings[:MOST_OF_ONE]}
        with self._lock:
            gone = [where for where in self._found if where.startswith(f"{name}#") and where not in places]
        for where in gone:
            self(where, None)
        for where, item in places.items():
            self(where, item)

    def rewrite(self) -> None:
        """The file was removed: the next `publish` writes it again."""
        with self._lock:
            self._changed = bool(self._found)

    def now(self) -> dict[str, Finding]:
        with self._lock:
            return dict(self._found)

    def publish(self) -> None:
        """Write what changed and could not be written before; a projection, so its name need not be durable."""
        with self._lock:
            if not self._changed:
                return
            self._changed = False
            value = {where: finding_value(item) for where, item in self._found.items()}
        data = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace")
        try:
            stored = self._store.get(ALERTS)
            if data != (stored.data if stored is not None else b"{}"):
                self._store.put(ALERTS, data, durable=False)
        except UserError:  # a link or a directory has its name: `paos check` and `paos status` report it
            pass
        except StorageError as error:  # a full disk ends no kernel that has only to say so: the next call tries again
            if error.code == LEASE_LOST:
                raise
            self._changed = True
