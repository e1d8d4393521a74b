"""Subscribers: listeners of pushes, and watchers of services with their counters.

Source: acheron §3.2 (watch) and 3.4 (pushes). Listeners are called in the order of the
changes, one change at a time, without the lock of the readers; they must not block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from worldfs.access.binding import NOBODY, Binding
from worldfs.formats.wire.frames import Json

from .event_history import KEPT, EventHistory, ServiceEvent

SERVICE_EVENT = "control.node_service_event"
TOPOLOGY = "control.workspace_topology"
TOPOLOGY_DELTA = "control.workspace_topology_delta"
AVAILABILITY = "control.workspace_availability"
RECONCILE = "control.reconcile"

Push = Callable[[str, Json], None]
"""Takes the name and the payload. `control.node_service_event` is a frame's type, the others are debug categories."""
Sink = Callable[[bytes], bool]
"""Takes the payload of a service event as JSON; False if it had to be dropped."""


class PushListener(NamedTuple):
    """`binding`: the binding that filters each push, evaluated at every push; None: what every user may see."""

    push: Push
    asks: Callable[[], Binding] | None

    @property
    def binding(self) -> Binding:
        return self.asks() if self.asks is not None else NOBODY


class ServiceWatch(NamedTuple):
    """A started watch: the reply, the events to send after it, and `end` (calling it twice does no harm)."""

    reply: Json
    replay: list[bytes]
    end: Callable[[], None]


class ServiceWatchers:
    """Not thread-safe: the plane holds its lock, except in `offer`, which is called by one writer at a time."""

    def __init__(self, history: EventHistory) -> None:
        self.history = history
        self._sinks: dict[int, tuple[str, Sink]] = {}
        self._next = 0
        self.peak = 0
        self.replays = self.replayed = self.replay_sent = self.replay_bytes = 0
        self.events = self.attempted = self.sent = self.dropped = 0

    def replay(self, node_id: str, limit: int) -> list[ServiceEvent]:
        found = self.history.last(node_id, limit)
        self.replays += 1
        self.replayed += min(limit, KEPT)
        self.replay_sent += len(found)
        self.replay_bytes += sum(len(event.data) for event in found)
        return found

    def begin(self, node_id: str, sink: Sink) -> int:
        self._next += 1
        self._sinks[self._next] = (node_id, sink)
        self.peak = max(self.peak, len(self._sinks))
        return self._next

    def end(self, number: int) -> None:
        self._sinks.pop(number, None)

    def record(self, event: ServiceEvent) -> list[Sink]:
        """Keep an event; returns the sinks to deliver it to."""
        self.history.keep(event)
        return [sink for node_id, sink in self._sinks.values() if node_id in ("", event.node_id)]

    def deliver(self, event: ServiceEvent, sinks: list[Sink]) -> None:
        """Deliver an event without the lock, in the order of the changes."""
        self.events += 1
        for sink in sinks:
            self.attempted += 1
            if sink(event.data):
                self.sent += 1
            else:
                self.dropped += 1

    def metrics_json(self) -> Json:
        """The watchers' part of the metrics."""
        events = self.history.events
        return {
            "subscribers": {"current": len(self._sinks), "peak": self.peak},
            "replay": {
                "requests_total": self.replays,
                "attempted_total": self.replayed,
                "sent_total": self.replay_sent,
                "bytes_total": self.replay_bytes,
            },
            "fanout": {
                "events_total": self.events,
                "attempted_total": self.attempted,
                "sent_total": self.sent,
                "dropped_total": self.dropped,
            },
            "retained": {
                "events": len(events),
                "capacity": KEPT,
                "oldest_ms": events[0].at_ms if events else None,
                "newest_ms": events[-1].at_ms if events else None,
                "window_ms": events[-1].at_ms - events[0].at_ms if events else 0,
            },
        }


def payload_of(event: ServiceEvent) -> Json:
    """The payload of the push: that of the upsert's reply."""
    payload: Json = msgspec.json.decode(event.data)
    return payload
