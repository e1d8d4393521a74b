"""The watch of a store that is told of each change: it keeps one report a key until it is read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from .store_interface import StoreChange, StoreChangeKind, StoreWatch


class CoalescingWatch(StoreWatch):
    """The store calls `notify` with every change; `closed` takes the watch off its list."""

    def __init__(self, prefixes: tuple[str, ...], closed: Callable[[CoalescingWatch], None]) -> None:
        self._prefixes, self._closed = prefixes, closed
        self._ready = threading.Condition()
        self._changes: dict[tuple[str, StoreChangeKind], None] = {}
        self._woken = False
        self._failure: Exception | None = None

    def notify(self, key: str, kind: StoreChangeKind, *, folder: bool) -> None:
        above = key.rpartition("/")[0]
        with self._ready:
            for prefix in self._prefixes:
                if folder and (prefix == key or prefix.startswith(f"{key}/")):
                    self._changes[prefix, StoreChangeKind.RESYNC] = None  # a whole directory was moved here or away
                elif prefix in (key, above):
                    self._changes.pop((key, StoreChangeKind.PUT), None)
                    self._changes.pop((key, StoreChangeKind.DELETE), None)
                    self._changes[key, kind] = None
            if self._changes:
                self._ready.notify_all()

    def resync(self) -> None:
        """Changes may have been missed: every prefix is reported."""
        with self._ready:
            self._changes.update(((prefix, StoreChangeKind.RESYNC), None) for prefix in self._prefixes)
            self._ready.notify_all()

    def fail(self, error: Exception) -> None:
        """Every later `read` raises this."""
        with self._ready:
            self._failure = error
            self._ready.notify_all()

    def read(self, timeout: float | None = None) -> Sequence[StoreChange]:
        with self._ready:
            self._ready.wait_for(lambda: self._woken or self._changes or self._failure, timeout)
            if self._failure is not None:
                raise self._failure
            self._woken = False
            changes = [StoreChange(key, kind) for key, kind in self._changes]
            self._changes.clear()
            return changes

    def wake(self) -> None:
        with self._ready:
            self._woken = True
            self._ready.notify_all()

    def close(self) -> None:
        self._closed(self)
