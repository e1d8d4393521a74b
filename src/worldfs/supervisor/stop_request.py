"""A request to end a run, by a signal or by a caller; a second one kills at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

from worldfs.base.messages import coded
from worldfs.base.signal_relay import relayed_signals

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest:
    """`fd` is readable once more for each request. From any thread or signal handler."""

    def __init__(self) -> None:
        self.times = 0
        self._why = ""
        self._signal = ""
        self.fd, self._bell = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._bell, False)

    @property
    def why(self) -> str:
        """Of the first request. It is put into words here, and not in a signal handler."""
        if self._signal:
            return coded("command.got_signal", signal=self._signal)
        return self._why or coded("command.asked_to_stop")

    def request(self, why: str = "", got: str = "") -> None:
        """`got`: the signal that asks."""
        if not self.times:
            self._why, self._signal = why, got
        self.times += 1
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
            self.request(got=signal.Signals(number).name)

        before = {}
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup means it
                before[number] = signal.signal(number, take)
        try:
            with relayed_signals():
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler if handler is not None else signal.SIG_DFL)
