"""The change feed of a process: a sequence number, and listeners by topic.

A topic is a path of the tree, or a prefix of one: a listener to "/nodes" hears of "/nodes/x/STATUS.json". Nothing is
consumed: a waiter checks, waits for the next number, and checks again. The last few publications are kept, so that a
late waiter can read their paths.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

Listener = Callable[[int, tuple[str, ...]], None]  # the number, and the topics that changed

KEEP_MOST: Final = 1024  # publications remembered


class Publication(NamedTuple):
    """One publication: its number, its paths (none: anything), the kind of change and the actor, where known."""

    seq: int
    topics: tuple[str, ...]
    kind: str
    actor: str


class ChangeFeed:
    """Publish from any thread. Listeners are called in that thread, without any lock, and must not block."""

    def __init__(self) -> None:
        self.seq = 0
        self._lock = threading.Lock()
        self._listeners: tuple[Listener, ...] = ()
        self._recent: deque[Publication] = deque(maxlen=KEEP_MOST)

    def publish(self, *topics: str, kind: str = "changed", actor: str = "") -> int:
        """The change's number. `topics` are paths of the tree; none: anything may have changed."""
        with self._lock:
            self.seq += 1
            seq, listeners = self.seq, self._listeners
            self._recent.append(Publication(seq, topics, kind, actor))
        for listener in listeners:
            listener(seq, topics)
        return seq

    def wake(self, topic: str) -> None:
        """Call the listeners for a file that streams: its next frame is neither numbered nor remembered."""
        for listener in self._listeners:
            listener(self.seq, (topic,))

    def since(self, seq: int) -> list[Publication]:
        """What was published after number `seq`, oldest first, as far as it is remembered; costs what it returns."""
        found: list[Publication] = []
        with self._lock:
            for item in reversed(self._recent):
                if item.seq <= seq:
                    break
                found.append(item)
        found.reverse()
        return found

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` for everything published from now on, until the returned function is called."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def end() -> None:
            with self._lock:
                # A listener may be registered twice (two connections of one class): remove one.
                rest = list(self._listeners)
                if listener in rest:
                    rest.remove(listener)
                self._listeners = tuple(rest)

        return end
