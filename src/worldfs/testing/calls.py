"""Calls for tests: a table with a clock that stands still, an agent that asks, ways to wait without sleeping long."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from worldfs.ground.clock import Clock
from worldfs.ground.model import Json, Outcome
from worldfs.tree.binding import USER, Binding
from worldfs.tree.feed import Feed
from worldfs.world.calls import Calls, Run

from .clock import ManualClock
from .waiting import until as attained


class Spot(NamedTuple):
    """A place that takes orders (`worldfs.world.services.place.Where`)."""

    place: str
    service: str
    node: str = ""
    ops: Mapping[str, str] = {}
    runtime: Mapping[str, Any] = {}


ALICE = Binding(USER, "alice", "proj-1", "proj-secret-token")


def opened(home: Path | None, clock: Clock | None = None) -> Calls:
    return Calls.open(home, clock or ManualClock(), Feed())


def until(calls: Calls, id: str) -> None:
    """Wait for the end of a call; `AssertionError` if there is none."""
    attained(lambda: calls.ended(id), f"{id} does not end")


def state(calls: Calls, id: str, binding: Binding = ALICE) -> tuple[str, str | None]:
    """The state and the error that status.json tells."""
    status = json.loads(calls.status(binding, id))
    return status["state"], status["error"]


def answer(text: str) -> Callable[[Run], Outcome]:
    """Carries out every call with one answer."""
    return lambda run: Outcome.success(text)


def a_run(params: Json | None = None, *, binding: Binding = ALICE, seconds: float = 300.0) -> Run:
    """A run for a tool that is asked without a table of calls; it has all of its time left."""
    return Run("job-1", "", params or {}, binding, seconds, lambda: seconds, lambda *words, **fields: None)


def echo(run: Run) -> Outcome:
    """Answers with the text that was asked."""
    return Outcome.success(str(run.params["text"]))
