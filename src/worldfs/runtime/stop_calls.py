"""Many calls at once of which any may hang: drivers' stops."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

TAKE_OVER_S: Final = 0.005  # calls of ours take microseconds; one that asks a robot over a wire takes longer


def begin_all(calls: Iterable[Callable[[], None]]) -> None:
    """Return when each call has begun. They must not raise.

    One thread makes them one after the other, since to wake a thread for each takes longer than most calls. While
    some have not begun, the threads double at intervals: a call that hangs holds up no other.
    """
    left = deque(calls)
    if not left:
        return
    begun = threading.Event()

    def work() -> None:
        while True:
            try:
                call = left.popleft()
            except IndexError:
                begun.set()
                return
            call()

    threads = 0
    while not begun.is_set() and left:
        for _ in range(min(max(threads, 1), len(left))):
            threading.Thread(target=work, name="stop calls", daemon=True).start()
            threads += 1
        begun.wait(TAKE_OVER_S)
