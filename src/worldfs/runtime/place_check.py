"""Whether a kernel still serves what its path leads to: asked now and then, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from worldfs.base.errors import WorldError

CHECK_S: Final = 1.0


class PlaceCheck:
    """From `start` to `close`. A disk that does not answer holds up this thread alone."""

    def __init__(self, keep: Callable[[], None], lost: Callable[[WorldError], None]) -> None:
        """`keep` raises once the place is another's; then `lost` is called, and not asked now and then any more."""
        self._keep, self._lost = keep, lost
        self._closed = threading.Event()
        self._asking = threading.Lock()  # `keep` is called by one thread at a time
        self._thread = threading.Thread(target=self._run, name="place check", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self, seconds: float = CHECK_S) -> None:
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def demand(self) -> None:
        """Raises as `keep` does. From any thread: after an error that it may explain, and after a write that must be
        found at the path."""
        try:
            with self._asking:
                self._keep()
        except WorldError as error:
            self._lost(error)
            raise

    def _run(self) -> None:
        while not self._closed.wait(CHECK_S):
            try:
                self.demand()
            except WorldError:
                return
