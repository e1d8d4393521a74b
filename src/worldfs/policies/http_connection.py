"""One HTTP/1.1 connection to a policy server: kept open, one deadline a call, an answer of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from http.client import HTTPException, HTTPResponse, RemoteDisconnected
from typing import Final, NamedTuple

from worldfs import __version__
from worldfs.base.clock import Clock
from worldfs.base.messages import coded

from . import policy_errors
from .deadline_socket import DeadlineSocket
from .endpoint import PolicyEndpoint

MOST_DIGITS: Final = 18  # of a length that an answer may have


class HttpReply(NamedTuple):
    status: int
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class HttpConnection:
    """Follows no redirect: a secret goes only to the configured server."""

    def __init__(self, where: PolicyEndpoint, clock: Clock, token: str = "", most: int = 1 << 26) -> None:
        self.where, self._clock, self._most = where, clock, most
        self._line: DeadlineSocket | None = None
        self._closes = 0
        self._head = f"Host: {where.authority}\r\nUser-Agent: worldfs/{__version__}\r\nAccept: application/json\r\n"
        if token:
            self._head += f"Authorization: Bearer {token}\r\n"

    def call(self, method: str, timeout_s: float, body: Sequence[bytes] = (), path: str = "") -> HttpReply:
        """Any status is an answer; `body`: in pieces. Raises `PolicyError`: connection, timeout or protocol."""
        deadline = self._clock.monotonic() + timeout_s
        request = self._request(method, path or self.where.path, body)
        try:
            kept, closes = self._line is not None, self._closes
            try:
                return self._once(method, request, deadline)
            except (RemoteDisconnected, ConnectionError):
                if not kept or self._closes != closes:
                    raise
                self._hang_up()  # the server has closed a line that was idle: that is no failure
                return self._once(method, request, deadline)
        except TimeoutError:
            self._hang_up()
            raise policy_errors.timed_out(self.where, timeout_s) from None
        except (HTTPException, ValueError) as error:  # RemoteDisconnected is a ConnectionError too
            self._hang_up()
            if isinstance(error, OSError):
                raise policy_errors.unreachable(self.where, coded("session.dropped")) from None
            raise policy_errors.protocol_error(
                self.where, f"{type(error).__name__}: {error}", coded("session.http_answer")
            ) from None
        except OSError:
            self._hang_up()
            raise policy_errors.unreachable(self.where, coded("session.dropped")) from None
        except BaseException:
            self._hang_up()
            raise

    def close(self) -> None:
        """From any thread; a waiting call ends, and is not retried."""
        self._closes += 1
        self._hang_up()

    def _hang_up(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()

    def _once(self, method: str, request: bytes, deadline: float) -> HttpReply:
        line = self._line
        if line is None:
            try:
                self._line = line = DeadlineSocket.to(
                    self.where, deadline, self._clock, tls=self.where.scheme == "https"
                )
            except OSError as error:
                raise policy_errors.unreachable(self.where, error) from None
        line.until(deadline)
        line.send(request)
        with HTTPResponse(line, method=method) as answer:  # type: ignore[arg-type]  # a connection with the methods that it needs of a socket
            answer.begin()
            if len(answer.headers.get("Content-Length", "").strip()) > MOST_DIGITS:  # Python may not read it
                raise policy_errors.oversize(self.where, 10**MOST_DIGITS, self._most)
            if answer.length is not None and answer.length > self._most:
                raise policy_errors.oversize(self.where, answer.length, self._most)
            body = answer.read(self._most + 1) if answer.length is None else answer.read()
            if len(body) > self._most:
                raise policy_errors.oversize(self.where, len(body), self._most)
            if answer.will_close:
                self._hang_up()
            return HttpReply(answer.status, body)

    def _request(self, method: str, path: str, body: Sequence[bytes]) -> bytes:
        length = sum(map(len, body))
        kind = f"Content-Type: application/json\r\nContent-Length: {length}\r\n" if method == "POST" else ""
        return b"".join((f"{method} {path} HTTP/1.1\r\n{self._head}{kind}\r\n".encode("ascii"), *body))
