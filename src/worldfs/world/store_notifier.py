"""Publishes changes of a store to the change feed: other processes write its files past this one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import WorldError

if TYPE_CHECKING:
    from worldfs.storage.store_interface import StoreChange, StoreWatch

PAUSE_S: Final = 0.05  # between two publications: the feed remembers only so many


class StoreNotifier:
    """A thread that reads a watch and calls `publish`, until `close`, which closes the watch as well."""

    def __init__(self, watch: StoreWatch, publish: Callable[[Sequence[StoreChange]], None]) -> None:
        self._watch, self._publish = watch, publish
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="paos-news", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._watch.wake()
        self._thread.join()
        self._watch.close()

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                changes = self._watch.read()
            except WorldError:  # the directory has gone: nothing more to publish
                return
            if not self._over.is_set():
                self._publish(changes)
            self._over.wait(PAUSE_S)
