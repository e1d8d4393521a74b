"""Signals: the first asks to stop, the second forces it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

from worldfs.base.signal_relay import relayed_signals
from worldfs.base.stop_signal import CtrlC

_Handler = Callable[[int, FrameType | None], object] | int | None
_DEFAULTS = (signal.default_int_handler, signal.SIG_DFL)  # the interpreter's, and that of `start`


class Interrupts:
    """Remembers a Ctrl-C that the command itself did not handle: an interrupted import may raise anything else.

    A library that is interrupted while it loads turns the KeyboardInterrupt into an ImportError, or swallows it.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: _Handler = None
        self._unraisable = sys.unraisablehook

    def check(self) -> None:
        """Raises KeyboardInterrupt if Ctrl-C was pressed, even if a library swallowed it."""
        if self.asked:
            raise KeyboardInterrupt from None

    def _take(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        raise CtrlC

    def _swallowed(self, what: sys.UnraisableHookArgs, /) -> None:
        """Python prints what a finalizer raised; a Ctrl-C there is remembered, and `check` raises it."""
        if not (self.asked and what.exc_type in (KeyboardInterrupt, CtrlC)):
            self._unraisable(what)

    def __enter__(self) -> Self:
        ours = threading.current_thread() is threading.main_thread()
        if ours and signal.getsignal(signal.SIGINT) in _DEFAULTS:
            self._before = signal.signal(signal.SIGINT, self._take)
            self._unraisable, sys.unraisablehook = sys.unraisablehook, self._swallowed
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            sys.unraisablehook = self._unraisable


@contextmanager
def stop_on(ask: Callable[[], None], *numbers: signal.Signals) -> Iterator[None]:
    """While entered, the first of `numbers` calls `ask`, every later one raises KeyboardInterrupt."""
    asked = False

    def take(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise CtrlC
        asked = True
        ask()

    before = {number: signal.signal(number, take) for number in numbers}
    try:
        with relayed_signals():
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
