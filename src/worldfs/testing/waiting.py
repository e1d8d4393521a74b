"""Waiting in tests for what other threads, tasks and processes bring about: for a condition, never for a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE_S = 120.0  # names a hang, and nothing else: no machine is so busy that what will come takes longer
LOOK_S = 0.005


def until(holds: Callable[[], T], why: str = "it did not come to be so") -> T:
    """Wait until it holds, and give what it gave. `AssertionError` with `why` if it does not within `PATIENCE_S`."""
    end = time.monotonic() + PATIENCE_S
    while not (found := holds()):
        assert time.monotonic() < end, why
        time.sleep(LOOK_S)
    return found


async def soon(holds: Callable[[], T], why: str = "it did not come to be so") -> T:
    """As `until`, in a loop."""
    end = time.monotonic() + PATIENCE_S
    while not (found := holds()):
        assert time.monotonic() < end, why
        await asyncio.sleep(LOOK_S)
    return found
