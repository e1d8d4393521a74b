"""Robots that report by themselves are looked at while they have no job: others move them, too."""

from __future__ import annotations

from collections.abc import Container, Mapping
from contextlib import suppress
from functools import partial
from typing import Final, Protocol

from worldfs.base.clock import Clock
from worldfs.base.driver import ReportsItself

from .body_worker import JobHooks, KernelNode
from .worker_threads import WorkerThreads

LOOK_S: Final = 1.0  # between two looks at one robot


class TimedWork(Protocol):
    """What a kernel does at times of its own, between jobs."""

    def begin(self) -> None:
        """Do what is due now. Called by the kernel's own thread in each tick; it must not wait."""
        ...

    def patience(self) -> float | None:
        """Seconds until something is due; None: nothing that time alone brings."""
        ...


class IdleLooks:
    """Begun by the kernel's own thread. Each look is work of its node's lane, where it meets no job of that node."""

    def __init__(
        self,
        nodes: Mapping[str, KernelNode],
        lanes: Mapping[str, WorkerThreads],
        running: Container[str],
        hooks: JobHooks,
        clock: Clock,
    ) -> None:
        self._nodes, self._lanes, self._running, self._hooks, self._clock = nodes, lanes, running, hooks, clock
        self._due = clock.monotonic() + LOOK_S
        self._begun: dict[str, WorkerThreads] = {}  # node → the lane that has a look of it which has not ended
        self._judged: dict[str, tuple[object, bool]] = {}  # node → a driver, and whether it reports itself

    def patience(self) -> float | None:
        """Seconds until looks are due; None: no robot reports itself."""
        if not any(map(self._reports, self._nodes.values())):
            return None
        return max(0.0, self._due - self._clock.monotonic())

    def begin(self) -> None:
        """Begin those that are due, at robots that have no job and whose last look has ended."""
        now = self._clock.monotonic()
        if now < self._due:
            return
        self._due = now + LOOK_S
        for id, node in self._nodes.items():
            lane = self._lanes[id]
            if id not in self._running and self._begun.get(id) is not lane and self._reports(node):
                self._begun[id] = lane
                lane.submit(partial(self._look, id))

    def _look(self, id: str) -> None:
        try:
            with suppress(Exception):  # whatever a driver raises; what cannot be written is said after the next job
                self._hooks.look(id)
        finally:
            self._begun.pop(id, None)

    def _reports(self, node: KernelNode) -> bool:
        driver: object = node.driver
        known, reports = self._judged.get(node.id, (None, False))
        if known is not driver:
            reports = isinstance(driver, ReportsItself)
            self._judged[node.id] = driver, reports
        return reports
