"""The signals that ask a process to end: Ctrl-C, SIGTERM, and the SIGHUP of a terminal that is closed."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


def ending_signals() -> tuple[signal.Signals, ...]:
    """SIGHUP is left out where the process ignores it: `nohup` and `trap '' HUP` mean that it goes on."""
    hangs_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM, *((signal.SIGHUP,) if hangs_up else ()))


def hear_ending_signals(loop: asyncio.AbstractEventLoop, ask: Callable[[], object]) -> None:
    """Each of them calls `ask` once in this loop. A further Ctrl-C or SIGTERM ends the process. A further SIGHUP does
    nothing: of a closed terminal the system and the shell each send one."""

    def take(number: signal.Signals) -> None:
        if number == signal.SIGHUP:
            loop.add_signal_handler(number, lambda: None)
        else:
            loop.remove_signal_handler(number)
        ask()

    for number in ending_signals():
        loop.add_signal_handler(number, take, number)
