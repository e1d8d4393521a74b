"""The reconciler: idle, scheduled or running a cycle; and the faults of the mounts that its last cycle found.

Source: acheron §3.3: a cycle every five seconds, and 250 ms after a change. None of it
is durable: it follows from the records and the time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from worldfs.formats.wire.frames import Json

from .mount_selection import DEGRADED, MISSING, ONLINE, MountTable, digest, select_mounts, state_of
from .plane_state import PlaneState

EVERY_MS: Final = 5000
DEBOUNCE_MS: Final = 250
FAILED_KEPT: Final = 256  # lines of failed_ops; the counts are exact
IDLE, PENDING, SICK = "idle", "pending", "degraded"


class AvailabilitySummary(NamedTuple):
    """Counts of nodes and mounts by state, as in the availability push."""

    nodes_online: int = 0
    nodes_total: int = 0
    online: int = 0
    degraded: int = 0
    missing: int = 0
    mark: str = ""

    def to_json(self) -> Json:
        return {
            "nodes": {"online": self.nodes_online, "total": self.nodes_total},
            "mounts": {
                "online": self.online,
                "degraded": self.degraded,
                "missing": self.missing,
                "total": self.online + self.degraded + self.missing,
            },
            "project_mount_digest": self.mark,
        }


class Reconciler:
    """`run_cycle` is one cycle. Not thread-safe: the plane holds its lock."""

    def __init__(self) -> None:
        self.state = IDLE
        self.last_ms = 0
        self.success_ms = 0
        self.error: str | None = None
        self.queue = 0
        self.failed_total = 0
        self.cycles = 0
        self.failed: tuple[tuple[str, str], ...] = ()  # project, its faults
        self._successes: dict[str, int] = {}  # project, time of its last cycle without faults
        self._totals: dict[str, int] = {}  # project, number of its faults so far
        self.summary = AvailabilitySummary()
        self.reason = "control.reconcile"
        self._asked_ms = 0
        self._reported = self.summary
        self._fault: tuple[str, tuple[tuple[str, str], ...]] = (self.state, self.failed)

    def request_cycle(self, now_ms: int, reason: str) -> None:
        """Schedule a cycle soon, after a change."""
        self._asked_ms = now_ms
        self.reason = reason
        if self.state == IDLE:
            self.state = PENDING

    def due_ms(self) -> int:
        """When the next cycle is due."""
        return self._asked_ms + DEBOUNCE_MS if self._asked_ms else self.last_ms + EVERY_MS

    def run_cycle(self, state: PlaneState, now_ms: int) -> None:
        """One cycle."""
        self.cycles += 1
        places = [(key, select_mounts(state.projects[key], state.nodes, now_ms)) for key in state.project_ids()]
        failed = [(key, line) for key, found in places for line in found.failed]
        self.queue = len(failed)
        self.failed = tuple(failed[:FAILED_KEPT])
        self._successes = {
            key: self._successes.get(key, self.last_ms) if found.failed else now_ms for key, found in places
        }
        self._totals = {key: self._totals.get(key, 0) + len(found.failed) for key, found in places}
        self.last_ms, self._asked_ms = now_ms, 0
        if failed:
            self.state, self.error = SICK, failed[0][1]
            self.failed_total += len(failed)
        else:
            self.state, self.error, self.success_ms = IDLE, None, now_ms
        self.summary = _summary(state, places, now_ms)

    def take_changes(self) -> tuple[tuple[AvailabilitySummary, AvailabilitySummary] | None, bool]:
        """The changes since the last call: the summary before and now, if it differs; whether the faults
        changed. Cycles run at queries, pushes are sent at ticks."""
        before, self._reported = self._reported, self.summary
        mood, self._fault = self._fault, (self.state, self.failed)
        return ((before, self._reported) if before != self._reported else None), mood != self._fault

    def total(self, projects: Iterable[str]) -> int:
        """The number of faults of these projects so far."""
        return sum(self._totals.get(key, 0) for key in projects)

    def status_of_all(self) -> Json:
        """The reconciler's five fields of a workspace status, for all projects together."""
        return self._words(self.state, self.success_ms, self.error, self.queue)

    def status_of(self, projects: Collection[str], failed: Sequence[str]) -> Json:
        """The same for some projects with so many faults: faults of other projects do not count."""
        state = SICK if failed else PENDING if self._asked_ms else IDLE
        success = min((self._successes.get(key, self.last_ms) for key in projects), default=self.last_ms)
        return self._words(state, success, failed[0] if failed else None, len(failed))

    def _words(self, state: str, success_ms: int, error: str | None, queue_depth: int) -> Json:
        return {
            "reconcile_state": state,
            "last_reconcile_ms": self.last_ms,
            "last_success_ms": success_ms,
            "last_error": error,
            "queue_depth": queue_depth,
        }


def _summary(state: PlaneState, places: list[tuple[str, MountTable]], now_ms: int) -> AvailabilitySummary:
    online, degraded, missing = (sum(found.count(word) for _, found in places) for word in (ONLINE, DEGRADED, MISSING))
    up = sum(state_of(node, now_ms) == ONLINE for node in state.nodes.values())
    return AvailabilitySummary(up, len(state.nodes), online, degraded, missing, digest(places))
