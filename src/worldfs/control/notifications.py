"""Notifications of changes: the feed, the watchers of services, the debug subscribers.

Sent in the order of the changes, in the thread of the change, under the writing lock: so listeners must not block.
"""

from __future__ import annotations

from collections.abc import Callable

from worldfs.access.binding import Binding
from worldfs.access.caller import Caller
from worldfs.access.judge import judge
from worldfs.access.things import ProjectScope, ServiceEvents
from worldfs.access.verb import Verb
from worldfs.base.clock import Clock
from worldfs.formats.wire.frames import Json
from worldfs.tree.change_feed import ChangeFeed

from . import plane_status
from .authorization import authorize
from .control_operations import OPS
from .event_history import KEPT, EventHistory
from .payload_fields import identifier, limit_of
from .plane_error import PlaneError
from .plane_queries import PlaneQueries
from .subscribers import (
    SERVICE_EVENT,
    TOPOLOGY,
    TOPOLOGY_DELTA,
    Push,
    PushListener,
    ServiceWatch,
    ServiceWatchers,
    Sink,
    payload_of,
)
from .transaction import PlaneContext, Transaction


class Notifications(PlaneQueries):
    """The listeners, and the notifications to them."""

    def __init__(self, context: PlaneContext, clock: Clock, feed: ChangeFeed) -> None:
        super().__init__(context, clock)
        self._feed = feed
        self._watchers = ServiceWatchers(EventHistory())
        self._listeners: tuple[PushListener, ...] = ()

    def _notify(self, transaction: Transaction) -> None:
        """After a change: notify the feed, the watchers of services, the debug subscribers. In the order of the
        changes."""
        if not transaction.change:
            return
        if transaction.topics:
            self._feed.publish(*dict.fromkeys(transaction.topics))
        if transaction.event is not None:
            with self._lock:
                # In one step: a new watcher gets the event in the replay or by delivery, and never both.
                sinks = self._watchers.record(transaction.event)
            self._watchers.history.save(transaction.event)
            self._watchers.deliver(transaction.event, sinks)
        if not self._listeners:
            return
        if transaction.event is not None:
            payload = payload_of(transaction.event)
            for listener in self._listeners:
                listener.push(SERVICE_EVENT, payload)
        if transaction.row.topology:
            self._notify_topology(transaction)

    def _notify_topology(self, transaction: Transaction) -> None:
        reason = f"control.{transaction.row.op}"
        payload = {"event": "workspace_topology_changed", "reason": reason, "ts_ms": transaction.now}
        for listener in self._listeners:
            listener.push(TOPOLOGY, payload)
            binding = listener.binding
            for project_id in dict.fromkeys(transaction.projects):
                with self._lock:
                    project = self._state.project(project_id)
                    if project is None or not judge(binding, Verb.OBSERVE, ProjectScope(project)):
                        continue
                    shown = plane_status.workspace(self._state, self._reconcile, project, binding, transaction.now)
                listener.push(
                    TOPOLOGY_DELTA,
                    {
                        "event": "workspace_topology_delta",
                        "reason": reason,
                        "agent_id": binding.agent,
                        "status": shown,
                        "ts_ms": transaction.now,
                    },
                )

    def listen(self, push: Push, binding: Callable[[], Binding] | None = None) -> Callable[[], None]:
        """Call `push` for every push, until the returned function is called.

        `control.workspace_topology_delta` and `control.reconcile` contain what `binding` may see, secrets included only
        for the primary agent; it is evaluated at every push, because connections are rebound. Without one: what every
        user may see. Must not block and must not call back.
        """
        listener = PushListener(push, binding)
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def end() -> None:
            with self._lock:
                self._listeners = tuple(known for known in self._listeners if known is not listener)

        return end

    def watch(self, payload: Json, caller: Caller, sink: Sink) -> ServiceWatch:
        """`node_service_watch` and its subscription: send the reply, then the replay; `sink` receives later events."""
        authorize(OPS["node_service_watch"], payload, caller, self.config)
        with self._lock:
            reply, replay = self._watch_reply(caller, payload)
            number = self._watchers.begin(reply.get("node_id", ""), sink)

        def end() -> None:
            with self._lock:
                self._watchers.end(number)

        return ServiceWatch(reply, replay, end)

    def _watch_reply(self, caller: Caller, payload: Json) -> tuple[Json, list[bytes]]:
        """`{node_id?,replay_limit?}` → the reply, and the events to replay."""
        decision = judge(caller, Verb.OBSERVE, ServiceEvents(self.config.users_may_watch))
        if not decision:
            raise PlaneError.of(decision, correlated=False)
        node_id = identifier(payload, "node_id") if payload.get("node_id") is not None else ""
        limit = limit_of(payload, "replay_limit", 0, KEPT)
        events = self._watchers.replay(node_id, limit) if limit else []
        named = {"node_id": node_id} if node_id else {}
        reply = {"enabled": True, **named, "replay_limit": limit, "replayed": len(events)}
        return reply, [event.data for event in events]
