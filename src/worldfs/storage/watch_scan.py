"""The change feed of a disk store where there is no inotify, or none left: a scan of every prefix each interval."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput, UserError

from .store_interface import StoreChange, StoreChangeKind, StoreWatch

if TYPE_CHECKING:
    from .disk_store import DiskStore

INTERVAL = 0.25  # seconds between two scans
INOTIFY_LIMIT = "INOTIFY_LIMIT"  # the code of the error where the system has no inotify instance, or no watch, left


class ScanWatch(StoreWatch):
    """Costs one stat a file each interval; finds changes that last, not what existed between two scans."""

    def __init__(self, store: DiskStore, prefixes: tuple[str, ...], interval: float = INTERVAL) -> None:
        self._store, self._prefixes, self._interval = store, prefixes, interval
        self._bell = threading.Event()
        self._seen = self._look()
        self._told: set[str] = set()

    def read(self, timeout: float | None = None) -> Sequence[StoreChange]:
        until = None if timeout is None else self._store.clock.monotonic() + timeout
        while True:
            changes = self._compare()
            left = None if until is None else until - self._store.clock.monotonic()
            if changes or (left is not None and left <= 0):
                return changes
            if self._bell.wait(self._interval if left is None else min(left, self._interval)):
                self._bell.clear()
                return self._compare()

    def wake(self) -> None:
        self._bell.set()

    def close(self) -> None:
        self._bell.set()

    def _look(self) -> dict[str, str]:
        seen: dict[str, str] = {}
        for prefix in self._prefixes:
            token = self._store.probe(prefix) if prefix else "folder"
            if token is None:
                continue
            names = self._names(prefix)
            if names is None:
                seen[prefix] = token
                continue
            for name in names:
                key = f"{prefix}/{name}" if prefix else name
                if name.endswith("/"):
                    seen[key.rstrip("/")] = "folder"
                else:
                    seen[key] = self._token(key)
        return seen

    def _names(self, prefix: str) -> list[str] | None:
        try:
            return self._store.list(prefix)
        except BadInput:
            return None  # a file

    def _token(self, key: str) -> str:
        try:
            return self._store.probe(key) or ""
        except UserError as error:
            return error.code

    def _compare(self) -> list[StoreChange]:
        now, before = self._look(), self._seen
        self._seen = now
        changes = [StoreChange(key, StoreChangeKind.PUT) for key in now if now[key] != before.get(key)]
        changes += [StoreChange(key, StoreChangeKind.DELETE) for key in before if key not in now]
        self._store.review_displaced(None)
        waiting = {key for prefix in self._prefixes for key in self._store.aside.waiting(prefix)}
        changes += [StoreChange(key, StoreChangeKind.DISPLACED) for key in sorted(waiting - self._told)]
        self._told = waiting
        return changes
