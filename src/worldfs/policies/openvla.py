"""OpenVLA's `/act` (its repository's vla-scripts/deploy.py): one picture and words in, one action of seven out.

Two forms, `policy_client.encoded: true` the second: the payload as it is, or as JSON text inside `{"encoded": …}`, and
then the answer is JSON text inside JSON too. Its errors are HTTP 200 with the body "error".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from worldfs.base.clock import Clock
from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec

from . import policy_errors
from .arrays import array_from_json, is_picture, json_pieces, read_json
from .endpoint import endpoint, max_answer_bytes, secret
from .http_connection import HttpConnection
from .http_policy import fetch_policy_info, status_error
from .policy_client import ActionChunk, Array, PolicyInfo, chunk_of
from .policy_contract import rename_observations

SCHEMES = {"http": 8000, "https": 443}
SPEAKS = {"representation": "ee_delta", "gripper": {"closed": 0.0, "open": 1.0}}  # as its bridge_orig data does


def client(spec: PolicySpec, clock: Clock) -> OpenVlaPolicy:
    return OpenVlaPolicy(spec, clock)


class OpenVlaPolicy:
    """`policy_client: {type: openvla, endpoint: http://…/act, unnorm_key: bridge_orig, encoded: false}`."""

    def __init__(self, spec: PolicySpec, clock: Clock) -> None:
        self.spec = spec
        self._web = HttpConnection(endpoint(spec, SCHEMES, "/act"), clock, secret(spec), max_answer_bytes(spec))

    def connect(self, timeout_s: float) -> PolicyInfo:
        info = fetch_policy_info(self._web, timeout_s)  # OpenVLA's own server answers 405, and is there
        plain = replace(info, observations={}, representation="ee_delta", action_dim=7)
        return rename_observations(plain, self.spec)

    def reset(self) -> None:
        """It keeps nothing between two pictures."""

    def infer(self, observation: Mapping[str, Array], words: str, timeout_s: float) -> ActionChunk:
        payload: dict[str, object] = {"image": self._picture(observation), "instruction": words}
        if key := self.spec.extra.get("unnorm_key"):
            payload["unnorm_key"] = str(key)
        body = json_pieces(payload)
        if self.spec.extra.get("encoded"):
            body = [json.dumps({"encoded": b"".join(body).decode("ascii")}).encode()]
        reply = self._web.call("POST", timeout_s, body)
        if reply.status != 200:
            raise status_error(self._web, reply)
        if reply.body.strip() in (b"error", b'"error"'):
            raise policy_errors.policy_unusable(
                self._web.where, coded("session.answered_error"),
                coded("session.see_unnorm"),
            )  # fmt: skip
        response = read_json(reply.body)
        if isinstance(response, str):
            response = read_json(response.encode())
        return replace(chunk_of(array_from_json(response, "action"), dim=7), extra=SPEAKS)

    def close(self) -> None:
        self._web.close()

    def _picture(self, observation: Mapping[str, Array]) -> Array:
        """The one called `image`, else the only one, else that of a front camera."""
        pictures = {name: array for name, array in observation.items() if is_picture(array)}
        front = [name for name in pictures if "front" in name]
        if "image" in pictures:
            return pictures["image"]
        if len(pictures) == 1 or front:
            return pictures[front[0] if front else next(iter(pictures))]
        raise policy_errors.policy_unusable(
            self._web.where, coded("session.one_picture", names=[*pictures] or coded("common.none")),
            coded("session.map_picture"),
        )  # fmt: skip
