"""A realm served until it is stopped: on the caller's loop, or in a thread beside a kernel."""

from __future__ import annotations

import asyncio
import logging
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from worldfs.access.tokens import ASIDE, TokenStore
from worldfs.base.clock import Clock
from worldfs.base.errors import BadInput, Busy, WorldError
from worldfs.base.given_file import check_given_file
from worldfs.base.messages import coded, render
from worldfs.storage.open_store import open_store

from .http_mounts import Opener
from .server import LOCAL, LOOPBACK, PORT, Server
from .server_ports import ListenerBeside, RealmPort
from .websocket_transport import Pages

_LOG: Final = logging.getLogger("worldfs.acheron")
SERVE_LEASE: Final = ".paos/serve.lock"
Beside = Sequence[Callable[[Server], ListenerBeside]]


class ListenOptions(NamedTuple):
    """`metrics_port` None: no health port; 0 for either port takes a free one."""

    host: str = LOOPBACK
    port: int = PORT
    metrics_port: int | None = None
    certificate: str = ""
    key: str = ""

    @property
    def bare(self) -> bool:
        """Whether tokens would cross a network in clear."""
        return self.host not in LOCAL and not self.certificate

    def context(self) -> ssl.SSLContext | None:
        """The TLS of the port, if any. Raises `BadInput` for files that are no certificate and key."""
        if not self.certificate:
            if self.key:
                raise BadInput(coded("access.key_alone"), op="serve", fix=coded("access.name_both"))
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        for file in filter(None, (self.certificate, self.key)):
            check_given_file(file, op="serve")
        try:
            context.load_cert_chain(self.certificate, self.key or None)
        except (OSError, ssl.SSLError) as error:
            raise BadInput(
                coded("access.no_certificate", why=str(error)),
                path=self.certificate,
                op="serve",
                expected=coded("access.certificate"),
            ) from None
        return context


class ServerStarted(NamedTuple):
    """The addresses, once the server listens."""

    url: str
    host: str
    port: int
    metrics_port: int | None
    tokens: str  # path of the file
    beside: tuple[str, ...] = ()  # the addresses of other protocols


@contextmanager
def serve_lease(home: Path, clock: Clock) -> Iterator[None]:
    """No other process serves this home during the block. Raises `Busy`, naming the holder."""
    with closing(open_store("disk", home)) as store:
        try:
            lease = store.lease(SERVE_LEASE, "serve", clock=clock).acquire()
        except Busy as error:
            raise Busy(coded("access.no_serve", found=error.found), path=str(home), op="serve", fix=error.fix) from None
        with lease:
            yield


async def serve(
    realm: RealmPort,
    where: ListenOptions,
    stop: asyncio.Event,
    on_started: Callable[[ServerStarted], None],
    applications: dict[str, Opener] | None = None,
    *,
    beside: Beside = (),
    site: Pages | None = None,
) -> None:
    """Until `stop`; `on_started` is called once it listens. The caller holds `serve_lease`.

    `beside`: listeners of other protocols. `site`: see `Server`.

    Raises `Busy` and `BadInput`.
    """
    context = where.context()
    tokens = TokenStore.open(realm.home, mend=True)  # the robots of this process go on, whatever the file says
    if tokens.set_aside:
        said = coded("access.tokens_aside", names=tokens.set_aside, place=ASIDE)
        _LOG.warning("%s", render(said, "en"))
    server = Server(realm, tokens, applications, site)
    try:
        port = await server.start(where.host, where.port, context)
        metrics = None
        if where.metrics_port is not None:
            metrics = await server.start_health(where.host, where.metrics_port)
        listeners = [make(server) for make in beside]
        for listener in listeners:
            await server.start_beside(listener)
        scheme = "wss" if context is not None else "ws"
        on_started(
            ServerStarted(
                f"{scheme}://{_host_text(where.host)}:{port}/",
                where.host,
                port,
                metrics,
                server.tokens.path,
                tuple(str(listener.address) for listener in listeners),
            )
        )
        await stop.wait()
    finally:
        await server.stop()


class BackgroundServer:
    """A server in a thread of its own, beside a kernel. Entered when it listens, left when its connections are
    closed."""

    def __init__(
        self,
        realm: RealmPort,
        where: ListenOptions,
        applications: dict[str, Opener] | None = None,
        beside: Beside = (),
        site: Pages | None = None,
    ) -> None:
        self._realm, self._where, self._applications, self._beside = realm, where, applications, beside
        self._site = site
        self._thread = threading.Thread(target=self._run, name="acheron", daemon=True)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._started: ServerStarted | None = None
        self._broken: BaseException | None = None

    @property
    def started(self) -> ServerStarted:
        assert self._started is not None  # it is entered
        return self._started

    def __enter__(self) -> Self:
        """Raises what kept it from listening."""
        self._thread.start()
        self._ready.wait()
        if self._started is None:
            self._thread.join()
            raise self._broken or WorldError(coded("access.server_ended"), op="serve")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._loop is not None and self._stop is not None:
            with suppress(RuntimeError):  # the server has ended by itself
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._broken is not None and error is None:
            raise self._broken

    def _run(self) -> None:
        try:
            asyncio.run(self._life())
        except BaseException as error:
            self._broken = error
        finally:
            self._ready.set()

    async def _life(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()

        def told(started: ServerStarted) -> None:
            self._started = started
            self._ready.set()

        await serve(
            self._realm, self._where, self._stop, told, self._applications, beside=self._beside, site=self._site
        )


def _host_text(host: str) -> str:
    return f"[{host}]" if ":" in host else host
