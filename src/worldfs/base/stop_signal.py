"""A request to stop that wakes what waits: a wait that it cannot wake would have to look again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class CtrlC(KeyboardInterrupt):
    """A person pressed Ctrl-C: raised by our own handlers, so that it is told from one that other code raises."""


class StopSignal(threading.Event):
    """An event that also calls what has registered with it, once. `set` from any thread, or from a signal handler."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[Callable[[], None]] = []

    def set(self) -> None:
        if self.is_set():
            return
        super().set()
        for call in tuple(self._calls):
            call()

    @contextmanager
    def calling(self, call: Callable[[], None]) -> Iterator[None]:
        """While entered, `set` calls `call`; it is called at once if the signal is set already.

        A `set` that runs at the moment of leaving may still call it afterwards.
        """
        self._calls.append(call)
        try:
            if self.is_set():
                call()
            yield
        finally:
            self._calls.remove(call)
