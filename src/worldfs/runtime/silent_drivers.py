"""Drivers that have not returned from an order that has ended without them: each is named, and what waits for it."""

from __future__ import annotations

from collections.abc import Mapping

from worldfs.base.clock import Clock
from worldfs.base.messages import coded
from worldfs.base.model import Finding

from .alerts import Alerts
from .body_worker import KernelNode, call_name
from .grace import SILENT, SILENT_S
from .job_attempt import JobAttempt


class SilentDrivers:
    """Used by the kernel's own thread only."""

    def __init__(
        self, nodes: Mapping[str, KernelNode], running: Mapping[str, JobAttempt], alert: Alerts, clock: Clock
    ) -> None:
        self._nodes, self._running, self._alert, self._clock = nodes, running, alert, clock
        self._found: dict[str, tuple[float, Finding]] = {}  # node → clock.monotonic() since when, and its alert

    def begin(self) -> None:
        """Raise and take back the alerts."""
        silent = {node: attempt for node, attempt in self._running.items() if attempt.is_silent}
        for node in self._found.keys() - silent.keys():
            del self._found[node]
            self._alert(f"/nodes/{node}", None)
        for node, attempt in silent.items():
            if node not in self._found:
                finding = self._finding(node, attempt)
                self._found[node] = self._clock.monotonic(), finding
                self._alert(f"/nodes/{node}", finding)

    def patience(self) -> float | None:
        """Seconds until one of them is late; None: none will be."""
        waits = (since + SILENT_S - self._clock.monotonic() for since, _ in self._found.values())
        return min((wait for wait in waits if wait > 0), default=None)

    def is_late(self, node: str) -> bool:
        """Whether its driver has not returned for so long that it may never."""
        since, _ = self._found.get(node, (None, None))
        return since is not None and self._clock.monotonic() >= since + SILENT_S

    def why(self, node: str) -> str:
        """What its orders wait for; "": its driver is not silent."""
        return self._found[node][1].found if node in self._found else ""

    def _finding(self, node: str, attempt: JobAttempt) -> Finding:
        call = call_name(self._nodes[node].driver, "execute" if attempt.executing else "observe")
        found = coded("runtime.silent", call=call, job=attempt.job.id, node=node)
        place, expected, fix = f"/nodes/{node}", coded("plugin.an_answer"), coded("world.see_silent")
        return Finding(SILENT, place, expected, found, fix)
