"""The socket of a detached process to the command that started it. This module loads little: the command waits."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

MESSAGE: Final = 1 << 16  # bytes


class CallerOrder(NamedTuple):
    """What the command asks for; empty when it has ended."""

    order: dict[str, object]
    descriptors: Sequence[int]


class CallerSocket:
    """The process's side; `detached_process.py` has the other one."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)

    def order(self) -> CallerOrder:
        data, descriptors, _, _ = socket.recv_fds(self._socket, MESSAGE, 8)
        return CallerOrder(json.loads(data) if data else {}, descriptors)

    def answer(self, answer: dict[str, object]) -> None:
        """Once; the command then goes on."""
        with suppress(OSError):  # it has ended
            self._socket.send(json.dumps(answer).encode()[:MESSAGE])
        self._socket.close()
