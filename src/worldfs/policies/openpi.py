"""openpi's WebSocket: the server sends its metadata first, then each step is one msgpack map there and one back.

Source: openpi's websocket_policy_server and openpi-client 0.1.2. A TEXT frame is a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from worldfs.base.clock import Clock
from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec

from . import policy_errors
from .endpoint import endpoint, max_answer_bytes, secret
from .msgpack_arrays import pack, unpack
from .policy_client import ActionChunk, Array, PolicyError, PolicyInfo, chunk_of, server_time
from .policy_contract import parse_policy_info, rename_observations
from .websocket import InvalidHandshake, WebSocket, WebSocketClosed, WebSocketException

SCHEMES = {"ws": 8000, "wss": 443, "http": 8000, "https": 443}


def client(spec: PolicySpec, clock: Clock) -> OpenPiPolicy:
    return OpenPiPolicy(spec, clock)


class OpenPiPolicy:
    """`policy_client: {type: openpi, endpoint: ws://HOST:8000, token_env: NAME}`; the instruction goes as `prompt`."""

    def __init__(self, spec: PolicySpec, clock: Clock) -> None:
        self.spec, self._clock = spec, clock
        where = endpoint(spec, SCHEMES)
        self._where = replace(where, scheme={"http": "ws", "https": "wss"}.get(where.scheme, where.scheme))
        token = secret(spec)
        self._key = f"Api-Key {token}" if token else ""
        self._most = max_answer_bytes(spec)
        self._socket: WebSocket | None = None
        self._info = PolicyInfo()
        self._closes = 0

    def connect(self, timeout_s: float) -> PolicyInfo:
        deadline = self._clock.monotonic() + timeout_s
        if self._socket is None or not self._socket.alive(deadline):
            self._hang_up()
            self._open(deadline, timeout_s)
        return self._info

    def reset(self) -> None:
        """The protocol has no word for it: openpi's policies keep nothing between two steps."""

    def infer(self, observation: Mapping[str, Array], words: str, timeout_s: float) -> ActionChunk:
        deadline = self._clock.monotonic() + timeout_s
        closes = self._closes
        data = pack({**observation, "prompt": words})
        kept = self._socket is not None and self._socket.alive()
        if not kept:
            self._hang_up()
            self._open(deadline, timeout_s)
        try:
            answer = self._ask(data, deadline)
        except (OSError, WebSocketException) as error:
            self._hang_up()
            if not kept or self._closes != closes or not isinstance(error, ConnectionError):
                raise self._trouble(error, timeout_s) from None
            self._open(deadline, timeout_s)  # the server was started anew: asking again changes nothing in the world
            try:
                answer = self._ask(data, deadline)
            except (OSError, WebSocketException) as again:
                self._hang_up()
                raise self._trouble(again, timeout_s) from None
        except BaseException:
            self._hang_up()
            raise
        with policy_errors.of_server(self._where):
            return self._chunk(answer)

    def close(self) -> None:
        """From any thread; a waiting call ends with a `PolicyError`, and is not retried."""
        self._closes += 1
        self._hang_up()

    # -- its steps -----------------------------------------------------------------------------------------------

    def _open(self, deadline: float, timeout_s: float) -> None:
        try:
            self._socket = socket = WebSocket.to(self._where, deadline, self._clock, self._key, self._most)
            first = socket.receive(deadline)
        except (OSError, WebSocketException) as error:
            opened = self._socket is not None
            self._hang_up()
            if isinstance(error, TimeoutError) and not opened:
                raise policy_errors.unreachable(self._where, coded("session.no_connection")) from None
            raise self._trouble(error, timeout_s, opened=opened) from None
        except PolicyError as error:
            error.path = error.path or str(self._where)
            raise
        if isinstance(first, str):
            self._hang_up()
            raise self._server_error(first)
        try:
            metadata = unpack(first)
        except PolicyError:
            self._hang_up()
            raise
        response = metadata if isinstance(metadata, dict) else {}
        self._info = rename_observations(replace(parse_policy_info(response), extra=response), self.spec)

    def _ask(self, data: bytes, deadline: float) -> bytes:
        socket = self._socket
        if socket is None:
            raise WebSocketClosed(None)
        socket.stale()
        socket.send(data, deadline)
        answer = socket.receive(deadline)
        if isinstance(answer, str):
            raise self._server_error(answer)
        return answer

    def _chunk(self, data: bytes) -> ActionChunk:
        response = unpack(data)
        if not isinstance(response, dict) or "actions" not in response:
            found = ", ".join(map(str, response)) if isinstance(response, dict) else type(response).__name__
            raise policy_errors.protocol_error(
                self._where,
                coded("session.answer_with", names=found or coded("common.none")),
                coded("session.actions_map"),
            )
        actions = response["actions"]
        if not isinstance(actions, np.ndarray | list):
            raise policy_errors.protocol_error(
                self._where, coded("session.actions_kind", kind=type(actions).__name__), coded("session.array_hd")
            )
        timing = response.get("server_timing")
        took = timing.get("infer_ms") if isinstance(timing, dict) else None
        rest: dict[str, object] = {str(name): value for name, value in response.items() if name != "actions"}
        return replace(chunk_of(actions), server_ms=server_time(took, self._where), extra=rest)

    def _server_error(self, text: str) -> PolicyError:
        """A traceback: its last line is the error."""
        last = text.strip().rsplit("\n", 1)[-1]
        return policy_errors.policy_unusable(self._where, coded("session.reports", why=last))

    def _trouble(self, error: Exception, timeout_s: float, *, opened: bool = True) -> PolicyError:
        if isinstance(error, TimeoutError):
            return policy_errors.timed_out(self._where, timeout_s)
        if isinstance(error, WebSocketClosed):
            return policy_errors.unreachable(self._where, coded("session.dropped_so", why=str(error)))
        if isinstance(error, OSError):
            dropped = opened or isinstance(error, ConnectionResetError | BrokenPipeError)
            return policy_errors.unreachable(self._where, coded("session.dropped") if dropped else error)
        if isinstance(error, InvalidHandshake):
            return policy_errors.protocol_error(
                self._where, coded("session.no_websocket", why=str(error)), coded("session.openpi_server")
            )
        return policy_errors.protocol_error(
            self._where, f"{type(error).__name__}: {error}", coded("session.messages_most", n=self._most)
        )

    def _hang_up(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.close(0)
