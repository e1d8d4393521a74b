"""A request to end a run, by a signal or by a caller; a second one kills at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest:
    """`fd` is readable once more for each request. From any thread or signal handler."""

    def __init__(self) -> None:
        self.times = 0
        self.why = ""
        self.fd, self._bell = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._bell, False)

    def request(self, why: str = "asked to stop") -> None:
        self.times += 1
        self.why = self.why or why
        with suppress(OSError):  # the pipe is full of requests already
            os.write(self._bell, b"!")

    def acknowledge(self) -> None:
        """Drain `fd`."""
        with suppress(BlockingIOError):
            os.read(self.fd, 512)

    def close(self) -> None:
        os.close(self.fd)
        os.close(self._bell)

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Inside, Ctrl-C, TERM and HUP are requests. Only the main thread gets signals: elsewhere nothing changes."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def take(number: int, frame: FrameType | None) -> None:
            self.request(f"the runner got {signal.Signals(number).name}")

        before = {}
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup means it
                before[number] = signal.signal(number, take)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler if handler is not None else signal.SIG_DFL)
