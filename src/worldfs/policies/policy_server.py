"""A policy server on one port: `/predict`, OpenVLA's `/act`, openpi's WebSocket, `/healthz`.

A thread for each connection, of which there are at most `MOST`; the policy is called by one at a time.
"""

from __future__ import annotations

import hmac
import selectors
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from worldfs.base.clock import Clock
from worldfs.base.errors import Busy, from_os
from worldfs.base.forked_child import keep_from_children
from worldfs.base.messages import coded

from . import server_responses
from .deadline_socket import DeadlineSocket
from .endpoint import MAX_BYTES
from .http_request import BadRequest, HttpRequest, read_request
from .served_policies import ServedPolicy
from .server_responses import LockedPolicy
from .websocket import WebSocket, WebSocketException

MOST = 32
IDLE_S = 75.0  # a kept HTTP connection without a request
PING_S = 20.0  # a silent WebSocket gets a ping, and is closed if it stays silent for as long again

LogCallback = Callable[[str], None]


class PolicyServer:
    """Listens once made; serves in `run`, or beside the caller within `with`. `token`: what callers must bring."""

    def __init__(
        self,
        policy: ServedPolicy,
        clock: Clock,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        token: str = "",
        log: LogCallback | None = None,
    ) -> None:
        self._policy, self._clock = LockedPolicy(policy, clock), clock
        self._token = token
        self._log = log or (lambda text: None)
        self._free = threading.BoundedSemaphore(MOST)
        self._lines: set[DeadlineSocket] = set()
        self._lock = threading.Lock()
        self._stop, self._wake = socket.socketpair()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._listening = socket.create_server((host, port), family=family, backlog=MOST)
        except OSError as error:
            self._stop.close()
            self._wake.close()
            if error.errno in (98, 48):  # EADDRINUSE here and on macOS
                raise Busy(
                    coded("session.port_taken", port=port), op="policy serve", expected=coded("session.free_port"),
                    fix=coded("session.choose_port"),
                ) from None  # fmt: skip
            raise from_os(error, path=f"{host}:{port}", op="policy serve") from None
        keep_from_children(self._listening.fileno())
        self.host, self.port = host, int(self._listening.getsockname()[1])

    def run(self) -> None:
        """Until `stop`."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listening, selectors.EVENT_READ)
            selector.register(self._stop, selectors.EVENT_READ)
            while all(key.fileobj is not self._stop for key, _ in selector.select()):
                try:
                    taken, _ = self._listening.accept()
                except OSError:
                    self._clock.wait(
                        self._stopping, 0.05
                    )  # the client has gone again, or there are no descriptors left for the moment
                    continue
                keep_from_children(taken.fileno())
                self._admit(DeadlineSocket(taken, self._clock))
        self._listening.close()
        with self._lock:
            lines = list(self._lines)
        for line in lines:
            line.close()

    def stop(self) -> None:
        """From any thread or signal handler."""
        self._stopping.set()
        with suppress(OSError):
            self._wake.send(b"x")

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.run, name="policy server", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.join()
        for end in (self._stop, self._wake):
            end.close()

    # -- one connection ------------------------------------------------------------------------------------------

    def _admit(self, line: DeadlineSocket) -> None:
        if not self._free.acquire(blocking=False):
            line.within(1.0)
            with suppress(OSError):
                line.send(server_responses.problem(503, f"{MOST} connections are open").head(keep=False))
            line.close()
            return
        with self._lock:
            self._lines.add(line)
        threading.Thread(target=self._serve, args=(line,), name="policy caller", daemon=True).start()

    def _serve(self, line: DeadlineSocket) -> None:
        try:
            rest = b""
            while True:
                line.within(IDLE_S)
                try:
                    request, rest = read_request(line, rest, MAX_BYTES)
                except BadRequest as bad:
                    line.send(server_responses.problem(bad.status, str(bad)).head(keep=False))
                    return
                if request is None:
                    return
                if not self._known(request):
                    line.send(
                        server_responses.problem(401, "a token is needed: Authorization: Bearer TOKEN").head(keep=False)
                    )
                    return
                if request.upgrades:
                    self._speak(line, request)
                    return
                answer = server_responses.respond(request, self._policy, self._log)
                line.within(IDLE_S)
                line.send(answer.head(keep=request.keeps))
                if not request.keeps:
                    return
        except (OSError, WebSocketException) as error:
            if not isinstance(error, ConnectionError | TimeoutError):
                self._log(f"a connection ended: {error}")
        finally:
            line.close()
            with self._lock:
                self._lines.discard(line)
            self._free.release()

    def _known(self, request: HttpRequest) -> bool:
        """`Bearer T` and openpi's `Api-Key T` are equivalent; health needs no token."""
        if not self._token or (request.path == "/healthz" and not request.upgrades):
            return True
        _, _, given = request.headers.get("authorization", "").partition(" ")
        return hmac.compare_digest(given.strip().encode(), self._token.encode())

    def _speak(self, line: DeadlineSocket, request: HttpRequest) -> None:
        """openpi's protocol."""
        from websockets.server import ServerProtocol

        protocol = ServerProtocol(max_size=MAX_BYTES)
        protocol.receive_data(request.head)
        events = protocol.events_received()
        if protocol.parser_exc is not None or not events or request.headers.get("origin"):
            line.send(server_responses.problem(403, "no WebSocket for a web page").head(keep=False))
            return
        protocol.send_response(protocol.accept(events[0]))  # type: ignore[arg-type]  # the first event is the request
        peer = WebSocket(line, protocol)
        peer.flush()
        if protocol.handshake_exc is not None:
            return
        peer.send(server_responses.metadata(self._policy), self._clock.monotonic() + PING_S)
        while True:
            try:
                message = peer.receive(self._clock.monotonic() + PING_S)
            except TimeoutError:
                if not peer.alive(self._clock.monotonic() + PING_S):
                    return
                continue
            answer = server_responses.websocket_step(message, self._policy, self._log)
            peer.send(answer, self._clock.monotonic() + IDLE_S)
            if isinstance(answer, str):
                peer.close(1011, "Internal server error. Traceback included in previous frame.")
                return
