"""A signal that another thread has received wakes the main thread, where Python runs its handler.

The system gives a signal to any thread that does not block it: of two that come at once, another thread often takes
both. The main thread then goes on waiting for its lock, and no handler runs until something else wakes it. A wake-up
that comes between its last look for signals and its wait is lost as well: so it is repeated until a handler has run.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from .forked_child import keep_from_children

_WAKE: Final = signal.SIGURG  # without a handler it does nothing
AGAIN_S: Final = 0.05


@contextmanager
def relayed_signals() -> Iterator[None]:
    """While entered, from the main thread; from another one nothing is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    main, (heard, told) = threading.get_ident(), socket.socketpair()
    told.setblocking(False)
    for end in (heard, told):
        keep_from_children(end.fileno())

    woken, never = 0, threading.Event()

    def wake(number: int, frame: FrameType | None) -> None:
        nonlocal woken
        woken += 1

    def relay() -> None:
        while numbers := heard.recv(4096):
            if set(numbers) == {_WAKE}:
                continue
            before = woken
            while woken == before:
                signal.pthread_kill(main, _WAKE)
                never.wait(AGAIN_S)

    thread = threading.Thread(target=relay, name="signals", daemon=True)
    handler = signal.signal(_WAKE, wake)
    before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        told.shutdown(socket.SHUT_WR)  # what a library has forked may have a copy of it
        thread.join()
        told.close()
        heard.close()
        signal.signal(_WAKE, handler)
