"""The server's health as HTTP pages: /livez, /readyz, /metrics (Prometheus), /metrics.json. No secret is in them.

Names of figures begin with `worldfs_`; those of the control plane keep the keys of `control.metrics` (acheron D13).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from worldfs.access.binding import OWNER
from worldfs.access.caller import Caller
from worldfs.access.decision import Decision
from worldfs.base.errors import UserError
from worldfs.formats.wire.frames import Json

from .websocket_transport import authorization

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from .server import Server

_SELF: Final = Caller(OWNER)
_SIGNS_OF_LIFE: Final = ("/livez", "/readyz")
_FIGURES: Final = ("/metrics", "/metrics.json")
_COUNTERS: Final = (
    ("connections", "Connections accepted"),
    ("refused", "Requests that were neither a WebSocket upgrade nor a page"),
    ("unauthorised", "Upgrades without a valid token"),
    ("frames_in", "Frames received"),
    ("frames_out", "Frames sent"),
    ("oversize", "Frames beyond msize"),
    ("dropped", "Peers dropped because they stopped reading"),
    ("saturated", "Requests refused because too many wait"),
    ("pushes", "Frames sent unasked"),
)


class Health:
    """The pages of one server's health."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def public_page(self, request: Request) -> Response:
        """For a port that the operator opened for it: every page, without a token."""
        return self._page(request, _SELF)

    def guarded_page(self, request: Request) -> Response | None:
        """For the port that is served: whether it is up is no secret, figures are for callers that may read them.
        None: the request is for the WebSocket side."""
        path = _path(request)
        if "Upgrade" in request.headers or path not in (*_FIGURES, *_SIGNS_OF_LIFE):
            return None
        if path in _SIGNS_OF_LIFE:
            return self._page(request, _SELF)
        principal = self._server.principal(authorization(request))
        if isinstance(principal, Decision):
            return _response(request, HTTPStatus.UNAUTHORIZED, b"Authorization: Bearer TOKEN\n")
        return self._page(request, Caller(principal.unbound, "", principal.node))

    def _page(self, request: Request, caller: Caller) -> Response:
        path = _path(request)
        if request.method not in ("GET", "HEAD"):
            return _response(request, HTTPStatus.METHOD_NOT_ALLOWED, b"GET only\n")
        if path == "/livez":
            return _response(request, HTTPStatus.OK, b"ok\n")
        if path == "/readyz":
            if not self._server.ready:
                return _response(request, HTTPStatus.SERVICE_UNAVAILABLE, b"not serving\n")
            return _response(request, HTTPStatus.OK, b"ok\n")
        if path not in _FIGURES:
            return _response(request, HTTPStatus.NOT_FOUND, " ".join((*_SIGNS_OF_LIFE, *_FIGURES)).encode() + b"\n")
        try:
            plane = self._server.realm.plane.call("metrics", {}, caller)
        except UserError as error:
            return _response(request, HTTPStatus.FORBIDDEN, f"{error.found}\n".encode())
        if path == "/metrics":
            registry = CollectorRegistry(auto_describe=False)
            registry.register(Figures(self._server, plane))
            return _response(request, HTTPStatus.OK, generate_latest(registry), CONTENT_TYPE_LATEST)
        body = json.dumps(figures(self._server, plane)).encode() + b"\n"
        return _response(request, HTTPStatus.OK, body, "application/json")


def _path(request: Request) -> str:
    return request.path.partition("?")[0]


def _response(request: Request, status: HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8") -> Response:
    headers = Headers(
        {"Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": "no-store", "Connection": "close"}
    )
    return Response(status.value, status.phrase, headers, b"" if request.method == "HEAD" else body)


def figures(server: Server, plane: Json) -> dict[str, object]:
    """The figures of `control.metrics` (`plane`) and the server's own counters."""
    meters = server.meters
    return {
        **plane,
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

    def __init__(self, server: Server, plane: Json) -> None:
        self._server, self._plane = server, plane

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
        yield from _plane("worldfs_plane", self._plane)


def _plane(above: str, values: dict[str, object]) -> Iterator[Metric]:
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
