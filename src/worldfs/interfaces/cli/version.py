"""`paos version`."""

from __future__ import annotations

import sys

import worldfs

from .command_context import CommandContext


def run(context: CommandContext) -> int:
    python = ".".join(str(part) for part in sys.version_info[:3])
    context.output.report(
        f"paos {worldfs.__version__} (Python {python})",
        {"version": worldfs.__version__, "python": python},
    )
    return 0
