"""A policy server's responses: to an HTTP request, and to a step of openpi's WebSocket."""

from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus

import numpy as np

from worldfs.base.clock import Clock
from worldfs.base.errors import WorldError
from worldfs.base.messages import coded

from . import policy_errors
from .arrays import array_from_json, array_to_json, read_json
from .http_request import HttpRequest
from .msgpack_arrays import pack, unpack
from .policy_client import ActionChunk, Array, PolicyError, PolicyInfo, chunk_of
from .policy_contract import GRIPPERS, policy_info_json
from .served_policies import ServedPolicy

LogCallback = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    body: bytes
    kind: str = "application/json"

    def head(self, *, keep: bool) -> bytes:
        """All of it, as bytes."""
        word = HTTPStatus(self.status).phrase
        return (
            f"HTTP/1.1 {self.status} {word}\r\nContent-Type: {self.kind}\r\nContent-Length: {len(self.body)}\r\n"
            f"Connection: {'keep-alive' if keep else 'close'}\r\n\r\n"
        ).encode("ascii") + self.body


class LockedPolicy:
    """A policy that is called by one thread at a time, and timed; its answers are checked like a foreign server's."""

    def __init__(self, policy: ServedPolicy, clock: Clock) -> None:
        self._policy, self._clock, self._lock = policy, clock, threading.Lock()

    def info(self) -> PolicyInfo:
        with self._lock:
            return self._policy.info()

    def infer(self, observation: Mapping[str, Array], words: str) -> ActionChunk:
        with self._lock:
            began = self._clock.monotonic()
            chunk = self._policy.infer(observation, words)
            took = 1000 * (self._clock.monotonic() - began)
        return replace(chunk_of(chunk.actions), server_ms=took, extra=chunk.extra)


def respond(request: HttpRequest, policy: LockedPolicy, log: LogCallback) -> HttpResponse:
    """The response; never an exception."""
    if request.path == "/healthz":
        return HttpResponse(200, b"OK\n", "text/plain")
    ways = _WAYS.get(request.path)
    if ways is None:
        return problem(404, f"nothing at {request.path}; there are: {', '.join((*_WAYS, '/healthz'))}")
    way = ways.get(request.method)
    if way is None:
        return problem(405, f"{request.method} {request.path}; there are: {', '.join(ways)}")
    if request.method == "POST" and (request.headers.get("origin") or not _is_json(request)):
        return problem(415, "Content-Type: application/json, and not from a web page")
    try:
        return way(request.body, policy)
    except PolicyError as error:
        ours = error.code != "POLICY_PROTOCOL"
        answer = problem(500 if ours else 400, str(error))
    except WorldError as error:
        answer = problem(400, str(error))
    except Exception as error:  # a policy may fail in any way: its caller gets the error, and the next one is served
        log(f"{request.path}: {traceback.format_exc().strip()}")
        answer = problem(500, f"{type(error).__name__}: {error}")
    # OpenVLA's own server answers every error so.
    return HttpResponse(200, b'"error"') if request.path == "/act" else answer


def problem(status: int, text: str) -> HttpResponse:
    return _json({"error": policy_errors.printable(text)}, status)


def metadata(policy: LockedPolicy) -> bytes:
    """The metadata that openpi's server sends first."""
    return pack(policy_info_json(policy.info()))


def websocket_step(fields: bytes | str, policy: LockedPolicy, log: LogCallback) -> bytes | str:
    """One step of openpi's; a text is a traceback, after which the connection ends."""
    try:
        observation = unpack(fields) if isinstance(fields, bytes) else None
        if not isinstance(observation, dict):
            raise PolicyError(coded("session.no_map"), expected=coded("session.msgpack_map"), code="POLICY_PROTOCOL")
        words = observation.get("prompt", "")
        arrays = {str(key): np.asarray(value) for key, value in observation.items() if key != "prompt"}
        chunk = policy.infer(arrays, words if isinstance(words, str) else "")
        return pack({**_plain(chunk), "actions": chunk.actions, "server_timing": {"infer_ms": chunk.server_ms}})
    except Exception:  # as above
        text = traceback.format_exc()
        log(f"WebSocket: {text.strip()}")
        return text


def _predict(body: bytes, policy: LockedPolicy) -> HttpResponse:
    fields = _map(body)
    observation = fields.get("observation", {})
    words = fields.get("instruction", "")
    if not isinstance(observation, dict) or not isinstance(words, str):
        raise PolicyError(
            coded("session.bad_request"), expected='{"observation": {…}, "instruction": "…"}',
            code="POLICY_PROTOCOL",
        )  # fmt: skip
    chunk = policy.infer(
        {name: array_from_json(value, f"observation {name}") for name, value in observation.items()}, words
    )
    actions = [[round(value, 9) for value in row] for row in chunk.actions.astype(float).tolist()]
    return _json({**_plain(chunk), "actions": actions, "server_ms": round(chunk.server_ms, 4)})


def _act(body: bytes, policy: LockedPolicy) -> HttpResponse:
    """OpenVLA's: the first action of a chunk, and only the form that its clients can use: the tool's change."""
    fields = _map(body)
    inside = "encoded" in fields
    if inside:
        fields = _map(str(fields["encoded"]).encode())
    chunk = policy.infer({"image": array_from_json(fields.get("image"), "image")}, str(fields["instruction"]))
    first = chunk.actions[0].astype(float)
    if first.shape != (7,) or chunk.extra.get("representation", "ee_delta") != "ee_delta":
        raise PolicyError(coded("session.no_delta"), expected=coded("session.delta_of_7"), code="POLICY_CLIENT")
    closed, wide = GRIPPERS["ee_delta"]
    first[6] = (first[6] - closed) / (wide - closed)  # theirs: 0 closed, 1 open
    answer: object = array_to_json(first)
    return _json(json.dumps(answer) if inside else answer)


def _describe(_: bytes, policy: LockedPolicy) -> HttpResponse:
    return _json(policy_info_json(policy.info()))


_WAYS: dict[str, dict[str, Callable[[bytes, LockedPolicy], HttpResponse]]] = {
    "/predict": {"GET": _describe, "POST": _predict},
    "/act": {"GET": _describe, "POST": _act},
    "/": {"GET": _describe},
}


def _map(body: bytes) -> dict[str, object]:
    fields = read_json(body, "the request")
    if not isinstance(fields, dict):
        raise PolicyError(
            coded("plugin.json_kind", kind=type(fields).__name__),
            expected=coded("file.json_object"),
            code="POLICY_PROTOCOL",
        )
    return fields


def _plain(chunk: ActionChunk) -> dict[str, object]:
    """A policy's output beside its actions, as far as every protocol carries it."""
    return {str(k): v for k, v in chunk.extra.items() if isinstance(v, str | int | float | bool) or k == "gripper"}


def _is_json(request: HttpRequest) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def _json(value: object, status: int = 200) -> HttpResponse:
    return HttpResponse(status, json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())
