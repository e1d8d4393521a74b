"""Fixtures of calls: a call table with a manual clock, a calling agent, and waits without long sleeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from worldfs.access.binding import USER, Binding
from worldfs.base.clock import Clock
from worldfs.base.model import Json, Outcome
from worldfs.tree.change_feed import ChangeFeed
from worldfs.world.agent_jobs import AgentJobContext, AgentJobs

from .manual_clock import ManualClock
from .waiting import until as wait_until


class StaticEndpoint(NamedTuple):
    """A `ServiceEndpoint` (worldfs.namespace.namespace_ports) with fixed answers."""

    place: str
    service: str
    node: str = ""
    ops: Mapping[str, str] = {}
    runtime: Mapping[str, object] = {}


ALICE = Binding(USER, "alice", "proj-1", "proj-secret-token")


def open_calls(home: Path | None, clock: Clock | None = None) -> AgentJobs:
    return AgentJobs.open(home, clock or ManualClock(), ChangeFeed())


def wait_for_call(calls: AgentJobs, id: str) -> None:
    """Wait for the end of a call; `AssertionError` if there is none."""
    wait_until(lambda: calls.ended(id), f"{id} does not end")


def state(calls: AgentJobs, id: str, binding: Binding = ALICE) -> tuple[str, str | None]:
    """The state and the error in status.json."""
    status = json.loads(calls.status(binding, id))
    return status["state"], status["error"]


def answer(text: str) -> Callable[[AgentJobContext], Outcome]:
    """Carries out every call with one answer."""
    return lambda run: Outcome.success(text)


def tool_run(params: Json | None = None, *, binding: Binding = ALICE, seconds: float = 300.0) -> AgentJobContext:
    """A tool run without a call table, before any timeout."""
    return AgentJobContext("job-1", "", params or {}, binding, seconds, lambda: seconds, lambda *words, **fields: None)


def echo(run: AgentJobContext) -> Outcome:
    """Answers with the given text."""
    return Outcome.success(str(run.params["text"]))
