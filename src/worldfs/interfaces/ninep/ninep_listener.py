"""The 9P listener of a served world: its address, its connections, and who may connect."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import socket
import stat
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from worldfs.access.attachment import still_admitted
from worldfs.access.binding import Binding
from worldfs.access.principal import Principal
from worldfs.access.things import AttachableProjects
from worldfs.base.errors import BadInput, Busy, from_os
from worldfs.base.messages import coded
from worldfs.interfaces.connection_acceptor import ConnectionAcceptor, Known, bound_sockets
from worldfs.namespace.bound_tree import BoundTree
from worldfs.namespace.verbs import Verbs
from worldfs.namespace.waiters import Waiters

from .ninep_access import RoleAttacher, TokenAttacher, TokenJudge, peer_uid
from .ninep_connection import MSIZE, NinePConnection
from .ninep_session import Attacher

PORT: Final = 5_640
MOST_CONNECTIONS: Final = 128
ATTACH_S: Final = 30.0  # for a token
SOCKET_PATH_MOST: Final = 107  # bytes of the path of a UNIX socket
_ROOT: Final = 0
_LOG: Final = logging.getLogger("worldfs.ninep")


class NinePAddress(NamedTuple):
    """Where it listens: a UNIX socket (`path`), or a port of loopback."""

    host: str = ""
    port: int = 0
    path: str = ""

    def __str__(self) -> str:
        return self.path or (f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}")


def parse_address(text: str) -> NinePAddress:
    """`HOST:PORT`, a port, or the path of a socket (with a "/"). Raises `BadInput` for what is not on this machine."""
    if "/" in text:
        path = os.path.abspath(os.path.expanduser(text))
        if len(os.fsencode(path)) > SOCKET_PATH_MOST:
            raise BadInput(
                coded("ninep.long_path", n=len(os.fsencode(path))),
                path=path,
                op="serve",
                expected=coded("common.at_most_bytes", n=SOCKET_PATH_MOST),
            )
        return NinePAddress(path=path)
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    local = host == "localhost" or _loopback(host)
    if not local or not (port.isascii() and port.isdigit()) or int(port) > 65_535:
        raise BadInput(
            coded("ninep.bad_address", text=text), op="serve", expected=coded("ninep.addresses"), code="USAGE"
        )
    return NinePAddress("127.0.0.1" if host == "localhost" else host, int(port))


class NinePRealm(Protocol):
    @property
    def plane(self) -> AttachableProjects: ...
    def attach(self, binding: Binding, alive: Callable[[], bool] = ...) -> BoundTree: ...


class NinePHost(TokenJudge, Protocol):
    """The server beside which it listens (`worldfs.interfaces.acheron.server.Server`)."""

    @property
    def realm(self) -> NinePRealm: ...
    @property
    def waiters(self) -> Waiters: ...
    @property
    def threads(self) -> Executor: ...


class NinePListener:
    """`start`, then `stop`; all on the loop that started it."""

    def __init__(self, host: NinePHost, address: NinePAddress) -> None:
        self._host, self.address = host, address
        self._acceptor: ConnectionAcceptor | None = None
        self._serving: dict[asyncio.Task[None], NinePConnection] = {}
        self._admitted: dict[NinePConnection, list[tuple[Principal, Binding]]] = {}

    async def start(self) -> None:
        """Raises `Busy` when another process listens there."""
        loop = asyncio.get_running_loop()
        if self.address.path:
            sockets = [_unix_socket(self.address.path)]
        else:
            try:
                sockets = await bound_sockets(loop, self.address.host, self.address.port)
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    raise Busy(coded("access.port_used"), path=str(self.address), op="serve") from None
                raise from_os(error, path=str(self.address), op="serve") from error
            self.address = self.address._replace(port=int(sockets[0].getsockname()[1]))

        def connection(known: Known) -> asyncio.BaseProtocol:
            reader = asyncio.StreamReader(2 * MSIZE, loop)
            return asyncio.StreamReaderProtocol(reader, partial(self._connected, known), loop)

        self._acceptor = ConnectionAcceptor(loop, connection, _LOG, most=MOST_CONNECTIONS, stranger_s=ATTACH_S)
        self._acceptor.listen(sockets)

    async def stop(self) -> None:
        if self._acceptor is not None:
            self._acceptor.close()
        for connection in list(self._serving.values()):
            connection.close()
        if self._serving:
            await asyncio.wait(list(self._serving))
        if self.address.path:
            Path(self.address.path).unlink(missing_ok=True)

    def drop_revoked(self) -> None:
        """Close the connections whose tokens no longer stand."""
        for connection, admitted in list(self._admitted.items()):
            if any(not still_admitted(who, self._host.tokens, [binding.agent]) for who, binding in admitted):
                connection.close()

    async def _connected(self, known: Known, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if not self._may_connect(writer):
            writer.close()
            return
        if self.address.path:
            known()  # the system has said whose process it is
        connection = NinePConnection(reader, writer, lambda: self._attacher(connection, writer, known))
        self._serving[task] = connection
        try:
            await connection.serve()
        finally:
            del self._serving[task]
            self._admitted.pop(connection, None)

    def _may_connect(self, writer: asyncio.StreamWriter) -> bool:
        if not self.address.path:
            return True  # a token decides, at the attach
        return peer_uid(writer.get_extra_info("socket")) in (os.geteuid(), _ROOT)

    def _attacher(self, connection: NinePConnection, writer: asyncio.StreamWriter, known: Known) -> Attacher:
        host = self._host

        def verbs_of(binding: Binding) -> Verbs:
            return Verbs(host.realm.attach(binding, lambda: not writer.is_closing()), host.waiters, host.threads)

        if self.address.path:
            return RoleAttacher(verbs_of)

        def admit(who: Principal, binding: Binding) -> None:
            self._admitted.setdefault(connection, []).append((who, binding))
            known()

        return TokenAttacher(verbs_of, host, host.realm.plane, admit)


def _unix_socket(path: str) -> socket.socket:
    """A listening socket that only its owner may use; one that a killed server left is replaced."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        _remove_stale(path)
        before = os.umask(0o177)
        try:
            listening.bind(path)
        finally:
            os.umask(before)
        listening.listen()
    except OSError as error:
        listening.close()
        raise from_os(error, path=path, op="serve") from error
    except BaseException:
        listening.close()
        raise
    return listening


def _remove_stale(path: str) -> None:
    try:
        kind = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(kind):
        raise BadInput(coded("ninep.not_a_socket"), path=path, op="serve", fix=coded("ninep.other_path"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
        except OSError as error:
            raise from_os(error, path=path, op="serve") from error
    raise Busy(coded("ninep.in_use"), path=path, op="serve", fix=coded("ninep.other_path"))


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
