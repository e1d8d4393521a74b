"""What a driver has found out about its robot that makes a later confirmation harder: its next one must know it."""

from __future__ import annotations

import threading
from typing import Final

REST: Final = "*"  # the fact that stands for each one that is not known by its name


class DriverMemory:
    """Facts by name, as JSON values. From any thread. This class keeps them while it lives; a kernel's are stored."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # of the facts; nothing is waited for under it
        self._facts: dict[str, object] = {}

    def recall(self, name: str) -> object:
        """None: nothing was found out. True, where it was another value: something was, and it cannot be read."""
        with self._lock:
            return self._facts.get(name, self._facts.get(REST))

    def keep(self, name: str, value: object) -> None:
        """`value` None: it holds no longer. Durable when it returns, where it can be stored."""
        self._change(name, value)

    def note(self, name: str, value: object) -> None:
        """As `keep`, but it waits for nothing: a thread of its own stores the fact."""
        self._change(name, value)

    def _change(self, name: str, value: object) -> bool:
        """Whether that was not known."""
        with self._lock:
            if self._facts.get(name, self._facts.get(REST)) == value:
                return False
            self._facts[name] = value
            return True
