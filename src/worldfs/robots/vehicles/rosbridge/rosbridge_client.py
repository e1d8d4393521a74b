"""One WebSocket to a rosbridge server, by the library websockets: operations out, operations in."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import MissingRequirement
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json, Target
from worldfs.robots.targets.robots.robot_library import driver_place, import_library

from ..vehicle_declaration import INSTALL

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

CONNECT_S: Final = 3.0  # real seconds
LARGEST: Final = 4 * 1024 * 1024  # bytes of one message: no picture is subscribed to
PING_S: Final = 2.0  # between two pings; a server that is gone is known after twice as long


class RosbridgeClient:
    """`on_operation` is called in the connection's own thread; with {"op": "closed"} when it ends by itself."""

    def __init__(
        self, target: Target, url: str, headers: Mapping[str, str], on_operation: Callable[[Json], None]
    ) -> None:
        self._target, self._url, self._headers, self._on_operation = target, url, dict(headers), on_operation
        self._lock = threading.Lock()  # of connecting
        self._connection: ClientConnection | None = None
        self._standing: list[Json] = []  # subscriptions and advertisements: sent anew on each connection

    @property
    def up(self) -> bool:
        return self._connection is not None

    def connect(self, timeout_s: float = CONNECT_S) -> None:
        """Raises `MissingRequirement` without the library or the server."""
        library = import_library("websockets.sync.client", driver_place(self._target), INSTALL["rosbridge"])
        with self._lock:
            if self._connection is not None:
                return
            try:
                opened = library.connect(
                    self._url, open_timeout=timeout_s, additional_headers=self._headers, compression=None, proxy=None,
                    max_size=LARGEST, ping_interval=PING_S, ping_timeout=PING_S, close_timeout=1.0,
                )  # fmt: skip
                connection: ClientConnection = ExitStack().enter_context(opened)  # ended by its own `close`
            except Exception as error:  # of the handshake, of TLS, of the network
                raise MissingRequirement(
                    coded("vehicle.no_broker", address=self._url, why=str(error) or type(error).__name__),
                    path=f"TARGETS.md {self._target.id} config.url", expected=coded("vehicle.a_broker"),
                    fix=coded("vehicle.start_broker"),
                ) from error  # fmt: skip
            self._connection = connection
            threading.Thread(target=self._listen, args=(connection,), name="rosbridge", daemon=True).start()
            for operation in self._standing:
                self._send(connection, operation)

    def stand(self, operation: Json) -> None:
        """A subscription or an advertisement, now or with the next connection, and with every later one."""
        self._standing.append(operation)
        connection = self._connection
        if connection is not None:
            self._send(connection, operation)

    def send(self, operation: Json) -> None:
        """From any thread. Raises `ConnectionError`."""
        connection = self._connection
        if connection is None:
            raise ConnectionError(coded("vehicle.link_down", address=self._url))
        self._send(connection, operation)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _send(self, connection: ClientConnection, operation: Json) -> None:
        try:
            connection.send(json.dumps(operation, separators=(",", ":")))
        except Exception as error:  # the library's own kinds of a closed connection
            raise ConnectionError(coded("vehicle.link_down", address=self._url)) from error

    def _listen(self, connection: ClientConnection) -> None:
        with suppress(Exception):  # however it ends: it is closed
            for message in connection:
                with suppress(ValueError):  # no JSON: no operation
                    found = parse_json(message)
                    if isinstance(found, dict) and as_text(found.get("op")):
                        self._on_operation(found)
        connection.close()
        if self._connection is connection:
            self._connection = None
            self._on_operation({"op": "closed"})
