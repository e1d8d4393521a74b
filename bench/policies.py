"""What our clients add to a round trip: theirs less that of the bare transport with the same bytes, pair by pair.

The observation is a picture of 224 × 224 and eight numbers, the answer a chunk. http, OpenVLA and openpi talk to `paos
policy serve`; GR00T and LeRobot to servers of their wire in a process of their own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._stand import ROOT, environ, percentile

NAMES = ("http", "openvla", "openpi", "gr00t", "lerobot")
FIGURES = tuple(f"policy.{name}.overhead_ms" for name in NAMES)
ROUNDS, WARM = 300, 20
WORDS = "pick up the apple"


def run() -> dict[str, float]:
    figures: dict[str, float] = {}
    for name in NAMES:
        with _peer(name) as port:
            ours, bare, close = _ROUTES[name](port)
            for _ in range(WARM):
                ours()
                bare()
            mine, floor = [], []
            for _ in range(ROUNDS):  # in turns: what else the machine does hits both
                mine.append(_took(ours))
                floor.append(_took(bare))
            close()
        # Each round trip less the bare one right beside it.
        added = [one - other for one, other in zip(mine, floor, strict=True)]
        figures |= {
            f"policy.{name}.overhead_ms": 1000 * percentile(added, 0.5),
            f"policy.{name}.round_trip_ms": 1000 * percentile(mine, 0.5),
            f"policy.{name}.bare_ms": 1000 * percentile(floor, 0.5),
        }  # fmt: skip
    return figures


def _took(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


@contextmanager
def _peer(name: str) -> Iterator[int]:
    served = name in ("http", "openvla", "openpi")
    words = ["worldfs.interfaces.cli.main", "policy", "serve", "--port", "0", "--policy", "hold", "--json"]
    command = [sys.executable, "-m", *(words if served else ("bench._policy_peers", name))]
    with subprocess.Popen(command, cwd=ROOT, env=environ(), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield json.loads(line)["port"] if served else int(line)
        finally:
            process.terminate()
            process.wait()


Route = tuple[Callable[[], object], Callable[[], object], Callable[[], None]]


def _client(kind: str, endpoint: str, **extra: Any) -> tuple[Any, Callable[[], object]]:
    import numpy as np

    from worldfs.base.clock import SystemClock
    from worldfs.base.model import PolicySpec
    from worldfs.sessions.plugins import POLICIES

    factory = POLICIES[kind]
    assert factory is not None
    checkpoint = extra.pop("checkpoint", "")
    client = factory(PolicySpec(kind, endpoint, checkpoint, extra), SystemClock())
    client.connect(5)
    picture = np.random.default_rng(0).integers(0, 255, (224, 224, 3), np.uint8)
    shown = {"rgb.front": picture, "state": np.linspace(0, 1, 8)}
    return client, lambda: client.infer(shown, WORDS, 5)


class Recorded:
    """What a client sends, as bytes: a line that keeps what goes through it."""

    @staticmethod
    def request(client: Any, ours: Callable[[], object]) -> bytes:
        from worldfs.policies.deadline_socket import DeadlineSocket

        sent: list[bytes] = []
        send = DeadlineSocket.send
        DeadlineSocket.send = lambda self, data: (sent.append(bytes(data)), send(self, data))[1]  # type: ignore[method-assign,func-returns-value]
        try:
            ours()
        finally:
            DeadlineSocket.send = send  # type: ignore[method-assign]
        return b"".join(sent)


def _socket(port: int) -> Any:
    import socket

    bare = socket.create_connection(("127.0.0.1", port))
    bare.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bare


def _over_http(kind: str, path: str) -> Callable[[int], Route]:
    def route(port: int) -> Route:
        client, ours = _client(kind, f"http://127.0.0.1:{port}{path}")
        ours()  # the first of an episode says so
        request, bare = Recorded.request(client, ours), _socket(port)

        def raw_observation() -> None:
            bare.sendall(request)
            data = b""
            while b"\r\n\r\n" not in data:
                data += bare.recv(65536)
            head, _, body = data.partition(b"\r\n\r\n")
            length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
            while len(body) < length:
                body += bare.recv(65536)

        def close() -> None:
            client.close()
            bare.close()

        return ours, raw_observation, close

    return route


def _over_websocket(port: int) -> Route:
    """The floor is `websockets` itself, as openpi's own client uses it, with the message made beforehand."""
    import numpy as np
    from websockets.sync.client import connect

    from worldfs.policies.msgpack_arrays import pack

    client, ours = _client("openpi", f"ws://127.0.0.1:{port}")
    picture = np.random.default_rng(0).integers(0, 255, (224, 224, 3), np.uint8)
    message = pack({"rgb.front": picture, "state": np.linspace(0, 1, 8), "prompt": WORDS})
    context = connect(f"ws://127.0.0.1:{port}", compression=None, max_size=None)
    bare = context.__enter__()
    bare.recv()

    def raw_observation() -> None:
        bare.send(message)
        bare.recv()

    def close() -> None:
        client.close()
        context.__exit__(None, None, None)

    return ours, raw_observation, close


def _over_zmq(port: int) -> Route:
    import zmq

    client, ours = _client("gr00t", f"tcp://127.0.0.1:{port}", actions=["arm"])
    sent: list[bytes] = []
    exchange = client._exchange

    def noted(request: bytes, *more: Any) -> Any:
        sent.append(request)
        return exchange(request, *more)

    client._exchange = noted
    ours()
    del client._exchange
    context = zmq.Context()
    bare = context.socket(zmq.REQ)
    bare.connect(f"tcp://127.0.0.1:{port}")

    def raw_observation() -> None:
        bare.send(sent[0])
        bare.recv()

    def close() -> None:
        client.close()
        bare.close(0)
        context.term()

    return ours, raw_observation, close


def _over_grpc(port: int) -> Route:
    """Two calls, as LeRobot's protocol wants them: show, and ask."""
    import grpc
    import numpy as np

    from worldfs.policies.lerobot_bytes import HELPERS, as_instance, pieces
    from worldfs.policies.lerobot_policy import SERVICE, raw_observation

    client, ours = _client("lerobot", f"127.0.0.1:{port}", checkpoint="x/y", policy_type="act")
    picture = np.random.default_rng(0).integers(0, 255, (224, 224, 3), np.uint8)
    shown = raw_observation({"rgb.front": picture, "state": np.linspace(0, 1, 8)})
    timed = {"timestamp": 0.0, "timestep": 1, "observation": shown, "must_go": True}
    parts = list(pieces(as_instance(HELPERS, "TimedObservation", timed)))
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    show = channel.stream_unary(SERVICE + "SendObservations", None, None)
    ask = channel.unary_unary(SERVICE + "GetActions", None, None)

    def bare() -> None:
        show(iter(parts), timeout=5)
        ask(b"", timeout=5)

    def close() -> None:
        client.close()
        channel.close()

    return ours, bare, close


_ROUTES: dict[str, Callable[[int], Route]] = {
    "http": _over_http("http", "/predict"),
    "openvla": _over_http("openvla", "/act"),
    "openpi": _over_websocket,
    "gr00t": _over_zmq,
    "lerobot": _over_grpc,
}
