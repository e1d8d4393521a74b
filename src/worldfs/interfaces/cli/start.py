"""Where the program `paos` starts: a Ctrl-C while its modules are loaded ends it at once, without a traceback."""

from __future__ import annotations

import signal


def start() -> int:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the command's own handler (`signals.Interrupts`)
    from .main import main

    return main()
