"""A WebSocket to a policy: each operation keeps its own deadline, not the one before."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable

import pytest
from websockets.protocol import SERVER, Protocol, State

from worldfs.policies.deadline_socket import DeadlineSocket
from worldfs.policies.websocket import WebSocket
from worldfs.testing.manual_clock import ManualClock


def pair() -> tuple[WebSocket, socket.socket, ManualClock]:
    """Our side after its handshake, the peer's socket, and the clock that both deadlines are read on."""
    ours, peer = socket.socketpair()
    clock = ManualClock()
    line = DeadlineSocket(ours, clock)
    line.until(math.inf)  # of what came before
    return WebSocket(line, Protocol(SERVER, state=State.OPEN)), peer, clock


OPERATIONS: dict[str, Callable[[WebSocket, float], object]] = {
    "send": lambda one, deadline: one.send(b"x", deadline),
    "send text": lambda one, deadline: one.send("x", deadline),
    "receive": lambda one, deadline: one.receive(deadline),
    "ping": lambda one, deadline: one.ping(deadline),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_ends_at_its_own_deadline(name: str) -> None:
    one, peer, clock = pair()
    peer.sendall(b"\x82\x01x")  # what would be received, were there time
    try:
        with pytest.raises(TimeoutError):
            OPERATIONS[name](one, clock.monotonic() - 1)
    finally:
        one.close(0)
        peer.close()


def test_a_ping_for_life_and_a_goodbye_have_deadlines_of_their_own() -> None:
    one, peer, clock = pair()
    kept: list[float] = []
    until = one._line.until
    one._line.until = lambda deadline: (kept.append(deadline), until(deadline))[1]  # type: ignore[method-assign,func-returns-value]  # a spy
    assert not one.alive(clock.monotonic() - 1)
    one.close()
    peer.close()
    assert kept == [clock.monotonic() - 1, clock.monotonic() + 0.5]
