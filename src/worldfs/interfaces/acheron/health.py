"""The server's health over plain HTTP: /livez, /readyz, /metrics (Prometheus), /metrics.json. No secret is in it.

Names of figures begin with `worldfs_`; those of the control plane keep the keys of `control.metrics` (acheron D13).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from worldfs.access.binding import OWNER
from worldfs.access.caller import Caller

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from .server import Server

_SELF: Final = Caller(OWNER)
_HEAD_S: Final = 10.0  # for a request to arrive
_HEAD_BYTES: Final = 16 << 10
_COUNTERS: Final = (
    ("connections", "Connections accepted"),
    ("refused", "Connections without a WebSocket upgrade"),
    ("unauthorised", "Upgrades without a valid token"),
    ("frames_in", "Frames received"),
    ("frames_out", "Frames sent"),
    ("oversize", "Frames beyond msize"),
    ("dropped", "Peers dropped because they stopped reading"),
    ("saturated", "Requests refused because too many wait"),
    ("pushes", "Frames sent unasked"),
)


class Health:
    """Answers GET on a port of its own. On the server's loop."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(Figures(server))
        self._listening: asyncio.Server | None = None
        self.port = 0

    async def start(self, host: str, port: int) -> int:
        self._listening = await asyncio.start_server(self._answer, host, port, limit=_HEAD_BYTES)
        self.port = int(self._listening.sockets[0].getsockname()[1])
        return self.port

    async def stop(self) -> None:
        if self._listening is not None:
            self._listening.close()
            await self._listening.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_S):
                head = await reader.readuntil(b"\r\n\r\n")
            method, _, rest = head.split(b"\r\n", 1)[0].decode("latin-1").partition(" ")
            status, kind, body = self._page(method, rest.partition(" ")[0].partition("?")[0])
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
                "Cache-Control: no-store\r\nConnection: close\r\n\r\n".encode()
            )
            if method != "HEAD":
                writer.write(body)
            async with asyncio.timeout(_HEAD_S):
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass  # the client has gone
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    def _page(self, method: str, path: str) -> tuple[str, str, bytes]:
        plain = "text/plain; charset=utf-8"
        if method not in ("GET", "HEAD"):
            return "405 Method Not Allowed", plain, b"GET only\n"
        if path == "/livez":
            return "200 OK", plain, b"ok\n"
        if path == "/readyz":
            ready = self._server.ready
            return ("200 OK", plain, b"ok\n") if ready else ("503 Service Unavailable", plain, b"not serving\n")
        if path == "/metrics":
            return "200 OK", CONTENT_TYPE_LATEST, generate_latest(self._registry)
        if path == "/metrics.json":
            return "200 OK", "application/json", json.dumps(figures(self._server)).encode() + b"\n"
        return "404 Not Found", plain, b"/livez /readyz /metrics /metrics.json\n"


def figures(server: Server) -> dict[str, Any]:
    """The figures of `control.metrics` and the server's own counters."""
    meters = server.meters
    return {
        **server.realm.plane.call("metrics", {}, _SELF),
        "server": {
            "open_connections": len(server.connections),
            "waiting_requests": server.waiters.waiting,
            **{f"{name}_total": getattr(meters, name) for name, _ in _COUNTERS},
            "node_odd_answers_total": server.realm.hub.malformed,
            "requests": dict(meters.requests),
            "errors": dict(meters.errors),
        },
    }


class Figures(Collector):
    """The same for Prometheus. `*_total` are counters, everything else that is a number is a gauge."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def collect(self) -> Iterator[Metric]:
        meters = self._server.meters
        for name, help in _COUNTERS:
            yield CounterMetricFamily(f"worldfs_{name}", help, value=getattr(meters, name))
        yield GaugeMetricFamily("worldfs_open_connections", "Connections now", value=len(self._server.connections))
        yield GaugeMetricFamily(
            "worldfs_waiting_requests", "Requests that wait for a change", value=self._server.waiters.waiting
        )
        yield CounterMetricFamily(
            "worldfs_node_odd_answers",
            "Malformed answers of nodes, and listings with dropped names",
            value=self._server.realm.hub.malformed,
        )
        requests = CounterMetricFamily("worldfs_requests", "Requests by type", labels=("type",))
        for kind, count in sorted(meters.requests.items()):
            requests.add_metric((kind,), count)
        yield requests
        errors = CounterMetricFamily("worldfs_errors", "Error replies, by code", labels=("code",))
        for code, count in sorted(meters.errors.items()):
            errors.add_metric((code,), count)
        yield errors
        yield from _plane("worldfs_plane", self._server.realm.plane.call("metrics", {}, _SELF))


def _plane(above: str, values: dict[str, Any]) -> Iterator[Metric]:
    """The nested figures of the plane under flat names."""
    for key, value in values.items():
        name = f"{above}_{key}"
        if isinstance(value, dict):
            yield from _plane(name, value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            if key.endswith("_total"):
                yield CounterMetricFamily(name.removesuffix("_total"), f"control.metrics: {key}", value=value)
            else:
                yield GaugeMetricFamily(name, f"control.metrics: {key}", value=value)
