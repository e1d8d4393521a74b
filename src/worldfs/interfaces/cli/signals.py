"""Signals: the first asks to stop, the second forces it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

from worldfs.base.ending_signals import ending_signals
from worldfs.base.signal_relay import relayed_signals
from worldfs.base.stop_signal import CtrlC

_Handler = Callable[[int, FrameType | None], object] | int | None
WAKE_S = 0.05  # between two tries to wake the main thread
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
def stop_on(ask: Callable[[], None], leave: Callable[[], object] | None = None) -> Iterator[None]:
    """While entered, the first signal that asks to end calls `ask`, every later one raises KeyboardInterrupt.

    `leave` is called before that, in a thread, since what the second signal interrupts may hold any lock. Until it has
    returned, further signals do nothing. It must not raise.

    A later SIGHUP never does: of a closed terminal the system and the shell each send one. From the first signal on
    SIGHUP does nothing any more, also after this is left: what is entered around it is closed then, and stops robots.
    """
    asked, again, told = False, False, leave is None
    pressed, over, main = threading.Event(), threading.Event(), threading.get_ident()

    def take(number: int, frame: FrameType | None) -> None:
        nonlocal asked, again
        if not asked:
            asked = True
            ask()
        elif number != signal.SIGHUP:
            if told:
                over.set()
                raise CtrlC
            if not again:  # a signal that interrupts this handler must not wait for the lock in it
                again = True
                pressed.set()

    def tell() -> None:
        nonlocal told
        pressed.wait()
        if leave is None or over.is_set():
            return
        try:
            leave()
        finally:
            told = True
            if not over.is_set():
                signal.pthread_kill(main, signal.SIGINT)
            while not over.wait(WAKE_S):  # a thread that is about to block when a signal comes sleeps on
                signal.pthread_kill(main, signal.SIGURG)

    teller = threading.Thread(target=tell, name="second signal", daemon=True)
    before = {number: signal.signal(number, take) for number in ending_signals()}
    try:
        if leave is not None:
            teller.start()
        with relayed_signals():
            yield
    finally:
        over.set()
        pressed.set()
        if leave is not None:
            teller.join()
        for number, handler in before.items():
            signal.signal(number, _do_nothing if asked and number == signal.SIGHUP else handler)
    if again:  # `leave` was called, and the wait that it was to break off has ended
        raise CtrlC


def _do_nothing(number: int, frame: FrameType | None) -> None:
    """A handler, and not SIG_IGN: programs that this process starts do not inherit it."""
