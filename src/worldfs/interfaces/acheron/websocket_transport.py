"""One WebSocket connection: bytes to messages and back, over the library's protocol without its tasks and queues.

A receiver is called for each message in the loop step that read it, so that an answer from memory costs no switch of
tasks; all answers of a step leave in one write. An idle connection is a transport and two small objects.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, Protocol, cast

from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State

from worldfs.base.errors import WorldError
from worldfs.base.messages.message_rendering import error_message
from worldfs.interfaces.web.sign_in import token_of

from .meters import Meters
from .upgrade import Upgrade

MAX_FRAME: Final = 4 << 20  # bytes of a message; beyond it the connection is closed with 1009 (acheron D2)
BATCH_MAX: Final = 64 << 10  # bytes that are batched into one write
WRITE_HIGH_WATER: Final = 256 << 10  # unsent bytes: beyond it the peer's requests wait
WRITE_ABORT: Final = 32 << 20  # beyond it the peer is dropped
STALLED_S: Final = 30.0  # a peer that reads nothing for so long is dropped
GREETING_S: Final = 10.0  # for the upgrade
FAREWELL_S: Final = 5.0  # for the closing handshake
DELIVERY_S: Final = 60.0  # for a page on its way over a slow network

_SILENT: Final = logging.getLogger("worldfs.acheron.frames")
_SILENT.setLevel(logging.CRITICAL)  # errors of peers are counted, not logged: a peer must not fill the log
_LOG: Final = logging.getLogger("worldfs.acheron")


class FrameReceiver(Protocol):
    """The consumer of a connection's messages. Called on the loop; must not block."""

    def on_message(self, message: bytes) -> None:
        """A whole message, in the order of arrival."""
        ...

    def on_drained(self) -> None:
        """The send buffer has drained: sending may go on."""
        ...

    def on_closed(self) -> None:
        """The connection is over, however it ended."""
        ...


Route = Callable[["WebSocketTransport", str, str], FrameReceiver]
"""The receiver for a connection: given it, its path (with the query), and its Authorization header ("" if none)."""

Pages = Callable[[Request], Response | None]
"""The answer to a request over plain HTTP; None: it is for the WebSocket side. Must not block."""

Claimed = Callable[[bytes], str | None]
"""The mounted path of a request that begins so; "": it is for this side; None: more bytes are needed."""

Application = Callable[[str], Awaitable[asyncio.Protocol]]
"""The protocol of an HTTP application for one connection, by its mounted path."""


class HandOver(NamedTuple):
    """To HTTP applications: which connections are theirs, and who answers them."""

    claimed: Claimed
    application: Application


