"""`paos version`."""

from __future__ import annotations

import platform

import worldfs

from .call import Call


def run(call: Call) -> int:
    call.voice.say(
        f"paos {worldfs.__version__} (Python {platform.python_version()})",
        {"version": worldfs.__version__, "python": platform.python_version()},
    )
    return 0
