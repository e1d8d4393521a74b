"""The threads of a worker, made when there is work for them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Final

Work = Callable[[], None]

REST_S: Final = 20.0  # a thread of several ends after so long without work


class WorkerThreads:
    """At most `size` threads, which take work in its order. Work must not raise. 0: the caller's thread does it.

    A single thread stays until `close`: a driver is used from one thread only. The threads are daemons, so hung work
    does not keep the process alive.
    """

    def __init__(self, name: str, size: int = 1) -> None:
        self.name, self.size = name, size
        self._rest = None if size == 1 else REST_S
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._lock = threading.Condition()
        self._threads: set[threading.Thread] = set()
        self._taken = 0  # work that was submitted and is not done
        self._closed = False

    def submit(self, work: Work) -> None:
        """Do it as soon as a thread is free. Ignored after `close`."""
        if not self.size:
            work()
            return
        with self._lock:
            if self._closed:
                return
            self._taken += 1
            if len(self._threads) < min(self.size, self._taken):
                thread = threading.Thread(target=self._loop, name=self.name, daemon=True)
                self._threads.add(thread)
                thread.start()
        self._work.put(work)

    def call(self, work: Work) -> None:
        """Do it and wait for it; its error is raised here."""
        if not self.size:
            work()
            return
        done = threading.Event()
        failed: list[BaseException] = []

        def finish() -> None:
            try:
                work()
            except BaseException as error:
                failed.append(error)
            finally:
                done.set()

        self.submit(finish)
        done.wait()
        if failed:
            raise failed[0]

    def close(self, timeout: float) -> None:
        """Take no more work, and wait at most `timeout` seconds for what was submitted."""
        with self._lock:
            self._closed = True
            for _ in self._threads:
                self._work.put(None)
            self._lock.wait_for(lambda: not self._threads, timeout)

    def _loop(self) -> None:
        while (work := self._next()) is not None:
            work()
            with self._lock:
                self._taken -= 1
        with self._lock:
            self._threads.discard(threading.current_thread())
            self._lock.notify_all()

    def _next(self) -> Work | None:
        """The next work; None: the thread ends."""
        while True:
            try:
                return self._work.get(timeout=self._rest)
            except queue.Empty:
                with self._lock:
                    if self._taken < len(self._threads):
                        # Removed under the lock, so that `submit` never relies on a thread that is ending.
                        self._threads.discard(threading.current_thread())
                        return None
