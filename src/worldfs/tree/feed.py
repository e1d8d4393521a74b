"""The change feed of a process: a number that grows, and whoever wants to hear of a topic.

A topic is a path of the tree, or a prefix of one: who listens to "/nodes" hears of "/nodes/x/STATUS.json". Nothing is
kept and nothing is consumed: a waiter looks, waits for the next number, and looks again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

Listener = Callable[[int, tuple[str, ...]], None]  # the number, and the topics that changed


class Feed:
    """Publish from any thread. Listeners are called in that thread, without any lock, and must not block."""

    def __init__(self) -> None:
        self.seq = 0
        self._lock = threading.Lock()
        self._listeners: tuple[Listener, ...] = ()

    def publish(self, *topics: str) -> int:
        """The change's number. `topics` are paths of the tree; none: anything may have changed."""
        with self._lock:
            self.seq += 1
            seq, listeners = self.seq, self._listeners
        for listener in listeners:
            listener(seq, topics)
        return seq

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Hear of everything published from now on, until the returned function is called."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def end() -> None:
            with self._lock:
                # One listener may be there twice (two connections of one class): take away one.
                rest = list(self._listeners)
                if listener in rest:
                    rest.remove(listener)
                self._listeners = tuple(rest)

        return end
