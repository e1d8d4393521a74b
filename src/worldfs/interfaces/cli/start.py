"""Where the program `paos` starts: a Ctrl-C while its modules are loaded ends it at once, without a traceback."""

from __future__ import annotations

# Python's own `signal` loads enum first, during which a Ctrl-C prints a traceback; it has no stub
import _signal  # type: ignore[import-not-found]
import gc

SELDOM = 100_000  # allocations between two garbage collections: a reading command makes fewer, and no cycles


def start() -> int:
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # until the command's own handler (`signals.Interrupts`)
    gc.set_threshold(SELDOM)  # before all else is loaded
    from .exits import INTERRUPTED
    from .main import end_interrupted, main

    code = main()
    if code == INTERRUPTED:
        end_interrupted(code)
    return code
