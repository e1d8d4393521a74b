"""Linux's own calls to end processes: adopt orphans, die with a parent (man 2 prctl)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Final

PDEATHSIG: Final = 1  # linux/prctl.h PR_SET_PDEATHSIG
SUBREAPER: Final = 36  # PR_SET_CHILD_SUBREAPER
IS_SUBREAPER: Final = 37  # PR_GET_CHILD_SUBREAPER


@cache
def _prctl() -> Callable[..., int] | None:
    import ctypes

    if not sys.platform.startswith("linux"):
        return None
    try:
        call = ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):
        return None
    call.argtypes, call.restype = (ctypes.c_int, *[ctypes.c_ulong] * 4), ctypes.c_int
    return call


def become_subreaper(on: bool = True) -> bool:
    """From now on orphans below this process become its children; whether that is so."""
    call = _prctl()
    return call is not None and call(SUBREAPER, int(on), 0, 0, 0) == 0


def is_subreaper() -> bool:
    import ctypes

    call, answer = _prctl(), ctypes.c_int(0)
    return call is not None and call(IS_SUBREAPER, ctypes.addressof(answer), 0, 0, 0) == 0 and answer.value != 0


def die_with_parent(number: int) -> bool:
    """The thread that made this process ends: so does this process, by that signal. Kept over exec."""
    call = _prctl()
    return call is not None and call(PDEATHSIG, number, 0, 0, 0) == 0
