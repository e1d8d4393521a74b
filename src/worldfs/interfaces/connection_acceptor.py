"""Accepts connections for a protocol, within limits: of all, and of those whose peers have not shown who they are.

A connection is a stranger's until its protocol calls `known`. A stranger that comes while there are enough of them
takes the place of the oldest: a client that says at once who it is gets through. When no descriptor is left, the
connections that wait in the system's queue are taken later, and the log says so once a minute.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import resource
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from worldfs.base.forked_child import keep_from_children

BACKLOG: Final = 1_024
AT_ONCE: Final = 16  # connections accepted in one step of the loop, in which those that gave way are not yet closed
RETRY_S: Final = 1.0  # after the system refused to accept
LOG_S: Final = 60.0  # between two lines about one kind of trouble
HANDSHAKE_S: Final = 10.0  # of TLS
STRANGERS: Final = 128
RESERVED: Final = 256  # descriptors left to files, drivers and children
_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

Known = Callable[[], None]


def most_connections(wanted: int | None = None) -> int:
    """How many connections one listener may hold: the descriptors of this process less those that others need."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = 1 << 16 if soft == resource.RLIM_INFINITY else soft
    room = max(limit - RESERVED, limit // 4, 8)
    return room if wanted is None else min(wanted, room)


class ConnectionAcceptor:
    """`listen`, then `close`; all on the loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        make: Callable[[Known], asyncio.BaseProtocol],
        log: logging.Logger,
        *,
        most: int | None = None,
        tls: ssl.SSLContext | None = None,
        stranger_s: float = 0.0,
    ) -> None:
        """`make`: the protocol of one connection, which calls what it is given once the peer has shown who it is.
        `stranger_s`: after which a stranger is closed; 0: the protocol sees to that."""
        self._loop, self._make, self._log, self._tls, self._stranger_s = loop, make, log, tls, stranger_s
        self.most = most_connections(most)
        self.strangers_most = max(1, min(STRANGERS, self.most // 2))
        self._strangers: dict[socket.socket, None] = {}  # the oldest first
        self._known: set[socket.socket] = set()
        self._listening: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._resting: dict[int, asyncio.TimerHandle] = {}
        self._said: dict[str, tuple[float, int]] = {}  # of each kind of trouble: when it was logged, how often since

    def listen(self, sockets: Sequence[socket.socket]) -> None:
        for item in sockets:
            keep_from_children(item.fileno())
            item.setblocking(False)
            item.listen(BACKLOG)
            self._listening.append(item)
            self._loop.add_reader(item.fileno(), self._accept, item)

    @property
    def listening(self) -> bool:
        return bool(self._listening)

    def close(self) -> None:
        """Accept no more. Connections stay."""
        for item in self._listening:
            self._loop.remove_reader(item.fileno())
            if (timer := self._resting.pop(item.fileno(), None)) is not None:
                timer.cancel()
            item.close()
        self._listening.clear()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                taken, _ = listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:
                self._rest(listening, error)
                return
            if self._has_room():
                keep_from_children(taken.fileno())
                taken.setblocking(False)
                self._strangers[taken] = None
                if self._stranger_s:
                    self._loop.call_later(self._stranger_s, self._end, taken)
                task = self._loop.create_task(self._serve(taken))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            else:
                taken.close()
                self._say(f"{self.most} connections are open: a new one was closed")

    def _has_room(self) -> bool:
        """Whether one more can be held. The oldest stranger gives way; what has been closed meanwhile is forgotten."""
        if len(self._strangers) >= self.strangers_most or len(self._strangers) + len(self._known) >= self.most:
            self._strangers = {item: None for item in self._strangers if item.fileno() >= 0}
            self._known = {item for item in self._known if item.fileno() >= 0}
        if len(self._strangers) + len(self._known) < self.most and len(self._strangers) < self.strangers_most:
            return True
        if not self._strangers:
            return False
        self._end(next(iter(self._strangers)))
        self._say("many connections have not said who they are: the oldest are closed")
        return True

    def _end(self, taken: socket.socket) -> None:
        """Close it if it is a stranger's still: its transport reads the end."""
        if taken in self._strangers:
            del self._strangers[taken]
            with suppress(OSError):
                taken.shutdown(socket.SHUT_RDWR)

    def _rest(self, listening: socket.socket, error: OSError) -> None:
        """Accept nothing for a moment: the loop would else be told again at once."""
        if error.errno in _EXHAUSTED:
            self._say(f"new connections wait: {error.strerror} (ulimit -n {_descriptors()})")
        else:
            self._say(f"a connection could not be accepted: {error.strerror}")
        number = listening.fileno()
        self._loop.remove_reader(number)

        def again() -> None:
            self._resting.pop(number, None)
            self._loop.add_reader(number, self._accept, listening)

        self._resting[number] = self._loop.call_later(RETRY_S, again)

    async def _serve(self, taken: socket.socket) -> None:
        def known() -> None:
            if self._strangers.pop(taken, False) is None:
                self._known.add(taken)

        more = {"ssl_handshake_timeout": HANDSHAKE_S} if self._tls is not None else {}
        try:
            await self._loop.connect_accepted_socket(lambda: self._make(known), taken, ssl=self._tls, **more)
        except (TimeoutError, OSError, ssl.SSLError):  # a peer that has gone, or that speaks no TLS
            self._strangers.pop(taken, None)
            taken.close()

    def _say(self, text: str) -> None:
        """One line a minute for each kind of trouble, with how often it was met."""
        at, count = self._said.get(text, (-LOG_S, 0))
        if self._loop.time() < at + LOG_S:
            self._said[text] = (at, count + 1)
            return
        self._log.warning("%s%s", text, f" ({count} times more in the last minute)" if count else "")
        self._said[text] = (self._loop.time(), 0)


async def bound_sockets(loop: asyncio.AbstractEventLoop, host: str, port: int) -> list[socket.socket]:
    """A bound socket for each address of the host. Raises `OSError`."""
    made = await loop.create_server(asyncio.Protocol, host, port, start_serving=False)
    try:
        return [socket.socket(fileno=os.dup(item.fileno())) for item in made.sockets]
    finally:
        made.close()


def _descriptors() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
