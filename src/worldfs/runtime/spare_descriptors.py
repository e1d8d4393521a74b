"""File descriptors that are kept for a moment in which the process has no others left."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

COUNT: Final = 8  # a write opens the directories down to its file


class SpareDescriptors:
    """Usable from many threads. None is held before `fill` and after `close`."""

    def __init__(self) -> None:
        self._held: list[int] = []
        self._lock = threading.Lock()
        self._closed = False

    def fill(self) -> None:
        """Hold as many as there are to be had, up to `COUNT`."""
        with self._lock, suppress(OSError):
            while not self._closed and len(self._held) < COUNT:
                self._held.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Meanwhile they are free for the next files that are opened."""
        self._free()
        try:
            yield
        finally:
            self.fill()

    def close(self) -> None:
        self._closed = True
        self._free()

    def _free(self) -> None:
        with self._lock:
            held, self._held = self._held, []
        for descriptor in held:
            os.close(descriptor)
