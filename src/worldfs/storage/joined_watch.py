"""One watch over several stores: the changes of all but the first have a prefix before their key."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence

from worldfs.base.errors import WorldError

from .store_interface import StoreChange, StoreWatch


class JoinedWatch(StoreWatch):
    """A read waits for the first watch; the others have a thread each, from the first read that waits on."""

    def __init__(self, first: StoreWatch, others: Mapping[str, StoreWatch]) -> None:
        """`others`: by the prefix of their keys."""
        self._first, self._others = first, others
        self._heard: deque[StoreChange] = deque()
        self._failure: Exception | None = None
        self._listening = False
        self._closed = threading.Event()

    def read(self, timeout: float | None = None) -> Sequence[StoreChange]:
        if not self._listening:
            for prefix in self._others:
                self._hear(prefix, 0.0)
            if timeout != 0.0:
                self._listening = True
                for prefix in self._others:
                    threading.Thread(target=self._listen, args=(prefix,), name=f"watch {prefix}", daemon=True).start()
        changes = list(self._first.read(0.0 if self._heard else timeout))
        while self._heard:
            changes.append(self._heard.popleft())
        if self._failure is not None:
            raise self._failure
        return changes

    @property
    def limit(self) -> WorldError | None:
        return next((watch.limit for watch in (self._first, *self._others.values()) if watch.limit is not None), None)

    def wake(self) -> None:
        self._first.wake()

    def close(self) -> None:
        self._closed.set()
        for watch in self._others.values():
            watch.wake()
            watch.close()
        self._first.close()

    def _hear(self, prefix: str, timeout: float | None) -> bool:
        changes = self._others[prefix].read(timeout)
        self._heard.extend(StoreChange(prefix + change.key, change.kind) for change in changes)
        return bool(changes)

    def _listen(self, prefix: str) -> None:
        while not self._closed.is_set():
            try:
                if self._hear(prefix, None):
                    self.wake()
            except Exception as error:  # the reader of this watch gets it
                self._failure = error
                self.wake()
                return
