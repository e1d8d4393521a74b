"""`paos version`."""

from __future__ import annotations

import sys

import worldfs

from .command_context import CommandContext


def run(call: CommandContext) -> int:
    python = ".".join(str(part) for part in sys.version_info[:3])
    call.voice.say(
        f"paos {worldfs.__version__} (Python {python})",
        {"version": worldfs.__version__, "python": python},
    )
    return 0
