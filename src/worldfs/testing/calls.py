"""Calls for tests: a table with a clock that stands still, an agent that asks, ways to wait without sleeping long."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from worldfs.ground.clock import Clock
from worldfs.ground.model import Outcome
from worldfs.tree.binding import USER, Binding
from worldfs.tree.feed import Feed
from worldfs.world.calls import Calls, Run

from .clock import ManualClock

ALICE = Binding(USER, "alice", "proj-1", "proj-secret-token")
PATIENCE_S = 10.0


def opened(home: Path | None, clock: Clock | None = None) -> Calls:
    return Calls.open(home, clock or ManualClock(), Feed())


def until(calls: Calls, id: str) -> None:
    """Wait for the end of a call; `AssertionError` if there is none within `PATIENCE_S`."""
    attained(lambda: calls.ended(id), f"{id} does not end")


def attained(holds: Callable[[], bool], why: str = "it does not come to that") -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(why)
        time.sleep(0.002)


def state(calls: Calls, id: str, binding: Binding = ALICE) -> tuple[str, str | None]:
    """The state and the error that status.json tells."""
    status = json.loads(calls.status(binding, id))
    return status["state"], status["error"]


def answer(text: str) -> Callable[[Run], Outcome]:
    """Carries out every call with one answer."""
    return lambda run: Outcome.success(text)


def echo(run: Run) -> Outcome:
    """Answers with the text that was asked."""
    return Outcome.success(str(run.params["text"]))
