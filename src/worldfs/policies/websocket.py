"""A WebSocket without threads: the protocol core of `websockets` over a line with a deadline; either side.

No thread answers pings between two messages, so a peer may close an idle connection: `alive` finds that out.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import Self

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake, InvalidStatus, WebSocketException
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import OPEN, Protocol
from websockets.uri import parse_uri

from worldfs.base.clock import Clock
from worldfs.base.messages import coded

from .deadline_socket import DeadlineSocket
from .endpoint import PolicyEndpoint
from .policy_client import PolicyError

Message = bytes | str


class WebSocketClosed(ConnectionError):
    """The other side has closed; `reason`: its text."""

    def __init__(self, code: int | None, reason: str = "") -> None:
        super().__init__(f"closed with {code or 'no word'}{f': {reason}' if reason else ''}")
        self.code, self.reason = code, reason


class WebSocket:
    """`send` and `receive` raise OSError (`WebSocketClosed`, TimeoutError …) or WebSocketException, then it is dead."""

    def __init__(self, line: DeadlineSocket, protocol: Protocol) -> None:
        self._line, self._protocol = line, protocol
        self._parts: list[Frame] = []
        self._messages: deque[Message] = deque()
        self._pongs = 0

    @classmethod
    def to(cls, where: PolicyEndpoint, deadline: float, clock: Clock, authorization: str, most: int) -> Self:
        """Connect and do the handshake, without compression. Raises as above, and `PolicyError` for a status 401."""
        line = DeadlineSocket.to(where, deadline, clock, tls=where.scheme == "wss")
        try:
            protocol = ClientProtocol(parse_uri(str(where)), max_size=most)
            request = protocol.connect()
            if authorization:
                request.headers["Authorization"] = authorization
            protocol.send_request(request)
            socket = cls(line, protocol)
            socket._shake(protocol)
        except BaseException:
            line.close()
            raise
        return socket

    def send(self, data: Message, deadline: float) -> None:
        self._line.until(deadline)
        if self._protocol.state is not OPEN:
            raise self._ended()
        if isinstance(data, str):
            self._protocol.send_text(data.encode())
        else:
            self._protocol.send_binary(data)
        self.flush()

    def receive(self, deadline: float) -> Message:
        """The next whole message."""
        self._line.until(deadline)
        while not self._messages:
            if self._protocol.state is not OPEN:
                raise self._ended()
            self._take(self._line.receive())
        return self._messages.popleft()

    def alive(self, deadline: float | None = None) -> bool:
        """Answers pings that have come; with a deadline it also sends one, and waits for its pong."""
        try:
            while self._protocol.state is OPEN and (data := self._line.waiting()) is not None:
                self._take(data)
            if deadline is None or self._protocol.state is not OPEN:
                return self._protocol.state is OPEN
            pongs = self._pongs
            self._line.until(deadline)
            self._protocol.send_ping(b"")
            self.flush()
            while self._pongs == pongs and self._protocol.state is OPEN:
                self._take(self._line.receive())
            return self._pongs > pongs
        except (OSError, WebSocketException):
            return False

    def ping(self, deadline: float) -> None:
        """Send a ping, and go on; the pong comes with the next messages."""
        self._line.until(deadline)
        self._protocol.send_ping(b"")
        self.flush()

    def stale(self) -> None:
        """Drop messages of a request that was given up."""
        self._messages.clear()

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Sends a close frame if that takes no time; from any thread if `code` is 0, which only disconnects."""
        if code and self._protocol.state is OPEN:
            with suppress(OSError, WebSocketException):
                self._line.within(0.5)
                self._protocol.send_close(code, reason)
                self.flush()
        self._line.close()

    # -- its steps -----------------------------------------------------------------------------------------------

    def _shake(self, protocol: ClientProtocol) -> None:
        self.flush()
        answered = False
        while not answered and protocol.handshake_exc is None:
            data = self._line.receive()
            if data:
                protocol.receive_data(data)
            else:
                protocol.receive_eof()
                if protocol.handshake_exc is None:
                    raise WebSocketClosed(None)
            for item in protocol.events_received():
                if isinstance(item, Response):
                    answered = True
                else:
                    self._frame(item)  # received with the handshake, a close too: `receive` and `send` report it
        if isinstance(protocol.handshake_exc, InvalidStatus):
            status = protocol.handshake_exc.response.status_code
            if status in (401, 403):
                raise PolicyError(
                    coded("session.needs_key", status=status), expected="101", code="POLICY_CONNECTION",
                    fix=coded("session.name_key"),
                )  # fmt: skip
        if protocol.handshake_exc is not None:
            raise protocol.handshake_exc

    def _take(self, data: bytes) -> None:
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        for item in self._protocol.events_received():
            self._frame(item)
        self.flush()
        wrong = self._protocol.parser_exc
        if wrong is not None and not self._messages:
            raise self._ended() if isinstance(wrong, EOFError) else wrong

    def _frame(self, frame: object) -> None:
        assert isinstance(frame, Frame)
        if frame.opcode is Opcode.PONG:
            self._pongs += 1
        elif frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            self._parts.append(frame)
            if frame.fin:
                parts, self._parts = self._parts, []
                data = parts[0].data if len(parts) == 1 else b"".join(part.data for part in parts)
                text = parts[0].opcode is Opcode.TEXT
                self._messages.append(bytes(data).decode("utf-8", "replace") if text else bytes(data))

    def flush(self) -> None:
        """Send the protocol's own frames. To a peer that has closed it may come too late: that is no error, and
        hides no reason."""
        with suppress(*((OSError,) if self._protocol.close_rcvd is not None else ())):
            for data in self._protocol.data_to_send():
                if data:  # b"" means the end of sending: closing sends that
                    self._line.send(bytes(data))

    def _ended(self) -> WebSocketClosed:
        received = self._protocol.close_rcvd
        return WebSocketClosed(received.code, received.reason) if received is not None else WebSocketClosed(None)


__all__ = ["InvalidHandshake", "WebSocket", "WebSocketClosed", "WebSocketException"]
