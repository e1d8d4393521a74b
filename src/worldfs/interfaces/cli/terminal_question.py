"""A question to the person at the terminal."""

from __future__ import annotations

import select
import sys
import threading
from collections.abc import Callable
from typing import Final

from .command_context import CommandContext

LONGEST: Final = 1_000  # characters of an answer
POLL_S: Final = 0.2  # how long a stop may go unseen while the person thinks


def ask_person(context: CommandContext, stop: threading.Event) -> Callable[[str], str]:
    """Asks, and returns the line typed; "" where no person can answer: no terminal, JSON output, or a stop."""

    typed = sys.stdin  # whatever a plug-in puts there later

    def ask(question: str) -> str:
        if context.output.json or not (typed.isatty() and context.output.out.isatty()):
            return ""
        context.output.line(question)
        while not stop.is_set():
            if select.select([typed], [], [], POLL_S)[0]:
                return typed.readline()[:LONGEST].strip()
        return ""

    return ask
