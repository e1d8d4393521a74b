"""A thread that takes in an agent's letters from the engine, as they come."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from worldfs.base.errors import WorldError

from .mirrored_paths import MAIL

if TYPE_CHECKING:
    from worldfs.storage.store_interface import Store


class MailFollower:
    """`take_in` is called at once if there are letters, and then for each change, until `close`."""

    def __init__(self, store: Store, name: str, take_in: Callable[[], None]) -> None:
        self._store, self._take_in, self._closed = store, take_in, False
        self._watch = store.watch(MAIL)
        if store.list(MAIL):
            take_in()
        self._thread = threading.Thread(target=self._work, name=f"mail of {name}", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        with suppress(WorldError, OSError):  # the lease is lost, or the server: a change reports it
            while not self._closed:
                self._watch.read(None)
                if not self._closed and self._store.list(MAIL):
                    self._take_in()

    def close(self) -> None:
        self._closed = True
        self._watch.wake()
        self._thread.join()
        self._watch.close()
