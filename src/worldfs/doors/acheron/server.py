"""The server: one port for the tree, the control plane and the node file systems; all that lives as long as it runs."""

from __future__ import annotations

import asyncio
import errno
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar
from weakref import WeakValueDictionary, ref

from worldfs.ground.errors import Busy, from_os
from worldfs.tree.binding import Binding
from worldfs.verbs import Known, Verbs, Waiters, Writes

from . import replies
from .line import Line, Receiver, Route
from .meters import Meters
from .peer import Peer
from .ports import Realm
from .pushes import Pushes
from .routes import ROUTES
from .stream import PATH as STREAM
from .ticker import Ticker
from .tokens import Tokens
from .who import judge

T = TypeVar("T")
PORT: Final = 18_790
LOOPBACK: Final = "127.0.0.1"
THREADS: Final = 32  # for what asks a disk or another machine; made when needed
BACKLOG: Final = 1_024
GOODBYE_S: Final = 2.0  # for peers to hear of the end


class Server:
    """Serves one realm. `start`, then `stop`; everything in between on the loop that started it."""

    def __init__(self, realm: Realm, tokens: Tokens) -> None:
        self.realm, self.tokens = realm, tokens
        self.meters = Meters()
        self.lines: set[Line] = set()
        self.peers: set[Peer] = set()
        self.port = 0
        self._routes: dict[str, Route] = {}
        self._known: WeakValueDictionary[Binding, Known] = WeakValueDictionary()
        self._writes = Writes()
        self._threads = ThreadPoolExecutor(THREADS, "acheron")
        self._loop = asyncio.get_running_loop()
        self.waiters = Waiters(realm.feed, self._loop)
        self.pushes = Pushes(realm, self.meters, self._loop)
        self._ticker = Ticker(realm, self._tick, self._loop)
        self._listening: asyncio.Server | None = None
        self.route("/", self._greet)
        for path, begin in ROUTES:
            self.route(path, begin(self))

    # -- life ------------------------------------------------------------------------------------------------------

    async def start(self, host: str = LOOPBACK, port: int = PORT, tls: ssl.SSLContext | None = None) -> int:
        """Listen; the port. Raises `Busy` when somebody else has it."""
        try:
            self._listening = await self._loop.create_server(
                lambda: Line(self._begin, self.lines, self.meters, self._loop), host, port, ssl=tls, backlog=BACKLOG
            )
        except OSError as error:
            raise _refused(error, host, port) from error
        self.port = int(self._listening.sockets[0].getsockname()[1])
        self._ticker.start()
        return self.port

    @property
    def ready(self) -> bool:
        return self._listening is not None and self._listening.is_serving()

    async def stop(self) -> None:
        """Say goodbye to everybody (1001), let changes that were begun end, and let go of everything."""
        if self._listening is not None:
            self._listening.close()
        await self._ticker.stop()
        self.pushes.close()
        for line in list(self.lines):
            line.close(1001, "going away")
        over = self._loop.time() + GOODBYE_S
        while self.lines and self._loop.time() < over:
            await asyncio.sleep(0.01)
        for line in list(self.lines):
            line.abort()
        await asyncio.sleep(0)
        await self._loop.run_in_executor(None, lambda: self._threads.shutdown(wait=True, cancel_futures=True))
        self.waiters.close()

    # -- for receivers ---------------------------------------------------------------------------------------------

    def route(self, path: str, begin: Route) -> None:
        """Serve another path. One that ends in "/" stands for all below it; `/` is the tree's own."""
        self._routes[path] = begin

    async def thread(self, work: Callable[[], T]) -> T:
        """What may wait for a disk or another machine, off the loop."""
        return await self._loop.run_in_executor(self._threads, work)

    def now_ms(self) -> int:
        return replies.now_ms(self.realm.clock)

    def verbs(self, binding: Binding, peer: Peer) -> Verbs:
        """The verbs of one binding of one peer; what is known of a tree is shared by all that are bound alike."""
        known = self._known.get(binding)
        if known is None:
            known = Known(self.realm.namespace(binding), self.realm.feed, self._writes)
            self._known[binding] = known
        line = ref(peer.line)  # what waits for the next connection shall not hold on to this one

        def alive() -> bool:
            there = line()
            return there is not None and there.open

        tree = self.realm.attach(binding, alive)
        return Verbs(known, self.waiters, self._threads, own={STREAM: peer.log}, tree=tree)

    def left(self, peer: Peer) -> None:
        self.peers.discard(peer)
        self.pushes.left(peer)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _begin(self, line: Line, path: str, authorization: str) -> Receiver:
        place = path.partition("?")[0]
        begin = self._routes.get(place)
        if begin is None:
            above = place.rpartition("/")[0] + "/"
            begin = self._routes.get(above) if above != "/" else None
        if begin is None:
            return self._turn_away(line, "not_found", "nothing is served at this path")
        return begin(line, path, authorization)

    async def _tick(self) -> float | None:
        """The plane's time; and tokens that were revoked meanwhile end their connections."""

        def look() -> float | None:
            self.tokens.refresh()
            return self.realm.plane.tick()

        due = await self.thread(look)
        for peer in list(self.peers):
            if not self.tokens.stands(peer.who.holder):
                peer.line.close(1008, "the token was revoked")
            elif not all(self.tokens.speaks(peer.who.holder, seat.binding.agent) for seat in peer.seats):
                peer.line.close(1008, "the agent has a token of its own now")
        return due

    def _greet(self, line: Line, path: str, authorization: str) -> Receiver:
        self.tokens.refresh()
        who = judge(authorization, self.tokens, self.realm.plane)
        if who is None:
            self.meters.unauthorised += 1
            return self._turn_away(line, "provider_auth_failed", "forbidden")
        peer = Peer(self, line, who)
        self.peers.add(peer)
        return peer

    def _turn_away(self, line: Line, code: str, message: str) -> Receiver:
        line.send(replies.turned_away(code, message, self.now_ms()))
        line.close(1008, code)
        return _Nobody()


class _Nobody:
    """The receiver of a connection that was turned away."""

    def heard(self, message: bytes) -> None: ...
    def roomy(self) -> None: ...
    def gone(self) -> None: ...


def _refused(error: OSError, host: str, port: int) -> Exception:
    where = f"{host}:{port}"
    if error.errno == errno.EADDRINUSE:
        return Busy(
            "somebody already listens there",
            path=where,
            op="serve",
            fix="stop it, or choose another port: --port 0 takes a free one",
        )
    return from_os(error, path=where, op="serve")
