"""What is said unasked: service changes to who watches, debug pushes to who subscribed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from worldfs.plane.caller import Caller
from worldfs.tree.binding import USER, Binding
from worldfs.wire.frames import Json

from . import replies
from .meters import Meters
from .replies import now_ms
from .stream import PATH as STREAM

if TYPE_CHECKING:
    from .peer import Peer
    from .ports import Realm

SERVICE: Final = "control.node_service_event"
_TOPOLOGY: Final = "workspace-topology"  # the request that debug pushes name, as recorded


class Pushes:
    """On the loop, but for `_heard` and the sinks of watchers, which run in the thread of whoever changed the plane.

    A peer that takes nothing is dropped by its line, not waited for; a watcher that is behind misses changes.
    """

    def __init__(self, realm: Realm, meters: Meters, loop: asyncio.AbstractEventLoop) -> None:
        self._realm, self._meters, self._loop = realm, meters, loop
        self.debugging: dict[Peer, Callable[[], None]] = {}
        self._watches: dict[Peer, Callable[[], None]] = {}

    def close(self) -> None:
        for peer in (*self.debugging, *self._watches):
            self.left(peer)

    def debug(self, peer: Peer) -> None:
        """Tell it what changes, each thing as its active binding may see it: the mount client takes tokens from it."""

        def bound() -> Binding:
            seat = peer.seats.get(None)
            return seat.binding if seat is not None else Binding(USER, "")

        if peer not in self.debugging:
            self.debugging[peer] = self._realm.plane.listen(partial(self._heard, peer), bound)

    def undebug(self, peer: Peer) -> None:
        end = self.debugging.pop(peer, None)
        if end is not None:
            end()

    def watch(self, peer: Peer, payload: Json, caller: Caller, id: str | None) -> bytes:
        """The reply and the replay. A second watch replaces the first."""

        def sink(event: bytes) -> bool:
            if peer.line.full:
                return False
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._service, peer, event)
            return True

        watch = self._realm.plane.watch(payload, caller, sink)
        self.unwatch(peer)
        self._watches[peer] = watch.end
        for event in watch.replay:  # after the reply, which is sent in this step
            self._loop.call_soon(self._service, peer, event)
        return replies.control("node_service_watch", id, watch.reply)

    def unwatch(self, peer: Peer) -> None:
        end = self._watches.pop(peer, None)
        if end is not None:
            end()

    def left(self, peer: Peer) -> None:
        self.undebug(peer)
        self.unwatch(peer)

    def _service(self, peer: Peer, event: bytes) -> None:
        if peer in self._watches:
            peer.line.send(replies.service_event(event))
            self._meters.pushes += 1

    def _heard(self, peer: Peer, kind: str, payload: Json) -> None:
        if kind != SERVICE:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._tell, peer, kind, payload)

    def _tell(self, peer: Peer, kind: str, payload: Json) -> None:
        if peer not in self.debugging:
            return
        frame = replies.debug(kind, _TOPOLOGY, payload, now_ms(self._realm.clock))
        if peer.stream is not None:
            peer.stream.add(frame)
        peer.line.send(frame)
        self._meters.pushes += 1
        self._realm.feed.publish(STREAM)
