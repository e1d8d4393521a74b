"""Exit codes: the one table that the command uses and `docs/command.md` prints."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
REFUSED: Final = 1
MISUSE: Final = 2
MACHINE: Final = 3
BUG: Final = 70
INTERRUPTED: Final = 130
CLOSED: Final = 141

CODES: Final = {
    DONE: "done: the goal holds in the world, or the question was answered",
    REFUSED: "not reached, or refused by the world: a step failed, time was up, something is out of reach or not here",
    MISUSE: "the instruction was not understood, the question not answered, or the caller can mend it",
    MACHINE: "the machine failed: disk full, I/O error",
    BUG: "a bug of ours; the traceback is kept and named",
    INTERRUPTED: "interrupted (Ctrl-C)",
    CLOSED: "the reader of the output went away",
}
