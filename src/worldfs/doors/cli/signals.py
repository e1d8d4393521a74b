"""Signals: the first asks to stop, the second insists."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_on(ask: Callable[[], None], *numbers: signal.Signals) -> Iterator[None]:
    """While inside, the first of `numbers` calls `ask`, every later one raises KeyboardInterrupt."""
    asked = False

    def take(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        ask()

    before = {number: signal.signal(number, take) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
