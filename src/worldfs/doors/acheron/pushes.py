"""What is said unasked: service changes to who watches, debug pushes to who subscribed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from worldfs.plane.caller import Caller
from worldfs.tree.binding import ADMIN, Binding
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
        self.debugging: set[Peer] = set()
        self._watches: dict[Peer, Callable[[], None]] = {}
        self._end = realm.plane.listen(self._heard, Binding(ADMIN, "", ""))

    def close(self) -> None:
        self._end()

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
        self.debugging.discard(peer)
        self.unwatch(peer)

    def _service(self, peer: Peer, event: bytes) -> None:
        if peer in self._watches:
            peer.line.send(replies.service_event(event))
            self._meters.pushes += 1

    def _heard(self, kind: str, payload: Json) -> None:
        if kind != SERVICE and self.debugging:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._tell, kind, payload)

    def _tell(self, kind: str, payload: Json) -> None:
        frame = replies.debug(kind, _TOPOLOGY, payload, now_ms(self._realm.clock))
        for peer in self.debugging:
            if peer.stream is not None:
                peer.stream.add(frame)
            peer.line.send(frame)
            self._meters.pushes += 1
        self._realm.feed.publish(STREAM)
