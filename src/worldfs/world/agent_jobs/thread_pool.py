"""A bounded pool of threads with lanes: work of one lane runs one after the other, in order, and holds no thread
while it waits."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

Work = Callable[[], None]

REST_S: Final = 20.0  # a thread without work ends after so long


class LanedThreadPool:
    """At most `size` threads, made when there is work for them; 0: `put` runs the work. Work must not raise."""

    def __init__(self, name: str, size: int) -> None:
        self.name, self.size = name, size
        self._cond = threading.Condition()
        self._ready: deque[tuple[str, Work]] = deque()
        self._lanes: dict[str, deque[Work]] = {}  # lanes with running or ready work
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._closed = False

    def put(self, work: Work, lane: str = "") -> None:
        """Run it as soon as a thread, and its lane ("": none), are free. Ignored after `close`."""
        if not self.size:
            work()
            return
        with self._cond:
            if self._closed:
                return
            if lane in self._lanes:
                self._lanes[lane].append(work)
                return
            if lane:
                self._lanes[lane] = deque()
            self._ready.append((lane, work))
            if self._idle >= len(self._ready):
                self._cond.notify()
            elif len(self._threads) < self.size:
                thread = threading.Thread(target=self._run, name=f"{self.name}-{len(self._threads)}", daemon=True)
                self._threads.add(thread)
                thread.start()

    def close(self, timeout: float) -> bool:
        """Begin nothing more and wait for the running work; False: some still runs after `timeout` seconds."""
        with self._cond:
            self._closed = True
            self._ready.clear()
            self._lanes.clear()
            self._cond.notify_all()
            return self._cond.wait_for(lambda: not self._threads, timeout)

    def _run(self) -> None:
        try:
            while (found := self._take()) is not None:
                lane, work = found
                try:
                    work()
                finally:
                    self._next(lane)
        finally:
            with self._cond:
                self._threads.discard(threading.current_thread())
                self._cond.notify_all()

    def _take(self) -> tuple[str, Work] | None:
        with self._cond:
            self._idle += 1
            try:
                self._cond.wait_for(lambda: bool(self._ready) or self._closed, REST_S)
            finally:
                self._idle -= 1
            if self._ready:
                return self._ready.popleft()
            # Removed under the lock, so that `put` never relies on a thread that is ending.
            self._threads.discard(threading.current_thread())
            return None

    def _next(self, lane: str) -> None:
        with self._cond:
            waiting = self._lanes.get(lane)
            if waiting:
                self._ready.append((lane, waiting.popleft()))
                self._cond.notify()
            else:
                self._lanes.pop(lane, None)
