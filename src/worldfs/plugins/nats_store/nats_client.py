"""The client of nats-py, with what it lacks. Everything that is private there is named in this module alone."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from nats.aio.client import Client
from nats.errors import ConnectionReconnectingError, Error

LOGIN: Final = ("authorization violation", "authentication expired", "authentication revoked", "account authentication")


class NotEncrypted(Error):
    """The server offers no TLS, and the address demands it. Nothing was sent."""


class NatsClient(Client):
    def _connect_command(self) -> bytes:
        """What opens every connection, the first one and each later one: the login is in it."""
        if self.options.get("tls") is not None and not self._encrypted:
            raise NotEncrypted
        return bytes(super()._connect_command())

    @property
    def _encrypted(self) -> bool:
        writer = getattr(self._transport, "_io_writer", None)
        return writer is not None and writer.get_extra_info("ssl_object") is not None

    @property
    def server_version(self) -> str:
        return str(self._server_info.get("version", ""))

    @property
    def has_jetstream(self) -> bool:
        return bool(self._server_info.get("jetstream"))

    def break_off(self) -> None:
        """End its connection, but not in order: that would be to wait until the server has taken all that was sent."""
        writer = getattr(self._transport, "_io_writer", None)
        if writer is not None:
            with suppress(AttributeError):  # a TLS connection that has ended, with the asyncio of Python 3.11.2
                writer.transport.abort()

    def end_requests(self) -> None:
        """Each request that waits fails now, and not when its time is up: its answer cannot come any more."""
        for waiting in [*self._resp_map.values()]:
            if not waiting.done():
                waiting.set_exception(ConnectionReconnectingError())

    def go_on_reconnecting(self) -> None:
        """After an error that the library does not foresee, its task of reconnecting has ended."""
        task = self._reconnection_task
        if task is not None and task.done() and not self.is_connected and not self.is_closed:
            self._reconnection_task = asyncio.ensure_future(self._attempt_reconnect())


def is_login_refusal(error: BaseException) -> bool:
    return isinstance(error, Error) and any(word in str(error).lower() for word in LOGIN)
