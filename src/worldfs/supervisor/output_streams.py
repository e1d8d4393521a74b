"""A command's output on its way: from its pipes to the log, and on to the runner's own standard output and error."""

from __future__ import annotations

import os
import select
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from .output_log import PAUSE, OutputLog

READ: Final = 1 << 16
DRAIN: Final = 0.5  # s for readers to take the last output before the session's end is recorded without them


Tap = Callable[[bytes], bytes]


class OutputStreams:
    """The command's standard output and standard error, each to a descriptor of the runner (-1: to the log alone).

    A listener that takes nothing holds the command back, as in any pipeline, but never the session's end; one that has
    gone away holds up nothing.
    """

    def __init__(self, log: OutputLog, out: int = 1, err: int = 2, tap: Tap | None = None) -> None:
        """`tap` gets all of standard output, and returns what of it belongs in the log."""
        self.log = log
        self._pumps = [_Pump(log, out, tap), _Pump(log, err)]
        self.ends = (self._pumps[0].write_end, self._pumps[1].write_end)

    def start(self) -> None:
        """The command has inherited its ends: close them here, and start to pass its output on."""
        for pump in self._pumps:
            pump.start()

    def silent_s(self, now: float) -> float:
        """Seconds since the command last wrote anything; 0 while a slow reader keeps it from writing."""
        return 0.0 if any(pump.held for pump in self._pumps) else now - self.log.spoke_at

    def drain(self) -> None:
        """The command and all its processes are gone: all their output is in the log when this returns."""
        until = self.log.now() + DRAIN
        for pump in self._pumps:
            pump.drain(until - self.log.now())

    def settle(self, seconds: float | None = None) -> bool:
        """Wait until the listeners have taken everything (None: for as long as that takes); whether they have."""
        return sum(pump.wait(seconds) for pump in self._pumps) == len(self._pumps)


class _Pump:
    def __init__(self, log: OutputLog, target: int, tap: Tap | None = None) -> None:
        self._log, self._target, self._tap = log, target, tap
        self._source, self.write_end = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._source, select.POLLIN)
        self._reading = threading.Lock()
        self._queue: deque[bytes] = deque()
        self._thread = threading.Thread(target=self._work, daemon=True)  # a stuck reader must not block the exit
        self._ended = False
        self.held = False

    def start(self) -> None:
        os.close(self.write_end)
        self._thread.start()

    def _work(self) -> None:
        while self._read() or self._queue:
            while self._queue:
                self._pass_on(self._queue.popleft())

    def _read(self) -> bool:
        """Take what is there; False at the end. Blocks while a writer is left."""
        with self._reading:
            if self._ended:
                return False
            if self._log.behind and not self._poll.poll(PAUSE * 1000):
                self._log.flush()  # a pause in the output: a good time to write
            data = os.read(self._source, READ)
            if not data:
                self._ended = True
                os.close(self._source)
                return False
            self._log.write(data if self._tap is None else self._tap(data))
            if self._target >= 0:
                self._queue.append(data)
            return True

    def _pass_on(self, data: bytes) -> None:
        view = memoryview(data)
        self.held = True
        try:
            while view and self._target >= 0:
                try:
                    view = view[os.write(self._target, view) :]
                except BlockingIOError:  # another process made this descriptor non-blocking: wait here instead
                    ready = select.poll()
                    ready.register(self._target, select.POLLOUT)
                    ready.poll(1000)
        except OSError:  # the reader has gone; the log continues
            self._target = -1
        finally:
            self.held = False

    def drain(self, seconds: float) -> None:
        self._thread.join(max(0.0, seconds))
        if not self._thread.is_alive() or not self._reading.acquire(timeout=0.1):
            return  # done, or a survivor still holds the other end
        self._reading.release()
        while not self._ended and self._poll.poll(0):
            self._read()

    def wait(self, seconds: float | None) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()
