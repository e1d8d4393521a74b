"""One inotify instance for a process: a thread hands each event to the watches that asked for it.

The system counts instances for each user (128 by default), so a watch has none of its own. A directory that several
watches want is watched once, for all that any of them wants; each watch is told only what it asked for.
"""

from __future__ import annotations

import os
import select
import threading
from collections import deque
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from inotify_simple import INotify, flags, parse_events

BUFFER: Final = 1 << 15  # bytes a read: some hundred events; a longer one would be mapped and unmapped each time
PENDING_MOST: Final = 16_384  # events that a watch has not read; as the system's own queue
_ALWAYS: Final = int(flags.IGNORED | flags.UNMOUNT | flags.Q_OVERFLOW)
_MAKING: Final = threading.Lock()
_WANTED: Final = 0xFFF  # the events of a mask, without the flags that say how to watch


class InotifyEvent(NamedTuple):
    """`wd` and `mask` as inotify has them; `name` "": of the directory itself."""

    wd: int
    mask: int
    name: str


OVERFLOW: Final = InotifyEvent(-1, int(flags.Q_OVERFLOW), "")


class EventQueue:
    """The events of one watch, and its bell."""

    def __init__(self) -> None:
        self._ready = threading.Condition()
        self._events: deque[InotifyEvent] = deque()
        self._rung = False

    def put(self, events: Sequence[InotifyEvent]) -> None:
        with self._ready:
            if len(self._events) + len(events) > PENDING_MOST:
                self._events.clear()
                events = (OVERFLOW,)
            self._events.extend(events)
            self._ready.notify_all()

    def ring(self) -> None:
        with self._ready:
            self._rung = True
            self._ready.notify_all()

    def take(self, timeout: float | None) -> tuple[Sequence[InotifyEvent], bool]:
        """Wait for an event or the bell; what there is, and whether the bell was rung."""
        with self._ready:
            self._ready.wait_for(lambda: self._events or self._rung, timeout)
            events, rung = tuple(self._events), self._rung
            self._events.clear()
            self._rung = False
            return events, rung


class InotifyHub:
    """Usable from any thread. Raises the `OSError` of the system where there is no instance, or no watch, left."""

    def __init__(self) -> None:
        self._inotify = INotify(nonblocking=True)
        self._lock = threading.Lock()
        self._queues: dict[int, dict[EventQueue, int]] = {}  # watch descriptor → queue → what it asked for
        self._masks: dict[int, int] = {}  # watch descriptor → what the system was asked for
        threading.Thread(target=self._run, name="inotify", daemon=True).start()

    def add(self, queue: EventQueue, path: str, mask: int) -> int:
        """Watch a directory for a queue, from now on for `mask` alone; the watch descriptor."""
        with self._lock:
            wd: int = self._inotify.add_watch(path, mask | flags.MASK_ADD)
            queues = self._queues.setdefault(wd, {})
            queues[queue] = mask
            asked, wanted = self._masks.get(wd, 0) | mask, 0
            for one in queues.values():
                wanted |= one
            if asked != wanted:  # a watch that wanted more has gone
                self._inotify.add_watch(path, wanted)
            self._masks[wd] = wanted
            return wd

    def remove(self, queue: EventQueue, wd: int) -> None:
        """An unknown descriptor is no error: the directory has gone."""
        with self._lock:
            queues = self._queues.get(wd)
            if queues is None or queues.pop(queue, None) is None or queues:
                return
            self._forget(wd)
            try:
                self._inotify.rm_watch(wd)
            except OSError:  # it has gone, and its last event has not been read
                return

    def hand_out(self) -> None:
        """Give their events to the queues. When it returns, each change that was made before is in them."""
        with self._lock:
            try:
                found = parse_events(os.read(self._inotify.fileno(), BUFFER))
            except BlockingIOError:
                return
            self._sort([InotifyEvent(event.wd, event.mask, event.name) for event in found])

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._inotify.fileno(), select.POLLIN)
        while True:
            poll.poll()
            self.hand_out()

    def _sort(self, events: Sequence[InotifyEvent]) -> None:
        own: dict[EventQueue, list[InotifyEvent]] = {}
        for event in events:
            if event.mask & flags.Q_OVERFLOW:
                queues = {queue: 0 for one in self._queues.values() for queue in one}
            else:
                queues = self._queues.get(event.wd, {})
            for queue, mask in queues.items():
                if event.mask & ((mask & _WANTED) | _ALWAYS):
                    own.setdefault(queue, []).append(event)
            if event.mask & flags.IGNORED:
                self._forget(event.wd)
        for queue, told in own.items():
            queue.put(told)

    def _forget(self, wd: int) -> None:
        self._queues.pop(wd, None)
        self._masks.pop(wd, None)


def process_hub() -> InotifyHub:
    """The hub of this process."""
    with _MAKING:
        return _made()


@cache
def _made() -> InotifyHub:
    return InotifyHub()
