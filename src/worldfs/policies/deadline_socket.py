"""A TCP connection on which everything together keeps one deadline, however slowly the peer drips."""

from __future__ import annotations

import io
import socket
from contextlib import suppress
from typing import Self

from worldfs.base.clock import Clock

from .endpoint import PolicyEndpoint

PIECE = 256 * 1024
HEAD = 16 * 1024  # of an HTTP answer; its body is read past the buffer


class DeadlineSocket:
    """`until` sets the deadline of what follows; then `send` and `receive` raise TimeoutError once it has passed.

    `close` may come from any thread, and ends what waits.
    """

    def __init__(self, taken: socket.socket, clock: Clock) -> None:
        self._socket, self._clock = taken, clock
        self._deadline = float("inf")
        self._waits: float | None = -1.0  # the socket's own limit as it was last set
        with suppress(OSError):
            taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @classmethod
    def to(cls, where: PolicyEndpoint, deadline: float, clock: Clock, *, tls: bool = False) -> Self:
        """Raises OSError, of which TimeoutError is one."""
        left = max(1e-3, deadline - clock.monotonic())
        taken = socket.create_connection((where.host, where.port), timeout=left)
        if tls:
            import ssl

            try:
                taken = ssl.create_default_context().wrap_socket(taken, server_hostname=where.host)
            except BaseException:
                taken.close()
                raise
        line = cls(taken, clock)
        line.until(deadline)
        return line

    def until(self, deadline: float) -> None:
        """A value of the clock's `monotonic`; infinity: no limit."""
        self._deadline = deadline

    def within(self, seconds: float) -> None:
        """`until` so many seconds from now."""
        self.until(self._clock.monotonic() + seconds)

    def send(self, data: bytes) -> None:
        self._limit()
        self._socket.sendall(data)

    sendall = send  # for http.client

    def receive(self) -> bytes:
        """The next bytes, at least one; b"" when the peer has ended."""
        self._limit()
        return self._socket.recv(PIECE)

    def receive_into(self, buffer: memoryview) -> int:
        self._limit()
        return self._socket.recv_into(buffer)

    def waiting(self) -> bytes | None:
        """The bytes that have come already, without waiting; None: none, b"": the peer has ended."""
        self._socket.settimeout(0)
        self._waits = 0.0
        try:
            return self._socket.recv(PIECE)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError as error:
            if type(error).__name__ in ("SSLWantReadError", "SSLWantWriteError"):  # ssl is imported for TLS only
                return None
            raise

    def makefile(self, mode: str = "rb") -> io.BufferedReader:
        """The file that http.client reads from; closing it leaves the connection open."""
        return io.BufferedReader(_SocketReader(self), HEAD)

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits
        with suppress(OSError):
            self._socket.close()

    def _limit(self) -> None:
        if self._deadline == float("inf"):
            left = None
        else:
            left = self._deadline - self._clock.monotonic()
            if left <= 0:
                raise TimeoutError("the deadline has passed")
        if left != self._waits:
            self._socket.settimeout(left)
            self._waits = left


class _SocketReader(io.RawIOBase):
    def __init__(self, line: DeadlineSocket) -> None:
        self._line = line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # any buffer, as it is called
        return self._line.receive_into(memoryview(buffer))
