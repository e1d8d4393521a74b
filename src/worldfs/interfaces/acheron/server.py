"""The server: one port for the tree, the control plane and the node file systems, and their shared state."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar
from weakref import ref

from websockets.http11 import Request, Response

from worldfs.access.attachment import still_admitted
from worldfs.access.auth import authenticate
from worldfs.access.binding import Binding
from worldfs.access.decision import Decision
from worldfs.access.principal import Principal
from worldfs.access.tokens import TokenStore
from worldfs.base.errors import Busy, from_os
from worldfs.base.messages import coded
from worldfs.interfaces.connection_acceptor import ConnectionAcceptor, Known, bound_sockets
from worldfs.namespace.verbs import Verbs
from worldfs.namespace.waiters import Waiters

from . import reply_frames
from .debug_stream import PATH as STREAM
from .health import Health
from .http_mounts import HttpMounts, Opener
from .meters import Meters
from .peer import ClientPeer
from .plane_ticker import PlaneTicker
from .push_dispatcher import PushDispatcher
from .routes import ROUTES
from .server_ports import ListenerBeside, RealmPort
from .websocket_transport import FrameReceiver, HandOver, Pages, Route, WebSocketTransport

T = TypeVar("T")
PORT: Final = 18_790
LOOPBACK: Final = "127.0.0.1"
LOCAL: Final = frozenset({LOOPBACK, "localhost", "::1"})
THREADS: Final = 32  # for requests to a disk or another machine; made when needed
HEALTH_CONNECTIONS: Final = 64
GOODBYE_S: Final = 2.0  # for closing handshakes at the end
_LOG: Final = logging.getLogger("worldfs.acheron")


class Server:
    """Serves one realm. `start`, then `stop`; everything in between on the loop that started it."""

    def __init__(
        self,
        realm: RealmPort,
        tokens: TokenStore,
        applications: dict[str, Opener] | None = None,
        site: Pages | None = None,
    ) -> None:
        """`applications`: served over HTTP on the same port, by path. `site`: static pages that need no token."""
        self.realm, self.tokens = realm, tokens
        self.meters = Meters()
        self.connections: set[WebSocketTransport] = set()
        self.peers: set[ClientPeer] = set()
        self.port = 0
        self._routes: dict[str, Route] = {}
        self.local = True  # it listens on this machine alone
        self.threads = ThreadPoolExecutor(THREADS, "acheron")
        self._mounts = HttpMounts(self, applications or {})
        self._loop = asyncio.get_running_loop()
        self.waiters = Waiters(realm.feed, self._loop)
        self.pushes = PushDispatcher(realm, self.meters, self._loop)
        self._ticker = PlaneTicker(realm, self._tick, self._loop)
        self._listening: ConnectionAcceptor | None = None
        self._health_port: ConnectionAcceptor | None = None
        self._health = Health(self)
        self._site = site
        self._beside: list[ListenerBeside] = []
        self.route("/", self._greet)
        for path, begin in ROUTES:
            self.route(path, begin(self))

    # -- life ------------------------------------------------------------------------------------------------------

    async def start(self, host: str = LOOPBACK, port: int = PORT, tls: ssl.SSLContext | None = None) -> int:
        """Listen; returns the port. Raises `Busy` when the port is taken."""
        self.local = host in LOCAL
        hand_over = HandOver(self._mounts.concerned, self._mounts.connection)

        def connection(known: Known) -> WebSocketTransport:
            return WebSocketTransport(
                self._begin, self._page, self.connections, self.meters, self._loop, hand_over=hand_over, known=known
            )

        sockets = await self._bound(host, port)
        self.port = int(sockets[0].getsockname()[1])
        self._listening = ConnectionAcceptor(self._loop, connection, _LOG, tls=tls)
        self._listening.listen(sockets)
        self._ticker.start()
        return self.port

    async def start_health(self, host: str = LOOPBACK, port: int = 0) -> int:
        """Listen for the pages of health on a port of their own, open to everybody; returns the port. Raises as
        `start` does."""
        connections: set[WebSocketTransport] = set()  # its connections are not counted, nor are its requests
        meters = Meters()
        sockets = await self._bound(host, port)
        self._health_port = ConnectionAcceptor(
            self._loop,
            lambda known: WebSocketTransport(
                self._begin, self._health.public_page, connections, meters, self._loop, known=known
            ),
            _LOG,
            most=HEALTH_CONNECTIONS,
        )
        self._health_port.listen(sockets)
        return int(sockets[0].getsockname()[1])

    async def _bound(self, host: str, port: int) -> list[socket.socket]:
        try:
            return await bound_sockets(self._loop, host, port)
        except OSError as error:
            raise _refused(error, host, port) from error

    async def start_beside(self, listener: ListenerBeside) -> None:
        """Serve the realm by another protocol too, until the end."""
        await listener.start()
        self._beside.append(listener)

    @property
    def ready(self) -> bool:
        return self._listening is not None and self._listening.listening

    async def stop(self) -> None:
        """Close every connection (1001), let changes that were begun end, and release everything."""
        for listening in (self._listening, self._health_port):
            if listening is not None:
                listening.close()
        for listener in self._beside:
            await listener.stop()
        await self._ticker.stop()
        self.pushes.close()
        await self._mounts.stop()
        for transport in list(self.connections):
            transport.close(1001, "going away")
        over = self._loop.time() + GOODBYE_S
        while self.connections and self._loop.time() < over:
            await asyncio.sleep(0.01)
        for transport in list(self.connections):
            transport.abort()
        await asyncio.sleep(0)
        await self._loop.run_in_executor(None, lambda: self.threads.shutdown(wait=True, cancel_futures=True))
        self.waiters.close()

    # -- for receivers ---------------------------------------------------------------------------------------------

    def route(self, path: str, begin: Route) -> None:
        """Serve another path. One that ends in "/" matches everything below; `/` is the tree's own."""
        self._routes[path] = begin

    async def thread(self, work: Callable[[], T]) -> T:
        """Run work that may wait for a disk or another machine off the loop."""
        return await self._loop.run_in_executor(self.threads, work)

    def principal(self, authorization: str) -> Principal | Decision:
        """The principal of an Authorization header by the tokens as they are now, or the refusal."""
        self.tokens.refresh()
        return authenticate(authorization, self.tokens, self.realm.plane)

    def now_ms(self) -> int:
        return reply_frames.now_ms(self.realm.clock)

    def verbs(self, binding: Binding, peer: ClientPeer) -> Verbs:
        """The verbs of one binding of one peer; equal bindings share what they see."""
        transport = ref(peer.transport)  # the accept loop must not keep a reference to this connection

        def alive() -> bool:
            there = transport()
            return there is not None and there.open

        tree = self.realm.attach(binding, alive)
        return Verbs(tree, self.waiters, self.threads, own={STREAM: peer.log})

    def remove_peer(self, peer: ClientPeer) -> None:
        self.peers.discard(peer)
        self.pushes.remove_peer(peer)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _page(self, request: Request) -> Response | None:
        """The page of a plain HTTP request: health and figures, else a static file."""
        page = self._health.guarded_page(request)
        return page if page is not None or self._site is None else self._site(request)

    def _begin(self, transport: WebSocketTransport, path: str, authorization: str) -> FrameReceiver:
        place = path.partition("?")[0]
        begin = self._routes.get(place)
        if begin is None:
            above = place.rpartition("/")[0] + "/"
            begin = self._routes.get(above) if above != "/" else None
        if begin is None:
            return self._reject(transport, "not_found", "nothing is served at this path")
        return begin(transport, path, authorization)

    async def _tick(self) -> float | None:
        """Tick the plane, and close the connections of revoked tokens."""

        def look() -> float | None:
            self.tokens.refresh()
            return self.realm.plane.tick()

        due = await self.thread(look)
        expires = self.tokens.expires_in()
        if expires is not None:
            due = expires if due is None else min(due, expires)
        for peer in list(self.peers):
            agents = [session.binding.agent for session in peer.sessions]
            decision = still_admitted(peer.principal, self.tokens, agents)
            if not decision:
                peer.transport.close(1008, decision.reason)
        self._mounts.drop_revoked()
        for listener in self._beside:
            listener.drop_revoked()
        return due

    def _greet(self, transport: WebSocketTransport, path: str, authorization: str) -> FrameReceiver:
        principal = self.principal(authorization)
        if isinstance(principal, Decision):
            self.meters.unauthorised += 1
            return self._reject(transport, principal.code, principal.reason)
        transport.known()
        peer = ClientPeer(self, transport, principal)
        self.peers.add(peer)
        return peer

    def _reject(self, transport: WebSocketTransport, code: str, message: str) -> FrameReceiver:
        transport.send(reply_frames.rejection_frame(code, message, self.now_ms()))
        transport.close(1008, code)
        return _RejectedReceiver()


class _RejectedReceiver:
    """The receiver of a rejected connection."""

    def on_message(self, message: bytes) -> None: ...
    def on_drained(self) -> None: ...
    def on_closed(self) -> None: ...


def _refused(error: OSError, host: str, port: int) -> Exception:
    where = f"{host}:{port}"
    if error.errno == errno.EADDRINUSE:
        return Busy(
            coded("access.port_used"),
            path=where,
            op="serve",
            fix=coded("access.other_port"),
        )
    return from_os(error, path=where, op="serve")
