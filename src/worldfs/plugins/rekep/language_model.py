"""A model behind an OpenAI-compatible `chat/completions`: words and keypoints in, a text of constraints out.

Configured in the skill: `model: {endpoint: http://host:port/v1, name, key_env, timeout_s, images, max_tokens}`. Its
answer is data: it goes through the same reader as any constraint file.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from worldfs.base.driver import Run
from worldfs.base.errors import UserError
from worldfs.base.model import Json, Skill
from worldfs.policies.endpoint import PolicyEndpoint
from worldfs.policies.http_connection import HttpConnection, HttpReply
from worldfs.policies.policy_client import PolicyError

from .end_effector import ExecutionHalted

LONGEST: Final = 1 << 20  # bytes of an answer
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
POLL_S = 0.05
_BLOCK = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.DOTALL)


class LanguageModelError(UserError):
    """A model that is not configured, cannot be reached, or returns an invalid answer; never contains the key."""

    code = "MODEL_UNREACHABLE"


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A model's address; `key` is sent as a bearer token and never printed."""

    url: str
    name: str
    key: str = ""
    timeout_s: float = 60.0
    images: bool = False
    max_tokens: int = 4000

    def __repr__(self) -> str:
        return f"Model({self.url!r}, {self.name!r})"


def model_of_skill(skill: Skill) -> LanguageModel:
    """Raises `LanguageModelError` (MODEL_MISSING) naming what the skill must declare."""
    at, settings = f"SKILLS.md {skill.id} model", skill.extra.get("model")
    fix = f"give the skill {skill.id} model: {{endpoint: http://localhost:8000/v1, name: …, key_env: …}}"
    if not isinstance(settings, Mapping):
        raise LanguageModelError("no model is configured", path=at,
                                 expected="a model that writes constraints from words",
                           fix=fix, code="MODEL_MISSING")  # fmt: skip
    url, name = settings.get("endpoint"), settings.get("name")
    if not isinstance(url, str) or not isinstance(name, str) or urlsplit(url).scheme not in ("http", "https"):
        raise LanguageModelError(f"endpoint {url!r}, name {name!r}", path=at,
                                 expected="an http(s) endpoint, and a name",
                           fix=fix, code="MODEL_MISSING")  # fmt: skip
    variable, key = settings.get("key_env"), ""
    if variable is not None:
        key = os.environ.get(str(variable), "")
        if not key:
            raise LanguageModelError(f"the variable {variable} is not set", path=f"{at}.key_env",
                                     expected="the model's key",
                               fix=f"export {variable}=…", code="MODEL_MISSING")  # fmt: skip
        if urlsplit(url).scheme == "http" and urlsplit(url).hostname not in LOOPBACK:
            raise LanguageModelError("a key over plain HTTP", path=f"{at}.endpoint", fix="write https://",
                               expected="https, or a model on this machine", code="MODEL_MISSING")  # fmt: skip
    limit, most = settings.get("timeout_s"), settings.get("max_tokens")
    return LanguageModel(
        url.rstrip("/") if url.rstrip("/").endswith("/chat/completions") else url.rstrip("/") + "/chat/completions",
        name, key, float(limit) if isinstance(limit, int | float) and 0 < limit <= 600 else 60.0,
        settings.get("images") is True, most if isinstance(most, int) and 0 < most <= 100_000 else 4000,
    )  # fmt: skip


def ask_model(model: LanguageModel, messages: Sequence[Json], run: Run) -> tuple[str, Json]:
    """The answer's text, and its tokens. Raises `LanguageModelError`, or `ExecutionHalted` when the run is to stop.

    The exchange has a thread of its own, because a blocking socket cannot be interrupted. A redirect is returned, not
    followed: the key goes only to the operator's address.
    """
    box: list[HttpReply | PolicyError] = []
    connection = HttpConnection(_endpoint(model), run.clock, model.key, LONGEST)
    thread = threading.Thread(target=_exchange, args=(connection, model, messages, box), daemon=True, name="model")
    thread.start()
    while thread.is_alive():
        thread.join(POLL_S)
        if (why := run.stop) and thread.is_alive():
            connection.close()
            thread.join(2.0)
            raise ExecutionHalted(why)
    found = box[0] if box else PolicyError("no answer", code="POLICY_CONNECTION")
    if not isinstance(found, PolicyError):
        return _read(model, found)
    if found.code == "POLICY_PROTOCOL":
        raise LanguageModelError(found.found, path=model.url, expected=found.expected, code="MODEL_ANSWER")
    late = found.code == "POLICY_TIMEOUT"
    raise LanguageModelError(found.found, path=model.url,
                             expected="an answer in time" if late else "a model that answers",
                             fix="give it more time (model.timeout_s)" if late
                             else "start it, or correct the skill's model.endpoint")  # fmt: skip


def fenced_blocks(text: str) -> str:
    """The program in an answer: its fenced blocks one after the other, else the whole of it."""
    found = _BLOCK.findall(text)
    return "\n\n".join(found) if found else text


def _endpoint(model: LanguageModel) -> PolicyEndpoint:
    url = urlsplit(model.url)
    path = url.path + (f"?{url.query}" if url.query else "")
    return PolicyEndpoint(url.scheme, url.hostname or "", url.port or {"http": 80, "https": 443}[url.scheme], path)


def _exchange(
    connection: HttpConnection, model: LanguageModel, messages: Sequence[Json], box: list[HttpReply | PolicyError]
) -> None:
    body = {"model": model.name, "messages": list(messages), "temperature": 0, "max_tokens": model.max_tokens}
    try:
        box.append(connection.call("POST", model.timeout_s, (json.dumps(body).encode(),)))
    except PolicyError as error:
        box.append(error)
    finally:
        connection.close()


def _read(model: LanguageModel, answer: HttpReply) -> tuple[str, Json]:
    try:
        reply = json.loads(answer.body)
    except (ValueError, RecursionError):
        reply = None
    if answer.status != 200 or not isinstance(reply, dict):
        error = reply.get("error") if isinstance(reply, dict) else None
        words = str(error.get("message") if isinstance(error, dict) else error or "")[:300]
        raise LanguageModelError(f"HTTP {answer.status}{': ' + words if words else ''}", path=model.url,
                                 expected="200 and JSON",
                           fix="is the name of the model right, and its key?", code="MODEL_ANSWER")  # fmt: skip
    try:
        text = reply["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        text = None
    if isinstance(text, list):  # parts
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    if not isinstance(text, str) or not text.strip():
        raise LanguageModelError("an answer without a text", path=model.url, expected="choices[0].message.content",
                           code="MODEL_ANSWER")  # fmt: skip
    usage = reply.get("usage")
    return text, {k: v for k, v in usage.items() if isinstance(v, int)} if isinstance(usage, dict) else {}