class WebSocketTransport(asyncio.Protocol):
    """One connection, as `Server` accepts it."""

    __slots__ = (
        "__weakref__",
        "_corked",
        "_deadline",
        "_early",
        "_gathered",
        "_hand_over",
        "_handing",
        "_loop",
        "_meters",
        "_out",
        "_pages",
        "_parts",
        "_protocol",
        "_receiver",
        "_route",
        "_stalled_at",
        "_transport",
        "batch",
        "congested",
        "connections",
        "known",
    )

    def __init__(
        self,
        route: Route,
        pages: Pages,
        lines: set[WebSocketTransport],
        meters: Meters,
        loop: asyncio.AbstractEventLoop,
        *,
        hand_over: HandOver | None = None,
        known: Callable[[], None] = lambda: None,
    ) -> None:
        """`hand_over` None: there are no HTTP applications. `known`: to be called when the peer has shown who it is."""
        self.known = known
        self._hand_over, self._early = hand_over, b""  # until the request's path is known
        self._handing: asyncio.Task[None] | None = None
        self._route, self._pages, self.connections, self._meters, self._loop = route, pages, lines, meters, loop
        self._protocol = Upgrade(max_size=MAX_FRAME, logger=_SILENT)
        self._transport: asyncio.Transport | None = None
        self._receiver: FrameReceiver | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._parts: bytearray | None = None
        self._out: list[bytes] = []  # heads and messages not yet written
        self._corked = False
        self._stalled_at = self._gathered = 0
        self.congested = False
        self.batch = 0  # number of reads from the peer

    # -- for receivers  ------------------------------------------------------------------------------------

    @property
    def open(self) -> bool:
        return self._protocol.state is State.OPEN

    def send(self, message: bytes) -> None:
        """A text message. Does nothing on a connection that is closing."""
        if self._protocol.state is not State.OPEN:
            return
        size = len(message)
        self._out.append(_SHORT[size] if size < 126 else _head(size))
        self._out.append(message)
        self._meters.frames_out += 1
        self._gathered += size
        if not self._corked or self._gathered > BATCH_MAX:
            self._flush()

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Start the closing handshake; what was sent before is delivered first."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(code, reason)
            if not self._corked:
                self._flush()
            self._arm(FAREWELL_S)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def cork(self) -> None:
        """Until `uncork`, what is sent is gathered."""
        self._corked = True

    def uncork(self) -> None:
        self._corked = False
        self._flush()

    def pause(self) -> None:
        """Stop reading from the peer (TCP backpressure)."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    # -- called by the loop -- -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(WRITE_HIGH_WATER)
        made = transport.get_extra_info("socket")
        if made is not None:
            _keep_alive(made)
        self.connections.add(self)
        self._meters.connections += 1
        self._arm(GREETING_S)

    def data_received(self, data: bytes) -> None:
        if self._hand_over is not None:
            data = self._early = self._early + data
            path = self._hand_over.claimed(data)
            if path is None:
                return
            if path:
                self._give_away(self._hand_over.application, path)
                return
            self._hand_over, self._early = None, b""
        self.batch += 1
        protocol = self._protocol
        protocol.receive_data(data)
        self._corked = True
        try:
            for event in protocol.events_received():
                if self._receiver is None:
                    if isinstance(event, Request):
                        self._greet(event)
                elif isinstance(event, Frame) and protocol.state is State.OPEN:
                    self._frame(event, self._receiver)
        finally:
            self._corked = False
            self._flush()
        if protocol.close_expected():
            unsent = self._transport is not None and self._transport.get_write_buffer_size() > 0
            self._arm(DELIVERY_S if unsent else FAREWELL_S)

    def eof_received(self) -> None:
        self._protocol.receive_eof()
        self._flush()

    def connection_lost(self, error: Exception | None) -> None:
        self.connections.discard(self)
        if self._deadline is not None:
            self._deadline.cancel()
        self._protocol.receive_eof()
        receiver, self._receiver = self._receiver, None
        self.congested = False
        if receiver is not None:
            receiver.on_closed()

    def pause_writing(self) -> None:
        self.congested = True
        self._stalled_at = -1
        self._stall()

    def resume_writing(self) -> None:
        self.congested = False
        if self._protocol.state is State.OPEN and self._deadline is not None:
            self._deadline.cancel()
        if self._receiver is not None:
            self._receiver.on_drained()

    # -- inside ----------------------------------------------------------------------------------------------------

    def _give_away(self, application: Application, path: str) -> None:
        if self._handing is None:
            self.pause()
            if self._deadline is not None:
                self._deadline.cancel()
            self.known()  # the application limits its strangers itself
            self._handing = self._loop.create_task(self._hand(application, path))

    async def _hand(self, application: Application, path: str) -> None:
        """What was read so far is read once more by the application; from then on this object is done."""
        transport = self._transport
        try:
            protocol = await application(path)
        except WorldError as error:
            _LOG.warning("%s cannot be served: %s", path, error)
            self._refuse(error_message(error))
            return
        except Exception:
            _LOG.exception("%s cannot be served", path)
            self._refuse(f"{path} cannot be served: the server's log says why")
            return
        if transport is None or transport.is_closing():
            return
        self.connections.discard(self)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        protocol.data_received(self._early)
        self._early = b""
        transport.resume_reading()

    def _refuse(self, why: str) -> None:
        """The answer where an application cannot be made, and the end of the connection."""
        body = f"{why}\n".encode()
        head = (
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        )
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(head.encode() + body)
            self._transport.close()

    def _greet(self, request: Request) -> None:
        page = self._pages(request)
        response = page or self._protocol.accept(request)
        self._protocol.send_response(response)
        self._flush()
        if response.status_code != 101:
            self._meters.refused += page is None
            return
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._receiver = self._route(self, request.path, authorization(request))

    def _frame(self, frame: Frame, receiver: FrameReceiver) -> None:
        code = frame.opcode
        if code is Opcode.TEXT or code is Opcode.BINARY:
            if frame.fin:
                receiver.on_message(bytes(frame.data))
            else:
                self._parts = bytearray(frame.data)
        elif code is Opcode.CONT and self._parts is not None:
            self._parts += frame.data
            if frame.fin:
                whole, self._parts = bytes(self._parts), None
                receiver.on_message(whole)

    def _flush(self) -> None:
        said = self._protocol.data_to_send()  # pongs and close frames: after what was sent before them
        ends = bool(said) and not said[-1]  # the library's sign for the end of the stream
        data = b"".join((*self._out, *said)) if said else b"".join(self._out)
        self._out.clear()
        self._gathered = 0
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if data:
            transport.write(data)
            if self.congested and transport.get_write_buffer_size() > WRITE_ABORT:
                self._drop()
                return
        if ends:
            if transport.can_write_eof():
                transport.write_eof()
            else:
                transport.close()

    def _arm(self, seconds: float) -> None:
        """Drop the connection in so many seconds unless the timer is cancelled."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self._loop.call_later(seconds, self.abort)

    def _stall(self) -> None:
        """While the write buffer is full: drop the peer if it has read nothing since the last check."""
        transport = self._transport
        if not self.congested or transport is None or transport.is_closing():
            return
        left = transport.get_write_buffer_size()
        if left == self._stalled_at:
            self._drop()
            return
        self._stalled_at = left
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self._loop.call_later(STALLED_S, self._stall)

    def _drop(self) -> None:
        self._meters.dropped += 1
        self.abort()


def _head(size: int) -> bytes:
    """Of a whole text message from a server (RFC 6455, section 5.2): final, not masked."""
    if size < 126:
        return bytes((0x81, size))
    if size < 65_536:
        return b"\x81\x7e" + size.to_bytes(2, "big")
    return b"\x81\x7f" + size.to_bytes(8, "big")


_SHORT: Final = tuple(_head(size) for size in range(126))


def authorization(request: Request) -> str:
    """The Authorization header, or the token that a browser offers as a subprotocol; "" if there is neither."""
    header = ", ".join(request.headers.get_all("Authorization"))
    return header or token_of(", ".join(request.headers.get_all("Sec-WebSocket-Protocol")))


def _keep_alive(made: socket.socket) -> None:
    """TCP keepalive: a vanished peer is noticed within two minutes without traffic."""
    if made.family not in (socket.AF_INET, socket.AF_INET6):
        return
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, name):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
