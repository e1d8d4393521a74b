"""The generic policy over HTTP: JSON to `…/predict` (000 SKILLS.md; the format is this package's, docs/policies.md).

POST /predict  {"observation": {name: array}, "instruction": words, "reset": true at the first of an episode}
200            {"actions": [[…], …], "representation"?: "ee_delta", "server_ms"?: 3.1}
else           {"error": "why"}
GET /predict   the policy's description of itself (optional)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from worldfs.base.clock import Clock
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec

from . import policy_errors
from .arrays import array_from_json, json_pieces, read_json
from .endpoint import endpoint, max_answer_bytes, secret
from .http_connection import HttpConnection, HttpReply
from .policy_client import ActionChunk, Array, PolicyError, PolicyInfo, chunk_of, holds_boolean, server_time
from .policy_contract import parse_policy_info, rename_observations

SCHEMES = {"http": 80, "https": 443}
_SHUT = (401, 403)


def client(spec: PolicySpec, clock: Clock) -> HttpPolicy:
    return HttpPolicy(spec, clock)


class HttpPolicy:
    """`policy_client: {type: http, endpoint: http://…/predict, images: raw | png}`."""

    def __init__(self, spec: PolicySpec, clock: Clock) -> None:
        self.spec = spec
        self._web = HttpConnection(endpoint(spec, SCHEMES, "/predict"), clock, secret(spec), max_answer_bytes(spec))
        self._png = spec.extra.get("images") == "png"
        self._fresh = True

    def connect(self, timeout_s: float) -> PolicyInfo:
        return rename_observations(fetch_policy_info(self._web, timeout_s), self.spec)

    def reset(self) -> None:
        self._fresh = True

    def infer(self, observation: Mapping[str, Array], words: str, timeout_s: float) -> ActionChunk:
        question: dict[str, object] = {"observation": observation, "instruction": words}
        if self._fresh:
            question["reset"] = True
        reply = self._web.call("POST", timeout_s, json_pieces(question, png=self._png))
        with policy_errors.of_server(self._web.where):
            chunk = self._chunk(reply)
        self._fresh = False
        return chunk

    def close(self) -> None:
        self._web.close()

    def _chunk(self, reply: HttpReply) -> ActionChunk:
        where = self._web.where
        if reply.status != 200:
            raise status_error(self._web, reply)
        response = read_json(reply.body)
        if not isinstance(response, dict):
            raise policy_errors.protocol_error(
                where, coded("plugin.json_kind", kind=type(response).__name__), '{"actions": [[…]]}'
            )
        if response.get("error"):
            raise policy_errors.policy_unusable(where, coded("session.reports", why=response["error"]))
        given = response.get("actions", response.get("action"))
        if given is None:
            raise policy_errors.protocol_error(
                where, coded("session.answer_with", names=[*response] or coded("common.none")), "`actions`"
            )
        took = response.get("server_ms")
        rest = {name: value for name, value in response.items() if name not in ("actions", "action", "server_ms")}
        actions = given if holds_boolean(given) else array_from_json(given, "actions")
        return replace(chunk_of(actions), server_ms=server_time(took, where), extra=rest)


def fetch_policy_info(web: HttpConnection, timeout_s: float) -> PolicyInfo:
    """The description that `GET` returns; a server without one is accepted. Raises `PolicyError` without a server."""
    reply = web.call("GET", timeout_s)
    if reply.status in _SHUT or (reply.status >= 500 and reply.status != 501):
        raise status_error(web, reply)
    if reply.status != 200:
        return PolicyInfo()
    try:
        return parse_policy_info(read_json(reply.body))
    except PolicyError:
        return PolicyInfo()


def status_error(web: HttpConnection, reply: HttpReply) -> PolicyError:
    """A status other than 200, with the server's message."""
    if reply.status in _SHUT:
        return PolicyError(
            coded("session.needs_token", status=reply.status), path=str(web.where), expected="200",
            fix=coded("session.name_token"), code="POLICY_CONNECTION",
        )  # fmt: skip
    return policy_errors.policy_unusable(web.where, f"HTTP {reply.status}: {_error_text(reply) or 'no message'}")


def _error_text(reply: HttpReply) -> str:
    try:
        response: object = parse_json(reply.body)
    except ValueError:
        return reply.text
    for word in ("error", "detail", "message"):
        if isinstance(response, dict) and response.get(word):
            return str(response[word])
    return reply.text
