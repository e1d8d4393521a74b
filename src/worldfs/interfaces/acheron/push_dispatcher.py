"""Pushes: service changes to watchers, debug pushes to subscribers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from worldfs.access.binding import NOBODY, Binding
from worldfs.access.caller import Caller
from worldfs.formats.wire.frames import Json

from . import reply_frames
from .debug_stream import PATH as STREAM
from .meters import Meters
from .reply_frames import now_ms

if TYPE_CHECKING:
    from .peer import ClientPeer
    from .server_ports import RealmPort

SERVICE: Final = "control.node_service_event"
_TOPOLOGY: Final = "workspace-topology"  # the request that debug pushes name, as recorded


class PushDispatcher:
    """On the loop, but for `_heard` and the sinks of watchers, which run in the thread that changed the plane.

    A peer that does not read is dropped by its transport, not waited for; a slow watcher misses changes.
    """

    def __init__(self, realm: RealmPort, meters: Meters, loop: asyncio.AbstractEventLoop) -> None:
        self._realm, self._meters, self._loop = realm, meters, loop
        self.debugging: dict[ClientPeer, Callable[[], None]] = {}
        self._watches: dict[ClientPeer, Callable[[], None]] = {}

    def close(self) -> None:
        for peer in (*self.debugging, *self._watches):
            self.remove_peer(peer)

    def subscribe_debug(self, peer: ClientPeer) -> None:
        """Push changes to the peer, filtered by its active binding: the mount client takes tokens from them."""

        def bound() -> Binding:
            session = peer.sessions.get(None)
            return session.binding if session is not None else NOBODY

        if peer not in self.debugging:
            self.debugging[peer] = self._realm.plane.listen(partial(self._on_push, peer), bound)

    def unsubscribe_debug(self, peer: ClientPeer) -> None:
        end = self.debugging.pop(peer, None)
        if end is not None:
            end()

    def watch(self, peer: ClientPeer, payload: Json, caller: Caller, id: str | None) -> bytes:
        """The reply and the replay. A second watch replaces the first."""

        def sink(event: bytes) -> bool:
            if peer.transport.congested:
                return False
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._service, peer, event)
            return True

        watch = self._realm.plane.watch(payload, caller, sink)
        self.unwatch(peer)
        self._watches[peer] = watch.end
        for event in watch.replay:  # after the reply, which is sent in this step
            self._loop.call_soon(self._service, peer, event)
        return reply_frames.control("node_service_watch", id, watch.reply)

    def unwatch(self, peer: ClientPeer) -> None:
        end = self._watches.pop(peer, None)
        if end is not None:
            end()

    def remove_peer(self, peer: ClientPeer) -> None:
        self.unsubscribe_debug(peer)
        self.unwatch(peer)

    def _service(self, peer: ClientPeer, event: bytes) -> None:
        if peer in self._watches:
            peer.transport.send(reply_frames.service_event(event))
            self._meters.pushes += 1

    def _on_push(self, peer: ClientPeer, kind: str, payload: Json) -> None:
        if kind != SERVICE:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._send_debug, peer, kind, payload)

    def _send_debug(self, peer: ClientPeer, kind: str, payload: Json) -> None:
        if peer not in self.debugging:
            return
        frame = reply_frames.debug(kind, _TOPOLOGY, payload, now_ms(self._realm.clock))
        if peer.stream is not None:
            peer.stream.add(frame)
        peer.transport.send(frame)
        self._meters.pushes += 1
        self._realm.feed.publish(STREAM)
