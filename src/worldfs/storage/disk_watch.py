"""The watch of a disk store: inotify, and where the system has none left a scan."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from worldfs.base.errors import StorageError, WorldError

from .store_interface import StoreChange, StoreChangeKind, StoreWatch
from .watch_scan import INOTIFY_LIMIT, ScanWatch

if TYPE_CHECKING:
    from .disk_store import DiskStore


class DiskWatch(StoreWatch):
    """A limit of the system slows the changes down, and loses none: they are found by a scan from then on."""

    def __init__(self, store: DiskStore, prefixes: tuple[str, ...], arrivals: Collection[str]) -> None:
        self._store, self._prefixes = store, prefixes
        self._limit: WorldError | None = None
        self._closed = threading.Event()
        self._watch: StoreWatch = self._begin(arrivals)

    @property
    def limit(self) -> WorldError | None:
        return self._limit

    def read(self, timeout: float | None = None) -> Sequence[StoreChange]:
        watch = self._watch
        try:
            return watch.read(timeout)
        except StorageError as error:
            if not _is_limit(error) or self._closed.is_set():
                raise
            self._limit, self._watch = error, ScanWatch(self._store, self._prefixes)
            watch.close()
            if self._closed.is_set():  # meanwhile
                self._watch.close()
            return [StoreChange(prefix, StoreChangeKind.RESYNC) for prefix in self._prefixes]

    def wake(self) -> None:
        self._watch.wake()

    def close(self) -> None:
        self._closed.set()
        self._watch.close()

    def _begin(self, arrivals: Collection[str]) -> StoreWatch:
        if hasattr(os, "eventfd"):  # Linux; nowhere else is there inotify
            from .watch_linux import LinuxWatch

            try:
                return LinuxWatch(self._store, self._prefixes, arrivals)
            except StorageError as error:
                if not _is_limit(error):
                    raise
                self._limit = error
        return ScanWatch(self._store, self._prefixes)


def _is_limit(error: StorageError) -> bool:
    return error.code == INOTIFY_LIMIT
